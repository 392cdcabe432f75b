"""Edit a plan by the user's words, without an LLM, if they leave no doubt.

It can remove a step, add one at the end, or change a language or a number. What is not fully
understood changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.planning import intents, planned_step, steps
from jarvis_desktop.assistant.planning.inputs import ORDINALS
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.plan_diff import types_of
from jarvis_desktop.assistant.planning.planned_step import PlannedStep
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.assistant.planning.steps import NotUnderstoodError
from jarvis_desktop.assistant.planning.wiring import MissingInputError, PlanWiring
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, PlanError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskType, Value
from jarvis_desktop.text.numbers import NUMBER_WORDS

SUPPORTED_EDITS = (
    "Without a language model I can leave out a step that you name, add one at the end, or change "
    "a language or a number."
)

_drop = re.compile(
    r"^\W*(?:(?:leave|take|cut) (?:out|away|off)|skip|drop|remove|omit|delete|cancel|"
    r"forget(?: about)?|without|no|not|do not|don't|dont)\b\s*(?P<what>.+)$|"
    r"^\W*(?:leave|take|cut) (?P<named>.+?) (?:out|away|off)\W*$"
)
_no = re.compile(r"\b(?:no|not|don't|dont|never|without|skip|drop|remove|leave|cancel)\b")
_more = re.compile(r"\b(?:too|also|as well|add|plus|at the end|in the end|afterwards|finally)\b")
_other = re.compile(r"\b(?:instead|rather|make|change|switch|use|set)\b")
_aside = re.compile(
    r"\b(?:too|also|as well|instead|rather|add|plus|at the end|in the end|afterwards|finally)\b"
)
_clauses = re.compile(r"\s*(?:[.;,]+(?=\s|$)|\b(?:and then|and|then)\b)\s*")
_place = re.compile(
    rf"\bstep (?:number )?(?P<number>\d{{1,3}})\b|"
    rf"\b(?P<ordinal>{'|'.join(ORDINALS)}|last) (?:step|one)\b"
)
_small = frozenset(
    "a an all and any at be for from in into it its make change switch use set should of on one "
    "only or part step steps that the them these this those to turn with".split()
)
_readers = frozenset({"", "language", "file-name", "size", "shape", "seed"})
"""The readers of options that leave no doubt; other readers take any words."""


def revise_plan(
    read: ParsedRequest, plan: Plan, inventory: Sequence[TaskType], context: Context
) -> Plan:
    """Return the plan as the words want it. Raises InputError that says what was not understood."""
    if not read.text.strip():
        raise InputError(tr("Say what should change."))
    if all(item.output for item in read.files):
        context = replace(context, attachments=())  # then "it" is what the plan makes
    try:
        return _edit(read, plan, inventory, context)
    except InputError:
        parts = [part for part in _clauses.split(read.text) if part]
        if len(parts) < 2:
            raise
        for part in parts:
            plan = _edit(replace(read, text=part), plan, inventory, context)
        return plan


def _edit(read: ParsedRequest, plan: Plan, inventory: Sequence[TaskType], context: Context) -> Plan:
    """Return the plan after one edit."""
    if found := _drop.search(read.text):
        return _drop_steps(found["what"] or found["named"], read, plan)
    text = " ".join(_aside.sub(" ", read.text).split())
    plain = replace(read, text=text)
    asked = {item.type.name for item in intents.find_cues(text, inventory)}
    there = {task.type.name for task in plan}
    if no := _no.search(text):
        raise _not_understood(text[no.start() :], read)
    if asked and not _other.search(read.text) and (_more.search(read.text) or asked - there):
        return _add_steps(plain, plan, inventory, context)
    return _set_options(plain, plan)


def _drop_steps(what: str, read: ParsedRequest, plan: Plan) -> Plan:
    tasks, rest = _named(what, plan)
    _require_understood(rest, read)
    several = re.search(r"\b(?:all|both|every|any)\b", what)
    if len(tasks) > len(types_of(tasks)) and not several:
        raise InputError(
            tr("The plan has several such steps: say which, such as “leave out step 2”.")
        )
    if not tasks:
        raise _not_understood(what, read)
    for task in tasks:
        plan = _without_task(plan, plan.task(task.id))
    return plan


def _named(words: str, plan: Plan) -> tuple[list[Task], str]:
    """Return the steps that the words mean, by position or by what they do, and the other words."""
    tasks = list(plan)
    if place := _place.search(words):
        at = int(place["number"] or 0) - 1
        if place["ordinal"]:
            last = place["ordinal"] == "last"
            at = len(tasks) - 1 if last else ORDINALS.index(place["ordinal"])
        if not 0 <= at < len(tasks):
            raise InputError(tr("The plan has no step {at}.", at=at + 1))
        return [tasks[at]], words.replace(place[0], " ")
    heard = intents.find_cues(words, types_of(tasks))
    best = max(heard, key=lambda item: item.weight, default=None)
    if best is None:
        said = _meaningful(words)
        called = [task for task in tasks if said and said <= {*task.type.title.split()}]
        return called, "" if called else words
    # "The text in the picture" is one step, whatever other cues its words contain, and
    # "and read it aloud" does not refer to a step.
    others = [item for item in heard if not item.overlaps(best)]
    if not all(intents.is_noun_phrase(words, item) for item in others):
        return [], words
    names = {item.type.name for item in (best, *others)}
    return [task for task in tasks if task.type.name in names], _blank_cues(words, heard)


def _without_task(plan: Plan, task: Task) -> Plan:
    """Return the plan without the task; those after it take its inputs if they can."""
    given = [item for name, item in task.items() if task.type.port(name)]
    for other in [each for each in plan if task.id in each.depends_on]:
        for name, arg in other.args.items():
            port = other.type.port(name)
            if port and Ref(task.id) in (arg if isinstance(arg, tuple) else (arg,)):
                fitting = [item for item in given if _fits(item, port, plan)]
                if fitting:
                    plan = plan.with_arg(other.id, name, _instead(arg, Ref(task.id), fitting))
    return plan.without(task.id)


def _fits(item: Item, port: Port, plan: Plan) -> bool:
    if isinstance(item, Ref):
        return bool(set(plan.task(item.task_id).type.gives) & set(port.kinds))
    return (item.kind if isinstance(item, Artifact) else Kind.TEXT) in port.kinds


def _instead(arg: Arg, gone: Ref, fitting: Sequence[Item]) -> Arg:
    if not isinstance(arg, tuple):
        return fitting[0]
    left = (each for item in arg for each in (fitting if item == gone else (item,)))
    return tuple(dict.fromkeys(left))


def _set_options(read: ParsedRequest, plan: Plan) -> Plan:
    """Return the plan with other options: "in Spanish", "in five sentences"."""
    found = {task.id: options for task in plan if (options := _options(task, read))}
    heard = intents.find_cues(read.text, types_of(plan))
    names = {item.type.name for item in heard} or {task.type.name for task in plan}
    meant = [task for task in plan if task.id in found and task.type.name in names]
    said = [task for task in meant if found[task.id].keys() <= task.args.keys()]
    meant = said or meant
    if not meant:
        raise _not_understood(read.text, read)
    if len({task.type.name for task in meant}) > 1:
        raise InputError(tr("Several steps could be meant: name the one you mean."))
    options = found[meant[0].id]
    rest = replace(read, text=_blank_cues(read.text, heard)).words(0, len(read.text))
    _require_understood(_unexplained(rest, options, meant[0].type), read)
    for task in meant:
        for name, value in options.items():
            plan = plan.with_arg(task.id, name, value)
    return plan


def _options(task: Task, read: ParsedRequest) -> dict[str, Value]:
    """Return the options that the words clearly set for the task."""
    whole = PlannedStep(task.type, 0, len(read.text), CueMatch(task.type, 0, 0, 0.0))
    sure = {option.name for option in task.type.options if option.reads in _readers}
    return {
        name: value
        for name, value in planned_step.read_options(whole, read).items()
        if name in sure
    }


def _unexplained(words: str, options: dict[str, Value], task_type: TaskType) -> str:
    """Return the words without those that gave the options."""
    given = [str(item).lower() for pair in options.items() for item in pair]
    known = {word for item in given for word in (item, *re.findall(r"\w+", item))}
    for option in task_type.options:
        if option.name in options and option.units:
            units = "|".join(re.escape(unit).replace(r"\*", r"\w*") for unit in option.units)
            words = re.sub(rf"(?<!\w)(?:{units})(?!\w)", " ", words)
            words = re.sub(rf"\b(?:[\d.,]+|{'|'.join(NUMBER_WORDS)}|half)\b", " ", words)
    return " ".join(word for word in words.split() if word.strip(".,!?;:“”\"'") not in known)


def _add_steps(
    read: ParsedRequest, plan: Plan, inventory: Sequence[TaskType], context: Context
) -> Plan:
    """Return the plan with the steps that the words add."""
    read = replace(read, made=frozenset(task.type.name for task in plan))

    def fit(task_type: TaskType, start: int, end: int) -> float:
        kinds = {kind for task in plan for kind in task.type.gives}
        return 5.0 if any(kinds & set(port.kinds) for port in task_type.ports[:1]) else 0.0

    try:
        wiring = PlanWiring(read, inventory, context, tasks=plan.tasks)
        for step in steps.split_steps(
            read, inventory, fit, intents.find_cues(read.text, inventory)
        ):
            wiring.add(step)
        longer = Plan(wiring.tasks)
    except NotUnderstoodError as odd:
        raise _not_understood(read.text[odd.start : odd.end], read) from odd
    except MissingInputError as error:
        raise InputError(
            tr("The plan contains nothing to use for “{title}”.", title=error.task_type.called)
        ) from error
    except PlanError as error:
        raise InputError(tr("That cannot be added. {error}", error=error)) from error
    if len(longer) == len(plan):
        raise InputError(tr("The plan does that already."))
    return longer


def _require_understood(rest: str, read: ParsedRequest) -> None:
    """Raise InputError if the rest of the words says something more."""
    words = " ".join(word for word in re.findall(r"[\w']+", rest) if word in _meaningful(rest))
    if words:
        raise _not_understood(words, read)


def _meaningful(words: str) -> set[str]:
    return set(re.findall(r"[\w']+", words)) - _small


def _not_understood(words: str, read: ParsedRequest) -> InputError:
    told = replace(read, text=words).words(0, len(words)).strip(" ,.;")
    return InputError(
        tr("I did not understand “{told}”, so the plan is unchanged.", told=told),
        hint=SUPPORTED_EDITS,
    )


def _blank_cues(words: str, heard: Iterable[CueMatch]) -> str:
    for match in heard:
        words = words[: match.start] + " " * (match.end - match.start) + words[match.end :]
    return words
