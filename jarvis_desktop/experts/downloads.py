"""The downloads of experts and LLMs, in line: a few are fetched at once, the others wait. Each can
be paused and gone on with, also after a restart.

How something is fetched is known by its road; this is about the order, the pace and the failures.

One download of an expert or an LLM, as it is at a moment.

How experts come to this computer, for the list of downloads.

Fetches what a plan needs through the list of downloads, where the person sees it beside the
others and can pause and cancel it."""

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

Kind = Literal["expert", "llm"]
Key = tuple[Kind, str]
DownloadReport = Callable[[float | None, int], None]
"""Tells how far a download is, from 0 to 1, or None, and how many bytes all of it is, or 0."""


class DownloadState(StrEnum):
    """Where a download is."""

    WAITING = "waiting"
    FETCHING = "fetching"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Download:
    """One download as it is at this moment."""

    kind: Kind
    name: str
    state: DownloadState = DownloadState.WAITING
    size: int = 0
    """Bytes of all of it; 0 where that is not known."""
    have: int = 0
    speed: float = 0.0
    """Bytes per second; 0 where that is not known."""
    asking: bool = True
    """Of one that is fetched, whether nothing of it has arrived in this go."""
    reason: str = ""
    """Why it failed, and what to do, in sentences."""

    @property
    def key(self) -> Key:
        """By which it is known."""
        return self.kind, self.name

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state is DownloadState.DONE

    @property
    def under_way(self) -> bool:
        """Whether it is fetched, or will be without anybody's doing."""
        return self.state in (DownloadState.FETCHING, DownloadState.WAITING)

    @property
    def fraction(self) -> float | None:
        """How much of it is here; None where its size is not known."""
        return min(1.0, self.have / self.size) if self.size else None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None where that is not known."""
        if not self.size or not self.speed or self.state is not DownloadState.FETCHING:
            return None
        return max(0, self.size - self.have) / self.speed


def in_words(download: Download) -> str:
    """How far it is, for one who waits for it elsewhere."""
    if download.asking or not download.size:
        return tr("asking what there is")
    have, size = readable_size(download.have / MB), readable_size(download.size / MB)
    words = tr("{have} of {size}", have=have, size=size)
    if not download.speed:
        return words
    time = time_left(download.seconds_left or 0)
    speed = f"{download.speed / MB:.1f} MB/s"
    return tr("{words}, {speed}, {time} left", words=words, speed=speed, time=time)


log = logging.getLogger(__name__)

AT_ONCE = 2
"""A small one does not wait for a large one, and they do not take each other's line away."""
TELLING = 0.2
"""Seconds between two tellings of how far they are."""
RESERVE = 500 * MB
"""What is left free on the disk."""


class Downloader(Protocol):
    """How one kind of thing comes to this computer."""

    async def fetch(self, name: str, told: DownloadReport) -> None:
        """Fetch it, going on where it was left; cancelling keeps what arrived.

        Raises JarvisError.
        """

    async def measure(self, name: str) -> tuple[int, int]:
        """Bytes of all of it, and how many of them are here; 0 where that is not known."""

    async def free(self) -> int:
        """What is free on the disk that it goes to; 0 where that is not known."""

    async def drop(self, name: str) -> None:
        """Delete what arrived of it. Raises JarvisError."""


@dataclass(eq=False)
class _Entry:
    shown: Download
    task: asyncio.Task[None] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    error: JarvisError | None = None
    reports: list[Report] = field(default_factory=list)


