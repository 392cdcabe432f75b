"""Where the playing of one file is: what its buttons, its time line and its pictures go by."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.bridge import Job, Outcome
from jarvis_desktop.ui.media.sounds import Sounds

TICK = 40
"""Milliseconds between two looks at where it is."""
AGAIN = 120
"""Milliseconds after the last of many jumps before the sound begins anew."""
NEARLY = 0.6
"""Seconds before its end at which what fell silent is taken to have ended."""


class Transport(QObject):
    """Plays, pauses and jumps. Its clock is what is heard; where nothing is, the computer's."""

    changed = Signal()
    """It plays now, or does not any more."""
    moved = Signal()
    """It is at another place, because it plays or because somebody jumped."""
    jumped = Signal()
    """It is at another place because somebody jumped."""
    failed = Signal(str)
    """Carries why it cannot be played, or cannot be heard."""

    def __init__(self, sounds: Sounds, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.length = 0.0
        """Seconds; 0 where nobody knows."""
        self.sound = float("inf")
        """Until when there is sound, in seconds; 0 where there is none."""
        self.shows = False
        """Whether it is worth going on without sound."""
        self.playing = False
        self._sounds = sounds
        self._path = path
        self._muted = False
        self._at = 0.0
        self._job: Job | None = None
        self._jobs: list[Job] = []
        self.destroyed.connect(partial(_cancel, self._jobs))
        self._go = 0
        """How often it was stopped: what is told of a sound before that is old."""
        self._heard = False
        self._since: float | None = None
        self._ticking = QTimer(self, interval=TICK)
        self._ticking.timeout.connect(self._tick)
        self._again = QTimer(self, interval=AGAIN, singleShot=True)
        self._again.timeout.connect(self._begin)

    @property
    def position(self) -> float:
        """Seconds from the beginning."""
        at = self._at
        if self._since is not None:
            at += time.monotonic() - self._since
        elif self._heard and (heard := self._sounds.position) is not None:
            at = heard
        return min(at, self.length) if self.length else at

    @property
    def runs(self) -> bool:
        """Whether it moves: what plays stands still until it is heard."""
        return self._since is not None or self._heard

    @property
    def muted(self) -> bool:
        """Whether it plays without its sound."""
        return self._muted

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def play(self) -> None:
        """Go on, or begin anew where it had ended."""
        if self.playing:
            return
        if self.length and self._at >= self.length - 0.05:
            self._at = 0.0
            self.jumped.emit()
        self.playing = True
        self._begin()
        self._ticking.start()
        self.changed.emit()

    def pause(self) -> None:
        """Stop, and stay there."""
        if self.playing:
            self._halt()
            self._rest()

    def mute(self, muted: bool) -> None:
        """Play without sound, or with it again."""
        if muted != self._muted:
            self._muted = muted
            if self.playing:
                self._halt()
                self._begin()

    def seek(self, to: float) -> None:
        """Jump to that second."""
        to = max(0.0, min(to, self.length) if self.length else to)
        if self.playing:
            self._halt()
            self._again.start()
        self._at = to
        self.jumped.emit()
        self.moved.emit()

    def _begin(self) -> None:
        self._heard = False
        if not self._muted and self._at < self.sound:
            begun, ended = partial(self._begun, self._go), partial(self._ended, self._go)
            self._job = self._sounds.play(self._path, self._at, begun, ended)
            if self._job:
                self._jobs[:] = [self._job]
                return
        self._go_on_unheard()

    def _begun(self, go: int) -> None:
        self._heard = go == self._go

    def _go_on_unheard(self) -> None:
        if self.shows:
            self._since = time.monotonic()
        else:
            self._rest()

    def _halt(self) -> None:
        """Stop the clock at where it is."""
        self._at = self.position
        self._since, self._heard = None, False
        self._go += 1
        self._again.stop()
        job, self._job = self._job, None
        if job:
            job.cancel()

    def _rest(self) -> None:
        self.playing = False
        self._ticking.stop()
        self.moved.emit()
        self.changed.emit()

    def _ended(self, go: int, outcome: Outcome) -> None:
        if go != self._go or not isValid(self):
            return  # it was stopped here, and perhaps plays again
        self._job, self._heard = None, False
        if outcome.error:
            self._complain(outcome)
            self._go_on_unheard()
        elif outcome.cancelled:
            self._rest()
        elif self.shows and self._at > self.sound - NEARLY and self.sound < self.length:
            self._go_on_unheard()
        elif self._at > self.length - NEARLY:
            self._finish()
        else:
            self._rest()  # it was silenced

    def _complain(self, outcome: Outcome) -> None:
        error = outcome.error
        if self.shows and isinstance(error, UnavailableError):
            self.failed.emit(tr("It plays without sound. {reason}", reason=error))
        elif not self.shows:
            self.failed.emit(str(error))

    def _finish(self) -> None:
        self._halt()
        self._at = 0.0
        self._rest()
        self.jumped.emit()

    def _tick(self) -> None:
        if self._since is None:
            self._at = self.position
        elif self.length and self.position >= self.length:
            self._finish()
            return
        self.moved.emit()


def _cancel(jobs: list[Job], _gone: object = None) -> None:
    """What belongs to a card that is gone is not to be heard any more."""
    for job in jobs:
        job.cancel()
