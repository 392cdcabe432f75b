"""Runs the server for other programs as long as the settings of the window say so.

The modules of the server are imported when it is first switched on, and nothing listens until then.
"""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.ui.engine import EngineJob, Outcome, unexpected

if TYPE_CHECKING:
    from collections.abc import Callable

    from jarvis_desktop.app.application import Application
    from jarvis_desktop.network_settings import ServerSettings
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.session import WindowSession


@dataclass(frozen=True, slots=True)
class ServerState:
    """Whether the server runs; all are "" while it is off or starts."""

    address: str = ""
    """Of OpenAI's protocol."""
    token: str = ""
    trouble: str = ""
    """Why it does not run."""


class ServerControl(QObject):
    """The server of a session. It outlives the window, which is made again in another language."""

    changed = Signal(object)
    """Carries the new ServerState."""

    def __init__(self, session: WindowSession) -> None:
        super().__init__(session)
        self.state = ServerState()
        self._session = session
        self._wanted: ServerSettings | None = None
        self._job: EngineJob | None = None
        session.settled.connect(self._follow)

    def restart(self) -> None:
        """Start again, with the token that is in the keyring now."""
        if self._job:
            self._job.cancel()  # `_ended` starts it again
        else:
            self._start()

    def _follow(self, settings: Settings) -> None:
        before, self._wanted = self._wanted, settings.server
        if self._wanted == before or not (self._wanted.on or (before and before.on)):
            return
        self.restart()

    def _start(self) -> None:
        if self._wanted and self._wanted.on:
            tell = self._session.engine.poster(self, self._show)
            work = partial(_serve, wanted=self._wanted, tell=tell)
            self._job = self._session.run(work, self._ended)
        self._show(ServerState())

    def _ended(self, outcome: Outcome) -> None:
        self._job = None
        if outcome.cancelled:
            self._start()
        else:
            self._show(ServerState(trouble=str(outcome.error or unexpected())))

    def _show(self, state: ServerState) -> None:
        self.state = state
        self.changed.emit(state)


async def _serve(
    app: Application, *, wanted: ServerSettings, tell: Callable[[ServerState], None]
) -> None:
    """Serve until it is cancelled. Raises InputError and UnavailableError."""
    await asyncio.to_thread(importlib.import_module, "jarvis_desktop.server.http_server")
    from jarvis_desktop.server.access import ServerTerms, token_from
    from jarvis_desktop.server.http_server import address_of, listen, serve

    token = await asyncio.to_thread(token_from, None, "")
    with await asyncio.to_thread(listen, wanted.host, wanted.port) as listening:
        tell(ServerState(address_of(listening), token))
        await serve(app, listening, ServerTerms(token, wanted.host))
