"""The footer of an answer: how it ended, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from jarvis_desktop.assistant.answer_writer import MAX_MATERIAL_CHARS, compose_answer
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.markdown import to_plain_text
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel
from jarvis_desktop.ui.widgets.layout import hbox

LLM_BACKEND = "llm"  # the backend whose texts are Markdown

_endings = {
    Status.DONE: mark("Done"),
    Status.PARTLY: mark("Partly done"),
    Status.FAILED: mark("Not done"),
    Status.SKIPPED: mark("Left out"),
    Status.CANCELLED: mark("Stopped"),
}
_timed = {
    Status.DONE: mark("Done in {time}"),
    Status.PARTLY: mark("Partly done in {time}"),
    Status.FAILED: mark("Not done in {time}"),
    Status.SKIPPED: mark("Left out in {time}"),
    Status.CANCELLED: mark("Stopped after {time}"),
}


def format_ending(turn: Turn) -> str:
    """How the turn ended, how long it took and which recogniser heard it."""
    if turn.status is None:
        return ""
    parts = [tr(_endings[turn.status])]
    if turn.seconds >= 0.05:
        parts = [tr(_timed[turn.status], time=labels.seconds(turn.seconds))]
    if turn.heard_by:
        parts.append(tr("heard by {name}", name=one_line(turn.heard_by, limit=40)))
    return " · ".join(parts)


def current_activity(turn: Turn, *, asked: bool) -> str:
    """What is done before anything is visible; `asked` if the user must answer first."""
    if turn.agentic:
        return "" if asked else _thinking(turn)
    if turn.status is not None or turn.reply:
        return ""
    if turn.plan is None:
        return tr("Planning…") if turn.text else tr("Listening to the recording…")
    return tr("Writing the answer…") if all_ended(turn) else ""


def _thinking(turn: Turn) -> str:
    """What agent mode does between two rounds; "" if its work is visible."""
    if turn.status is not None or any(item.status is None for item in turn.rounds.values()):
        return ""
    return tr("Thinking about the next step…") if turn.outline else tr("Writing a plan…")


def all_ended(turn: Turn) -> bool:
    """Whether no step of the plan is left."""
    return not turn.running and all(task.id in turn.results for task in turn.plan or ())


def is_in_reply(artifact: Artifact, reply: str) -> bool:
    """Whether a text is in the answer, whose whitespace must be normalized."""
    return artifact.text is not None and " ".join(artifact.text.split()) in reply


def is_reply_as_file(artifact: Artifact, reply: str) -> bool:
    """Whether the whole answer is a text that one wants as a file, such as subtitles."""
    return (
        bool(artifact.name and artifact.text)
        and is_in_reply(artifact, reply)
        and (len(reply) == len(" ".join((artifact.text or "").split())))
    )


def is_material(turn: Turn) -> bool:
    """Whether a finished turn has only what its answer would have been made of."""
    if turn.status is None or turn.plan is None or turn.agentic:
        return False
    results = (turn.results.get(task.id) for task in turn.plan.answers)
    return not any(result and result.status is Status.DONE for result in results)


def without_material(turn: Turn) -> str:
    """Return the answer without the beginning of the text whose card stands below it."""
    reply = turn.reply
    for item in turn.artifacts if is_material(turn) else ():
        beginning = (item.text or "")[:MAX_MATERIAL_CHARS]
        if beginning:
            reply = reply.removesuffix(f"{beginning}…").rstrip()
    return reply or turn.reply


OUR_WORDS = frozenset({"help"})
"""Tasks whose answers are our own Markdown, with nothing of a file or an expert in it."""


def is_plain(turn: Turn) -> bool:
    """Whether the answer is plain text, because no LLM contributed to it."""
    if turn.plan is None or not len(turn.plan) or turn.agentic:
        return False
    if all(task.type.name in OUR_WORDS for task in turn.plan):
        return False
    doers = [item.attempts[-1].candidate for item in turn.results.values() if item.attempts]
    doers += [item.candidate for item in turn.trying.values()]
    if any(doer.backend == LLM_BACKEND for doer in doers):
        return False
    if not all_ended(turn):
        return turn.reply in turn.drafts.values()
    return bool(turn.results) and compose_answer(turn) == turn.reply


def spoken_name(turn: Turn) -> str:
    """What a screen reader says for the turn."""
    request = one_line(turn.text, limit=200) or tr("a request without words")
    if not turn.reply:
        return tr("You: {request}", request=request)
    answer = one_line(turn.reply, limit=400)
    return tr("You: {request} Answer: {answer}", request=request, answer=answer)


def turn_menu(
    turn: Turn, actions: Actions, parent: QWidget, *, selected: str, link: str, read: bool
) -> QMenu:
    """The menu of a turn. `selected` and `link` are under the pointer; `read` means that its answer
    is being read aloud."""
    made = QMenu(parent)
    made.setAccessibleName(tr("Actions for this message"))

    def offer(icon: str, words: str, keys: str, act: Callable[[], object]) -> None:
        entry = made.addAction(icons.icon(icon, "muted"), f"{words}\t{keys}" if keys else words)
        entry.triggered.connect(lambda: act())

    if selected:
        offer("copy", tr("Copy the selection"), "", lambda: actions.copy_text.emit(selected))
    if link:
        offer("open", tr("Open the link"), "", lambda: actions.open_link.emit(link))
        offer("copy", tr("Copy the link"), "", lambda: actions.copy_text.emit(link))
    if selected or link:
        made.addSeparator()
    if turn.reply:
        offer("copy", tr("Copy the answer"), "Ctrl+C", lambda: copy_answer(turn, actions))
        offer("text", tr("Copy as Markdown"), "", lambda: actions.copy_text.emit(turn.reply))
        suffix = ".txt" if is_plain(turn) else ".md"
        name = f"{tr('Answer')}{suffix}"
        offer("save", tr("Save the answer…"), "", lambda: actions.save_text.emit(name, turn.reply))
    if turn.text:
        offer("copy", tr("Copy the request"), "", lambda: actions.copy_text.emit(turn.text))
    if turn.reply:
        words, icon = (tr("Stop reading"), "stop") if read else (tr("Read aloud"), "speaker")
        offer(icon, words, "", lambda: actions.read_aloud.emit(turn))
    made.addSeparator()
    if turn.text or turn.attachments:
        offer("edit", tr("Edit and send again"), "F2", lambda: actions.edit_turn.emit(turn))
    if turn.status is None:
        offer("stop", tr("Stop"), "", lambda: actions.stop_turn.emit(turn))
        return made
    offer("refresh", tr("Answer again"), "F5", lambda: actions.answer_again.emit(turn))
    if turn.id:
        made.addSeparator()
        words = tr("Unpin") if turn.pinned else tr("Pin")
        offer("pin", words, "", lambda: actions.pin_turn.emit(turn, not turn.pinned))
        offer("trash", tr("Delete"), "Del", lambda: actions.delete_turn.emit(turn))
    return made


def copy_answer(turn: Turn, actions: Actions) -> None:
    """Copy the words of an answer without Markdown marks."""
    actions.copy_text.emit(turn.reply if is_plain(turn) else to_plain_text(turn.reply))


def show_speak(button: IconButton, turn: Turn, *, read: bool) -> None:
    """Show on its button whether an answer can be read aloud, or silenced; `read` if it is read."""
    if read:
        button.show_icon("stop", tr("Stop reading"))
    elif turn.speaking:
        button.show_icon("silent", tr("Silence the voice"))
    else:
        button.show_icon("speaker", tr("Read aloud"))


def speak_or_silence(turn: Turn, actions: Actions, *, read: bool) -> None:
    """Silence the answer while it is spoken, else read it aloud or stop reading."""
    if turn.speaking and not read:
        actions.silence.emit()
    else:
        actions.read_aloud.emit(turn)


class StatusLine(QWidget):
    """What is being done, with an icon."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = StateIcon()
        self.words = ElidedLabel(role="muted")
        hbox(self._icon, (self.words, 1), parent=self, spacing=theme.space())

    def say(self, words: str, *, busy: bool = True) -> None:
        """Show what is going on; "" hides the line."""
        self.setVisible(bool(words))
        self.words.show_text(words)
        self._icon.show_state("running" if busy else "waiting")


