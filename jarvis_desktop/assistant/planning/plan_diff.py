"""Compare an LLM's new plan with the one before it.

What is the same keeps its id, so that nothing is done twice. What is remembered for good must be
the user's own words, not those of a file.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from jarvis_desktop.assistant.planning import inputs, intents, request_parser
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts
from jarvis_desktop.assistant.planning.wish_words import AS_SAID
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.expert import Attempt, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Arg, Item, Ref, Task, TaskOption, TaskType

MAX_RESULT_CHARS = 200
"""Characters of a result that an LLM sees."""
MAX_REASON_CHARS = 300


def finished_tasks(plan: Plan, results: Mapping[int, TaskResult]) -> list[Task]:
    """Return the tasks of a plan that are done."""
    return [task for task in plan if task.id in results and results[task.id].status is Status.DONE]


def reuse_finished(new: Plan, old: Plan, done: Sequence[Task]) -> Plan:
    """Return the new plan without tasks that repeat a finished one under another id. Raises
    PlanError if everything it would run was in the old plan and failed."""
    numbers: dict[Hashable, int] = {}
    before, after = signatures(old, numbers), signatures(new, numbers)
    ids = {task.id for task in done}
    done_as = {before[number]: number for number in ids}
    twice = {
        task.id: done_as[after[task.id]]
        for task in new
        if task.id not in ids and after[task.id] in done_as
    }
    tried = {before[task.id] for task in old} - done_as.keys()
    if all(after[task.id] in tried for task in new if task.id not in {*ids, *twice}):
        raise PlanError(
            tr("That plan does nothing differently from what failed; find another way.")
        )
    return Plan(tuple(task.with_refs(twice) for task in new if task.id not in twice))


def format_plan(plan: Plan, named: NamedArtifacts) -> str:
    """Return a plan as the LLM would have written it, with files by name."""
    names = {artifact: name for name, artifact in named}

    def written(arg: Arg) -> object:
        if isinstance(arg, tuple):
            return [written(item) for item in arg]
        if isinstance(arg, Ref):
            return f"<GENERATED>-{arg.task_id}"
        return names.get(arg, one_line(arg.title)) if isinstance(arg, Artifact) else arg

    tasks = [
        {
            "task": task.type.name,
            "id": task.id,
            "args": {name: written(arg) for name, arg in task.args.items()},
        }
        for task in plan
    ]
    return json.dumps({"plan": tasks}, ensure_ascii=False)


def format_finished(done: Sequence[Task], results: Mapping[int, TaskResult]) -> str:
    """Return what finished tasks gave: kinds, and the beginning of texts."""
    return _lines(
        {
            "id": task.id,
            "gave": [
                f"{item.kind}: {one_line(item.text, limit=MAX_RESULT_CHARS)}"
                if item.text
                else item.kind
                for item in results[task.id].artifacts
            ],
        }
        for task in done
    )


def format_failures(plan: Plan, results: Mapping[int, TaskResult]) -> str:
    """Return which tasks failed, and why: another expert does not help against a wrong input."""
    return _lines(
        {"id": task.id, "task": task.type.name}
        | _category(result.attempts)
        | {"reason": one_line(result.reason, limit=MAX_REASON_CHARS)}
        for task in plan
        if (result := results.get(task.id)) and result.status is Status.FAILED
    )


def _category(attempts: Sequence[Attempt]) -> dict[str, object]:
    """Return the kind of the last attempt's failure, if known."""
    if not attempts or not attempts[-1].kind:
        return {}
    return {"error": attempts[-1].kind, "may_work_again": attempts[-1].retryable}


def _lines(items: Iterable[object]) -> str:
    return "\n".join(json.dumps(item, ensure_ascii=False) for item in items) or "nothing"


