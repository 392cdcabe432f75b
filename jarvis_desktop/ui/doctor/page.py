"""The check-up: everything that JARVIS needs of this computer, how it is, and what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout

from jarvis_desktop.core.wording import mark, tr, trn
from jarvis_desktop.ui.doctor.desk import DoctorDesk, report
from jarvis_desktop.ui.doctor.line import FindingRow
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.page import Page
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.places import Surroundings

if TYPE_CHECKING:
    from jarvis_desktop.doctor.finding import Finding

TOGETHER = 3
"""Rows that are made at once."""
TOLD = mark("What JARVIS needs of this computer, how it is now, and what mends it.")


class DoctorPage(Page):
    """Looks whenever it is opened."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(tr("Check-up"), tr(TOLD))
        self._actions = surroundings.actions
        self._session = surroundings.session
        self.desk = DoctorDesk(surroundings.session, self)
        self._found: dict[int, Sequence[Finding]] = {}
        self._startable = False
        self.rows: list[FindingRow] = []
        self.again = IconButton("refresh", tr("Check again"))
        self.again.clicked.connect(self.desk.examine)
        self.tools.addWidget(self.again)
        self.summary = Label(tr("Getting ready…"), role="strong", wrap=True)
        self.column.addWidget(self.summary)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress of the check-up"))
        self.column.addWidget(self.progress)
        self.card = QFrame()
        self.card.setObjectName("card")
        self._lines = QVBoxLayout(self.card)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        self.column.addWidget(self.card)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.column.addWidget(self.trouble)
        self.copy = button(tr("Copy the report"), tip=tr("Without keys and without your name"))
        self.copy.clicked.connect(self._copy)
        self.logs = button(tr("Show the logs"))
        self.logs.clicked.connect(self._show_logs)
        foot = FlowLayout(gap=theme.space())
        foot.addWidget(self.copy)
        foot.addWidget(self.logs)
        self.column.addLayout(foot)
        self.column.addStretch(1)
        self.desk.begun.connect(self._begun)
        self.desk.found.connect(self._look)
        self.desk.startable.connect(self._can_start)
        self.desk.ended.connect(self._ended)
        self.desk.mended.connect(self._mended)
        self._session.ready.connect(self._ready)
        self._drawing = QTimer(self, singleShot=True, interval=0)
        self._drawing.timeout.connect(self._draw)
        self._draw()

    def appear(self, part: str = "") -> None:
        """Look anew."""
        self.desk.examine()

    def _ready(self) -> None:
        if self.isVisible():
            self.desk.examine()

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, in order."""
        return [item for number in sorted(self._found) for item in self._found[number]]

    def _begun(self, count: int) -> None:
        self._found.clear()
        self._startable = False
        self.again.setEnabled(False)
        self.progress.setRange(0, count)
        self.progress.setValue(0)
        self.progress.show()
        self._tell("")
        self.summary.setText(tr("Looking…"))

    def _look(self, number: int, findings: Sequence[Finding]) -> None:
        self._found[number] = findings
        self.progress.setValue(len(self._found))
        self._drawing.start()  # many are found at once

    def _can_start(self, startable: bool) -> None:
        self._startable = startable
        self._draw()

    def _ended(self) -> None:
        self.again.setEnabled(True)
        self.progress.hide()
        states = [item.state for item in self.findings]
        problems, warnings = states.count("missing"), states.count("limited")
        told = []
        if problems:
            told.append(trn("{count} problem", "{count} problems", problems))
        if warnings:
            told.append(
                trn("{count} thing could be better", "{count} things could be better", warnings)
            )
        self.summary.setText(", ".join(told) or tr("Everything works."))

    def _draw(self) -> None:
        """Show what was found; rows stay the same widgets, so that none loses the keyboard. Those
        that are not there yet are made a few at a time, and the window does not stand still."""
        findings = self.findings
        most = len(self.rows) + TOGETHER
        if len(findings) > most:
            self._drawing.start()
        for number, item in enumerate(findings[:most]):
            if number == len(self.rows):
                row = FindingRow(first=not number)
                row.go.connect(self._actions.go)
                row.start.connect(self._start)
                self.rows.append(row)
                self._lines.addWidget(row)
            self.rows[number].show_finding(item, startable=self._startable)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(findings))
        self.card.setVisible(bool(findings))
        self.copy.setEnabled(bool(findings))

    def _start(self) -> None:
        self._tell(tr("Ollama is being started…"))
        self.desk.start_ollama()

    def _mended(self, trouble: str) -> None:
        self._tell(trouble)
        if not trouble:
            self.told.emit(tr("Ollama runs."), True)
            self.desk.examine()

    def _tell(self, words: str) -> None:
        self.trouble.setText(words)
        self.trouble.setVisible(bool(words))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(report(self.findings))
        self.summary.setText(tr("The report is on the clipboard."))

    def _show_logs(self) -> None:
        if app := self._session.app:
            self._actions.open_file.emit(app.paths.logs)
