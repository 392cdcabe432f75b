"""What a controller's prompt tells of: gathered from the desk, each as text of a given length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.assistant.agent.at_hand import at_hand, functions_for, is_foreign
from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.roles import Role
from jarvis_desktop.assistant.agent.trimming import (
    beginning,
    first_lines,
    fits,
    last_lines,
)
from jarvis_desktop.assistant.telling import marked_off, shortened
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import Library
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.llm import estimated_tokens
from jarvis_desktop.core.outline import LONGEST_STEP, MARKS, Outline
from jarvis_desktop.core.shown import one_line

MOST_FUNCTIONS = 12
MOST_EARLIER = 2
MOST_RESOURCES = 60
LONGEST_WORDS = 2000
"""Characters that functions are looked for with."""


@dataclass(frozen=True, slots=True)
class Known:
    """Lines of what is at hand. `foreign` says whether a name among them may be an instruction of
    somebody else's."""

    resources: Sequence[str]
    functions: Sequence[str]
    earlier: Sequence[str]
    facts: Sequence[str]
    notes: Sequence[str]
    foreign: bool


class Material:
    """Gathers it."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def gather(self, desk: Desk, depth: int, role: Role) -> Known:
        """All of it; what cannot be read is left out, and the trace says so."""
        outline = desk.frames[depth].outline
        things = _most_wanted_first(desk)
        return Known(
            resources=[_listed(desk, *item) for item in things],
            functions=await self._functions(desk, depth) if role.shows_library else (),
            earlier=() if depth else _earlier(desk),
            facts=[f"- {one_line(fact, limit=300)}" for fact in desk.context.facts],
            notes=[f"{step.id}. {step.note}" for step in outline or () if step.note],
            foreign=any(is_foreign(_title(item), desk.goal.text) for _, item in things),
        )

    async def _functions(self, desk: Desk, depth: int) -> Sequence[str]:
        frame = desk.frames[depth]
        steps = (step.text for step in (frame.outline.open if frame.outline else ()))
        words = "\n".join((frame.task, *steps, desk.goal.text))[:LONGEST_WORDS]
        found = await functions_for(desk, self._library, words, MOST_FUNCTIONS)
        return [one_line(f"{item.signature}: {item.summary}", limit=240) for item in found]


def _earlier(desk: Desk) -> Sequence[str]:
    """Goals like this one, with their steps: the person's words, and what they agreed to."""
    if desk.earlier is None:
        desk.earlier = ()
        try:
            goals = desk.memory.like(desk.goal.text, MOST_EARLIER + 1)
            others = [goal for goal in goals if goal.id != desk.goal.id][:MOST_EARLIER]
            desk.earlier = tuple(
                _goal_told(goal.text, desk.memory.frames(goal.id)[:1]) for goal in others
            )
        except JarvisError as error:
            desk.live.trace(f"Earlier goals could not be read: {error}")
    return desk.earlier


def _goal_told(text: str, frames: Sequence[Any]) -> str:
    outline = frames[0].outline if frames else None
    steps = "; ".join(f"{step.state.value}: {step.text}" for step in outline or ())
    return one_line(f"- {one_line(text, limit=200)}" + (f" ({steps})" if steps else ""), limit=600)


def _most_wanted_first(desk: Desk) -> Sequence[tuple[str, Artifact]]:
    """What the person gave, what was made, the newest first, and what there was before."""
    made = set(desk.made)
    given = set(desk.context.attachments)
    things = list(at_hand(desk).items())
    sorts = (
        [thing for thing in things if thing[1] in given],
        [thing for thing in reversed(things) if thing[1] in made - given],
        [thing for thing in reversed(things) if thing[1] not in made | given],
    )
    return [thing for sort in sorts for thing in sort][:MOST_RESOURCES]


def _listed(desk: Desk, name: str, item: Artifact) -> str:
    about = [str(item.kind)]
    title = _title(item)
    if title not in ("", name):
        about.append(f"“{title}”")
    if item in desk.context.attachments:
        about.append("given by the person")
    return f"- {one_line(name)} ({', '.join(about)})"


def _title(item: Artifact) -> str:
    """The name of a file; a text has none."""
    return one_line(item.title) if item.path or item.name else ""


def task_told(task: str, most: int, whose: str) -> str:
    """The task. Where it ends in data that is too long, the mark behind the data stays."""
    if fits(task, most):
        return task
    opening, closing = marked_off("\n", whose).split()
    text = beginning(task, most - estimated_tokens(closing) - 1)
    return f"{text}\n{closing}" if text.count(opening) > text.count(closing) else text


def plan_told(outline: Outline | None, most: int) -> str:
    """The whole plan: where it is too long, its steps say less, and none is missing."""
    if outline is None:
        return ""
    for longest in (LONGEST_STEP, 200, 100, 60, 30, 15):
        text = "\n".join(
            f"- [{MARKS[step.state]}] {step.id}. {one_line(step.text, limit=longest)}"
            for step in outline
        )
        if fits(text, most):
            return text
    return "\n".join(first_lines(text.splitlines(), most))


def news_told(notices: Sequence[str], most: int) -> str:
    """What the controller must be told, all of it, each shorter where it is too long."""
    if not notices:
        return ""
    for longest in (None, 1000, 400, 200, 100, 50):
        text = "Note:\n" + "\n".join(f"- {shortened(notice, longest)}" for notice in notices)
        if fits(text, most):
            return text
    return beginning(text, most)


def answer_told(last: str, most: int) -> str:
    """The own last answer, still JSON where its texts are shortened; "" where there is none."""
    if not last or fits(last, most):
        return last
    answer = json.loads(last)
    for longest in (1200, 400, 120, 40, 10):
        text = json.dumps(_shorter(answer, longest), ensure_ascii=False)
        if fits(text, most):
            return text
    return json.dumps({"branch": answer["branch"], "args": {}})


def newest(lines: Sequence[str], most: int) -> str:
    """The last of the lines."""
    return "\n".join(last_lines(lines, most))


def nearest(lines: Sequence[str], most: int) -> str:
    """The first of the lines."""
    return "\n".join(first_lines(lines, most))


def _shorter(value: Any, longest: int) -> Any:
    match value:
        case str():
            return shortened(value, longest)
        case list():
            return [_shorter(item, longest) for item in value[:5]]
        case dict():
            return {key: _shorter(item, longest) for key, item in value.items()}
    return value
