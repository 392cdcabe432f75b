"""Whether the Hub's list of experts was read, and reading it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.experts.desk import ExpertsDesk, why
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label

REFRESH = "refresh"


class HubList(QFrame):
    """A line with a button, and the progress while it is read."""

    renewed = Signal()

    def __init__(self, desk: ExpertsDesk) -> None:
        super().__init__()
        self.setObjectName("strip")
        self._desk = desk
        self._allowed = True
        column = QVBoxLayout(self)
        column.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        column.setSpacing(theme.space())
        row = QHBoxLayout()
        row.setSpacing(12)
        self.said = Label(role="small", wrap=True)
        row.addWidget(self.said, 1)
        self.act = button(tr("Read the list"))
        self.act.clicked.connect(self._act)
        row.addWidget(self.act)
        column.addLayout(row)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress of reading the list"))
        self.progress.hide()
        column.addWidget(self.progress)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        column.addWidget(self.trouble)
        self._known = 0
        self.show_known(0)

    def allow(self, may_fetch: bool) -> None:
        """Whether the mode lets the Hub be asked."""
        self._allowed = may_fetch
        self.act.setEnabled(may_fetch or self._desk.does(REFRESH))

    def show_known(self, known: int) -> None:
        """Show how many experts of the Hub are known."""
        self._known = known
        if self._desk.does(REFRESH):
            return
        if known:
            self.said.setText(
                trn(
                    "The shipped list and {count} expert of the Hugging Face Hub are searched.",
                    "The shipped list and {count} experts of the Hugging Face Hub are searched.",
                    known,
                )
            )
            self.act.setText(tr("Refresh the list"))
        else:
            self.said.setText(
                tr(
                    "The shipped list is searched. The Hugging Face Hub has far more; reading its "
                    "list takes some minutes, once."
                )
            )
            self.act.setText(tr("Read the list"))
        self.act.setAccessibleName(self.act.text())

    def _act(self) -> None:
        if self._desk.does(REFRESH):
            self._desk.stop(REFRESH)
            return
        self.trouble.hide()
        self._desk.run(REFRESH, lambda shelf, report: shelf.refresh(report), self._ended, self._far)
        if self._desk.does(REFRESH):
            self.act.setText(tr("Cancel"))
            self.act.setAccessibleName(tr("Stop reading the list"))
            self._far(None, tr("Asking the Hub…"))

    def _far(self, fraction: float | None, words: str) -> None:
        self.said.setText(one_line(words, limit=200))
        self.progress.setRange(0, 0 if fraction is None else 1000)
        self.progress.setValue(round(1000 * (fraction or 0.0)))
        self.progress.show()

    def _ended(self, outcome: Outcome) -> None:
        self.progress.hide()
        self.show_known(self._known)
        if outcome.value is None:
            kept = tr("What was read is kept.") if outcome.cancelled else ""
            self.trouble.setText(one_line(f"{why(outcome)} {kept}", limit=600))
            self.trouble.show()
        self.renewed.emit()
