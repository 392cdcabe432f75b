"""Where a recording goes: into the field of the question that was open when it began, to be read
before it is sent, or else off as a new request. Nothing is ever agreed to by voice."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor

from jarvis_desktop.core.hearing import Transcript
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui.bridge import Outcome, Question, unexpected
from jarvis_desktop.ui.composer import Composer
from jarvis_desktop.ui.conversation_view import ConversationView
from jarvis_desktop.ui.dictation import Dictation
from jarvis_desktop.ui.recording import Recorder, forget
from jarvis_desktop.ui.session import Session

LONGEST = 1500
"""Characters of what was said too late that are shown."""


class SpokenAnswers(QObject):
    """Follows the recorder and the questions of the open conversation."""

    late = Signal(str)
    """Carries what was said for a question that is closed by the time it is written down."""

    def __init__(
        self,
        session: Session,
        recorder: Recorder,
        *,
        conversation: ConversationView,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._recorder = recorder
        self._conversation = conversation
        self._composer = composer
        self._question: Question | None = None
        recorder.began.connect(self._began)
        recorder.ended.connect(self.refresh)
        recorder.recorded.connect(self._recorded)
        recorder.settled.connect(self._settled)

    def refresh(self) -> None:
        """Say on the talk button what it does now; while it is held it does what it did."""
        if not self._recorder.active:
            self._composer.show_answers(self._open() is not None)

    def _open(self) -> Question | None:
        """The question here that may be answered by voice."""
        panels = self._conversation.panels()
        wanted = (item.question for item in panels if item.dictation and not item.answered)
        return next(wanted, None)

    def _dictation(self, question: Question | None) -> Dictation | None:
        """The line below its field; None where it is closed, or in another conversation."""
        panels = self._conversation.panels()
        own = (item for item in panels if item.question is question and not item.answered)
        return next((item.dictation for item in own), None)

    def _began(self) -> None:
        self._question = self._open()
        if dictation := self._dictation(self._question):
            dictation.listen()

    def _recorded(self, recording: Path) -> None:
        question, app = self._question, self._session.app
        if question is None or app is None:
            self._composer.send_spoken(recording)
            return
        if dictation := self._dictation(question):
            dictation.await_words()

        async def work() -> Transcript:
            try:
                return await app.recogniser.transcribe(recording, _quietly)
            finally:
                forget(recording)

        self._session.engine.run(work, partial(self._heard, question))

    def _settled(self) -> None:
        if dictation := self._dictation(self._question):
            dictation.leave()

    def _heard(self, question: Question, outcome: Outcome) -> None:
        dictation = self._dictation(question)
        if dictation is None:
            if outcome.value and outcome.value.text.strip():
                words = one_line(outcome.value.text, limit=LONGEST)
                self.late.emit(f"The question is closed by now. You said: “{words}”")
        elif outcome.value:
            dictation.take(outcome.value)
            self._go_to(dictation)
        else:
            dictation.fail(str(outcome.error or unexpected()))

    def _go_to(self, dictation: Dictation) -> None:
        if self._recorder.active:
            return  # the talk button counts as let go where the keyboard is taken from it
        field, typed = dictation.field, self._composer.field
        if typed.window().focusWidget() is typed and typed.toPlainText():
            return  # never under the fingers of one who types
        if not field.hasFocus():
            field.moveCursor(QTextCursor.MoveOperation.End)
            field.setFocus()
        self._conversation.ensureWidgetVisible(dictation)


def _quietly(fraction: float | None, message: str) -> None:
    """A few spoken words need no progress in figures."""
