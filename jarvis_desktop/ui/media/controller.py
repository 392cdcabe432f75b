"""What cards need from the engine: previews of files, file copies, and sound."""

from __future__ import annotations

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.child import Child
from jarvis_desktop.ui.engine import EngineJob, Outcome, Then
from jarvis_desktop.ui.media.previews import Peaks

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.storage.artifacts import FileStore
    from jarvis_desktop.ui.conversation.syntax_worker import Lines
    from jarvis_desktop.ui.engine import EngineThread
    from jarvis_desktop.ui.pending_turn import PendingTurn
    from jarvis_desktop.ui.session import WindowSession


class SharedPlayer(QObject):
    """Plays one sound at a time through the application's player, which can be silenced."""

    failed = Signal(str)  # a message for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session: WindowSession | None = None
        self._now: EngineJob | None = None

    def serve(self, session: WindowSession) -> None:
        """Use the application of this session."""
        self._session = session

    @property
    def _app(self) -> Application | None:
        return self._session.app if self._session else None

    @property
    def position(self) -> float | None:
        """Seconds of the current sound that were heard."""
        return self._app.player.position if self._app else None

    def play(
        self, path: Path, start: float, begun: Callable[[], None], ended: Callable[[Outcome], None]
    ) -> EngineJob | None:
        """Play this file and nothing else; `begun` and `ended` are called on this thread. Return
        None if there is no player yet."""
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
        """Stop; the outcome is cancelled."""
        if self._now:
            self._now.cancel()
            self._now = None


IDLE_S = 5.0  # seconds without work after which the process ends
PREVIEW_TIMEOUT_S = 20.0
MAX_CACHED_PREVIEWS = 200  # enough to reopen a conversation at once
LEXER_TIMEOUT_S = 3.0
LEXERS_START_S = 60.0  # for their process to start, which no text is to blame for
MAX_CACHED_CODES = 60  # enough to show the colours at once when the user scrolls back

Work = Callable[[], Coroutine[Any, Any, Any]]


def _nothing(paths: list[Path]) -> None:
    """Ignore the paths."""


class MediaController(QObject):
    """One per window. Requests wait until `serve` is called."""

    failed = Signal(str)  # a message for the user

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sounds = SharedPlayer(self)
        self.sounds.failed.connect(self.failed)
        self._session: WindowSession | None = None
        self._waiting: list[tuple[Work, Then]] = []
        self._reader = MediaReader()
        self.code = SyntaxReader()
        self._handed: dict[Path, Path] = {}

    def serve(self, session: WindowSession) -> None:
        """Use this session from now on."""
        self._session = session
        self.sounds.serve(session)
        session.changed.connect(self._changed)
        session.rang.connect(self.sounds.stop)
        waiting, self._waiting = self._waiting, []
        for work, then in waiting:
            session.engine.run(work, then)

    @property
    def engine(self) -> EngineThread | None:
        """The engine, once there is one."""
        return self._session.engine if self._session else None

    def ask(self, who: QObject, work: Work, then: Callable[[Outcome], None]) -> EngineJob | None:
        """Run `work` on the engine; call `then` unless `who` was deleted."""

        def tell(outcome: Outcome) -> None:
            if isValid(who):
                then(outcome)

        if self._session is None:
            self._waiting.append((work, tell))
            return None
        return self._session.engine.run(work, tell)

    def look(
        self, who: QObject, what: str, path: Path, *args: object, then: Callable[[Outcome], None]
    ) -> None:
        """Get a preview of a file from the worker. Slow ones arrive in parts, which grow; errors
        are messages for the user."""

        def part(found: object) -> None:
            if (engine := self.engine) and isValid(who):
                engine.post(lambda: then(Outcome(found)) if isValid(who) else None)

        self.ask(who, lambda: self._reader.look(part, what, path, *args), then)

    def size(self, who: QObject, path: Path, then: Callable[[int], None]) -> None:
        """Get the size of a file in bytes; `then` is not called if it does not exist."""

        async def ask() -> int:
            return (await asyncio.to_thread(status_of, path)).st_size

        self.ask(who, ask, lambda outcome: None if outcome.error else then(outcome.value or 0))

    def hand_out(
        self, who: QObject, *artifacts: Artifact, then: Callable[[list[Path]], None] = _nothing
    ) -> None:
        """Make copies of files under their proper names and pass their paths to `then`; `handed`
        returns them from then on."""

        def make(store: FileStore) -> list[Path]:
            return [store.hand_out(item) for item in artifacts]

        def keep(outcome: Outcome) -> None:
            if outcome.value is not None:
                paths = [item.path for item in artifacts if item.path]
                self._handed.update(zip(paths, outcome.value, strict=True))
                then(outcome.value)

        self._with_store(who, make, keep)

    def lend(self, who: QObject, artifact: Artifact, then: Callable[[Path], None]) -> None:
        """Pass the path that another program may open."""

        def tell(outcome: Outcome) -> None:
            if outcome.value is not None:
                then(outcome.value)

        self._with_store(who, lambda store: store.lend(artifact), tell)

    def _with_store(
        self, who: QObject, work: Callable[[FileStore], Any], then: Callable[[Outcome], None]
    ) -> None:
        if app := self._session.app if self._session else None:
            store = app.store
            self.ask(who, lambda: asyncio.to_thread(work, store), then)

    def handed(self, path: Path) -> Path:
        """The copy of a file that may be given away."""
        return self._handed.get(path, path)

    def _changed(self, pending: PendingTurn) -> None:
        """Stop playback when an answer is about to be spoken: it may go on for an hour."""
        turn = pending.turn
        if pending.request.speak and turn.status is None and turn.reply:
            self.sounds.stop()


