"""Which experts there are for a task: those on the disk, the built-in way, those to fetch."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from jarvis_desktop.catalogue.hub import experts as hub_experts
from jarvis_desktop.catalogue.hub.checks import checked
from jarvis_desktop.catalogue.hub.entry import Entry
from jarvis_desktop.catalogue.hub.offers import HubOffers
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

READERS = frozenset({"image-to-text", "document-question-answering", "table-question-answering"})
"""Tasks that say what is printed somewhere: the built-in way may fail, but an LLM may invent."""


class Fetched(Protocol):
    """An expert on the disk."""

    @property
    def id(self) -> str:
        """Its handle."""
        ...


class Disk(Protocol):
    """What the catalogue asks of the weights."""

    def folder(self, expert: Expert) -> Path | None:
        """Where an installed expert's files are."""
        ...

    def installed(self) -> Sequence[Fetched]:
        """What is on the disk."""
        ...


def for_recogniser(expert: Expert) -> bool:
    """Whether an expert's weights are of CTranslate2, which the application's recogniser runs."""
    return expert.task == "automatic-speech-recognition" and "model.bin" in expert.files


class ShippedCatalogue:
    """The catalogue over the shipped list, the built-in methods and what is on the disk.

    `runnable` says whether the local backend can run an expert, `prompted` whether an LLM can do a
    task. `served` says which experts another part loads by itself, such as the recogniser: they
    are offered, but never a candidate. `hub` is what is known of the whole Hub, where its list was
    read.
    """

    def __init__(
        self,
        experts: Sequence[Expert],
        definitions: Mapping[str, Definition],
        *,
        weights: Disk,
        runnable: Callable[[Expert], bool],
        prompted: Callable[[str, LLM], bool] = lambda task, llm: False,
        by_api: Callable[[Expert], Sequence[Candidate]] = lambda expert: (),
        served: Callable[[Expert], bool] = for_recogniser,
        hub: HubOffers | None = None,
    ) -> None:
        self.experts = tuple(experts)
        self._hub = hub
        self._definitions = definitions
        self._weights = weights
        self._runnable = runnable
        self._prompted = prompted
        self._by_api = by_api
        self._served = served

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Installed experts, the largest first; those behind an API; the built-in way."""
        installed = [
            expert
            for expert in (*self._of(task), *self._fetched(task))
            if not self._served(expert)
            and self._runnable(expert)
            and self._weights.folder(expert) is not None
        ]
        installed.sort(key=lambda expert: -expert.download_mb)
        found = [Candidate(expert, "local", heavy=True) for expert in installed]
        found += [item for expert in self._behind_api(task) for item in self._by_api(expert)]
        definition = self._definitions.get(task)
        if definition and definition.skill:
            found.append(Candidate(Expert(f"skill/{task}", task, definition.note), "skill"))
        if definition and definition.method:
            found.append(Candidate(Expert(f"builtin/{task}", task, definition.note), "builtin"))
        return tuple(found)

    def by_llm(self, task: str, llm: LLM) -> Candidate | None:
        """The LLM itself as an expert of the task, where there is a good prompt for it.

        It is not heavy: it is there already, for planning.
        """
        definition = self._definitions.get(task)
        if definition is None or not self._prompted(task, llm):
            return None
        expert = Expert(
            llm.name, task, tr("The LLM itself: {purpose}", purpose=tr(definition.type.summary))
        )
        spare = task in READERS and definition.method is not None
        return Candidate(expert, "llm", remote=llm.remote, spare=spare)

    def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
        """Experts that could be fetched and would then run here, the smallest first.

        Besides the shipped ones they are the best few of the Hub for the request.
        """
        best = self._hub.best(task, request) if self._hub else ()
        listed = {expert.repo.casefold() for expert in self.experts}
        found = [*self._of(task), *(each for each in best if each.repo.casefold() not in listed)]
        return tuple(
            expert
            for expert in sorted(found, key=lambda expert: expert.download_mb)
            if self.can_run(expert) and self._weights.folder(expert) is None
        )

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Experts of the task that nothing here can run yet, the smallest first."""
        return tuple(
            expert
            for expert in self._of(task)
            if not self.can_run(expert) and not expert.only_served
        )

    def can_run(self, expert: Expert) -> bool:
        """Whether the expert would run here once it is fetched."""
        return not expert.only_served and (self._served(expert) or self._runnable(expert))

    def find(self, name: str) -> Expert:
        """The expert of that handle or Hub repository. Raises InputError with near names."""
        for expert in self.known():
            if name.casefold() in (expert.id.casefold(), expert.repo.casefold()):
                return expert
        if self._hub and (entry := self._hub.named(name)):
            return self._of_hub(entry)
        names = [expert.id for expert in self.experts]
        near = difflib.get_close_matches(name.casefold(), names, n=3)
        raise InputError(
            tr("There is no expert {name} in the catalogue.", name=name),
            hint=tr("Did you mean {near}?", near=" or ".join(near))
            if near
            else tr("See them with: jarvis-desktop experts list."),
        )

    def warm(self) -> None:
        """Open what is known of the Hub; it may take a moment, and may be called in any thread."""
        if self._hub:
            self._hub.warm(self._definitions)

    def known(self) -> tuple[Expert, ...]:
        """The shipped list, with what the Hub said of it where it was asked."""
        return tuple(self._checked(expert) for expert in self.experts)

    def complaint(self, expert: Expert) -> str:
        """What has become of a shipped expert on the Hub, in a few words; "" where it is there."""
        check = self._hub.check(expert.repo) if self._hub else None
        return check.complaint if check else ""

    def _checked(self, expert: Expert) -> Expert:
        return checked(expert, self._hub.check(expert.repo)) if self._hub else expert

    def _fetched(self, task: str) -> Iterator[Expert]:
        """Experts of the Hub that were fetched without being on the shipped list."""
        if self._hub is None or not hub_experts.tasks_of(task):
            return
        shipped = {expert.id for expert in self.experts}
        for item in self._weights.installed():
            entry = None if item.id in shipped else self._hub.named(item.id)
            if entry and entry.task in hub_experts.tasks_of(task):
                expert = hub_experts.expert_of(entry, task)
                if expert:
                    yield expert

    def _of_hub(self, entry: Entry) -> Expert:
        """An entry of the index as an expert of a task of ours. Raises InputError with a reason."""
        tasks = [name for name in self._definitions if entry.task in hub_experts.tasks_of(name)]
        tasks.sort(key=lambda name: name != entry.task)
        expert = hub_experts.expert_of(entry, tasks[0]) if tasks else None
        if expert is None:
            raise InputError(
                tr(
                    "{repo} cannot be used: {reason}.",
                    repo=entry.repo,
                    reason=hub_experts.reason_against(entry),
                ),
                hint=tr("Look for another one: jarvis-desktop experts search."),
            )
        return expert

    def _behind_api(self, task: str) -> list[Expert]:
        """Experts that a provider runs: those of the shipped list, and the best few of the Hub."""
        listed = {expert.repo.casefold() for expert in self.experts}
        best = self._hub.served(task) if self._hub else ()
        others = [each for each in best if each.repo.casefold() not in listed]
        return [each for each in (*self._of(task), *others) if each.providers]

    def _of(self, task: str) -> list[Expert]:
        found = (
            replace(self._checked(expert), task=task)
            for expert in self.experts
            if task in (expert.task, *expert.also)
        )
        return sorted(found, key=lambda expert: expert.download_mb)
