"""Makes a folder for faster-whisper of what was learnt."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from phrases import TIMESTAMPS, number
from tokenizers import Tokenizer

WIDTH, HEADS, ENCODER_LAYERS, DECODER_LAYERS = 128, 4, 3, 2
LANGUAGES = 99


def config(words: Tokenizer) -> Any:
    """Whisper's architecture, small."""
    from transformers import WhisperConfig

    end = number(words, "<|endoftext|>")
    return WhisperConfig(
        vocab_size=words.get_vocab_size() + TIMESTAMPS,
        d_model=WIDTH,
        encoder_layers=ENCODER_LAYERS,
        decoder_layers=DECODER_LAYERS,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=4 * WIDTH,
        decoder_ffn_dim=4 * WIDTH,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        decoder_start_token_id=number(words, "<|startoftranscript|>"),
        suppress_tokens=[],
        begin_suppress_tokens=[end],
    )


def export(whisper: Any, words: Tokenizer, to: Path) -> None:
    """Write the folder beside its place, then move it there."""
    from ctranslate2.converters import TransformersConverter
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from transformers import GenerationConfig, PreTrainedTokenizerFast

    end = number(words, "<|endoftext|>")
    whisper.generation_config = GenerationConfig(
        suppress_tokens=[],
        begin_suppress_tokens=[end],
        alignment_heads=[[DECODER_LAYERS - 1, head] for head in range(HEADS)],
        lang_to_id={
            f"<|{code}|>": number(words, f"<|{code}|>") for code in _LANGUAGE_CODES[:LANGUAGES]
        },
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".export-") as folder:
        source, made = Path(folder) / "transformers", Path(folder) / "whisper"
        whisper.save_pretrained(source)
        fast: Any = PreTrainedTokenizerFast
        fast(tokenizer_object=words).save_pretrained(source)
        (source / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}) + "\n")
        files = ["tokenizer.json", "preprocessor_config.json"]
        TransformersConverter(str(source), copy_files=files).convert(str(made), quantization="int8")
        _compact(made / "tokenizer.json")
        _compact(made / "vocabulary.json")
        place(made, to)


def place(made: Path, to: Path) -> None:
    """Put a copy of a folder where another may lie, whose card it keeps."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".export-") as folder:
        new = shutil.copytree(made, Path(folder) / "new")
        if to.exists():
            for card in to.glob("*.md"):
                shutil.copy(card, new)
            to.rename(Path(folder) / "old")
        new.rename(to)


def _compact(path: Path) -> None:
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")
