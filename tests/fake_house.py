"""The manager of experts and LLMs over a fetcher without a network; no part starts a process."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from jarvis_desktop.app.experts import ExpertManager
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.placement import MB, Graphics, Hardware, MemorySize
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue
from jarvis_desktop.experts.engines import Engines
from jarvis_desktop.experts.hub.experts import HubOffers
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.paths import Paths, shipped
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.tasks.registry import DEFINITIONS, INVENTORY
from tests.fake_fetcher import FakeFetcher

GB = 1000 * MB
LAPTOP = Hardware(memory=16 * GB, available=9 * GB, cores=8)
GAMER = Hardware(
    memory=32 * GB,
    available=20 * GB,
    cores=16,
    graphics=Graphics("NVIDIA GeForce RTX 4070", memory=12 * GB),
    graphics_free=7 * GB,
)


class FakeProbe(GpuProbe):
    """Looks at nothing."""

    def __init__(self, hardware: Hardware = LAPTOP) -> None:
        super().__init__(signs=lambda: False)
        self.found = hardware
        self.asked = 0

    async def hardware(self) -> Hardware:
        self.asked += 1
        return self.found

    def guess(self) -> Hardware:
        return self.found


class FakeLocal(LocalBackend):
    """Holds what the test says."""

    taken = MemorySize()

    @property
    def held(self) -> MemorySize:
        return self.taken


@dataclass
class FakeHouse:
    """What the expert manager depends on."""

    policy: Policy
    paths: Paths
    experts: tuple[Expert, ...]
    weights: FakeFetcher
    llms: LLMChoice
    store: FileStore
    hardware: Hardware = LAPTOP
    endpoint: str | None = None
    """Of the Hub, for its list."""
    plans: Sequence[bool] = (True, True, True, False)
    """Which plans of an LLM that is measured are right."""
    inventory: Mapping[str, TaskType] = field(
        default_factory=lambda: {each.name: each for each in INVENTORY}
    )
    hub: HubIndex = field(init=False)
    hub_refresh: HubRefresh = field(init=False)
    local: FakeLocal = field(init=False)
    engines: Engines = field(init=False)
    catalogue: ShippedCatalogue = field(init=False)

    def __post_init__(self) -> None:
        definitions = {each.type.name: each for each in DEFINITIONS}
        self.hub = HubIndex(self.paths.hub_index)
        self.hub_refresh = HubRefresh(self.paths.hub_index, endpoint=self.endpoint, pause=0.01)
        list_of_engine = shipped("resources", "engine", "requirements.txt")
        self.engines = Engines(self.paths.engines, list_of_engine, build=lambda: "cpu")
        self.local = FakeLocal(definitions, self.weights, probe=FakeProbe(self.hardware))
        self.catalogue = ShippedCatalogue(
            self.experts,
            definitions,
            weights=cast(Any, self.weights),
            runnable=LocalBackend.can_run,
            hub=HubOffers(self.hub),
        )

    async def plan_check(self, llm: LLM) -> AsyncGenerator[bool, None]:
        for right in self.plans:
            yield right


def fake_expert_manager(app: Any, **settings: Any) -> ExpertManager:
    """The expert manager of a fake application."""
    house = FakeHouse(
        app.policy, app.paths, tuple(app.experts), app.weights, app.llms, app.store, **settings
    )
    return ExpertManager(cast(Any, house))


def kept(root: Path, *experts: tuple[Expert, int, float]) -> Sequence[Any]:
    """Experts as they lie on the disk: each with its size in MB, and when it was used last."""
    from jarvis_desktop.experts.weights import InstalledWeights

    found = []
    for expert, size, used in experts:
        folder = root / expert.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        found.append(InstalledWeights(expert.id, expert.repo, "", size * MB, folder, used))
    return found
