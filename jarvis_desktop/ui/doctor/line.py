"""One finding of the check-up on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label

if TYPE_CHECKING:
    from jarvis_desktop.doctor.finding import Finding

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
"""Where in the window something is mended."""
LONGEST = 600


class FindingRow(QFrame):
    """How something is, in a sentence, with what to do about it."""

    go = Signal(str, str)
    """Carries a page and what of it is wanted."""
    start = Signal()
    """Ollama is to be started."""

    def __init__(self, *, first: bool) -> None:
        super().__init__()
        self.setObjectName("setting")
        self._finding: Finding | None = None
        self._shown: tuple[Finding, bool] | None = None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        if not first:
            rule = QFrame()
            rule.setObjectName("rule")
            rule.setFixedHeight(1)
            outer.addWidget(rule)
        line = QHBoxLayout()
        line.setContentsMargins(theme.space("two"), 11, theme.space("two"), 11)
        line.setSpacing(12)
        self.symbol = Symbol("done", "done", size=18)
        line.addWidget(self.symbol, alignment=Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(1)
        self.title, self.detail = Label(), Label(role="small", wrap=True)
        self.fix = Label(role="fix", wrap=True)
        for label in (self.detail, self.fix):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for label in (self.title, self.detail, self.fix):
            words.addWidget(label)
        self.open = button("")
        self.open.clicked.connect(self._open)
        self.begin = button(tr("Start Ollama"), kind="primary")
        self.begin.clicked.connect(self.start)
        self.copy = button("")
        self.copy.clicked.connect(self._copy)
        acts = FlowLayout(gap=theme.space())
        for widget in (self.begin, self.open, self.copy):
            acts.addWidget(widget)
        words.addSpacing(2)
        words.addLayout(acts)
        line.addLayout(words, 1)
        outer.addLayout(line)

    def show_finding(self, finding: Finding, *, startable: bool) -> None:
        """Show how it is now. `startable`: whether Ollama could be started."""
        if (finding, startable) == self._shown:
            return
        self._finding, self._shown = finding, (finding, startable)
        icon, colour, state = STATES[finding.state]
        name = tr(finding.what)
        title = name[:1].upper() + name[1:]
        detail, fix = (one_line(each, limit=LONGEST) for each in (finding.detail, finding.fix))
        self.symbol.show_icon(icon, colour)
        self.symbol.setAccessibleName(tr(state))
        self.title.setText(title)
        self.detail.setText(detail)
        self.fix.setText(fix)
        self.fix.setVisible(bool(fix))
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
