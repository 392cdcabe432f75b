"""Updates the index of the Hub page by page; it reports progress and can be resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop import __version__
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.download_worker import time_left
from jarvis_desktop.experts.hub import index
from jarvis_desktop.experts.hub.database import HubIndexWriter, RepositoryCheck
from jarvis_desktop.experts.hub.entry import HubEntry
from jarvis_desktop.experts.hub.index import Embed
from jarvis_desktop.experts.hub.sync_worker import PAGE, SyncStep
from jarvis_desktop.process.child import Child

WORKER = "jarvis_desktop.experts.hub.sync_worker:serve"
MAX_ATTEMPTS = 5
"""How often in a row a page may fail."""
RECHECK_AFTER_S = 7 * 86_400
"""Seconds after which a shipped expert's repository is checked again."""
EMBED_BATCH = 16
"""Summaries that are embedded at once."""

ESTIMATED_SIZES: Mapping[str, int] = {
    "text-generation": 300_000,
    "text-to-image": 100_000,
    "text-classification": 100_000,
    "automatic-speech-recognition": 30_000,
    "token-classification": 25_000,
    "image-classification": 20_000,
}
"""Estimated lengths of lists that were never read, for the progress only."""
DEFAULT_ESTIMATE = 5_000


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """What a refresh did."""

    read: int
    """Entries that the Hub listed."""
    fresh: int
    """Entries that were new."""
    checks: tuple[RepositoryCheck, ...]
    """What the Hub said of the shipped experts."""


@dataclass(eq=False)
class HubRefresh:
    """Refreshes the index at `path`.

    `endpoint` is the address of the Hub, None for the usual one, and `patience` the timeout of its
    requests in seconds. A failed page is requested again after `pause` seconds, twice as many each
    time. `embed` computes the vectors of popular entries. `key` returns the Hub's key, or ""; with
    a key the Hub allows more requests.
    """

    path: Path
    _: KW_ONLY
    embed: Embed | None = None
    endpoint: str | None = None
    patience: float = 30.0
    pause: float = 2.0
    key: Callable[[], str] = str

    async def run(
        self,
        tasks: Sequence[str],
        report: Report,
        *,
        shipped: Sequence[Expert] = (),
        known: Mapping[str, RepositoryCheck] | None = None,
        whole: bool = False,
    ) -> RefreshResult:
        """Read the lists of these tasks of the Hub, and check the shipped experts.

        Recent checks in `known` are not repeated. `whole` reads everything again. Cancelling keeps
        what arrived, and the next refresh resumes. Raises UnavailableError with the reason, and
        StorageError if the index cannot be written.
        """
        key = await asyncio.to_thread(self.key)
        child = Child(
            WORKER,
            *(self.path, self.endpoint, self.patience, __version__, key),
            name="list of the Hub",
            network=True,
        )
        telling = _RefreshProgress(report, tasks)
        try:
            read = fresh = 0
            for task in tasks:
                step = await self._task(child, task, whole, telling)
                read, fresh = read + step.position, fresh + telling.fresh
                await self._sizes(child, task, report)
            checks = await self._checks(child, shipped, known or {}, report)
            await self._call(child, "tidy", report=report)
        finally:
            await child.close()
        if self.embed:
            await self._meanings(self.embed, tasks, report)
        return RefreshResult(read, fresh, checks)

    async def _task(
        self, child: Child, task: str, whole: bool, telling: _RefreshProgress
    ) -> SyncStep:
        telling.begin(task)
        while True:
            step: SyncStep = await self._call(child, "page", task, whole, report=telling.report)
            telling(step)
            if step.done:
                return step
            whole = False  # it has started

    async def _sizes(self, child: Child, task: str, report: Report) -> None:
        unsized: list[HubEntry] = await self._call(child, "unsized", task, report=report)
        for entry in unsized:
            report(None, tr("{task}: asking how large {expert} is", task=task, expert=entry.repo))
            await self._call(child, "size", entry, report=report)

    async def _checks(
        self,
        child: Child,
        shipped: Sequence[Expert],
        known: Mapping[str, RepositoryCheck],
        report: Report,
    ) -> tuple[RepositoryCheck, ...]:
        now, found = int(time.time()), {}
        for place, expert in enumerate(shipped):
            old = known.get(expert.repo)
            if expert.repo in found or (old and now - old.moment < RECHECK_AFTER_S):
                continue
            report(place / len(shipped), tr("Looking at {name}", name=expert.repo))
            found[expert.repo] = await self._call(child, "check", expert, now, report=report)
        return tuple(found.values())

    async def _call(self, child: Child, *args: Any, report: Report) -> Any:
        """Call the child, and again if it failed and may succeed later."""
        failures = 0
        while True:
            try:
                # The margin is for starting the process and for the disk; merging reads all of it.
                return await child.call(*args, timeout=8 * self.patience + 600)
            except (UnavailableError, ExpertError) as error:
                failures += 1
                if not error.retryable or failures == MAX_ATTEMPTS:
                    raise _as_unavailable(error) from error
                wait = error.wait or self.pause * 2 ** (failures - 1)
                report(
                    None, tr("{error} Going on in {wait:.0f} s.", error=error.message, wait=wait)
                )
                await asyncio.sleep(wait)

    async def _meanings(self, embed: Embed, tasks: Iterable[str], report: Report) -> None:
        """Embed the most popular entries of each task that have no vector."""
        for task in tasks:
            left = await asyncio.to_thread(_unread, self.path, task)
            for start in range(0, len(left), EMBED_BATCH):
                report(start / len(left), tr("{task}: reading what its experts are for", task=task))
                batch = left[start : start + EMBED_BATCH]
                await asyncio.to_thread(_read, self.path, task, batch, embed)


