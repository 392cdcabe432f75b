"""The real application after a crash: what acts outside of the store is not silently repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import Settings
from tests.fakes import FakeFrontend

STARTED = datetime(2026, 1, 2, 12, tzinfo=UTC)
Start = Callable[[], Application]


@pytest_asyncio.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts the application once more, over the same files."""
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    started: list[Application] = []

    def begin() -> Application:
        started.append(build(Settings(processes=1), paths))
        return started[-1]

    yield begin
    for app in started:
        await app.close()


def cut_off(app: Application) -> None:
    """A turn of this application is in the middle of setting a timer when its process ends."""
    inventory = app.inventory
    timer = Task(0, inventory["timer"], {"duration": "ten minutes"})
    sum_up = Task(1, inventory["calculator"], {"expression": "6 times 7"})
    turn = Turn("t", STARTED, text="set a timer, and what is 6 times 7", plan=Plan((timer, sum_up)))
    app.history.journal.begin(Unfinished("c", turn))
    app.history.journal.starting("t", 0)
    app.history.journal.close()


@pytest.mark.parametrize("agreed", [True, False])
async def test_a_timer_that_may_have_been_set_is_asked_about(start: Start, agreed: bool) -> None:
    cut_off(start())
    app = start()
    (left,) = app.assistant.unfinished()
    frontend = FakeFrontend(consent=agreed)
    turn = await app.assistant.resume(left, frontend)
    assert frontend.questions == [
        "Timer: this may have been done already when JARVIS was interrupted. Do it again?"
    ]
    assert len(app.timers.pending()) == agreed
    assert turn.status is (Status.DONE if agreed else Status.PARTLY)
    assert "42" in turn.reply
    assert app.history.show("t") == app.history.open_conversation("c").turns[0]
    assert app.assistant.unfinished() == ()
