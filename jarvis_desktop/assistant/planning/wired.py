"""Makes a Plan of the steps an LLM wrote. What it refuses, it refuses in one sentence that goes
back to the LLM."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from jarvis_desktop.assistant.planning.arguments import Arguments, Known
from jarvis_desktop.assistant.planning.named import Named
from jarvis_desktop.assistant.planning.numbering import Numbering, whole
from jarvis_desktop.assistant.planning.written import MOST_TASKS, TOO_MANY, Step, plain
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Arg, Item, Ref, Task, TaskType, Value
from jarvis_desktop.core.wording import tr

CLOSE = 0.9
"""How alike two names of tasks must be to be the same one misspelt."""
STEM = 6
"""Letters that two names of one word have in common where one is a form of the other."""


def wired(
    steps: Sequence[Step],
    inventory: Sequence[TaskType],
    named: Named,
    *,
    finished: Sequence[Task] = (),
) -> Plan:
    """The plan over these task types that uses no file but the `named` ones.

    A list for an input that takes one makes a task of each. `finished` tasks belong to the plan
    as they are, whether they were written again, otherwise, or not. Raises PlanError.
    """
    new = [step for step in steps if not _is_among(finished, step)]
    numbering = Numbering(new, [task.id for task in finished])
    types = [_type_called(step.name, inventory) for step in new]
    by_id = dict(zip(numbering.ids, types, strict=True)) | {task.id: task.type for task in finished}
    known = Known(by_id, numbering, named, inventory)
    drafts = []
    for number, step in zip(numbering.ids, new, strict=True):
        args = Arguments(number, known).read(step.args, _waits_for(step.dep, numbering, by_id))
        drafts.append(_Draft(number, by_id[number], args, step.wanted))
    return Plan((*finished, *_unfolded(drafts, first_free=max(by_id, default=0) + 1)))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A task whose inputs are all lists."""

    id: int
    type: TaskType
    args: Mapping[str, Value | tuple[Item, ...]]
    wanted: bool

    @property
    def waits_for(self) -> set[int]:
        given = (item for arg in self.args.values() if isinstance(arg, tuple) for item in arg)
        return {item.task_id for item in given if isinstance(item, Ref)}


def _type_called(name: str, inventory: Sequence[TaskType]) -> TaskType:
    """The task type of that name, however it is spelt. Raises PlanError."""
    by_name = {plain(item.name): item for item in inventory}
    word = plain(name[:100])
    if word in by_name:
        return by_name[word]
    close = get_close_matches(word, by_name, n=3, cutoff=CLOSE)
    stem = [item for item in by_name.values() if _is_form_of(name, item.name)]
    if len(close) == 1 or len(stem) == 1:
        return by_name[close[0]] if close else stem[0]
    like = [by_name[item].name for item in get_close_matches(word, by_name, n=3, cutoff=0.5)]
    hint = f"; there is {', '.join(like)}" if like else ""
    raise PlanError(
        tr(
            "There is no task called '{name}'{hint}.",
            name=one_line(name, limit=40),
            hint=hint,
        )
    )


def _is_form_of(word: str, name: str) -> bool:
    """Whether two single words have one stem: "summarize", "summarization"."""
    word = word.strip().lower()
    return word.isalpha() and name.isalpha() and word[:STEM] == name[:STEM] and len(word) >= STEM


def _is_among(finished: Sequence[Task], step: Step) -> bool:
    """Whether a step is a finished task. Raises PlanError where it takes the id of one."""
    for task in finished:
        if whole(step.id) == task.id:
            if plain(step.name) != plain(task.type.name):
                raise PlanError(
                    tr(
                        "Task {id} is done already, as {name}; give new tasks new ids.",
                        id=task.id,
                        name=task.type.name,
                    )
                )
            return True
    return False


def _waits_for(dep: object, numbering: Numbering, there: Container[int]) -> list[int]:
    """The tasks that `dep` names and that are there; -1, and anything else, names none."""
    numbers = re.findall(r"(?<![-\d])\d{1,9}(?!\d)", str(dep)[:1000])
    ids = (numbering.task(int(number)) for number in numbers)
    return [number for number in dict.fromkeys(ids) if number in there]


def _unfolded(drafts: Sequence[_Draft], *, first_free: int) -> list[Task]:
    """The tasks of the drafts, in their order; a list for an input that takes one makes several."""
    by_id = {draft.id: draft for draft in drafts}
    graph = {draft.id: draft.waits_for & by_id.keys() for draft in drafts}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        ring = " → ".join(str(node) for node in error.args[1])
        raise PlanError(tr("Tasks of the plan wait for each other: {ring}.", ring=ring)) from error
    tasks: dict[int, list[Task]] = {}
    fresh = itertools.count(first_free)
    for number in order:
        draft = by_id[number]
        copies = {id: [task.id for task in made] for id, made in tasks.items()}
        tasks[number] = [
            Task(next(fresh) if at else number, draft.type, args, draft.wanted)
            for at, args in enumerate(_ways(draft, copies))
        ]
        if sum(map(len, tasks.values())) > MOST_TASKS:
            raise PlanError(TOO_MANY)
    return [task for draft in drafts for task in tasks[draft.id]]


def _ways(draft: _Draft, copies: Mapping[int, Sequence[int]]) -> list[dict[str, Arg]]:
    """The arguments of each task that a draft stands for.

    Lists of one length go in pairs, others in every combination. `copies` says which tasks were
    made of those before it.
    """
    choices: dict[str, list[Arg]] = {}
    for name, arg in draft.args.items():
        port = draft.type.port(name)
        if not isinstance(arg, tuple):
            choices[name] = [arg]
        elif port and port.many and len(items := _spread(arg, copies)) > 1:
            choices[name] = [tuple(items)]
        else:
            choices[name] = list(_spread(arg, copies))
    lengths = {len(choice) for choice in choices.values()} - {1}
    if len(lengths) == 1:
        (longest,) = lengths
        even = (choice * (longest // len(choice)) for choice in choices.values())
        return [dict(zip(choices, pair, strict=True)) for pair in zip(*even, strict=True)]
    if math.prod(map(len, choices.values())) > MOST_TASKS:
        raise PlanError(TOO_MANY)
    combinations = itertools.product(*choices.values())
    return [dict(zip(choices, combination, strict=True)) for combination in combinations]


def _spread(items: Sequence[Item], copies: Mapping[int, Sequence[int]]) -> list[Item]:
    spread: list[Item] = []
    for item in items:
        ids = copies.get(item.task_id, [item.task_id]) if isinstance(item, Ref) else []
        spread += [Ref(id) for id in ids] if isinstance(item, Ref) else [item]
    return spread
