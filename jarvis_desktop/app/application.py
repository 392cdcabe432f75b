"""The built application: its parts, how it starts, follows changed settings, and closes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from jarvis_desktop.app.dictation import DictationSystem
from jarvis_desktop.app.experts import ExpertManager, llm_preference
from jarvis_desktop.app.single_instance import CommandHandler
from jarvis_desktop.app.speech import SpeechSystem
from jarvis_desktop.app.updates import Updates
from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.planning.planner import ConfiguredPlanner, LayeredPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.request_reader import AttachmentIntake
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Eligibility, Selector
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.assistant.timers import Bell, RingingTimers
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.inference_api.endpoints import Endpoints
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.machines.backend import MachinesBackend
from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.task_encoder import BackgroundScorer, TaskEncoder
from jarvis_desktop.core.context import in_private_conversation, local_now
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Planner
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue
from jarvis_desktop.experts.engines import Engines
from jarvis_desktop.experts.hub.entry import HubQuery as WantedOfHub
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.profile import PlanCheck
from jarvis_desktop.paths import Paths, shipped
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.platform.work_server import Work, WorkServer
from jarvis_desktop.process import network_guard
from jarvis_desktop.process.background import BackgroundProcess
from jarvis_desktop.process.child import end_outward
from jarvis_desktop.settings import Current, ExpertSettings, Settings
from jarvis_desktop.speech.devices import Device, devices
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.storage import goals as goal_folders
from jarvis_desktop.storage.conversations import ConversationFileStore, PrivateConversations
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.text.languages import BackgroundLanguages

if TYPE_CHECKING:
    from jarvis_desktop.app.agent import AgentMode
    from jarvis_desktop.assistant.agent.function_tests import LibraryTester
    from jarvis_desktop.sandbox.session import OsSandbox
    from jarvis_desktop.storage.code_library import CodeLibrary

NEEDS_RESTART = frozenset({"processes"})
"""Settings that are read once: the executor's lanes are as wide as there are processes."""

TIDY_INTERVAL_S = 60 * 60.0
"""Seconds between two removals of what the history is to forget."""

log = logging.getLogger(__name__)

T = TypeVar("T")


def apply_network_settings(settings: Settings) -> None:
    """Limit what this process and its children may reach. Call it before anything is built."""
    network_guard.use_proxy(settings.network.proxy)
    network_guard.apply_policy(offline=not Policy(settings.mode).allows_downloads)


def changed_settings(before: BaseModel, after: BaseModel) -> frozenset[str]:
    """The names of the settings that differ, such as "mode" and "speech.rate"."""
    found: set[str] = set()
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, BaseModel):
            found |= {f"{name}.{each}" for each in changed_settings(old, new)}
        elif old != new:
            found.add(name)
    return frozenset(found)


class Lazy(Generic[T]):
    """A part that is built when it is first called for, from any thread."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self.built: T | None = None

    def __call__(self) -> T:
        """The part."""
        with self._lock:
            if self.built is None:
                self.built = self._build()
            return self.built


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
    cannot_know: Callable[[str], str],
    agent: bool,
) -> ConfiguredPlanner:
    """The planner of the settings. `agent`: whether a request may become a goal of agent mode."""
    llm = LlmPlanner(
        llms,
        prompts,
        fallback=embedded,
        runnable=selector.can_do,
        scorer=embedded.scorer,
        cannot_know=cannot_know,
        agent=agent,
    )
    # What is no cue and no everyday request goes to the LLM, and is guessed only if there is none.
    sure = EmbeddedPlanner(embedded.scorer, guesses=False)
    layered = LayeredPlanner(sure, llm, agent=agent)
    planners: dict[str, Planner] = {"auto": layered, "embedded": embedded, "llm": llm}
    return ConfiguredPlanner(planners, lambda: current.settings.planner.kind)


@dataclass(frozen=True)
class Records:
    """The history and its files."""

    history: SqliteHistory
    store: ConversationFileStore
    private: PrivateConversations
    goals: Path

    def goal_folder(self, goal_id: str) -> Path:
        """The folder in which the code of a goal works."""
        return (self.private.folder if in_private_conversation() else self.goals) / goal_id


def build_records(
    paths: Paths, inventory: Mapping[str, TaskType], now: Callable[[], datetime]
) -> Records:
    """The user's history, with private conversations beside it."""
    private = PrivateConversations(paths.private_files, inventory)
    store = ConversationFileStore(paths.artifacts, private)
    history = SqliteHistory(
        paths.database, store_root=paths.artifacts, inventory=inventory, now=now, private=private
    )
    return Records(history, store, private, paths.goals)


