"""A sound, with its waves."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.media.file_line import FileLine, Trouble
from jarvis_desktop.ui.media.timeline import Timeline
from jarvis_desktop.ui.media.transport import Transport


class Controls(QWidget):
    """The time line and the time of a Transport, and the button that plays it, to be put
    somewhere."""

    def __init__(self, transport: Transport, name: str, *, waves: bool, kind: str) -> None:
        super().__init__()
        self._transport, self._name = transport, name
        self._went_on = False
        colour = "on_accent" if kind == "round" else "muted"
        self.button = IconButton("play", tr("Play"), kind=kind, colour=colour)
        self.button.clicked.connect(transport.toggle)
        self.timeline = Timeline(tr("Place in {file}", file=name), waves=waves)
        self.timeline.sought.connect(transport.seek)
        self.timeline.held.connect(self._hold)
        self.time = Label(role="small")
        self.time.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space())
        row.addWidget(self.timeline, 1)
        row.addWidget(self.time)
        transport.changed.connect(self._show_button)
        transport.moved.connect(self.show_time)
        self._show_button()

    def show_length(self, seconds: float) -> None:
        """It is that long."""
        self._transport.length = seconds
        self.timeline.show_length(seconds)
        self.show_time()

    def show_time(self) -> None:
        """It is somewhere else."""
        at = self._transport.position
        self.timeline.show_place(at)
        parts = [phrases.clock(at)]
        if self._transport.length:
            parts.append(phrases.clock(self._transport.length + 0.5))
        shown = " / ".join(parts)
        if shown != self.time.text():
            self.time.setText(shown)
            # The place's words are as wide as they will ever be, so that nothing moves about.
            widest = " / ".join([parts[-1]] * len(parts))
            self.time.setMinimumWidth(self.time.fontMetrics().horizontalAdvance(widest))

    def _show_button(self) -> None:
        if self._transport.playing:
            name = tr("Pause {file}", file=self._name)
            self.button.show_icon("pause", name, tip=tr("Pause"))
        else:
            self.button.show_icon("play", tr("Play {file}", file=self._name), tip=tr("Play"))

    def _hold(self, held: bool) -> None:
        """While it is dragged it stands still."""
        if held:
            self._went_on = self._transport.playing
            self._transport.pause()
        elif self._went_on:
            self._transport.play()


class SoundCard(QFrame):
    """Plays, shows how loud it is where, and lets one jump."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._path, self._media = artifact.path, actions.media
        self.transport = Transport(actions.media.sounds, artifact.path, self)
        self.controls = Controls(self.transport, one_line(artifact.title), waves=True, kind="round")
        self.button = self.controls.button
        self.line = FileLine(artifact, actions)
        self.trouble = Trouble(artifact, actions)
        layout = QGridLayout(self)
        layout.setContentsMargins(12, theme.space(), theme.space(), 12)
        layout.setHorizontalSpacing(12)
        layout.setVerticalSpacing(theme.space("half"))
        layout.addWidget(self.button, 0, 0)
        layout.addWidget(self.line, 0, 1)
        layout.addWidget(self.controls, 1, 0, 1, 2)
        layout.addWidget(self.trouble, 2, 0, 1, 2)
        layout.setColumnStretch(1, 1)
        self.controls.timeline.seen.connect(self._listen)
        self.transport.failed.connect(lambda reason: self.trouble.say(reason, final=False))
        self.transport.changed.connect(self._changed)

    def _listen(self) -> None:
        self._media.look(self, "peaks", self._path, then=self._heard)

    def _heard(self, outcome: Outcome) -> None:
        if outcome.error:
            self.button.setEnabled(False)
            self.controls.hide()
            self.trouble.say(outcome.error.message)
        elif outcome.value:
            self.controls.timeline.show_peaks(outcome.value)
            self.controls.show_length(outcome.value.length)

    def _changed(self) -> None:
        if self.transport.playing:
            self.trouble.hide()
