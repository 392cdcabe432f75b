"""Finds the words and phrases a text is about. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.language_identification import identify

TYPE = TaskType(
    name="keyword-extraction",
    summary="Lists the key words and phrases of a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    options=(Option("count", "how many key words", 10, units=("key*", "word*", "tag*", "topic*")),),
    cues=(
        "keyword*", "keyword", "keywords", "key word*", "key phrase*", "keyphrase*",
        "key term*", "important words", "important terms", "topics", "main topics",
        "tags", "tag cloud", "hashtag*", "terms in", "main subjects", "most important words",
    ),
)  # fmt: skip

LONGEST_TEXT = 200_000
LANGUAGES = frozenset(
    "ar bg br cz da de el en es et fa fi fr hi hr hu hy id it ja lt lv nl no pl pt ro ru sk sl sv "
    "tr uk zh".split()
)
"""Those whose function words YAKE knows; for others it would list "and" and "the"."""


def extract(call: Call, report: Report) -> Iterable[Artifact]:
    """The key words, best first, joined by commas. Raises InputError where there is no text."""
    text = call.text("text")
    if not any(sign.isalpha() for sign in text):
        raise InputError(tr("There are no words to choose key words from."))
    if len(text) > LONGEST_TEXT:
        report(None, f"Reading the first {LONGEST_TEXT:,} characters.")
        text = text[:LONGEST_TEXT]
    count = min(max(int(call.number("count")), 1), 100)
    found = keywords(text, count)
    if not found:
        raise ExpertError(tr("The text is too short to have key words."))
    return [text_artifact(", ".join(found))]


def keywords(text: str, count: int) -> list[str]:
    """The best key words by YAKE, leaving out those that repeat a better one.

    Campos et al., "YAKE! Keyword extraction from single documents using multiple local features",
    Information Sciences 509, 2020.
    """
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
        # "Marcius" beside "Caius Marcius" says nothing new.
        if any(words & set(other.casefold().split()) == words for other in chosen):
            continue
        chosen.append(phrase)
        if len(chosen) == count:
            break
    return chosen


DEFINITION = Definition(TYPE, method=extract, note="YAKE: statistics of the text itself")
