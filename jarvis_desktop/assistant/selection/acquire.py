"""Downloads the experts that a plan is missing, after asking the user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.assistant.selection.selector import described
from jarvis_desktop.core.errors import GivenUpError, JarvisError
from jarvis_desktop.core.events import Noted, TaskProgress
from jarvis_desktop.core.expert import Expert, Selection
from jarvis_desktop.core.i18n import both, tr, trn
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Fetcher


@dataclass(frozen=True, slots=True)
class Acquisition:
    """The outcome of the downloads."""

    fetched: bool
    """Whether any expert was fetched."""
    stopped: frozenset[str]
    """The ids of experts whose download the user cancelled."""
    failed: Mapping[str, str]
    """Why other experts could not be fetched, by id."""


class ExpertAcquirer:
    """Fetches the experts that selections offer.

    The user is asked about downloads larger than `ask_above_mb`, pickles, and experts that would
    replace others. In local mode the user is asked about every download.
    """

    def __init__(self, fetcher: Fetcher, policy: Policy, *, ask_above_mb: int = 500) -> None:
        self._fetcher = fetcher
        self._policy = policy
        self.ask_above_mb = ask_above_mb

    async def obtain(
        self, selections: Sequence[Selection], live: LiveTurn, *, ask: bool = False
    ) -> Acquisition:
        """Fetch the experts that the selections offer; with `ask`, ask about each.

        Experts that another of their tasks needs are not deleted to make room.
        """
        fetched, stopped, failed = False, set(), {}
        missing: dict[Expert, list[int]] = {}
        for item in selections:
            if item.offer:
                missing.setdefault(item.offer, []).append(item.task_id)
        spared = _needed(selections)
        for expert, task_ids in missing.items():
            try:
                if await self._agreed(expert, live, spared, ask=ask):
                    await self._fetch(expert, task_ids, live, spared)
                    fetched = True
            except GivenUpError as error:
                stopped.add(expert.id)
                live.show(Noted(str(error)))
                for task_id in task_ids:
                    live.show(TaskProgress(task_id, None, str(error)))
            except JarvisError as error:
                failed[expert.id] = str(error)
        return Acquisition(fetched, frozenset(stopped), failed)

    async def _agreed(
        self, expert: Expert, live: LiveTurn, spared: Collection[str], *, ask: bool
    ) -> bool:
        gone, parts = self._fetcher.displaced(expert, spared=spared), self._fetcher.missing(expert)
        small = 0 < sum(each.download_mb for each in parts) <= self.ask_above_mb
        pickled = any(each.pickled for each in parts)
        with_base = expert.base in parts  # otherwise it is here, or there is none
        runner = next((each for each in parts if not each.task), None)
        needed = described(expert if with_base else replace(expert, base=None))
        if runner and len(parts) == 1:
            needed = described(runner)
        ask = ask or self._policy.asks_for_downloads or runner is not None
        if small and not gone and not pickled and not ask:
            live.show(Noted(tr("{expert} is fetched for this.", expert=needed)))
            return True
        question = tr("This needs {expert}.", expert=needed)
        if expert.base and with_base:
            base = described(expert.base)
            question += " " + tr("That includes {expert}, which it is based on.", expert=base)
        if pickled:
            question += " " + tr(
                "Its weights come as a pickle, a format that can contain code; they are read "
                "safely and stored in the safe format."
            )
        if runner and len(parts) > 1:
            runs = described(runner)
            question += " " + tr("It also needs {expert}, which runs experts here.", expert=runs)
        if gone:
            question += " " + trn(
                "To make room on the disk, {experts} will be deleted.",
                "To make room on the disk, {experts} will be deleted.",
                len(gone),
                experts=both(*gone),
            )
        by_voice = not gone and not pickled
        return await live.confirm(
            tr("{question} Download it now?", question=question),
            yes=tr("Download"),
            by_voice=by_voice,
        )

    async def _fetch(
        self, expert: Expert, task_ids: Sequence[int], live: LiveTurn, spared: Collection[str]
    ) -> None:
        def report(fraction: float | None, message: str) -> None:
            for task_id in task_ids:
                live.show(TaskProgress(task_id, fraction, message))

        await self._fetcher.fetch(expert, report, spared=spared)


def _needed(selections: Sequence[Selection]) -> set[str]:
    """The ids of the experts of these tasks, including offered ones and their base experts."""
    first = (item.candidates[0].expert if item.candidates else item.offer for item in selections)
    parts = (each for expert in first if expert for each in (expert, expert.base))
    return {each.id for each in parts if each}
