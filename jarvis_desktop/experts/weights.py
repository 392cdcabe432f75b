"""The weights on this computer: what is there, fetching more, taking them from a folder.

A folder counts as installed only once its marker is there, which is written last; everything
before that lies in a folder of another name, from which an interrupted fetch goes on.

Keeps the experts on the disk within a budget: fetches that were given up go first, then the
expert not used for longest.

One fetch of an expert at a time, whichever window or terminal it was begun in."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import MARKER


@dataclass(frozen=True, slots=True)
class InstalledWeights:
    """One expert's weights on the disk."""

    id: str
    repo: str
    revision: str
    size: int
    """In bytes."""
    path: Path
    used: float = 0.0
    """When it was last used, or fetched, in seconds since 1970."""
    whole: bool = True
    """Whether it is there; else this is what arrived before its fetch was given up."""


def displaced(
    name: str,
    size: int,
    *,
    installed: Sequence[InstalledWeights],
    taken: int,
    budget: int,
    spared: Collection[str] = (),
) -> tuple[InstalledWeights, ...]:
    """Which experts must go so that `size` bytes more stay within `budget`; 0 is no limit.

    `taken` is what all of them take now, with what was fetched in part; those of `spared` stay.
    Raises UnavailableError where the rest of them would not make room enough.
    """
    over = taken + size - budget
    if not budget or over <= 0:
        return ()
    gone: list[InstalledWeights] = []
    for item in sorted(installed, key=lambda item: (item.whole, item.used)):
        if over <= 0:
            break
        if item.id not in spared:
            gone.append(item)
            over -= item.size
    if over > 0:
        left = taken - sum(item.size for item in gone)
        stays = f", of which {readable_size(left / MB)} must stay" if left > 0 else ""
        raise UnavailableError(
            tr(
                "{name} takes {size}, and experts may take {budget} of the disk in all{stays}.",
                name=name,
                size=readable_size(size / MB),
                budget=readable_size(budget / MB),
                stays=stays,
            ),
            hint=tr(
                "Raise disk_budget_gb under [experts] in settings.toml, or remove one "
                "yourself: jarvis-desktop experts remove NAME."
            ),
        )
    return tuple(gone)


def alone(folder: Path, name: str) -> AbstractContextManager[object]:
    """Hold the folder that an expert is fetched into, from now on and until the context ends.

    A process that ends lets go of it. Raises UnavailableError where somebody holds it already.
    """
    from filelock import FileLock, Timeout

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder.with_suffix(".lock"), timeout=0, thread_local=False).acquire()
    except Timeout as error:
        raise UnavailableError(
            tr("{name} is being fetched already.", name=name), hint=tr("Wait until it is done.")
        ) from error


def is_held(folder: Path) -> bool:
    """Whether somebody fetches into the folder, or that cannot be told."""
    try:
        with alone(folder, folder.stem):
            return False
    except (UnavailableError, OSError, NotImplementedError):
        return True


PARTIAL = ".part"
SLOWEST = 20_000
"""Bytes per second; a fetch that is slower on the whole is given up (and can be gone on with)."""

FETCHING = "jarvis_desktop.experts.download_worker:serve"


