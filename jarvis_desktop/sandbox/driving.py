"""Starts the process that scripts run in, hands it one after the other, and takes its answers."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.code import CodeOutcome, Ending
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.sandbox.answers import Answer, GarbledError, answer_of, next_message, packed
from jarvis_desktop.sandbox.collecting import Take
from jarvis_desktop.sandbox.printed import Printed
from jarvis_desktop.sandbox.profile import Box, Launcher, Limits
from jarvis_desktop.sandbox.proxy import Proxy
from jarvis_desktop.sandbox.supervisor import Bounds, Breach, Supervisor

INSIDE = Path(__file__).parent / "inside"
"""What runs in the sandbox beside a script."""
KERNEL, LIBRARY, PACKAGES = "/jarvis/inside", "/jarvis/library", "/jarvis/packages"
"""Where that, the code library and the packages are wanted inside."""

BOOT = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
where = sys.argv[1]
spec = spec_from_file_location("_inside", where + "/__init__.py",
    submodule_search_locations=[where])
sys.modules["_inside"] = module_from_spec(spec)
from _inside.kernel import main
main()
"""
"""Loads that as a package, without its folder among those that a script imports from."""

WITHOUT_PYTHON = "This application was built without a Python that could run code."

STARTING = 60.0
"""Seconds for an interpreter to start: a computer may be busy, and a disk may sleep."""
TRAILING = 2.0
"""Seconds for what was printed to arrive after the script has ended."""
THREADS = 8
"""Threads of a numerical library; more cost address space and gain little."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a session is made of, besides its folder."""

    launcher: Launcher
    python: Path | None
    """None where there is none: in an application that was built without."""
    files: Mapping[str, Path] = field(default_factory=dict)
    library: Path | None = None
    packages: Path | None = None
    """The folder of installed packages."""
    proxy: Callable[[], Proxy] | None = None
    """Makes the way out; None where there is none."""
    limits: Limits = field(default_factory=Limits)
    bounds: Bounds = field(default_factory=Bounds)
    take: Take = field(default_factory=Take)


