"""Code on screen: nothing of it is hidden, and what is given back is what was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QTextBlock, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.conversation.code_view import (
    MAX_DIFF_LINES,
    CodeText,
    escape_invisible,
    unified_diff,
)
from jarvis_desktop.ui.widgets import theme as look
from jarvis_desktop.ui.widgets.theme import Theme
from tests.families import some
from tests.ui import goal_scene
from tests.ui.scene import HOSTILE


@pytest.fixture
def code(qtbot: QtBot, theme: Theme) -> Iterator[CodeText]:
    holder = QWidget()
    qtbot.addWidget(holder)
    text = CodeText("The code", editable=True)
    QVBoxLayout(holder).addWidget(text)
    holder.resize(600, 400)
    holder.show()
    yield text
    holder.hide()


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("print(1)\n\tx = 'é 日本 👩'", "print(1)\n\tx = 'é 日本 👩'"),
        ("x = 1\r\ny = 2\rz = 3", "x = 1\ny = 2\nz = 3"),
        ("ok # \u202eresu ton\u2066", "ok # \\u202eresu ton\\u2066"),
        ("a\u200bb\u00a0c\ufeff", "a\\u200bb\\xa0c\\ufeff"),
        ("x = '\x00\x1b[2J\x0c\x85'", "x = '\\x00\\x1b[2J\\x0c\\x85'"),
        ("'\u2028\u2029\udcff\ufdd0\U000e0041'", "'\\u2028\\u2029\\udcff\\ufdd0\\U000e0041'"),
    ],
)
def test_what_cannot_be_seen_is_written_out(source: str, shown: str) -> None:
    assert escape_invisible(source) == shown


def test_what_is_written_out_means_the_same_in_a_string() -> None:
    source = "'a\u202eb\u200bc\u00a0d\U000e0041'"
    assert ast.literal_eval(escape_invisible(source)) == ast.literal_eval(source)


@pytest.mark.parametrize("hostile", some(HOSTILE))
def test_what_is_shown_is_read_back_as_it_is(code: CodeText, hostile: str) -> None:
    code.show_text(hostile)
    assert code.toPlainText() == escape_invisible(hostile)
    code.grab()


def test_no_part_of_a_long_line_is_out_of_sight(code: CodeText) -> None:
    for far in (" " * 2000, "x" * 2000):
        code.show_text("ok = 1" + far + "; steal()")
        QApplication.processEvents()
        assert code.horizontalScrollBar().maximum() == 0
        code.moveCursor(code.textCursor().MoveOperation.End)
        assert code.viewport().rect().contains(code.cursorRect().center())
        assert code.blockCount() == 1


def test_enter_begins_a_line_below_the_one_before_it(code: CodeText) -> None:
    code.show_text("    return 1")
    code.moveCursor(code.textCursor().MoveOperation.End)
    QTest.keyClick(code, Qt.Key.Key_Return)
    QTest.keyClicks(code, "x")
    assert code.toPlainText() == "    return 1\n    x"


def test_it_scrolls_only_for_whom_works_in_it(code: CodeText) -> None:
    code.show_text("\n".join(map(str, range(100))))
    QApplication.processEvents()
    for focused in (False, True):
        code.setFocus() if focused else code.clearFocus()
        event = QWheelEvent(
            QPointF(50, 50),
            QPointF(50, 50),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(code.viewport(), event)
        assert (code.verticalScrollBar().value() > 0) is code.hasFocus()
    assert code.hasFocus()


def test_new_output_is_followed_until_one_reads_further_up(code: CodeText) -> None:
    lines = "\n".join(map(str, range(100)))
    bar = code.verticalScrollBar()
    code.show_text(lines, at_end=True)
    code.show_text(lines + "\nmore", at_end=True)
    assert bar.value() == bar.maximum() > 0
    bar.setValue(3)
    code.show_text(lines + "\nmore\nand more", at_end=True)
    assert bar.value() == 3


def test_a_difference_has_marks_and_grounds(code: CodeText, theme: Theme) -> None:
    def grounds() -> dict[str, str]:
        found: dict[str, str] = {}
        block: QTextBlock = code.document().firstBlock()
        while block.isValid():
            found[block.text()] = block.blockFormat().background().color().name()
            block = block.next()
        return found

    assert code.show_difference("a\nb\nc", "a\nB\nc")
    for dark in (True, False):
        theme.wear(dark=dark)
        assert grounds()["-b"] == look.colour("danger_soft").name()
        assert grounds()["+B"] == look.colour("done_soft").name()
        assert grounds()[" a"] == "#000000"  # none
    assert not code.show_difference("a", "a")


def test_sources_of_any_length_are_dealt_with_at_once() -> None:
    long = "x\n" * (MAX_DIFF_LINES + 1)
    assert "too long" in unified_diff(long, "y")
    assert unified_diff(goal_scene.FUNCTION, goal_scene.FUNCTION) == ""
