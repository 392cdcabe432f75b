"""Engines: torch and what else runs experts, a separate folder for each version.

A folder counts as an engine once it has its marker, which is written after a process has computed
with it; only then the older ones are removed. Until then everything is in a folder of another name,
from which an interrupted installation resumes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.downloads import DownloadReport
from jarvis_desktop.experts.engine_worker import EnginePlan, read_pins
from jarvis_desktop.experts.weights import (
    MIN_BYTES_PER_S,
    PARTIAL_SUFFIX,
    folder_bytes,
    lock_folder,
)
from jarvis_desktop.paths import replace_text
from jarvis_desktop.platform.hardware_probe import free_disk_bytes, nvidia_driver
from jarvis_desktop.process.child import Child

MARKER = "engine.json"
WORKER = "jarvis_desktop.experts.engine_worker:serve"
CHECK = "jarvis_desktop.process.engine:serve_check"
CHECK_TIMEOUT_S = 300.0
"""For libraries that were never read before, from a slow disk."""
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
CUDA_13, CUDA_12 = 580, 525
"""The oldest drivers of NVIDIA that these versions of CUDA run with."""
AMD = Path("/dev/kfd")
"""Of the driver for cards of AMD."""
SIZES = {"cpu": 300, "cu": 2900, "rocm": 4500, "darwin": 200, "win32": 230, "linux": 2900}
"""About how large a download is, in MB, by build or, for that of the usual index, by system."""


def torch_build() -> str:
    """Return the build of torch for this computer, as uv calls it; "" for that of the usual index.

    It asks the driver of the graphics card: do not call it on an event loop.
    """
    if sys.platform == "darwin":
        return ""
    linux, driver = sys.platform == "linux", nvidia_driver()
    if driver >= CUDA_13:
        return "" if linux else "cu130"
    if driver >= CUDA_12:
        return "cu126"
    if linux:
        return "rocm7.2" if AMD.exists() else "cpu"
    return ""


@dataclass(frozen=True, slots=True)
class InstalledEngine:
    """An engine on the disk."""

    name: str
    torch: str
    """Its version, such as 2.13.0+cpu."""
    python: str
    """The Python that it is for, such as cp311."""
    size: int
    """In bytes."""
    path: Path

    @property
    def usable(self) -> bool:
        """Whether it is for the Python that runs now."""
        return self.python == PYTHON


class Engines:
    """The folder of engines.

    `build` returns the build of torch for this computer, see `torch_build`; it may ask the driver.
    `busy` says whether experts are at work. `patience` is the timeout of requests in seconds,
    `reserve` the bytes that stay free on the disk.
    """

    def __init__(
        self,
        root: Path,
        requirements: Path,
        *,
        build: Callable[[], str],
        busy: Callable[[], bool] = lambda: False,
        patience: float = 10.0,
        reserve: int = 500 * MB,
    ) -> None:
        self._root = root
        self._requirements = requirements
        self._build = cache(build)
        self._busy = busy
        self._patience = patience
        self._reserve = reserve
        self._lock = asyncio.Lock()
        self._coming = 0

    @cached_property
    def newest(self) -> str:
        """The name of the engine that this version of the application is made for."""
        text = self._requirements.read_text("utf-8")
        version = read_pins(text)["torch"].line.partition("==")[2]
        return f"{version}-{PYTHON}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def installed(self) -> tuple[InstalledEngine, ...]:
        """Return the engines, the one in use first."""
        try:
            folders = [path for path in self._root.iterdir() if path.suffix != PARTIAL_SUFFIX]
        except OSError:  # missing or unreadable
            return ()
        found = [each for path in folders if (each := _read(path))]
        return tuple(sorted(found, key=lambda each: (not each.usable, each.name != self.newest)))

    def used(self) -> InstalledEngine | None:
        """Return the engine in use: the newest, or while that is missing an older one."""
        return next((each for each in self.installed() if each.usable), None)

    def folder(self) -> Path | None:
        """Return the folder of the engine in use; None if there is none."""
        return used.path if (used := self.used()) else None

    def offer(self) -> Expert:
        """Return what is downloaded, as an entry that a question can name, with its size."""
        summary = mark("The library that runs experts on this computer.")
        return Expert("torch", "", summary, download_mb=self.download_mb, licence="BSD-3-Clause")

    @property
    def download_mb(self) -> int:
        """About how large the download for this computer is. The first call may ask the driver."""
        return SIZES.get(self._build().rstrip("0123456789.") or sys.platform, SIZES["cpu"])

    async def fetch(self, name: str, report: DownloadReport) -> None:
        """Download and install it. Raises JarvisError; cancelling keeps what arrived."""
        await self.install(
            lambda fraction, words: report(fraction if self._coming else None, self._coming)
        )

    async def measure(self, name: str) -> tuple[int, int]:
        """Return its listed size and what has arrived, in bytes."""
        size = await asyncio.to_thread(lambda: self.download_mb) * MB
        return size, await asyncio.to_thread(folder_bytes, self._partial / "wheels")

    async def free(self) -> int:
        """Return what is free on its disk, in bytes."""
        return await asyncio.to_thread(free_disk_bytes, self._root)

    async def drop(self, name: str) -> None:
        """Delete what arrived. Raises JarvisError."""

        def delete() -> None:
            with lock_folder(self._partial, "torch"):
                _delete(self._partial)

        await asyncio.to_thread(delete)

    async def install(
        self, report: Report, *, source: Path | None = None, build: str | None = None
    ) -> InstalledEngine:
        """Install the newest engine, from the network or a folder with wheels, and check it.

        Then the others for this Python are removed. Raises JarvisError; until it is done, the
        engine that was there stays in use.
        """
        async with self._lock:
            name, partial = self.newest, self._partial
            if build is None:
                build = await asyncio.to_thread(self._build)
            plan = EnginePlan(
                partial, self._requirements, build, source, self._patience, self._reserve
            )
            child = Child(WORKER, plan, name="installation of torch", network=source is None)
            try:
                report(None, tr("asking what there is"))
                size = await child.call("resolve", timeout=self._patience + 150)
                self._coming = size
                time = 600 + size / MIN_BYTES_PER_S
                await child.call("fetch", timeout=time, report=report)
                report(None, tr("unpacking"))
                site: Path = await child.call("unpack", timeout=2000)
                report(None, tr("checking that it works"))
                torch = await self.check(site)
                # While the child holds the lock of the folder.
                return await asyncio.to_thread(self._settle, site, name, torch)
            finally:
                self._coming = 0
                await child.close()

    async def check(self, folder: Path | None) -> str:
        """Compute with an engine, or without one with what is in the environment.

        Returns the version of torch. Raises ExpertError.
        """
        child = Child(CHECK, name="check of torch", libraries=lambda: folder)
        try:
            return str(await child.call(timeout=CHECK_TIMEOUT_S))
        finally:
            await child.close()

    def remove(self, name: str) -> int:
        """Delete an engine, and return how many bytes that freed. Raises InputError."""
        found = next((each for each in self.installed() if each.name == name), None)
        if found is None:
            raise InputError(
                tr("There is no engine {name}.", name=name),
                hint=tr("See them with: jarvis-desktop engine list."),
            )
        if found.path == self.folder() and self._busy():
            raise InputError(
                tr("Experts are at work with it."), hint=tr("Try again when they are done.")
            )
        _delete(found.path)
        return found.size

    @property
    def _partial(self) -> Path:
        return self._root / f"{self.newest}{PARTIAL_SUFFIX}"

    def _settle(self, site: Path, name: str, torch: str) -> InstalledEngine:
        try:
            record = {"torch": torch, "python": PYTHON, "size": folder_bytes(site)}
            replace_text(site / MARKER, json.dumps(record), durable=True)
            target = self._root / name
            _delete(target)
            site.replace(target)
        except OSError as error:
            raise StorageError(
                tr("torch could not be saved: {reason}.", reason=(error.strerror or "").lower()),
                hint=tr("Make sure that the disk has room and the folder is writable."),
            ) from error
        with suppress(StorageError):
            _delete(self._root / f"{name}{PARTIAL_SUFFIX}")
        self.sweep()
        found = _read(target)
        assert found
        return found

    def sweep(self) -> None:
        """Remove the engines for this Python that the newest one has replaced."""
        mine = [each for each in self.installed() if each.usable]
        if self._busy() or not mine or mine[0].name != self.newest:
            return
        for other in mine[1:]:
            with suppress(StorageError):
                _delete(other.path)


def _read(folder: Path) -> InstalledEngine | None:
    try:
        marker = json.loads((folder / MARKER).read_text("utf-8"))
        return InstalledEngine(
            folder.name, str(marker["torch"]), str(marker["python"]), int(marker["size"]), folder
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _delete(folder: Path) -> None:
    """Delete a folder, its marker first, so that what is left of it is not an engine."""
    try:
        (folder / MARKER).unlink(missing_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise StorageError(
            tr(
                "{name} could not be removed: {reason}.",
                name=folder.name,
                reason=(error.strerror or "unknown reason").lower(),
            )
        ) from error
