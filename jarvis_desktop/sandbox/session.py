"""A Python session in the sandbox, which keeps its variables from script to script."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.code import (
    CallExpert,
    CodeOutcome,
    CodeSession,
    Ending,
    Protection,
    Script,
)
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
from jarvis_desktop.sandbox.expert_calls import CallLimits, ExpertCalls
from jarvis_desktop.sandbox.packages import shipped_packages
from jarvis_desktop.sandbox.profile import Launcher, ProcessLimits, SandboxProfile
from jarvis_desktop.sandbox.proxy import CheckAddress, Proxy, Resolve, TrafficLimits
from jarvis_desktop.sandbox.results import (
    CollectionLimits,
    FileStamps,
    ProtocolError,
    ScriptAnswer,
    ScriptOutput,
    collect_files,
    copy_in,
    next_message,
    pack_message,
    parse_answer,
    remove_new_files,
    stamp_files,
)
from jarvis_desktop.sandbox.self_test import Unsandboxed
from jarvis_desktop.sandbox.supervisor import ProcessEnd, SessionLimits, Supervisor

INSIDE = Path(__file__).parent / "inside"  # the code that runs in the sandbox beside a script
KERNEL, LIBRARY, PACKAGES = "/jarvis/inside", "/jarvis/library", "/jarvis/packages"
"""Paths inside of that code, the code library and the packages."""
SHIPPED = "/jarvis/shipped"
"""The folder inside of the application's own packages that scripts may use."""
MODULES = "modules"
"""The folder in INSIDE of what scripts can import: `jarvis`."""

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
"""Loads it as a package, without adding its folder to the script's import path."""

WITHOUT_PYTHON = "This application was built without a Python that could run code."
START_TIMEOUT_S = 60.0  # for an interpreter to start: a computer may be busy, and a disk may sleep
OUTPUT_TIMEOUT_S = 2.0  # for printed output to arrive after the script has ended
MAX_THREADS = 8  # of a numerical library; more cost address space and gain little


@dataclass(frozen=True, slots=True)
class SessionDependencies:
    """What a session is made of, besides its folder."""

    launcher: Launcher
    python: Path | None  # none in an application built without one
    files: Mapping[str, Path] = field(default_factory=dict)
    library: Path | None = None
    packages: Path | None = None  # the folder of installed packages
    proxy: Callable[[], Proxy] | None = None  # creates the proxy; None for no network
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    bounds: SessionLimits = field(default_factory=SessionLimits)
    take: CollectionLimits = field(default_factory=CollectionLimits)
    calls: CallLimits = field(default_factory=CallLimits)


