"""Requests in, plans out as short lines: what the tests of the embedded planner share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.core.artifact import Artifact, kind_of_name
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.core.task import Item, Ref, Task
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY

PLANNER = EmbeddedPlanner(TaskEncoder(shipped("models", "planner")))
"""With the shipped weights."""
NOON = datetime(2026, 1, 1, tzinfo=UTC)


def file(name: str) -> Artifact:
    kind = kind_of_name(name)
    assert kind
    return Artifact(kind, path=Path("/store") / name, name=name)


def conversation(
    *made: Artifact, given: tuple[Artifact, ...] = (), reply: str = ""
) -> Conversation:
    """One earlier turn that made these results."""
    clock = next(item for item in INVENTORY if item.name == "clock")
    turn = Turn(
        "t",
        NOON,
        attachments=given,
        plan=Plan((Task(0, clock),)),
        results={0: TaskResult(0, Status.DONE, made)},
        reply=reply,
    )
    return Conversation("c", (turn,))


async def ask(text: str, *names: str, earlier: Conversation | None = None) -> Plan | PlanRejected:
    """What is planned for a text with files; those it names outright are at hand too."""
    known = {item.title for turn in (earlier.turns if earlier else ()) for item in turn.artifacts}
    named = [
        item.name
        for item in request_parser.find_files(request_parser.split_pasted(text, INVENTORY)[0])
        if not item.output and item.name not in (*names, *known)
    ]
    context = Context(tuple(file(name) for name in (*names, *named)), earlier)
    return await PLANNER.plan(text, INVENTORY, context)


def show(planned: Plan | PlanRejected) -> list[str]:
    assert isinstance(planned, Plan), planned
    return [_shown(task) for task in planned]


def _shown(task: Task) -> str:
    args = ", ".join(
        f"{name}={'+'.join(_value(item) for item in (arg if isinstance(arg, tuple) else (arg,)))}"
        for name, arg in task.args.items()
    )
    return f"{task.type.name}({args})" + ("*" if task.wanted else "")


def _value(item: Item) -> str:
    if isinstance(item, Ref):
        return f"#{item.task_id}"
    if isinstance(item, Artifact):
        return item.name or item.text or ""
    return str(item)
