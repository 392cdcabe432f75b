"""Manages experts and LLMs for the user: what is installed, available and being downloaded.

Its rules combine the settings, this computer, and what is on its disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jarvis_desktop.assistant.selection.selector import Eligibility, ExpertCapacity, LicenceRules
from jarvis_desktop.backends.local.backend import (
    LocalBackend,
    SmokeTestResult,
    has_smoke_test,
    smoke_test,
    supports_offload,
)
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import SHIPPED_SPEED, SHIPPED_WHISPER, Expert, times_real_time
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.placement import MB, MemorySize, limits
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.core.task import Report, TaskType
from jarvis_desktop.experts.catalogue import (
    ExpertHit,
    ExpertQuery,
    ExpertSearch,
    Fit,
    ShippedCatalogue,
    fit,
    for_recogniser,
)
from jarvis_desktop.experts.downloads import Download, Downloads, ExpertDownloader, key_of
from jarvis_desktop.experts.engines import Engines, InstalledEngine
from jarvis_desktop.experts.hub.entry import HubQuery as WantedOfHub
from jarvis_desktop.experts.hub.experts import tasks_of, tasks_of_all
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh, RefreshResult
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.llm import ollama
from jarvis_desktop.llm.catalogue import (
    KnownLLM,
    LLMInventory,
    LLMTrial,
    OllamaDownloader,
    list_llms,
    settings_for,
    try_and_measure,
)
from jarvis_desktop.llm.choice import LLMChoice, LLMInMemory, LLMPreference
from jarvis_desktop.llm.profile import PlanCheck
from jarvis_desktop.llm.transformers_local import TransformersLLM
from jarvis_desktop.paths import Paths
from jarvis_desktop.platform.hardware_probe import free_disk_bytes
from jarvis_desktop.platform.work_server import Work, WorkAddress
from jarvis_desktop.process import engine
from jarvis_desktop.settings import Current, ExpertSettings, LLMSettings

OLLAMA_START_TIMEOUT_S = 15.0
"""How long Ollama may take to start."""


class ExpertDependencies(Protocol):
    """The parts of the application that are needed here."""

    policy: Policy
    paths: Paths
    inventory: Mapping[str, TaskType]
    experts: tuple[Expert, ...]
    catalogue: ShippedCatalogue
    hub: HubIndex
    hub_refresh: HubRefresh
    weights: Weights
    engines: Engines
    llms: LLMChoice
    local: LocalBackend

    @property
    def plan_check(self) -> PlanCheck:
        """Has an LLM plan some requests."""

    @property
    def store(self) -> ArtifactStore:
        """Provides folders for test runs."""


@dataclass(frozen=True, slots=True)
class InstalledExpert:
    """An expert on this computer."""

    expert: Expert
    size: int
    """Bytes on the disk."""
    used: float
    """When it was last used or fetched, in seconds since 1970."""
    folder: Path
    fit: Fit
    at_work: bool = False
    """Whether it is in memory, or the LLM in use, so that it cannot be removed now."""
    needed_by: tuple[str, ...] = ()
    """The installed experts that are built on it."""
    can_be_tried: bool = False


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What runs experts on this computer."""

    used: InstalledEngine | None
    download_mb: int
    """About how large the download of the newest one is."""
    newest: bool
    """Whether the one in use is the newest."""
    in_environment: bool
    """Whether it is installed beside the application, so that none is needed."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How much of a memory is used by whom, in bytes."""

    whole: int
    """The total; 0 if unknown."""
    experts: int
    llm: int
    free: int
    most: int
    """The limit for all experts together; 0 for none."""
    name: str = ""
    """The name of the graphics card."""


