"""The history as one text for other programs (JSON) or for people (Markdown, plain text)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.turn import Conversation, Round, Turn
from jarvis_desktop.core.wire import to_wire

FORMATS = ("json", "markdown", "text")

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")


def exported(conversations: Iterable[Conversation], form: str) -> str:
    """The conversations in one of FORMATS. Raises InputError on any other."""
    match form:
        case "json":
            document = {"conversations": [to_wire(item) for item in conversations]}
            text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        case "markdown":
            text = "\n".join(line for item in conversations for line in _markdown(item))
        case "text":
            text = "\n".join(line for item in conversations for line in _plain(item))
        case _:
            raise InputError(
                f"The history cannot be exported as {one_line(form)}.",
                hint=f"Choose one of {', '.join(FORMATS)}.",
            )
    return encodable(text)


def _markdown(conversation: Conversation) -> Iterator[str]:
    for count, turn in enumerate(conversation.turns):
        if not count:
            yield f"# {_escaped(one_line(turn.text))}\n"
        yield f"## {turn.started:%Y-%m-%d %H:%M}\n"
        yield _quoted(turn.text)
        for line in _details(turn):
            yield f"- {_escaped(line)}"
        yield f"\n{_escaped(turn.reply)}\n"


def _plain(conversation: Conversation) -> Iterator[str]:
    for turn in conversation.turns:
        yield f"[{turn.started:%Y-%m-%d %H:%M}] {turn.text}"
        for line in _details(turn):
            yield f"  - {line}"
        yield f"{turn.reply}\n"


def _details(turn: Turn) -> Iterator[str]:
    for item in turn.attachments:
        yield f"given: {one_line(item.title)}"
    for step in turn.outline or ():
        words = one_line(": ".join(part for part in (step.text, step.note) if part), limit=400)
        yield f"step {step.id} {step.state}: {words}"
    yield from map(_round, turn.rounds.values())
    types = {task.id: task.type.name for task in turn.plan or ()}
    for result in turn.results.values():
        yield _result(result, types.get(result.task_id, f"task {result.task_id}"))


def _round(item: Round) -> str:
    made = ", ".join(map(_made, item.artifacts))
    said = one_line(item.observation, limit=400)
    head = f"round {item.number}, {item.path}: {item.branch} {item.status or 'cut off'}"
    return ": ".join(part for part in (head, one_line(item.what, limit=400), said, made) if part)


def _result(result: TaskResult, name: str) -> str:
    made = ", ".join(_made(item) for item in result.artifacts)
    return ": ".join(
        part for part in (f"{name} {result.status}", made, one_line(result.reason)) if part
    )


def _made(artifact: Artifact) -> str:
    where = f" ({artifact.path})" if artifact.path else ""
    return one_line(f"{artifact.title}{where}", limit=400)


def _escaped(text: str) -> str:
    """Without the signs that a reader of Markdown, or of HTML within it, would act on."""
    return _MARKDOWN.sub(r"\\\1", text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {_escaped(line)}" for line in text.splitlines()) + "\n"
