"""Text generation, translation, summarization and gap filling with transformers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

from jarvis_desktop.backends.draft import Draft
from jarvis_desktop.backends.local.pipelines.bert_encoder import TokenWindow
from jarvis_desktop.backends.local.pipelines.text_network import context, load_text_network
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report, report_part
from jarvis_desktop.text.languages import FLORES, NAMES, code_of, code_of_text, is_clearly_not
from jarvis_desktop.text.sentences import paragraphs, sentences

MAX_ANSWER_TOKENS = 512
TRANSLATION_BATCH = 8  # sentences translated at once
MAX_SUMMARY_TOKENS = 160  # tokens of the summary of one part
MAX_PROPOSALS = 5  # words proposed for a gap
MAX_GAPS = 20
GAP = re.compile(r"\[mask\]|<mask>|_{2,}", re.IGNORECASE)


def load_text_generator(loading: ExpertLoader) -> Run:
    """Answer a prompt with an LLM, using its chat template if it has one."""
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForCausalLM")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        prompt = "\n\n".join(filter(None, (call.text("prompt"), call.text("text"))))
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
        room = context(network.config) - given
        if room < min(64, MAX_ANSWER_TOKENS):
            raise loading.error(mark("The text is too long for {id}: {given} tokens."), given=given)
        longest = min(MAX_ANSWER_TOKENS, room)
        output = network.generate(
            **inputs.to(network.device),
            max_new_tokens=longest,
            num_beams=1,
            streamer=_draft_streamer(tokenizer, TokenProgress(report, longest)),
        )
        answer = tokenizer.decode(output[0][given:], skip_special_tokens=True)
        return [text_artifact(answer.strip())]

    return run


class TokenProgress:
    """Reports the progress of `generate`, as its streamer or as a logits processor."""

    def __init__(self, report: Report, most: int, *, every: int = 16, words: str = "") -> None:
        self._report = report
        self._most = most
        self._every = every
        self._words = words
        self._count = 0

    def _step(self) -> None:
        self._count += 1
        if self._count % self._every == 0:
            words = self._words or f"{self._count} tokens"
            self._report(min(self._count / self._most, 1.0), words)

    def put(self, value: Any) -> None:
        """Count one token; the first call is for the prompt."""
        if value.ndim < 2:
            self._step()

    def end(self) -> None:
        """Do nothing."""

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Count one token, and change nothing."""
        self._step()
        return scores


def _draft_streamer(tokenizer: Any, progress: TokenProgress) -> Any:
    """A streamer that shows the words of one text as they are generated."""
    from transformers import TextStreamer

    draft = Draft(current_draft.get())

    class DraftStreamer(TextStreamer):  # type: ignore[misc]  # mypy does not read it
        def put(self, value: Any) -> None:
            progress.put(value)
            super().put(value)

        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            draft.feed(text)

    return DraftStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)


