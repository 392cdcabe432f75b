"""The plan of a turn as it runs: one compact row per task."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.events import Retrying
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui import phrases, results, theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.states import StateIcon
from jarvis_desktop.ui.text import ElidedLabel, Label

SHOWN = 40
"""Rows that are shown at first."""


def state_of(turn: Turn, task_id: int) -> str:
    """waiting, running, done, failed, skipped or cancelled."""
    if result := turn.results.get(task_id):
        return "done" if result.status is Status.PARTLY else str(result.status)
    if task_id in turn.running:
        return "running"
    return "waiting" if turn.status is None else "skipped"


class TaskRow(QWidget):
    """One task: state, name, what it works on, expert, progress, time, and why it failed."""

    def __init__(self, task: Task, plan: Plan, actions: Actions) -> None:
        super().__init__()
        self.task = task
        self._subject = subject(task, plan)
        self._actions = actions
        self._state = ""
        self._began = 0.0
        self._details: QFrame | None = None
        self._artifacts: tuple[Artifact, ...] = ()
        self._why = ""
        self._outer = outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(2)
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.icon = StateIcon()
        self.name = Label(phrases.upper_first(one_line(task.type.title, limit=48)))
        self.subject = ElidedLabel(self._subject, role="small")
        self.expert = ElidedLabel(role="small", widest=190)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(88)
        self.progress.setAccessibleName("Progress")
        self.progress.hide()
        self.elapsed = Label(role="small")
        self.elapsed.setMinimumWidth(44)
        self.elapsed.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.toggle = IconButton("right", f"Show the details of {task.type.title}", kind="tiny")
        self.toggle.clicked.connect(self._toggle)
        keep = self.toggle.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.toggle.setSizePolicy(keep)
        self.toggle.hide()
        line.addWidget(self.icon)
        line.addWidget(self.name)
        line.addWidget(self.subject, 1)
        for widget in (self.expert, self.progress, self.elapsed, self.toggle):
            line.addWidget(widget)
        outer.addLayout(line)
        self.reason = Label(role="warning", wrap=True)
        self.reason.setContentsMargins(26, 0, 26, 2)
        self.reason.hide()
        outer.addWidget(self.reason)

    def draw(self, turn: Turn) -> None:
        """Show how the task does in `turn`."""
        state = state_of(turn, self.task.id)
        if state != self._state:
            self._state = state
            self.icon.show_state(state)
            if state == "running":
                self._began = time.monotonic()
        self._draw_progress(turn)
        self._draw_end(turn)
        self.tick()

    def tick(self) -> None:
        """Show the time that has passed."""
        if self._state == "running":
            self.elapsed.setText(phrases.seconds(time.monotonic() - self._began))

    def _draw_progress(self, turn: Turn) -> None:
        self.expert.show_text(expert_of(turn, self.task.id))
        self._why = why(turn, self.task.id)
        running = self._state == "running"
        news = turn.progress.get(self.task.id) if running else None
        self.progress.setVisible(news is not None and news.fraction is not None)
        if news and news.fraction is not None:
            self.progress.setValue(round(100 * min(max(news.fraction, 0.0), 1.0)))
        message = one_line(news.message) if news else ""
        self.subject.show_text(message or self._subject)

    def _draw_end(self, turn: Turn) -> None:
        result = turn.results.get(self.task.id)
        words = result.reason if result else trouble(turn, self.task.id)
        self.reason.setVisible(bool(words))
        self.reason.setText(words[:600])
        if result:
            spent = sum(attempt.seconds for attempt in result.attempts)
            self.elapsed.setText(phrases.seconds(spent) if result.attempts else "")
            self._artifacts = result.artifacts
            self.toggle.setVisible(bool(self._artifacts or self._why))

    def _toggle(self) -> None:
        if self._details is None:
            self._details = QFrame()
            self._details.setObjectName("details")
            layout = QVBoxLayout(self._details)
            layout.setContentsMargins(theme.space(), theme.space(), theme.space(), theme.space())
            if self._why:
                layout.addWidget(Label(self._why, role="small", wrap=True))
            for artifact in self._artifacts[:20]:
                layout.addWidget(results.card(artifact, self._actions))
            self._outer.addWidget(self._details)
            self._details.show()
        else:
            self._details.setVisible(self._details.isHidden())
        hidden = self._details.isHidden()
        verb = "Show" if hidden else "Hide"
        name = f"{verb} the details of {self.task.type.title}"
        self.toggle.show_icon("right" if hidden else "down", name)


class PlanView(QFrame):
    """All tasks of a plan."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("plan")
        self._actions = actions
        self._rows: dict[int, TaskRow] = {}
        self._shown = SHOWN
        self._turn: Turn | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.space("two"), 12, 12, 12)
        self._layout.setSpacing(6)
        self.heading = Label(role="heading")
        self._layout.addWidget(self.heading)
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.clicked.connect(self._show_more)
        self.more.setAccessibleName("Show more steps")
        self.more.hide()
        self._layout.addWidget(self.more, alignment=Qt.AlignmentFlag.AlignLeft)
        self._clock = QTimer(self)
        self._clock.setInterval(200)
        self._clock.timeout.connect(self._tick)

    def rows(self) -> Iterator[TaskRow]:
        """The rows that are shown."""
        return iter(self._rows.values())

    def draw(self, turn: Turn) -> None:
        """Show the plan of `turn`, which has one."""
        assert turn.plan is not None
        self._turn = turn
        tasks = turn.plan.tasks[: self._shown]
        if [row.task for row in self._rows.values()] != list(tasks[: len(self._rows)]):
            self._clear()  # another plan: its rows come in its order
        for task in tasks:
            if task.id not in self._rows:
                self._rows[task.id] = TaskRow(task, turn.plan, self._actions)
                self._layout.insertWidget(self._layout.count() - 1, self._rows[task.id])
            self._rows[task.id].draw(turn)
        hidden = len(turn.plan) - len(tasks)
        self.more.setVisible(hidden > 0)
        self.more.setText(f"Show {phrases.counted(hidden, 'more step')}")
        self.more.setAccessibleName(self.more.text())
        self.heading.setText(summary(turn))
        if turn.running:
            self._clock.start()
        else:
            self._clock.stop()

    def _clear(self) -> None:
        for row in self._rows.values():
            row.hide()
            row.deleteLater()
        self._rows.clear()

    def _tick(self) -> None:
        if self.isVisible():
            for row in self._rows.values():
                row.tick()

    def _show_more(self) -> None:
        self._shown += 5 * SHOWN
        if self._turn:
            self.draw(self._turn)


