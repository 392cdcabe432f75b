"""The texts that describe the steps of a plan: on cards, in rows, and for a screen reader."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.events import Retrying
from jarvis_desktop.core.expert import Selection, Status, TaskResult
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Item, Ref, Task, TaskType, Value, as_words
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.widgets import labels

STATE_NAMES = {
    "waiting": mark("waiting"),
    "fetching": mark("downloading its expert"),
    "running": mark("running"),
    "done": mark("done"),
    "failed": mark("failed"),
    "skipped": mark("left out"),
    "cancelled": mark("stopped"),
}
ACTIVE_STATES = ("fetching", "running")
MAX_REASON_CHARS = 600
DRAFT_CHARS = 200  # more than a row is wide


@dataclass(frozen=True, slots=True)
class CardState:
    """Everything shown of a step. Equal states need no redrawing."""

    task_id: int
    number: int  # its position in the plan, counted from 1
    name: str
    state: str  # waiting, fetching, running, done, failed, skipped or cancelled
    gives: Kind
    subject: str  # what it works on, or its progress message
    details: str  # the same without results of other steps, which arrows show
    expert: str
    pinned: bool  # whether the user chose the expert
    fraction: float | None
    trouble: str  # what went wrong with it
    seconds: float | None  # how long it took, once it ended
    result: str  # the first words of its text, or the name of its file
    draft: str  # the last words of the text that it is writing
    picture: Path | None
    inputs: tuple[int, ...]  # the numbers of the steps whose results it takes
    edited: bool = False  # whether the user changed it since it last ran
    again: bool = False  # whether it will run again

    @property
    def spoken(self) -> str:
        """The text for a screen reader: state, inputs and results."""
        parts = [
            tr("Step {number}, {name}: {state}", number=self.number, name=self.name, state=self.how)
        ]
        if self.inputs:
            numbers = ", ".join(map(str, self.inputs))
            parts.append(tr("takes the result of step {numbers}", numbers=numbers))
        parts.append(tr("gives {kind}", kind=tr(labels.KINDS[self.gives])))
        parts += [self.subject, self.expert, self.result, self.trouble]
        if self.edited:
            parts.append(tr("changed by you"))
        return ". ".join(part.rstrip(".") for part in parts if part) + "."

    def line(self, time: str) -> str:
        """A plan of this step alone in one line; `time` is how long it has been running."""
        active = self.state in ACTIVE_STATES
        parts = (self.name, self.how, self.expert, time) if active else (self.name, self.expert)
        return " · ".join(part for part in parts if part)

    @property
    def how(self) -> str:
        """Its state in words."""
        if self.again:
            return tr("runs again")
        if self.fraction is not None and self.state in ACTIVE_STATES:
            percent = round(100 * self.fraction)
            if self.state == "fetching":
                return tr("downloading its expert, {percent} %", percent=percent)
            return tr("running, {percent} %", percent=percent)
        return tr(STATE_NAMES[self.state])


def card_states(
    plan: Plan, turn: Turn, *, edited: Collection[int] = (), again: Collection[int] = ()
) -> list[CardState]:
    """The steps of a plan as they look in a turn. `edited` ones were changed by the user, `again`
    ones will run again."""
    tasks = {task.id: (number, task) for number, task in enumerate(plan, 1)}
    chosen = {item.task_id: item for item in turn.selections}
    made = []
    for number, task in tasks.values():
        rerun = task.id in again
        state = "waiting" if rerun else state_of(turn, task.id)
        result = None if rerun else turn.results.get(task.id)
        news = turn.progress.get(task.id) if state in ACTIVE_STATES else None
        share = news.fraction if news else None
        message = _line(news.message) if news else ""
        shown = _shown(result)
        made.append(
            CardState(
                task.id,
                number,
                name_of(task.type),
                state,
                task.type.gives[0] if task.type.gives else Kind.TEXT,
                message or _subject(task, tasks, turn.text),
                message or _details(task, turn.text) or _line(tr(task.type.summary), limit=120),
                # a download is named by its message, which needs the room in a narrow row
                ""
                if state == "fetching" and message
                else task.expert or _expert(turn, task.id, chosen.get(task.id)),
                bool(task.expert),
                None if share is None else min(max(share, 0.0), 1.0),
                "" if rerun else _line(reason(turn, task.id), limit=MAX_REASON_CHARS),
                sum(item.seconds for item in result.attempts)
                if result and result.attempts
                else None,
                _line(shown.text or shown.title, limit=120) if shown else "",
                last_words(turn, task.id),
                shown.path if shown and shown.kind is Kind.IMAGE else None,
                tuple(tasks[source][0] for source in task.depends_on),
                task.id in edited,
                rerun,
            )
        )
    return made


def last_words(turn: Turn, task_id: int) -> str:
    """The end of what a running task has written so far, on one line."""
    return one_line(turn.drafts.get(task_id, "")[-DRAFT_CHARS:], limit=DRAFT_CHARS)


def name_of(task_type: TaskType) -> str:
    """The display name of a step."""
    return _line(task_type.called, limit=48)


def state_of(turn: Turn, task_id: int) -> str:
    """waiting, fetching, running, done, failed, skipped or cancelled."""
    if result := turn.results.get(task_id):
        return "done" if result.status is Status.PARTLY else str(result.status)
    if task_id in turn.running:
        return "running"
    if turn.status is not None:
        return "skipped"
    # progress before the start means that the expert is being downloaded
    return "fetching" if task_id in turn.progress else "waiting"


def _expert(turn: Turn, task_id: int, chosen: Selection | None) -> str:
    """The expert that does, did or will do a task."""
    if (result := turn.results.get(task_id)) and result.attempts:
        return result.attempts[-1].candidate.label
    if task_id in turn.running and (trying := turn.trying.get(task_id)):
        return trying.candidate.label
    if turn.status is None and chosen and chosen.candidates:
        return chosen.candidates[0].label
    return ""


def reason(turn: Turn, task_id: int) -> str:
    """Why a task failed, or what went wrong so far and how it continues."""
    if result := turn.results.get(task_id):
        return result.reason
    failed, trying = turn.failed_attempts.get(task_id, ()), turn.trying.get(task_id)
    if isinstance(trying, Retrying):
        return trying.words
    if not failed:
        return ""
    last = failed[-1]
    same = trying and trying.candidate == last.candidate
    then = tr("Trying again.") if same else tr("Trying the next one.")
    return f"{last.candidate.expert.id}: {last.error} {then}"


def why(turn: Turn, task_id: int) -> str:
    """Why this expert was chosen for a task; "" without a reason."""
    for chosen in turn.selections:
        if chosen.task_id == task_id and chosen.candidates and chosen.reason:
            return tr("Why this expert: {reason}", reason=_line(chosen.reason, limit=400))
    return ""


def _subject(task: Task, tasks: Mapping[int, tuple[int, Task]], request: str) -> str:
    """What a task works on: files and texts by name, results by their steps."""
    parts = [
        tr("from “{step}”", step=tasks[item.task_id][1].type.called)
        if isinstance(item, Ref)
        else _words(task.type, name, item)
        for name, item in task.items()
        if _tells(task.type, name, item, request)
    ]
    return " · ".join(parts[:6])


def _details(task: Task, request: str) -> str:
    """The inputs and options of a task without results of other steps."""
    given = [
        (name, item)
        for name, item in task.items()
        if not isinstance(item, Ref) and _tells(task.type, name, item, request)
    ]
    return " · ".join(_words(task.type, name, item) for name, item in given[:6])


def _tells(task_type: TaskType, name: str, item: Item, request: str) -> bool:
    """Whether an input adds anything to the request and the step's name."""
    option = task_type.option(name)
    usual = option is not None and option.choices and item == option.default
    return not (usual or _repeats(item, request))