class Downloads:
    """The list. It belongs to one event loop.

    What is not done is kept in the `kept` file from `restore` on, so that a front end that does not
    call it leaves that of another one alone. `allowed` says whether the mode lets anything be
    fetched, and `on_done` is told of each that has come.
    """

    def __init__(
        self,
        roads: Mapping[Kind, Downloader],
        *,
        kept: Path,
        allowed: Callable[[], bool] = lambda: True,
        on_done: Callable[[Download], None] = lambda done: None,
        width: int = AT_ONCE,
    ) -> None:
        self._roads = roads
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
        """Set, and another one, whenever more than how far they are has changed."""

    @property
    def listed(self) -> tuple[Download, ...]:
        """All of them, in the order in which they came."""
        return tuple(entry.shown for entry in self._entries.values())

    def watch(self, tell: Callable[[tuple[Download, ...]], None]) -> None:
        """Tell of the list, now and whenever it has changed; on the loop."""
        self._watchers.append(tell)
        tell(self.listed)

    async def restore(self) -> None:
        """Take up what an earlier run left, as paused; what is kept is written from now on."""
        if self._restored:
            return
        self._restored, self._kept = True, self._file
        for left in await asyncio.to_thread(_read, self._file):
            if left.key in self._entries or left.kind not in self._roads:
                continue
            try:
                size, have = await self._roads[left.kind].measure(left.name)
            except JarvisError as error:  # such as an expert that the catalogue has no more
                log.info("a download is not taken up again: %s", error.message)
                continue
            self._entries[left.key] = _Entry(replace(left, size=size, have=have))
        self._changed()

    def add(self, kind: Kind, name: str, *, size: int = 0) -> None:
        """Put one in line, or go on with it where it is there already.

        Raises InputError where the mode lets nothing be fetched.
        """
        self._check_mode()
        key = kind, name
        entry = self._entries.get(key)
        if entry is None or entry.shown.over:
            self._entries.pop(key, None)  # it comes at the end now
            entry = self._entries[key] = _Entry(Download(kind, name, size=size))
        elif not entry.shown.under_way:
            entry.ended, entry.error = asyncio.Event(), None
            self._put(entry, state=DownloadState.WAITING, reason="")
        self._next()
        self._changed()

    async def fetch(self, kind: Kind, name: str, report: Report, *, size: int = 0) -> None:
        """Fetch one that somebody waits for: at once, however many are in line.

        Raises JarvisError with the reason. Cancelling pauses it, unless it is fetched for somebody
        else as well; where the person pauses or drops it, whoever waits is cancelled.
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
        """Wait while one is paused; whether it goes on. False where it was dropped."""
        while (entry := self._entries.get(key)) and entry.shown.state is DownloadState.PAUSED:
            if not self._allowed():
                break
            await self._moved.wait()
        return key in self._entries

    def mode_changed(self) -> None:
        """Let those who wait for what is paused know that nothing may be fetched any more."""
        self._changed()

    def pause(self, key: Key) -> None:
        """Stop one; what arrived is kept."""
        entry = self._entries.get(key)
        if entry and entry.shown.under_way:
            self._put(entry, state=DownloadState.PAUSED, speed=0.0)
            self._stop(entry)

    def resume(self, key: Key) -> None:
        """Go on with one that was paused, or failed."""
        if key in self._entries:
            self.add(*key)

    async def drop(self, key: Key) -> None:
        """Take one out of the list, and what arrived of it from the disk. Raises JarvisError."""
        entry = self._entries.get(key)
        if entry is None:
            return
        self.pause(key)
        if entry.task:
            await asyncio.wait({entry.task})
        if not entry.shown.over:
            await self._roads[entry.shown.kind].drop(entry.shown.name)
        if self._entries.get(key) is entry:
            del self._entries[key]
        self._changed()

    def clear(self) -> None:
        """Take out those that are done."""
        self._entries = {key: entry for key, entry in self._entries.items() if not entry.shown.over}
        self._changed()

    async def close(self) -> None:
        """Stop all; the next run finds them paused."""
        self._watchers.clear()
        running = [entry.task for entry in self._entries.values() if entry.task]
        for entry in self._entries.values():
            self.pause(entry.shown.key)
        if running:
            await asyncio.wait(running)
        if self._telling:
            self._telling.cancel()

    def _next(self) -> None:
        """Begin those that are the next in line."""
        for entry in tuple(self._entries.values()):
            if sum(each.task is not None for each in self._entries.values()) >= self._width:
                return
            if entry.shown.state is DownloadState.WAITING and entry.task is None:
                self._start(entry)

    def _start(self, entry: _Entry) -> None:
        if entry.task:  # it has not ended yet from being paused; it goes on when it has
            return
        self._put(entry, state=DownloadState.FETCHING, asking=True, speed=0.0, reason="")
        entry.task = asyncio.create_task(self._run(entry))
        entry.task.add_done_callback(lambda done: self._ran(entry))

    async def _run(self, entry: _Entry) -> None:
        road, name, pace = self._roads[entry.shown.kind], entry.shown.name, Pace()

        def told(fraction: float | None, size: int) -> None:
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
            await road.fetch(name, told)
            whole = entry.shown.size or entry.shown.have
            self._put(entry, state=DownloadState.DONE, size=whole, have=whole, speed=0.0)
            self._on_done(entry.shown)
        except JarvisError as error:
            self._fail(entry, error)
        except Exception:  # the list goes on, whatever is wrong with one of them
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
        if entry.shown.state is not DownloadState.WAITING:  # else it is to go on already
            entry.ended.set()
        self._next()
        self._changed()

    def _fail(self, entry: _Entry, error: JarvisError) -> None:
        if entry.shown.state is DownloadState.FETCHING:  # else it was stopped, and fails for that
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
        """Refuse, before anything is asked for, what the disk has no room for."""
        road = self._roads[entry.shown.kind]
        size, have = await road.measure(entry.shown.name)
        self._put(entry, size=size or entry.shown.size, have=have)
        free = await road.free()
        same = [
            each.shown
            for each in self._entries.values()
            if each.task and each.shown.kind == entry.shown.kind
        ]
        needed = sum(max(0, each.size - each.have) for each in same)
        if free and entry.shown.size and needed + RESERVE > free:
            raise UnavailableError(
                tr(
                    "There is too little room on the disk: {size} are to come, and "
                    "{free} are free.",
                    size=readable_size(needed / MB),
                    free=readable_size(free / MB),
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
            self._telling = asyncio.get_running_loop().call_later(TELLING, self._tell)

    def _tell(self) -> None:
        if self._telling:
            self._telling.cancel()
        self._telling = None
        for tell in tuple(self._watchers):
            tell(self.listed)

    def _changed(self) -> None:
        """More than how far they are is another now."""
        self._moved.set()
        self._moved = asyncio.Event()
        if self._kept:
            _write(self._kept, (each for each in self.listed if not each.over))
        self._tell()


def _read(path: Path) -> list[Download]:
    """What is kept; what is anything else in the file is left out."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    left = []
    for each in found if isinstance(found, list) else ():
        match each:
            case {"kind": "expert" | "llm" as kind, "name": str(name), "reason": str(reason)}:
                state = DownloadState.FAILED if reason else DownloadState.PAUSED
                left.append(Download(kind, name, state, reason=reason))
    return left


