"""What the catalogue takes from the index: experts to fetch for a task, and facts of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from jarvis_desktop.catalogue.hub import experts
from jarvis_desktop.catalogue.hub.checks import Check
from jarvis_desktop.catalogue.hub.entry import Entry
from jarvis_desktop.catalogue.hub.index import HubIndex
from jarvis_desktop.catalogue.hub.wanted import Wanted
from jarvis_desktop.core.expert import Expert

BEST = 5
"""How many experts of the Hub are offered for a task."""


def anything() -> Wanted:
    """The policy of someone who wants all there is."""
    return Wanted()


class HubOffers:
    """The best of the index for a task. `policy` says what the person wants and what finds room.

    May be used from any thread. What was found for a task without a request is kept until the
    index changes: a planner asks that of every task.
    """

    def __init__(self, index: HubIndex, policy: Callable[[], Wanted] = anything) -> None:
        self.index = index
        self._policy = policy
        self._seen = -1
        self._kept: dict[tuple[str, bool], tuple[Expert, ...]] = {}
        self._checks: Mapping[str, Check] = {}
        self._named: dict[str, Entry | None] = {}

    def best(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """The best few for a task of ours that could be fetched and run here, best first."""
        return self._some(task, request, served=False)

    def served(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """The best few that some provider runs behind an API, best first, whatever their size."""
        return self._some(task, request, served=True)

    def _some(self, task: str, request: str, *, served: bool) -> tuple[Expert, ...]:
        names = experts.tasks_of(task)
        self._look()
        if not names or self._seen < 0:
            return ()
        if not request and (task, served) in self._kept:
            return self._kept[task, served]
        wanted = replace(self._policy(), tasks=names, words=request)
        found: list[Expert | None]
        if served:
            wanted = replace(wanted, served=True, memory_mb=0, limit=BEST)
            hits = self.index.search(wanted)
            found = [replace(experts.described(each.entry), task=task) for each in hits]
        else:
            # Some turn out to be no experts, for want of a direction in which they translate.
            hits = self.index.search(replace(wanted, runs=True, limit=3 * BEST))
            found = [experts.expert_of(each.entry, task) for each in hits]
        best = tuple([each for each in found if each])[:BEST]
        if not request:
            self._kept[task, served] = best
        return best

    def warm(self, tasks: Iterable[str]) -> None:
        """Look for the best of these tasks now, so that nobody waits for it on an event loop."""
        for task in tasks:
            self.best(task)
            self.served(task)

    def named(self, name: str) -> Entry | None:
        """The entry of a repository, by its id or its handle."""
        self._look()
        if name not in self._named:
            self._named[name] = experts.find(self.index, name) if self._seen >= 0 else None
        return self._named[name]

    def check(self, repo: str) -> Check | None:
        """What the Hub said of a repository of the shipped list."""
        self._look()
        return self._checks.get(repo)

    def _look(self) -> None:
        """Forget what was kept of an index that has changed."""
        if (version := self.index.version) != self._seen:
            self._kept, self._named = {}, {}
            self._checks = self.index.checks()
            self._seen = version
