import gc
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui import tidying
from jarvis_desktop.ui.tidying import Tidying


class Circle:
    """Never goes away by itself."""

    def __init__(self) -> None:
        self.itself = self


class Work:
    """Runs or does not."""

    def __init__(self) -> None:
        self.busy = False
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.busy


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def tidy(qtbot: QtBot, work: Work) -> Iterator[Tidying]:
    tidy = Tidying(work, every=1)
    tidy.begin()
    yield tidy
    tidy.end()


def old_circle() -> "weakref.ref[Circle]":
    """One that nobody has any more, which only a look at all objects finds."""
    circle = Circle()
    gone = weakref.ref(circle)
    for _ in range(tidying.WORTH + 1):
        gc.collect(1)
    del circle
    gc.collect(1)
    return gone


def test_what_nobody_has_any_more_goes_while_nothing_runs(qtbot: QtBot, tidy: Tidying) -> None:
    gone = old_circle()
    qtbot.waitUntil(lambda: gone() is None)


def test_while_something_runs_it_waits(
    qtbot: QtBot, tidy: Tidying, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "PATIENCE", 1_000_000)
    work.busy = True
    gone = old_circle()
    qtbot.waitUntil(lambda: work.asked > 5)
    assert gone() is not None
    work.busy = False
    qtbot.waitUntil(lambda: gone() is None)


def test_it_does_not_wait_for_ever(qtbot: QtBot, tidy: Tidying, work: Work) -> None:
    work.busy = True
    gone = old_circle()
    qtbot.waitUntil(lambda: gone() is None)


def test_what_was_there_at_the_start_is_not_looked_at_again(tidy: Tidying) -> None:
    assert gc.get_freeze_count() > 10_000


def test_what_came_after_the_start_goes_even_where_it_is_told_to_begin_again(
    qtbot: QtBot, tidy: Tidying
) -> None:
    circle = Circle()
    gone = weakref.ref(circle)
    tidy.begin()
    del circle
    gc.collect()
    assert gone() is None


def test_python_does_not_look_at_all_objects_until_the_end(qtbot: QtBot, work: Work) -> None:
    before = gc.get_threshold()
    tidy = Tidying(work)
    assert gc.get_threshold() == (*before[:2], tidying.NEVER)
    tidy.end()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
