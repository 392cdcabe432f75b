"""The application on the engine, from its building to its closing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from jarvis_desktop.ui.application import App

if TYPE_CHECKING:
    from jarvis_desktop.instance import Handle


class Lifetime:
    """Begins it and ends it, even where its start has not ended."""

    def __init__(self) -> None:
        self._built: list[App] = []
        self._building = self._leaving = False

    async def begin(self, build: Callable[[], App], commands: dict[str, Handle]) -> App:
        """Build and start it, to be reached by other processes with `commands` too."""
        self._building = True
        try:
            app = build()
        finally:
            self._building = False
        if self._leaving:
            raise asyncio.CancelledError
        self._built.append(app)
        await app.start()
        app.be_reached(commands)
        return app

    def leave(self) -> bool:
        """Start nothing any more; whether it is only being built: it cannot be stopped in that, has
        no children yet, and has nothing to close. May be called from any thread."""
        self._leaving = True  # first: the engine looks at it after it has said that it has built
        return self._building

    async def end(self) -> None:
        """Close what was built."""
        while self._built:
            await self._built.pop().close()