async def keep_tidy(history: SqliteHistory, days: Callable[[], int]) -> None:
    """Remove what a killed run left behind, and every hour the turns older than `days`.

    What fails now is tried again an hour later.
    """
    while True:
        try:
            await history.tidy()
            await history.forget(days())
        except JarvisError as error:
            log.info("The history was not tidied up: %s", error.message)
        await asyncio.sleep(TIDY_INTERVAL_S)


@dataclass
class Application:
    """The built application. It belongs to the thread and the loop that it was built on."""

    current: Current
    policy: Policy
    assistant: Assistant
    planner: ConfiguredPlanner
    selector: Selector
    eligibility: Callable[[ExpertSettings], Eligibility]
    """The rules for experts by these settings."""
    acquirer: ExpertAcquirer
    apart: BackgroundProcess
    scorer: BackgroundScorer
    languages: BackgroundLanguages
    intake: AttachmentIntake
    history: SqliteHistory
    store: ConversationFileStore
    speech: SpeechSystem
    talk: Talk
    microphone: SoundMicrophone
    recogniser: LocalRecogniser
    voice: LocalVoice
    player: SoundPlayer
    speaker: AnswerSpeaker
    hotkey: DesktopHotkey
    quick_key: DesktopHotkey
    dictation: DictationSystem
    timers: RingingTimers
    bell: Bell
    experts: tuple[Expert, ...]
    inventory: Mapping[str, TaskType]
    catalogue: ShippedCatalogue
    hub: HubIndex
    hub_refresh: HubRefresh
    hub_policy: Callable[[], WantedOfHub]
    weights: Weights
    engines: Engines
    llms: LLMChoice
    plan_check: PlanCheck
    builtin: BuiltinBackend
    local: LocalBackend
    api: ApiBackend
    mcp: McpBackend
    machines: MachinesBackend
    servers: Mapping[Work, WorkServer]
    """The server for each kind of work."""
    endpoints: Endpoints
    paths: Paths
    goals: SqliteGoalMemory
    agent_mode: Lazy[AgentMode]
    updates: Updates
    _background: tuple[asyncio.Task[object], ...] = ()

    def __post_init__(self) -> None:
        self.expert_manager = ExpertManager(self)

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self.current.settings

    @property
    def mode(self) -> Mode:
        """How far a request may travel now."""
        return self.policy.mode

    @property
    def library(self) -> CodeLibrary:
        """The functions that agent mode has saved."""
        return self.agent_mode().library

    @property
    def sandbox(self) -> OsSandbox:
        """Where generated code runs."""
        return self.agent_mode().sandbox

    @property
    def tester(self) -> LibraryTester:
        """Runs the tests of saved functions."""
        return self.agent_mode().tester

    async def start(self) -> None:
        """Restore the timers; warm up and tidy up in the background."""
        self.timers.restore()
        self.speech.talk.open()
        self.store.tidy(self.history.files)
        self._background = (
            asyncio.create_task(self._warm()),
            asyncio.create_task(self.sweep_goals()),
            asyncio.create_task(
                keep_tidy(self.history, lambda: self.settings.history.retention_days)
            ),
        )

    def wake(self) -> None:
        """Prepare for a request when the user starts typing or talking: restart the idle background
        process, and let the LLM read how its prompt begins."""
        warming = [self.assistant.warm()]
        if self.apart.left:
            warming.append(self._warm_reader())
        running = (task for task in self._background if not task.done())
        self._background = (*running, *map(asyncio.create_task, warming))

    def be_reached(self, commands: Mapping[str, CommandHandler]) -> None:
        """Let the desktop's talk key and other processes reach this one."""
        self.speech.be_reached(commands)

    async def devices(self) -> Sequence[Device]:
        """The sound devices of this computer. Raises UnavailableError."""
        return await devices()

    async def adopt(self, settings: Settings) -> frozenset[str]:
        """Apply changed settings. Return the names of those that need a restart."""
        if not Policy(settings.mode).allows_downloads:
            for (
                download
            ) in self.expert_manager.downloads.listed:  # before the network ends and they fail
                self.expert_manager.downloads.pause(download.key)
        needs_restart = await self._apply(settings)
        self.expert_manager.downloads.mode_changed()
        return needs_restart

    async def _apply(self, settings: Settings) -> frozenset[str]:
        before, self.current.settings = self.current.settings, settings
        changed = changed_settings(before, settings)
        if not changed:
            return frozenset()
        if changed & {"mode", "network.proxy", "machines.in_local_mode"}:
            self._apply_network(before, settings)
        if any(name.startswith("llm.") for name in changed):
            self.llms.choose(llm_preference(settings.llm))
        self.selector.fitting = self.eligibility(settings.experts)
        self.acquirer.ask_above_mb = settings.experts.ask_above_mb
        self.weights.budget = settings.experts.disk_budget
        self.local.budget = settings.experts.memory_budget_mb * MB
        self.api.provider = settings.api.provider
        if agent := self.agent_mode.built:
            agent.adopt(settings.agent)
        needs_restart = await self.speech.adopt(settings.speech)
        if settings.dictation != before.dictation or "speech.words" in changed:
            await self.dictation.adopt(settings.dictation, settings.speech.words)
        return changed & NEEDS_RESTART | {f"speech.{name}" for name in needs_restart}

    def _apply_network(self, before: Settings, settings: Settings) -> None:
        """Change the policy first, so that everything that asks it from now on gets the new mode.

        Then end the work that the new mode forbids, or that would not notice the change.
        """
        was_offline = not self.policy.allows_downloads
        self.policy.mode = settings.mode
        self.policy.own_machines = settings.machines.in_local_mode
        apply_network_settings(settings)
        is_offline = not self.policy.allows_downloads
        if is_offline != was_offline or settings.network != before.network:
            end_outward(
                tr("The mode is “{mode}” now, so this was stopped.", mode=settings.mode.called)
                if is_offline
                else tr("The network settings changed, so this was stopped.")
            )
        self.api.withdraw()
        self.machines.withdraw()
        for server in self.servers.values():
            server.withdraw()
        if is_offline:
            self.mcp.withdraw()
        if agent := self.agent_mode.built:
            agent.packages.withdraw()
        self.llms.forget()

    async def sweep_goals(self) -> None:
        """Remove the folders of goals that are over."""
        await goal_folders.sweep(self.paths.goals, self.goals, local_now())

    async def _warm(self) -> None:
        """Load what the first request would wait for, the quickest first."""
        # The result is cached: planning needs it on the event loop.
        await asyncio.to_thread(self.local.probe.guess)
        await asyncio.to_thread(self.engines.sweep)
        await self._warm_reader()
        await asyncio.to_thread(self.catalogue.warm)
        parts = (self.player, self.microphone, self.builtin, self.voice, self.recogniser)
        for part in (*parts, self.local):
            # What is not available is reported, with its reason, when it is needed.
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
        await self.expert_manager.close()
        await self.assistant.close()
        await self.mcp.close()
        await self.machines.close()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        parts = (self.builtin, self.local, self.api, self.llms, self.speech)
        await asyncio.gather(*(part.close() for part in parts), asyncio.to_thread(self.apart.close))
        self.history.close()
        self.hub.close()
