"""In the settings of the voice: who understands what is said, and better recognisers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.expert import Expert, times_real_time
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.section import Choice, button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.desk import Look
from jarvis_desktop.ui.voice.panel import Panel

BUILT_IN = mark(
    "The small built-in recogniser is used. It knows English only, and often mishears; Whisper is "
    "far better."
)
NO_DOWNLOADS = mark(
    "Nothing is downloaded in the mode “offline”; `jarvis-desktop experts import` takes weights "
    "from a folder."
)
BEST = mark("The best one that keeps up with speech")


class WhichWhisper(Choice):
    """One of those that are here, or the best of them."""

    changed = Signal(object)

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self.setAccessibleDescription(tr(row.help))
        self._here: Sequence[str] = ()
        self._chosen = ""
        self.activated.connect(lambda: self.changed.emit(self.value))
        hands.voice.looked.connect(self._looked)
        self._offer()

    def show_value(self, value: str) -> None:
        """Show a value."""
        self._chosen = value
        self._offer()

    def _looked(self, look: Look) -> None:
        self._here = [each.id for each in look.whispers if each.id in look.here]
        self._offer()

    def _offer(self) -> None:
        names = dict.fromkeys((*self._here, *([self._chosen] if self._chosen else [])))
        self.offer([("", tr(BEST)), *((each, each) for each in names)], self._chosen)
        self.setEnabled(bool(names))


class RecogniserPanel(Panel):
    """What is in use, and what could be fetched."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._desk = desk = hands.voice
        self._fetching: Expert | None = None
        self.used = Label(wrap=True)
        self.column.addWidget(self.used)
        self.offers = QWidget()
        self._rows = QVBoxLayout(self.offers)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(theme.space())
        self.column.addWidget(self.offers)
        coming = QHBoxLayout()
        self.coming = Label(role="small", wrap=True)
        self.stop = button(tr("Cancel"), tr("Cancel the download"))
        self.stop.clicked.connect(lambda: desk.stop("fetch"))
        coming.addWidget(self.coming, 1)
        coming.addWidget(self.stop)
        self.column.addLayout(coming)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress of the download"))
        self.column.addWidget(self.progress)
        desk.looked.connect(self._looked)
        desk.progressed.connect(self._progressed)
        desk.fetched.connect(self._fetched)
        self._show_fetching()

    def _looked(self, look: Look) -> None:
        here = [each.id for each in look.whispers if each.id in look.here]
        self.used.setText(_in_use(here, look.named))
        while item := self._rows.takeAt(0):
            if old := item.widget():
                old.hide()
                old.deleteLater()
        others = [each for each in look.whispers if each.id not in look.here]
        if others and not look.downloads:
            self._rows.addWidget(Label(tr(NO_DOWNLOADS), role="small", wrap=True))
            others = []
        before: QWidget = self.stop
        for each in others:
            row, fetch = self._row(each)
            self._rows.addWidget(row)
            self.setTabOrder(before, fetch)
            before = fetch
        self._show_fetching()

    def _row(self, expert: Expert) -> tuple[QWidget, QPushButton]:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space())
        size = phrases.size(expert.download_mb * 1_000_000)
        size = size if expert.verified else tr("about {size}", size=size)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(expert.id))
        facts = [
            size,
            tr("licence {name}", name=expert.licence),
            tr(expert.summary).partition(": ")[2].rstrip("."),
        ]
        if expert.speed:
            times = times_real_time(expert.speed, os.cpu_count() or 1)
            facts.append(tr("here about {times} times as fast as people speak", times=round(times)))
        words.addWidget(Label(one_line(" · ".join(facts), limit=300), role="small", wrap=True))
        layout.addLayout(words, 1)
        fetch = button(tr("Fetch it"), tr("Fetch {name}, {size}", name=expert.id, size=size))
        fetch.clicked.connect(lambda: self._fetch(expert))
        layout.addWidget(fetch, alignment=Qt.AlignmentFlag.AlignVCenter)
        return row, fetch

    def _fetch(self, expert: Expert) -> None:
        self._fetching = expert
        self.complain("")
        self._desk.fetch(expert)
        self._progressed(None, tr("The download begins…"))
        self._show_fetching()
        self.stop.setFocus()

    def _progressed(self, fraction: float | None, message: str) -> None:
        name = self._fetching.id if self._fetching else ""
        said = one_line(message, limit=200)
        self.coming.setText(tr("Fetching {name}: {message}", name=name, message=said))
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * min(max(fraction or 0.0, 0.0), 1.0)))

    def _fetched(self, outcome: Outcome) -> None:
        name, self._fetching = self._fetching.id if self._fetching else "", None
        self._show_fetching()
        if outcome.cancelled:
            self.complain(tr("The download was stopped. What arrived is kept for the next time."))
        elif outcome.value is None:
            self.complain(str(outcome.error or unexpected()))
        else:
            self.complain("")
            self.used.setText(tr("{name} is ready. It is used from now on.", name=name))
        self._desk.look()

    def _show_fetching(self) -> None:
        fetching = self._fetching is not None
        self.offers.setVisible(not fetching and self._rows.count() > 0)
        for widget in (self.coming, self.stop):
            widget.setVisible(fetching)
        if not fetching:
            self.progress.hide()


def _in_use(here: Sequence[str], named: str) -> str:
    """Which recogniser hears."""
    if not here:
        return tr(BUILT_IN)
    if named in here or len(here) == 1:
        return tr("{name} is used, on this computer.", name=named if named in here else here[0])
    return tr(
        "On this computer: {names}. The best one that keeps up is used.", names=", ".join(here)
    )
