"""The download queue of experts and LLMs: two run at a time, and each can be paused and resumed,
even after a restart.

A `Downloader` per kind fetches the files; the queue handles order, speed and failures. Downloads
that a plan needs go through it too, so that the user sees and controls them.

Only the window restores the queue, so that a command never touches its file. Small downloads need
no question in the modes hybrid and lite; in local every one does, since the network is for nothing
that was not asked for.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import GivenUpError, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.download_worker import Pace, time_left
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import replace_text

Kind = Literal["expert", "llm", "engine"]
Key = tuple[Kind, str]
DownloadReport = Callable[[float | None, int], None]
"""Called with the fraction from 0 to 1, or None, and the total size in bytes, or 0."""


class DownloadState(StrEnum):
    """What a download is doing."""

    WAITING = "waiting"
    FETCHING = "fetching"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Download:
    """A snapshot of one download."""

    kind: Kind
    name: str
    state: DownloadState = DownloadState.WAITING
    size: int = 0
    """In bytes; 0 if not known."""
    have: int = 0
    speed: float = 0.0
    """In bytes per second; 0 if not known."""
    asking: bool = True
    """Whether nothing has arrived since it was last started."""
    reason: str = ""
    """Why it failed and what to do, in sentences."""

    @property
    def key(self) -> Key:
        """Its key in the queue."""
        return self.kind, self.name

    @property
    def over(self) -> bool:
        """Whether it is done."""
        return self.state is DownloadState.DONE

    @property
    def under_way(self) -> bool:
        """Whether it is running or queued."""
        return self.state in (DownloadState.FETCHING, DownloadState.WAITING)

    @property
    def fraction(self) -> float | None:
        """How much of it has arrived; None if its size is not known."""
        return min(1.0, self.have / self.size) if self.size else None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None if not known."""
        if not self.size or not self.speed or self.state is not DownloadState.FETCHING:
            return None
        return max(0, self.size - self.have) / self.speed


def in_words(download: Download) -> str:
    """Describe a download's progress."""
    if download.asking or not download.size:
        return tr("asking what there is")
    have, size = readable_size(download.have), readable_size(download.size)
    words = tr("{have} of {size}", have=have, size=size)
    if not download.speed:
        return words
    time = time_left(download.seconds_left or 0)
    speed = f"{download.speed / MB:.1f} MB/s"
    return tr("{words}, {speed}, {time} left", words=words, speed=speed, time=time)


log = logging.getLogger(__name__)

MAX_PARALLEL = 2
"""A small download need not wait for a large one, and two do not slow each other down."""
PROGRESS_INTERVAL_S = 0.2
"""Seconds between progress reports."""
RESERVE_BYTES = 500 * MB
"""Bytes that stay free on the disk."""


class Downloader(Protocol):
    """Fetches one kind of thing."""

    async def fetch(self, name: str, report: DownloadReport) -> None:
        """Download it or resume its download; cancelling keeps what arrived. Raises JarvisError."""

    async def measure(self, name: str) -> tuple[int, int]:
        """Return its size and how much has arrived, in bytes; 0 if not known."""

    async def free(self) -> int:
        """Return what is free on its disk, in bytes; 0 if not known."""

    async def drop(self, name: str) -> None:
        """Delete what arrived. Raises JarvisError."""


@dataclass(eq=False)
class _Entry:
    shown: Download
    task: asyncio.Task[None] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    error: JarvisError | None = None
    reports: list[Report] = field(default_factory=list)


