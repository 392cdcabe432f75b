"""The window's side of talking: presses go to the engine's Talk, and what happens with the person's
voice comes back as signals on the main thread. Nothing here waits for the engine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from jarvis_desktop.core.hearing import (
    Loudness,
    MicrophoneState,
    Partial,
    TalkEvent,
    Talking,
    Transcript,
    Unheard,
)
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import EngineThread, while_there

if TYPE_CHECKING:
    from jarvis_desktop.assistant.listening.talk import Talk

REACTING = 1000
"""Milliseconds within which something is to be seen of a press."""
SLOW = mark(
    "JARVIS has not begun to listen yet: it is busy. Wait a moment and try again; where that does "
    "not help, close the window and open it anew."
)


NOT_READY = mark("JARVIS is still getting ready. Try again in a moment.")

_Wish = Literal["press", "release", "start", "stop", "cancel"]


class Talker(QObject):
    """Where the window talks; the `front` of the application's Talk."""

    talked = Signal(object)
    """Carries a Talking."""
    level = Signal(float)
    """Carries the loudness, 0 to 1."""
    partial = Signal(object)
    """Carries a Partial."""
    unheard = Signal(str)
    """Carries why nothing came of it."""
    barged_in = Signal()
    """The person is about to speak; what is done for them now is to stop."""
    heard = Signal(object)
    """Carries a Transcript."""
    microphone_changed = Signal(str)
    """Carries the state of the microphone."""

    def __init__(self, engine: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._talk: Talk | None = None
        self._front = _Front()
        self._since = 0.0
        self.now = Talking("idle")
        """What happens with the person's voice, as last told."""
        self.microphone: MicrophoneState = "closed"
        self._slow = QTimer(self, singleShot=True, interval=REACTING)
        self._slow.timeout.connect(lambda: self.unheard.emit(tr(SLOW)))
        queued = Qt.ConnectionType.QueuedConnection
        self._front.happened.connect(self._happened, queued)
        self._front.interrupted.connect(self.barged_in, queued)
        self._front.understood.connect(self.heard, queued)
        self._front.opened.connect(self._opened, queued)

    def use(self, app: App) -> None:
        """Talk to this application from now on, and follow its microphone."""

        def follow() -> None:
            app.microphone.watch(while_there(self._front, self._front.opened.emit))
            self._front.opened.emit(app.microphone.state)

        self._engine.call(follow)
        self.attach(app.talk)

    def attach(self, talk: Talk) -> None:
        """Be the one who is told of what is said, in the place of whoever was before."""
        self._talk = talk

        def attach() -> None:
            talk.front = self._front
            self._front.show(Talking(talk.state))

        self._engine.call(attach)

    @property
    def active(self) -> bool:
        """Whether the person is listened to."""
        return self.now.state in ("listening", "waiting")

    @property
    def held(self) -> bool:
        """Whether that ends with the release of a key or button: one that loses the keyboard counts
        as let go."""
        return self.active and self.now.held

    @property
    def seconds(self) -> float:
        """For how long they have been listened to."""
        return time.monotonic() - self._since if self.active else 0.0

    def press(self) -> None:
        """The talk key, or the button, went down."""
        if self._talk is None:
            self.unheard.emit(tr(NOT_READY))
            return
        self._await()
        self._tell("press")

    def release(self) -> None:
        """It went up."""
        self._tell("release")

    def start(self) -> None:
        """Listen until a silence."""
        self._await()
        self._tell("start")

    def stop(self) -> None:
        """What was said is whole."""
        self._tell("stop")

    def cancel(self) -> None:
        """Forget what was said."""
        self._slow.stop()
        self._tell("cancel")

    def _await(self) -> None:
        if self._talk and not self.active:
            self._slow.start()

    def _tell(self, what: _Wish) -> None:
        if self._talk:
            self._engine.call(getattr(self._talk, what))

    def _happened(self, event: TalkEvent) -> None:
        if isinstance(event, Loudness):
            self.level.emit(event.level)
        elif isinstance(event, Partial):
            self.partial.emit(event)
        elif isinstance(event, Unheard):
            self._slow.stop()
            self.unheard.emit(event.reason)
        else:
            self._slow.stop()
            was_active = self.active
            self.now = event
            if self.active and not was_active:
                self._since = time.monotonic()
            self.talked.emit(event)

    def _opened(self, state: MicrophoneState) -> None:
        self.microphone = state
        self.microphone_changed.emit(state)


class _Front(QObject):
    """Told on the engine's loop; its signals are taken on the main thread, in their order."""

    happened = Signal(object)
    interrupted = Signal()
    understood = Signal(object)
    opened = Signal(str)

    def barge_in(self) -> None:
        self.interrupted.emit()

    def show(self, event: TalkEvent) -> None:
        self.happened.emit(event)

    def heard(self, transcript: Transcript) -> None:
        self.understood.emit(transcript)
