"""Actions on a turn: read it aloud, ask again, follow a link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtWidgets import QFileDialog

from jarvis_desktop.core.events import Event, Noted
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.engine import EngineJob, Outcome
from jarvis_desktop.ui.pending_turn import OpenConversation, Rerun
from jarvis_desktop.ui.request.composer import Composer
from jarvis_desktop.ui.request.file_dialogs import file_dialog, saved_message, write_atomically
from jarvis_desktop.ui.session import WindowSession

if TYPE_CHECKING:
    from jarvis_desktop.ui.history.controller import HistoryController


class TurnController(QObject):
    """Handles the actions of turns; lives on the main thread."""

    saved = Signal(str)  # a message for the user: a file was written

    def __init__(
        self,
        session: WindowSession,
        actions: Actions,
        composer: Composer,
        conversation: ConversationView,
        send: Callable[[Request, OpenConversation], None],
    ) -> None:
        """`send` sends a request in a conversation, as the input does."""
        super().__init__(conversation)
        self._session = session
        self._actions = actions
        self._composer = composer
        self._conversation = conversation
        self._send = send
        self._reading: tuple[Turn, EngineJob] | None = None
        actions.read_aloud.connect(self.read_aloud)
        actions.edit_turn.connect(self.edit)
        actions.answer_again.connect(self.answer_again)
        actions.stop_turn.connect(session.stop_turn)
        actions.open_link.connect(self.open_link)
        actions.save_text.connect(self.save_text)
        session.sought.connect(conversation.go_to)

    def follow(self, history: HistoryController) -> None:
        """Connect deleting, restoring and pinning of turns to the history."""
        self._actions.delete_turn.connect(history.delete_turn)
        self._actions.pin_turn.connect(history.pin_turn)
        history.turn_gone.connect(self._conversation.remove)
        history.turn_back.connect(self._conversation.insert)

    def read_aloud(self, turn: Turn) -> None:
        """Read an answer aloud, or stop if it is being read."""
        before, self._reading = self._reading, None
        if before:
            before[1].cancel()
        app = self._session.app
        if app is None or (before and before[0].id == turn.id):
            self._actions.reading.emit(None)
            return
        troubles: list[str] = []

        def show(event: Event) -> None:
            if isinstance(event, Noted):
                troubles.append(event.text)

        async def read() -> None:
            await app.speaker.say(turn.reply, show)

        def ended(outcome: Outcome) -> None:
            if self._reading and self._reading[1] is job:
                self._reading = None
                self._actions.reading.emit(None)
            if outcome.error:
                troubles.append(str(outcome.error))
            for trouble in troubles[:1]:
                self._session.failed.emit(trouble)

        job = self._session.engine.run(read, ended)
        self._reading = turn, job
        self._actions.reading.emit(turn)

    def edit(self, turn: Turn) -> None:
        """Put a request into the input again; undo restores what was there."""
        field = self._composer.field
        cursor = field.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(turn.text)
        field.setTextCursor(cursor)
        self._composer.goal.setChecked(turn.agentic)
        self._with_files(turn, self._composer.attached.offer)
        field.setFocus()

    def answer_again(self, turn: Turn) -> None:
        """Run the same request as a new turn, by its plan if it has one."""
        if turn.plan and len(turn.plan) and not turn.agentic:
            afresh = frozenset(task.id for task in turn.plan)
            self._session.run_again(Rerun(turn, turn.plan, afresh))
            return
        terms, place = Terms() if turn.agentic else None, self._session.open

        def send(files: list[Path]) -> None:
            self._send(Request(text=turn.text, files=tuple(files), terms=terms), place)

        if not self._with_files(turn, send):
            send([])

    def _with_files(self, turn: Turn, then: Callable[[list[Path]], None]) -> bool:
        """Pass on the files of a request under their original names. Return whether it has any."""
        files = [item for item in turn.attachments if item.path]
        if files:
            self._actions.media.hand_out(self, *files, then=then)
        return bool(files)

    def open_link(self, address: str) -> None:
        """Open a web or mail address with the desktop's program."""
        from jarvis_desktop.ui.conversation.markdown import LINK_SCHEMES
        from jarvis_desktop.ui.conversation.prose import readable_address

        if not address.lower().startswith(LINK_SCHEMES):
            return
        if not QDesktopServices.openUrl(QUrl(address)):
            words = tr(
                "No program on this computer is set to open {name}.", name=readable_address(address)
            )
            self._session.failed.emit(words)

    def save_text(self, name: str, text: str) -> None:
        """Ask where to save a text, and save it there."""
        dialog = file_dialog(self._conversation.window(), tr("Save"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda chosen: self.write(Path(chosen), text))
        dialog.open()

    def write(self, path: Path, text: str) -> None:
        """Write a text to a file."""

        async def work() -> None:
            content = text.encode("utf-8", "replace")
            await asyncio.to_thread(write_atomically, path, lambda part: part.write_bytes(content))

        def then(outcome: Outcome) -> None:
            if outcome.error:
                self._session.failed.emit(str(outcome.error))
            elif not outcome.cancelled:
                self.saved.emit(saved_message(path))

        self._session.engine.run(work, then)
