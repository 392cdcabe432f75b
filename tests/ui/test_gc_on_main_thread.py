import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui import app as ui_app
from jarvis_desktop.ui.app import GarbageCollection


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
def tidy(qtbot: QtBot, work: Work, monkeypatch: pytest.MonkeyPatch) -> Iterator[GarbageCollection]:
    monkeypatch.setattr(ui_app, "MIN_CHECKS_BETWEEN", 2)
    gc.unfreeze()  # what the run of the tests has frozen
    tidy = GarbageCollection(work, every=1)
    tidy.begin()
    yield tidy
    tidy.deleteLater()


@pytest.fixture
def old(tidy: GarbageCollection, work: Work, qtbot: QtBot) -> "weakref.ref[Circle]":
    """A circle that nobody has any more, which only a look at all objects finds; something runs."""
    work.busy = True
    made = [Circle() for _ in range(ui_app.FULL_COLLECTION_OBJECTS + ui_app.MIN_NEW_OBJECTS)]
    qtbot.waitUntil(lambda: work.asked > 0)
    return weakref.ref(made[0])


def made_elsewhere() -> "weakref.ref[Circle]":
    """A circle that nobody has any more, among many that another thread made."""
    made: list[weakref.ref[Circle]] = []

    def make() -> None:
        made.extend([weakref.ref(Circle()) for _ in range(ui_app.FULL_COLLECTION_OBJECTS)])

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def test_what_nobody_has_any_more_goes_on_the_thread_of_the_screen_alone(
    qtbot: QtBot, tidy: GarbageCollection, work: Work
) -> None:
    work.busy = True
    gone = made_elsewhere()
    assert gone() is not None
    went: list[threading.Thread] = []
    weakref.finalize(gone(), lambda: went.append(threading.current_thread()))
    qtbot.waitUntil(lambda: gone() is None)
    assert went == [threading.main_thread()]


def test_while_something_runs_what_is_older_waits(
    qtbot: QtBot, work: Work, old: "weakref.ref[Circle]"
) -> None:
    before = work.asked
    qtbot.waitUntil(lambda: work.asked > before + 5)
    assert old() is not None
    work.busy = False
    qtbot.waitUntil(lambda: old() is None)


def test_it_does_not_wait_for_ever(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, old: "weakref.ref[Circle]"
) -> None:
    assert old() is not None
    monkeypatch.setattr(ui_app, "MAX_POSTPONED_CHECKS", 3)
    qtbot.waitUntil(lambda: old() is None)


def test_what_was_there_at_the_start_is_not_looked_at_again(tidy: GarbageCollection) -> None:
    assert gc.get_freeze_count() > 10_000


def test_what_came_after_the_start_goes_even_where_it_is_told_to_begin_again(
    qtbot: QtBot, tidy: GarbageCollection
) -> None:
    circle = Circle()
    gone = weakref.ref(circle)
    tidy.begin()
    del circle
    gc.collect()
    assert gone() is None


def test_python_does_not_look_by_itself(tidy: GarbageCollection) -> None:
    assert not gc.isenabled()
