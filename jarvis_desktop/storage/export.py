"""The history as one text for other programs (JSON) or for people (Markdown, plain text)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.turn import Conversation, Round, Turn
from jarvis_desktop.core.wire import plan_to_wire, to_wire
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.documents import outline_values

FORMATS = ("json", "markdown", "text")
"""The forms that are one text; HTML is written to files only."""
FORMAT = "jarvis-desktop history"
VERSION = 1
"""Of the JSON form, which `importing` reads."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")

Link = Callable[[Artifact], str | None]
"""Where a file of an artifact lies, as a reader of the text finds it; None where it does not."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation as it is written out."""

    conversation: Conversation
    title: str
    pinned: bool = False


def in_place(artifact: Artifact) -> str | None:
    """The file where it lies on this computer."""
    return str(artifact.path) if artifact.path else None


def exported(entries: Iterable[Entry], form: str, link: Link = in_place) -> str:
    """The conversations in one of FORMATS. Raises InputError on any other."""
    return "".join(pieces(entries, form, link))


def pieces(entries: Iterable[Entry], form: str, link: Link = in_place) -> Iterator[str]:
    """The same bit by bit: a history may be larger than the memory."""
    match form:
        case "json":
            found = _json(entries, link)
        case "markdown":
            found = (f"{line}\n" for item in entries for line in _markdown(item, link))
        case "text":
            found = (f"{line}\n" for item in entries for line in _plain(item, link))
        case _:
            raise InputError(
                tr("The history cannot be exported as {form}.", form=one_line(form)),
                hint=tr("Choose one of {formats}.", formats=", ".join(FORMATS)),
            )
    return map(encodable, found)


def _json(entries: Iterable[Entry], link: Link) -> Iterator[str]:
    yield f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION}, "conversations": ['
    for index, entry in enumerate(entries):
        document = {
            "id": entry.conversation.id,
            "title": entry.title,
            "pinned": entry.pinned,
            "turns": [turn_document(turn, link) for turn in entry.conversation.turns],
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        yield f"{',' if index else ''}\n{text}"
    yield "\n]}\n"


def turn_document(turn: Turn, link: Link) -> dict[str, Any]:
    """A turn with all that is kept of it, ready for JSON."""
    outlines = {path: outline_values(item) for path, item in turn.inner_outlines.items()}
    document = to_wire(turn) | {
        "plan": None if turn.plan is None else plan_to_wire(turn.plan, whole=True),
        "outline": None if turn.outline is None else outline_values(turn.outline),
        "inner_outlines": outlines,
    }
    for passing in ("running", "progress", "trying", "failed_attempts", "trace", "speaking"):
        document.pop(passing, None)
    linked: dict[str, Any] = _linked(document, link)
    return linked


def _linked(value: Any, link: Link) -> Any:
    """The value with the path of each artifact as a reader finds it."""
    if isinstance(value, list):
        return [_linked(item, link) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("path"), str) and "kind" in value and "text" in value:
        artifact = Artifact(value["kind"], None, Path(value["path"]), value.get("name") or "")
        # Where it lies is nobody else's business; our store knows its files by name.
        return {**value, "path": link(artifact) or Path(value["path"]).name}
    return {key: _linked(item, link) for key, item in value.items()}


def _markdown(entry: Entry, link: Link) -> Iterator[str]:
    yield f"# {_escaped(one_line(entry.title))}\n"
    for turn in entry.conversation.turns:
        yield f"## {turn.started:%Y-%m-%d %H:%M}\n"
        yield _quoted(turn.text)
        for line in details(turn, link):
            yield f"- {_escaped(line)}"
        yield f"\n{_escaped(turn.reply)}\n"


def _plain(entry: Entry, link: Link) -> Iterator[str]:
    for turn in entry.conversation.turns:
        yield f"[{turn.started:%Y-%m-%d %H:%M}] {turn.text}"
        for line in details(turn, link):
            yield f"  - {line}"
        yield f"{turn.reply}\n"


def details(turn: Turn, link: Link) -> Iterator[str]:
    """What was given, and who did what with what result, a line each."""
    for item in turn.attachments:
        yield f"given: {_made(item, link) if link is not in_place else one_line(item.title)}"
    for step in turn.outline or ():
        words = one_line(": ".join(part for part in (step.text, step.note) if part), limit=400)
        yield f"step {step.id} {step.state}: {words}"
    yield from (_round(item, link) for item in turn.rounds.values())
    types = {task.id: task.type.name for task in turn.plan or ()}
    for result in turn.results.values():
        yield _result(result, types.get(result.task_id, f"task {result.task_id}"), link)


def _round(item: Round, link: Link) -> str:
    made = ", ".join(_made(each, link) for each in item.artifacts)
    said = one_line(item.observation, limit=400)
    head = f"round {item.number}, {item.path}: {item.branch} {item.status or 'cut off'}"
    return ": ".join(part for part in (head, one_line(item.what, limit=400), said, made) if part)


def _result(result: TaskResult, name: str, link: Link) -> str:
    made = ", ".join(_made(item, link) for item in result.artifacts)
    return ": ".join(
        part for part in (f"{name} {result.status}", made, one_line(result.reason)) if part
    )


def _made(artifact: Artifact, link: Link) -> str:
    place = link(artifact) if artifact.path else None
    where = f" ({place})" if place else ""
    return one_line(f"{artifact.title}{where}", limit=400)


def _escaped(text: str) -> str:
    """Without the signs that a reader of Markdown, or of HTML within it, would act on."""
    return _MARKDOWN.sub(r"\\\1", text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {_escaped(line)}" for line in text.splitlines()) + "\n"
