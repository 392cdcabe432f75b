"""Reads the steps in what an LLM wrote, and makes the plan of them that they may be: what is done
stays done, as it was, and nothing is done because a plan says so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.assistant.planning.llm_output import normalized, strip_reasoning, whole_number
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.goal import (
    LONGEST_STEP,
    MOST_STEPS,
    Outline,
    OutlineStep,
    StepState,
    listed,
)
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.lenient_json import Loose

MAX_DRAFT_STEPS = 12
"""Steps that an LLM may write; a person may have more."""
MAX_CHARS = 20_000
"""Of an answer; what is longer is no plan."""
MAX_DEPTH = 4
"""How deep in wrappers the steps are looked for."""

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["text"],
            },
        }
    },
    "required": ["steps"],
}

_lists = ("steps", "plan", "outline", "tasks", "todo", "todos", "list", "items", "newplan")
_texts = ("text", "step", "title", "task", "description", "action", "name", "what", "content")
_ids = ("id", "number", "step", "stepid", "index")

_json = re.compile(r"^\s*(?:\{|\[\s*(?:[\"'{\[]|$))", re.MULTILINE)
"""A line that begins with JSON. Other brackets may be the mark of a step, or a part of one."""

_GIVEN_UP = (StepState.FAILED, StepState.DROPPED)


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step as it was written: with the number that it was given, if any."""

    text: str
    number: int | None = None


def read_outline(text: str) -> list[DraftStep]:
    """The steps of an answer: JSON of some form, or a list; each once.

    Raises PlanError, one sentence that tells an LLM what to do better.
    """
    if len(text) > MAX_CHARS:
        raise PlanError(tr("That is too long for a plan; write the JSON of its steps alone."))
    said = strip_reasoning(text)
    found = _from_json(said) if _json.search(said) else []
    found = found or [DraftStep(_worded(words), number) for number, words in listed(said)]
    found = found or _from_json(said)
    once = {_bare(step.text): step for step in reversed(found) if _bare(step.text)}
    steps = [step for step in found if once.get(_bare(step.text)) is step]
    if not steps:
        raise PlanError(tr('There are no steps in that; write {"steps": [{"text": "..."}]}.'))
    if len(steps) > MAX_DRAFT_STEPS:
        raise PlanError(
            tr(
                "These are {steps} steps; write {most_drafted} at most, with more in each.",
                steps=len(steps),
                most_drafted=MAX_DRAFT_STEPS,
            )
        )
    return steps


def merge_outline(steps: Sequence[DraftStep], before: Outline | None, *, above: int = 0) -> Outline:
    """The outline of these steps, which takes the place of `before`.

    A step is one of `before` where its words are the same, or else by its number, if that one is
    not settled yet: its words are changed then. The others are new, with numbers above all of
    `before` and `above`; so is one that failed or was dropped, and is to be tried once more. Every
    state stays as it was, and what is settled stays in the plan.
    Raises PlanError where no step is left to do.
    """
    taken = _recognised(steps, before)
    ids = {step.id for step in before or ()}
    following = max((above, *ids), default=0) + 1
    new: list[OutlineStep] = []
    for written, step in zip(steps, taken, strict=True):
        if step is None:
            step, following = OutlineStep(following, written.text), following + 1
        new.append(step)
    outline = _with_settled(new, before)
    if not outline.open:
        raise PlanError(tr("That leaves nothing to do; write what is still to be done."))
    return outline


def _recognised(steps: Sequence[DraftStep], before: Outline | None) -> list[OutlineStep | None]:
    """Which step of `before` each one is, with its new words; None for those that are new."""
    known = {step.id: step for step in before or ()}
    by_words = {_bare(step.text): step for step in before or () if step.state not in _GIVEN_UP}
    taken = [by_words.get(_bare(written.text)) for written in steps]
    used = {step.id for step in taken if step}
    for place, written in enumerate(steps):
        meant = known.get(-1 if written.number is None else written.number)
        if taken[place] or meant is None or meant.is_settled or meant.id in used:
            continue
        taken[place] = replace(meant, text=written.text)
        used.add(meant.id)
    return taken


def _with_settled(new: Sequence[OutlineStep], before: Outline | None) -> Outline:
    """The steps, with those that are settled where they stood, the newest of them if there are
    too many."""
    steps, ids = list(new), {step.id for step in new}
    lost = [step for step in before or () if step.is_settled and step.id not in ids]
    kept = lost[-(MOST_STEPS - len(steps)) :]
    place = 0
    for step in before or ():
        if step in kept:
            steps.insert(place, step)
        elif step.id not in ids:
            continue
        place = [item.id for item in steps].index(step.id) + 1
    return Outline(tuple(steps))


def _from_json(text: str) -> list[DraftStep]:
    reader, alone = Loose(text), list[DraftStep]()
    for value in reader.values():
        found = _steps_in(value)
        if reader.broken_off:
            raise PlanError(tr("The answer breaks off within the plan; write it again, shorter."))
        if len(found) > 1:
            return found
        alone += found
    return alone


def _steps_in(value: object, level: int = 0) -> list[DraftStep]:
    if isinstance(value, list):
        return [step for item in value for step in _step(item)]
    if not isinstance(value, Mapping) or level == MAX_DEPTH:
        return []
    low = {normalized(str(key)): item for key, item in value.items()}
    for key in _lists:
        if isinstance(low.get(key), list | Mapping):
            return _steps_in(low[key], level + 1)
    if low and all(re.fullmatch(r"(?:step)?\d{1,3}", key) for key in low):
        return [
            replace(step, number=whole_number(key))
            for key, item in low.items()
            for step in _step(item)
        ]
    return _step(value)


def _step(item: object) -> list[DraftStep]:
    """One step; of a text that is a list itself, all of it."""
    if isinstance(item, str):
        found = listed(item) or ((None, item),)
        return [DraftStep(_worded(words), number) for number, words in found]
    if not isinstance(item, Mapping):
        return []
    low = {normalized(str(key)): value for key, value in item.items()}
    words = next((low[key] for key in _texts if isinstance(low.get(key), str) and low[key]), "")
    number = next(
        (number for key in _ids if (number := whole_number(low.get(key))) is not None), None
    )
    return [replace(step, number=number) for step in _step(words)[:1]] if words else []


def _worded(text: str) -> str:
    """A step's words on one line; no dash in them is taken for the one before a note."""
    return one_line(text.replace(" — ", " - ").strip("* "), limit=LONGEST_STEP)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
