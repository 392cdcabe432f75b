"""Experts and LLMs as a person keeps them: what is here and what it takes, what could come, and
what comes now. The window's page and the command line ask it. Part of compose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jarvis_desktop.backends.local import LocalBackend, works_by_parts
from jarvis_desktop.backends.trying import Tried, can_be_tried
from jarvis_desktop.backends.trying import tried as expert_tried
from jarvis_desktop.catalogue.catalogue import ShippedCatalogue, for_recogniser
from jarvis_desktop.catalogue.download import Download
from jarvis_desktop.catalogue.downloads import Downloads
from jarvis_desktop.catalogue.expert_road import ExpertRoad
from jarvis_desktop.catalogue.fits import Fit, fit
from jarvis_desktop.catalogue.hub.experts import tasks_of, tasks_of_all
from jarvis_desktop.catalogue.hub.index import HubIndex
from jarvis_desktop.catalogue.hub.refresh import HubRefresh, Refreshed
from jarvis_desktop.catalogue.searching import Hit, Search, Sought
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.computer import free_disk_bytes
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB, Memory
from jarvis_desktop.core.placing import limits
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm import ollama_program
from jarvis_desktop.llm.choice import LLMChoice, Wanted
from jarvis_desktop.llm.in_memory import LLMInMemory
from jarvis_desktop.llm.listing import Known, Shelved, listed, wish
from jarvis_desktop.llm.pulling import OllamaRoad
from jarvis_desktop.llm.trial import Trial, tried
from jarvis_desktop.paths import Paths

STARTING = 15.0
"""Seconds that Ollama may take to start."""


class House(Protocol):
    """The parts of the built application that are needed here."""

    policy: Policy
    paths: Paths
    inventory: Mapping[str, TaskType]
    experts: tuple[Expert, ...]
    catalogue: ShippedCatalogue
    hub: HubIndex
    hub_refresh: HubRefresh
    weights: Weights
    llms: LLMChoice
    local: LocalBackend

    @property
    def store(self) -> ArtifactStore:
        """Has folders for what is tried."""
        ...


@dataclass(frozen=True, slots=True)
class Kept:
    """An expert on this computer."""

    expert: Expert
    size: int
    """Bytes on the disk."""
    used: float
    """When it was used last, or fetched, in seconds since 1970."""
    folder: Path
    fit: Fit
    at_work: bool = False
    """Whether it is in memory, or the LLM in use: it is not to be removed now."""
    needed_by: tuple[str, ...] = ()
    """The experts here that are built upon it."""
    can_be_tried: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """Who has how much of something now, in bytes."""

    whole: int
    """All of it; 0 where the system does not say."""
    experts: int
    llm: int
    free: int
    most: int
    """What experts may take of it together; 0 for no limit."""
    name: str = ""
    """Of the graphics card."""


class Shelf:
    """Belongs to the application's loop; what it says of itself may be asked of any thread."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._neighbour = LLMInMemory(house.llms)
        self.downloads = Downloads(
            {
                "expert": ExpertRoad(house.weights, find=house.catalogue.find, free=self._free),
                "llm": OllamaRoad(house.llms),
            },
            kept=house.paths.data / "downloads.json",
            allowed=lambda: house.policy.allows_downloads,
            on_done=self._done,
        )

    async def close(self) -> None:
        """Stop the downloads."""
        await self.downloads.close()

    @property
    def may_fetch(self) -> bool:
        """Whether the mode allows downloads."""
        return self._house.policy.allows_downloads

    @property
    def known_of_hub(self) -> int:
        """How many experts of the Hub are known; 0 where its list was not read. Any thread."""
        return self._house.hub.size

    @property
    def inventory(self) -> Mapping[str, TaskType]:
        """All tasks by their names."""
        return self._house.inventory

    @property
    def tasks(self) -> tuple[TaskType, ...]:
        """Those that experts are for: of the shipped list, or with a list of the Hub."""
        house = self._house
        ours = {name for each in house.experts for name in (each.task, *each.also)}
        return tuple(each for each in house.inventory.values() if each.name in ours)

    # Experts

    async def kept(self) -> tuple[Kept, ...]:
        """The experts on this computer, by name."""
        busy = self._house.weights.at_work  # it changes on the loop
        return await asyncio.to_thread(self._kept, busy)

    async def disk(self) -> Room:
        """The disk."""

        def measure() -> Room:
            taken, free = self._house.weights.taken(), self._free()
            return Room(taken + free, taken, 0, free, self._house.weights.budget)

        return await asyncio.to_thread(measure)

    async def memory(self) -> tuple[Room, ...]:
        """The main memory now, and the graphics card where there is one to compute with."""
        local = self._house.local
        hardware = await local.probe.hardware()
        experts, llm = local.held, await self._neighbour.memory()
        most = limits(hardware, local.budget)
        rooms = [Room(hardware.memory, experts.main, llm.main, hardware.available, most.main)]
        if card := hardware.graphics:
            free = hardware.graphics_free or (Memory(0, card.memory) - experts - llm).graphics
            rooms.append(
                Room(card.memory, experts.graphics, llm.graphics, free, most.graphics, card.name)
            )
        return tuple(rooms)

    def search(self, sought: Sought) -> list[Hit]:
        """Experts of the shipped list and of the Hub. It takes a moment; from any thread."""
        house, local = self._house, self._house.local
        pipelines = tasks_of(sought.task) if sought.task else ()
        room = limits(local.probe.guess(), local.budget)
        search = Search(
            house.catalogue,
            house.hub,
            fit=self._fitting(),
            memory_mb=max(room.main, room.graphics) / MB,
            here={each.id for each in house.weights.installed()},
        )
        return search(replace(sought, pipelines=pipelines))

    def displaced(self, expert: Expert) -> Sequence[str]:
        """Which experts would be deleted to make room for one. Raises UnavailableError."""
        return self._house.weights.displaced(expert)

    def fetch(self, expert: Expert) -> None:
        """Put an expert in line, after what it is built upon. Raises JarvisError."""
        self.displaced(expert)
        for each in self._house.weights.missing(expert):
            self.downloads.add("expert", each.id, size=each.download_mb * MB)

    async def fetch_now(self, expert: Expert, report: Report) -> None:
        """Fetch one that somebody waits for. Raises JarvisError."""
        for each in self._house.weights.missing(expert):
            await self.downloads.fetch("expert", each.id, report)

    async def remove(self, name: str) -> int:
        """Delete an expert; how many bytes that was. Raises InputError where it is at work."""
        return await asyncio.to_thread(self._house.weights.remove, Expert(name, ""))

    async def refresh(self, report: Report) -> Refreshed:
        """Read the Hub's list of experts. Raises JarvisError; cancelling keeps what was read."""
        house = self._house
        if not self.may_fetch:
            raise InputError(
                tr("The mode is offline, so the Hub is not asked."), hint=tr("Change the mode.")
            )
        return await house.hub_refresh.run(
            tasks_of_all(house.inventory),
            report,
            shipped=[each for each in house.experts if each.repo],
            known=await asyncio.to_thread(house.hub.checks),
        )

    async def try_expert(self, name: str, report: Report) -> Tried:
        """Run an expert with something small. Raises JarvisError; cancelling ends it."""
        house = self._house
        expert = await asyncio.to_thread(house.catalogue.find, name)
        folder = await asyncio.to_thread(house.store.workdir)
        try:
            return await expert_tried(
                house.local, expert, house.inventory[expert.task], folder, report
            )
        finally:
            await asyncio.to_thread(house.store.discard, folder)

    # LLMs

    async def llms(self, *, anew: bool = False) -> Shelved:
        """What there is of LLMs; `anew` looks at everything again."""
        if anew:
            self._house.llms.forget()
        return await listed(
            self._house.llms,
            experts=self._house.experts,
            program=lambda: bool(ollama_program.command()),
        )

    async def wish(self, name: str) -> dict[str, str]:
        """What the settings say where this LLM is to be used; also "auto". Raises InputError."""
        return await wish(self._house.llms, name)

    def pull(self, name: str, *, size: int = 0) -> None:
        """Put an LLM of Ollama in line. Raises InputError."""
        self.downloads.add("llm", name, size=size)

    async def remove_llm(self, known: Known) -> None:
        """Delete an LLM from the disk. Raises JarvisError."""
        if known.where == "ollama":
            await self._house.llms.ollama.remove(known.name)
        else:
            await self.remove(known.name)
        self._house.llms.forget()

    async def try_llm(self, known: Known, tell: Callable[[Trial], None]) -> Trial:
        """Ask an LLM something short; the answer is told as it comes. Raises JarvisError."""
        llms = self._house.llms
        own = known.used or known.where in ("", "openai")
        address = llms.wanted.address if llms.wanted.provider == "ollama" else ""
        wanted = Wanted(known.where or "auto", known.name, address, context=llms.wanted.context)
        choice = llms if own else llms.alike(wanted)
        try:
            llm = await choice.current()
            if llm is None:
                raise InputError(choice.reason)
            return await tried(llm, tell)
        finally:
            if choice is not llms:
                await choice.close()

    async def start_ollama(self) -> None:
        """Start the program Ollama, and wait until it answers. Raises UnavailableError."""
        await asyncio.to_thread(ollama_program.start)
        llms, loop = self._house.llms, asyncio.get_running_loop()
        latest = loop.time() + STARTING
        while not (await llms.of_ollama()).running and loop.time() < latest:  # noqa: ASYNC110
            await asyncio.sleep(0.3)
        llms.forget()

    def _kept(self, busy: Collection[str]) -> tuple[Kept, ...]:
        house, fitting = self._house, self._fitting()
        found = house.weights.installed()
        experts = {each.id: self._expert(each.id, each.repo) for each in found}
        return tuple(
            Kept(
                expert := experts[each.id],
                each.size,
                each.used,
                each.path,
                fitting(expert),
                at_work=each.id in busy,
                needed_by=tuple(
                    other.id
                    for other in experts.values()
                    if other.base and other.base.id == each.id
                ),
                can_be_tried=self._can_be_tried(expert),
            )
            for each in found
        )

    def _expert(self, name: str, repo: str) -> Expert:
        try:
            return self._house.catalogue.find(name)
        except InputError:  # the list of the Hub that it came from is gone
            return Expert(name, "", repo=repo)

    def _can_be_tried(self, expert: Expert) -> bool:
        task = self._house.inventory.get(expert.task)
        return (
            task is not None
            and not for_recogniser(expert)
            and self._house.local.can_run(expert)
            and can_be_tried(task)
        )

    def _fitting(self) -> Callable[[Expert], Fit]:
        local = self._house.local
        hardware, measured = local.probe.guess(), local.measures.known()

        def fitting(expert: Expert) -> Fit:
            return fit(
                expert,
                hardware,
                budget=local.budget,
                measured=measured,
                by_parts=works_by_parts(expert.task),
            )

        return fitting

    def _free(self) -> int:
        return free_disk_bytes(self._house.paths.weights)

    def _done(self, download: Download) -> None:
        self._house.llms.forget()
