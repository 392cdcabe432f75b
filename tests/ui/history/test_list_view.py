from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from jarvis_desktop.ui.history.list_view import (
    ROW,
    STATE,
    HistoryModel,
    HistoryRow,
    HistoryRowState,
    day_heading,
    elided,
    short_day,
)
from tests.families import some
from tests.ui.scene import HOSTILE

TODAY = date(2026, 5, 14)
NOON = datetime(2026, 5, 14, 12, tzinfo=UTC)


def row(name: str, *, days: int = 0, **values: Any) -> HistoryRow:
    return HistoryRow(name, f"about {name}", NOON - timedelta(days=days), **values)


@pytest.fixture
def model(qapp: object) -> HistoryModel:
    return HistoryModel()


def texts(model: HistoryModel) -> list[str]:
    return [model.index(number).data() for number in range(model.rowCount())]


def test_conversations_stand_below_the_day(model: HistoryModel) -> None:
    rows = [row("p", days=99, pinned=True), row("a"), row("b", days=1), row("c", days=3)]
    rows += [row("d", days=8), row("e", days=40), row("f", days=41), row("g", days=400)]
    assert model.show(rows, TODAY, more=False)
    assert texts(model) == [
        "Pinned", "about p", "Today", "about a", "Yesterday", "about b", "Last seven days",
        "about c", "This month", "about d", "April 2026", "about e", "about f",
        "April 2025", "about g",
    ]  # fmt: skip
    assert model.rows() == rows
    assert not model.show(rows, TODAY, more=False), "nothing has changed"


def test_what_comes_later_goes_on_under_its_heading(model: HistoryModel) -> None:
    model.show([row("a"), row("b", days=1)], TODAY, more=True)
    assert model.canFetchMore(QModelIndex())
    asked: list[None] = []
    model.more_wanted.connect(lambda: asked.append(None))
    model.fetchMore(QModelIndex())
    assert asked == [None]
    assert not model.canFetchMore(QModelIndex()), "once is enough"
    model.extend([row("c", days=1), row("d", days=2)], more=False)
    assert texts(model)[3:] == ["about b", "about c", "Last seven days", "about d"]
    model.extend([], more=False)
    assert model.rowCount() == 7


def test_finds_have_no_headings_and_cannot_be_renamed(model: HistoryModel) -> None:
    model.show([row("a", turn_id="t1"), row("a", days=9, turn_id="t2")], TODAY, more=False)
    assert texts(model) == ["about a", "about a"]
    assert model.find("a", "t2").row() == 1
    assert not model.find("a").isValid()
    assert not model.index(0).flags() & Qt.ItemFlag.ItemIsEditable


def test_a_heading_is_only_read(model: HistoryModel) -> None:
    model.show([row("a")], TODAY, more=False)
    heading, line = model.index(0), model.index(1)
    assert heading.flags() == Qt.ItemFlag.NoItemFlags
    assert (
        heading.data(ROW) is heading.data(STATE) is heading.data(Qt.ItemDataRole.EditRole) is None
    )
    assert not model.setData(heading, "x")
    assert line.flags() & Qt.ItemFlag.ItemIsEditable
    assert model.rowCount(line) == 0
    assert QModelIndex().data() is None


def test_a_new_title_is_told_and_not_taken_for_granted(model: HistoryModel) -> None:
    model.show([row("a")], TODAY, more=False)
    told: list[tuple[str, str]] = []
    model.renamed.connect(lambda *words: told.append(words))
    assert model.setData(model.index(1), "  A\nbetter name ")
    assert told == [("a", "A better name")]
    assert model.index(1).data() == "about a"
    for nothing in ("", " \n", "about a"):
        assert not model.setData(model.index(1), nothing)
    assert len(told) == 1


def test_what_a_screen_reader_says(model: HistoryModel) -> None:
    model.show([row("a", pinned=True), row("b", days=1)], TODAY, more=False)
    model.mark(opened="a", running={"b"}, unread={"b"})
    said = [model.index(n).data(Qt.ItemDataRole.AccessibleTextRole) for n in (0, 1, 3)]
    assert said[0] == "Pinned"
    assert said[1].startswith("about a, ")
    assert said[1].endswith("pinned, open")
    assert said[2].endswith("a request runs, has a new answer")
    assert model.index(1).data(STATE) == HistoryRowState(open=True)
    assert model.index(3).data(STATE) == HistoryRowState(running=True, unread=True)


@pytest.mark.parametrize("hostile", some(HOSTILE))
def test_hostile_titles_are_short_lines(model: HistoryModel, hostile: str) -> None:
    model.show([HistoryRow("a", hostile, NOON)], TODAY, more=False)
    shown = model.index(1).data()
    assert 0 < len(shown) <= 200
    assert "\n" not in shown
    shown.encode()


@pytest.mark.parametrize(
    ("days", "heading"),
    [(-3, "Today"), (0, "Today"), (1, "Yesterday"), (6, "Last seven days"), (7, "This month")],
)
def test_headings(days: int, heading: str) -> None:
    assert day_heading(TODAY - timedelta(days=days), TODAY) == heading


def test_a_text_is_whole_in_the_width_that_it_takes(qapp: QApplication) -> None:
    metrics = QFontMetrics(qapp.font())
    for minute in range(60):
        words = f"9:{minute:02}\u202fAM"
        width = metrics.horizontalAdvance(words)
        assert elided(words, metrics, width) == words
        assert elided(words, metrics, width - 3).endswith("…")


def test_moments_in_few_letters() -> None:
    here = datetime(2026, 5, 14, 9, 5).astimezone()
    assert "5" in short_day(here, TODAY)
    assert short_day(here - timedelta(days=2), TODAY) == "12 May"
    assert short_day(here - timedelta(days=500), TODAY) == "2024-12-30"
