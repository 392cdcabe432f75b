"""Requests and turns: a request with its plan, results and answer.

A Turn is built by folding events: the window draws it, storage saves it, tests compare it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar, assert_never

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Attempt, Selection, Status, TaskResult
from jarvis_desktop.core.goal import Outline, Terms
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.speech import Transcript

T = TypeVar("T")

OUTERMOST = "assistant"
"""The path of the outermost controller."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks: words, or a recording of them, and files."""

    text: str = ""
    audio: Path | None = None
    heard: Transcript | None = None
    """Spoken words that are already transcribed; then `text` is empty."""
    files: tuple[Path, ...] = ()
    speak: bool = False
    """Whether the answer is to be spoken."""
    folder: Path | None = None
    """Where file names in the text are looked up first, and where named results are saved."""
    terms: Terms | None = None
    """For agent mode: what the user agrees to in advance."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of agent mode, as the user sees it."""

    number: int
    path: str
    branch: str
    what: str
    code: str = ""
    printed: str = ""
    """The end of the script's output so far."""
    status: Status | None = None
    """None while it runs."""
    observation: str = ""
    artifacts: tuple[Artifact, ...] = ()
    seconds: float = 0.0
    """Its duration without waiting for the user; 0 if unknown."""


MAX_PRINTED_CHARS = 20_000
"""Characters kept of a running script's output."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A request, its plan, the results so far and the answer."""

    id: str
    started: datetime
    text: str = ""
    """The words of the request, as typed or transcribed."""
    heard_by: str = ""
    """The recogniser that transcribed it; empty if it was typed."""
    attachments: tuple[Artifact, ...] = ()
    plan: Plan | None = None
    selections: tuple[Selection, ...] = ()
    running: frozenset[int] = frozenset()
    progress: Mapping[int, events.TaskProgress] = field(default_factory=dict)
    drafts: Mapping[int, str] = field(default_factory=dict)
    """What each running task has written so far in its current attempt."""
    trying: Mapping[int, events.TaskStarted | events.Retrying] = field(default_factory=dict)
    """The candidate that each running task is tried with, or will be retried with."""
    failed_attempts: Mapping[int, tuple[Attempt, ...]] = field(default_factory=dict)
    results: Mapping[int, TaskResult] = field(default_factory=dict)
    agentic: bool = False
    """Whether it runs in agent mode."""
    outline: Outline | None = None
    """The plan of its goal, as accepted or last proposed."""
    inner_outlines: Mapping[str, Outline] = field(default_factory=dict)
    """The plans of the coder and other inner controllers, by their paths."""
    rounds: Mapping[int, Round] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    """Details for the trace; not saved in the history."""
    waits: events.WaitReason = events.WaitReason.NOTHING
    """What it waits for now."""
    reply: str = ""
    speaking: str = ""
    """The sentence being spoken now."""
    status: Status | None = None
    """None while it runs."""
    finished: datetime | None = None
    waited: float = 0.0
    """Seconds that it waited for the user or for the requests before it."""
    pinned: bool = False
    """Whether the user pinned it in the history."""

    @property
    def seconds(self) -> float:
        """How long it worked, without its waiting; 0 until it is finished."""
        spent = (self.finished or self.started) - self.started
        return max(0.0, spent.total_seconds() - self.waited)

    def apply(self, event: events.Event) -> Turn:
        """Return the turn after `event`. Pure."""
        match event:
            case events.TurnStarted():
                return replace(
                    self, text=event.text, attachments=event.attachments, started=event.at
                )
            case events.Attached(attachments=attachments):
                return replace(self, attachments=attachments)
            case events.Transcribed(text=text, engine=engine):
                return replace(self, text=text, heard_by=engine)
            case events.Noted(text=text):
                return replace(self, notes=(*self.notes, text))
            case events.Traced(text=text):
                return replace(self, trace=(*self.trace, text))
            case events.Waiting(reason=reason):
                return replace(self, waits=reason)
            case events.PlanProposed(plan=plan) | events.PlanAccepted(plan=plan):
                return replace(self, plan=plan)
            case events.Replanned(plan=plan):
                # Tasks that the new plan lacks are not part of the answer.
                ids = {task.id for task in plan}
                kept = {number: item for number, item in self.results.items() if number in ids}
                # The attempts of a restarted task are in its own result.
                return replace(
                    self,
                    plan=plan,
                    results=kept,
                    progress={},
                    drafts={},
                    trying={},
                    failed_attempts={},
                )
            case events.PlanChanged(plan=plan, afresh=afresh):
                return self._with_changed(plan, afresh)
            case events.ExpertsSelected(selections=selections):
                return replace(self, selections=selections)
            case events.TaskStarted(task_id=task_id):
                return replace(self._trying(event), running=self.running | {task_id})
            case events.TaskProgress(task_id=task_id):
                return replace(self, progress={**self.progress, task_id: event})
            case events.TaskChunk(task_id=task_id, text=text):
                draft = self.drafts.get(task_id, "") + text
                return replace(self, drafts={**self.drafts, task_id: draft})
            case events.AttemptFailed(task_id=task_id, attempt=attempt):
                earlier = self.failed_attempts.get(task_id, ())
                attempts = {**self.failed_attempts, task_id: (*earlier, attempt)}
                drafts = _without(self.drafts, task_id)
                return replace(self, failed_attempts=attempts, drafts=drafts)
            case events.Retrying():
                return self._trying(event)
            case events.TaskFinished(result=result):
                return replace(
                    self,
                    running=self.running - {result.task_id},
                    drafts=_without(self.drafts, result.task_id),
                    trying=_without(self.trying, result.task_id),
                    results={**self.results, result.task_id: result},
                )
            case events.GoalTaken():
                return replace(self, agentic=True)
            case events.OutlineChanged(outline=outline, path=path):
                if path == OUTERMOST:
                    return replace(self, outline=outline)
                return replace(self, inner_outlines={**self.inner_outlines, path: outline})
            case events.RoundStarted():
                begun = Round(event.number, event.path, event.branch, event.what, event.code)
                return self._with_round(begun)
            case events.RoundProgress(number=number, text=text):
                was = self.rounds[number]
                return self._with_round(
                    replace(was, printed=(was.printed + text)[-MAX_PRINTED_CHARS:])
                )
            case events.RoundEnded():
                was = self.rounds[event.number]
                ended = replace(
                    was,
                    status=event.status,
                    observation=event.observation,
                    artifacts=event.artifacts,
                    code=event.code or was.code,
                    seconds=event.seconds,
                )
                return self._with_round(ended)
            case events.ReplyChunk(text=text):
                return replace(self, reply=self.reply + text)
            case events.Speaking(text=text):
                return replace(self, speaking=text)
            case events.Kept():
                return self
            case events.TurnFinished(status=status, at=at, waited=waited):
                return replace(
                    self,
                    status=status,
                    finished=at,
                    waited=waited,
                    waits=events.WaitReason.NOTHING,
                    speaking="",
                    running=frozenset(),
                    drafts={},
                    trying={},
                )
        assert_never(event)

    def _trying(self, event: events.TaskStarted | events.Retrying) -> Turn:
        # What an earlier attempt has done does not count.
        return replace(
            self,
            progress=_without(self.progress, event.task_id),
            drafts=_without(self.drafts, event.task_id),
            trying={**self.trying, event.task_id: event},
        )

    def _with_changed(self, plan: Plan, afresh: frozenset[int]) -> Turn:
        same = plan.unchanged(self.plan, afresh=afresh) if self.plan else frozenset()
        return replace(
            self,
            plan=plan,
            selections=tuple(item for item in self.selections if item.task_id in same),
            running=self.running & same,
            progress=_only(self.progress, same),
            drafts=_only(self.drafts, same),
            trying=_only(self.trying, same),
            failed_attempts=_only(self.failed_attempts, same),
            results=_only(self.results, same),
        )

    def _with_round(self, changed: Round) -> Turn:
        return replace(self, rounds={**self.rounds, changed.number: changed})

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """The artifacts of the tasks that answer the request, or of the round that answered it. If
        no such task was done in a finished turn, those of the last task that was."""
        if self.agentic:
            own = [item for item in self.rounds.values() if item.path == OUTERMOST]
            return own[-1].artifacts if own else ()
        if self.plan is None:  # from the history; current task types no longer fit
            return tuple(item for result in self.results.values() for item in result.artifacts)
        results = [self.results[task.id] for task in self.plan if task.id in self.results]
        asked = {task.id for task in self.plan.answers}
        done = [result for result in results if result.status is Status.DONE]
        if self.status is not None and not any(result.task_id in asked for result in done):
            return done[-1].artifacts if done else ()
        return tuple(item for each in results if each.task_id in asked for item in each.artifacts)


def _only(items: Mapping[int, T], task_ids: Collection[int]) -> dict[int, T]:
    return {key: item for key, item in items.items() if key in task_ids}


def _without(items: Mapping[int, T], task_id: int) -> dict[int, T]:
    return {key: item for key, item in items.items() if key != task_id}


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that belong together, oldest first."""

    id: str
    turns: tuple[Turn, ...] = ()

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self.turns[-1] if self.turns else None