def _repeats(item: Item, request: str) -> bool:
    """Whether an input is the request itself, with or without "Hey Jarvis"."""
    said, asked = (
        str(text)[:MAX_REASON_CHARS].casefold().strip(" .?!") for text in (item, request)
    )
    return isinstance(item, str) and asked.endswith(said) and 2 * len(said) >= len(asked)


def _words(task_type: TaskType, name: str, item: Artifact | Value) -> str:
    if isinstance(item, Artifact):
        return _line(item.title, limit=60)
    if task_type.port(name):
        return f"“{_line(str(item), limit=60)}”"
    option, value = task_type.option(name), f"{item:g}" if isinstance(item, float) else str(item)
    if option and value in option.choices:
        return _line(tr(as_words(value)), limit=30)  # a choice needs no name: "rotate", "left"
    return f"{tr(as_words(name))}: {_line(value, limit=30)}"


def plan_heading(turn: Turn, plan: Plan) -> str:
    """The heading of a plan: the number of steps and their progress."""
    name = tr("Experts") if turn.agentic else tr("Plan")
    ids = {task.id for task in plan}
    ended = [item.status for number, item in turn.results.items() if number in ids]
    done = ended.count(Status.DONE)
    if not ended and turn.status is None:
        fares = trn("{count} step", "{count} steps", len(plan))
    elif done == len(plan):
        fares = trn("{count} step done", "{count} steps done", len(plan))
    else:
        fares = tr("{done} of {steps} done", done=done, steps=len(plan))
    return f"{name} · {fares}"


class Stopwatch:
    """The time each task has been running."""

    def __init__(self) -> None:
        self._began: dict[int, float] = {}

    def look(self, turn: Turn) -> None:
        """Note which tasks are running now."""
        now = time.monotonic()
        self._began = {task_id: self._began.get(task_id, now) for task_id in turn.running}

    def words(self, step: CardState) -> str:
        """The time a step took, or takes so far."""
        if (began := self._began.get(step.task_id)) is not None and step.state == "running":
            return labels.seconds(time.monotonic() - began)
        return "" if step.seconds is None else labels.seconds(step.seconds)


def _line(text: str, limit: int = 80) -> str:
    """The text on one line; cached, because the same texts are drawn often."""
    return _short_line(text[: 8 * limit], limit)


@lru_cache(maxsize=2048)
def _short_line(text: str, limit: int) -> str:
    return one_line(text, limit=limit)


def _shown(result: TaskResult | None) -> Artifact | None:
    """The artifact of a result that a card shows: an image, else the first."""
    made = result.artifacts if result else ()
    pictures = (item for item in made if item.kind is Kind.IMAGE and item.path)
    return next(pictures, made[0] if made else None)
