"""A goal whose process is killed goes on in another one, and no finished round is done again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.core.events import OutlineChanged, RoundEnded, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import StepState
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.process_tree import ProcessInfo, alive
from jarvis_desktop.settings import load
from tests.cli.cut_off import Running
from tests.fakes import FakeFrontend
from tests.scenarios.cut_goals import FOUND, command, cut, done_again, log_of, settle
from tests.scenarios.mediocre import Mediocre, mediocre, prices


@dataclass
class Scene:
    """A process that works on the goal, what it talks to, and what is left when it was killed."""

    folder: Path
    paths: Paths
    llm: Mediocre
    host: str
    asked: list[str]
    """What was downloaded."""
    fetched: Event
    """Set when code downloads the prices, which are not given before `may_go_on` is."""
    may_go_on: Event
    below: tuple[ProcessInfo, ...] = ()
    frontend: FakeFrontend = field(default_factory=FakeFrontend)

    def kill(self, when: Callable[[Running], object]) -> None:
        running = Running(self.folder, *command(self.host))
        assert when(running)
        self.below = cut(running)
        self.may_go_on.set()
        assert not running.ended().status

    async def resume(self) -> Turn:
        app = build(load(self.paths.settings)[0], self.paths)
        try:
            (left,) = app.assistant.unfinished()
            return await app.assistant.resume(left, self.frontend)
        finally:
            await app.close()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    fetched, may_go_on = Event(), Event()

    def on_ask() -> None:
        fetched.set()
        may_go_on.wait(200)

    with ExitStack() as stack:
        host, asked = stack.enter_context(prices(on_ask))
        llm = stack.enter_context(mediocre(f"http://{host}/prices.csv"))
        monkeypatch.setenv("JARVIS_DESKTOP_HOME", str(tmp_path / "home"))
        paths = settle(tmp_path / "home", llm.address)
        stack.callback(may_go_on.set)
        yield Scene(tmp_path, paths, llm, host, asked, fetched, may_go_on)


async def test_after_its_first_finished_inner_round(scene: Scene) -> None:
    scene.kill(lambda running: running.until("round_ended"))
    await goes_on(scene, {"write_function"}, Status.FAILED)


async def test_while_code_runs(scene: Scene) -> None:
    scene.kill(lambda running: scene.fetched.wait(200))
    assert scene.below
    async with asyncio.timeout(60):  # they end with their parent, one after the other
        while alive(scene.below):
            await asyncio.sleep(0.01)
    await goes_on(scene, {"extend_library", "finish"}, Status.DONE)
    # The one that was killed, and two that ended: the first of them with its slip.
    assert len(scene.asked) == 3


async def test_while_the_llm_writes(scene: Scene) -> None:
    scene.llm.falters = "updatePlan"
    scene.may_go_on.set()
    scene.kill(lambda running: scene.llm.silent.acquire(timeout=200))
    downloads = len(scene.asked)
    await goes_on(scene, {"extend_library", "run_code", "coder"}, Status.DONE)
    assert len(scene.asked) == downloads


async def goes_on(scene: Scene, branches: set[str], status: Status) -> None:
    """The goal ends well. What was in the log, among it these branches with that status, is shown
    again and stays as it was; none of it is done again."""
    before = log_of(scene.paths)
    assert branches <= {entry[1] for entry in before.values() if entry[4] == status}
    turn = await scene.resume()
    assert (turn.status, turn.reply) == (Status.DONE, FOUND)
    after = log_of(scene.paths)
    assert {number: after[number] for number in before} == before
    assert done_again(before, after) == []
    assert turn.outline is not None
    assert {step.state for step in turn.outline} == {StepState.DONE}
    assert list(turn.rounds) == list(after)
    assert retold(scene.frontend)[: len(before)] == list(before)


def retold(frontend: FakeFrontend) -> list[int]:
    """The rounds that were shown before the plan, which is shown when all of them were."""
    events = frontend.events
    plan = next(at for at, event in enumerate(events) if isinstance(event, OutlineChanged))
    begun = [event.number for event in events[:plan] if isinstance(event, RoundStarted)]
    ended = [event.number for event in events[:plan] if isinstance(event, RoundEnded)]
    assert begun == ended
    return ended
