"""Tiny experts that put labels on words, answer questions and make vectors."""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those they take.

from __future__ import annotations

import json
from pathlib import Path

from tests.backends.tiny import SPECIAL, WORDS, bert_config, save, word_of, word_tokenizer

NAMES = ("Ada", "Lovelace", "Paris", "in", "met", "Bo", "Kyoto")


def _named(tokenizer, network, words: dict[str, int], kinds: int) -> None:
    """Makes a network say of each word what kind it is, whatever stands around it."""
    import torch

    with torch.no_grad():
        meaning = network.bert.embeddings.word_embeddings.weight
        meaning.zero_()
        meaning[:, 0] = 50.0
        for word, kind in words.items():
            meaning[word_of(tokenizer, word), 0] = 0.0
            meaning[word_of(tokenizer, word), kind] = 50.0
        network.classifier.weight.zero_()
        network.classifier.weight[:, :kinds] = 8.0 * torch.eye(kinds)
        network.classifier.bias.zero_()


def labeller(folder: Path) -> Path:
    """BERT that knows two people, of two words and of one, and two towns."""
    import torch
    from transformers import BertForTokenClassification

    torch.manual_seed(1)
    tokenizer = word_tokenizer(NAMES)
    labels = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC"}
    config = bert_config(
        len(tokenizer), id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    network = BertForTokenClassification(config)
    _named(tokenizer, network, {"Ada": 1, "Lovelace": 2, "Bo": 1, "Paris": 3, "Kyoto": 3}, 4)
    return save(folder, network, tokenizer)


def judge(folder: Path) -> Path:
    """BERT to which everything is positive."""
    return _judge(folder)


def topics(folder: Path) -> Path:
    """BERT to which a text may be of several topics; two of them always are likely."""
    return _judge(folder, problem_type="multi_label_classification")


def _judge(folder: Path, **settings) -> Path:
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    labels = {0: "NEGATIVE", 1: "POSITIVE", 2: "very_good"}
    config = bert_config(
        len(tokenizer), id2label=labels, label2id={v: k for k, v in labels.items()}, **settings
    )
    network = BertForSequenceClassification(config)
    with torch.no_grad():
        network.classifier.bias[:] = torch.tensor([-9.0, 9.0, 4.0])
    return save(folder, network, tokenizer)


def measure(folder: Path) -> Path:
    """BERT that gives one number, such as how easy a text reads."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    labels = {"id2label": {0: "ease"}, "label2id": {"ease": 0}}
    network = BertForSequenceClassification(bert_config(len(tokenizer), num_labels=1, **labels))
    with torch.no_grad():
        network.classifier.weight.zero_()
        network.classifier.bias[:] = -0.5
    return save(folder, network, tokenizer)


def reader(folder: Path) -> Path:
    """BERT to which Paris is the answer, and where it does not stand, there is none."""
    import torch
    from transformers import BertForQuestionAnswering

    torch.manual_seed(1)
    tokenizer = word_tokenizer(("[CLS]", "[SEP]", *NAMES))
    _bert_like(tokenizer)
    network = BertForQuestionAnswering(bert_config(len(tokenizer)))
    with torch.no_grad():
        words = network.bert.embeddings.word_embeddings.weight
        words.zero_()
        words[word_of(tokenizer, "Paris"), 0] = 50.0
        words[word_of(tokenizer, "[CLS]"), :2] = 50.0  # less, once it is normalised
        network.qa_outputs.weight.zero_()
        network.qa_outputs.weight[:, 0] = 5.0
        network.bert.encoder.layer[0].attention.output.dense.weight.zero_()
        network.bert.encoder.layer[0].output.dense.weight.zero_()
    return save(folder, network, tokenizer)


def _bert_like(tokenizer) -> None:
    """Puts [CLS] before and [SEP] behind, as BERT does."""
    from tokenizers import processors

    marks = [(mark, word_of(tokenizer, mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )


def table_pointer(folder: Path) -> Path:
    """TAPAS that points to every cell in which 7 stands, and sums them up."""
    import torch
    from transformers import TapasConfig, TapasForQuestionAnswering

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    letters = [chr(code) for code in range(97, 123)] + [str(digit) for digit in range(10)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]", "7"]
    words += [sign for sign in letters if sign != "7"] + [f"##{sign}" for sign in letters]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "TapasTokenizer", "do_lower_case": True})
    )
    config = TapasConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        num_aggregation_labels=4,
        aggregation_labels={0: "NONE", 1: "SUM", 2: "AVERAGE", 3: "COUNT"},
    )
    network = TapasForQuestionAnswering(config)
    with torch.no_grad():
        embeddings = network.tapas.embeddings
        for name, part in embeddings.named_parameters():
            if "embeddings" in name:
                part.zero_()
        embeddings.word_embeddings.weight[words.index("7"), 0] = 50.0
        network.tapas.encoder.layer[0].attention.output.dense.weight.zero_()
        network.tapas.encoder.layer[0].output.dense.weight.zero_()
        network.output_weights.zero_()
        network.output_weights[0] = 20.0
        network.output_bias.fill_(-20.0)
        network.column_output_weights.zero_()
        network.column_output_weights[0] = 20.0
        network.aggregation_classifier.bias[:] = torch.tensor([0.0, 99.0, 0.0, 0.0])
    return save(folder, network)


def table_writer(folder: Path) -> Path:
    """TAPEX: a BART that always says home."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizer

    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *signs, "home"])}
    inner = Tokenizer(models.BPE(vocabulary, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel()
    inner.decoder = decoders.ByteLevel()
    tokenizer = BartTokenizer(vocab=vocabulary, merges=[])
    config = BartConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=160,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_bos_token_id=None,
        forced_eos_token_id=2,
    )
    network = BartForConditionalGeneration(config)
    network.final_logits_bias[0, vocabulary["home"]] = 100.0
    network.generation_config.max_length = None
    return save(folder, network, tokenizer)


def vectors(folder: Path) -> Path:
    """A Sentence Transformer: mean of the words, one more layer, length 1."""
    import torch
    from safetensors.torch import save_file
    from transformers import BertModel

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    network = BertModel(bert_config(len(tokenizer)))
    _far_apart(network)
    save(folder, network, tokenizer)
    modules = ("Transformer", "Pooling", "Dense", "Normalize")
    paths = ("", "1_Pooling", "2_Dense", "3_Normalize")
    named = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(zip(modules, paths, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(named))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 12}))
    for path in paths[1:3]:
        (folder / path).mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    dense = {
        "in_features": 16,
        "out_features": 4,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    (folder / "2_Dense" / "config.json").write_text(json.dumps(dense))
    save_file(
        {"linear.weight": torch.randn(4, 16), "linear.bias": torch.zeros(4)},
        folder / "2_Dense" / "model.safetensors",
    )
    return folder


def plain_vectors(folder: Path) -> Path:
    """BERT without any settings of Sentence Transformers."""
    import torch
    from transformers import BertModel

    torch.manual_seed(2)
    tokenizer = word_tokenizer()
    network = BertModel(bert_config(len(tokenizer)))
    _far_apart(network)
    return save(folder, network, tokenizer)


def _far_apart(network) -> None:
    """Makes its words count for more than their places."""
    import torch

    with torch.no_grad():
        network.embeddings.word_embeddings.weight.mul_(50.0)


def first_word_vectors(folder: Path) -> Path:
    """The same, whose vector is that of the first token; its modules lead out of its folder."""
    plain_vectors(folder)
    module = {"type": "sentence_transformers.models.Pooling", "path": "../first"}
    (folder / "modules.json").write_text(json.dumps([module]))
    return folder


def many_tongues(folder: Path) -> Path:
    """M2M-100, which is told the language by its first token; it always says chat."""
    import sentencepiece
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    text = folder / "text.txt"
    text.write_text("\n".join([" ".join(WORDS), "chat"] * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "bpe"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=3,
        user_defined_symbols=["▁chat"],
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "bpe.model"))
    names = [pieces.id_to_piece(at) for at in range(pieces.get_piece_size())]
    words = ["<s>", "<pad>", "</s>", "<unk>"]
    words += [name for name in names if name not in words]
    (folder / "vocab.json").write_text(json.dumps({word: at for at, word in enumerate(words)}))
    tokenizer = M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "bpe.model"))
    for name in ("text.txt", "bpe.model", "bpe.vocab", "vocab.json"):
        (folder / name).rename(folder.with_name(f"{folder.name}-{name}"))
    config = M2M100Config(
        vocab_size=tokenizer.get_lang_id("zu") + 9,
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
    network.generation_config.sequence_bias = [[[word_of(tokenizer, "▁chat")], 1000.0]]
    return save(folder, network, tokenizer)


def madlad(folder: Path) -> Path:
    """T5 that is told the language by a mark before the text, as MADLAD-400 is."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(1)
    tokenizer = word_tokenizer(("<2de>", "<2en>", "chat"), additional_special_tokens=["<2de>"])
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
    )
    network = T5ForConditionalGeneration(config)
    chat = word_of(tokenizer, "chat")
    network.generation_config.suppress_tokens = [at for at in range(len(tokenizer)) if at != chat]
    return save(folder, network, tokenizer)


REFERENCE = "the cat sat on the mat and a dog ran home . it is happy ? " * 10


def _reference(folder: Path, kind: str, **settings) -> Path:
    """An encoder of transformers, and the vector that transformers makes of REFERENCE."""
    import torch
    import transformers

    torch.manual_seed(3)
    tokenizer = word_tokenizer()
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=256,
        pad_token_id=0,
        **settings,
    )
    network = getattr(transformers, f"{kind}Model")(config).eval()
    with torch.no_grad():
        for part in network.parameters():
            part.copy_(torch.randn_like(part) / 2)
        tokens = tokenizer(REFERENCE, return_tensors="pt")["input_ids"]
        mean = network(input_ids=tokens).last_hidden_state[0].mean(0)
    save(folder, network, tokenizer)
    vector = torch.nn.functional.normalize(mean, dim=0)
    (folder / "expected.json").write_text(json.dumps(vector.tolist()))
    return folder


def bert(folder: Path) -> Path:
    return _reference(folder, "Bert")


def bert_with_another_activation(folder: Path) -> Path:
    return _reference(folder, "Bert", hidden_act="gelu_new")


def roberta(folder: Path) -> Path:
    return _reference(folder, "Roberta")


def xlm_roberta(folder: Path) -> Path:
    return _reference(folder, "XLMRoberta")


def mpnet(folder: Path) -> Path:
    return _reference(folder, "MPNet")


PAIR = ("who met Bo ?", "Ada Lovelace met Bo in Paris . " * 3)
HEADS = (
    "AutoModelForMaskedLM",
    "AutoModelForQuestionAnswering",
    "AutoModelForSequenceClassification",
    "AutoModelForTokenClassification",
)


def _heads(folder: Path, kind: str, **settings) -> Path:
    """Networks of transformers with one head each, and what transformers makes of two texts."""
    import torch
    import transformers

    torch.manual_seed(4)
    tokenizer = word_tokenizer(("[CLS]", "[SEP]", *NAMES))
    _bert_like(tokenizer)
    names = ("input_ids", "attention_mask", *(("token_type_ids",) if kind == "Bert" else ()))
    tokenizer.model_input_names = list(names)
    for head in HEADS:
        config = getattr(transformers, f"{kind}Config")(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=256,
            pad_token_id=0,
            num_labels=3 if head.endswith("Classification") else 2,
            **settings,
        )
        network = getattr(transformers, head).from_config(config).eval()
        inputs = tokenizer(*PAIR, return_tensors="pt")
        with torch.no_grad():
            for part in network.parameters():
                part.copy_(torch.randn_like(part) / 2)
            output = network(**inputs)
        if head == "AutoModelForQuestionAnswering":
            found = torch.stack((output.start_logits[0], output.end_logits[0]), -1)
        else:
            found = output.logits[0]
        save(folder / head, network, tokenizer)
        expected = {"ids": inputs["input_ids"][0].tolist(), "result": found.tolist()}
        (folder / head / "expected.json").write_text(json.dumps(expected))
    return folder


def bert_heads(folder: Path) -> Path:
    return _heads(folder, "Bert")


def distilbert_heads(folder: Path) -> Path:
    return _heads(folder, "DistilBert", dim=16, hidden_dim=16, n_heads=2, n_layers=2)


def roberta_heads(folder: Path) -> Path:
    return _heads(folder, "Roberta")


def xlm_roberta_heads(folder: Path) -> Path:
    return _heads(folder, "XLMRoberta")


def mpnet_heads(folder: Path) -> Path:
    return _heads(folder, "MPNet")


def bert_without_a_layer(folder: Path) -> Path:
    bert(folder)
    config = folder / "config.json"
    config.write_text(
        config.read_text().replace('"num_hidden_layers": 2', '"num_hidden_layers": 3')
    )
    return folder
