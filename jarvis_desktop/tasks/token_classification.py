"""Lists dates, sums, addresses and names in a text by how they are written. Runs in a child."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.patterns import Found, find_all
from jarvis_desktop.tasks.sentences import paragraphs
from jarvis_desktop.tasks.words import FUNCTION_WORDS

TYPE = TaskType(
    name="token-classification",
    summary="Lists the names, dates, sums and addresses in a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    cues=(
        "entities", "named entit*", "entity recognition", "names in", "dates in",
        "phone numbers in", "e-mail addresses in", "email addresses in", "extract the names",
        "extract the dates", "extract the e-mail*", "extract the email*", "people mentioned",
        "places mentioned", "names mentioned", "who is mentioned", "label the words",
        "token classification", "links in the text", "list the names", "list the dates",
    ),
)  # fmt: skip

LONGEST_TEXT = 500_000
MOST = 100
"""Entries per kind."""
_SHOWN = (
    "email", "web address", "date", "time", "money", "percentage", "phone number", "name",
)  # fmt: skip


def label(call: Call, report: Report) -> Iterable[Artifact]:
    """One line per kind. Raises InputError where there is no text."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to look through."))
    if len(text) > LONGEST_TEXT:
        report(None, f"Reading the first {LONGEST_TEXT:,} characters.")
    found = entities(text[:LONGEST_TEXT])
    if not found:
        return [text_artifact("There are no dates, sums, addresses or names in the text.")]
    lines = [f"{_plural(kind)}: {', '.join(items)}" for kind, items in found.items()]
    lines.append("These are found by how they are written, not by what they mean.")
    return [text_artifact("\n".join(lines))]


def entities(text: str) -> dict[str, list[str]]:
    """Per kind what was found, each once, in order of appearance."""
    found: dict[str, list[str]] = {}
    for block in paragraphs(text):
        for item in find_all(block, _SHOWN):
            if item.kind == "name" and not _is_name(item, block):
                continue
            items = found.setdefault(item.kind, [])
            if item.text not in items and len(items) < MOST:
                items.append(item.text)
    return {kind: found[kind] for kind in _SHOWN if kind in found}


def _is_name(item: Found, block: str) -> bool:
    if len(item.text) < 2 or item.text.casefold() in FUNCTION_WORDS:
        return False
    # The first word of a sentence has a capital anyway.
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


DEFINITION = Definition(
    TYPE, method=label, note="patterns for dates, sums, addresses, phones; names by capitals"
)
