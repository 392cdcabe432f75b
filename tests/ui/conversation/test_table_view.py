import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.markdown import IncrementalMarkdown, MarkdownTable
from jarvis_desktop.ui.conversation.table_view import INITIAL_ROWS, TableBlock
from jarvis_desktop.ui.widgets.theme import Theme

TEXT = "|City|**People**|\n|:-|-:|\n|Lisbon|`545,000`|\n|a \\| b|[x](https://a.example)|\n"


@pytest.fixture
def table(qtbot: QtBot, theme: Theme, actions: Actions) -> TableBlock:
    (grid,) = IncrementalMarkdown().read(TEXT)
    assert isinstance(grid, MarkdownTable)
    table = TableBlock(grid, actions)
    qtbot.addWidget(table)
    table.resize(500, 200)
    table.show()
    return table


def button(table: TableBlock, name: str) -> QPushButton:
    return next(b for b in table.findChildren(QPushButton) if b.accessibleName() == name)


def test_it_is_read_cell_by_cell(table: TableBlock) -> None:
    model = table.cells.model()
    assert (model.rowCount(), model.columnCount()) == (2, 2)
    assert model.index(0, 1).data() == "545,000"
    assert model.index(1, 0).data() == "a | b"
    assert model.headerData(1, Qt.Orientation.Horizontal) == "People"
    assert table.cells.accessibleName() == "Table with 2 rows, 2 columns"


def test_it_is_copied_and_saved(table: TableBlock, actions: Actions, qtbot: QtBot) -> None:
    with qtbot.waitSignal(actions.copy_text) as copied:
        button(table, "Copy the table").click()
    assert copied.args == ["City\tPeople\nLisbon\t545,000\na | b\tx"]
    with qtbot.waitSignal(actions.copy_text) as copied:
        button(table, "Copy the table as Markdown").click()
    assert copied.args == [
        "| City | **People** |\n| :-- | --: |\n| Lisbon | `545,000` |\n"
        "| a \\| b | [x](https://a.example) |"
    ]
    with qtbot.waitSignal(actions.save_text) as saved:
        button(table, "Save the table as CSV").click()
    assert saved.args == ["table.csv", 'City,People\r\nLisbon,"545,000"\r\na | b,x\r\n']


def test_cells_are_gone_through_copied_and_followed(
    table: TableBlock, actions: Actions, qtbot: QtBot
) -> None:
    cells = table.cells
    cells.setFocus()
    cells.setCurrentIndex(cells.model().index(0, 0))
    QTest.keyClick(cells, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Lisbon"
    QTest.keyClick(cells, Qt.Key.Key_Down)
    QTest.keyClick(cells, Qt.Key.Key_Right)
    with qtbot.waitSignal(actions.open_link) as followed:
        cells.activated.emit(cells.currentIndex())
    assert followed.args == ["https://a.example"]


def test_a_wide_one_is_scrolled_sideways_and_no_wider_than_its_place(
    qtbot: QtBot, theme: Theme, actions: Actions
) -> None:
    row = tuple(f"column {number} with some words" for number in range(20))
    table = TableBlock(MarkdownTable((row, row), ("",) * 20), actions)
    qtbot.addWidget(table)
    table.resize(400, 300)
    table.show()
    bar = table.cells.horizontalScrollBar()
    assert bar.maximum() > 0
    assert table.minimumSizeHint().width() <= 400
    wheel = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    table.cells.wheelEvent(wheel)
    assert not wheel.isAccepted()
    assert bar.value() == 0


def test_of_many_rows_the_first_are_shown(qtbot: QtBot, theme: Theme, actions: Actions) -> None:
    rows = (("n",), *((str(number),) for number in range(1000)))
    table = TableBlock(MarkdownTable(rows, ("",)), actions)
    qtbot.addWidget(table)
    table.show()
    assert table.cells.model().rowCount() == INITIAL_ROWS
    assert table.more.text() == "Show 300 more rows"
    table.more.click()
    assert table.cells.model().rowCount() == INITIAL_ROWS + 300
    assert table.tsv().count("\n") == 1000


def test_cells_that_are_no_markdown_stay(qtbot: QtBot, theme: Theme, actions: Actions) -> None:
    table = TableBlock(MarkdownTable((("a",), ("**b** <img src=x>",)), ("",), plain=True), actions)
    qtbot.addWidget(table)
    assert table.cells.model().index(0, 0).data() == "**b** <img src=x>"
