"""The command line in this process, over parts of the application that a test sets up, and a person
at a terminal who answers each question with what the test says."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import FileIO
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.cli import input, output, session, terminal
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.code import Function, Protection
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.ports import Frontend, Unfinished
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import user_paths
from tests.fake_goals import FakeGoalMemory
from tests.fake_library import FakeLibrary

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = NOON.astimezone()
"""The same by the clock of the computer that runs the tests."""
SHOWN = f"{HERE:%Y-%m-%d %H:%M}"
CTRL_C, CTRL_D = "\x03", "\x04"
BUBBLEWRAP = Protection("bubblewrap", sandboxed=True)
NONE = Protection("none", sandboxed=False, why="Install bubblewrap.")

Play = Callable[[Frontend], Awaitable[Turn]]


def turn(**fields: Any) -> Turn:
    """A finished turn of agent mode."""
    known = Turn("f" * 16, NOON, status=Status.DONE, agentic=True)
    return replace(known, **fields)


async def done(frontend: Frontend) -> Turn:
    """What is played where nothing else is said."""
    return turn()


@dataclass
class FakeAssistant:
    """Does for each request what the test plays."""

    play: Play = done
    stop: Callable[[], bool] = lambda: False
    requests: list[Request] = field(default_factory=list)
    resumed: list[Unfinished] = field(default_factory=list)
    conversations: list[str | None] = field(default_factory=list)
    left: list[Unfinished] = field(default_factory=list)
    others: set[str] = field(default_factory=set)

    async def handle(
        self, request: Request, frontend: Frontend, *, conversation: str | None, plan: object = None
    ) -> Turn:
        self.requests.append(request)
        self.conversations.append(conversation)
        return await self.play(frontend)

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        self.resumed.append(unfinished)
        return await self.play(frontend)

    def interrupt(self) -> bool:
        return self.stop()

    def unfinished(self) -> Sequence[Unfinished]:
        return self.left

    def elsewhere(self) -> set[str]:
        return self.others


@dataclass
class FakeTester:
    """Tests of the functions named in `failing` fail."""

    failing: set[str] = field(default_factory=set)

    async def test(self, function: Function) -> SimpleNamespace:
        bad = function.name in self.failing
        return SimpleNamespace(passed=not bad, text="1 of 2 failed:\nNo." if bad else "2 passed.")


class House:
    """The parts, and `jarvis-desktop ARGS` over them."""

    def __init__(self) -> None:
        self.assistant = FakeAssistant()
        self.library = FakeLibrary()
        self.goals = FakeGoalMemory()
        self.tester = FakeTester()
        self.paths = user_paths()
        self.history = SimpleNamespace(latest=lambda within: "c1")

    def __call__(self, *args: str) -> int:
        return main(args)

    def run(self, args: Namespace, work: Any, *, loaded: object = None) -> int:
        async def awake() -> int:
            input.wake_by_signals()  # as the session does: else a Ctrl-C may go unnoticed
            code: int = await work(self)
            return code

        return asyncio.run(awake())


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    found = House()
    monkeypatch.setattr(session, "run", found.run)
    return found


class Person:
    """Sits at a terminal, and answers the questions one after the other."""

    def __init__(self, ours: int, theirs: int) -> None:
        self._ours, self._theirs = ours, theirs
        self.answers: list[str] = []
        self.asked: list[str] = []

    def says(self, *answers: str) -> None:
        """CTRL_C and CTRL_D are these keys."""
        self.answers += answers

    def hear(self, question: str) -> None:
        """A question, at which they type the next answer."""
        self.asked.append(question)
        said = self.answers.pop(0)
        if said == CTRL_C:
            signal.raise_signal(signal.SIGINT)
        else:
            os.write(self._ours, said.encode() if said == CTRL_D else f"{said}\n".encode())

    def types_ahead(self, keys: str) -> None:
        """Before anything is asked; it has arrived then."""
        os.write(self._ours, keys.encode())
        select.select([self._theirs], [], [])


class Keyboards:
    """One for each loop, as a process has one of each."""

    def __init__(self, source: FileIO) -> None:
        self._source = source
        self._known: dict[asyncio.AbstractEventLoop, input.Keyboard] = {}

    def __getattr__(self, name: str) -> Any:
        loop = asyncio.get_running_loop()
        known = self._known.setdefault(loop, input.Keyboard(self._source))
        return getattr(known, name)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """Somebody is there; what they are asked is not shown besides."""
    ours, theirs = pty.openpty()
    source = FileIO(theirs)
    found = Person(ours, theirs)
    board = Keyboards(source)
    for module in (input, terminal, terminal, terminal, input):
        for name, value in (("KEYBOARD", board), ("somebody_is_there", lambda: True)):
            monkeypatch.setattr(module, name, value, raising=False)
    monkeypatch.setattr(output, "prompt", found.hear)
    yield found
    os.close(ours)
    source.close()
    assert not found.answers
