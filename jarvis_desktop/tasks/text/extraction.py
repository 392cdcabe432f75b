"""The tasks that extract from a text: key words, and dates, sums, addresses and names."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.text.classification import identify
from jarvis_desktop.text.entity_patterns import PatternMatch, find_all
from jarvis_desktop.text.sentences import paragraphs
from jarvis_desktop.text.tokens import FUNCTION_WORDS

MAX_CHARS = 200_000
LANGUAGES = frozenset(
    "ar bg br cz da de el en es et fa fi fr hi hr hu hy id it ja lt lv nl no pl pt ro ru sk sl sv "
    "tr uk zh".split()
)
"""The languages whose function words YAKE knows; for others it would list "and" and "the"."""


def extract(call: Call, report: Report) -> Iterable[Artifact]:
    """The key words, best first, joined by commas. Raises InputError if there is no text."""
    text = call.text("text")
    if not any(sign.isalpha() for sign in text):
        raise InputError(tr("There are no words to choose key words from."))
    if len(text) > MAX_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_CHARS))
        text = text[:MAX_CHARS]
    count = min(max(int(call.number("count")), 1), 100)
    found = keywords(text, count)
    if not found:
        raise ExpertError(tr("The text is too short to have key words."))
    return [text_artifact(", ".join(found))]


def keywords(text: str, count: int) -> list[str]:
    """The best key words by YAKE, without those contained in a better one. Campos et al., "YAKE!
    Keyword extraction from single documents using multiple local features", Information Sciences
    509, 2020."""
    import yake

    language = identify(text)
    code = language.code if language.confidence > 0.8 else "en"
    code = {"cs": "cz", "nb": "no", "nn": "no"}.get(code, code)
    extractor = yake.KeywordExtractor(
        lan=code if code in LANGUAGES else "en", n=3, top=count * 4, dedup_lim=0.8
    )
    chosen: list[str] = []
    for phrase, _ in extractor.extract_keywords(text):
        words = set(phrase.casefold().split())
        # "Marcius" adds nothing to "Caius Marcius".
        if any(words & set(other.casefold().split()) == words for other in chosen):
            continue
        chosen.append(phrase)
        if len(chosen) == count:
            break
    return chosen


KEYWORD_EXTRACTION = define(
    name="keyword-extraction", label="Find key words",
    summary="Lists the key words and phrases of a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("count", "how many key words", 10, units=("key*", "word*", "tag*",
        "topic*")),),
    cues=(
        "keyword*", "keyword", "keywords", "key word*", "key phrase*", "keyphrase*",
        "key term*", "important words", "important terms", "topics", "main topics",
        "tags", "tag cloud", "hashtag*", "terms in", "main subjects", "most important words",
    ),
    method=extract, note="YAKE: statistics of the text itself",
)  # fmt: skip


MAX_LABELLED_CHARS = 500_000
MAX_PER_KIND = 100
_SHOWN = (
    "email", "web address", "date", "time", "money", "percentage", "phone number", "name",
)  # fmt: skip


def label(call: Call, report: Report) -> Iterable[Artifact]:
    """One line per kind. Raises InputError if there is no text."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to look through."))
    if len(text) > MAX_LABELLED_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_LABELLED_CHARS))
    found = entities(text[:MAX_LABELLED_CHARS])
    if not found:
        return [text_artifact("There are no dates, sums, addresses or names in the text.")]
    lines = [f"{_plural(kind)}: {', '.join(items)}" for kind, items in found.items()]
    lines.append("These are found by how they are written, not by what they mean.")
    return [text_artifact("\n".join(lines))]


def entities(text: str) -> dict[str, list[str]]:
    """The entities of each kind, each once, in order of appearance."""
    found: dict[str, list[str]] = {}
    for block in paragraphs(text):
        for item in find_all(block, _SHOWN):
            if item.kind == "name" and not _is_name(item, block):
                continue
            items = found.setdefault(item.kind, [])
            if item.text not in items and len(items) < MAX_PER_KIND:
                items.append(item.text)
    return {kind: found[kind] for kind in _SHOWN if kind in found}


def _is_name(item: PatternMatch, block: str) -> bool:
    if len(item.text) < 2 or item.text.casefold() in FUNCTION_WORDS:
        return False
    # The first word of a sentence is capitalised anyway.
    before = block[: item.start].rstrip(" \"'“‘(")
    opens = not before or before[-1] in ".!?:;"
    return not opens or " " in item.text


def _plural(kind: str) -> str:
    name = {"email": "e-mail", "money": "sum of money"}.get(kind, kind)
    return {
        "e-mail": "E-mails",
        "sum of money": "Sums of money",
        "web address": "Web addresses",
    }.get(name, f"{name}s".capitalize())


TOKEN_CLASSIFICATION = define(
    name="token-classification", label="Find names and dates",
    summary="Lists the names, dates, sums and addresses in a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    cues=(
        "entities", "named entit*", "entity recognition", "names in", "dates in",
        "phone numbers in", "e-mail addresses in", "email addresses in", "extract the names",
        "extract the dates", "extract the e-mail*", "extract the email*", "people mentioned",
        "places mentioned", "names mentioned", "who is mentioned", "label the words",
        "token classification", "links in the text", "list the names", "list the dates",
    ),
    method=label, note="patterns for dates, sums, addresses, phones; names by capitals",
)  # fmt: skip
