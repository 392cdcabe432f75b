"""Sees to it that what is remembered for good is what the person said, not what a file says."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from jarvis_desktop.assistant.planning import cues, reading
from jarvis_desktop.assistant.planning.steps import AS_SAID
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Option, Task, TaskType
from jarvis_desktop.core.wording import tr

MOST_FOREIGN = 0.2
"""The share of its words that an LLM may have put in another form."""


def in_own_words(
    plan: Plan, text: str, inventory: Sequence[TaskType], *, but: Collection[Task] = ()
) -> Plan:
    """The plan that an LLM wrote for the request `text`; the tasks in `but` were there before.

    Raises PlanError where one of its tasks takes words as said that were not said, or that stand
    only in a text that was pasted. Where it says nothing, or a single word such as "that", the
    person must have asked for the task: nothing is forgotten that nobody wanted forgotten.
    """
    head, _ = reading.split(text, inventory)
    wish = reading.read(text, inventory, Context()).text
    for task in (task for task in plan if task not in but):
        asked = bool(cues.find(wish, (task.type,)))
        said = _words(text if asked else head)  # a pasted text only where it is asked for with it
        for option in task.type.options:
            if option.reads == AS_SAID and not _is_own(task, option, said, asked=asked):
                raise PlanError(
                    tr(
                        "Task {id} ({name}) must take its {name2} word for word "
                        "from the person's request.",
                        id=task.id,
                        name=task.type.name,
                        name2=option.name,
                    )
                )
    return plan


def _is_own(task: Task, option: Option, said: set[str], *, asked: bool) -> bool:
    value = task.args.get(option.name, option.default)
    if value == option.default:
        return asked or not value
    words = _words(str(value))
    return len(words - said) <= MOST_FOREIGN * len(words) and (asked or len(words) > 1)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