def load_translator(loading: ExpertLoader) -> Run:
    """Translate with OPUS-MT (one pair of languages), NLLB-200, M2M-100 or MADLAD-400 (many)."""
    tokenizer, network = _load_sequences(loading)
    vocabulary = tokenizer.get_vocab()
    tongues = getattr(tokenizer, "lang_code_to_token", {})  # M2M-100 keeps them apart

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text, to = call.text("text"), code_of(call.words("language"))
        extra: dict[str, Any] = {}
        prefix = ""
        if "eng_Latn" in vocabulary:
            tokenizer.src_lang = FLORES.get(code_of_text(text), "eng_Latn")
            extra["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(FLORES[to])
        elif tongues:
            origin = code_of_text(text)
            tokenizer.src_lang = origin if origin in tongues else "en"
            _check_known(loading.expert, tongues, to, to)
            extra["forced_bos_token_id"] = tokenizer.get_lang_id(to)
        elif "<2en>" in vocabulary:
            prefix = f"<2{to}> "
            _check_known(loading.expert, vocabulary, prefix.strip(), to)
        else:
            _check_pair(loading.expert, text, to)
        blocks = [sentences(block) for block in paragraphs(text)]
        flat = [prefix + sentence for block in blocks for sentence in block]
        if not flat:
            raise InputError(tr("There is no text to translate."))
        gaps = [" " if at else "\n\n" for block in blocks for at in range(len(block))]
        draft = Draft(current_draft.get())
        translated = ""
        for at in range(0, len(flat), TRANSLATION_BATCH):
            report_part(report, at, len(flat))
            done = _rewrite(tokenizer, network, flat[at : at + TRANSLATION_BATCH], **extra)
            for gap, answer in zip(gaps[at:], done, strict=False):
                # Some tokenizers decode the language token as a word.
                piece = gap + answer.removeprefix(f"__{to}__").strip()
                translated += piece
                draft.feed(piece)
        return [text_artifact(translated.strip())]

    return run


def _check_known(expert: Expert, marks: Container[str], mark: str, language: str) -> None:
    if mark not in marks:
        raise ExpertError(
            tr("{id} does not translate into {names}.", id=expert.id, names=NAMES[language])
        )


def _check_pair(expert: Expert, text: str, to: str) -> None:
    """Raise ExpertError unless the expert's one direction is the wanted one."""
    if len(expert.languages) != 2:
        raise ExpertError(
            tr("{id} does not say from which language into which it translates.", id=expert.id)
        )
    source, target = expert.languages
    into, origin = NAMES.get(target, target), NAMES.get(source, source)
    if to != target:
        raise ExpertError(
            tr(
                "{id} translates into {into}, not into {names}.",
                id=expert.id,
                into=into,
                names=NAMES[to],
            )
        )
    if is_clearly_not(text, source):
        raise ExpertError(
            tr(
                "{id} translates from {origin}, and the text is not in it.",
                id=expert.id,
                origin=origin,
            )
        )


def load_summarizer(loading: ExpertLoader) -> Run:
    """Summarize with T5, BART, PEGASUS or a model like them: part by part if the text is long."""
    tokenizer, network = _load_sequences(loading)
    prefix = "summarize: " if network.config.model_type == "t5" else ""
    # The minimum that an expert sets is meant for whole articles, not for parts of one.
    network.generation_config.min_length = 0
    longest = min(context(network.config), 1024) - 16

    def count(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    def shorten(text: str, report: Report) -> str:
        parts = _parts(text, longest, count=count)
        out = []
        for at, part in enumerate(parts):
            report_part(report, at, len(parts))
            # A summary longer than half of its part could mean that the parts never get fewer.
            most = min(MAX_SUMMARY_TOKENS, max(16, count(part) // 2))
            out += _rewrite(tokenizer, network, [prefix + part], longest=most)
        return " ".join(out)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        summary, size, fits = call.text("text"), 0, False
        if not summary.strip():
            raise InputError(tr("There is no text to summarise."))
        while not fits:
            before, size = size, count(summary)
            if before and size >= before:
                break
            fits = size <= longest
            summary = shorten(summary, report)
        chosen = sentences(summary)[: int(call.number("sentences"))]
        return [text_artifact(" ".join(chosen))]

    return run


def load_fill_mask(loading: ExpertLoader) -> Run:
    """Propose words for each gap of a text, and fill in the most likely."""
    network = load_text_network(loading, "AutoModelForMaskedLM")
    tokenizer = network.tokenizer
    if not network.mask:
        raise loading.error(mark("{id} was not made for filling gaps."))
    gap_token = tokenizer.token_to_id(network.mask)

    import numpy as np  # not earlier; see load_bert_encoder

    def likeliest(text: str) -> list[str]:
        """Return words for the first gap of a text."""
        tokenizer.no_truncation()
        ids = tokenizer.encode(GAP.sub(lambda match: network.mask, text)).ids
        gap = ids.index(gap_token)
        # Of a long text, the part around the gap.
        start = max(0, min(gap - network.longest // 2, len(ids) - network.longest))
        window = TokenWindow(ids[start : start + network.longest], only=gap - start)
        (scores,) = network.compute([window])
        order = np.argsort(-scores[0], kind="stable")[:10].tolist()
        best = [tokenizer.decode([at], skip_special_tokens=False).strip() for at in order]
        words = [word for word in best if any(sign.isalnum() for sign in word)]
        return (words or best)[:MAX_PROPOSALS]

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = call.text("text")
        gaps = len(GAP.findall(text))
        if not gaps:
            raise InputError(tr("The sentence has no gap."), hint=tr("Mark it with ___ or [MASK]."))
        if gaps > MAX_GAPS:
            raise InputError(tr("{gaps} gaps are too many to fill at once.", gaps=gaps))
        others = ""
        for at in range(gaps):
            report_part(report, at, gaps)
            words = likeliest(text)
            text = GAP.sub(lambda match, word=words[0]: word, text, count=1)  # type: ignore[misc]
            if words[1:]:
                where = f" instead of {words[0]}" if gaps > 1 else ""
                others += f"\nAlso possible{where}: {', '.join(words[1:])}."
        return [text_artifact(text + others)]

    return run


def _load_sequences(loading: ExpertLoader) -> tuple[Any, Any]:
    network = loading.network("AutoModelForSeq2SeqLM")
    return loading.part("AutoTokenizer"), network


def _rewrite(
    tokenizer: Any, network: Any, texts: Sequence[str], *, longest: int = 0, **extra: Any
) -> list[str]:
    """Generate a text for each text, of at most `longest` tokens, or twice as many as it has."""
    limit = context(network.config)
    inputs = tokenizer(
        list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt"
    ).to(network.device)
    room = longest or 2 * inputs["input_ids"].shape[1] + 16
    output = network.generate(**inputs, max_new_tokens=min(room, limit), **extra)
    return [text.strip() for text in tokenizer.batch_decode(output, skip_special_tokens=True)]


def _parts(text: str, longest: int, *, count: Any) -> list[str]:
    """Split a text into parts of whole sentences that fit."""
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