class TimeLimit:
    """The time of a script. It stands still while an expert works."""

    def __init__(self, seconds: float) -> None:
        self.passed = asyncio.Event()
        self._left = seconds
        self._go_on()

    def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        self._end = loop.call_later(self._left, self.passed.set)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts, no time passes."""
        self.cancel()
        self._left -= asyncio.get_running_loop().time() - self._since
        try:
            yield
        finally:
            self._go_on()

    def cancel(self) -> None:
        """Do not wait for its end any more."""
        self._end.cancel()


class Kernel:
    """The process of a session: gets one script after the other and returns their outcomes."""

    def __init__(self, folder: Path, dependencies: SessionDependencies) -> None:
        self._folder = folder
        self._dependencies = dependencies
        self._beginning: asyncio.Task[SandboxProfile] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._supervisor: Supervisor | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._proxy = (
            dependencies.proxy() if dependencies.proxy and hasattr(socket, "AF_UNIX") else None
        )
        self._reading: asyncio.Task[None] | None = None
        self._printed: ScriptOutput | None = None

    @property
    def alive(self) -> bool:
        """Whether it can run a script."""
        return bool(self._supervisor and self._supervisor.alive and not self._ending)

    async def start(self) -> None:
        """Start it. Raises UnavailableError without a sandbox, and ExpertError. Call `end` even if
        this is cancelled."""
        self._beginning = asyncio.ensure_future(self._begin())
        # If cancelled halfway, asyncio may wait forever and leave descriptors open.
        await self._greet(await asyncio.shield(self._beginning))

    async def _begin(self) -> SandboxProfile:
        ours = theirs = None
        if self._proxy:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            profile = self._profile((theirs.fileno(),) if theirs else ())
            command = self._dependencies.launcher.command
            launch = await asyncio.to_thread(command, profile, self._argv(profile))
            self._supervisor = Supervisor(launch, self._dependencies.bounds)
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
        return profile

    async def run(
        self,
        source: str,
        timeout: float,
        spare: int,
        report: Callable[[str], None],
        calls: ExpertCalls,
    ) -> CodeOutcome:
        """Run a script; the process is ended if the script exceeds a limit."""
        assert self._supervisor is not None
        mark = f"\0{secrets.token_hex(16)}\0"
        printed = self._printed = ScriptOutput(
            mark.encode(), report, most=self._dependencies.bounds.printed
        )
        await self._supervisor.resume()
        limit = TimeLimit(timeout)
        doing = asyncio.ensure_future(self._exchange(source, mark, calls, limit))
        watching = asyncio.ensure_future(self._supervisor.watch(spare))
        counting = asyncio.ensure_future(printed.flooded.wait())
        timing = asyncio.ensure_future(limit.passed.wait())
        waiting = {doing, watching, counting, timing}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                end = doing.result()
            elif watching.done():
                end = watching.result()
            elif counting.done():
                end = ProcessEnd.because("it printed without end")
            else:
                words = f"it took longer than {timeout:g} seconds"
                end = ProcessEnd.because(words, Ending.TIMEOUT)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            limit.cancel()
        if isinstance(end, ProcessEnd):
            await self.end()
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(printed.ended.wait(), OUTPUT_TIMEOUT_S)
            await self._supervisor.pause()
        self._printed = None
        # This takes too long for a loop if there is much output.
        text = await asyncio.to_thread(printed.text)
        return _outcome(end, text, self._proxy)

    async def end(self) -> None:
        """End it and all its descendants; at any time, and as often as needed."""
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

    def _profile(self, descriptors: tuple[int, ...]) -> SandboxProfile:
        dependencies = self._dependencies
        if dependencies.python is None:
            raise UnavailableError(
                WITHOUT_PYTHON, hint=tr("Install it with pip to let it work with code.")
            )
        readable = [(INSIDE, KERNEL)]
        if dependencies.library:
            readable.append((dependencies.library, LIBRARY))
        if dependencies.packages and dependencies.packages.is_dir():
            readable.append((dependencies.packages, PACKAGES))
        readable += [(path, f"{SHIPPED}/{path.name}") for path in shipped_packages()]
        threads = str(min(MAX_THREADS, os.cpu_count() or 1))
        return SandboxProfile(
            folder=self._folder,
            python=dependencies.python,
            readable=tuple(readable),
            descriptors=descriptors,
            environment=(
                ("MPLBACKEND", "Agg"),
                ("PYTHONDONTWRITEBYTECODE", "1"),
                ("OMP_NUM_THREADS", threads),
                ("OPENBLAS_NUM_THREADS", threads),
            ),
            limits=dependencies.limits,
        )

    def _argv(self, profile: SandboxProfile) -> tuple[str, ...]:
        place = self._dependencies.launcher.inside(profile, INSIDE)
        # Isolated and without `site`: only the standard library of this computer's Python.
        options = ("-I", "-S", "-B", "-u", "-X", "utf8")
        return str(profile.python), *options, "-c", BOOT, place

    async def _greet(self, profile: SandboxProfile) -> None:
        assert self._process is not None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        greeting = ScriptOutput(b"\0\0", lambda text: None)
        self._printed = greeting
        self._reading = asyncio.ensure_future(self._read(stderr))
        inside, dependencies = self._dependencies.launcher.inside, self._dependencies
        places = {place: inside(profile, path) for path, place in profile.readable}
        begun: dict[str, object] = {
            "folder": inside(profile, self._folder),
            "library": [places[LIBRARY]] if LIBRARY in places else [],
            "modules": f"{places[KERNEL]}/{MODULES}",
            "packages": [places[PACKAGES]] if PACKAGES in places else [],
            "shipped": {
                Path(place).name: where
                for place, where in places.items()
                if place.startswith(f"{SHIPPED}/")
            },
            "network": profile.descriptors[0] if profile.descriptors else None,
        }
        reason = "it gave no sign of life"
        with suppress(TimeoutError, ProtocolError, OSError):
            stdin.write(pack_message(begun))
            async with asyncio.timeout(START_TIMEOUT_S):
                if await next_message(stdout) == {"ready": True}:
                    self._printed = None
                    return
        await self.end()
        told = one_line(greeting.text(), limit=300) or reason
        raise ExpertError(
            tr(
                "The process for code could not be started in {name}: {told}.",
                name=dependencies.launcher.name,
                told=told,
            ),
            retryable=True,
            fault=Fault.CRASH,
        )

    async def _read(self, source: asyncio.StreamReader) -> None:
        """Read its output; discard it if no script runs."""
        while data := await source.read(1 << 16):
            if self._printed:
                self._printed.feed(data)

    async def _exchange(
        self, source: str, mark: str, calls: ExpertCalls, limit: TimeLimit
    ) -> ScriptAnswer | ProcessEnd:
        assert self._process is not None
        assert self._supervisor is not None
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(pack_message({"source": source, "mark": mark}))
            await stdin.drain()
            while (message := await next_message(stdout)) is not None:
                if "call" not in message:
                    return parse_answer(message, mark)
                with limit.held():
                    result = await self._call(message, mark, calls)
                stdin.write(pack_message(result))
                await stdin.drain()
        except ProtocolError:
            words = "it wrote where only its own Python process may write"
            return ProcessEnd.because(words, Ending.CRASHED)
        except OSError:
            pass  # its exit code says more
        return await self._supervisor.ended()

    async def _call(
        self, message: dict[str, object], mark: str, calls: ExpertCalls
    ) -> dict[str, object]:
        """Have experts do what a script asks for. Until then its processes are stopped, because
        their time does not count."""
        assert self._supervisor is not None
        await self._supervisor.pause()
        try:
            return await calls.answer(message, mark)
        finally:
            await self._supervisor.resume()


def _outcome(end: ScriptAnswer | ProcessEnd, printed: str, proxy: Proxy | None) -> CodeOutcome:
    refused = proxy.refused() if proxy else ()
    if isinstance(end, ProcessEnd):
        return CodeOutcome(end.ending, printed, error=end.words, refused_hosts=refused)
    return CodeOutcome(
        end.ending, printed, end.value, end.error, end.missing, refused_hosts=refused
    )


class SandboxSession:
    """Implements CodeSession."""

    def __init__(self, folder: Path, dependencies: SessionDependencies) -> None:
        """`folder` is where scripts work; it is created when the first one runs."""
        self._folder = folder
        self._dependencies = dependencies
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
        call: CallExpert | None = None,
    ) -> CodeOutcome:
        """See CodeSession."""
        sent = script.source.encode("utf-8", "replace")
        if hashlib.sha256(sent).hexdigest() != approved:
            raise InputError(tr("This is not the code that was approved, so it was not run."))
        calls = ExpertCalls(call, self._folder, to, self._dependencies.calls)
        doing = asyncio.ensure_future(self._run(sent.decode(), to, timeout, report, calls))
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
        self,
        source: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
        calls: ExpertCalls,
    ) -> CodeOutcome:
        async with self._lock:
            await asyncio.to_thread(self._give)
            before = await asyncio.to_thread(stamp_files, self._folder)
            try:
                fresh = self._kernel is None or not self._kernel.alive
                kernel = await self._begun() if fresh else self._kernel
                assert kernel is not None
                began = time.monotonic()
                outcome = await kernel.run(source, timeout, self._spare(), report, calls)
                seconds = time.monotonic() - began
            except BaseException:
                await self._end()
                raise
            if not kernel.alive or not self._dependencies.launcher.sandboxed:
                await self._end()
            taken = await asyncio.to_thread(
                collect_files, self._folder, before, to, self._dependencies.take
            )
            if outcome.ending is Ending.LIMIT:
                await asyncio.to_thread(self._take_back, before)
        return replace(
            outcome, made=taken.made, left_out=taken.left_out, fresh=fresh, seconds=seconds
        )

    async def _begun(self) -> Kernel:
        await self._end()
        kernel = self._kernel = Kernel(self._folder, self._dependencies)
        await kernel.start()
        return kernel

    async def _end(self) -> None:
        kernel, self._kernel = self._kernel, None
        if kernel:
            await kernel.end()

    def _give(self) -> None:
        """Copy in the given files that are new or have changed."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._folder.is_symlink():  # it would give access to the link's target
                raise NotADirectoryError(errno.ENOTDIR, "It is a link")
            self._folder.chmod(0o700)  # a script may have changed it
            if self._dependencies.packages:  # a running process finds packages installed later
                self._dependencies.packages.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                tr("The code's folder cannot be created: {strerror}.", strerror=error.strerror),
                hint=tr("Make sure that the disk has room and is writable."),
            ) from error
        for name, source in self._dependencies.files.items():
            mark = (0, 0, 0)
            with suppress(OSError):  # copying it raises the reason
                status = source.lstat()
                mark = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._given.get(name) != mark:
                copy_in(source, self._folder, name)
                self._given[name] = mark

    def _take_back(self, before: FileStamps) -> None:
        """Remove the files of a script that exceeded a limit: they would end the next one too."""
        remove_new_files(self._folder, before)
        # Given files that are now missing are copied in again.
        there = stamp_files(self._folder)
        self._given = {
            name: mark for name, mark in self._given.items() if PurePosixPath(name) in there
        }

    def _spare(self) -> int:
        """Bytes in the folder that do not count: those of the given files."""
        return sum(mark[1] for mark in self._given.values())


