"""Voice input in the window: the talk button drives the engine's Talk, and its events come back as
signals.

Dictation writes speech into a question's field, where the user reads it before it is sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import (
    Loudness,
    MicrophoneState,
    Partial,
    TalkEvent,
    Talking,
    Transcript,
    Unheard,
)
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import GrowingTextField
from jarvis_desktop.ui.widgets.icons import StateIcon
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.assistant.talk.talk import Talk


RESPONSE_MS = 1000  # milliseconds within which a press must show an effect
SLOW = mark(
    "JARVIS has not started to listen yet: it is busy. Wait a moment and try again; if that "
    "does not help, close the window and reopen it."
)


NOT_READY = mark("JARVIS is still getting ready. Try again in a moment.")


class TalkController(QObject):
    """The window's connection to the application's Talk; never blocks."""

    talked = Signal(object)  # a Talking
    level = Signal(float)  # the loudness, 0 to 1
    partial = Signal(object)  # a Partial
    unheard = Signal(str)  # why nothing was understood
    barged_in = Signal()  # the user is about to speak: whatever runs for them should stop
    heard = Signal(object)  # a Transcript
    microphone_changed = Signal(str)  # the state of the microphone

    def __init__(self, engine: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._talk: Talk | None = None
        poster = partial(engine.poster, self)
        self._front = _TalkFront(
            poster(self.barged_in.emit), poster(self._happened), poster(self.heard.emit)
        )
        self._since = 0.0
        self.now = Talking("idle")  # the state of the voice input, as last reported
        self.microphone: MicrophoneState = "closed"
        self._slow = new_timer(self, lambda: self.unheard.emit(tr(SLOW)), RESPONSE_MS)

    def use(self, app: Application) -> None:
        """Talk to this application from now on, and follow its microphone."""

        opened = self._engine.poster(self, self._opened)

        def follow() -> None:
            app.microphone.watch(opened)
            opened(app.microphone.state)

        self._engine.call(follow)
        self.attach(app.talk)

    def attach(self, talk: Talk) -> None:
        """Become the receiver of everything that is said, replacing the previous one."""
        self._talk = talk

        def attach() -> None:
            talk.front = self._front
            self._front.show(Talking(talk.state))

        self._engine.call(attach)

    @property
    def active(self) -> bool:
        """Whether the microphone is recording."""
        return self.now.state in ("listening", "waiting")

    @property
    def held(self) -> bool:
        """Whether release ends the recording; losing the keyboard counts as release."""
        return self.active and self.now.held

    @property
    def seconds(self) -> float:
        """How long the recording has lasted, in seconds."""
        return time.monotonic() - self._since if self.active else 0.0

    def press(self) -> None:
        """The talk key or button was pressed."""
        if self._talk is None:
            self.unheard.emit(tr(NOT_READY))
        self._begin("press")

    def release(self) -> None:
        """The talk key or button was released."""
        self._call("release")

    def start(self) -> None:
        """Listen until the user falls silent."""
        self._begin("start")

    def stop(self) -> None:
        """End the recording and use it."""
        self._call("stop")

    def cancel(self) -> None:
        """End the recording and drop it."""
        self._slow.stop()
        self._call("cancel")

    def _begin(self, what: str) -> None:
        if self._talk and not self.active:
            self._slow.start()
        self._call(what)

    def _call(self, what: str) -> None:
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


@dataclass(frozen=True, slots=True)
class _TalkFront:
    """Called on the engine's loop. Implements TalkFront."""

    barge_in: Callable[[], None]
    show: Callable[[TalkEvent], None]
    heard: Callable[[Transcript], None]


LISTENING = mark("Listening… What you say is written here, Esc discards it")
WRITING = mark("Writing down what you said…")
NOTHING = mark("Nothing was heard. Hold the button while you speak, close to the microphone.")
MAX_HEARD_CHARS = 160  # characters shown beside the field, which has all of them


class Dictation(QWidget):
    """The state of speech that is written into a field, shown below it."""

    def __init__(self, field: GrowingTextField) -> None:
        super().__init__()
        self.field = field
        self._listening = False
        self._awaited = 0
        self._heard = self._reason = ""
        self._icon = StateIcon()
        row = hbox((self._icon, Qt.AlignmentFlag.AlignTop), parent=self, spacing=theme.space())
        self.message = Label(role="small", wrap=True)
        self.wrong = Label(role="warning", wrap=True)
        words = vbox(spacing=2)
        row.addLayout(words, 1)
        for label in (self.message, self.wrong):
            words.addWidget(label)
        self._draw()

    @property
    def awaited(self) -> bool:
        """Whether speech is still being recorded or recognised: the field is not complete yet."""
        return self._listening or self._awaited > 0

    def listen(self) -> None:
        """Show that the user is speaking."""
        self._listening = True
        self._heard = self._reason = ""
        self._draw()

    def await_words(self) -> None:
        """Show that the recording is being recognised."""
        self._listening = False
        self._awaited += 1
        self._draw()

    def leave(self) -> None:
        """Show that nothing is pending any more."""
        self._listening, self._awaited = False, 0
        self._draw()

    def take(self, heard: Transcript) -> None:
        """Append what was said to the field."""
        self._awaited = max(0, self._awaited - 1)
        words = printable(heard.text).strip()
        if words:
            self._append(words)
            note = one_line(heard.note, limit=300)
            said = tr("Heard: “{words}”", words=one_line(words, limit=MAX_HEARD_CHARS))
            self._heard = f"{said}\n{note}".rstrip()
        else:
            self._reason = tr(NOTHING)
        self._draw()

    def fail(self, reason: str) -> None:
        """Show why nothing was written."""
        self._awaited = max(0, self._awaited - 1)
        self._reason = one_line(reason, limit=300)
        self._draw()

    def _append(self, words: str) -> None:
        before = self.field.toPlainText()
        cursor = QTextCursor(self.field.document())  # another cursor, so that the one in use stays
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(words if not before or before[-1].isspace() else f" {words}")

    def _draw(self) -> None:
        waits = LISTENING if self._listening else WRITING if self._awaited else ""
        text = tr(waits) or self._heard
        self._icon.show_state("running" if self.awaited else "")
        self._icon.setVisible(self.awaited)
        for label, words in ((self.message, text), (self.wrong, self._reason)):
            label.show_or_hide(words)
        self.setVisible(bool(text or self._reason))
