"""Asks a service for what is read and written. Used in the API's child process only."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.backends.answer_experts import evidence
from jarvis_desktop.backends.api_answers import Question, chatted, in_parts
from jarvis_desktop.backends.languages import FLORES, NAMES, code_of, code_of_text, is_clearly_not
from jarvis_desktop.backends.text_experts import GAP
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.found import label_lines
from jarvis_desktop.tasks.question_answering import Answer
from jarvis_desktop.tasks.sentences import paragraphs, sentences
from jarvis_desktop.tasks.zero_shot_classification import labels_of

PART = 3000
"""Characters of a text that is summarised or translated at once: most experts that do so behind an
API read 512 or 1024 tokens and leave out the rest without a word."""

MOST_PARTS = 20
"""Requests that one call may make."""

MARKS = ("[MASK]", "<mask>")
"""How experts mark a gap: BERT's way and RoBERTa's."""

MOST = 100
"""Names of one kind."""


def write(question: Question) -> Iterable[Artifact]:
    """The answer to a prompt."""
    return [text_artifact(chatted(question, question.text("prompt")))]


def summarise(question: Question) -> Iterable[Artifact]:
    """A summary; parts that fit are summarised one by one."""
    parts = _parts(question, sentences(question.text("text")))
    said = []
    for at, part in enumerate(parts):
        question.report(at / len(parts), f"part {at + 1} of {len(parts)}")
        said.append(question.words(question.client.summarization(part).summary_text))
    most = max(1, int(question.call.number("sentences")))
    # Of several parts each has a say, as far as that goes.
    each = max(1, most // len(said))
    chosen = [line for one in said for line in sentences(one)[: each if len(said) > 1 else most]]
    return [text_artifact(" ".join(chosen[:most]))]


def translate(question: Question) -> Iterable[Artifact]:
    """The text in the other language, paragraph by paragraph."""
    text, to = question.text("text"), code_of(question.call.words("language"))
    codes = _codes(question, text, to)
    blocks = [in_parts(sentences(block), PART) for block in paragraphs(text)]
    count = sum(map(len, blocks))
    _check_number(question, count)
    done, lines = 0, []
    for block in blocks:
        said = []
        for part in block:
            question.report(done / count, f"part {done + 1} of {count}")
            answer = question.client.translation(part, **codes)
            said.append(question.words(answer.translation_text))
            done += 1
        lines.append(" ".join(said))
    return [text_artifact("\n\n".join(lines))]


def _codes(question: Question, text: str, to: str) -> dict[str, str]:
    """The languages as the expert calls them; an expert for one pair must be the right one."""
    expert = question.expert
    if len(expert.languages) == 2:
        source, target = expert.languages
        if to != target or is_clearly_not(text, source):
            raise ExpertError(
                tr(
                    "{id} translates from {source} into {target} only.",
                    id=expert.id,
                    source=NAMES.get(source, source),
                    target=NAMES.get(target, target),
                )
            )
        return {}
    origin = code_of_text(text)
    if "nllb" in expert.repo.lower():
        return {"src_lang": FLORES.get(origin, "eng_Latn"), "tgt_lang": FLORES[to]}
    return {"src_lang": origin or "en", "tgt_lang": to}


def _parts(question: Question, pieces: Iterable[str]) -> list[str]:
    parts = in_parts(pieces, PART)
    _check_number(question, len(parts))
    return parts


def _check_number(question: Question, parts: int) -> None:
    if parts > MOST_PARTS:
        raise ExpertError(
            tr(
                "The text is too long for {id}: it would take {parts} requests.",
                id=question.expert.id,
                parts=parts,
            ),
            hint=tr("Give it in parts, or use an expert of this computer."),
        )


def find_answer(question: Question) -> Iterable[Artifact]:
    """What stands in the text as the answer, and its sentence."""
    context = question.text("context")
    found = question.client.question_answering(question.text("question"), context)
    best = question.several(found)[0] if isinstance(found, list) else found
    if isinstance(best.answer, str) and not best.answer.strip():
        raise ExpertError(
            tr("The text does not seem to answer that."),
            hint=tr("Ask in other words, or about something that stands in the text."),
        )
    said = question.words(best.answer)
    start = best.start if isinstance(best.start, int) else -1
    if start < 0 or context[start : start + len(said)] != said:
        start = context.find(said)
    if start < 0:
        raise question.unusable(tr("its answer does not stand in the text"))
    return [text_artifact(str(Answer(said, evidence(context, start, start + len(said)))))]


def label(question: Question) -> Iterable[Artifact]:
    """One line per kind of name."""
    from jarvis_desktop.backends.label_experts import named

    text = question.text("text")
    elements = question.client.token_classification(text, aggregation_strategy="simple")
    if not isinstance(elements, list):
        raise question.unusable(tr("it holds nothing"))
    kinds: dict[str, list[str]] = {}
    for each in elements:
        kind = question.words(each.entity_group or each.entity)
        words = " ".join(question.words(each.word).replace(" ##", "").removeprefix("##").split())
        items = kinds.setdefault(named(kind.removeprefix("B-").removeprefix("I-")), [])
        if words not in items and len(items) < MOST:
            items.append(words)
    if not kinds:
        return [text_artifact("There is nothing in the text of the kinds that it looks for.")]
    lines = [f"{kind}: {', '.join(items)}" for kind, items in kinds.items()]
    return [text_artifact("\n".join(lines))]


def judge(question: Question) -> Iterable[Artifact]:
    """The expert's own labels, the likeliest first."""
    found = question.client.text_classification(question.text("text"))
    scores = question.scores(found if isinstance(found, list) else [found])
    return [text_artifact(label_lines((each.lower() if each.isupper() else each, share)
                                      for each, share in scores))]  # fmt: skip


def sort(question: Question) -> Iterable[Artifact]:
    """The labels that were given, the likeliest first."""
    labels = labels_of(question.call.words("labels"))
    found = question.client.zero_shot_classification(question.text("text"), labels)
    scores = [pair for pair in question.scores(found) if pair[0] in labels]
    if len(scores) < len(labels):
        raise question.unusable(tr("it does not name the labels that were given"))
    return [text_artifact(label_lines(scores, len(scores)))]


def fill(question: Question) -> Iterable[Artifact]:
    """Words for the first gap."""
    text = question.text("text")
    if not GAP.search(text):
        raise InputError(tr("The sentence has no gap."), hint=tr("Mark it with ___ or [MASK]."))
    mark = MARKS[any(name in question.expert.repo.lower() for name in ("roberta", "bart"))]
    found = question.several(question.client.fill_mask(GAP.sub(lambda match: mark, text)))
    if isinstance(found[0], list):  # one list a gap
        found = question.several(found[0])
    words = [question.words(each.token_str) for each in found]
    filled = GAP.sub(lambda match: words[0], text, count=1)
    others = f"\nAlso possible: {', '.join(words[1:])}." if words[1:] else ""
    return [text_artifact(filled + others)]


def compare(question: Question) -> Iterable[Artifact]:
    """How much alike two texts are in meaning."""
    texts = question.text("text_1"), question.text("text_2")
    (cosine, *_) = question.several(question.client.sentence_similarity(texts[0], [texts[1]]))
    question.share(abs(cosine) if isinstance(cosine, int | float) else cosine)
    shown = f"{cosine:.2f}".replace("-", "−")
    return [
        text_artifact(
            f"The two texts are {max(cosine, 0.0):.0%} alike in meaning "
            f"(cosine {shown}, by {question.expert.id})."
        )
    ]
