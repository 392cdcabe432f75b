"""The only file that knows every concrete class: builds the application from its settings."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import platformdirs

from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.assistant import Assistant, Parts
from jarvis_desktop.assistant.choosing import Chooser
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.file_guard import guarded
from jarvis_desktop.assistant.fitting import Fitting, Licences, Room
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.planning.embedded import EmbeddedPlanner
from jarvis_desktop.assistant.planning.layered import LayeredPlanner
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.assistant.timers import RingingTimers
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.languages import is_clearly_not
from jarvis_desktop.backends.llm import LLMBackend
from jarvis_desktop.backends.local import LocalBackend, usual_lane
from jarvis_desktop.backends.skill import SkillBackend
from jarvis_desktop.catalogue.catalogue import ShippedCatalogue
from jarvis_desktop.catalogue.entries import load as load_experts
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.computer import free_disk_bytes, gpu_memory_bytes, memory_bytes
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Backend, Planner, Timer
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.desktop import SystemDesktop
from jarvis_desktop.llm.choice import LLMChoice, Wanted
from jarvis_desktop.llm.shipped import load as load_llms
from jarvis_desktop.paths import Paths, shipped
from jarvis_desktop.scoring.encoder import TaskEncoder
from jarvis_desktop.settings import ExpertSettings, LLMSettings, Settings
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.tasks.definition import Services
from jarvis_desktop.tasks.registry import DEFINITIONS, INVENTORY

WHISPER = ("whisper-small", "whisper-base", "whisper-tiny")
"""Recognisers of the catalogue, the best first; the best one on the disk is used."""


class Bell:
    """Rings for a timer: the sound, and whoever wants to be told."""

    def __init__(self, player: SoundPlayer, on_ring: Callable[[Timer], None]) -> None:
        self._player = player
        self._on_ring = on_ring
        self._ringing: set[asyncio.Task[None]] = set()

    async def finished(self) -> None:
        """Return when no bell sounds any more."""
        if self._ringing:
            await asyncio.wait(self._ringing)

    def __call__(self, timer: Timer) -> None:
        """Ring."""
        self._on_ring(timer)
        ringing = asyncio.get_running_loop().create_task(self._ring())
        self._ringing.add(ringing)
        ringing.add_done_callback(self._ringing.discard)

    async def _ring(self) -> None:
        # No sound device is no reason to fail: the person is told in words as well.
        with contextlib.suppress(JarvisError):
            await self._player.play(shipped("resources", "sounds", "ring.wav"))


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
    recogniser: LocalRecogniser
    voice: LocalVoice
    player: SoundPlayer
    microphone: SoundMicrophone
    speaker: Speaker
    timers: RingingTimers
    bell: Bell
    experts: tuple[Expert, ...]
    inventory: Mapping[str, TaskType]
    catalogue: ShippedCatalogue
    weights: Weights
    llms: LLMChoice
    builtin: BuiltinBackend
    local: LocalBackend
    paths: Paths
    _warming: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take up the timers of earlier runs, and warm up behind the person's back."""
        self.timers.restore()
        self.store.tidy(self.history.files)
        self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        """Load, one after the other, what the first request would wait for; the quickest first."""
        await asyncio.to_thread(gpu_memory_bytes)  # kept: planning asks for it on the event loop
        with contextlib.suppress(JarvisError):
            await asyncio.to_thread(self.scorer.warm, tuple(self.inventory.values()))
        await asyncio.to_thread(is_clearly_not, "warm", "en")
        for part in (self.player, self.microphone, self.builtin, self.voice, self.recogniser):
            # What cannot be had is told when it is asked for, with its reason.
            with contextlib.suppress(JarvisError):
                await part.warm()

    async def close(self) -> None:
        """End every child process and close the database."""
        self.timers.close()
        await self.assistant.close()
        if self._warming:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await asyncio.gather(
            self.builtin.close(),
            self.local.close(),
            self.llms.close(),
            self.recogniser.close(),
            self.voice.close(),
            self.player.close(),
            self.microphone.close(),
        )
        self.history.close()


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
    weights = Weights(paths.weights)
    experts = load_experts(shipped("models", "experts"))
    local = LocalBackend(definitions, weights, lane=usual_lane())
    llms = LLMChoice(
        _wanted(settings.llm),
        policy,
        on_disk=lambda: _writers(experts, weights),
        shipped=load_llms(shipped("models", "llms.toml")),
    )
    prompts = Prompts(shipped("resources", "prompts"), paths.config / "prompts")
    catalogue = ShippedCatalogue(
        experts,
        definitions,
        weights=weights,
        runnable=local.can_run,
        prompted=LLMBackend.can_do,
    )
    recogniser = LocalRecogniser(find_weights=lambda: _whisper(experts, weights))
    voice = LocalVoice(rate=settings.speech.rate, voice=settings.speech.voice)
    player = SoundPlayer(settings.speech.output or None)
    speaker = Speaker(voice, player, store)
    bell = Bell(player, on_ring)
    timers = RingingTimers(history.timers, ring=bell, now=_now)
    stop = _StopSwitch()
    services = Services(recogniser, voice, timers, SystemDesktop(), _now, stop, history.facts)
    builtin = BuiltinBackend(definitions, width=settings.width)
    backends: dict[str, Backend] = {
        item.name: item
        for item in (
            SkillBackend(definitions, services),
            builtin,
            local,
            LLMBackend(llms, prompts, definitions, guard=guarded),
        )
    }
    intake = Intake(store, folders=_usual_folders())
    scorer = TaskEncoder(shipped("models", "planner"))
    embedded = EmbeddedPlanner(scorer)
    selector = Selector(
        catalogue,
        policy,
        fitting=_fitting(settings.experts, paths),
        record=history.records,
        llms=llms,
        chooser=Chooser(prompts),
    )
    llm_planner = LlmPlanner(
        llms,
        prompts,
        fallback=embedded,
        runnable=selector.can_do,
    )
    planners: dict[str, Planner] = {
        # What no cue tells is left to the LLM, and to the encoder's guess only where there is none.
        "auto": LayeredPlanner(EmbeddedPlanner(), llm_planner),
        "embedded": embedded,
        "llm": llm_planner,
    }
    planner = planners[settings.planner.kind]
    assistant = Assistant(
        Parts(
            planner=planner,
            inventory=INVENTORY,
            selector=selector,
            executor=Executor(
                backends,
                store,
                lanes={"cpu": settings.width, "gpu": 1, "llm": 1},
                record=history.records,
            ),
            intake=intake,
            fetcher=weights,
            recogniser=recogniser,
            speaker=speaker,
            answerer=Answerer(llms, prompts),
            memory=Memory(history, history.facts, llms, prompts),
            history=history,
            now=_now,
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
        recogniser=recogniser,
        voice=voice,
        player=player,
        microphone=SoundMicrophone(settings.speech.input or None),
        speaker=speaker,
        timers=timers,
        bell=bell,
        experts=experts,
        inventory=inventory,
        catalogue=catalogue,
        weights=weights,
        llms=llms,
        builtin=builtin,
        local=local,
        paths=paths,
    )


class _StopSwitch:
    """Stops the other turns; built before the assistant it stops."""

    assistant: Assistant

    def __call__(self) -> int:
        return self.assistant.stop_others()


def embedded_planner() -> EmbeddedPlanner:
    """The planner that needs nothing but its own weights."""
    return EmbeddedPlanner(TaskEncoder(shipped("models", "planner")))


def _fitting(experts: ExpertSettings, paths: Paths) -> Fitting:
    return Fitting(
        room=lambda: Room(memory_bytes(), gpu_memory_bytes(), free_disk_bytes(paths.weights)),
        licences=Licences(experts.allowed_licences, experts.denied_licences),
        gated=experts.gated,
        ruled_out=is_clearly_not,
    )


def _now() -> datetime:
    return datetime.now().astimezone()


def _whisper(experts: tuple[Expert, ...], weights: Weights) -> Path | None:
    found = {item.id: weights.folder(item) for item in experts if item.id in WHISPER}
    return next((folder for name in WHISPER if (folder := found.get(name))), None)


def _writers(experts: tuple[Expert, ...], weights: Weights) -> list[tuple[Expert, Path]]:
    """The chat LLMs of the disk, with their folders."""
    writers = [item for item in experts if item.task == "text-generation"]
    return [(item, folder) for item in writers if (folder := weights.folder(item))]


def _wanted(llm: LLMSettings) -> Wanted:
    return Wanted(
        llm.provider, llm.id, llm.address, think=llm.think, context=llm.context, sees=llm.sees
    )


def _usual_folders() -> tuple[Path, ...]:
    """Where a file that is only named is looked for, after the folder of the request."""
    return (
        platformdirs.user_downloads_path(),
        platformdirs.user_documents_path(),
        platformdirs.user_pictures_path(),
        platformdirs.user_music_path(),
        platformdirs.user_videos_path(),
        platformdirs.user_desktop_path(),
        Path.home(),
    )
