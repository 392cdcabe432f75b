"""Hold to talk: one recording at a time, from the engine's microphone into a file."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop import paths
from jarvis_desktop.core.voice import Microphone
from jarvis_desktop.ui.bridge import EngineThread, Job, Outcome

NAME = "your recording"
"""As the person is told of it: "There is no sound in your recording".
"""
SHORTEST = 0.3
"""Seconds; a shorter press is a slip of the finger, not a request."""


class Recorder(QObject):
    """Begins, ends and drops recordings."""

    began = Signal()
    ended = Signal()
    """Nothing is recorded any more, for whatever reason."""
    level = Signal(float)
    """Carries the loudness, 0 to 1."""
    recorded = Signal(object)
    """Carries the path of a finished recording."""
    settled = Signal()
    """What was recorded is given on, dropped or lost; comes last, after every `began`."""
    too_short = Signal()
    failed = Signal(str)
    """Carries what the person should know."""
    _heard = Signal(float)

    def __init__(self, engine: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._microphone: Microphone | None = None
        self._job: Job | None = None
        self._release: Callable[[], None] | None = None
        self._since = 0.0
        self._dropped = False
        self._heard.connect(self.level, Qt.ConnectionType.QueuedConnection)

    def use(self, microphone: Microphone) -> None:
        """Record from this microphone from now on."""
        self._microphone = microphone

    @property
    def active(self) -> bool:
        """Whether something is being recorded."""
        return self._release is not None

    @property
    def seconds(self) -> float:
        """How long it has been recording."""
        return time.monotonic() - self._since if self.active else 0.0

    def begin(self) -> None:
        """Start to record; does nothing while a recording runs or there is no microphone yet."""
        microphone = self._microphone
        if microphone is None or self._job is not None:
            return
        to = paths.user_paths().cache / "recordings" / secrets.token_hex(8) / NAME
        stop = asyncio.Event()

        async def work() -> Path:
            to.parent.mkdir(parents=True, exist_ok=True)
            try:
                return await microphone.record(to, stop, self._heard.emit)
            except BaseException:
                forget(to)
                raise

        self._since = time.monotonic()
        self._dropped = False
        self._release = lambda: self._engine.call(stop.set)
        self._job = self._engine.run(work, self._done)
        self.began.emit()

    def release(self) -> None:
        """End the recording and give it on; one that is too short is dropped."""
        if self._release is None:
            return
        if self.seconds < SHORTEST:
            self.cancel()
            self.too_short.emit()
            return
        self._release()
        self._release = None
        self.ended.emit()

    def cancel(self) -> None:
        """Drop the recording."""
        if self._release is None or self._job is None:
            return
        self._release = None
        self._dropped = True
        self._job.cancel()
        self.ended.emit()

    def _done(self, outcome: Outcome) -> None:
        self._job = None
        if self._release is not None:
            self._release = None
            self.ended.emit()
        if isinstance(outcome.value, Path) and self._dropped:
            forget(outcome.value)
        elif isinstance(outcome.value, Path):
            self.recorded.emit(outcome.value)
        elif outcome.error:
            self.failed.emit(str(outcome.error))
        self.settled.emit()


def forget(recording: Path) -> None:
    """Remove a recording that is not wanted any more."""
    with suppress(OSError):
        recording.unlink(missing_ok=True)
        recording.parent.rmdir()