class Weights:
    """The folder of fetched experts, one sub-folder each.

    `endpoint` is the address of the Hub, None for its usual one. `patience` is how many seconds a
    silent server is waited for, `reserve` how many bytes of the disk a fetch leaves free, and
    `budget` how many all experts may take; 0 is no limit. `busy` names those that are at work.
    `key` gives the key of the Hub, "" for none, which experts behind terms are fetched with.
    """

    def __init__(
        self,
        root: Path,
        *,
        endpoint: str | None = None,
        patience: float = 10.0,
        reserve: int = 500 * MB,
        budget: int = 0,
        busy: Callable[[], Collection[str]] = tuple,
        key: Callable[[], str] = str,
    ) -> None:
        self._root = root
        self._endpoint = endpoint
        self._patience = patience
        self._reserve = reserve
        self.budget = budget
        """In bytes; may be set anew."""
        self._busy = busy
        self._key = key
        self._locks: dict[str, asyncio.Lock] = {}
        self._spared: Counter[str] = Counter()
        self._coming: dict[str, int] = {}
        """What is being fetched now, and how many bytes each will take."""

    def installed(self) -> tuple[InstalledWeights, ...]:
        """What is on the disk, whole, by name."""
        try:
            folders = sorted(path for path in self._root.iterdir() if path.suffix != PARTIAL)
        except OSError:  # not there yet, or not to be read: nothing that could be used
            return ()
        return tuple(found for path in folders if (found := _read(path)))

    def folder(self, expert: Expert) -> Path | None:
        """Where an expert's files are; None where it, or its base, is not installed or whole."""
        if expert.base and self.folder(expert.base) is None:
            return None
        found = _read(self._root / expert.id)
        return found.path if found else None

    def used(self, expert: Expert) -> None:
        """Note that an expert is used now: what is not used for long is deleted first."""
        for item in _both(expert):
            with suppress(OSError):
                os.utime(self._root / item.id / MARKER)

    def missing(self, expert: Expert) -> tuple[Expert, ...]:
        """What must be fetched for an expert to work: its base first."""
        return tuple(each for each in _both(expert) if _read(self._root / each.id) is None)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> tuple[str, ...]:
        """Which experts a fetch would delete to stay within the budget, by its listed size.

        What is left of fetches that were given up goes before them, and is not among them. Raises
        UnavailableError where all that would not be enough; none of those `spared` goes.
        """
        size = sum(each.download_mb for each in self.missing(expert)) * MB
        stay = {*spared, *self._spared, *self._busy(), *(each.id for each in _both(expert))}
        return tuple(item.id for item in self._in_the_way(expert, size, stay) if item.whole)

    def partial(self, expert: Expert) -> int:
        """How many bytes of an interrupted fetch are kept to go on from."""
        return _size(self._partial(expert))

    @property
    def at_work(self) -> Collection[str]:
        """The experts that must stay on the disk now."""
        return self._busy()

    def coming(self, expert: Expert) -> int:
        """How many bytes the fetch that is under way will have brought; 0 while that is unknown."""
        return self._coming.get(expert.id, 0)

    @contextmanager
    def sparing(self, names: Collection[str]) -> Iterator[None]:
        """Meanwhile none of these is deleted to make room for another one."""
        names = frozenset(names)
        self._spared.update(names)
        try:
            yield
        finally:
            self._spared -= Counter(names)

    def taken(self) -> int:
        """How many bytes all experts take, with what was fetched in part."""
        return _size(self._root)

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Fetch an expert, going on where an earlier fetch stopped; its folder.

        To make room for it none of those `spared` is deleted. Cancelling stops it and keeps what
        arrived. Raises UnavailableError with the reason, such
        as no network, no such repository, no permission, or too little room on the disk, and
        StorageError where the disk refuses what arrived.
        """
        for item in self.missing(expert):
            await self._fetch(item, report, {*spared, *(each.id for each in _both(expert))})
        if folder := self.folder(expert):
            return folder
        raise StorageError(
            tr("{name} was fetched, but is not whole on the disk any more.", name=expert.id),
            hint=tr("See that no other program changes its files, and try again."),
            retryable=True,
        )

    async def _fetch(self, expert: Expert, report: Report, spared: Collection[str]) -> None:
        async with self._locks.setdefault(expert.id, asyncio.Lock()):
            if _read(self._root / expert.id):
                return
            if _read(self._partial(expert)):  # only the last step was cut off
                await asyncio.to_thread(self._settle, expert)
                return
            with _keeping(expert):
                self._root.mkdir(parents=True, exist_ok=True)
            child = self._child(expert, "download")
            try:
                report(None, f"asking for {expert.repo}")
                # The margin is for starting a process on a busy computer.
                key = await asyncio.to_thread(self._key)
                size = await child.call(
                    "list", None, key, timeout=self._patience + 10, report=report
                )
                self._coming[expert.id] = size
                await self._make_room(expert, size - self.partial(expert), spared)
                await child.call("fetch", timeout=600 + size / SLOWEST, report=report)
                await asyncio.to_thread(self._settle, expert)  # while the child holds the folder
            except ExpertError as error:
                raise UnavailableError(
                    tr(
                        "{name} could not be fetched: {message}",
                        name=expert.id,
                        message=error.message,
                    ),
                    hint=tr("What arrived is kept. Look at the network and try again."),
                    retryable=True,
                ) from error
            finally:
                self._coming.pop(expert.id, None)
                await child.close()

    async def import_folder(self, expert: Expert, source: Path) -> Path:
        """Take an expert's files from a folder or a ZIP file, such as on a stick; its folder.

        Raises InputError, UnavailableError where it does not hold them, or not whole.
        """
        async with self._locks.setdefault(expert.id, asyncio.Lock()):
            child = self._child(expert, "import")
            try:
                size = await child.call("measure", source, timeout=60)
                await self._make_room(expert, size, {each.id for each in _both(expert)})
                await child.call("import", source, timeout=3600)
                return await asyncio.to_thread(self._settle, expert)
            finally:
                await child.close()

    def remove(self, expert: Expert) -> int:
        """Delete an expert's files, and those of an interrupted fetch; how many bytes that was.

        Raises InputError where it is not there, or at work.
        """
        if expert.id in self._busy():
            raise InputError(
                tr("{name} is at work, or is the LLM in use.", name=expert.id),
                hint=tr("Remove it when it has left the memory, or choose another LLM."),
            )
        size = self._delete(expert.id)
        if not size:
            raise InputError(tr("{name} is not on this computer.", name=expert.id))
        return size

    def discard(self, expert: Expert) -> int:
        """Delete what is kept of an interrupted fetch; how many bytes that was.

        Raises UnavailableError where somebody goes on with it, in another process perhaps.
        """
        if not self.partial(expert):
            return 0
        with alone(self._partial(expert), expert.id):
            return self._delete(expert.id, whole=False)

    def _delete(self, name: str, *, whole: bool = True) -> int:
        """`whole` or only what arrived of it before its fetch was given up."""
        partial = self._root / f"{name}{PARTIAL}"
        folders = (self._root / name, partial) if whole else (partial,)
        size = sum(map(_size, folders))
        try:
            for path in folders:
                # First the marker: should this be interrupted, the rest is not taken for installed.
                (path / MARKER).unlink(missing_ok=True)
                if path.exists():
                    shutil.rmtree(path)
        except OSError as error:
            raise StorageError(
                tr("{name} could not be removed: {reason}.", name=name, reason=_reason(error))
            ) from error
        return size

    def _in_the_way(
        self, expert: Expert, size: int, spared: Collection[str]
    ) -> tuple[InstalledWeights, ...]:
        others = [item for item in tuple(self._coming.items()) if item[0] != expert.id]
        coming = sum(max(0, full - _size(self._root / f"{name}{PARTIAL}")) for name, full in others)
        return displaced(
            expert.id,
            size,
            installed=(*self._given_up(), *self.installed()) if self.budget else (),
            taken=_size(self._root) + coming if self.budget else 0,
            budget=self.budget,
            spared=spared,
        )

    def _given_up(self) -> Iterator[InstalledWeights]:
        """What is left of fetches that nobody goes on with, here or in another process."""
        for path in sorted(self._root.glob(f"*{PARTIAL}")):
            lock = self._locks.get(path.stem)
            if not (lock and lock.locked()) and not is_held(path):
                yield InstalledWeights(path.stem, "", "", _size(path), path, whole=False)

    async def _make_room(self, expert: Expert, size: int, spared: Collection[str]) -> None:
        """Delete what must go for `size` bytes more; what was deleted is said."""
        stay = {*spared, *self._spared, *self._busy()}  # asked here: it changes on the loop
        for item in await asyncio.to_thread(self._in_the_way, expert, size, stay):
            await asyncio.to_thread(self._displace, item)
            what = f"{item.id} ({readable_size(item.size / MB)})"
            current_note.get()(
                f"{what if item.whole else f'What had arrived of {what}'} was deleted from the "
                f"disk to make room for {expert.id}; "
                f"{'it had gone unused the longest' if item.whole else 'its fetch was given up'}."
            )

    def _displace(self, item: InstalledWeights) -> None:
        # Somebody may go on with the fetch by now.
        with nullcontext() if item.whole else alone(item.path, item.id):
            self._delete(item.id, whole=item.whole)

    def _child(self, expert: Expert, what: str) -> Child:
        return Child(
            FETCHING,
            *(expert, self._partial(expert), self._endpoint, self._patience, self._reserve),
            name=f"{what} of {expert.id}",
            network=what == "download",
        )

    def _partial(self, expert: Expert) -> Path:
        return self._root / f"{expert.id}{PARTIAL}"

    def _settle(self, expert: Expert) -> Path:
        folder = self._root / expert.id
        with _keeping(expert):
            if folder.exists():
                shutil.rmtree(folder)
            self._partial(expert).replace(folder)
        return folder


def _both(expert: Expert) -> tuple[Expert, ...]:
    """An expert, and before it the base that it works with."""
    return (expert.base, expert) if expert.base else (expert,)


@contextmanager
def _keeping(expert: Expert) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            tr("{name} could not be kept: {reason}.", name=expert.id, reason=_reason(error)),
            hint=tr("See that the disk has room and that no other program uses its files."),
            retryable=True,
        ) from error


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _read(folder: Path) -> InstalledWeights | None:
    """What a folder's marker says, provided that its files are there in their full size."""
    try:
        marker: Mapping[str, Any] = json.loads((folder / MARKER).read_text("utf-8"))
        sizes = {str(name): int(entry["size"]) for name, entry in marker["files"].items()}
        if any((folder / name).stat().st_size != size for name, size in sizes.items()):
            return None
        return InstalledWeights(
            id=str(marker["id"]),
            repo=str(marker["repo"]),
            revision=str(marker["revision"]),
            size=sum(sizes.values()),
            path=folder,
            used=(folder / MARKER).stat().st_mtime,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _size(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    sizes = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a fetch that runs renames its files
            status = path.lstat()
            sizes += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return sizes