def summary(turn: Turn) -> str:
    """The heading of a plan: how many steps there are and how they fare."""
    assert turn.plan is not None
    name = "Experts" if turn.agentic else "Plan"
    steps = phrases.counted(len(turn.plan), "step")
    states = [result.status for result in turn.results.values()]
    done = states.count(Status.DONE)
    if turn.status is None and done < len(turn.plan):
        return f"{name} · {steps}" if not states else f"{name} · {done} of {steps} done"
    if done == len(turn.plan):
        return f"{name} · {steps} done"
    return f"{name} · {done} of {steps} done"


def expert_of(turn: Turn, task_id: int) -> str:
    """The expert that does or did a task."""
    if (result := turn.results.get(task_id)) and result.attempts:
        return result.attempts[-1].candidate.label
    trying = turn.trying.get(task_id) if task_id in turn.running else None
    return trying.candidate.label if trying else ""


def trouble(turn: Turn, task_id: int) -> str:
    """What went wrong with a task that goes on, and what is done about it."""
    failed, trying = turn.failed_attempts.get(task_id, ()), turn.trying.get(task_id)
    if isinstance(trying, Retrying):
        return trying.words
    if not failed:
        return ""
    last = failed[-1]
    same = trying and trying.candidate == last.candidate
    then = "Trying again." if same else "Trying the next one."
    return f"{last.candidate.expert.id}: {last.error} {then}"


def why(turn: Turn, task_id: int) -> str:
    """Why this expert was chosen for a task; "" where there was none, which the task says."""
    for selection in turn.selections:
        if selection.task_id == task_id and selection.candidates and selection.reason:
            return f"Why this expert: {one_line(selection.reason, limit=400)}"
    return ""


def subject(task: Task, plan: Plan) -> str:
    """What a task works on: files and texts by name, results by what made them."""
    parts: list[str] = []
    for name, item in task.items():
        if isinstance(item, Artifact):
            parts.append(one_line(item.title, limit=60))
        elif isinstance(item, Ref):
            parts.append(f"from {plan.task(item.task_id).type.title}")
        elif task.type.port(name):
            parts.append(f"“{one_line(str(item), limit=60)}”")
        else:
            parts.append(f"{name} {one_line(str(item), limit=30)}")
    return " · ".join(parts[:6])
