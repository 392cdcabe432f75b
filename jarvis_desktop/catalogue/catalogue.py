"""Which experts there are for a task: those on the disk, the built-in way, those to fetch."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.tasks.definition import Definition

READERS = frozenset({"image-to-text", "document-question-answering"})
"""Tasks that say what is printed somewhere: the built-in way may fail, but an LLM may invent."""


class Disk(Protocol):
    """What the catalogue asks of the weights."""

    def folder(self, expert: Expert) -> Path | None:
        """Where an installed expert's files are."""
        ...


class ShippedCatalogue:
    """The catalogue over the shipped list, the built-in methods and what is on the disk.

    `runnable` says whether the local backend can run an expert, `prompted` whether an LLM can do a
    task. `served` names tasks whose experts another part loads by itself, such as the recogniser:
    they are offered, but never a candidate.
    """

    def __init__(
        self,
        experts: Sequence[Expert],
        definitions: Mapping[str, Definition],
        *,
        weights: Disk,
        runnable: Callable[[Expert], bool],
        prompted: Callable[[str, LLM], bool] = lambda task, llm: False,
        served: Collection[str] = ("automatic-speech-recognition",),
    ) -> None:
        self.experts = tuple(experts)
        self._definitions = definitions
        self._weights = weights
        self._runnable = runnable
        self._prompted = prompted
        self._served = frozenset(served)

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Installed experts, the largest first; after them the built-in way."""
        installed = [
            expert
            for expert in self._of(task)
            if task not in self._served
            and self._runnable(expert)
            and self._weights.folder(expert) is not None
        ]
        installed.sort(key=lambda expert: -expert.download_mb)
        found = [Candidate(expert, "local", heavy=True) for expert in installed]
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
        expert = Expert(llm.name, task, f"The LLM itself: {definition.type.summary}")
        spare = task in READERS and definition.method is not None
        return Candidate(expert, "llm", remote=llm.remote, spare=spare)

    def obtainable(self, task: str) -> Sequence[Expert]:
        """Experts that could be fetched and would then run here, the smallest first."""
        return tuple(
            expert
            for expert in self._of(task)
            if self.can_run(expert) and self._weights.folder(expert) is None
        )

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Experts of the task that nothing here can run yet, the smallest first."""
        return tuple(expert for expert in self._of(task) if not self.can_run(expert))

    def can_run(self, expert: Expert) -> bool:
        """Whether the expert would run here once it is fetched."""
        return expert.task in self._served or self._runnable(expert)

    def find(self, name: str) -> Expert:
        """The expert of that handle or Hub repository. Raises InputError with near names."""
        for expert in self.experts:
            if name.casefold() in (expert.id.casefold(), expert.repo.casefold()):
                return expert
        names = [expert.id for expert in self.experts]
        near = difflib.get_close_matches(name.casefold(), names, n=3)
        raise InputError(
            f"There is no expert {name} in the catalogue.",
            hint=f"Did you mean {' or '.join(near)}?"
            if near
            else "See them with: jarvis-desktop experts list.",
        )

    def _of(self, task: str) -> list[Expert]:
        found = (
            replace(expert, task=task)
            for expert in self.experts
            if task in (expert.task, *expert.also)
        )
        return sorted(found, key=lambda expert: expert.download_mb)
