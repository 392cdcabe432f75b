"""A Python in a sandbox that keeps its variables from script to script.

Chooses what shuts code in on this computer, and begins sessions in it.

Starts the process that scripts run in, hands it one after the other, and takes its answers."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.code import CodeOutcome, CodeSession, Ending, Protection, Script
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import (
    ExpertError,
    Fault,
    InputError,
    StorageError,
    UnavailableError,
)
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox import self_test
from jarvis_desktop.sandbox.profile import Launcher, ProcessLimits, SandboxProfile
from jarvis_desktop.sandbox.proxy import Check, Find, Proxy, Traffic
from jarvis_desktop.sandbox.results import (
    GarbledError,
    Marks,
    Printed,
    ScriptAnswer,
    Take,
    answer_of,
    marks,
    next_message,
    packed,
    put_in,
    take_back,
    take_out,
)
from jarvis_desktop.sandbox.supervisor import Bounds, Breach, Supervisor
from jarvis_desktop.sandbox.unsandboxed import Bare

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
class SessionDependencies:
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
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    bounds: Bounds = field(default_factory=Bounds)
    take: Take = field(default_factory=Take)


class Kernel:
    """The process of a session."""

    def __init__(self, folder: Path, means: SessionDependencies) -> None:
        self._folder = folder
        self._means = means
        self._beginning: asyncio.Task[SandboxProfile] | None = None
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

    async def _begin(self) -> SandboxProfile:
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

    def _box(self, descriptors: tuple[int, ...]) -> SandboxProfile:
        means = self._means
        if means.python is None:
            raise UnavailableError(
                WITHOUT_PYTHON, hint=tr("Install it with pip to let it work with code.")
            )
        readable = [(INSIDE, KERNEL)]
        if means.library:
            readable.append((means.library, LIBRARY))
        if means.packages and means.packages.is_dir():
            readable.append((means.packages, PACKAGES))
        threads = str(min(THREADS, os.cpu_count() or 1))
        return SandboxProfile(
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

    def _argv(self, box: SandboxProfile) -> tuple[str, ...]:
        place = self._means.launcher.inside(box, INSIDE)
        # Isolated, and without `site`: of this computer's Python only what belongs to Python.
        options = ("-I", "-S", "-B", "-u", "-X", "utf8")
        return str(box.python), *options, "-c", BOOT, place

    async def _greet(self, box: SandboxProfile) -> None:
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

    async def _exchange(self, source: str, mark: str) -> ScriptAnswer | Breach:
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


def _outcome(end: ScriptAnswer | Breach, printed: str, proxy: Proxy | None) -> CodeOutcome:
    refused = proxy.refused() if proxy else ()
    if isinstance(end, Breach):
        return CodeOutcome(end.ending, printed, error=end.words, refused_hosts=refused)
    return CodeOutcome(
        end.ending, printed, end.value, end.error, end.missing, refused_hosts=refused
    )


__all__ = ["SandboxSession", "SessionDependencies"]


class SandboxSession:
    """Implements CodeSession."""

    def __init__(self, folder: Path, means: SessionDependencies) -> None:
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
            raise InputError(tr("This is not the code that was approved, so it was not run."))
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
                tr("The code's folder cannot be created: {strerror}.", strerror=error.strerror),
                hint=tr("Make sure that the disk has room and is writable."),
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


class OsSandbox:
    """Implements Sandbox with what the operating system offers."""

    def __init__(
        self,
        *,
        packages: Path,
        find: Find,
        check: Check,
        network: Callable[[], bool] = lambda: True,
        limits: ProcessLimits | None = None,
        bounds: Bounds | None = None,
        take: Take | None = None,
        traffic: Traffic | None = None,
        launchers: Sequence[Launcher] | None = None,
        choose: Callable[[Path, tuple[Launcher, ...]], Protection] = self_test.choose,
    ) -> None:
        """`packages` is the folder of installed packages. `find` gives the addresses of a host,
        `check` the one of them to connect to, or refuses. Where `network` says no, no host is
        reached, whatever a session names. `choose` tells the best of the `launchers` by trying them
        with an interpreter, which takes time; where none works, "none"."""
        self._launchers = tuple(self_test.launchers() if launchers is None else launchers)
        self._packages = packages
        self._find = find
        self._check = check
        self._network = network
        self._limits = limits or ProcessLimits()
        self._bounds = bounds or Bounds()
        self._take = take or Take()
        self._traffic = traffic or Traffic()
        self._choose = choose
        self._chosen: asyncio.Future[Protection] | None = None

    async def protection(self) -> Protection:
        """See Sandbox."""
        python = interpreter()
        if python is None:
            return Protection("none", False, WITHOUT_PYTHON)
        if self._chosen is None:
            trial = asyncio.to_thread(self._choose, python, self._launchers)
            self._chosen = asyncio.ensure_future(trial)
        # Whoever waits may be cancelled; the trial goes on for the next one.
        return await asyncio.shield(self._chosen)

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> CodeSession:
        """See Sandbox."""
        named = tuple(hosts)

        def proxy() -> Proxy:
            return Proxy(
                named,
                find=self._find,
                check=self._check,
                network=self._network,
                traffic=self._traffic,
            )

        means = SessionDependencies(
            launcher=self._launcher(protection),
            python=interpreter(),
            files=files,  # what is added to it later is copied in as well
            library=library,
            packages=self._packages,
            proxy=proxy,
            limits=self._limits,
            bounds=self._bounds,
            take=self._take,
        )
        return SandboxSession(folder, means)

    def _launcher(self, protection: Protection) -> Launcher:
        """What was chosen, and nothing less. Only who asks for none gets none."""
        if not protection.sandboxed:
            return Bare()
        for launcher in self._launchers:
            if launcher.name == protection.name:
                return launcher
        raise UnavailableError(
            tr("The sandbox {name} is not available.", name=protection.name),
            hint=tr("Restart the application."),
        )


def interpreter() -> Path | None:
    """The Python that this one was made from, without its packages; None in a built application,
    which has none that could be started."""
    if getattr(sys, "frozen", False):
        return None
    return Path(getattr(sys, "_base_executable", None) or sys.executable)
