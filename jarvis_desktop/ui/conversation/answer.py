"""An answer on screen: its Markdown as a column of parts that are drawn as they arrive.

One selection spans all parts: it continues from words into code and tables.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QWidget,
)

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.code_view import CodeBlock
from jarvis_desktop.ui.conversation.markdown import (
    Block,
    CodeFence,
    IncrementalMarkdown,
    MarkdownTable,
    MarkdownText,
    ThematicBreak,
    plain_blocks,
)
from jarvis_desktop.ui.conversation.prose import Prose, inset
from jarvis_desktop.ui.conversation.table_view import TableBlock
from jarvis_desktop.ui.widgets.forms import reword
from jarvis_desktop.ui.widgets.labels import FIRST_CHARACTERS, MORE, more_of
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

Texts = (QTextEdit, QPlainTextEdit)


class AnswerSelection(QObject):
    """Extends a selection over all parts of one answer."""

    def __init__(self, answer: QWidget) -> None:
        super().__init__(answer)
        self._answer = answer
        self._fields: list[QAbstractScrollArea] = []
        self._home: QAbstractScrollArea | None = None  # the part where the selection began

    def join(self, part: Part) -> None:
        """Watch one more part, the new last one."""
        field = _field(part)
        self._fields.append(field)
        field.installEventFilter(self)
        field.viewport().installEventFilter(self)

    def leave(self, part: Part) -> None:
        """Stop watching a part."""
        field = _field(part)
        self._fields.remove(field)
        if self._home is field:
            self._home = None

    def text(self) -> str:
        """Everything that is selected."""
        return "\n".join(text for text in map(_selected, self._fields) if text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin, extend and copy the selection."""
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton:
                self._begin(watched)
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            if event.buttons() & Qt.MouseButton.LeftButton and isinstance(self._home, Texts):
                return self._go_on(self._home, event.globalPosition().toPoint())
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            copies = event.matches(QKeySequence.StandardKey.Copy)
            if copies and (text := self.text()):
                QGuiApplication.clipboard().setText(text)
                return True
        return False

    def _begin(self, watched: QObject) -> None:
        self._home = next((item for item in self._fields if item.viewport() is watched), None)
        for field in self._fields:
            if field is not self._home:
                _clear(field)

    def _go_on(self, home: QTextEdit | QPlainTextEdit, to: QPoint) -> bool:
        """Select up to a place on the screen. Return whether that is in another part."""
        begun, aim = self._fields.index(home), self._under(to)
        for number, field in enumerate(self._fields):
            if number == begun:
                if aim != begun:
                    _select(field, field.textCursor().anchor(), forth=aim > begun)  # type: ignore[attr-defined]
            elif min(begun, aim) < number < max(begun, aim):
                field.selectAll()  # type: ignore[attr-defined]
            elif number == aim and isinstance(field, Texts):
                place = field.viewport().mapFromGlobal(to)
                there = field.cursorForPosition(place).position()
                _select(field, there, forth=aim < begun)
            elif number == aim:
                field.selectAll()  # type: ignore[attr-defined]
            else:
                _clear(field)
        return aim != begun

    def _under(self, place: QPoint) -> int:
        """The index of the part at that height."""
        y = self._answer.mapFromGlobal(place).y()
        tops = [field.mapTo(self._answer, QPoint(0, 0)).y() for field in self._fields]
        return max((number for number, top in enumerate(tops) if top <= y), default=0)


def _field(part: Part) -> QAbstractScrollArea:
    if isinstance(part, CodeBlock):
        return part.text
    return part.cells if isinstance(part, TableBlock) else part


def _select(field: QWidget, begin: int, *, forth: bool) -> None:
    """Select from a position to the end of the field, or to its start."""
    assert isinstance(field, Texts)
    cursor = field.textCursor()
    cursor.setPosition(begin)
    to = QTextCursor.MoveOperation.End if forth else QTextCursor.MoveOperation.Start
    cursor.movePosition(to, QTextCursor.MoveMode.KeepAnchor)
    # do not scroll to the end of the selection: the conversation must not move
    field.setTextCursor(cursor)


def _clear(field: QWidget) -> None:
    if isinstance(field, Texts):
        cursor = field.textCursor()
        if cursor.hasSelection():
            cursor.clearSelection()
            field.setTextCursor(cursor)
    else:
        field.clearSelection()  # type: ignore[attr-defined]


def _selected(field: QWidget) -> str:
    if isinstance(field, Prose):
        return field.selected()
    if isinstance(field, QPlainTextEdit):
        return field.textCursor().selectedText().replace("\u2029", "\n")
    return field.selected()  # type: ignore[attr-defined, no-any-return]


DRAW_BUDGET_S = 0.008
CHARS_PER_PARSE = 20_000
PARSE_PAUSE = 4  # parsing pauses for this multiple of the time it took

Part = Prose | CodeBlock | TableBlock


