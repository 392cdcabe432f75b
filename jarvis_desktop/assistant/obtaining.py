"""Brings the experts that a plan is missing onto this computer, as far as the person agrees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.live import Live
from jarvis_desktop.assistant.selector import described
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import Noted, TaskProgress
from jarvis_desktop.core.expert import Expert, Selection
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Fetcher


class Obtainer:
    """Fetches what is offered by selections.

    A download larger than `ask_above_mb` is asked about; in the local mode, where the network is
    used for nothing that was not asked for, every one is, and so is one that comes as a pickle or
    takes the place of another expert.
    """

    def __init__(self, fetcher: Fetcher, policy: Policy, *, ask_above_mb: int = 500) -> None:
        self._fetcher = fetcher
        self._policy = policy
        self.ask_above_mb = ask_above_mb

    async def obtain(self, selections: Sequence[Selection], live: Live) -> bool:
        """Fetch the experts that the selections offer; whether any was fetched.

        None that another task of theirs needs is deleted for it.
        """
        fetched = False
        missing = {item.offer: item.task_id for item in selections if item.offer}
        spared = _needed(selections)
        for expert, task_id in missing.items():
            try:
                if await self._agreed(expert, live, spared):
                    await self._fetch(expert, task_id, live, spared)
                    fetched = True
            except JarvisError as error:
                live.show(Noted(str(error)))
        return fetched

    async def _agreed(self, expert: Expert, live: Live, spared: Collection[str]) -> bool:
        gone, parts = self._fetcher.displaced(expert, spared=spared), self._fetcher.missing(expert)
        small = 0 < sum(each.download_mb for each in parts) <= self.ask_above_mb
        pickled = any(each.pickled for each in parts)
        with_base = expert.base in parts  # else it is here, or there is none
        needed = described(expert if with_base else replace(expert, base=None))
        if small and not gone and not pickled and not self._policy.asks_for_downloads:
            live.show(Noted(f"{needed} is fetched for this."))
            return True
        question = f"This needs {needed}."
        if expert.base and with_base:
            question += f" That includes {described(expert.base)}, which it is built upon."
        if pickled:
            question += (
                " Its weights come as a pickle, a format that can carry code; they are read in a "
                "guarded way and kept in the safe format."
            )
        if gone:
            question += f" To make room on the disk, {' and '.join(gone)} will be deleted."
        by_voice = not gone and not pickled
        return await live.confirm(f"{question} Fetch it now?", by_voice=by_voice)

    async def _fetch(
        self, expert: Expert, task_id: int, live: Live, spared: Collection[str]
    ) -> None:
        def report(fraction: float | None, message: str) -> None:
            live.show(TaskProgress(task_id, fraction, message))

        await self._fetcher.fetch(expert, report, spared=spared)


def _needed(selections: Sequence[Selection]) -> set[str]:
    """The experts that do the tasks, those to be fetched too, with what they are built upon."""
    first = (item.candidates[0].expert if item.candidates else item.offer for item in selections)
    both = (each for expert in first if expert for each in (expert, expert.base))
    return {each.id for each in both if each}
