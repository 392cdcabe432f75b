"""Of the voice page: who understands what is said, in which language, and better recognisers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.expert import Expert, times_real_time
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import phrases, theme
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_section import Choice, Section, button

LANGUAGES = (
    ("", "Found out from what is said (needs Whisper)"),
    ("en", "English"), ("de", "German"), ("fr", "French"), ("es", "Spanish"), ("it", "Italian"),
    ("pt", "Portuguese"), ("nl", "Dutch"), ("pl", "Polish"), ("sv", "Swedish"), ("da", "Danish"),
    ("no", "Norwegian"), ("fi", "Finnish"), ("cs", "Czech"), ("el", "Greek"), ("hu", "Hungarian"),
    ("ro", "Romanian"), ("tr", "Turkish"), ("uk", "Ukrainian"), ("ru", "Russian"),
    ("ar", "Arabic"), ("he", "Hebrew"), ("hi", "Hindi"), ("id", "Indonesian"), ("ja", "Japanese"),
    ("ko", "Korean"), ("zh", "Chinese"),
)  # fmt: skip
BUILT_IN = (
    "The small built-in recogniser is used. It knows English only, and often mishears; Whisper is "
    "far better."
)
NO_DOWNLOADS = "Nothing is downloaded in the mode “offline”; `jarvis-desktop experts import` takes "
NO_DOWNLOADS += "weights from a folder."


BEST = "The best one that keeps up with speech"


class RecogniserSection(Section):
    """What is in use, and what else could be."""

    def __init__(self, desk: VoiceDesk) -> None:
        super().__init__("Understanding")
        self._desk = desk
        self._expected: list[str] = []
        self._fetching: Expert | None = None
        self.used = Label(wrap=True)
        self.column.addWidget(self.used)
        self.offers = QWidget()
        self._rows = QVBoxLayout(self.offers)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self.column.addWidget(self.offers)
        coming = QHBoxLayout()
        self.coming = Label(role="small", wrap=True)
        self.stop = button("Cancel", "Cancel the download")
        self.stop.clicked.connect(lambda: desk.stop("fetch"))
        coming.addWidget(self.coming, 1)
        coming.addWidget(self.stop)
        self.column.addLayout(coming)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress of the download")
        self.column.addWidget(self.progress)
        self.which = Choice("Which Whisper is used")
        self.which.activated.connect(lambda: desk.change("recogniser", self.which.value))
        self.row("Recogniser", self.which)
        self.language = Choice("Language that is spoken")
        self.language.offer(LANGUAGES, "")
        self.language.activated.connect(lambda: desk.change("language", self.language.value))
        self.row("Language", self.language)
        self.words = QLineEdit()
        self.words.setProperty("role", "plain")
        self.words.setPlaceholderText("Names and other words to expect, with commas between them")
        self.words.setAccessibleName("Words to expect")
        self.words.editingFinished.connect(self._edited)
        self.row("Words to expect", self.words)
        self.end()
        desk.progressed.connect(self._progressed)
        desk.fetched.connect(self._fetched)
        self._show_fetching()

    def show_look(self, look: Look) -> None:
        """Show what is there and what is chosen."""
        chosen = look.speech.language
        known = {code for code, _ in LANGUAGES}
        others = () if chosen in known else ((chosen, chosen),)
        self.language.offer((*LANGUAGES, *others), chosen)
        self._expected = list(look.speech.words)
        if not self.words.hasFocus():  # nothing under the fingers of one who types
            self.words.setText(", ".join(self._expected))
        here = [each.id for each in look.whispers if each.id in look.here]
        self.used.setText(_in_use(here, look.speech.recogniser))
        self.which.offer([("", BEST), *((each, each) for each in here)], look.speech.recogniser)
        self.which.setEnabled(bool(here))
        self._lay_out(look)

    def _lay_out(self, look: Look) -> None:
        while item := self._rows.takeAt(0):
            if old := item.widget():
                old.hide()
                old.deleteLater()
        others = [each for each in look.whispers if each.id not in look.here]
        if others and not look.downloads:
            self._rows.addWidget(Label(NO_DOWNLOADS, role="small", wrap=True))
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
        size = size if expert.verified else f"about {size}"
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(expert.id))
        facts = [size, f"licence {expert.licence}", expert.summary.partition(": ")[2].rstrip(".")]
        if expert.speed:
            times = times_real_time(expert.speed, os.cpu_count() or 1)
            facts.append(f"here about {times:.0f} times as fast as people speak")
        words.addWidget(Label(one_line(" · ".join(facts), limit=300), role="small", wrap=True))
        layout.addLayout(words, 1)
        fetch = button("Fetch it", f"Fetch {expert.id}, {size}")
        fetch.clicked.connect(lambda: self._fetch(expert))
        layout.addWidget(fetch, alignment=Qt.AlignmentFlag.AlignVCenter)
        return row, fetch

    def _fetch(self, expert: Expert) -> None:
        self._fetching = expert
        self.complain("")
        self._desk.fetch(expert)
        self._progressed(None, "The download begins…")
        self._show_fetching()
        self.stop.setFocus()

    def _progressed(self, fraction: float | None, message: str) -> None:
        name = self._fetching.id if self._fetching else ""
        self.coming.setText(f"Fetching {name}: {one_line(message, limit=200)}")
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * min(max(fraction or 0.0, 0.0), 1.0)))

    def _fetched(self, outcome: Outcome) -> None:
        name, self._fetching = self._fetching.id if self._fetching else "", None
        self._show_fetching()
        if outcome.cancelled:
            self.complain("The download was stopped. What arrived is kept for the next time.")
        elif outcome.value is None:
            self.complain(str(outcome.error or unexpected()))
        else:
            self.complain("")
            self.used.setText(f"{name} is ready. It is used from now on.")
        self._desk.look()

    def _show_fetching(self) -> None:
        fetching = self._fetching is not None
        self.offers.setVisible(not fetching and self._rows.count() > 0)
        for widget in (self.coming, self.stop):
            widget.setVisible(fetching)
        if not fetching:
            self.progress.hide()

    def _edited(self) -> None:
        words = [" ".join(word.split()) for word in self.words.text().split(",")]
        words = [word for word in words if word]
        if words != self._expected:
            self._expected = words
            self._desk.change("words", words)


def _in_use(here: Sequence[str], named: str) -> str:
    """Which recogniser hears."""
    if not here:
        return BUILT_IN
    if named in here or len(here) == 1:
        return f"{named if named in here else here[0]} is used, on this computer."
    return f"On this computer: {', '.join(here)}. The best one that keeps up is used."
