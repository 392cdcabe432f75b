"""The single running JARVIS of a user, which answers other processes over a local socket.

Commands and answers are lines of JSON. On Windows the socket is a named pipe.

The lock is taken before Qt is imported, so that two clicks make one window.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.app.ipc_client import MAX_LINE_BYTES, address, is_mine, make_private
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError, StorageError
from jarvis_desktop.core.i18n import tr

if TYPE_CHECKING:
    from filelock import BaseFileLock

CommandHandler = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]
"""Runs a command and returns its answer. A JarvisError is reported to the sender."""
_Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]

IDLE_TIMEOUT_S = 10.0
"""How long a connection may be silent, or not read its answer."""
COMMAND_TIMEOUT_S = 4.0
"""How long a command may take."""
MAX_CONNECTIONS = 16
"""Further connections are closed."""
NOT_A_COMMAND = "That is not a command."
TOO_SLOW = "JARVIS did not do it in time."
INTERNAL_ERROR = "Something went wrong inside JARVIS itself. The log has the details."

log = logging.getLogger(__name__)


class Instance:
    """Belongs to the loop that serves. The socket is in `folder`, `paths.run_folder()`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: BaseFileLock | None = None
        self._close: Callable[[], None] | None = None
        self._conversations: set[asyncio.Task[None]] = set()

    def claim(self) -> bool:
        """Acquire the single-instance lock. Return False if another process holds it.

        Raises StorageError.
        """
        if self._lock is None:
            self._lock = self._locked()
        return self._lock is not None

    async def serve(self, handle: CommandHandler) -> bool:
        """Answer commands from now on. Return False if another process does.

        Raises StorageError if the socket cannot be made.
        """
        try:
            if not await asyncio.to_thread(self.claim):
                return False

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                self._begin(_Connection(reader, writer, handle))

            listen = _listen_on_pipe if sys.platform == "win32" else _listen
            self._close = await listen(address(self._folder), connected)
        except OSError as error:
            await self.close()
            raise StorageError(
                tr(
                    "The socket in {folder} cannot be made: {strerror}.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        return True

    async def close(self) -> None:
        """Stop answering and release the lock."""
        close, self._close = self._close, None
        if close:
            close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)
        lock, self._lock = self._lock, None
        if lock:
            lock.release()

    def _locked(self) -> BaseFileLock | None:
        """The lock, which the system releases however the process ends."""
        from filelock import FileLock, Timeout

        make_private(self._folder)
        lock = FileLock(self._folder / "instance.lock", timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def _begin(self, conversation: _Connection) -> None:
        if len(self._conversations) >= MAX_CONNECTIONS:
            conversation.leave()
            return
        task = asyncio.create_task(conversation.hold())
        self._conversations.add(task)
        task.add_done_callback(self._conversations.discard)


class _Connection:
    """One connection from any process."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: CommandHandler
    ) -> None:
        self._reader, self._writer, self._handle = reader, writer, handle

    async def hold(self) -> None:
        """Answer line by line until the other side leaves, is silent or sends too much."""
        try:
            peer = self._writer.get_extra_info("socket")
            while peer is None or is_mine(peer):
                async with asyncio.timeout(IDLE_TIMEOUT_S):
                    line = await self._reader.readline()
                if not line.endswith(b"\n"):
                    break
                self._writer.write(await self._answer(line))
                async with asyncio.timeout(IDLE_TIMEOUT_S):
                    await self._writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass  # ValueError: the line is too long
        finally:
            self.leave()

    def leave(self) -> None:
        """Close the connection without waiting for unread answers."""
        left_unread = self._writer.transport.get_write_buffer_size() > 0
        self._writer.transport.abort() if left_unread else self._writer.close()

    async def _answer(self, line: bytes) -> bytes:
        answer: dict[str, object]
        try:
            command = json.loads(line.decode())
            if not isinstance(command, dict):
                raise ValueError
        except (ValueError, RecursionError):
            answer = {"ok": False, "error": NOT_A_COMMAND}
        else:
            answer = await self._carried_out(command)
        return json.dumps(answer).encode() + b"\n"

    async def _carried_out(self, command: Mapping[str, object]) -> dict[str, object]:
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                return {**await self._handle(command), "ok": True}
        except JarvisError as error:
            return {"ok": False, "error": error.message, "hint": error.hint}
        except TimeoutError:
            return {"ok": False, "error": TOO_SLOW}
        except Exception as error:  # noqa: BLE001 - the other process gets an answer in any case
            log.error("A command from outside failed: %s", frames(error))
            return {"ok": False, "error": INTERNAL_ERROR}


async def _listen(name: str, connected: _Connected) -> Callable[[], None]:
    """Listen on a Unix socket. Return what closes it."""
    if sys.platform == "win32":
        raise OSError
    _forget(name)  # left by a killed process; the holder of the lock may remove it
    ours = socket.socket(socket.AF_UNIX)
    try:
        ours.bind(name)
        server = await asyncio.start_unix_server(connected, sock=ours, limit=MAX_LINE_BYTES)
    except BaseException:
        ours.close()
        raise

    def close() -> None:
        server.close()
        _forget(name)

    return close


def _forget(name: str) -> None:
    Path(name).unlink(missing_ok=True)


async def _listen_on_pipe(name: str, connected: _Connected) -> Callable[[], None]:
    """Listen on a named pipe of Windows, which other computers cannot write to."""
    loop = asyncio.get_running_loop()

    def protocol() -> asyncio.StreamReaderProtocol:
        reader = asyncio.StreamReader(limit=MAX_LINE_BYTES, loop=loop)
        return asyncio.StreamReaderProtocol(reader, connected, loop=loop)

    (server,) = await loop.start_serving_pipe(protocol, name)  # type: ignore[attr-defined]

    def close() -> None:
        server.close()

    return close