class AnswerText(QWidget):
    """Shows a text that may still be growing, and may be gigantic."""

    _free_at = 0.0
    """The earliest time for the next answer to draw, so that the window stays responsive."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._text = ""
        self._plain = False
        self._limit = FIRST_CHARACTERS
        self._reading = IncrementalMarkdown()
        self._read = 0  # characters parsed so far
        self._wanted: Sequence[Block] = ()
        self._shown: list[Block] = []
        self._parts: list[tuple[int, Part, QWidget]] = []
        """For each part: the index of its first block, the part, and the widget that holds it."""
        self._selecting = AnswerSelection(self)
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.setAccessibleName(tr("Show more of this text"))
        self.more.clicked.connect(self._show_more)
        self.more.setAccessibleName(tr("Show more of this text"))
        self.more.hide()
        self._column = vbox(hbox(self.more, None), parent=self, spacing=10)
        self._later = new_timer(self, self._go_on)

    def show_text(self, text: str, *, plain: bool = False) -> None:
        """Show a text as Markdown, or literally if it is `plain`; a grown text is extended."""
        if text == self._text and plain == self._plain:
            return
        if plain != self._plain or not text.startswith(self._text[: self._read]):
            self._reading, self._read = IncrementalMarkdown(), 0
        self._text, self._plain = text, plain
        more = more_of(self._limit, len(text))
        self.more.setVisible(bool(more))
        reword(self.more, more, more or tr("Show more of this text"))
        if not self._later.isActive():
            self._go_on()

    def mark_spoken(self, sentence: str) -> None:
        """Mark the sentence that is being spoken where it stands; "" marks none."""
        for part in self.parts:
            if isinstance(part, Prose) and part.mark_spoken(sentence):
                sentence = ""

    @property
    def parts(self) -> list[Part]:
        """The widgets that show it, top to bottom."""
        return [part for _, part, _ in self._parts]

    def toPlainText(self) -> str:
        """The visible text."""
        return "\n".join(
            part.toPlainText()
            if isinstance(part, Prose)
            else part.text.toPlainText()
            if isinstance(part, CodeBlock)
            else part.tsv()
            for part in self.parts
        )

    def selected(self) -> str:
        """The selected text of all parts."""
        return self._selecting.text()

    def _go_on(self) -> None:
        """Parse and draw as much as the budget allows."""
        began = time.perf_counter()
        goal = min(len(self._text), self._limit)
        if self._read < goal or not self._text:
            self._read = min(goal, self._read + CHARS_PER_PARSE)
            text = self._text[: self._read]
            self._wanted = plain_blocks(text) if self._plain else self._reading.read(text)
            self._keep()
        spent = time.perf_counter() - began
        self._draw(time.perf_counter() + DRAW_BUDGET_S)
        if len(self._shown) < len(self._wanted) or self._read < goal:
            done = len(self._shown) == len(self._wanted)
            self._wait(PARSE_PAUSE * spent if done else 0.0)

    def _wait(self, seconds: float) -> None:
        """Continue when it is this answer's turn, after `seconds` at the earliest."""
        now = time.perf_counter()
        at = max(now + seconds, AnswerText._free_at)
        AnswerText._free_at = at + DRAW_BUDGET_S
        self._later.start(int(1000 * (at - now)) + 1)

    def _keep(self) -> None:
        """Remove blocks that are no longer wanted; the last one may change in place."""
        same = 0
        for shown, wanted in zip(self._shown, self._wanted, strict=False):
            if shown is not wanted and shown != wanted:
                break
            same += 1
        left = min(len(self._shown), len(self._wanted)) - same
        if left and self._change(same, self._wanted[same]):
            same += 1
        self._cut(same)

    def _change(self, number: int, block: Block) -> bool:
        """Replace a block by another of the same type. Return False if they differ."""
        part = next(item[1] for item in reversed(self._parts) if item[0] <= number)
        before = self._shown[number]
        if type(before) is not type(block) or before.place != block.place:
            return False
        self._cut(number + 1)
        if isinstance(part, CodeBlock) and isinstance(block, CodeFence):
            part.show_code(block)
        elif isinstance(part, TableBlock) and isinstance(block, MarkdownTable):
            part.show_grid(block)
        elif isinstance(part, Prose) and not isinstance(block, CodeFence | MarkdownTable):
            part.replace_last(block)
        self._shown[number] = block
        return True

    def _cut(self, count: int) -> None:
        """Keep only the first blocks."""
        while self._parts and self._parts[-1][0] >= count:
            _, part, holder = self._parts.pop()
            self._selecting.leave(part)
            self._column.removeWidget(holder)
            discard(holder)
        if self._parts and isinstance(self._parts[-1][1], Prose):
            self._parts[-1][1].shorten(count - self._parts[-1][0])
        del self._shown[count:]

    def _draw(self, until: float) -> None:
        """Draw the missing blocks, at least one."""
        for block in self._wanted[len(self._shown) :]:
            last = self._parts[-1][1] if self._parts else None
            if isinstance(block, CodeFence):
                self._add(CodeBlock(block, self._actions), block)
            elif isinstance(block, MarkdownTable):
                self._add(TableBlock(block, self._actions), block)
            else:
                if not isinstance(last, Prose) or (last.full and _stands_apart(block)):
                    last = Prose()
                    last.link_wanted.connect(self._actions.open_link)
                    self._add(last, None)
                last.add(block)
            self._shown.append(block)
            if time.perf_counter() > until:
                return

    def _add(self, part: Part, block: CodeFence | MarkdownTable | None) -> None:
        holder: QWidget = part
        by = 0
        if block:
            by = inset(block.place.quotes, block.place.lists, self.fontMetrics().height())
        if by:
            holder = QWidget()
            row = hbox(parent=holder, spacing=0)
            row.addSpacing(by)
            row.addWidget(part, 1)
        self._selecting.join(part)
        self._parts.append((len(self._shown), part, holder))
        self._column.insertWidget(self._column.count() - 1, holder)
        holder.show()

    def _show_more(self) -> None:
        self._limit += MORE
        text, self._text = self._text, ""
        self.show_text(text, plain=self._plain)


def _stands_apart(block: MarkdownText | ThematicBreak) -> bool:
    """Whether a new field may start here: there is a gap before the block anyway."""
    return not block.place.tight or (isinstance(block, MarkdownText) and not block.source)