class Downloads:
    """The queue. It belongs to one event loop.

    From `restore` on, unfinished downloads are saved in the file `kept`; a front end that does not
    call it leaves that file alone. `allowed` returns whether the mode permits downloads, and
    `on_done` is called with each finished download.
    """

    def __init__(
        self,
        downloaders: Mapping[Kind, Downloader],
        *,
        kept: Path,
        allowed: Callable[[], bool] = lambda: True,
        on_done: Callable[[Download], None] = lambda done: None,
        width: int = MAX_PARALLEL,
    ) -> None:
        self._downloaders = downloaders
        self._kept: Path | None = None
        self._file = kept
        self._allowed = allowed
        self._on_done = on_done
        self._width = width
        self._entries: dict[Key, _Entry] = {}
        self._watchers: list[Callable[[tuple[Download, ...]], None]] = []
        self._telling: asyncio.TimerHandle | None = None
        self._restored = False
        self._moved = asyncio.Event()
        """Set and replaced whenever more than the progress changed."""

    @property
    def listed(self) -> tuple[Download, ...]:
        """All downloads, in the order in which they were added."""
        return tuple(entry.shown for entry in self._entries.values())

    def watch(self, tell: Callable[[tuple[Download, ...]], None]) -> None:
        """Call `tell` with the downloads now and after each change, on the loop."""
        self._watchers.append(tell)
        tell(self.listed)

    async def restore(self) -> None:
        """Load the downloads of an earlier run as paused, and save changes from now on."""
        if self._restored:
            return
        self._restored, self._kept = True, self._file
        for left in await asyncio.to_thread(_read, self._file):
            if left.key in self._entries or left.kind not in self._downloaders:
                continue
            try:
                size, have = await self._downloaders[left.kind].measure(left.name)
            except JarvisError as error:  # for example, an expert that left the catalogue
                log.info("a download is not taken up again: %s", error.message)
                continue
            self._entries[left.key] = _Entry(replace(left, size=size, have=have))
        self._changed()

    def add(self, kind: Kind, name: str, *, size: int = 0) -> None:
        """Queue a download, or resume it if it is queued already.

        Raises InputError if the mode permits no downloads.
        """
        self._check_mode()
        key = kind, name
        entry = self._entries.get(key)
        if entry is None or entry.shown.over:
            self._entries.pop(key, None)  # it moves to the end
            entry = self._entries[key] = _Entry(Download(kind, name, size=size))
        elif not entry.shown.under_way:
            entry.ended, entry.error = asyncio.Event(), None
            self._put(entry, state=DownloadState.WAITING, reason="")
        self._next()
        self._changed()

    async def fetch(self, kind: Kind, name: str, report: Report, *, size: int = 0) -> None:
        """Download something right away, however many are queued.

        Raises JarvisError with the reason. Cancelling pauses the download unless somebody else
        waits for it too. If the user pauses or removes it, the caller is cancelled.
        """
        before = self._entries.get((kind, name))
        mine = before is None or not before.shown.under_way
        self.add(kind, name, size=size)
        entry = self._entries[kind, name]
        if entry.shown.state is DownloadState.WAITING:
            self._start(entry)
        entry.reports.append(report)
        try:
            await entry.ended.wait()
        except asyncio.CancelledError:
            if mine and entry.reports == [report]:
                self.pause(entry.shown.key)
            raise
        finally:
            entry.reports.remove(report)
        if entry.error:
            raise entry.error
        if not entry.shown.over:
            raise asyncio.CancelledError

    async def goes_on(self, key: Key) -> bool:
        """Wait while a download is paused; return False if it was removed."""
        while (entry := self._entries.get(key)) and entry.shown.state is DownloadState.PAUSED:
            if not self._allowed():
                break
            await self._moved.wait()
        return key in self._entries

    def mode_changed(self) -> None:
        """Wake the callers that wait for paused downloads, after the mode changed."""
        self._changed()

    def pause(self, key: Key) -> None:
        """Pause a download; what arrived is kept."""
        entry = self._entries.get(key)
        if entry and entry.shown.under_way:
            self._put(entry, state=DownloadState.PAUSED, speed=0.0)
            self._stop(entry)

    def resume(self, key: Key) -> None:
        """Resume a download that was paused or failed."""
        if key in self._entries:
            self.add(*key)

    async def drop(self, key: Key) -> None:
        """Remove a download and what arrived of it. Raises JarvisError."""
        entry = self._entries.get(key)
        if entry is None:
            return
        self.pause(key)
        if entry.task:
            await asyncio.wait({entry.task})
        if not entry.shown.over:
            await self._downloaders[entry.shown.kind].drop(entry.shown.name)
        if self._entries.get(key) is entry:
            del self._entries[key]
        self._changed()

    def clear(self) -> None:
        """Remove finished downloads."""
        self._entries = {key: entry for key, entry in self._entries.items() if not entry.shown.over}
        self._changed()

    async def close(self) -> None:
        """Pause all downloads; the next run restores them."""
        self._watchers.clear()
        running = [entry.task for entry in self._entries.values() if entry.task]
        for entry in self._entries.values():
            self.pause(entry.shown.key)
        if running:
            await asyncio.wait(running)
        if self._telling:
            self._telling.cancel()

    def _next(self) -> None:
        for entry in tuple(self._entries.values()):
            if sum(each.task is not None for each in self._entries.values()) >= self._width:
                return
            if entry.shown.state is DownloadState.WAITING and entry.task is None:
                self._start(entry)

    def _start(self, entry: _Entry) -> None:
        if entry.task:  # it was paused and resumes as soon as that task ended
            return
        self._put(entry, state=DownloadState.FETCHING, asking=True, speed=0.0, reason="")
        entry.task = asyncio.create_task(self._run(entry))
        entry.task.add_done_callback(lambda done: self._ran(entry))

    async def _run(self, entry: _Entry) -> None:
        downloader, name, pace = self._downloaders[entry.shown.kind], entry.shown.name, Pace()

        def on_progress(fraction: float | None, size: int) -> None:
            if entry.shown.state is not DownloadState.FETCHING:
                return
            size = size or entry.shown.size
            have = entry.shown.have if fraction is None else round(fraction * size)
            if fraction is not None:
                pace.note(have)
            asking = entry.shown.asking and fraction is None
            entry.shown = replace(
                entry.shown, size=size, have=have, speed=pace.speed, asking=asking
            )
            for report in entry.reports:
                report(entry.shown.fraction, in_words(entry.shown))
            self._soon()

        try:
            await self._check_room(entry)
            await downloader.fetch(name, on_progress)
            whole = entry.shown.size or entry.shown.have
            self._put(entry, state=DownloadState.DONE, size=whole, have=whole, speed=0.0)
            self._on_done(entry.shown)
        except JarvisError as error:
            self._fail(entry, error)
        except Exception:  # one failure must not stop the queue
            log.exception("A download failed unexpectedly")
            self._fail(
                entry,
                UnavailableError(
                    tr("Something went wrong inside JARVIS itself."),
                    hint=tr("The log has the details."),
                ),
            )

    def _ran(self, entry: _Entry) -> None:
        entry.task = None
        if entry.shown.state is not DownloadState.WAITING:  # else it resumes
            entry.ended.set()
        self._next()
        self._changed()

    def _fail(self, entry: _Entry, error: JarvisError) -> None:
        if entry.shown.state is DownloadState.FETCHING:  # else stopping it made it fail
            entry.error = error
            self._put(entry, state=DownloadState.FAILED, reason=str(error), speed=0.0)

    def _stop(self, entry: _Entry) -> None:
        if entry.task:
            entry.task.cancel()
        entry.ended.set()
        self._changed()

    def _put(self, entry: _Entry, **changes: object) -> None:
        entry.shown = replace(entry.shown, **changes)  # type: ignore[arg-type]

    async def _check_room(self, entry: _Entry) -> None:
        """Raise UnavailableError, before anything is requested, if the disk is too small."""
        downloader = self._downloaders[entry.shown.kind]
        size, have = await downloader.measure(entry.shown.name)
        self._put(entry, size=size or entry.shown.size, have=have)
        free = await downloader.free()
        same = [
            each.shown
            for each in self._entries.values()
            if each.task and each.shown.kind == entry.shown.kind
        ]
        needed = sum(max(0, each.size - each.have) for each in same)
        if free and entry.shown.size and needed + RESERVE_BYTES > free:
            raise UnavailableError(
                tr(
                    "There is not enough room on the disk: {size} are needed, and {free} are free.",
                    size=readable_size(needed),
                    free=readable_size(free),
                ),
                hint=tr("Remove something, such as an expert that you do not use."),
            )

    def _check_mode(self) -> None:
        if not self._allowed():
            raise InputError(
                tr("The mode is offline, so nothing is fetched."), hint=tr("Change the mode.")
            )

    def _soon(self) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(PROGRESS_INTERVAL_S, self._tell)

    def _tell(self) -> None:
        if self._telling:
            self._telling.cancel()
        self._telling = None
        for tell in tuple(self._watchers):
            tell(self.listed)

    def _changed(self) -> None:
        """Save and report a change other than progress."""
        self._moved.set()
        self._moved = asyncio.Event()
        if self._kept:
            _write(self._kept, (each for each in self.listed if not each.over))
        self._tell()