@dataclass(kw_only=True, eq=False)
class OsSandbox:
    """Implements Sandbox with what the operating system offers."""

    packages: Path  # the folder of installed packages
    find: Resolve
    check: CheckAddress
    network: Callable[[], bool] = lambda: True  # while it returns False, no host can be reached
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    bounds: SessionLimits = field(default_factory=SessionLimits)
    take: CollectionLimits = field(default_factory=CollectionLimits)
    traffic: TrafficLimits = field(default_factory=TrafficLimits)
    launchers: tuple[Launcher, ...] = field(default_factory=self_test.launchers)
    choose: Callable[[Path, tuple[Launcher, ...]], Protection] = self_test.choose
    """Returns the best of the launchers, or "none", by trying them with an interpreter, which takes
    time."""
    _chosen: asyncio.Future[Protection] | None = field(default=None, init=False)

    async def protection(self) -> Protection:
        """See Sandbox."""
        python = interpreter()
        if python is None:
            return Protection("none", False, WITHOUT_PYTHON)
        if self._chosen is None:
            trial = asyncio.to_thread(self.choose, python, self.launchers)
            self._chosen = asyncio.ensure_future(trial)
        # A waiting caller may be cancelled; the trial continues for the next one.
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
            find, check = self.find, self.check
            return Proxy(named, find=find, check=check, network=self.network, traffic=self.traffic)

        dependencies = SessionDependencies(
            launcher=self._launcher(protection),
            python=interpreter(),
            files=files,  # files added later are copied in as well
            library=library,
            packages=self.packages,
            proxy=proxy,
            limits=self.limits,
            bounds=self.bounds,
            take=self.take,
        )
        return SandboxSession(folder, dependencies)

    def _launcher(self, protection: Protection) -> Launcher:
        """The chosen launcher, never a weaker one; none only if none was asked for."""
        if not protection.sandboxed:
            return Unsandboxed()
        for launcher in self.launchers:
            if launcher.name == protection.name:
                return launcher
        raise UnavailableError(
            tr("The sandbox {name} is not available.", name=protection.name),
            hint=tr("Restart the application."),
        )


def interpreter() -> Path | None:
    """The Python behind this one, without its packages; None in a frozen application."""
    if getattr(sys, "frozen", False):
        return None
    return Path(getattr(sys, "_base_executable", None) or sys.executable)