def _unread(path: Path, task: str) -> list[tuple[int, str]]:
    with HubIndexWriter(path) as writer:
        number = writer.state(task).number
        with writer.transaction() as db:
            return index.missing(db, number, task)


def _read(path: Path, task: str, texts: Sequence[tuple[int, str]], embed: Embed) -> None:
    directions = embed([text for _, text in texts])
    with HubIndexWriter(path) as writer:
        number = writer.state(task).number
        with writer.transaction() as db:
            index.keep(db, number, texts, directions)


class _RefreshProgress:
    """Reports how much has been read, and how long the rest may take."""

    def __init__(self, report: Report, tasks: Sequence[str]) -> None:
        self.report = report
        self._sizes = {task: ESTIMATED_SIZES.get(task, DEFAULT_ESTIMATE) for task in tasks}
        self._began = time.monotonic()
        self._done = 0
        """Entries of finished tasks."""
        self._now = 0
        """Entries of all tasks that were read in this run."""
        self._last: int | None = None
        self.fresh = 0
        """New entries of the current task."""

    def begin(self, task: str) -> None:
        """Begin a task."""
        self.fresh, self._last = 0, None
        self.report(None, tr("Asking the Hub for {task}", task=task))

    def __call__(self, step: SyncStep) -> None:
        """Report a page."""
        if self._last is None:
            if step.expected:
                self._sizes[step.task] = step.expected if step.whole else PAGE
            self._last = max(0, step.position - PAGE)
        self.fresh += step.fresh
        self._now += step.position - self._last
        self._last = step.position
        known = step.position if step.done else max(self._sizes[step.task], step.position)
        self._sizes[step.task] = known
        have = self._done + step.position
        self._done += step.position if step.done else 0
        whole = max(1, sum(self._sizes.values()))
        passed = time.monotonic() - self._began
        words = f"{step.task}: {step.position:,} read, {self.fresh:,} of them new"
        left = passed * (whole - have) / self._now if self._now and passed > 2 else 0.0
        self.report(min(1.0, have / whole), words + (f", {time_left(left)} left" if left else ""))


def _as_unavailable(error: JarvisError) -> JarvisError:
    if isinstance(error, ExpertError):  # the process ended
        return UnavailableError(
            tr("The list of the Hub could not be read: {message}", message=error.message),
            hint=tr(
                "The part already read is kept. Continue later: jarvis-desktop experts refresh."
            ),
            retryable=True,
            fault=error.fault,
        )
    return error