class ExpertManager:
    """Belongs to the application's loop; its properties may be read from any thread."""

    def __init__(self, dependencies: ExpertDependencies) -> None:
        self._dependencies = dependencies
        self._neighbour = LLMInMemory(dependencies.llms)
        self.downloads = Downloads(
            {
                "expert": ExpertDownloader(
                    dependencies.weights, find=dependencies.catalogue.find, free=self._free
                ),
                "llm": OllamaDownloader(dependencies.llms),
                "engine": dependencies.engines,
            },
            kept=dependencies.paths.data / "downloads.json",
            allowed=lambda: dependencies.policy.allows_downloads,
            on_done=self._done,
        )

    async def close(self) -> None:
        """Stop the downloads."""
        await self.downloads.close()

    @property
    def may_fetch(self) -> bool:
        """Whether the mode allows downloads."""
        return self._dependencies.policy.allows_downloads

    @property
    def known_of_hub(self) -> int:
        """The number of known experts of the Hub; 0 if its list was not read. Any thread may
        ask."""
        return self._dependencies.hub.size

    @property
    def inventory(self) -> Mapping[str, TaskType]:
        """All tasks by name."""
        return self._dependencies.inventory

    @property
    def tasks(self) -> tuple[TaskType, ...]:
        """The tasks that shipped experts can do."""
        dependencies = self._dependencies
        ours = {name for each in dependencies.experts for name in (each.task, *each.also)}
        return tuple(each for each in dependencies.inventory.values() if each.name in ours)

    # Experts

    async def kept(self) -> tuple[InstalledExpert, ...]:
        """The experts on this computer, by name."""
        busy = self._dependencies.weights.at_work  # it changes on the loop
        return await asyncio.to_thread(self._kept, busy)

    async def engine(self) -> EngineStatus:
        """What runs experts."""

        def look() -> EngineStatus:
            engines = self._dependencies.engines
            used = engines.used()
            newest = used is not None and used.name == engines.newest
            return EngineStatus(used, engines.download_mb, newest, engine.in_environment())

        return await asyncio.to_thread(look)

    async def remove_engine(self, name: str) -> int:
        """Delete an engine and return its bytes. Raises InputError if it is in use."""
        return await asyncio.to_thread(self._dependencies.engines.remove, name)

    async def disk(self) -> MemoryUse:
        """The use of the disk."""

        def measure() -> MemoryUse:
            taken, free = self._dependencies.weights.taken(), self._free()
            return MemoryUse(taken + free, taken, 0, free, self._dependencies.weights.budget)

        return await asyncio.to_thread(measure)

    async def memory(self) -> tuple[MemoryUse, ...]:
        """The use of the main memory, and of the graphics card if it can be used."""
        local = self._dependencies.local
        hardware = await local.probe.hardware()
        experts, llm = local.held, await self._neighbour.memory()
        most = limits(hardware, local.budget)
        rooms = [MemoryUse(hardware.memory, experts.main, llm.main, hardware.available, most.main)]
        if card := hardware.graphics:
            free = hardware.graphics_free or (MemorySize(0, card.memory) - experts - llm).graphics
            rooms.append(
                MemoryUse(
                    card.memory, experts.graphics, llm.graphics, free, most.graphics, card.name
                )
            )
        return tuple(rooms)

    def search(self, sought: ExpertQuery) -> list[ExpertHit]:
        """Experts of the shipped list and of the Hub. It takes a moment; any thread may call it."""
        dependencies, local = self._dependencies, self._dependencies.local
        pipelines = tasks_of(sought.task) if sought.task else ()
        room = limits(local.probe.guess(), local.budget)
        search = ExpertSearch(
            dependencies.catalogue,
            dependencies.hub,
            fit=self._fitting(),
            memory_mb=max(room.main, room.graphics) / MB,
            here={each.id for each in dependencies.weights.installed()},
        )
        return search(replace(sought, pipelines=pipelines))

    def displaced(self, expert: Expert) -> Sequence[str]:
        """The experts that would be deleted to make room for this one. Raises UnavailableError."""
        return self._dependencies.weights.displaced(expert)

    def fetch(self, expert: Expert) -> None:
        """Queue the download of an expert, after that of its base. Raises JarvisError."""
        self.displaced(expert)
        for each in self._dependencies.weights.missing(expert):
            self.downloads.add(*key_of(each), size=each.download_mb * MB)

    async def fetch_now(self, expert: Expert, report: Report) -> None:
        """Fetch an expert that somebody is waiting for. Raises JarvisError."""
        for each in self._dependencies.weights.missing(expert):
            await self.downloads.fetch(*key_of(each), report)

    async def fetch_engine(self, expert: Expert, report: Report) -> None:
        """Fetch what runs an expert, if that is missing. Raises JarvisError."""
        for each in self._dependencies.weights.missing(expert):
            if (key := key_of(each))[0] == "engine":
                await self.downloads.fetch(*key, report)

    async def remove(self, name: str) -> int:
        """Delete an expert and return its bytes. Raises InputError if it is in use."""
        return await asyncio.to_thread(self._dependencies.weights.remove, Expert(name, ""))

    async def refresh(self, report: Report) -> RefreshResult:
        """Read the Hub's list of experts. Raises JarvisError; cancelling keeps what was read."""
        dependencies = self._dependencies
        if not self.may_fetch:
            raise InputError(
                tr("The mode is offline, so the Hub is not asked."), hint=tr("Change the mode.")
            )
        return await dependencies.hub_refresh.run(
            tasks_of_all(dependencies.inventory),
            report,
            shipped=[each for each in dependencies.experts if each.repo],
            known=await asyncio.to_thread(dependencies.hub.checks),
        )

    async def try_expert(self, name: str, report: Report) -> SmokeTestResult:
        """Run an expert on a small example. Raises JarvisError; cancelling ends it."""
        dependencies = self._dependencies
        expert = await asyncio.to_thread(dependencies.catalogue.find, name)
        folder = await asyncio.to_thread(dependencies.store.workdir)
        try:
            return await smoke_test(
                dependencies.local, expert, dependencies.inventory[expert.task], folder, report
            )
        finally:
            await asyncio.to_thread(dependencies.store.discard, folder)

    # LLMs

    async def llms(self, *, anew: bool = False) -> LLMInventory:
        """List the LLMs. `anew` checks everything again."""
        if anew:
            self._dependencies.llms.forget()
        return await list_llms(
            self._dependencies.llms,
            experts=self._dependencies.experts,
            program=lambda: bool(ollama.command()),
        )

    async def wish(self, name: str) -> dict[str, str]:
        """The settings that select this LLM, which may be "auto". Raises InputError."""
        return await settings_for(self._dependencies.llms, name)

    async def served_llms(self, address: str) -> Sequence[str]:
        """The names of the LLMs of a service. Raises JarvisError."""
        return [each.name for each in await self._dependencies.llms.of_service(address)]

    def pull(self, name: str, *, size: int = 0) -> None:
        """Queue the download of an LLM of Ollama. Raises InputError."""
        self.downloads.add("llm", name, size=size)

    async def remove_llm(self, known: KnownLLM) -> None:
        """Delete an LLM from the disk. Raises JarvisError."""
        if known.where == "ollama":
            await self._dependencies.llms.ollama.remove(known.name)
        else:
            await self.remove(known.name)
        self._dependencies.llms.forget()

    async def try_llm(self, known: KnownLLM, tell: Callable[[LLMTrial], None]) -> LLMTrial:
        """Ask an LLM a short question, then measure it; `tell` gets the result so far.

        Raises JarvisError.
        """
        llms = self._dependencies.llms
        own = known.used or not known.where
        auto = known.where == "openai" and llms.wanted.provider == "auto"
        address = llms.wanted.address if auto or llms.wanted.provider == known.where else ""
        wanted = LLMPreference(
            known.where or "auto", known.name, address, context=llms.wanted.context
        )
        choice = llms if own else llms.alike(wanted)
        try:
            return await try_and_measure(choice, self._dependencies.plan_check, tell)
        finally:
            if choice is not llms:
                await choice.close()

    async def start_ollama(self) -> None:
        """Start Ollama and wait until it answers. Raises UnavailableError."""
        await asyncio.to_thread(ollama.start)
        llms, loop = self._dependencies.llms, asyncio.get_running_loop()
        latest = loop.time() + OLLAMA_START_TIMEOUT_S
        while not (await llms.of_ollama()).running and loop.time() < latest:  # noqa: ASYNC110
            await asyncio.sleep(0.3)
        llms.forget()

    def _kept(self, busy: Collection[str]) -> tuple[InstalledExpert, ...]:
        dependencies, fitting = self._dependencies, self._fitting()
        found = dependencies.weights.installed()
        experts = {each.id: self._expert(each.id, each.repo) for each in found}
        return tuple(
            InstalledExpert(
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
            return self._dependencies.catalogue.find(name)
        except InputError:  # the Hub's list that it came from is gone
            return Expert(name, "", repo=repo)

    def _can_be_tried(self, expert: Expert) -> bool:
        task = self._dependencies.inventory.get(expert.task)
        return (
            task is not None
            and not for_recogniser(expert)
            and self._dependencies.local.can_run(expert)
            and has_smoke_test(task)
        )

    def _fitting(self) -> Callable[[Expert], Fit]:
        local = self._dependencies.local
        hardware, measured = local.probe.guess(), local.measures.known()

        def fitting(expert: Expert) -> Fit:
            return fit(
                expert,
                hardware,
                budget=local.budget,
                measured=measured,
                by_parts=supports_offload(expert.task),
            )

        return fitting

    def _free(self) -> int:
        return free_disk_bytes(self._dependencies.paths.weights)

    def _done(self, download: Download) -> None:
        if download.kind == "engine":
            self._dependencies.local.probe.forget()
        self._dependencies.llms.forget()


WHISPER_EXPERTS = ("whisper-small", "whisper-base", "whisper-tiny")
"""Recognisers of the catalogue, the best and slowest first."""
MIN_LIVE_SPEED = 9.0
"""Multiples of real time needed for live speech: Whisper always processes half a minute, which
should take about three seconds at most."""


def eligibility_of(
    experts: ExpertSettings,
    paths: Paths,
    local: LocalBackend,
    ruled_out: Callable[[str, str], bool],
) -> Eligibility:
    """The rules for experts by the user's settings and this computer."""

    def room() -> ExpertCapacity:
        disk = free_disk_bytes(paths.weights)
        hardware, measured = local.probe.guess(), local.measures.known()
        return ExpertCapacity(hardware, disk, experts.disk_budget, local.budget, measured)

    return Eligibility(
        room=room,
        licences=LicenceRules(experts.allowed_licences, experts.denied_licences),
        gated=experts.gated,
        ruled_out=ruled_out,
    )


def hub_query_of(
    settings: Callable[[], ExpertSettings], local: LocalBackend
) -> Callable[[], WantedOfHub]:
    """What is searched for on the Hub with these settings and this computer."""

    def policy() -> WantedOfHub:
        room, experts = limits(local.probe.guess(), local.budget), settings()
        return WantedOfHub(
            allowed_licences=experts.allowed_licences,
            denied_licences=experts.denied_licences,
            gated=experts.gated,
            memory_mb=max(room.main, room.graphics) / MB,
        )

    return policy


def whisper_folder(
    experts: Sequence[Expert], weights: Weights, *, named: str = "", cores: int = 0
) -> Path | None:
    """The folder of the recogniser to use: the `named` one, else the best on the disk; None for the
    shipped one.

    For live speech on the processor, pass its `cores`: then it is the best that keeps up, or else
    the fastest.
    """
    if named == SHIPPED_WHISPER:
        return None
    known = {item.id: item for item in experts}
    there = [
        (expert, folder)
        for expert in filter(None, map(known.get, WHISPER_EXPERTS))
        if (folder := weights.folder(expert))
    ]
    wished = [each for each in there if each[0].id == named]
    quick = [each for each in there if times_real_time(each[0].speed, cores) >= MIN_LIVE_SPEED]
    for expert, folder in wished or (quick or there[-1:] if cores else there):
        weights.used(expert)
        return folder
    return None


def sentence_seconds(
    measured: tuple[Path, float] | None, experts: Sequence[Expert], weights: Weights
) -> Mapping[str, float]:
    """The seconds in which each recogniser hears a sentence on this computer, by its handle, from
    the `measured` weights and seconds of one of them; empty if none was measured."""
    if measured is None:
        return {}
    folder, seconds = measured
    known = [each for each in experts if each.speed]
    speeds = {weights.folder(each): each.speed for each in known}
    work = seconds * speeds.get(folder, SHIPPED_SPEED)
    return {each.id: work / each.speed for each in known}


def experts_in_use(
    holding: Iterable[str], llm: LLM | None, experts: Sequence[Expert]
) -> frozenset[str]:
    """The experts that must stay on the disk: those in memory, their bases, and that of the LLM."""
    names = {*holding, *([llm.name] if llm else ())}
    return frozenset(names | {each.base.id for each in experts if each.base and each.id in names})


def make_room_for_llm(local: LocalBackend, llms: LLMChoice, weights: Weights) -> None:
    """Free the memory that an LLM needs before it is used."""
    local.make_way_for_llm()
    if isinstance(llms.in_use, TransformersLLM):
        weights.used(Expert(llms.in_use.name, "text-generation"))


def engine_in_use(local: LocalBackend, llms: LLMChoice) -> bool:
    """Whether a process is running with torch."""
    llm = llms.in_use
    return bool(local.holding or (isinstance(llm, TransformersLLM) and llm.pid))


def chat_experts(experts: tuple[Expert, ...], weights: Weights) -> list[tuple[Expert, Path]]:
    """The chat LLMs on the disk, with their folders."""
    chat_experts = [item for item in experts if item.task == "text-generation"]
    return [(item, folder) for item in chat_experts if (folder := weights.folder(item))]


def work_address(current: Current, work: Work) -> WorkAddress:
    """The server that the settings name for a kind of work."""
    servers = current.settings.servers
    return WorkAddress(
        getattr(servers, work),
        getattr(servers, f"{work}_model"),
        getattr(servers, f"{work}_voice", ""),
        servers.spoken,
    )


def llm_preference(llm: LLMSettings) -> LLMPreference:
    """The LLM that the settings ask for."""
    return LLMPreference(
        llm.provider, llm.id, llm.address, think=llm.think, context=llm.context, sees=llm.sees
    )
