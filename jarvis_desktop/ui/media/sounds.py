"""The one thing with sound that a person lets play in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.ui.bridge import Job, Outcome

if TYPE_CHECKING:
    from jarvis_desktop.ui.application import App
    from jarvis_desktop.ui.session import Session


class Sounds(QObject):
    """Plays through the application's player, so that whatever silences that silences this too."""

    failed = Signal(str)
    """Carries what the person should know."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session: Session | None = None
        self._now: Job | None = None

    def serve(self, session: Session) -> None:
        """Play with the application of this session."""
        self._session = session

    @property
    def _app(self) -> App | None:
        return self._session.app if self._session else None

    @property
    def position(self) -> float | None:
        """How many seconds of what plays were heard."""
        return self._app.player.position if self._app else None

    def play(
        self, path: Path, start: float, begun: Callable[[], None], ended: Callable[[Outcome], None]
    ) -> Job | None:
        """Play this and nothing else; `begun` and `ended` are called on this thread.

        None where there is nothing to play with yet.
        """
        app, session = self._app, self._session
        if app is None or session is None:
            return None
        self.stop()

        async def work() -> None:
            app.player.silence()
            app.assistant.silence()
            await app.player.play(path, start=start, begun=lambda: session.engine.post(begun))

        self._now = session.engine.run(work, ended)
        return self._now

    def stop(self, _cause: object = None) -> None:
        """Let it end; it is told as cancelled."""
        if self._now:
            self._now.cancel()
            self._now = None
