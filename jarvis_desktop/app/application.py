"""The built application: what it is made of, how it gets ready, and how it ends.

Takes up changed settings while the application runs. Part of compose.

Builds the planners, and has the one work that the settings name now. Part of compose.

Builds the history, with what is not to be kept beside it, and keeps it tidy. Part of compose."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel

from jarvis_desktop.app.agent import AgentMode
from jarvis_desktop.app.experts import Shelf, wanted_llm
from jarvis_desktop.app.single_instance import Handle
from jarvis_desktop.app.speech import VoiceRoad
from jarvis_desktop.assistant.agent.function_tests import LibraryTester
from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.planning.planner import ConfiguredPlanner, LayeredPlanner
from jarvis_desktop.assistant.planning.rule_planner import EmbeddedPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.request_reader import AttachmentIntake
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Eligibility, Selector
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.assistant.timers import Bell, RingingTimers
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.task_encoder import BackgroundScorer, TaskEncoder
from jarvis_desktop.core.context import local_now, works_unkept
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Planner
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue
from jarvis_desktop.experts.hub.entry import HubQuery as WantedOfHub
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.paths import Paths, shipped
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.process import network_guard
from jarvis_desktop.process.background import BackgroundProcess
from jarvis_desktop.process.child import end_outward
from jarvis_desktop.sandbox.session import OsSandbox
from jarvis_desktop.settings import Current, ExpertSettings, Settings
from jarvis_desktop.speech.devices import Device, devices
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.storage import goals as goal_folders
from jarvis_desktop.storage.code_library import CodeLibrary
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.private_conversations import Unkept, UnkeptStore
from jarvis_desktop.text.languages import BackgroundLanguages

WAITING = frozenset({"processes"})
"""What is built once: the lanes of the executor are as wide as there are processes."""


def settle_process(settings: Settings) -> None:
    """Say how far this process, and those it starts, may reach: before anything is built."""
    network_guard.use(settings.network.proxy)
    network_guard.settle(offline=not Policy(settings.mode).allows_downloads)


@dataclass(frozen=True)
class Adoption:
    """The parts that settings are about."""

    current: Current
    policy: Policy
    road: VoiceRoad
    llms: LLMChoice
    selector: Selector
    fitting: Callable[[ExpertSettings], Eligibility]
    obtainer: ExpertAcquirer
    weights: Weights
    local: LocalBackend
    api: ApiBackend
    agent: AgentMode

    async def adopt(self, settings: Settings) -> frozenset[str]:
        """Take them up; the names of those that wait for a restart, such as "processes"."""
        before, self.current.settings = self.current.settings, settings
        changed = changes(before, settings)
        if not changed:
            return frozenset()
        if changed & {"mode", "network.proxy"}:
            self._reach(before, settings)
        if any(name.startswith("llm.") for name in changed):
            self.llms.choose(wanted_llm(settings.llm))
        self._choose_experts(settings)
        self.agent.adopt(settings.agent)
        waits = await self.road.adopt(settings.speech)
        return changed & WAITING | {f"speech.{name}" for name in waits}

    def _reach(self, before: Settings, settings: Settings) -> None:
        """The policy first: whatever asks it from now on is told the new mode. Then what is under
        way ends where it may not go on, or would not know of the change."""
        was_offline = not self.policy.allows_downloads
        self.policy.mode = settings.mode
        settle_process(settings)
        is_offline = not self.policy.allows_downloads
        if is_offline != was_offline or settings.network != before.network:
            end_outward(
                tr("The mode is “{mode}” now, so this was stopped.", mode=settings.mode.called)
                if is_offline
                else tr("The way to the network was changed, so this was stopped.")
            )
        self.api.withdraw()
        self.agent.packages.withdraw()
        self.llms.forget()

    def _choose_experts(self, settings: Settings) -> None:
        experts = settings.experts
        self.selector.fitting = self.fitting(experts)
        self.obtainer.ask_above_mb = experts.ask_above_mb
        self.weights.budget = experts.disk_budget
        self.local.budget = experts.memory_budget_mb * MB
        self.api.provider = settings.api.provider


def changes(before: BaseModel, after: BaseModel) -> frozenset[str]:
    """The names of what differs, such as "mode" and "speech.rate"."""
    found: set[str] = set()
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, BaseModel):
            found |= {f"{name}.{each}" for each in changes(old, new)}
        elif old != new:
            found.add(name)
    return frozenset(found)


def embedded_planner() -> EmbeddedPlanner:
    """The planner that needs nothing but its own weights."""
    return EmbeddedPlanner(TaskEncoder(shipped("models", "planner")))


def build_planner(
    current: Current,
    embedded: EmbeddedPlanner,
    llms: LLMChoice,
    prompts: Prompts,
    selector: Selector,
    *,
    agent: bool,
) -> ConfiguredPlanner:
    """`agent`: whether a request may be a goal; what is done for one is none of its own."""
    llm = LlmPlanner(llms, prompts, fallback=embedded, runnable=selector.can_do, agent=agent)
    # What no cue tells is left to the LLM, and to the encoder's guess only where there is none.
    layered = LayeredPlanner(EmbeddedPlanner(), llm, agent=agent)
    planners: dict[str, Planner] = {"auto": layered, "embedded": embedded, "llm": llm}
    return ConfiguredPlanner(planners, lambda: current.settings.planner.kind)


log = logging.getLogger(__name__)

HOUR = 60 * 60.0
"""Seconds between two looks at what is to be forgotten."""


@dataclass(frozen=True)
class Records:
    """The history and its files."""

    history: SqliteHistory
    store: UnkeptStore
    unkept: Unkept
    goals: Path

    def goal_folder(self, goal_id: str) -> Path:
        """Where the code of a goal works."""
        return (self.unkept.folder if works_unkept() else self.goals) / goal_id


def build_records(
    paths: Paths, inventory: Mapping[str, TaskType], now: Callable[[], datetime]
) -> Records:
    """The history of this person."""
    unkept = Unkept(paths.unkept, inventory)
    store = UnkeptStore(paths.artifacts, unkept)
    history = SqliteHistory(
        paths.database, store_root=paths.artifacts, inventory=inventory, now=now, unkept=unkept
    )
    return Records(history, store, unkept, paths.goals)


async def keep_tidy(history: SqliteHistory, days: Callable[[], int]) -> None:
    """Remove what a killed run left behind, and every hour what is to be forgotten by now.

    `days` says after how many. What cannot be done now is tried again.
    """
    while True:
        try:
            await history.tidy()
            await history.forget(days())
        except JarvisError as error:
            log.info("The history was not tidied up: %s", error.message)
        await asyncio.sleep(HOUR)


@dataclass
class Application:
    """The built application. It belongs to the thread and the loop it was built on."""

    adoption: Adoption
    policy: Policy
    assistant: Assistant
    planner: ConfiguredPlanner
    apart: BackgroundProcess
    scorer: BackgroundScorer
    languages: BackgroundLanguages
    intake: AttachmentIntake
    history: SqliteHistory
    store: UnkeptStore
    road: VoiceRoad
    talk: Talk
    microphone: SoundMicrophone
    recogniser: LocalRecogniser
    voice: LocalVoice
    player: SoundPlayer
    speaker: AnswerSpeaker
    hotkey: DesktopHotkey
    quick_key: DesktopHotkey
    timers: RingingTimers
    bell: Bell
    experts: tuple[Expert, ...]
    inventory: Mapping[str, TaskType]
    catalogue: ShippedCatalogue
    hub: HubIndex
    hub_refresh: HubRefresh
    hub_policy: Callable[[], WantedOfHub]
    weights: Weights
    llms: LLMChoice
    builtin: BuiltinBackend
    local: LocalBackend
    api: ApiBackend
    paths: Paths
    goals: SqliteGoalMemory
    library: CodeLibrary
    sandbox: OsSandbox
    tester: LibraryTester
    _behind: tuple[asyncio.Task[object], ...] = ()

    def __post_init__(self) -> None:
        self.shelf = Shelf(self)

    @property
    def settings(self) -> Settings:
        """Those that are in use."""
        return self.adoption.current.settings

    @property
    def mode(self) -> Mode:
        """How far a request may travel now."""
        return self.policy.mode

    async def start(self) -> None:
        """Take up the timers of earlier runs, and behind the person's back warm up and tidy up."""
        self.timers.restore()
        self.road.start()
        self.store.tidy(self.history.files)
        self._behind = (
            asyncio.create_task(self._warm()),
            asyncio.create_task(self.sweep_goals()),
            asyncio.create_task(
                keep_tidy(self.history, lambda: self.settings.history.retention_days)
            ),
        )

    def wake(self) -> None:
        """Fetch back what left for want of work: somebody begins to type or to speak."""
        if self.apart.left:
            self._behind = (*self._behind, asyncio.create_task(self._warm_reader()))

    def be_reached(self, commands: Mapping[str, Handle]) -> None:
        """Let the talk key of the desktop and other processes reach this one."""
        self.road.be_reached(commands)

    async def devices(self) -> Sequence[Device]:
        """The sound devices of this computer now. Raises UnavailableError."""
        return await devices()

    async def adopt(self, settings: Settings) -> frozenset[str]:
        """Take up changed settings; the names of those that wait for a restart."""
        if not Policy(settings.mode).allows_downloads:
            for download in self.shelf.downloads.listed:  # before the network goes: none has failed
                self.shelf.downloads.pause(download.key)
        waiting = await self.adoption.adopt(settings)
        self.shelf.downloads.mode_changed()
        return waiting

    async def sweep_goals(self) -> None:
        """Remove the folders of goals that nobody comes back to."""
        await goal_folders.sweep(self.paths.goals, self.goals, local_now())

    async def _warm(self) -> None:
        """Load, one after the other, what the first request would wait for; the quickest first."""
        # Kept: planning asks for it on the event loop.
        await asyncio.to_thread(self.local.probe.guess)
        await self._warm_reader()
        await asyncio.to_thread(self.catalogue.warm)
        parts = (self.player, self.microphone, self.builtin, self.voice, self.recogniser)
        for part in (*parts, self.local):
            # What cannot be had is told when it is asked for, with its reason.
            with contextlib.suppress(JarvisError):
                await part.warm()

    async def _warm_reader(self) -> None:
        with contextlib.suppress(JarvisError):
            await asyncio.to_thread(self.scorer.warm, tuple(self.inventory.values()))
        with contextlib.suppress(JarvisError):
            await asyncio.to_thread(self.languages.warm)

    async def close(self) -> None:
        """End every child process and close the database."""
        self.timers.close()
        await self.shelf.close()
        await self.assistant.close()
        for task in self._behind:
            task.cancel()
        await asyncio.gather(*self._behind, return_exceptions=True)
        await asyncio.gather(
            self.builtin.close(),
            self.local.close(),
            self.api.close(),
            self.llms.close(),
            self.road.close(),
            asyncio.to_thread(self.apart.close),
        )
        self.history.close()
        self.hub.close()
