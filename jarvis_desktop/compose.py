"""The only file that knows every concrete class: builds the application from its settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from jarvis_desktop.apart import Apart
from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.assistant.bell import Bell
from jarvis_desktop.assistant.choosing import Chooser
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.file_guard import guarded
from jarvis_desktop.assistant.fitting import Fitting
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.obtaining import Obtainer
from jarvis_desktop.assistant.parts import Parts
from jarvis_desktop.assistant.planning.embedded import EmbeddedPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.replanning import Campaign
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.timers import RingingTimers
from jarvis_desktop.backends.api import ApiBackend
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.languages import ApartLanguages
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
from jarvis_desktop.catalogue.listed import ListedFetcher
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.compose_agent import House, build_agent
from jarvis_desktop.compose_app import App
from jarvis_desktop.compose_experts import (
    at_work,
    fitting_of,
    hub_policy_of,
    make_way,
    wanted_llm,
    writers,
)
from jarvis_desktop.compose_history import build_records
from jarvis_desktop.compose_planning import build_planner
from jarvis_desktop.compose_settings import Adoption
from jarvis_desktop.compose_voice import build_voice
from jarvis_desktop.computer import seems_to_have_graphics
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Backend, Timer
from jarvis_desktop.desktop import SystemDesktop
from jarvis_desktop.instance import Instance
from jarvis_desktop.keys import hub_key
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.in_memory import LLMInMemory
from jarvis_desktop.llm.shipped import load as load_llms
from jarvis_desktop.paths import Paths, shipped, usual_folders
from jarvis_desktop.scoring.scorer import ApartScorer
from jarvis_desktop.settings import Current, ExpertSettings, Settings
from jarvis_desktop.tasks.definition import Services
from jarvis_desktop.tasks.registry import ACTING, DEFINITIONS, INVENTORY
from jarvis_desktop.web.addresses import checked
from jarvis_desktop.web.fetching import WebFetcher

CALLS_AT_ONCE = 3
"""Of experts behind an API."""


def build(
    settings: Settings,
    paths: Paths,
    *,
    on_ring: Callable[[Timer], None] = lambda timer: None,
    instance: Instance | None = None,
) -> App:
    """The application; nothing heavy is loaded and no process started yet.

    `on_ring` is told when a timer is due, on the loop; the bell is rung in any case. `instance` is
    given where it is claimed already.
    """
    inventory = {item.name: item for item in INVENTORY}
    definitions = {item.type.name: item for item in DEFINITIONS}
    policy, current = Policy(settings.mode), Current(settings)
    records = build_records(paths, inventory, _now)
    store, history = records.store, records.history
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
        definitions,
        check=checked,
        provider=settings.api.provider,
        policy=policy,
        width=CALLS_AT_ONCE,
    )
    local = LocalBackend(
        definitions,
        weights,
        budget=settings.experts.memory_budget_mb * MB,
        measures=Measures(paths.cache / "memory.json"),
        neighbour=LLMInMemory(llms),
    )
    prompts = Prompts(shipped("resources", "prompts"), paths.config / "prompts")
    apart = Apart("reader of texts")
    languages = ApartLanguages(apart)
    scorer = ApartScorer(apart, shipped("models", "planner"))
    hub = HubIndex(paths.hub_index, embed=scorer.directions)
    hub_policy = hub_policy_of(lambda: current.settings.experts, local)
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
        quick_key=settings.window.quick_key,
        instance=instance,
    )
    bell = Bell(road.player, shipped("resources", "sounds", "ring.wav"), on_ring)
    timers = RingingTimers(history.timers, ring=bell, now=_now)
    stop = _StopSwitch()
    services = Services(
        road.recogniser, road.voice, timers, SystemDesktop(), _now, stop, history.facts, store
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
        web=WebFetcher(),
        online=lambda: policy.allows_downloads,
    )

    def fitting(experts: ExpertSettings) -> Fitting:
        return fitting_of(experts, paths, local, languages.is_clearly_not)

    selector = Selector(
        catalogue,
        policy,
        fitting=fitting(settings.experts),
        record=history.records,
        llms=llms,
        chooser=Chooser(prompts),
        barred=api.objection,
    )

    embedded = EmbeddedPlanner(scorer)
    planner, inner = (
        build_planner(current, embedded, llms, prompts, selector, agent=agent)
        for agent in (True, False)
    )
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
        inspect=partial(inspect, ruled_out=languages.is_clearly_not),
    )
    fetcher = ListedFetcher(weights, lambda: app.shelf.downloads)
    obtainer = Obtainer(fetcher, policy, ask_above_mb=settings.experts.ask_above_mb)
    mode = build_agent(
        settings.agent,
        House(
            paths,
            policy,
            llms,
            weights,
            experts,
            prompts,
            store,
            scorer,
            history.goals,
            _now,
            records.goal_folder,
        ),
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
            hands_free=road.asking_aloud,
        )
    )
    stop.assistant = assistant
    adoption = Adoption(
        current, policy, road, llms, selector, fitting, obtainer, weights, local, api, mode
    )
    app = App(
        adoption=adoption,
        policy=policy,
        assistant=assistant,
        planner=planner,
        apart=apart,
        scorer=scorer,
        languages=languages,
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
        quick_key=road.quick_key,
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
    return app


class _StopSwitch:
    """Stops the other turns; built before the assistant it stops."""

    assistant: Assistant

    def __call__(self) -> int:
        return self.assistant.stop_others()


def _now() -> datetime:
    return datetime.now().astimezone()
