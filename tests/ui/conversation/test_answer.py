"""Markdown on screen: parts, streaming, selecting, links, and what was made to break it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QKeySequence, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.conversation.code_view import CodeBlock
from jarvis_desktop.ui.conversation.prose import Prose, readable_address
from jarvis_desktop.ui.conversation.table_view import TableBlock
from jarvis_desktop.ui.widgets import theme as look
from jarvis_desktop.ui.widgets.theme import Theme
from tests.families import some
from tests.ui.markdown_samples import HOSTILE_MARKDOWN
from tests.ui.scene import HOSTILE

ALL = "before **it**\n\n```py\nx = 1\n```\n\nbetween\n\n|a|b|\n|-|-|\n|1|2|\n\nafter"


@pytest.fixture
def answer(qtbot: QtBot, theme: Theme, actions: Actions) -> Iterator[AnswerText]:
    holder = QWidget()
    answer = AnswerText(actions)
    answer.setParent(holder)
    answer.resize(600, 2000)
    qtbot.addWidget(holder)
    holder.resize(600, 900)
    holder.show()
    yield answer
    holder.hide()


def show(answer: AnswerText, text: str, *, plain: bool = False) -> None:
    answer.show_text(text, plain=plain)
    ends = time.monotonic() + 60
    while answer._later.isActive() and time.monotonic() < ends:
        QApplication.processEvents()
    QApplication.processEvents()


def prose(answer: AnswerText, number: int = 0) -> Prose:
    part = answer.parts[number]
    assert isinstance(part, Prose)
    return part


def test_each_kind_of_block_has_its_part(answer: AnswerText) -> None:
    show(answer, ALL)
    assert [type(part) for part in answer.parts] == [Prose, CodeBlock, Prose, TableBlock, Prose]
    assert answer.toPlainText() == "before it\nx = 1\nbetween\na\tb\n1\t2\nafter"


def test_it_is_never_html(answer: AnswerText, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("HTML")

    for name in ("setHtml", "insertHtml", "setMarkdown"):
        for kind in (Prose, QTextDocument, QTextCursor):
            if hasattr(kind, name):
                monkeypatch.setattr(kind, name, never)
    monkeypatch.setattr(QTextDocument, "loadResource", never)
    show(answer, "<b>bold</b> ![x](/dev/zero) <img src='/dev/zero'>\n\n" + ALL)
    assert "<b>bold</b> x (/dev/zero) <img src='/dev/zero'>" in answer.toPlainText()


def test_what_grows_keeps_its_parts_and_ends_as_if_it_had_been_there(
    answer: AnswerText, qtbot: QtBot, actions: Actions
) -> None:
    show(answer, ALL[:30])
    kept = answer.parts
    for end in range(30, len(ALL) + 1, 3):
        show(answer, ALL[:end])
    show(answer, ALL)
    assert answer.parts[:2] == kept[:2]
    whole = AnswerText(actions)
    qtbot.addWidget(whole)
    whole.resize(600, 900)
    whole.show()
    show(whole, ALL)
    assert whole.toPlainText() == answer.toPlainText()
    assert [type(part) for part in whole.parts] == [type(part) for part in answer.parts]


def test_another_answer_takes_its_place(answer: AnswerText) -> None:
    show(answer, ALL)
    show(answer, "something else")
    assert answer.toPlainText() == "something else"
    show(answer, "")
    assert answer.toPlainText() == ""


def test_a_selection_stays_while_more_is_written(answer: AnswerText) -> None:
    show(answer, "Some **bold** wor")
    cursor = prose(answer).textCursor()
    cursor.setPosition(5)
    cursor.setPosition(9, QTextCursor.MoveMode.KeepAnchor)
    prose(answer).setTextCursor(cursor)
    show(answer, "Some **bold** words 👩‍👧 and")
    show(answer, "Some **bold** words 👩‍👧 and more")
    assert prose(answer).textCursor().selectedText() == "bold"
    assert answer.toPlainText() == "Some bold words 👩‍👧 and more"


def test_plain_words_keep_their_stars(answer: AnswerText) -> None:
    show(answer, "# 1 * 2\n\n*x*", plain=True)
    assert answer.toPlainText() == "# 1 * 2\n\n*x*"


def test_each_paragraph_has_the_direction_of_its_words(answer: AnswerText) -> None:
    show(answer, "words\n\nשלום abc\n\n123 مرحبا\n\n- one")
    directions = []
    block = prose(answer).document().firstBlock()
    while block.isValid():
        directions.append(block.textDirection())
        block = block.next()
    left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
    assert directions == [left, right, right, left]


def test_one_selection_goes_through_all_parts(answer: AnswerText) -> None:
    show(answer, ALL)
    first, last = prose(answer, 0).viewport(), prose(answer, 4).viewport()
    start = QPoint(2, 5)
    QTest.mousePress(first, Qt.MouseButton.LeftButton, pos=start)
    to = first.mapFrom(answer, last.mapTo(answer, QPoint(200, 6)))
    QTest.mouseMove(first, QPoint(20, 8))
    move(first, to)
    assert answer.selected() == "before it\nx = 1\nbetween\n1\t2\nafter"
    QTest.keyClick(prose(answer, 0), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == answer.selected()
    move(first, QPoint(60, 6))
    assert "x = 1" not in answer.selected()
    QTest.mouseRelease(first, Qt.MouseButton.LeftButton, pos=QPoint(60, 6))
    QTest.mouseClick(last, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert answer.selected() == ""


def move(widget: QWidget, to: QPoint) -> None:
    """Move the mouse with its button held."""
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(to),
        QPointF(widget.mapToGlobal(to)),
        Qt.MouseButton.NoButton,
        left,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, event)


def test_what_is_copied_keeps_its_marks(answer: AnswerText) -> None:
    show(answer, "> said\n\n1. one\n   - two\n\n   more\n- [x] done\n\n---\n")
    prose(answer).selectAll()
    prose(answer).copy()
    assert QGuiApplication.clipboard().text() == ("> said\n1. one\n  ◦ two\n  more\n[x] done\n———")


def test_a_link_is_followed_by_mouse_and_by_keyboard(
    answer: AnswerText, actions: Actions, qtbot: QtBot
) -> None:
    show(answer, "[one](https://a.example/1) and [two](https://a.example/2)")
    field = prose(answer)
    start = QTextCursor(field.document())
    place = field.cursorRect(start).center() + QPoint(6, 0)
    with qtbot.waitSignal(actions.open_link) as followed:
        QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert followed.args == ["https://a.example/1"]
    field.window().activateWindow()
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Tab)
    QTest.keyClick(field, Qt.Key.Key_Tab)
    assert field.viewport().toolTip() == "https://a.example/2"
    with qtbot.waitSignal(actions.open_link) as followed:
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert followed.args == ["https://a.example/2"]
    QTest.keyClick(field, Qt.Key.Key_Backtab)
    assert field.textCursor().selectedText() == "one"


def test_an_address_is_spelled_so_that_it_can_be_checked() -> None:
    assert readable_address("http://раypal.example/<b>").startswith("http://xn--")
    assert "<" not in readable_address("http://a.example/<img src=x>")
    assert len(readable_address("http://a.example/" + "x" * 5000)) == 200
    assert QUrl(readable_address("https://a.example/1")).host() == "a.example"


def test_code_is_copied_as_it_was_written(
    answer: AnswerText, actions: Actions, qtbot: QtBot
) -> None:
    show(answer, "```py\nx = '\u202e'\n```")
    (code,) = answer.parts
    assert isinstance(code, CodeBlock)
    assert code.language.text() == "py"
    assert "\\u202e" in code.text.toPlainText()
    with qtbot.waitSignal(actions.copy_text) as copied:
        code.copy.click()
    assert copied.args == ["x = '\u202e'"]


def test_a_gigantic_answer_is_shown_bit_by_bit(answer: AnswerText) -> None:
    text = "".join(f"## {number}\n\nwords and more words\n\n" for number in range(1200))
    show(answer, text)
    assert len(answer.toPlainText()) < 20_000
    assert answer.more.isVisible()
    answer.more.click()
    show(answer, text + "end")
    assert answer.toPlainText().endswith("end")
    assert not answer.more.isVisible()


@pytest.mark.parametrize("text", some(HOSTILE_MARKDOWN, 8))
def test_nothing_hostile_breaks_it_while_it_is_written(answer: AnswerText, text: str) -> None:
    step = max(1, len(text) // 5)
    for end in range(step, len(text) + step, step):
        show(answer, text[:end])
    answer.window().grab()
    for label in answer.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText or not label.text()
    assert answer.minimumSizeHint().width() <= 600


@pytest.mark.parametrize("text", some(HOSTILE))
def test_nor_do_foreign_texts(answer: AnswerText, text: str) -> None:
    show(answer, text)
    show(answer, text, plain=True)
    answer.window().grab()


def test_it_follows_the_theme(answer: AnswerText, theme: Theme, qapp: QApplication) -> None:
    show(answer, "> [link](https://a.example) `code`\n\n- [x] done\n- open\n\n---")
    before = prose(answer).toPlainText()
    qapp.setPalette(look.palette(look.tokens().colours(True)))
    QApplication.processEvents()
    answer.window().grab()
    assert prose(answer).toPlainText() == before


def test_copying_is_a_usual_key() -> None:
    assert QKeySequence(QKeySequence.StandardKey.Copy).toString() == "Ctrl+C"
