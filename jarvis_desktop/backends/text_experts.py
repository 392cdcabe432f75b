"""Experts that read and write text, by transformers. Used in the worker process only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from jarvis_desktop.backends.languages import FLORES, NAMES, code_of, code_of_text, is_clearly_not
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.tasks.sentences import paragraphs, sentences

LONGEST_ANSWER = 512
"""Tokens that a writer may write."""

BATCH = 8
"""Sentences translated at once."""

LONGEST_SUMMARY = 160
"""Tokens of the summary of one part."""

GAP = re.compile(r"\[mask\]|<mask>|_{2,}", re.IGNORECASE)


def load_writer(loading: Loading) -> Run:
    """An LLM that answers a prompt, with its own chat template where it has one."""
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForCausalLM")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        prompt = call.text("prompt")
        if tokenizer.chat_template:
            inputs = tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            )
        else:
            inputs = tokenizer(prompt, return_tensors="pt")
        given = inputs["input_ids"].shape[1]
        room = _context(network.config) - given
        if room < min(64, LONGEST_ANSWER):
            raise ExpertError(f"The text is too long for {loading.expert.id}: {given} tokens.")
        longest = min(LONGEST_ANSWER, room)
        output = network.generate(
            **inputs.to(network.device),
            max_new_tokens=longest,
            num_beams=1,
            streamer=Steps(report, longest),
        )
        answer = tokenizer.decode(output[0][given:], skip_special_tokens=True)
        return [text_artifact(answer.strip())]

    return run


class Steps:
    """Told by transformers after every token; tells how far the answer is at most."""

    def __init__(self, report: Report, longest: int) -> None:
        self._report = report
        self._longest = longest
        self._count = -1  # the first time it is told the prompt

    def put(self, value: object) -> None:
        """One more token."""
        self._count += 1
        if self._count % 16 == 0:
            self._report(self._count / self._longest, f"{self._count} tokens")

    def end(self) -> None:
        """Nothing more comes."""


def load_translator(loading: Loading) -> Run:
    """OPUS-MT for one pair of languages, or NLLB-200 for many."""
    tokenizer, network = _load_sequences(loading)
    many = "eng_Latn" in tokenizer.get_vocab()

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text, to = call.text("text"), code_of(call.words("language"))
        extra: dict[str, Any] = {}
        if many:
            origin = FLORES.get(code_of_text(text), "eng_Latn")
            tokenizer.src_lang = origin
            extra["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(FLORES[to])
        else:
            _check_pair(loading.expert, text, to)
        blocks = [sentences(block) for block in paragraphs(text)]
        flat = [sentence for block in blocks for sentence in block]
        done: list[str] = []
        for at in range(0, len(flat), BATCH):
            report(at / len(flat), f"{at} of {len(flat)} sentences")
            done += _rewrite(tokenizer, network, flat[at : at + BATCH], **extra)
        answers = iter(done)
        lines = [" ".join(next(answers) for _ in block) for block in blocks]
        return [text_artifact("\n\n".join(lines))]

    return run


def _check_pair(expert: Expert, text: str, to: str) -> None:
    """An OPUS-MT expert knows one direction; a wrong one must fail so that the next is tried."""
    source, target = expert.languages
    if to != target:
        raise ExpertError(f"{expert.id} translates into {NAMES[target]}, not into {NAMES[to]}.")
    if is_clearly_not(text, source):
        raise ExpertError(
            f"{expert.id} translates from {NAMES[source]}, and the text is not in it."
        )


def load_summariser(loading: Loading) -> Run:
    """T5 and BART: parts that fit are summarised, and their summaries again."""
    tokenizer, network = _load_sequences(loading)
    prefix = "summarize: " if network.config.model_type == "t5" else ""
    longest = min(_context(network.config), 1024) - 16

    def count(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    def shorten(text: str, report: Report) -> str:
        parts = _parts(text, longest, count=count)
        out = []
        for at, part in enumerate(parts):
            report(at / len(parts), f"part {at + 1} of {len(parts)}")
            # A part may not come out longer than half of it, or the parts would never get fewer.
            most = min(LONGEST_SUMMARY, max(16, count(part) // 2))
            out += _rewrite(tokenizer, network, [prefix + part], longest=most)
        return " ".join(out)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        summary, size, fits = call.text("text"), 0, False
        while not fits:
            before, size = size, count(summary)
            if before and size >= before:
                break
            fits = size <= longest
            summary = shorten(summary, report)
        chosen = sentences(summary)[: int(call.number("sentences"))]
        return [text_artifact(" ".join(chosen))]

    return run


def load_sorter(loading: Loading) -> Run:
    """Sorts by natural language inference (Yin et al. 2019): does the text say it is about X?"""
    import torch

    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForSequenceClassification")
    names = {str(name).lower(): index for name, index in network.config.label2id.items()}
    yes = next((index for name, index in names.items() if name.startswith("entail")), None)
    if yes is None:
        raise ExpertError(f"{loading.expert.id} was not made for sorting: it knows no entailment.")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        labels = [label.strip() for label in call.words("labels").split(",") if label.strip()]
        if len(labels) < 2:
            raise InputError(
                "Sorting needs at least two labels.", hint="Say for example: sport or politics?"
            )
        inputs = tokenizer(
            [call.text("text")] * len(labels),
            [f"This example is about {label}." for label in labels],
            truncation="only_first",
            max_length=min(_context(network.config), 512),
            padding=True,
            return_tensors="pt",
        ).to(network.device)
        with torch.inference_mode():
            shares = network(**inputs).logits[:, yes].softmax(0).tolist()
        ranked = sorted(zip(shares, labels, strict=True), reverse=True)
        return [text_artifact("\n".join(f"{label}: {share:.0%}" for share, label in ranked))]

    return run


def load_gap_filler(loading: Loading) -> Run:
    """Proposes words for the first gap of a sentence."""
    import torch

    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForMaskedLM")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = call.text("text")
        if not GAP.search(text):
            raise InputError("The sentence has no gap.", hint="Mark it with ___ or [MASK].")
        asked = GAP.sub(lambda match: tokenizer.mask_token, text)
        inputs = tokenizer(
            asked,
            truncation=True,
            max_length=min(_context(network.config), 512),
            return_tensors="pt",
        ).to(network.device)
        gaps = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten()
        if not len(gaps):
            raise ExpertError(f"The gap comes too late in the text for {loading.expert.id}.")
        with torch.inference_mode():
            scores = network(**inputs).logits[0, gaps[0]]
        best = [tokenizer.decode([index]).strip() for index in scores.topk(5).indices.tolist()]
        words = [word for word in best if word] or [""]
        filled = GAP.sub(lambda match: words[0], text, count=1)
        others = f"\nAlso possible: {', '.join(words[1:])}." if words[1:] else ""
        return [text_artifact(filled + others)]

    return run


def _load_sequences(loading: Loading) -> tuple[Any, Any]:
    """A tokenizer and a network that turns one text into another."""
    network = loading.network("AutoModelForSeq2SeqLM")
    return loading.part("AutoTokenizer"), network


def _rewrite(
    tokenizer: Any, network: Any, texts: Sequence[str], *, longest: int = 0, **extra: Any
) -> list[str]:
    """What the network makes of each text; at most `longest` tokens, or twice what was given."""
    limit = _context(network.config)
    inputs = tokenizer(
        list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt"
    ).to(network.device)
    room = longest or 2 * inputs["input_ids"].shape[1] + 16
    output = network.generate(**inputs, max_new_tokens=min(room, limit), **extra)
    return [text.strip() for text in tokenizer.batch_decode(output, skip_special_tokens=True)]


def _parts(text: str, longest: int, *, count: Any) -> list[str]:
    """The text in parts of whole sentences that fit."""
    parts: list[list[str]] = [[]]
    size = 0
    for sentence in sentences(text):
        more = count(sentence)
        if parts[-1] and size + more > longest:
            parts.append([])
            size = 0
        parts[-1].append(sentence)
        size += more
    return [" ".join(part) for part in parts]


def _context(config: Any) -> int:
    """How many tokens a network takes, as its settings say it; 512 where they do not."""
    for name in ("max_position_embeddings", "n_positions"):
        if value := getattr(config, name, None):
            return int(value)
    return 512