class Kernel:
    """The process of a session."""

    def __init__(self, folder: Path, means: Means) -> None:
        self._folder = folder
        self._means = means
        self._beginning: asyncio.Task[Box] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._supervisor: Supervisor | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._proxy = means.proxy() if means.proxy and hasattr(socket, "AF_UNIX") else None
        self._reading: asyncio.Task[None] | None = None
        self._printed: Printed | None = None

    @property
    def alive(self) -> bool:
        """Whether it can be given a script."""
        return bool(self._supervisor and self._supervisor.alive and not self._ending)

    async def start(self) -> None:
        """Start it. Raises UnavailableError where there is no sandbox, ExpertError. Where this is
        cancelled, `end` is still to be called."""
        self._beginning = asyncio.ensure_future(self._begin())
        # Cut off in the middle, asyncio may wait for ever, and what was opened would stay open.
        await self._greet(await asyncio.shield(self._beginning))

    async def _begin(self) -> Box:
        ours = theirs = None
        if self._proxy:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            box = self._box((theirs.fileno(),) if theirs else ())
            command = self._means.launcher.command
            launch = await asyncio.to_thread(command, box, self._argv(box))
            self._supervisor = Supervisor(launch, self._means.bounds)
            self._process = await self._supervisor.start()
        except BaseException:
            if ours:
                ours.close()
            raise
        finally:
            if theirs:
                theirs.close()
        if self._proxy and ours:
            self._proxy.serve(ours)
        return box

    async def run(
        self, source: str, timeout: float, spare: int, report: Callable[[str], None]
    ) -> CodeOutcome:
        """Run a script. Where it does not end of itself, the process is ended."""
        assert self._supervisor is not None
        mark = f"\0{secrets.token_hex(16)}\0"
        printed = self._printed = Printed(mark.encode(), report, most=self._means.bounds.printed)
        await self._supervisor.let_go()
        doing = asyncio.ensure_future(self._exchange(source, mark))
        watching = asyncio.ensure_future(self._supervisor.watch(spare))
        counting = asyncio.ensure_future(printed.flooded.wait())
        waiting = {doing, watching, counting}
        try:
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                end = doing.result()
            elif watching.done():
                end = watching.result()
            elif counting.done():
                words = "It was ended because it printed without end."
                end = Breach(Ending.LIMIT, words)
            else:
                words = f"It was ended because it took longer than {timeout:g} seconds."
                end = Breach(Ending.TIMEOUT, words)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        if isinstance(end, Breach):
            await self.end()
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(printed.ended.wait(), TRAILING)
            await self._supervisor.hold()
        self._printed = None
        # Of much output, that takes too long for a loop.
        text = await asyncio.to_thread(printed.text)
        return _outcome(end, text, self._proxy)

    async def end(self) -> None:
        """End it, and all that it began; at any moment, and as often as one likes."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        if self._beginning:
            await asyncio.gather(self._beginning, return_exceptions=True)
        if self._supervisor:
            await self._supervisor.end(self._reading)
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._proxy:
            await self._proxy.close()

    def _box(self, descriptors: tuple[int, ...]) -> Box:
        means = self._means
        if means.python is None:
            raise UnavailableError(
                WITHOUT_PYTHON,
                hint=tr("Install it with pip to let it work with code."),
            )
        readable = [(INSIDE, KERNEL)]
        if means.library:
            readable.append((means.library, LIBRARY))
        if means.packages and means.packages.is_dir():
            readable.append((means.packages, PACKAGES))
        threads = str(min(THREADS, os.cpu_count() or 1))
        return Box(
            folder=self._folder,
            python=means.python,
            readable=tuple(readable),
            descriptors=descriptors,
            environment=(
                ("MPLBACKEND", "Agg"),
                ("PYTHONDONTWRITEBYTECODE", "1"),
                ("OMP_NUM_THREADS", threads),
                ("OPENBLAS_NUM_THREADS", threads),
            ),
            limits=means.limits,
        )

    def _argv(self, box: Box) -> tuple[str, ...]:
        place = self._means.launcher.inside(box, INSIDE)
        # Isolated, and without `site`: of this computer's Python only what belongs to Python.
        options = ("-I", "-S", "-B", "-u", "-X", "utf8")
        return str(box.python), *options, "-c", BOOT, place

    async def _greet(self, box: Box) -> None:
        assert self._process is not None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        greeting = Printed(b"\0\0", lambda text: None)
        self._printed = greeting
        self._reading = asyncio.ensure_future(self._read(stderr))
        inside, means = self._means.launcher.inside, self._means
        places = {place: inside(box, path) for path, place in box.readable}
        begun: dict[str, object] = {
            "folder": inside(box, self._folder),
            "library": [places[LIBRARY]] if LIBRARY in places else [],
            "packages": [places[PACKAGES]] if PACKAGES in places else [],
            "network": box.descriptors[0] if box.descriptors else None,
        }
        reason = "it gave no sign of life"
        with suppress(TimeoutError, GarbledError, OSError):
            stdin.write(packed(begun))
            async with asyncio.timeout(STARTING):
                if await next_message(stdout) == {"ready": True}:
                    self._printed = None
                    return
        await self.end()
        told = one_line(greeting.text(), limit=300) or reason
        raise ExpertError(
            tr(
                "The process for code could not be started in {name}: {told}.",
                name=means.launcher.name,
                told=told,
            ),
            retryable=True,
            fault=Fault.CRASH,
        )

    async def _read(self, source: asyncio.StreamReader) -> None:
        """Take what it prints; where no script runs, nobody is told."""
        while data := await source.read(1 << 16):
            if self._printed:
                self._printed.feed(data)

    async def _exchange(self, source: str, mark: str) -> Answer | Breach:
        assert self._process is not None
        assert self._supervisor is not None
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(packed({"source": source, "mark": mark}))
            await stdin.drain()
            message = await next_message(stdout)
            if message is not None:
                return answer_of(message, mark)
        except GarbledError:
            words = "It was ended because it wrote where only its own Python process may write."
            return Breach(Ending.CRASHED, words)
        except OSError:
            pass  # how it ended says more
        return await self._supervisor.ended()


def _outcome(end: Answer | Breach, printed: str, proxy: Proxy | None) -> CodeOutcome:
    refused = proxy.refused() if proxy else ()
    if isinstance(end, Breach):
        return CodeOutcome(end.ending, printed, error=end.words, refused_hosts=refused)
    return CodeOutcome(
        end.ending,
        printed,
        end.value,
        end.error,
        end.missing,
        refused_hosts=refused,
    )