def _read(path: Path) -> list[Download]:
    """The saved downloads; other content is ignored."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    left = []
    for each in found if isinstance(found, list) else ():
        match each:
            case {
                "kind": "expert" | "llm" | "engine" as kind,
                "name": str(name),
                "reason": str(reason),
            }:
                state = DownloadState.FAILED if reason else DownloadState.PAUSED
                left.append(Download(kind, name, state, reason=reason))
    return left


def _write(path: Path, downloads: Iterable[Download]) -> None:
    records = [{"kind": each.kind, "name": each.name, "reason": each.reason} for each in downloads]
    with suppress(OSError):  # what arrived is kept all the same
        replace_text(path, json.dumps(records, indent=1))


class ExpertDownloader:
    """Downloads experts from the Hub. `find` finds an expert by name, `free` the free bytes."""

    def __init__(
        self, weights: Weights, *, find: Callable[[str], Expert], free: Callable[[], int]
    ) -> None:
        self._weights = weights
        self._find = find
        self._free = free

    async def fetch(self, name: str, report: DownloadReport) -> None:
        """Download it. Raises JarvisError."""
        expert = await self._expert(name)

        def on_progress(fraction: float | None, words: str) -> None:
            size = self._weights.coming(expert)  # 0 during the download of its base
            report(fraction if size else None, size)

        await self._weights.fetch(expert, on_progress)

    async def measure(self, name: str) -> tuple[int, int]:
        """Return its listed size and what has arrived, in bytes."""
        expert = await self._expert(name)
        return expert.download_mb * MB, await asyncio.to_thread(self._weights.partial, expert)

    async def free(self) -> int:
        """Return the free bytes of the experts' disk."""
        return await asyncio.to_thread(self._free)

    async def drop(self, name: str) -> None:
        """Delete what arrived."""
        await asyncio.to_thread(self._weights.discard, await self._expert(name))

    async def _expert(self, name: str) -> Expert:
        return await asyncio.to_thread(self._find, name)


