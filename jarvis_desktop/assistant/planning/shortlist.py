"""Choose the few tasks that a language model plans with, or see that none is needed.

A small LLM plans well from ten tasks and badly from seventy, and every line of the list costs it
time. Tasks that cannot run on what is at hand are left out, and the rest are ranked by the scores
of the encoder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from jarvis_desktop.assistant.planning import inputs
from jarvis_desktop.assistant.planning.steps import WRITING
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Context, Scores
from jarvis_desktop.core.task import TaskType

MIN_TASK_SCORE = 0.4
"""Without a file, a request may be for a task from this probability on."""

WORDS_ALONE = frozenset({WRITING, "repeat", "help", "chance", "clock", "spell", "stop"})
"""Tasks that do not speak against an answer in words: writing is one, and the others are recognised
by their cues."""

MAX_UNFIT_SCORE = 0.15
"""Of a request with files, no task does what is asked if none is as likely as this."""

MIN_TASKS = 4
MIN_LISTED_SCORE = 0.08
"""Less likely tasks only mislead, if there are `MIN_TASKS` others."""

MIN_MAKER_SCORE = 0.3
"""A task counts as the source of a file for others, such as of a picture to edit, if it is this
likely."""

MAX_TOOLS = 25
"""Tools of MCP servers in one prompt."""

_things = re.compile(
    r"\b(?:pictures?|photos?|images?|screenshots?|recordings?|videos?|films?|clips?|documents?|"
    r"files?|tables?|spreadsheets?|pdfs?)\b"
)


def feasible_tasks(
    inventory: Sequence[TaskType], context: Context, scores: Scores
) -> list[TaskType]:
    """Return the tasks that can run on the files at hand, on words, or on what likely tasks make
    of those."""
    at_hand = {Kind.TEXT, *(item.kind for item in context.attachments)}
    at_hand |= {item.artifact.kind for item in inputs.conversation_resources(context)}
    makers = [
        item
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in inputs.CONVERTERS or score >= MIN_MAKER_SCORE
    ]
    before: set[Kind] = set()
    while at_hand != before:
        before = set(at_hand)
        for maker in makers:
            if _can_run(maker, before):
                at_hand |= set(maker.gives)
    return [item for item in inventory if _can_run(item, at_hand)]


def _can_run(task_type: TaskType, kinds: Collection[Kind]) -> bool:
    return all(set(port.kinds) & set(kinds) for port in task_type.ports if port.required)


def short_list(
    inventory: Sequence[TaskType], context: Context, scores: Scores, *, size: int
) -> list[TaskType]:
    """Return at most `size` feasible tasks, the likeliest first, with those that turn the files at
    hand into what these take.

    Writing and questions about the given kinds of files are favoured, because requests ask for them
    in words of all sorts.
    """
    likely = dict(zip((item.name for item in inventory), scores.tasks, strict=True))
    able = feasible_tasks(inventory, context, scores)
    kinds = [item.kind for item in context.attachments] or [Kind.TEXT]

    def weight(task_type: TaskType) -> float:
        if task_type.name == WRITING:
            return likely[WRITING] + 0.2
        if task_type.name in WORDS_ALONE:
            return likely[task_type.name] * 0.2
        answers = task_type.port(inputs.QUESTION) and set(kinds) & set(task_type.ports[0].kinds)
        return likely[task_type.name] + (0.2 if answers else 0.0)

    weights = {item.name: weight(item) for item in able}
    chosen: dict[str, TaskType] = {}
    for task_type in sorted(able, key=lambda item: weights[item.name], reverse=True):
        if len(chosen) >= MIN_TASKS and weights[task_type.name] < MIN_LISTED_SCORE:
            break
        wanted = [port.kinds for port in task_type.ports if port.required]
        routes = (inputs.find_route(kinds, each, able) or () for each in wanted)
        group = [*(item for route in routes for item in route), task_type]
        new = {item.name: item for item in group if item.name not in chosen}
        if len(chosen) + len(new) <= size:
            chosen |= new
    return list(chosen.values())


def likely_tools(inventory: Sequence[TaskType], scores: Scores | None) -> list[TaskType]:
    """Return the application's own tasks and at most `MAX_TOOLS` tools of servers, the likeliest.

    LLMs choose badly among more.
    """
    chances = scores.tasks if scores else (0.0,) * len(inventory)
    ranked = sorted(
        (number for number, item in enumerate(inventory) if item.server),
        key=lambda number: -chances[number],
    )
    left_out = set(ranked[MAX_TOOLS:])
    return [item for number, item in enumerate(inventory) if number not in left_out]


def needs_no_task(
    text: str, inventory: Sequence[TaskType], context: Context, scores: Scores
) -> bool:
    """Return whether words are surely all that is asked for: no file is given or spoken of, and no
    task is likely."""
    earlier = any(item.artifact.path for item in inputs.conversation_resources(context))
    words = text.lower()
    if context.attachments or (earlier and (inputs.PRONOUN.search(words) or _things.search(words))):
        return False
    able = {item.name for item in feasible_tasks(inventory, context, scores)} - WORDS_ALONE
    return all(
        score < MIN_TASK_SCORE
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in able
    )


def no_task_fits(inventory: Sequence[TaskType], context: Context, scores: Scores) -> bool:
    """Return whether words about the given files are surely what is asked for: "proofread this"."""
    able = {item.name for item in feasible_tasks(inventory, context, scores)} - WORDS_ALONE
    return bool(context.attachments) and all(
        score < MAX_UNFIT_SCORE
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in able
    )