class TurnFooter(QWidget):
    """The footer; its buttons are shown while the turn is hovered or focused."""

    menu_wanted = Signal()
    closer_wanted = Signal()

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._turn: Turn | None = None
        self._buttons: QWidget | None = None
        self._looked_at = self._read = False
        self._pinned: Symbol | None = None
        self.ending = ElidedLabel(role="small", widest=420)
        self.closer = IconButton(
            "right", tr("Show how this was answered"), kind="quiet", text=tr("Details")
        )
        self.closer.clicked.connect(self.closer_wanted)
        keep = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        keep.setRetainSizeWhenHidden(True)  # keep the line's height without it
        self.closer.setSizePolicy(keep)
        self._row = hbox(self.ending, None, self.closer, parent=self, spacing=theme.space())

    def draw(self, turn: Turn, *, closer: bool) -> None:
        """Show a turn; `closer` offers its details."""
        self._turn = turn
        self.setVisible(bool(turn.status or turn.reply or turn.speaking or closer))
        self.ending.setVisible(turn.status is not None)
        self.ending.show_text(format_ending(turn))
        self.closer.setVisible(closer)
        if turn.pinned and self._pinned is None:
            self._pinned = Symbol("pin", "accent", size=14)
            self._pinned.setAccessibleName(tr("Pinned"))
            self._row.insertWidget(0, self._pinned)
        if self._pinned:
            self._pinned.setVisible(turn.pinned)
        self._show_buttons()
        if self._buttons:
            show_speak(self.speak, turn, read=self._read)

    def look_at(self, looked_at: bool) -> None:
        """Show or hide the buttons."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self._show_buttons()

    def show_reading(self, read: bool) -> None:
        """Show whether the answer is being read aloud."""
        self._read = read
        if self._buttons and self._turn:
            show_speak(self.speak, self._turn, read=read)

    def show_closer(self, shown: bool) -> None:
        """Show whether the details are open."""
        name = tr("Hide how this was answered") if shown else tr("Show how this was answered")
        self.closer.show_icon("down" if shown else "right", name)

    def _show_buttons(self) -> None:
        turn = self._turn
        if turn is None:
            return
        over = turn.status is not None
        wanted = bool(turn.speaking) or (self._looked_at and (over or bool(turn.reply)))
        if wanted and self._buttons is None:
            self._make()
        if self._buttons:
            self._buttons.setVisible(wanted)
            self.copy.setVisible(bool(turn.reply))
            self.speak.setVisible(bool(turn.reply or turn.speaking))
            self.again.setVisible(over)
            self.edit.setVisible(bool(turn.text) and over)

    def _make(self) -> None:
        """Build the buttons on first use: most turns are only read."""
        self._buttons = QWidget()
        row = hbox(parent=self._buttons, spacing=2)
        actions = self._actions
        self.copy = self._button("copy", tr("Copy the answer"), lambda t: copy_answer(t, actions))
        self.speak = self._button(
            "speaker", tr("Read aloud"), lambda t: speak_or_silence(t, actions, read=self._read)
        )
        self.again = self._button("refresh", tr("Answer again"), actions.answer_again.emit)
        self.edit = self._button("edit", tr("Edit and send again"), actions.edit_turn.emit)
        name = tr("More actions for this message")
        self.more = self._button("more", name, lambda _: self.menu_wanted.emit())
        for button in (self.copy, self.speak, self.again, self.edit, self.more):
            row.addWidget(button)
        self._row.insertWidget(self._row.indexOf(self.ending) + 1, self._buttons)
        self.show_reading(self._read)

    def _button(self, icon: str, name: str, act: Callable[[Turn], object]) -> IconButton:
        button = IconButton(icon, name, kind="tiny")
        button.setIconSize(QSize(15, 15))
        button.clicked.connect(lambda: act(self._turn) if self._turn else None)
        return button
