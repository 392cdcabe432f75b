"""The experts' weights on this computer: what is installed, downloads, imports and the disk budget.

A folder counts as installed once it has its marker, which is written last. Until then the files are
in a folder of another name, from which an interrupted download resumes. A lock file makes sure that
an expert is downloaded by one process at a time.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.process import engine
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import MARKER


@dataclass(frozen=True, slots=True)
class InstalledWeights:
    """One expert's weights on the disk."""

    id: str
    repo: str
    revision: str
    size: int
    path: Path
    used: float = 0.0
    """When it was last used or downloaded, in seconds since 1970."""
    whole: bool = True
    """False for what arrived before its download was abandoned."""


def displaced(
    name: str,
    size: int,
    *,
    installed: Sequence[InstalledWeights],
    taken: int,
    budget: int,
    spared: Collection[str] = (),
) -> tuple[InstalledWeights, ...]:
    """Return which experts must go to fit `size` more bytes in `budget`; 0 means no limit.

    `taken` is what all experts take now, partial downloads included. Those in `spared` stay. Raises
    UnavailableError if that is not enough.
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
        stays = f", of which {readable_size(left)} must stay" if left > 0 else ""
        raise UnavailableError(
            tr(
                "{name} takes {size}, and experts may take {budget} of the disk in all{stays}.",
                name=name,
                size=readable_size(size),
                budget=readable_size(budget),
                stays=stays,
            ),
            hint=tr(
                "Raise disk_budget_gb under [experts] in settings.toml, or remove one "
                "yourself: jarvis-desktop experts remove NAME."
            ),
        )
    return tuple(gone)


def lock_folder(folder: Path, name: str) -> AbstractContextManager[object]:
    """Lock the folder that an expert is downloaded into; the lock ends with the process.

    Raises UnavailableError if it is locked already.
    """
    from filelock import FileLock, Timeout

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder.with_suffix(".lock"), timeout=0, thread_local=False).acquire()
    except Timeout as error:
        raise UnavailableError(
            tr("{name} is already being downloaded.", name=name), hint=tr("Wait until it is done.")
        ) from error


def is_locked(folder: Path) -> bool:
    """Whether the folder is locked, or that cannot be determined."""
    try:
        with lock_folder(folder, folder.stem):
            return False
    except (UnavailableError, OSError, NotImplementedError):
        return True


PARTIAL_SUFFIX = ".part"
MIN_BYTES_PER_S = 20_000
"""Bytes per second. A download with a lower average is abandoned, and can be resumed."""

WORKER = "jarvis_desktop.experts.download_worker:serve"


@dataclass(eq=False)
class Weights:
    """The folder of installed experts, one sub-folder each.

    `endpoint` is the address of the Hub, None for the usual one. `patience` is the timeout of
    requests in seconds, `reserve` the bytes that a download leaves free on the disk, `budget` the
    bytes that all experts may take (0 for no limit). `busy` names the experts at work, and `key`
    returns the Hub's key for gated experts, or "". `lacking` returns what an expert needs besides
    weights, which is downloaded elsewhere, if that is missing.
    """

    root: Path
    _: KW_ONLY
    endpoint: str | None = None
    patience: float = 10.0
    reserve: int = 500 * MB
    budget: int = 0
    """In bytes; may be changed."""
    busy: Callable[[], Collection[str]] = tuple
    key: Callable[[], str] = str
    lacking: Callable[[Expert], Expert | None] = lambda expert: None

    def __post_init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._spared: Counter[str] = Counter()
        self._coming: dict[str, int] = {}
        """The size in bytes of each expert that is being downloaded."""

    def installed(self) -> tuple[InstalledWeights, ...]:
        """Return the installed experts by name."""
        try:
            folders = sorted(path for path in self.root.iterdir() if path.suffix != PARTIAL_SUFFIX)
        except OSError:  # missing or unreadable
            return ()
        return tuple(found for path in folders if (found := _read(path)))

    def folder(self, expert: Expert) -> Path | None:
        """Return an expert's folder, or None if it or what it needs is not installed completely."""
        gone = self._missing(expert) or self.lacking(expert)
        return None if gone else self.root / expert.id

    def used(self, expert: Expert) -> None:
        """Note that an expert is used now. Those unused for longest are deleted first."""
        for item in _both(expert):
            with suppress(OSError):
                os.utime(self.root / item.id / MARKER)

    def missing(self, expert: Expert) -> tuple[Expert, ...]:
        """Return what must be downloaded for an expert to work: what runs it, its base, itself."""
        lacking = self.lacking(expert)
        return (lacking, *self._missing(expert)) if lacking else self._missing(expert)

    def _missing(self, expert: Expert) -> tuple[Expert, ...]:
        """The same without what is not in this folder."""
        return tuple(each for each in _both(expert) if _read(self.root / each.id) is None)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> tuple[str, ...]:
        """Return which experts a download would delete to stay within the budget, by its listed
        size.

        Abandoned downloads are deleted first and not reported. Raises UnavailableError if all that,
        without those in `spared`, is not enough.
        """
        size = sum(each.download_mb for each in self._missing(expert)) * MB
        stay = {*spared, *self._spared, *self.busy(), *(each.id for each in _both(expert))}
        return tuple(item.id for item in self._in_the_way(expert, size, stay) if item.whole)

    def partial(self, expert: Expert) -> int:
        """Return how many bytes of an interrupted download are kept."""
        return folder_bytes(self._partial(expert))

    @property
    def at_work(self) -> Collection[str]:
        """The experts that must stay on the disk now."""
        return self.busy()

    def coming(self, expert: Expert) -> int:
        """Return the size in bytes of the download under way; 0 if not known yet."""
        return self._coming.get(expert.id, 0)

    @contextmanager
    def sparing(self, names: Collection[str]) -> Iterator[None]:
        """Protect these experts from being deleted to make room for others."""
        names = frozenset(names)
        self._spared.update(names)
        try:
            yield
        finally:
            self._spared -= Counter(names)

    def taken(self) -> int:
        """Return how many bytes all experts take, partial downloads included."""
        return folder_bytes(self.root)

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Download the weights of an expert, or resume that; return its folder.

        None of those in `spared` is deleted to make room. Cancelling keeps what arrived. Raises
        UnavailableError with the reason, such as a missing network, repository or permission, and
        StorageError if the files cannot be written.
        """
        for item in self._missing(expert):
            await self._fetch(item, report, {*spared, *(each.id for each in _both(expert))})
        if not self._missing(expert):
            return self.root / expert.id
        raise StorageError(
            tr("{name} was downloaded, but is no longer complete on the disk.", name=expert.id),
            hint=tr("Make sure that no other program changes its files, and try again."),
            retryable=True,
        )

    async def _fetch(self, expert: Expert, report: Report, spared: Collection[str]) -> None:
        async with self._locks.setdefault(expert.id, asyncio.Lock()):
            if _read(self.root / expert.id):
                return
            if _read(self._partial(expert)):  # only the last step is missing
                await asyncio.to_thread(self._settle, expert)
                return
            with _keeping(expert):
                self.root.mkdir(parents=True, exist_ok=True)
            child = self._child(expert, "download")
            try:
                report(None, tr("Asking for {expert}", expert=expert.repo))
                # The margin is for starting a process on a busy computer.
                key = await asyncio.to_thread(self.key)
                size = await child.call(
                    "list", None, key, timeout=self.patience + 10, report=report
                )
                self._coming[expert.id] = size
                await self._make_room(expert, size - self.partial(expert), spared)
                await child.call("fetch", timeout=600 + size / MIN_BYTES_PER_S, report=report)
                await asyncio.to_thread(self._settle, expert)  # while the child holds the lock
            except ExpertError as error:
                raise UnavailableError(
                    tr(
                        "{name} could not be downloaded: {message}",
                        name=expert.id,
                        message=error.message,
                    ),
                    hint=tr(
                        "The part already downloaded is kept. Check the network and try again."
                    ),
                    retryable=True,
                ) from error
            finally:
                self._coming.pop(expert.id, None)
                await child.close()

    async def import_folder(self, expert: Expert, source: Path) -> Path:
        """Import an expert's files from a folder or ZIP file; return its folder.

        Raises InputError or UnavailableError if they are missing or incomplete.
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
        """Delete an expert and its partial download; return how many bytes that freed.

        Raises InputError if it is not installed, or is in use.
        """
        if expert.id in self.busy():
            raise InputError(
                tr("{name} is running, or is the LLM in use.", name=expert.id),
                hint=tr("Remove it when it has left the memory, or choose another LLM."),
            )
        size = self._delete(expert.id)
        if not size:
            raise InputError(tr("{name} is not on this computer.", name=expert.id))
        return size

    def discard(self, expert: Expert) -> int:
        """Delete a partial download; return how many bytes that freed.

        Raises UnavailableError if the download is running, perhaps in another process.
        """
        if not self.partial(expert):
            return 0
        with lock_folder(self._partial(expert), expert.id):
            return self._delete(expert.id, whole=False)

    def _delete(self, name: str, *, whole: bool = True) -> int:
        """Delete an expert's files, or if not `whole` only its partial download."""
        partial = self.root / f"{name}{PARTIAL_SUFFIX}"
        folders = (self.root / name, partial) if whole else (partial,)
        size = sum(map(folder_bytes, folders))
        try:
            for path in folders:
                # The marker goes first, so that an interrupted deletion leaves nothing that looks
                # installed.
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
        coming = sum(
            max(0, full - folder_bytes(self.root / f"{name}{PARTIAL_SUFFIX}"))
            for name, full in others
        )
        return displaced(
            expert.id,
            size,
            installed=(*self._given_up(), *self.installed()) if self.budget else (),
            taken=folder_bytes(self.root) + coming if self.budget else 0,
            budget=self.budget,
            spared=spared,
        )

    def _given_up(self) -> Iterator[InstalledWeights]:
        """Partial downloads that no process is resuming."""
        for path in sorted(self.root.glob(f"*{PARTIAL_SUFFIX}")):
            lock = self._locks.get(path.stem)
            if not (lock and lock.locked()) and not is_locked(path):
                yield InstalledWeights(path.stem, "", "", folder_bytes(path), path, whole=False)

    async def _make_room(self, expert: Expert, size: int, spared: Collection[str]) -> None:
        """Delete what must go for `size` more bytes, and note it for the user."""
        stay = {*spared, *self._spared, *self.busy()}  # read on the loop, which changes it
        for item in await asyncio.to_thread(self._in_the_way, expert, size, stay):
            await asyncio.to_thread(self._displace, item)
            what = f"{item.id} ({readable_size(item.size)})"
            current_note.get()(
                f"{what if item.whole else f'What had arrived of {what}'} was deleted from the "
                f"disk to make room for {expert.id}; "
                f"{'it had gone unused the longest' if item.whole else 'its fetch was given up'}."
            )

    def _displace(self, item: InstalledWeights) -> None:
        # Its download may have been resumed by now.
        with nullcontext() if item.whole else lock_folder(item.path, item.id):
            self._delete(item.id, whole=item.whole)

    def _child(self, expert: Expert, what: str) -> Child:
        return Child(
            WORKER,
            *(expert, self._partial(expert), self.endpoint, self.patience, self.reserve),
            name=f"{what} of {expert.id}",
            network=what == "download",
            libraries=engine.folder,
        )

    def _partial(self, expert: Expert) -> Path:
        return self.root / f"{expert.id}{PARTIAL_SUFFIX}"

    def _settle(self, expert: Expert) -> Path:
        folder = self.root / expert.id
        with _keeping(expert):
            if folder.exists():
                shutil.rmtree(folder)
            self._partial(expert).replace(folder)
        return folder


def _both(expert: Expert) -> tuple[Expert, ...]:
    """An expert, preceded by its base."""
    return (expert.base, expert) if expert.base else (expert,)


@contextmanager
def _keeping(expert: Expert) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            tr("{name} could not be saved: {reason}.", name=expert.id, reason=_reason(error)),
            hint=tr("Make sure that the disk has room and that no other program uses its files."),
            retryable=True,
        ) from error


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _read(folder: Path) -> InstalledWeights | None:
    """What a folder's marker says, if all its files are there in full size."""
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


def folder_bytes(folder: Path) -> int:
    """Return how many bytes the files in a folder have; 0 if it is not there."""
    if not folder.is_dir():
        return 0
    sizes = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a running download renames its files
            status = path.lstat()
            sizes += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return sizes
