"""What the plans of a window need from the application: task types, experts, and running plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.engine import Outcome, Then
from jarvis_desktop.ui.pending_turn import Rerun
from jarvis_desktop.ui.request.file_dialogs import file_dialog
from jarvis_desktop.ui.session import WindowSession

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

Form = Literal["graph", "outline"]
SETTINGS_KEY = "plan_form"


class PlanController(QObject):
    """One per window; all its plans are shown in the form chosen last."""

    formed = Signal()  # the form changed

    def __init__(
        self, session: WindowSession, settings: QSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._settings = settings
        kept = settings.value(SETTINGS_KEY, "graph")
        self.form: Form = "outline" if kept == "outline" else "graph"

    def show_form(self, form: Form) -> None:
        """Show all plans in that form from now on."""
        if form != self.form:
            self.form = form
            self._settings.setValue(SETTINGS_KEY, form)
            self.formed.emit()

    @property
    def inventory(self) -> Sequence[TaskType]:
        """The available task types; none before the application is ready."""
        app = self._session.app
        return tuple(app.inventory.values()) if app else ()

    def runs(self, turn: Turn) -> bool:
        """Whether that turn is running."""
        return any(turn.id and pending.turn.id == turn.id for pending in self._session.active)

    def ask_experts(self, task: Task, then: Then) -> None:
        """Ask which experts could do a task; the outcome carries Candidates, the best first."""
        self._ask(lambda app: app.assistant.experts_for(task), then)

    def revise(self, plan: Plan, words: str, then: Then) -> None:
        """Change a plan by an instruction; the outcome carries the new one."""
        place = self._session.open.id
        self._ask(lambda app: app.assistant.revise(plan, words, conversation=place), then)

    def change(self, again: Rerun, then: Then) -> None:
        """Let a running turn continue with another plan; the outcome carries whether it does."""
        turn_id, plan, afresh = again.turn.id, again.plan, again.afresh
        self._ask(lambda app: app.assistant.change(plan, turn_id=turn_id, afresh=afresh), then)

    def run_again(self, again: Rerun) -> None:
        """Run a plan again, as a new turn of the conversation."""
        self._session.run_again(again)

    def choose_file(self, asker: QWidget, then: Callable[[Path], None]) -> None:
        """Let the user choose a file; returns at once."""
        dialog = file_dialog(asker.window(), tr("Choose a file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: then(Path(name)))
        dialog.open()

    def _ask(self, work: Callable[[Application], Any], then: Then) -> None:
        app = self._session.app
        if app is None:
            then(Outcome(cancelled=True))
        else:
            self._session.engine.run(lambda: work(app), then)
