"""A conversation of any length: what has widgets, what stays where it is, and the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.scene import NOW

PLACE = OpenConversation("a")


class Shown(ConversationView):
    """With what a window has around it: a field before and one after it."""

    def __init__(self, actions: Actions) -> None:
        super().__init__(actions)
        self.whole = QWidget()
        self.before, self.after = QLineEdit(), QLineEdit()
        column = QVBoxLayout(self.whole)
        for widget in (self.before, self, self.after):
            column.addWidget(widget)
        self.whole.resize(700, 560)


@pytest.fixture
def view(qtbot: QtBot, theme: Theme, actions: Actions) -> Iterator[Shown]:
    view = Shown(actions)
    qtbot.addWidget(view.whole)
    view.whole.show()
    view.whole.activateWindow()
    yield view
    view.show_entries([])


def turn(number: int, *, reply: str = "") -> Turn:
    words = reply or f"answer {number}\n\n" + "and more words of it " * (number % 40)
    return Turn(f"t{number}", NOW, f"question {number}", reply=words, status=Status.DONE)


def entries(count: int) -> list[PendingTurn]:
    return [PendingTurn(turn(number), PLACE) for number in range(count)]


def settle() -> None:
    """Let timers and deletions come to their turn, until nothing is left to happen."""
    while True:
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()
        QApplication.sendPostedEvents()  # of a timer that fired together with this one
        widgets = QApplication.topLevelWidgets()
        timers = [timer for widget in widgets for timer in widget.findChildren(QTimer)]
        if not any(timer.isActive() and timer.isSingleShot() for timer in timers):
            return


def seen(view: ConversationView) -> list[str]:
    """The requests in view, from top to bottom."""
    room = view.viewport().rect()
    shown = [item for item in view.views() if not item.isHidden()]
    return [item.turn.text for item in shown if item.turn and item.geometry().intersects(room)]


def top_of(view: ConversationView, text: str) -> int:
    return next(item.y() for item in view.views() if item.turn and item.turn.text == text)


def test_of_ten_thousand_turns_only_those_near_have_widgets(view: Shown) -> None:
    view.show_entries(entries(10_000))
    settle()
    assert 2 <= len(view.views()) <= 40
    assert seen(view)[-1] == "question 9999"
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 500_000
    for place in (0, bar.maximum() // 2, bar.maximum() // 3):
        bar.setValue(place)
        settle()
        assert len(view.views()) <= 40
        assert seen(view)
    bar.setValue(0)
    settle()
    assert seen(view)[0] == "question 0"


def test_turns_are_below_each_other_without_gaps(view: Shown) -> None:
    view.show_entries(entries(300))
    view.verticalScrollBar().setValue(20_000)
    settle()
    shown = sorted((v for v in view.views() if not v.isHidden()), key=lambda v: v.y())
    for above, below in pairwise(shown):
        assert above.y() + above.height() == below.y()
        assert above.height() == above.height_at(above.width())


def test_what_is_read_does_not_jump(view: Shown) -> None:
    rows = entries(400)
    view.show_entries(rows)
    view.verticalScrollBar().setValue(30_000)
    settle()
    text = seen(view)[1]
    before = top_of(view, text)
    first = next(number for number, row in enumerate(rows) if row.turn.text == seen(view)[0])
    rows[first - 1].turn = turn(first - 1, reply="much more\n\n" * 40)
    view.refresh(rows[first - 1])
    rows[-1].turn = turn(399, reply="new words\n\n" * 60)
    view.refresh(rows[-1])
    settle()
    assert top_of(view, text) == before
    view.whole.resize(700, 700)
    settle()
    assert top_of(view, text) == before


def test_it_stays_at_the_end_while_words_come(view: Shown) -> None:
    rows = entries(30)
    view.show_entries(rows)
    settle()
    for count in range(1, 12):
        rows[-1].turn = turn(29, reply="a line of it\n\n" * (5 * count))
        view.refresh(rows[-1])
        settle()
        assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
        last = view.views()[-1]
        assert 0 <= view.viewport().height() - (last.y() + last.height()) <= 40
    assert view.jump.isHidden()


def test_away_from_the_end_a_button_counts_what_is_new(view: Shown) -> None:
    rows = entries(50)
    view.show_entries(rows)
    settle()
    assert view.jump.isHidden()
    view.verticalScrollBar().setValue(100)
    assert view.jump.isVisible()
    assert view.jump.accessibleName() == "Go to the newest message"
    rows[-1].turn = turn(49, reply="other words")
    view.refresh(rows[-1])
    settle()
    assert view.jump.text() == "1 new"
    assert view.jump.accessibleName() == "Go to 1 new message"
    view.jump.click()
    settle()
    assert view.at_end
    assert view.jump.isHidden()
    assert seen(view)[-1] == "question 49"


def test_a_new_turn_is_gone_to(view: Shown, qtbot: QtBot) -> None:
    view.show_entries(entries(50))
    view.verticalScrollBar().setValue(0)
    view.append(PendingTurn(turn(50), PLACE))
    qtbot.waitUntil(lambda: seen(view)[-1] == "question 50")


def test_turns_are_removed_and_come_back(view: Shown) -> None:
    rows = entries(5)
    view.show_entries(rows)
    settle()
    view.remove(rows[3])
    view.remove(rows[3])
    settle()
    assert [v.turn.text for v in view.views() if v.turn] == [f"question {n}" for n in (0, 1, 2, 4)]
    view.insert(3, rows[3])
    settle()
    assert [v.turn.text for v in view.views() if v.turn] == [f"question {n}" for n in range(5)]
    rows[4].turn = replace(rows[4].turn, text="changed")
    view.refresh(rows[4])
    settle()
    assert view.views()[-1].turn == rows[4].turn


def test_what_somebody_worked_in_is_as_they_left_it(view: Shown) -> None:
    rows = entries(200)
    rows[0].turn = replace(rows[0].turn, trace=("A prompt.",))
    view.show_entries(rows)
    view.verticalScrollBar().setValue(0)
    settle()
    first = view.views()[0]
    first.foot.closer.setFocus()
    first.foot.closer.click()
    view.verticalScrollBar().setValue(15_000)
    view.after.setFocus()
    settle()
    assert first in view.views()
    assert first.isHidden()
    view.verticalScrollBar().setValue(0)
    settle()
    assert view.views()[0] is first
    assert first.details is not None
    assert first.details.isVisible()


def test_keys_go_through_it(view: Shown) -> None:
    view.show_entries(entries(200))
    settle()
    bar = view.verticalScrollBar()
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert bar.value() == 0
    QTest.keyClick(view, Qt.Key.Key_PageDown)
    assert 300 < bar.value() < 600
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert bar.value() == 0
    QTest.keyClick(view, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()
    settle()
    field = view.views()[-1].reply.parts[0]
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()


def focused() -> str:
    widget = QApplication.focusWidget()
    return widget.turn.text if isinstance(widget, TurnView) and widget.turn else ""


def test_alt_and_arrows_go_from_message_to_message(view: Shown) -> None:
    view.show_entries(entries(200))
    settle()
    view.after.setFocus()
    alt = Qt.KeyboardModifier.AltModifier
    for number in (199, 198, 197, 196, 195):
        QTest.keyClick(view.after, Qt.Key.Key_Up, alt)
        assert focused() == f"question {number}"
        settle()
        assert f"question {number}" in seen(view)
    reached = QApplication.focusWidget()
    assert reached is not None
    QTest.keyClick(reached, Qt.Key.Key_Down, alt)
    assert focused() == "question 196"
    held = next(item for item in view.views() if item.hasFocus())
    assert held.accessibleName().startswith("You: question 196 Answer: answer 196")
    assert held.foot.copy.isVisible()


def test_tab_goes_through_turns_in_their_order_and_out_again(view: Shown) -> None:
    view.whole.resize(700, 1100)
    view.show_entries(entries(6))
    settle()
    view.before.setFocus()
    reached: list[int] = []
    for _ in range(120):
        widget = QApplication.focusWidget()
        assert widget is not None
        if widget is view.after:
            break
        owner: QWidget | None = widget
        while owner and not isinstance(owner, TurnView):
            owner = owner.parentWidget()
        if isinstance(owner, TurnView) and owner.turn:
            reached.append(int(owner.turn.id[1:]))
            assert (
                view.viewport()
                .rect()
                .intersects(widget.rect().translated(widget.mapTo(view.viewport(), QPoint(0, 0))))
            )
        QTest.keyClick(widget, Qt.Key.Key_Tab)
        settle()
    assert QApplication.focusWidget() is view.after
    assert reached == sorted(reached)
    assert set(reached) == set(range(6))


def test_a_turn_that_is_sought_is_gone_to(view: Shown) -> None:
    view.show_entries(entries(500))
    settle()
    view.go_to(250)
    settle()
    assert "question 250" in seen(view)
    assert focused() == "question 250"
    view.go_to(10_000)
    assert focused() == "question 499"


def test_it_may_be_empty_and_hidden(view: Shown) -> None:
    view.show_entries([])
    view.go_to(3)
    view.to_end()
    QTest.keyClick(view, Qt.Key.Key_End)
    view.whole.hide()
    rows = entries(20)
    view.show_entries(rows)
    view.refresh(rows[3])
    view.draw_now()
    assert not view.views()
    view.whole.show()
    settle()
    assert seen(view)[-1] == "question 19"


@pytest.mark.parametrize("width", [320, 460, 1400])
def test_it_fits_any_width(view: Shown, width: int) -> None:
    view.show_entries(entries(30))
    view.whole.resize(width, 500)
    settle()
    for item in view.views():
        if not item.isHidden():
            assert item.x() >= 0
            assert item.geometry().right() <= view.viewport().width()


def test_a_long_answer_is_read_from_its_beginning(view: Shown) -> None:
    view.show_entries(entries(3))
    asked = PendingTurn(replace(turn(9), reply="", status=None), PLACE)
    view.append(asked)
    asked.turn = turn(9, reply="one line and another\n\n" * 60)
    view.refresh(asked)
    settle()
    newest = view.views()[-1]
    bar = view.verticalScrollBar()
    assert 0 <= newest.y() <= 40, "the request is in sight"
    assert bar.value() < bar.maximum()
    bar.setValue(bar.value() + 60)
    settle()
    assert newest.y() < 0, "whoever scrolls is not taken back"
    view.to_end()
    settle()
    assert bar.value() == bar.maximum()
