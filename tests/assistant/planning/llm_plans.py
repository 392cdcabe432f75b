"""What the tests of the LLM planner share: files at hand, answers in, plans out as short lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_desktop.assistant.planning.llm_output import read_steps
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts, build_plan
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Resource
from jarvis_desktop.core.task import Item, Ref, Task, TaskType
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import file

CONTEXT = Context(
    tuple(map(file, ("cat.png", "dog.png", "memo.wav", "letter.pdf", "sales.csv", "clip.mp4"))),
    resources=(
        Resource("image 1", file("old.png"), given=True),
        Resource("text 1", text_artifact("An old text."), given=False, task="image-to-text"),
    ),
)


def planned(
    answer: str, inventory: Sequence[TaskType] = INVENTORY, context: Context = CONTEXT
) -> Plan | None:
    """The plan of an LLM's answer; None where it says that none is needed. Raises PlanError."""
    found = read_steps(answer, [task_type.name for task_type in inventory])
    return build_plan(found, inventory, NamedArtifacts(context)) if found else None


def outcome(answer: str) -> list[str]:
    """What comes of an answer, in lines."""
    try:
        plan = planned(answer)
    except PlanError as error:
        return [f"refused: {error}"]
    return lines(plan) if plan else ["direct"]


def lines(plan: Plan) -> list[str]:
    """A plan in lines such as `1 summarization text=#0`."""
    return [_line(task) for task in plan]


def corpus() -> list[tuple[str, str, list[str]]]:
    """Name, answer and outcome of every entry of bad_outputs.txt."""
    text = (Path(__file__).parent / "bad_outputs.txt").read_text(encoding="utf-8")
    entries = []
    for entry in text.removeprefix("=== ").split("\n=== "):
        name, _, rest = entry.partition("\n")
        answer, _, expected = f"\n{rest}".partition("\n---\n")
        entries.append((name, answer.removeprefix("\n"), expected.strip().split("\n")))
    return entries


def _line(task: Task) -> str:
    args = [
        f"{name}={'+'.join(map(_shown, arg if isinstance(arg, tuple) else (arg,)))}"
        for name, arg in task.args.items()
    ]
    return " ".join([str(task.id), task.type.name, *args, *["*"] * task.wanted])


def _shown(item: Item) -> str:
    if isinstance(item, Ref):
        return f"#{item.task_id}"
    if isinstance(item, Artifact):
        return item.name or item.text or ""
    return str(item).replace("\n", " / ")
