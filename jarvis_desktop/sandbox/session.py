"""A Python in a sandbox that keeps its variables from script to script."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.code import CodeOutcome, Ending, Script
from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.sandbox.collecting import Marks, marks, put_in, take_back, take_out
from jarvis_desktop.sandbox.driving import Kernel, Means

__all__ = ["Means", "Session"]


class Session:
    """Implements CodeSession."""

    def __init__(self, folder: Path, means: Means) -> None:
        """`folder` is where scripts work; it is made when the first one runs."""
        self._folder = folder
        self._means = means
        self._lock = asyncio.Lock()
        self._kernel: Kernel | None = None
        self._doing: set[asyncio.Task[CodeOutcome]] = set()
        self._given: dict[str, tuple[int, int, int]] = {}

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
    ) -> CodeOutcome:
        """See CodeSession."""
        sent = script.source.encode("utf-8", "replace")
        if hashlib.sha256(sent).hexdigest() != approved:
            raise InputError(tr("This is not the code that was agreed to, so it was not run."))
        doing = asyncio.ensure_future(self._run(sent.decode(), to, timeout, report))
        self._doing.add(doing)
        try:
            return await doing
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if doing in self._doing or (caller and caller.cancelling()):
                raise
            raise UnavailableError(
                tr("The session was closed before the script had ended.")
            ) from None
        finally:
            self._doing.discard(doing)

    async def close(self) -> None:
        """See CodeSession."""
        doing, self._doing = self._doing, set()
        for run in doing:
            run.cancel()
        await asyncio.gather(*doing, return_exceptions=True)
        await self._end()

    async def _run(
        self, source: str, to: Path, timeout: float, report: Callable[[str], None]
    ) -> CodeOutcome:
        async with self._lock:
            await asyncio.to_thread(self._give)
            before = await asyncio.to_thread(marks, self._folder)
            try:
                fresh = self._kernel is None or not self._kernel.alive
                kernel = await self._begun() if fresh else self._kernel
                assert kernel is not None
                began = time.monotonic()
                outcome = await kernel.run(source, timeout, self._spare(), report)
                seconds = time.monotonic() - began
            except BaseException:
                await self._end()
                raise
            if not kernel.alive or not self._means.launcher.sandboxed:
                await self._end()
            taken = await asyncio.to_thread(take_out, self._folder, before, to, self._means.take)
            if outcome.ending is Ending.LIMIT:
                await asyncio.to_thread(self._take_back, before)
        return replace(
            outcome, made=taken.made, left_out=taken.left_out, fresh=fresh, seconds=seconds
        )

    async def _begun(self) -> Kernel:
        await self._end()
        kernel = self._kernel = Kernel(self._folder, self._means)
        await kernel.start()
        return kernel

    async def _end(self) -> None:
        kernel, self._kernel = self._kernel, None
        if kernel:
            await kernel.end()

    def _give(self) -> None:
        """Copy in the files given that are new or have changed since."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._folder.is_symlink():  # another program's doing: all behind it would be open
                raise NotADirectoryError(errno.ENOTDIR, "It is a link")
            self._folder.chmod(0o700)  # a script may have changed that
            if self._means.packages:  # a process that runs finds what is installed there later
                self._means.packages.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                tr("The folder of the code cannot be made: {strerror}.", strerror=error.strerror),
                hint=tr("See that the disk has room and that it may be written to."),
            ) from error
        for name, source in self._means.files.items():
            mark = (0, 0, 0)
            with suppress(OSError):  # carrying it in tells why
                status = source.lstat()
                mark = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._given.get(name) != mark:
                put_in(source, self._folder, name)
                self._given[name] = mark

    def _take_back(self, before: Marks) -> None:
        """Remove what a script left that was ended for it: it would end the next one, too."""
        take_back(self._folder, before)
        # What was given and is gone now is given again.
        there = marks(self._folder)
        self._given = {
            name: mark for name, mark in self._given.items() if PurePosixPath(name) in there
        }

    def _spare(self) -> int:
        """Bytes of the folder that do not count: those that were given."""
        return sum(mark[1] for mark in self._given.values())