def _write(path: Path, downloads: Iterable[Download]) -> None:
    records = [{"kind": each.kind, "name": each.name, "reason": each.reason} for each in downloads]
    fresh = path.with_name(f"{path.name}.new")
    with suppress(OSError):  # they are forgotten then, and what arrived of them is not
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(records, indent=1), "utf-8")
        fresh.replace(path)


class ExpertDownloader:
    """Fetches from the Hub. `find` gives the expert of a handle; `free` is what the disk has."""

    def __init__(
        self, weights: Weights, *, find: Callable[[str], Expert], free: Callable[[], int]
    ) -> None:
        self._weights = weights
        self._find = find
        self._free = free

    async def fetch(self, name: str, told: DownloadReport) -> None:
        """Fetch it. Raises JarvisError."""
        expert = await self._expert(name)

        def report(fraction: float | None, words: str) -> None:
            size = self._weights.coming(expert)  # 0 while it is its base that comes
            told(fraction if size else None, size)

        await self._weights.fetch(expert, report)

    async def measure(self, name: str) -> tuple[int, int]:
        """Its listed size, and what is kept of it."""
        expert = await self._expert(name)
        return expert.download_mb * MB, await asyncio.to_thread(self._weights.partial, expert)

    async def free(self) -> int:
        """What is free where experts are kept."""
        return await asyncio.to_thread(self._free)

    async def drop(self, name: str) -> None:
        """Delete what arrived."""
        await asyncio.to_thread(self._weights.discard, await self._expert(name))

    async def _expert(self, name: str) -> Expert:
        return await asyncio.to_thread(self._find, name)


class QueuedFetcher:
    """Knows the weights, and asks for the list when it needs it."""

    def __init__(self, weights: Weights, downloads: Callable[[], Downloads]) -> None:
        self._weights = weights
        self._downloads = downloads

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Fetch one and what it is built upon; its folder.

        While it is paused it is waited for. Raises GivenUpError where the person cancels it, and
        else what the weights raise. Cancelling pauses it.
        """
        with self._weights.sparing(spared):
            for each in self._weights.missing(expert):
                await self._bring(each, report)
            return await self._weights.fetch(expert, report)  # it is there

    def missing(self, expert: Expert) -> Sequence[Expert]:
        """What must be fetched for it: it and its base, as far as they are not here."""
        return self._weights.missing(expert)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        """Which experts would be deleted to make room for it. Raises UnavailableError."""
        return self._weights.displaced(expert, spared=spared)

    async def _bring(self, expert: Expert, report: Report) -> None:
        downloads, this = self._downloads(), asyncio.current_task()
        key: Key = ("expert", expert.id)

        def told(fraction: float | None, how: str) -> None:
            report(fraction, tr("Fetching {name}: {how}", name=expert.id, how=how))

        while True:
            try:
                return await downloads.fetch(*key, told, size=expert.download_mb * MB)
            except asyncio.CancelledError:
                if this and this.cancelling():
                    raise
            # It was paused or cancelled in the list.
            paused = next((each for each in downloads.listed if each.key == key), None)
            words = tr("The download of {name} is paused.", name=expert.id)
            report(paused.fraction if paused else None, words)
            if not await downloads.goes_on(key):
                raise GivenUpError(tr("You stopped the download of {name}.", name=expert.id))
