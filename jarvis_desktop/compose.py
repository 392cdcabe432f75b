"""The only file that knows every concrete class: builds the application from its settings."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jarvis_desktop.assistant.agent.testing_kept import KeptTests
from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.assistant import Assistant, Parts
from jarvis_desktop.assistant.bell import Bell
from jarvis_desktop.assistant.choosing import Chooser
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.file_guard import guarded
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.listening.talk import Talk
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.obtaining import Obtainer
from jarvis_desktop.assistant.planning.embedded import EmbeddedPlanner
from jarvis_desktop.assistant.planning.layered import LayeredPlanner
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.replanning import Campaign
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.assistant.timers import RingingTimers
from jarvis_desktop.backends.api import ApiBackend
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.languages import is_clearly_not
from jarvis_desktop.backends.llm import LLMBackend
from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.backends.measures import Measures
from jarvis_desktop.backends.outcome import inspect
from jarvis_desktop.backends.skill import SkillBackend
from jarvis_desktop.catalogue.catalogue import ShippedCatalogue
from jarvis_desktop.catalogue.entries import load as load_experts
from jarvis_desktop.catalogue.hub.index import HubIndex
from jarvis_desktop.catalogue.hub.offers import HubOffers
from jarvis_desktop.catalogue.hub.refresh import HubRefresh
from jarvis_desktop.catalogue.hub.wanted import Wanted as WantedOfHub
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.compose_agent import House, build_agent
from jarvis_desktop.compose_experts import (
    at_work,
    fitting_of,
    hub_policy_of,
    make_way,
    wanted_llm,
    writers,
)
from jarvis_desktop.compose_voice import VoiceRoad, build_voice
from jarvis_desktop.computer import seems_to_have_graphics
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Backend, Planner, Timer
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.desktop import SystemDesktop
from jarvis_desktop.hotkeys.choosing import DesktopHotkey
from jarvis_desktop.keys import hub_key
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.in_memory import LLMInMemory
from jarvis_desktop.llm.shipped import load as load_llms
from jarvis_desktop.paths import Paths, shipped, usual_folders
from jarvis_desktop.sandbox.sandbox import OsSandbox
from jarvis_desktop.scoring.encoder import TaskEncoder
from jarvis_desktop.settings import Settings, SpeechSettings
from jarvis_desktop.speech.devices import Device, devices
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.storage import goal_folders
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.code_library import CodeLibrary
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.tasks.definition import Services
from jarvis_desktop.tasks.registry import ACTING, DEFINITIONS, INVENTORY
from jarvis_desktop.web.addresses import checked
from jarvis_desktop.web.fetching import WebFetcher

CALLS_AT_ONCE = 3
"""Of experts behind an API."""


@dataclass
class App:
    """The built application. It belongs to the thread and the loop it was built on."""

    mode: Mode
    policy: Policy
    assistant: Assistant
    planner: Planner
    planners: Mapping[str, Planner]
    scorer: TaskEncoder
    intake: Intake
    history: SqliteHistory
    store: FileStore
    road: VoiceRoad
    talk: Talk
    microphone: SoundMicrophone
    recogniser: LocalRecogniser
    voice: LocalVoice
    player: SoundPlayer
    speaker: Speaker
    hotkey: DesktopHotkey
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

    async def start(self) -> None:
        """Take up the timers of earlier runs, and behind the person's back warm up and tidy up."""
        self.timers.restore()
        self.road.start()
        self.store.tidy(self.history.files)
        self._behind = (
            asyncio.create_task(self._warm()),
            asyncio.create_task(self.sweep_goals()),
        )

    def be_reached(self) -> None:
        """Let the talk key of the desktop and `jarvis-desktop talk` reach this process."""
        self.road.be_reached()

    async def devices(self) -> Sequence[Device]:
        """The sound devices of this computer now. Raises UnavailableError."""
        return await devices()

    async def adopt(self, speech: SpeechSettings) -> Collection[str]:
        """Take up changed settings of speech; the names of those that wait for a restart."""
        return await self.road.adopt(speech)

    async def sweep_goals(self) -> None:
        """Remove the folders of goals that nobody comes back to."""
        await goal_folders.sweep(self.paths.goals, self.goals, _now())

    async def _warm(self) -> None:
        """Load, one after the other, what the first request would wait for; the quickest first."""
        # Kept: planning asks for it on the event loop.
        await asyncio.to_thread(self.local.probe.guess)
        with contextlib.suppress(JarvisError):
            await asyncio.to_thread(self.scorer.warm, tuple(self.inventory.values()))
        await asyncio.to_thread(is_clearly_not, "warm", "en")
        await asyncio.to_thread(self.catalogue.warm)
        parts = (self.player, self.microphone, self.builtin, self.voice, self.recogniser)
        for part in (*parts, self.local):
            # What cannot be had is told when it is asked for, with its reason.
            with contextlib.suppress(JarvisError):
                await part.warm()

    async def close(self) -> None:
        """End every child process and close the database."""
        self.timers.close()
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
        )
        self.history.close()
        self.hub.close()


