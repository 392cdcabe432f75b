from pathlib import Path

import openpyxl
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media.cards import TableCard, is_number
from tests.ui.media.conftest import WAYS, Show, card_of, spoilt


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    lines = ["City,People", *(f"Town {number},{number * 1000}" for number in range(500))]
    (tmp_path / "cities.csv").write_text("\n".join(lines))
    return tmp_path / "cities.csv"


def shown(path: Path, actions: Actions, show: Show, qtbot: QtBot) -> TableCard:
    card = card_of(Kind.TABLE, path, actions)
    assert isinstance(card, TableCard)
    show(card)
    qtbot.waitUntil(lambda: card.grid.isVisible() or card.trouble.isVisible())
    return card


def test_it_shows_the_first_rows(cities: Path, actions: Actions, show: Show, qtbot: QtBot) -> None:
    card = shown(cities, actions, show, qtbot)
    rows = card.grid.model()
    assert (rows.rowCount(), rows.columnCount()) == (200, 2)
    assert rows.index(7, 1).data() == "7000"
    assert rows.headerData(0, Qt.Orientation.Horizontal) == "City"
    assert rows.headerData(7, Qt.Orientation.Vertical) == 8
    sides = [
        rows.headerData(at, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        for at in (0, 1)
    ]
    assert [bool(side & Qt.AlignmentFlag.AlignTrailing) for side in sides] == [False, True]
    assert card.note.text() == "The first 200 rows."
    assert card.grid.accessibleName() == "Rows of cities.csv"
    qtbot.waitUntil(lambda: card.line.facts.full_text().startswith("2 columns · "))


def test_a_short_one_of_a_spreadsheet_is_shown_whole(
    tmp_path: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (("City", "People"), ("Bern", 134_000), ("Basel", 173_000)):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    card = shown(tmp_path / "book.xlsx", actions, show, qtbot)
    qtbot.waitUntil(lambda: card.line.facts.full_text().startswith("2 rows · 2 columns · "))
    assert not card.note.isVisible()
    assert card.line.file_actions.text == "City\tPeople\nBern\t134000\nBasel\t173000"


def test_cells_that_are_selected_are_copied(
    cities: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = shown(cities, actions, show, qtbot)
    card.grid.selectAll()
    with qtbot.waitSignal(actions.copy_text) as copied:
        QTest.keyClick(card.grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied.args[0].startswith("Town 0\t0\nTown 1\t1000\n")


def test_the_wheel_is_the_conversations_until_it_is_clicked(
    cities: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    grid = shown(cities, actions, show, qtbot).grid
    grid.window().activateWindow()

    def roll() -> None:
        at = QPointF(40, 60)
        wheel = QWheelEvent(
            at, at, QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(grid.viewport(), wheel)

    grid.clearFocus()
    roll()
    assert grid.verticalScrollBar().value() == 0
    grid.setFocus()
    qtbot.waitUntil(grid.hasFocus)
    roll()
    assert grid.verticalScrollBar().value() > 0


@pytest.mark.parametrize("how", [way for way in WAYS if way not in ("cut", "another")])
def test_what_is_no_table_says_so(
    cities: Path, actions: Actions, show: Show, qtbot: QtBot, how: str
) -> None:
    card = shown(spoilt(cities, how), actions, show, qtbot)
    assert card.trouble.isVisible()
    assert card.trouble.words.text().endswith(".")


def test_a_book_that_is_cut_says_so(
    tmp_path: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(200))
    card = shown(tmp_path / "book.xlsx", actions, show, qtbot)
    assert card.trouble.isVisible()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("12", True), ("-1'234.5", True), ("12 %", True), ("", False), ("A4", False), ("—", False)],
)
def test_numbers_are_set_as_such(cell: str, expected: bool) -> None:
    assert is_number(cell) is expected
