"""Connects voice input to the window: the talk key, the microphone's state, and where speech
goes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import Talking, TalkState, Transcript
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.request.composer import Composer
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import NOTHING, Dictation, TalkController
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.assistant.talk.dictation import DictationPhase
    from jarvis_desktop.ui.quick.quick_box import QuickBox

TALK_KEY = Qt.Key.Key_F4
REPEAT_GAP_MS = 30
"""Milliseconds between release and press of a held key on screens that repeat it so: only a release
without a press after it is real."""


class TalkKeys(QObject):
    """Makes F4 a talk button in a window, which is released when the window loses focus."""

    def __init__(self, window: QWidget, talker: TalkController) -> None:
        super().__init__(window)
        self._talker = talker
        self._held = False
        self._released = new_timer(self, self.let_go, REPEAT_GAP_MS)
        window.installEventFilter(self)

    def let_go(self) -> None:
        """Treat the key as released."""
        self._released.stop()
        if self._held:
            self._held = False
            self._talker.release()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A window that loses focus never receives the key's release."""
        kind = event.type()
        if isinstance(event, QKeyEvent) and event.key() == TALK_KEY:
            if kind == QEvent.Type.KeyPress and not event.modifiers():
                if not event.isAutoRepeat():
                    self._press()
                return True
            if kind == QEvent.Type.KeyRelease:
                if not event.isAutoRepeat():
                    self._released.start()
                return True
        elif kind == QEvent.Type.WindowDeactivate:
            self.let_go()
        return super().eventFilter(watched, event)

    def _press(self) -> None:
        self._released.stop()
        if not self._held:
            self._held = True
            self._talker.press()


