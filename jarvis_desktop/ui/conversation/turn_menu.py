"""What can be done with a turn, as a menu."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMenu, QWidget

from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.markdown import as_words
from jarvis_desktop.ui.conversation.turn_words import is_plain
from jarvis_desktop.ui.look import icons


def menu(
    turn: Turn, actions: Actions, parent: QWidget, *, selected: str, link: str, read: bool
) -> QMenu:
    """The menu of a turn; `selected` and `link` are what it was called on, `read` says whether its
    answer is being read aloud."""
    made = QMenu(parent)
    made.setAccessibleName(tr("What can be done with this message"))

    def offer(icon: str, words: str, keys: str, act: Callable[[], object]) -> None:
        entry = made.addAction(icons.icon(icon, "muted"), f"{words}\t{keys}" if keys else words)
        entry.triggered.connect(lambda: act())

    if selected:
        offer("copy", tr("Copy what is selected"), "", lambda: actions.copy_text.emit(selected))
    if link:
        offer("open", tr("Open the link"), "", lambda: actions.open_link.emit(link))
        offer("copy", tr("Copy the link"), "", lambda: actions.copy_text.emit(link))
    if selected or link:
        made.addSeparator()
    if turn.reply:
        offer("copy", tr("Copy the answer"), "Ctrl+C", lambda: copy_answer(turn, actions))
        offer("text", tr("Copy as Markdown"), "", lambda: actions.copy_text.emit(turn.reply))
    if turn.text:
        offer("copy", tr("Copy the request"), "", lambda: actions.copy_text.emit(turn.text))
    if turn.reply:
        words, icon = (tr("Stop reading"), "stop") if read else (tr("Read aloud"), "speaker")
        offer(icon, words, "", lambda: actions.read_aloud.emit(turn))
    made.addSeparator()
    if turn.text or turn.attachments:
        offer("edit", tr("Edit and send again"), "F2", lambda: actions.edit_turn.emit(turn))
    if turn.status is None:
        offer("stop", tr("Stop"), "", actions.stop_turn.emit)
        return made
    offer("refresh", tr("Answer again"), "F5", lambda: actions.answer_again.emit(turn))
    if turn.id:
        made.addSeparator()
        words = tr("Unpin") if turn.pinned else tr("Pin")
        offer("pin", words, "", lambda: actions.pin_turn.emit(turn, not turn.pinned))
        offer("trash", tr("Delete"), "Del", lambda: actions.delete_turn.emit(turn))
    return made


def copy_answer(turn: Turn, actions: Actions) -> None:
    """Put the words of an answer on the clipboard, without the marks of Markdown."""
    actions.copy_text.emit(turn.reply if is_plain(turn) else as_words(turn.reply))
