"""Fetches what a plan needs through the list of downloads, where the person sees it beside the
others and can pause and cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from jarvis_desktop.catalogue.download import Key
from jarvis_desktop.catalogue.downloads import Downloads
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import GivenUpError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.wording import tr


class ListedFetcher:
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
