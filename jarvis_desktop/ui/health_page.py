"""The check-up: what JARVIS needs from this computer, the state of each item, and how to fix it.

The checks of the doctor run on the engine, all at once. The page lives on the main thread.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button, progress_bar
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, hbox, vbox
from jarvis_desktop.ui.widgets.page import WindowPage
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.health_checks import Finding, HealthCheck


_secret = re.compile(r"\b(hf|sk|pk|gsk|ghp|github_pat)[_-][\w-]{6,}|//[^/\s:@]+:[^/\s@]+@")


class HealthController(QObject):
    """Runs one round of checks at a time."""

    begun = Signal(int)
    """Carries how many checks there are."""
    found = Signal(int, object)
    """Carries which check has ended, and its findings."""
    ended = Signal()
    startable = Signal(bool)
    """Carries whether Ollama could be started."""
    mended = Signal(str)
    """Carries why something could not be fixed; "" if it was."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._left = 0

    @property
    def checks(self) -> Sequence[HealthCheck]:
        """The checks, in the order of the page."""
        from jarvis_desktop.app.health_checks import CHECKS

        return CHECKS

    @property
    def busy(self) -> bool:
        """Whether a round is running."""
        return self._left > 0

    def examine(self) -> None:
        """Run all checks again."""
        if self._session.app is None or self.busy:
            return
        checks = self.checks
        self._left = len(checks) + 1
        self.begun.emit(len(checks))
        for number, check in enumerate(checks):
            self._run(number, check)
        self._look_for_ollama()

    def start_ollama(self) -> None:
        """Start Ollama, and run the checks again."""
        self._session.run(
            lambda app: app.expert_manager.start_ollama(),
            lambda outcome: self.mended.emit(str(outcome.error or "")),
        )

    def _run(self, number: int, check: HealthCheck) -> None:
        def tell(outcome: Outcome) -> None:
            self.found.emit(number, outcome.value or (_failed(check, outcome),))
            self._one_less()

        async def look(app: Application) -> Sequence[Finding]:
            return await check.look(app)

        self._session.run(look, tell)

    def _look_for_ollama(self) -> None:
        async def look(app: Application) -> bool:
            from jarvis_desktop.llm import ollama

            llms = app.llms
            if llms.wanted.provider not in ("auto", "ollama") or llms.ollama.server.remote:
                return False
            if not await asyncio.to_thread(ollama.command):
                return False
            return not (await llms.of_ollama()).running

        def tell(outcome: Outcome) -> None:
            self.startable.emit(bool(outcome.value))
            self._one_less()

        self._session.run(look, tell)

    def _one_less(self) -> None:
        self._left -= 1
        if not self._left:
            self.ended.emit()


def _failed(check: HealthCheck, outcome: Outcome) -> Finding:
    from jarvis_desktop.app.health_checks import Finding

    error = outcome.error or unexpected()
    return Finding(check.about, "limited", error.message, error.hint)


def report(findings: Iterable[Finding]) -> str:
    """Return the findings as text that is safe to share: without keys, passwords, and the user's
    name in the paths of their home folder."""
    lines = []
    for item in findings:
        lines.append(f"{item.state:8} {item.what}: {one_line(item.detail, limit=600)}")
        if item.fix:
            lines.append(f"         → {one_line(item.fix, limit=600)}")
    text = _secret.sub("…", "\n".join(lines))
    home = Path.home()
    text = text.replace(str(home), "~")
    return re.sub(rf"\b{re.escape(home.name)}\b", "…", text) if len(home.name) > 2 else text


STATES = {
    "ok": ("done", "done", mark("In order")),
    "limited": ("note", "warning", mark("Could be better")),
    "missing": ("failed", "danger", mark("Problem")),
}
PLACES = {
    "mode": ("settings", "mode"),
    "microphone": ("settings", "speech.input"),
    "speaker": ("settings", "speech.output"),
    "voice": ("settings", "speech.engine"),
    "recogniser": ("settings", "recognisers"),
    "wake word": ("settings", "speech.wake_word"),
    "talk key": ("settings", "speech.key"),
    "planner": ("settings", "planner.kind"),
    "memory": ("settings", "experts.memory_budget_mb"),
    "disk": ("experts", ""),
    "language model": ("experts", ""),
    "experts by API": ("settings", "hub-key"),
}
"""The page of the window on which a problem can be fixed."""
MAX_DETAIL = 600