class IdleWorker:
    """A child process that ends when idle, with a cache of its results. Lives on the engine."""

    def __init__(self, handler: str, name: str, *, timeout: float, max_cached: int) -> None:
        """`timeout` in seconds for one call."""
        self._child = Child(handler, name=name)
        self._timeout = timeout
        self._calls = 0
        self._idle: asyncio.TimerHandle | None = None
        self._max_cached = max_cached
        self._cache: OrderedDict[tuple[object, ...], Any] = OrderedDict()

    async def _call(self, *args: object, timeout: float = 0.0) -> Any:
        self._calls += 1
        if self._idle:
            self._idle.cancel()
        try:
            return await self._child.call(*args, timeout=timeout or self._timeout)
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._child.kill)

    def _keep(self, key: tuple[object, ...], result: Any) -> None:
        self._cache[key] = result
        if len(self._cache) > self._max_cached:
            self._cache.popitem(last=False)


class MediaReader(IdleWorker):
    """Previews of files."""

    def __init__(self) -> None:
        super().__init__(
            "jarvis_desktop.ui.media.worker:make_reader",
            "media reader",
            timeout=PREVIEW_TIMEOUT_S,
            max_cached=MAX_CACHED_PREVIEWS,
        )

    async def look(
        self, part: Callable[[object], None], what: str, path: Path, *args: object
    ) -> Any:
        """The preview, from the cache if possible; `part` gets partial ones. Raises JarvisError."""
        status = await asyncio.to_thread(status_of, path)
        key = (what, path, status.st_mtime_ns, status.st_size, *args)
        if key not in self._cache:
            found = await self._call(what, path, *args)
            while isinstance(found, Peaks) and found.share < 1:
                part(found)
                found = await self._call(what, path, *args)
            self._keep(key, found)
        self._cache.move_to_end(key)
        return self._cache[key]


class SyntaxReader(IdleWorker):
    """Colours of code, read in a process that can be killed while a lexer is stuck.

    `known` may be called from any thread.
    """

    def __init__(self) -> None:
        super().__init__(
            "jarvis_desktop.ui.conversation.syntax_worker:make_handler",
            "code reader",
            timeout=LEXER_TIMEOUT_S,
            max_cached=MAX_CACHED_CODES,
        )

    def known(self, text: str, language: str) -> Lines | None:
        """The cached colours of a text."""
        return self._cache.get((text, language))

    async def words(self, text: str, language: str) -> Lines:
        """The coloured words of a text: none, now and later, if lexing takes too long."""
        found = self.known(text, language)
        if found is None:
            try:
                if self._child.pid is None:
                    await self._call("", "", timeout=LEXERS_START_S)
                found = await self._call(text, language)
            except JarvisError:
                found = ()
            self._keep((text, language), found)
        return found


def status_of(path: Path) -> os.stat_result:
    """The status of a file. Raises InputError if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise InputError(tr("The file no longer exists.")) from error
    if not stat.S_ISREG(status.st_mode):
        raise InputError(tr("This is not a file."))
    return status