def build(
    settings: Settings, paths: Paths, *, on_ring: Callable[[Timer], None] = lambda timer: None
) -> App:
    """The application; nothing heavy is loaded and no process started yet.

    `on_ring` is told when a timer is due, on the loop; the bell is rung in any case.
    """
    inventory = {item.name: item for item in INVENTORY}
    definitions = {item.type.name: item for item in DEFINITIONS}
    policy = Policy(settings.mode)
    store = FileStore(paths.artifacts)
    history = SqliteHistory(
        paths.database,
        store_root=paths.artifacts,
        inventory=inventory,
        now=_now,
    )
    weights = Weights(
        paths.weights,
        key=hub_key,
        budget=settings.experts.disk_budget,
        busy=lambda: at_work(local.holding, llms.in_use, experts),
    )
    experts = load_experts(shipped("models", "experts"))
    llms = LLMChoice(
        wanted_llm(settings.llm),
        policy,
        on_disk=lambda: writers(experts, weights),
        shipped=load_llms(shipped("models", "llms.toml")),
        on_use=lambda: make_way(local, llms, weights),
    )
    api = ApiBackend(
        definitions, check=checked, provider=settings.api.provider, width=CALLS_AT_ONCE
    )
    local = LocalBackend(
        definitions,
        weights,
        budget=settings.experts.memory_budget_mb * MB,
        measures=Measures(paths.cache / "memory.json"),
        neighbour=LLMInMemory(llms),
    )
    prompts = Prompts(shipped("resources", "prompts"), paths.config / "prompts")
    scorer = TaskEncoder(shipped("models", "planner"))
    hub = HubIndex(paths.hub_index, embed=scorer.directions)
    hub_policy = hub_policy_of(settings.experts, local)
    catalogue = ShippedCatalogue(
        experts,
        definitions,
        weights=weights,
        runnable=local.can_run,
        by_api=api.candidates,
        prompted=LLMBackend.can_do,
        hub=HubOffers(hub, hub_policy),
    )
    road = build_voice(
        settings.speech,
        paths,
        experts=experts,
        weights=weights,
        store=store,
        names=lambda: assistant.names(),
    )
    bell = Bell(road.player, shipped("resources", "sounds", "ring.wav"), on_ring)
    timers = RingingTimers(history.timers, ring=bell, now=_now)
    stop = _StopSwitch()
    services = Services(
        road.recogniser, road.voice, timers, SystemDesktop(), _now, stop, history.facts
    )
    builtin = BuiltinBackend(definitions, width=settings.width)
    backends: dict[str, Backend] = {
        item.name: item
        for item in (
            SkillBackend(definitions, services),
            builtin,
            local,
            api,
            LLMBackend(llms, prompts, definitions, guard=guarded),
        )
    }
    intake = Intake(
        store,
        folders=usual_folders(),
        web=WebFetcher() if policy.allows_downloads else None,
    )
    embedded = EmbeddedPlanner(scorer)
    selector = Selector(
        catalogue,
        policy,
        fitting=fitting_of(settings.experts, paths, local),
        record=history.records,
        llms=llms,
        chooser=Chooser(prompts),
        barred=api.objection,
    )

    def planners_of(*, agent: bool) -> dict[str, Planner]:
        """`agent`: whether a request may be a goal; what is done for one is none of its own."""
        llm = LlmPlanner(llms, prompts, fallback=embedded, runnable=selector.can_do, agent=agent)
        # What no cue tells is left to the LLM, and to the encoder's guess only where there is none.
        layered = LayeredPlanner(EmbeddedPlanner(), llm, agent=agent)
        return {"auto": layered, "embedded": embedded, "llm": llm}

    planners, kind = planners_of(agent=True), settings.planner.kind
    planner, inner = planners[kind], planners_of(agent=False)[kind]
    executor = Executor(
        backends,
        store,
        lanes={
            "cpu": settings.width,
            "local": 1 + seems_to_have_graphics(),
            "llm": 1,
            "network": CALLS_AT_ONCE,
        },
        record=history.records,
        inspect=inspect,
    )
    obtainer = Obtainer(weights, policy, ask_above_mb=settings.experts.ask_above_mb)
    mode = build_agent(
        settings.agent,
        House(paths, policy, llms, weights, experts, prompts, store, scorer, history.goals, _now),
        planner=inner,
        campaign=Campaign(
            inner, INVENTORY, selector=selector, executor=executor, obtainer=obtainer
        ),
        inventory=INVENTORY,
    )
    assistant = Assistant(
        Parts(
            planner=planner,
            inventory=INVENTORY,
            selector=selector,
            executor=executor,
            intake=intake,
            obtainer=obtainer,
            recogniser=road.recogniser,
            speaker=road.speaker,
            answerer=Answerer(llms, prompts),
            memory=Memory(history, history.facts, llms, prompts),
            history=history,
            journal=history.journal,
            agent=mode.agent,
            acting=ACTING,
            now=_now,
            hands_free=road.hands_free,
        )
    )
    stop.assistant = assistant
    return App(
        mode=settings.mode,
        policy=policy,
        assistant=assistant,
        planner=planner,
        planners=planners,
        scorer=scorer,
        intake=intake,
        history=history,
        store=store,
        road=road,
        talk=road.talk,
        microphone=road.microphone,
        recogniser=road.recogniser,
        voice=road.voice,
        player=road.player,
        speaker=road.speaker,
        hotkey=road.hotkey,
        timers=timers,
        bell=bell,
        experts=experts,
        inventory=inventory,
        catalogue=catalogue,
        hub=hub,
        hub_refresh=HubRefresh(paths.hub_index, embed=scorer.directions, key=hub_key),
        hub_policy=hub_policy,
        weights=weights,
        llms=llms,
        builtin=builtin,
        local=local,
        api=api,
        paths=paths,
        goals=history.goals,
        library=mode.library,
        sandbox=mode.sandbox,
        tester=mode.tester,
    )


class _StopSwitch:
    """Stops the other turns; built before the assistant it stops."""

    assistant: Assistant

    def __call__(self) -> int:
        return self.assistant.stop_others()


def embedded_planner() -> EmbeddedPlanner:
    """The planner that needs nothing but its own weights."""
    return EmbeddedPlanner(TaskEncoder(shipped("models", "planner")))


def _now() -> datetime:
    return datetime.now().astimezone()