class FindingRow(QFrame):
    """One finding as a row: the state of an item in a sentence, and what to do about it."""

    go = Signal(str, str)
    """Carries a page, and the part of it to show."""
    start = Signal()
    """The user wants to start Ollama."""

    def __init__(self, *, first: bool) -> None:
        super().__init__()
        self.setObjectName("setting")
        self._finding: Finding | None = None
        self._shown: tuple[Finding, bool] | None = None
        outer = vbox(parent=self, spacing=0)
        if not first:
            rule = QFrame()
            rule.setObjectName("rule")
            rule.setFixedHeight(1)
            outer.addWidget(rule)
        self.symbol = Symbol("done", "done", size=18)
        line = hbox(
            (self.symbol, Qt.AlignmentFlag.AlignTop),
            margins=(theme.space("two"), 11, theme.space("two"), 11),
            spacing=12,
        )
        words = vbox(spacing=1)
        self.title, self.detail = Label(), Label(role="small", wrap=True)
        self.fix = Label(role="fix", wrap=True)
        for label in (self.detail, self.fix):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for label in (self.title, self.detail, self.fix):
            words.addWidget(label)
        self.open = button("", act=self._open)
        self.begin = button(tr("Start Ollama"), kind="primary", act=self.start)
        self.copy = button("", act=self._copy)
        acts = FlowLayout(gap=theme.space())
        for widget in (self.begin, self.open, self.copy):
            acts.addWidget(widget)
        words.addSpacing(2)
        words.addLayout(acts)
        line.addLayout(words, 1)
        outer.addLayout(line)

    def show_finding(self, finding: Finding, *, startable: bool) -> None:
        """Show a finding. `startable`: whether Ollama can be started."""
        if (finding, startable) == self._shown:
            return
        self._finding, self._shown = finding, (finding, startable)
        icon, colour, state = STATES[finding.state]
        name = tr(finding.what)
        title = name[:1].upper() + name[1:]
        detail, fix = (one_line(each, limit=MAX_DETAIL) for each in (finding.detail, finding.fix))
        self.symbol.show_icon(icon, colour)
        self.symbol.setAccessibleName(tr(state))
        self.title.setText(title)
        self.detail.setText(detail)
        self.fix.show_or_hide(fix)
        self.setAccessibleName(f"{title}: {tr(state)}. {detail} {fix}".strip())
        wrong = finding.state != "ok"
        place = PLACES.get(finding.what, ("", ""))[0]
        self.open.setText(tr("Open the settings") if place == "settings" else tr("Open the page"))
        self.open.setAccessibleName(tr("{action}: {name}", action=self.open.text(), name=title))
        self.open.setVisible(wrong and bool(place))
        self.begin.setVisible(wrong and startable and finding.what == "language model")
        self.copy.setText(tr("Copy what to do"))
        self.copy.setAccessibleName(tr("{action}: {name}", action=self.copy.text(), name=title))
        self.copy.setVisible(wrong and bool(fix))

    def _open(self) -> None:
        if self._finding:
            self.go.emit(*PLACES[self._finding.what])

    def _copy(self) -> None:
        if self._finding:
            QGuiApplication.clipboard().setText(self._finding.fix)


TOGETHER = 3
"""Rows that are created at a time."""
TOLD = mark("What JARVIS needs of this computer, how it is now, and what mends it.")


class HealthPage(WindowPage):
    """The page of the check-up; it runs the checks each time it is opened."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(tr("Check-up"), tr(TOLD))
        self._actions = context.actions
        self._session = context.session
        self.controller = HealthController(context.session, self)
        self._found: dict[int, Sequence[Finding]] = {}
        self._startable = False
        self.rows: list[FindingRow] = []
        self.again = IconButton("refresh", tr("Check again"), act=self.controller.examine)
        self.tools.addWidget(self.again)
        self.summary = Label(tr("Getting ready…"), role="strong", wrap=True)
        self.column.addWidget(self.summary)
        self.progress = progress_bar(tr("Progress of the check-up"))
        self.column.addWidget(self.progress)
        self.card = QFrame()
        self.card.setObjectName("card")
        self._lines = vbox(parent=self.card, spacing=0)
        self.column.addWidget(self.card)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.column.addWidget(self.trouble)
        self.copy = button(tr("Copy the report"), tip=tr("Without keys and without your name"))
        self.copy.clicked.connect(self._copy)
        self.logs = button(tr("Show the logs"), act=self._show_logs)
        foot = FlowLayout(gap=theme.space())
        foot.addWidget(self.copy)
        foot.addWidget(self.logs)
        self.column.addLayout(foot)
        self.column.addStretch(1)
        self.controller.begun.connect(self._begun)
        self.controller.found.connect(self._look)
        self.controller.startable.connect(self._can_start)
        self.controller.ended.connect(self._ended)
        self.controller.mended.connect(self._mended)
        self._session.ready.connect(self._ready)
        self._drawing = new_timer(self, self._draw)
        self._draw()

    def appear(self, part: str = "") -> None:
        """Run the checks again."""
        self.controller.examine()

    def _ready(self) -> None:
        if self.isVisible():
            self.controller.examine()

    @property
    def findings(self) -> list[Finding]:
        """The findings so far, in order."""
        return [item for number in sorted(self._found) for item in self._found[number]]

    def _begun(self, count: int) -> None:
        self._found.clear()
        self._startable = False
        self.again.setEnabled(False)
        self.progress.setRange(0, count)
        self.progress.setValue(0)
        self.progress.show()
        self._show_message("")
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
        counts = []
        if problems:
            counts.append(trn("{count} problem", "{count} problems", problems))
        if warnings:
            counts.append(
                trn("{count} thing could be better", "{count} things could be better", warnings)
            )
        self.summary.setText(", ".join(counts) or tr("Everything works."))

    def _draw(self) -> None:
        """Show the findings. Existing rows are reused, so that none loses the focus. New rows
        are created a few at a time, so that the window does not freeze."""
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
        self._show_message(tr("Ollama is being started…"))
        self.controller.start_ollama()

    def _mended(self, trouble: str) -> None:
        self._show_message(trouble)
        if not trouble:
            self.message.emit(tr("Ollama runs."), True)
            self.controller.examine()

    def _show_message(self, words: str) -> None:
        self.trouble.show_or_hide(words)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(report(self.findings))
        self.summary.setText(tr("The report is on the clipboard."))

    def _show_logs(self) -> None:
        if app := self._session.app:
            self._actions.open_file.emit(app.paths.logs)
