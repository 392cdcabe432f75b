"""A Whisper with tiny random weights in CTranslate2 form: it writes nonsense, by the real road."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VOCABULARY = 51_865  # from this size on CTranslate2 takes a Whisper for multilingual
TIMESTAMPS = 1_501


def build(to: Path) -> None:
    """Make the weights in a folder."""
    import torch
    from ctranslate2.converters import TransformersConverter
    from faster_whisper.tokenizer import _LANGUAGE_CODES
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE
    from transformers import GenerationConfig, PreTrainedTokenizerFast, WhisperConfig
    from transformers import WhisperForConditionalGeneration as Whisper

    special = [
        "<|endoftext|>",
        "<|startoftranscript|>",
        *(f"<|{code}|>" for code in _LANGUAGE_CODES[:99]),
        "<|translate|>",
        "<|transcribe|>",
        "<|startoflm|>",
        "<|startofprev|>",
        "<|nospeech|>",
        "<|notimestamps|>",
    ]
    words = sorted(pre_tokenizers.ByteLevel.alphabet())
    words += [f"Ġnonsense{i}" for i in range(VOCABULARY - TIMESTAMPS - len(special) - len(words))]
    tokenizer = Tokenizer(BPE({word: number for number, word in enumerate(words)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in special])
    first = len(words)
    number = {word: first + at for at, word in enumerate(special)}

    config = WhisperConfig(
        vocab_size=VOCABULARY,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        bos_token_id=number["<|endoftext|>"],
        eos_token_id=number["<|endoftext|>"],
        pad_token_id=number["<|endoftext|>"],
        decoder_start_token_id=number["<|startoftranscript|>"],
        suppress_tokens=[],
        begin_suppress_tokens=[number["<|endoftext|>"]],
    )
    torch.manual_seed(0)
    whisper = Whisper(config)
    whisper.generation_config = GenerationConfig(
        suppress_tokens=[],
        begin_suppress_tokens=[number["<|endoftext|>"]],
        lang_to_id={f"<|{code}|>": number[f"<|{code}|>"] for code in _LANGUAGE_CODES[:99]},
    )
    source = to / "transformers"
    whisper.save_pretrained(source)
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=tokenizer).save_pretrained(source)
    (source / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}))
    TransformersConverter(
        str(source), copy_files=["tokenizer.json", "preprocessor_config.json"]
    ).convert(str(to / "whisper"))


@pytest.fixture(scope="session")
def tiny_whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the weights, made once per test process."""
    to = tmp_path_factory.mktemp("tiny-whisper")
    done = subprocess.run(
        (sys.executable, "-m", "tests.tiny_whisper", str(to)),
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return to / "whisper"


if __name__ == "__main__":
    build(Path(sys.argv[1]))
