"""The built application: what it is made of, how it gets ready, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jarvis_desktop.apart import Apart
from jarvis_desktop.assistant.agent.testing_kept import KeptTests
from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.assistant.bell import Bell
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.listening.talk import Talk
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.assistant.timers import RingingTimers
from jarvis_desktop.backends.api import ApiBackend
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.languages import ApartLanguages
from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.catalogue.catalogue import ShippedCatalogue
from jarvis_desktop.catalogue.hub.index import HubIndex
from jarvis_desktop.catalogue.hub.refresh import HubRefresh
from jarvis_desktop.catalogue.hub.wanted import Wanted as WantedOfHub
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.compose_history import keep_tidy
from jarvis_desktop.compose_planning import NamedPlanner
from jarvis_desktop.compose_settings import Adoption
from jarvis_desktop.compose_shelf import Shelf
from jarvis_desktop.compose_voice import VoiceRoad
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.hotkeys.choosing import DesktopHotkey
from jarvis_desktop.instance import Handle
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.sandbox import OsSandbox
from jarvis_desktop.scoring.scorer import ApartScorer
from jarvis_desktop.settings import Settings
from jarvis_desktop.speech.devices import Device, devices
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.storage import goal_folders
from jarvis_desktop.storage.code_library import CodeLibrary
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.unkept import UnkeptStore


@dataclass
class App:
    """The built application. It belongs to the thread and the loop it was built on."""

    adoption: Adoption
    policy: Policy
    assistant: Assistant
    planner: NamedPlanner
    apart: Apart
    scorer: ApartScorer
    languages: ApartLanguages
    intake: Intake
    history: SqliteHistory
    store: UnkeptStore
    road: VoiceRoad
    talk: Talk
    microphone: SoundMicrophone
    recogniser: LocalRecogniser
    voice: LocalVoice
    player: SoundPlayer
    speaker: Speaker
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
    tester: KeptTests
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
        await goal_folders.sweep(self.paths.goals, self.goals, _now())

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


def _now() -> datetime:
    return datetime.now().astimezone()