def signatures(plan: Plan, numbers: dict[Hashable, int]) -> dict[int, int]:
    """Return equal numbers for tasks that do the same to the same inputs, whatever their ids."""
    found: dict[int, int] = {}
    for task_id in TopologicalSorter({task.id: task.depends_on for task in plan}).static_order():
        task = plan.task(task_id)
        given = {option.name: option.default for option in task.type.options} | dict(task.args)
        args = frozenset((name, _signed(arg, found)) for name, arg in given.items())
        found[task_id] = numbers.setdefault((task.type.name, args), len(numbers))
    return found


def _signed(arg: Arg, found: Mapping[int, int]) -> Hashable:
    items = arg if isinstance(arg, tuple) else (arg,)
    return tuple(
        ("result", found[item.task_id]) if isinstance(item, Ref) else item for item in items
    )


MAX_TEXT_CHARS = 300
"""Characters of a text in a plan. The LLM sees a longer one as a named file, and need not repeat
it."""


def types_of(plan: Iterable[Task]) -> list[TaskType]:
    """Return the task types of a plan, each once."""
    return list({task.type.name: task.type for task in plan}.values())


class ShortenedPlan:
    """A plan with its long texts replaced by named files, and the context that has those too."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self._texts: dict[Artifact, str] = {}
        self.plan = Plan(tuple(self._shortened(task) for task in plan))
        given = dict.fromkeys(
            item
            for task in self.plan
            for _, item in task.items()
            if isinstance(item, Artifact) and item not in context.attachments
        )
        self.context = replace(context, attachments=(*context.attachments, *given))

    def restored(self, plan: Plan) -> Plan:
        """Return a plan over that context, with the texts back in place."""

        def restore(name: str, item: Item) -> Item:
            return self._texts.get(item, item) if isinstance(item, Artifact) else item

        return Plan(tuple(task.map_items(restore) for task in plan))

    def _shortened(self, task: Task) -> Task:
        def shorten(name: str, item: Item) -> Item:
            if not isinstance(item, str) or len(item) <= MAX_TEXT_CHARS or not task.type.port(name):
                return item
            named = text_artifact(item)
            self._texts[named] = item
            return named

        return task.map_items(shorten)


def keep_unchanged(new: Plan, old: Plan) -> Plan:
    """Return the new plan, with the same task for whatever the old plan has as well.

    Any other task keeps its id, and the expert chosen for it, only if the old plan has the same
    kind of task under that id.
    """
    numbers: dict[Hashable, int] = {}
    before, after = signatures(old, numbers), signatures(new, numbers)
    free = {before[task.id]: task for task in reversed(old.tasks)}
    same: dict[int, Task] = {}
    for task in new:
        if found := free.pop(after[task.id], None):
            same[task.id] = found
    taken = {task.id for task in same.values()}
    fresh = itertools.count(max((task.id for task in (*old, *new)), default=-1) + 1)
    kinds = {task.id: task.type for task in old}
    ids = {
        task.id: same[task.id].id
        if task.id in same
        else task.id
        if task.id not in taken and kinds.get(task.id, task.type) == task.type
        else next(fresh)
        for task in new
    }
    experts = {task.id: task.expert for task in old}
    return Plan(
        tuple(
            replace(same[task.id], wanted=same[task.id].wanted or task.wanted)
            if task.id in same
            else replace(task.with_refs(ids), id=ids[task.id], expert=experts.get(ids[task.id], ""))
            for task in new
        )
    )


MAX_FOREIGN_SHARE = 0.2
"""The share of words that an LLM may have put in another form."""


def check_own_words(
    plan: Plan, text: str, inventory: Sequence[TaskType], *, but: Collection[Task] = ()
) -> Plan:
    """Return the plan if it takes literal words only from the request `text`, else raise PlanError.

    That holds for what is remembered and for what tasks work on: an LLM writes a text, or describes
    one that is still to be made, where the result of a task belongs. The tasks in `but` existed
    before and are not checked, nor are the tools of servers. If an option is empty, or a single
    word such as "that", the user must have asked for the task, so that nothing is forgotten by
    mistake.
    """
    head, _ = request_parser.split_pasted(text, inventory)
    wish = request_parser.parse_request(text, inventory, Context()).text
    before = {item for task in but for _, item in task.items()}
    # The arguments of a tool are forms of what the user said: a time zone, a path.
    for task in (task for task in plan if task not in but and not task.type.server):
        for name, item in task.items():
            if task.type.port(name) and name not in inputs.WISHES and item not in before:
                _check_material(task, name, item, _words(text))
        asked = bool(intents.find_cues(wish, (task.type,)))
        said = _words(text if asked else head)  # a pasted text counts only if it was asked for
        for option in task.type.options:
            if option.reads == AS_SAID and not _is_own(task, option, said, asked=asked):
                raise PlanError(
                    tr(
                        "Task {id} ({name}) must take its {name2} word for word "
                        "from the user's request.",
                        id=task.id,
                        name=task.type.name,
                        name2=option.name,
                    )
                )
    return plan


def check_settings(plan: Plan, text: str, inventory: Sequence[TaskType]) -> None:
    """Raise PlanError if a task has a setting, such as the sketch of a picture, that the English
    request `text` does not ask for."""
    wish = request_parser.parse_request(text, inventory, Context()).text
    for task in plan:
        for option in () if task.type.server else task.type.options:
            value = task.args.get(option.name, option.default)
            chosen = isinstance(value, str) and value != option.default
            if chosen and not intents.asks_for(wish, task.type, option.name, str(value)):
                raise PlanError(
                    tr(
                        "Task {id} ({name}): the request asks for no {name2} '{str}'.",
                        id=task.id,
                        name=task.type.name,
                        name2=option.name,
                        str=one_line(str(value)),
                    )
                )
        edits = task.type.exact and not {task.type.exact, inputs.PROMPT} & {*task.args}
        if edits and not intents.find_cues(wish, (task.type,)):
            raise PlanError(
                tr(
                    "Task {id} ({name}): the request does not ask for it.",
                    id=task.id,
                    name=task.type.name,
                )
            )


def in_own_words(plan: Plan, text: str) -> Plan | None:
    """Return a plan that was read from a translation of the request `text`, with its one question
    or wish in the user's own words; None if other words to work on are not the user's.

    Descriptions of pictures and sounds stay in English, which experts know best, and so do times
    and sums, which are read in English.
    """
    own, tasks = _words(text), []
    wishes = sum(task.type.name not in inputs.CONVERTERS for task in plan)
    for task in plan:
        args = dict(task.args)
        writes = task.type.port(inputs.MATERIAL) is not None
        for name, item in () if task.type.server else task.items():
            option = task.type.option(name)
            if not isinstance(item, str) or (option and option.reads != AS_SAID):
                continue
            if name == inputs.QUESTION or (name == inputs.PROMPT and writes):
                # Of a request with several wishes only the translation has this one alone.
                args[name] = text if wishes == 1 else item
            elif name != inputs.PROMPT and not _words(item) <= own:
                return None
        tasks.append(replace(task, args=args))
    return Plan(tuple(tasks))


def _is_own(task: Task, option: TaskOption, said: set[str], *, asked: bool) -> bool:
    value = task.args.get(option.name, option.default)
    if value == option.default:
        return asked or not value
    words = _words(str(value))
    return _mostly_in(words, said) and (asked or len(words) > 1)


def _check_material(task: Task, name: str, item: Item, said: set[str]) -> None:
    """Raise PlanError if a task works on words that are not among the `said` ones."""
    if isinstance(item, str) and not _mostly_in(_words(item), said):
        raise PlanError(
            tr(
                "Task {id} ({name}) takes as its {name2} words of the request, a file, "
                "or the result of a task that makes it: <GENERATED>-id.",
                id=task.id,
                name=task.type.name,
                name2=name,
            )
        )


def _mostly_in(words: set[str], said: set[str]) -> bool:
    return len(words - said) <= MAX_FOREIGN_SHARE * len(words)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
