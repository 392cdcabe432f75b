"""Playback of one file, and the timeline that shows and changes its position.

Follows what is heard: the sound process reports when the file's beginning was heard, and films
follow that.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider
from shiboken6 import isValid

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.engine import EngineJob, Outcome
from jarvis_desktop.ui.media.controller import SharedPlayer
from jarvis_desktop.ui.media.previews import Peaks
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.timers import new_timer

POSITION_INTERVAL_MS = 40
SEEK_DELAY_MS = 120  # milliseconds after the last of several jumps before the sound restarts
END_TOLERANCE_S = 0.6  # a sound that stops this close to its end has ended


class Playback(QObject):
    """Plays, pauses and seeks. The clock is what was heard; without sound it is the computer's."""

    changed = Signal()  # playback started or stopped
    moved = Signal()  # the position changed, by playing or seeking
    jumped = Signal()  # the position changed by seeking
    failed = Signal(str)  # why it cannot be played or heard

    def __init__(self, sounds: SharedPlayer, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.length = 0.0  # seconds; 0 if unknown
        self.sound = float("inf")  # seconds until the sound ends; 0 without sound
        self.shows = False  # whether to continue without sound
        self.playing = False
        self._sounds = sounds
        self._path = path
        self.muted = False
        """Whether the sound is muted."""
        self._at = 0.0
        self._job: EngineJob | None = None
        self._jobs: list[EngineJob] = []
        self.destroyed.connect(partial(_cancel, self._jobs))
        self._go = 0  # counts stops: reports of a sound from before the last one are ignored
        self._heard = False
        self._since: float | None = None
        self._ticking = new_timer(self, self._tick, POSITION_INTERVAL_MS, repeat=True)
        self._again = new_timer(self, self._begin, SEEK_DELAY_MS)

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
        """Whether the clock runs: it waits until the sound is heard."""
        return self._since is not None or self._heard

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def play(self) -> None:
        """Play, from the start if it had ended."""
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
        """Stop at the current position."""
        if self.playing:
            self._halt()
            self._rest()

    def mute(self, muted: bool) -> None:
        """Mute or unmute."""
        if muted != self.muted:
            self.muted = muted
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
        if not self.muted and self._at < self.sound:
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
        """Stop the clock."""
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
        elif self.shows and self._at > self.sound - END_TOLERANCE_S and self.sound < self.length:
            self._go_on_unheard()
        elif self._at > self.length - END_TOLERANCE_S:
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


def _cancel(jobs: list[EngineJob], _gone: object = None) -> None:
    """Stop the sound of a card that was deleted."""
    for job in jobs:
        job.cancel()


ARROW_S, PAGE_S = 5.0, 30.0  # seconds that an arrow key jumps, and Page Up and Down
BAR_PX, GAP_PX = 2.0, 1.0
WAVEFORM_PX, LINE_PX = 40, 20


class Timeline(QSlider):
    """A slider in milliseconds; time runs from the left in all languages, as on every player."""

    seen = Signal()  # it is visible for the first time
    sought = Signal(float)  # the second to jump to
    held = Signal(bool)  # the user started or stopped dragging it

    def __init__(self, name: str, *, waves: bool) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setAccessibleName(name)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(WAVEFORM_PX if waves else LINE_PX)
        self.setMinimumWidth(60)
        self.setEnabled(False)
        self._waves = waves
        self._seen = False
        self._peaks: Peaks | None = None

    def show_length(self, seconds: float) -> None:
        """Set the length in seconds; 0 if unknown, which disables seeking."""
        self.setRange(0, round(seconds * 1000))
        self.setEnabled(seconds > 0)
        self.show_place(self.value() / 1000)

    def show_peaks(self, peaks: Peaks) -> None:
        """Draw the waveform and set the length."""
        self.show_waves(peaks)
        self.show_length(peaks.length)

    def show_waves(self, peaks: Peaks | None) -> None:
        """Draw a waveform instead of a line; None if it is not known yet."""
        self._waves, self._peaks = True, peaks
        self.setFixedHeight(WAVEFORM_PX)
        self.update()

    def show_place(self, seconds: float) -> None:
        """Show the position."""
        self.setValue(round(seconds * 1000))
        at, length = labels.clock(seconds), labels.clock(self.maximum() / 1000)
        self.setAccessibleDescription(tr("{at} of {length}", at=at, length=length))

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        place = self.value() / 1000
        leaps = {
            Qt.Key.Key_Left: place - ARROW_S,
            Qt.Key.Key_Right: place + ARROW_S,
            Qt.Key.Key_PageUp: place - PAGE_S,
            Qt.Key.Key_PageDown: place + PAGE_S,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: self.maximum() / 1000,
        }
        if event.key() in leaps:
            to = leaps[Qt.Key(event.key())]
            self.sought.emit(min(max(to, 0.0), self.maximum() / 1000))
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.held.emit(True)
            self._seek_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._seek_to(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self.setSliderDown(False)
            self.held.emit(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._seen:
            self._seen = True
            self.seen.emit()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        share = self.value() / self.maximum() if self.maximum() else 0.0
        if self._waves:
            self._paint_waves(painter, share)
        else:
            self._paint_line(painter, share)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("accent"), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    def _seek_to(self, event: QMouseEvent) -> None:
        share = event.position().x() / max(self.width(), 1)
        self.sought.emit(min(max(share, 0.0), 1.0) * self.maximum() / 1000)

    def _paint_waves(self, painter: QPainter, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        count = max(1, int((self.width() - 4) / (BAR_PX + GAP_PX)))
        middle, tallest = self.height() / 2, self.height() - 8
        played, ahead = theme.colour("accent"), theme.colour("control")
        for index, level in enumerate(_levels(self._peaks, count)):
            height = max(BAR_PX, level * tallest)
            painter.setBrush(played if (index + 0.5) / count < share else ahead)
            x = 2 + index * (BAR_PX + GAP_PX)
            painter.drawRoundedRect(QRectF(x, middle - height / 2, BAR_PX, height), 1, 1)

    def _paint_line(self, painter: QPainter, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        middle, width = self.height() / 2, self.width() - 12
        for length, name in ((width, "border"), (width * share, "accent")):
            painter.setBrush(theme.colour(name))
            painter.drawRoundedRect(QRectF(6, middle - 2, length, 4), 2, 2)
        if self.isEnabled():
            painter.drawEllipse(QRectF(width * share, middle - 6, 12, 12))


def _levels(peaks: Peaks | None, count: int) -> list[float]:
    """The height of each bar, 0 to 1; the loudest fills the height."""
    if peaks is None or not peaks.values:
        return [0.0] * count
    values = peaks.values
    loudest = max(*values, 25) if len(values) > 1 else max(values[0], 25)
    known = max(1, round(count * peaks.share))
    levels = []
    for index in range(known):
        first = index * len(values) // known
        last = max(first + 1, (index + 1) * len(values) // known)
        levels.append(max(values[first:last]) / loudest)
    return levels + [0.0] * (count - known)
