"""The real application, built once a module, without a sound device."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import Settings
from tests.fakes import FakeFrontend


@dataclass
class Person:
    """Somebody who asks the application, in a folder of files."""

    app: Application
    folder: Path
    frontend: FakeFrontend = field(default_factory=lambda: FakeFrontend(consent=False))
    conversation: str = ""

    async def ask(self, text: str, *files: str, speak: bool = False) -> Turn:
        """One request of a new conversation."""
        self.conversation = self.app.history.open_conversation().id
        return await self.then(text, *files, speak=speak)

    async def then(self, text: str, *files: str, speak: bool = False) -> Turn:
        """One more request of the same conversation."""
        request = Request(
            text=text,
            files=tuple(self.folder / name for name in files),
            folder=self.folder,
            speak=speak,
        )
        self.frontend.events.clear()
        return await self.app.assistant.handle(
            request, self.frontend, conversation=self.conversation
        )


def steps(turn: Turn) -> list[str]:
    """The plan as "task after ids" lines."""
    return [
        f"{task.type.name} {task.depends_on}" if task.depends_on else task.type.name
        for task in turn.plan or ()
    ]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    root = tmp_path_factory.mktemp("house")
    paths = Paths(root / "config", root / "data", root / "cache", root / "logs")
    made = build(Settings(processes=2), paths)
    yield made
    await made.close()


@pytest.fixture
def person(app: Application, tmp_path: Path) -> Person:
    return Person(app, tmp_path)


Ask = Callable[..., Awaitable[Turn]]