def key_of(expert: Expert) -> Key:
    """Return the key of a download that an expert needs, which may be what runs it."""
    return ("expert", expert.id) if expert.task else ("engine", expert.id)


class QueuedFetcher:
    """Downloads experts through the queue, for plans."""

    def __init__(self, weights: Weights, downloads: Callable[[], Downloads]) -> None:
        self._weights = weights
        self._downloads = downloads

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Download an expert and its base; return its folder.

        Waits while the download is paused. Cancelling pauses it. Raises GivenUpError if the user
        cancels it, and what `Weights.fetch` raises.
        """
        with self._weights.sparing(spared):
            for each in self._weights.missing(expert):
                await self._bring(each, report)
            return await self._weights.fetch(expert, report)  # it is there by now

    def missing(self, expert: Expert) -> Sequence[Expert]:
        """Return what must be downloaded for it, what runs it and its base included."""
        return self._weights.missing(expert)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        """Return which experts would be deleted to make room. Raises UnavailableError."""
        return self._weights.displaced(expert, spared=spared)

    async def _bring(self, expert: Expert, report: Report) -> None:
        downloads, this = self._downloads(), asyncio.current_task()
        key = key_of(expert)

        def on_progress(fraction: float | None, how: str) -> None:
            report(fraction, tr("Downloading {name}: {how}", name=expert.id, how=how))

        while True:
            try:
                return await downloads.fetch(*key, on_progress, size=expert.download_mb * MB)
            except asyncio.CancelledError:
                if this and this.cancelling():
                    raise
            # The user paused or cancelled it in the queue.
            paused = next((each for each in downloads.listed if each.key == key), None)
            words = tr("The download of {name} is paused.", name=expert.id)
            report(paused.fraction if paused else None, words)
            if not await downloads.goes_on(key):
                raise GivenUpError(tr("You stopped the download of {name}.", name=expert.id))