class VoiceController(QObject):
    """Shows the microphone and the current work, and handles Esc."""

    settings_wanted = Signal()  # the user wants to choose or test the microphone or voice

    def __init__(
        self,
        window: QWidget,
        session: WindowSession,
        talker: TalkController,
        header: Header,
        composer: Composer,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._talker = talker
        self._header = header
        self._composer = composer
        self._dictating: TalkState = "idle"
        self.keys = TalkKeys(window, talker)
        session.ready.connect(self._ready)
        session.changed.connect(self._show_doing)
        session.busy_changed.connect(self._show_doing)
        session.switched.connect(self._show_doing)
        talker.talked.connect(self._show_microphone)
        talker.microphone_changed.connect(self._show_microphone)
        header.voice_wanted.connect(self.settings_wanted)
        composer.unheard.settings_wanted.connect(self.settings_wanted)

    def escape(self) -> bool:
        """Handle Esc: drop the recording, or silence the voice. Return whether it recorded."""
        if self._talker.now.state != "idle":
            self._talker.cancel()
            return True
        self._session.silence()
        return False

    def close(self) -> None:
        """Stop the recording, with the window."""
        self.keys.let_go()
        self._talker.cancel()

    def show_dictation(self, phase: DictationPhase) -> None:
        """Show that a dictation uses the microphone too."""
        self._dictating = phase if phase in ("waiting", "listening") else "idle"
        self._show_microphone()

    def _ready(self, app: Application) -> None:
        self._talker.use(app)
        self._composer.talk.setEnabled(True)

    def _show_microphone(self) -> None:
        state = self._talker.now.state
        self._header.show_microphone(
            self._talker.microphone, self._dictating if state == "idle" else state
        )

    def _show_doing(self) -> None:
        running = self._session.running
        doing = ""
        if running:
            waits = running.question is not None
            works = "working" if running.place is self._session.open else "elsewhere"
            doing = "speaking" if running.turn.speaking else "" if waits else works
        self._composer.show_doing(doing)


MAX_LATE_CHARS = 1500


@dataclass(eq=False)
class _Utterance:
    """Speech that is being recorded or recognised."""

    question: EngineQuestion | None  # the question that it answers
    cut: PendingTurn | None = None
    """The agent turn that it interrupted, which is about to ask what to change."""
    recognised: bool = False  # whether the recording is over
    elsewhere: QuickBox | None = None  # where it was spoken, if not in the window


class SpokenAnswers(QObject):
    """Follows the voice input and the questions of the open conversation."""

    late = Signal(str)
    """Carries what was said for a question that was closed before the words were recognised."""

    def __init__(
        self,
        session: WindowSession,
        talker: TalkController,
        *,
        conversation: ConversationView,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._talker = talker
        self._conversation = conversation
        self._composer = composer
        self.elsewhere: QuickBox | None = None
        """Takes speech while it is in front."""
        self._said: deque[_Utterance] = deque()
        self._listens = self._over = False
        self._cut: PendingTurn | None = None
        self._kept: tuple[PendingTurn, Transcript] | None = None
        """Words for an agent turn that has not asked yet what to change."""
        talker.barged_in.connect(self._barged_in)
        talker.talked.connect(self._talked)
        talker.heard.connect(self._heard)
        talker.unheard.connect(self._unheard)
        session.busy_changed.connect(self._no_more_asked)

    def refresh(self) -> None:
        """Show on the talk button what it does now; during speech it keeps its meaning."""
        if not self._talker.active:
            self._composer.show_answers(self._open() is not None)

    def asked(self, pending: PendingTurn) -> None:
        """Follow a question that was shown or closed. An agent turn that was interrupted by speech
        asks what to change; the speech is the answer."""
        self.refresh()
        question = pending.question
        if question is None:
            return
        here = question is self._open()
        if self._kept and self._kept[0] is pending:
            (_, transcript), self._kept = self._kept, None
            self._write(question, transcript) if here else self._composer.send_spoken(transcript)
        for said in self._said:
            dictation = self._dictation(question)
            if here and dictation and said.cut is pending and said.question is None:
                said.question = question
                dictation.await_words() if said.recognised else dictation.listen()

    def _open(self) -> EngineQuestion | None:
        """The question here that can be answered by voice."""
        panels = self._conversation.panels()
        wanted = (item.question for item in panels if item.dictation and not item.answered)
        return next(wanted, None)

    def _dictation(self, question: EngineQuestion | None) -> Dictation | None:
        """The dictation line of a question; None if it is closed, or in another conversation."""
        panels = self._conversation.panels()
        own = (item for item in panels if item.question is question and not item.answered)
        return next((item.dictation for item in own), None)

    def _barged_in(self) -> None:
        """Stop what runs where the words go, unless it waits for an answer: the words may be the
        answer. Other conversations go on, and are silent."""
        session, self._cut = self._session, None
        place = session.quick if self.elsewhere and self.elsewhere.listens else session.open
        running = session.running_in(place)
        if any(pending.question for pending in running):
            return
        if running:
            self._cut = next((pending for pending in running if pending.turn.agentic), None)
            session.stop(place)
        if len(session.active) > len(running):
            session.silence()

    def _talked(self, talking: Talking) -> None:
        listened, self._listens = self._listens, talking.state in ("waiting", "listening")
        if self._listens and not listened:
            self._began()
        elif talking.state == "recognising" and self._said and not self._said[-1].recognised:
            self._said[-1].recognised = True
            if dictation := self._dictation(self._said[-1].question):
                dictation.await_words()
        elif talking.state == "idle":
            for said in self._said:
                if dictation := self._dictation(said.question):
                    dictation.leave()
        self._over = talking.state == "idle"
        self.refresh()

    def _began(self) -> None:
        if self._over:
            self._said.clear()  # dropped speech; for all else the end was reported before
        if self.elsewhere and self.elsewhere.listens:
            self._said.append(_Utterance(None, elsewhere=self.elsewhere))
        else:
            self._said.append(_Utterance(self._open(), self._cut))
        self._cut = None
        if dictation := self._dictation(self._said[-1].question):
            dictation.listen()

    def _heard(self, transcript: Transcript) -> None:
        said = self._said.popleft() if self._said else _Utterance(None)
        if not transcript.text.strip():
            self._nothing_of(said, NOTHING)
        elif said.elsewhere:
            said.elsewhere.take(transcript)
        elif said.question:
            self._write(said.question, transcript)
        elif said.cut and said.cut in self._session.active and not said.cut.question:
            self._kept = said.cut, transcript
        else:
            self._composer.send_spoken(transcript)

    def _unheard(self, reason: str) -> None:
        # Of several at a time, the first one ended; a single one may still continue.
        said = self._said.popleft() if len(self._said) > 1 else next(iter(self._said), None)
        self._nothing_of(said, reason)

    def _nothing_of(self, said: _Utterance | None, reason: str) -> None:
        if said and said.elsewhere:
            said.elsewhere.fail(reason)
        elif said is None or said.question is None:
            self._composer.unheard.say(reason)
        elif dictation := self._dictation(said.question):
            dictation.fail(reason)

    def _no_more_asked(self, busy: bool) -> None:
        if self._kept and self._kept[0] not in self._session.active:
            (_, transcript), self._kept = self._kept, None
            self._composer.send_spoken(transcript)

    def _write(self, question: EngineQuestion, transcript: Transcript) -> None:
        if dictation := self._dictation(question):
            dictation.take(transcript)
            self._go_to(dictation)
        else:
            words = one_line(transcript.text, limit=MAX_LATE_CHARS)
            self.late.emit(tr("The question is no longer open. You said: “{words}”", words=words))

    def _go_to(self, dictation: Dictation) -> None:
        if self._talker.held:
            return  # losing the keyboard would release the talk button
        field, typed = dictation.field, self._composer.field
        if typed.window().focusWidget() is typed and typed.toPlainText():
            return  # never take the keyboard from somebody who is typing
        if not field.hasFocus():
            field.moveCursor(QTextCursor.MoveOperation.End)
            field.setFocus()
        self._conversation.ensureWidgetVisible(dictation)
