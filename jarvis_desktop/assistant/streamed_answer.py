"""Says the text of a plan as the answer while a task writes it.

That is possible if the text will be all of the answer. If it does not count after all, because the
attempt failed or the plan was changed, the answer says so before it continues.
"""

from __future__ import annotations

from collections.abc import Callable

from jarvis_desktop.assistant.answer_writer import SPEECH_TASK
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    PlanChanged,
    TaskChunk,
    TaskFinished,
    TaskStarted,
)
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref
from jarvis_desktop.core.turn import Turn


def answering_task(plan: Plan) -> int | None:
    """The id of the task whose text is the whole answer, or all that is read aloud."""
    if len(plan.answers) != 1:
        return None
    (task,) = plan.answers
    if task.type.name == SPEECH_TASK:
        sources = [item for name, item in task.items() if task.type.port(name)]
        if len(sources) != 1 or not isinstance(sources[0], Ref):
            return None
        task = plan.task(sources[0].task_id)
    return task.id if task.type.gives[:1] == (Kind.TEXT,) else None


class StreamedAnswer:
    """The part of a turn's answer that is said before its plan is done."""

    def __init__(self, say: Callable[[str], None], hush: Callable[[], None]) -> None:
        """`say` adds a piece to the answer; `hush` leaves the answer unspoken."""
        self._say = say
        self._hush = hush
        self._task_id: int | None = None
        """The task whose text is said."""
        self._said = ""
        """What was said of its current attempt."""
        self._result = ""
        """Its finished text, once all of it was said."""
        self._why = ""
        """Why the text above does not count; "" if it does."""
        self._apart = False
        """Whether the next piece begins a paragraph."""
        self._failed = False
        """Whether the task has failed for good."""

    def take(self, event: Event, turn: Turn) -> None:
        """Say what `event` adds to the answer; `turn` is the one after it."""
        match event:
            case TaskChunk(task_id=task_id, text=text) if _answers(task_id, turn):
                if self._task_id != task_id and _is_read_aloud(turn):
                    self._hush()  # the requested speech is played instead
                self._task_id = task_id
                self._go_on(text)
                self._said += text
            case AttemptFailed(task_id=self._task_id, attempt=attempt):
                self._drop(attempt.error)
            case TaskStarted(task_id=self._task_id):
                self._drop(tr("Another expert continues."))
            case TaskFinished(result=result) if result.task_id == self._task_id:
                self._finish(result)
            case PlanChanged() if self._task_id is not None and not self._stands_in(turn):
                self._drop(tr("The plan was changed."))

    def complete(self, text: str) -> None:
        """Say a piece of the final answer, without what was said before."""
        if self._result and self._result in text:
            text = text.replace(self._result, "", 1).strip()
            self._result = ""
        if self._failed and self._why in text:
            self._why = ""  # it is said why this was not done
        if text:
            self._go_on(text)

    def _go_on(self, text: str) -> None:
        if self._apart:
            why = tr("The text above does not count: {reason}", reason=self._why)
            text = "\n\n".join(["", *([why] if self._why else []), text.lstrip("\n")])
            self._apart, self._failed, self._why = False, False, ""
        self._say(text)

    def _drop(self, why: str) -> None:
        if self._said:
            self._said = self._result = ""
            self._apart, self._why = True, why

    def _finish(self, result: TaskResult) -> None:
        text = "\n".join(item.text for item in result.artifacts if item.text)
        if result.status is not Status.DONE:
            self._failed = True
        elif not self._said:
            pass
        elif text.startswith(self._said) or text in self._said:
            if rest := text[len(self._said) :]:
                self._say(rest)
            self._said = self._result = text
            self._apart = True
        else:
            self._drop(tr("It was changed after it was written."))

    def _stands_in(self, turn: Turn) -> bool:
        task_id = self._task_id
        return (task_id in turn.running or task_id in turn.results) and _answers(task_id, turn)


def _answers(task_id: int | None, turn: Turn) -> bool:
    plan = None if turn.agentic else turn.plan
    return plan is not None and answering_task(plan) == task_id


def _is_read_aloud(turn: Turn) -> bool:
    return any(task.type.name == SPEECH_TASK for task in turn.plan or ())
