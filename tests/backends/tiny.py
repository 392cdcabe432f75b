"""Builds experts of many architectures that run here, with tiny random weights.

`python -m tests.backends.tiny FOLDER` builds some of them: libraries that would be imported into
the tests' own process, with their warnings, stay out of it.

Where a network has a bias over its words, one word is made to win: then the test can tell that
these weights, and no others, were loaded and run.
"""

# mypy: ignore-errors
# The types that transformers and diffusers declare for their settings are not those they take.

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WORDS = (
    "the cat sat on mat a dog ran home it is about sport politics this example and they were "
    "happy . ? what do you see user assistant : summarize"
).split()
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")


def files_of(folder: Path) -> dict[str, bytes]:
    """A built expert as the Hub would hold it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def word_tokenizer(more: Sequence[str] = (), **settings: Any) -> Any:
    """One token a word."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [*SPECIAL, *more, *WORDS]
    model = models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>")
    inner = Tokenizer(model)
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
        **settings,
    )


def word_of(tokenizer: Any, word: str) -> int:
    return int(tokenizer.convert_tokens_to_ids(word))


def writer(folder: Path) -> Path:
    """A causal LLM with a chat template."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}assistant :"
    )
    network = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=128,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )
    network.generation_config.suppress_tokens = [0, 1, 2, 3, 4]
    return save(folder, network, tokenizer)


def translator(folder: Path) -> Path:
    """Marian, with vocabularies trained on a few words, pickled; it always says chat."""
    import json

    import sentencepiece
    import torch
    from safetensors.torch import load_file
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder.mkdir(parents=True)
    text = folder / "text.txt"
    text.write_text("\n".join([" ".join(WORDS), "le chat est sur le tapis", "chat"] * 20))
    for side in ("source", "target"):
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(folder / side),
            vocab_size=60,
            hard_vocab_limit=False,
            minloglevel=3,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        (folder / f"{side}.vocab").unlink()
    text.unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "target.spm"))
    names = [pieces.id_to_piece(at) for at in range(pieces.get_piece_size())]
    words = ["</s>", "<unk>", *(name for name in names if name not in ("</s>", "<unk>", "<s>"))]
    words += ["<pad>"] if "▁chat" in words else ["▁chat", "<pad>"]
    vocabulary = {word: at for at, word in enumerate(words)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="fr",
    )
    torch.manual_seed(1)
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=64,
        pad_token_id=vocabulary["<pad>"],
        eos_token_id=0,
        decoder_start_token_id=vocabulary["<pad>"],
        forced_eos_token_id=0,
    )
    network = MarianMTModel(config)
    network.final_logits_bias[0, vocabulary["▁chat"]] = 100.0
    save(folder, network, tokenizer)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def polyglot(folder: Path) -> Path:
    """NLLB, which is told the language by its first token; it always says chat."""
    import json

    import torch
    from tokenizers import Tokenizer, models, trainers
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer

    inner = Tokenizer(models.BPE())
    inner.train_from_iterator([" ".join(WORDS) + " chat"], trainers.BpeTrainer(vocab_size=120))
    trained = json.loads(inner.to_str())["model"]
    names = ["<s>", "<pad>", "</s>", "<unk>", "▁chat"]
    names += [name for name in trained["vocab"] if name not in names]
    merges = [tuple(pair) for pair in trained["merges"]]
    tokenizer = NllbTokenizer({name: at for at, name in enumerate(names)}, merges)
    torch.manual_seed(1)
    config = M2M100Config(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=64,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    network = M2M100ForConditionalGeneration(config)
    # German is the only language that it may be told.
    allowed = {word_of(tokenizer, "▁chat"), word_of(tokenizer, "deu_Latn")}
    network.generation_config.suppress_tokens = sorted(set(range(len(tokenizer))) - allowed)
    return save(folder, network, tokenizer)


def summariser(folder: Path) -> Path:
    """BART that always says home."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_bos_token_id=None,
        forced_eos_token_id=2,
    )
    network = BartForConditionalGeneration(config)
    network.final_logits_bias[0, word_of(tokenizer, "home")] = 100.0
    network.generation_config.max_new_tokens = 8
    return save(folder, network, tokenizer)


def sorter(folder: Path) -> Path:
    """BERT for natural language inference."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    labels = {0: "contradiction", 1: "neutral", 2: "ENTAILMENT"}
    config = bert_config(
        len(tokenizer), id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    return save(folder, BertForSequenceClassification(config), tokenizer)


def gap_filler(folder: Path) -> Path:
    """BERT to which every gap is a mat."""
    import torch
    from transformers import BertForMaskedLM

    tokenizer = word_tokenizer()
    network = BertForMaskedLM(bert_config(len(tokenizer)))
    with torch.no_grad():
        network.cls.predictions.decoder.bias[word_of(tokenizer, "mat")] = 100.0
    return save(folder, network, tokenizer)


def bert_config(words: int, **settings: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=words,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        pad_token_id=0,
        **settings,
    )


def save(folder: Path, network: Any, *parts: Any) -> Path:
    for part in (network, *parts):
        part.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    from tests.backends.tiny_media import painter

    root = Path(sys.argv[1])
    for build in (writer, translator, gap_filler, painter):
        build(root / build.__name__)
