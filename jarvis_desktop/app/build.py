"""Builds the application from its settings. Only this file knows every concrete class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from jarvis_desktop.app.application import Application, Lazy, build_planner, build_records
from jarvis_desktop.app.experts import (
    chat_experts,
    eligibility_of,
    engine_in_use,
    experts_in_use,
    hub_query_of,
    llm_preference,
    make_room_for_llm,
    work_address,
)
from jarvis_desktop.app.plan_check import PlanningCheck
from jarvis_desktop.app.release import release_channel
from jarvis_desktop.app.single_instance import Instance
from jarvis_desktop.app.speech import SpeechSystem
from jarvis_desktop.app.updates import Updates
from jarvis_desktop.assistant.answer_writer import AnswerWriter, FileGuard
from jarvis_desktop.assistant.assistant import Assistant, AssistantDependencies
from jarvis_desktop.assistant.execution.executor import Executor, ReplanningRunner
from jarvis_desktop.assistant.memory import ConversationMemory
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.everyday import why_unknowable
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.request_reader import AttachmentIntake
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.ranking import ExpertChooser
from jarvis_desktop.assistant.selection.selector import Eligibility, Selector
from jarvis_desktop.assistant.talk.dictation import tidied_up
from jarvis_desktop.assistant.timers import Bell, RingingTimers
from jarvis_desktop.backends.builtin import BuiltinBackend, SkillBackend
from jarvis_desktop.backends.by_address import AddressBackend, ServedTask, edit, paint
from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.inference_api.endpoints import Endpoints
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.backends.llm import LLMBackend
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.placement import MemoryMeasurements
from jarvis_desktop.backends.machines.backend import MachinesBackend
from jarvis_desktop.backends.machines.machines import Machines
from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.mcp.servers import McpServers
from jarvis_desktop.backends.result_checks import inspect
from jarvis_desktop.backends.task_encoder import BackgroundScorer
from jarvis_desktop.core.context import local_now
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Backend, Timer
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue, for_recogniser
from jarvis_desktop.experts.catalogue import load as load_experts
from jarvis_desktop.experts.downloads import QueuedFetcher
from jarvis_desktop.experts.engines import Engines, torch_build
from jarvis_desktop.experts.hub.experts import HubOffers
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.llm.choice import LLMChoice, LLMInMemory
from jarvis_desktop.llm.profile import MEASURING_LIMIT_S, LLMProfiles
from jarvis_desktop.llm.shipped import load as load_llms
from jarvis_desktop.paths import Paths, shipped, usual_folders
from jarvis_desktop.platform.api_keys import hub_key
from jarvis_desktop.platform.desktop import SystemDesktop
from jarvis_desktop.platform.hardware_probe import seems_to_have_graphics
from jarvis_desktop.platform.work_server import Work, WorkServer
from jarvis_desktop.process import engine
from jarvis_desktop.process.background import BackgroundProcess
from jarvis_desktop.settings import Current, ExpertSettings, Settings
from jarvis_desktop.storage.web_fetch import WebFetcher, checked
from jarvis_desktop.tasks.audio.recognition import transcribe
from jarvis_desktop.tasks.audio.synthesis import speak
from jarvis_desktop.tasks.definition import Definition, Services
from jarvis_desktop.tasks.registry import ACTING, DEFINITIONS, INSTANT, INVENTORY
from jarvis_desktop.text.languages import BackgroundLanguages

if TYPE_CHECKING:
    from jarvis_desktop.app.agent import AgentMode

CALLS_AT_ONCE = 3
"""The limit for experts behind an API."""


def build(
    settings: Settings,
    paths: Paths,
    *,
    on_ring: Callable[[Timer], None] = lambda timer: None,
    instance: Instance | None = None,
) -> Application:
    """Build the application. Nothing heavy is loaded and no process is started yet.

    `on_ring` is called on the loop when a timer is due; the bell rings in any case. Pass `instance`
    if it has been claimed already.
    """
    inventory = {item.name: item for item in INVENTORY}
    definitions = {item.type.name: item for item in DEFINITIONS}
    own, tasks, acting = frozenset(inventory), list(INVENTORY), set(ACTING)
    policy = Policy(settings.mode, settings.machines.in_local_mode)
    current = Current(settings)
    records = build_records(paths, inventory, local_now)
    store, history = records.store, records.history
    engines = Engines(
        paths.engines,
        shipped("resources", "engine", "requirements.txt"),
        build=torch_build,
        busy=lambda: engine_in_use(local, llms),
    )
    engine.use(engines.folder)
    weights = Weights(
        paths.weights,
        key=hub_key,
        budget=settings.experts.disk_budget,
        busy=lambda: experts_in_use(local.holding, llms.in_use, experts),
        lacking=lambda expert: (
            engines.offer()
            if local.can_run(expert) and not for_recogniser(expert) and not engine.ready()
            else None
        ),
    )
    experts = load_experts(shipped("models", "experts"))
    llms = LLMChoice(
        llm_preference(settings.llm),
        policy,
        on_disk=lambda: chat_experts(experts, weights),
        shipped=load_llms(shipped("models", "llms.toml")),
        on_use=lambda: make_room_for_llm(local, llms, weights),
        profiles=LLMProfiles(paths.data / "llm-profiles.json"),
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
        measures=MemoryMeasurements(paths.cache / "memory.json"),
        shared_memory_user=LLMInMemory(llms),
    )
    servers = {
        work: WorkServer(work, partial(work_address, current, work), policy) for work in Work
    }
    served: dict[str, ServedTask] = {}
    endpoints = Endpoints(paths.endpoints, policy, API_TASKS.keys() & definitions.keys())
    by_address = AddressBackend(definitions, served, endpoints.server, api.run_at)
    machines = MachinesBackend(definitions, Machines(paths.machines), policy)
    mcp = McpBackend(
        McpServers(paths.mcp_servers, paths.mcp_tools, paths.mcp_bundles),
        taken=own.__contains__,
        online=lambda: policy.allows_downloads,
    )

    def offer_tools(tools: Sequence[TaskType]) -> None:
        """Let planners, catalogue and history know the tools that there are now."""
        for name in inventory.keys() - own:
            del inventory[name], definitions[name]
            acting.discard(name)
        for item in tools:
            inventory[item.name], definitions[item.name] = item, Definition(item)
            acting.add(item.name)
        tasks[:] = inventory.values()

    mcp.on_change = offer_tools
    mcp.refresh()
    prompts = Prompts(shipped("resources", "prompts"), paths.config / "prompts")
    apart = BackgroundProcess("reader of texts")
    languages = BackgroundLanguages(apart.call)
    scorer = BackgroundScorer(apart, shipped("models", "planner"))
    cannot_know = partial(why_unknowable, scorer)
    hub = HubIndex(paths.hub_index, embed=scorer.directions)
    hub_policy = hub_query_of(lambda: current.settings.experts, local)
    catalogue = ShippedCatalogue(
        experts,
        definitions,
        weights=weights,
        runnable=local.can_run,
        by_api=api.candidates,
        by_tool=mcp.candidates,
        by_machine=machines.candidates,
        by_address=by_address.candidates,
        prompted=LLMBackend.can_do,
        hub=HubOffers(hub, hub_policy),
    )
    speech = SpeechSystem(
        settings.speech,
        paths,
        experts=experts,
        weights=weights,
        store=store,
        names=lambda: assistant.names(),
        clean_up=partial(tidied_up, llms, prompts),
        quick_key=settings.window.quick_key,
        dictation=settings.dictation,
        retention_days=lambda: current.settings.history.retention_days,
        instance=instance,
        servers=servers,
    )
    bell = Bell(speech.player, shipped("resources", "sounds", "ring.wav"), on_ring)
    timers = RingingTimers(history.timers, ring=bell, now=local_now)
    stop = _StopSwitch()
    services = Services(
        speech.recogniser,
        speech.voice,
        timers,
        SystemDesktop(),
        local_now,
        stop,
        history.facts,
        history.lists,
        store,
        tuple(definitions.values()),
    )
    by_server = replace(services, recogniser=speech.transcriber, voice=speech.server_voice)
    images = servers[Work.IMAGES]
    served |= {
        "automatic-speech-recognition": ServedTask(
            servers[Work.TRANSCRIPTION], transcribe, by_server
        ),
        "text-to-speech": ServedTask(servers[Work.SPEECH], speak, by_server),
        "text-to-image": ServedTask(images, partial(paint, images), by_server),
        "image-editing": ServedTask(images, partial(edit, images), by_server),
    }
    builtin = BuiltinBackend(definitions, width=settings.width)
    backends: dict[str, Backend] = {
        item.name: item
        for item in (
            SkillBackend(definitions, services),
            builtin,
            local,
            api,
            machines,
            by_address,
            mcp,
            LLMBackend(llms, prompts, definitions, guard=FileGuard, cannot_know=cannot_know),
        )
    }
    intake = AttachmentIntake(
        store,
        folders=usual_folders(),
        web=WebFetcher(),
        online=lambda: policy.allows_downloads,
    )

    def fitting(experts: ExpertSettings) -> Eligibility:
        return eligibility_of(experts, paths, local, languages.is_clearly_not)

    selector = Selector(
        catalogue,
        policy,
        fitting=fitting(settings.experts),
        record=history.records,
        llms=llms,
        chooser=ExpertChooser(prompts),
        barred=api.objection,
    )

    embedded = EmbeddedPlanner(scorer)
    planner, inner = (
        build_planner(
            current, embedded, llms, prompts, selector, cannot_know=cannot_know, agent=agent
        )
        for agent in (True, False)
    )
    executor = Executor(
        backends,
        store,
        lanes={
            "cpu": settings.width,
            "local": 1 + seems_to_have_graphics(),
            "network": CALLS_AT_ONCE,
        },
        record=history.records,
        inspect=partial(inspect, ruled_out=languages.is_clearly_not),
    )
    fetcher = QueuedFetcher(weights, lambda: app.expert_manager.downloads)
    obtainer = ExpertAcquirer(fetcher, policy, ask_above_mb=settings.experts.ask_above_mb)

    def build_agent_mode() -> AgentMode:
        from jarvis_desktop.app.agent import AgentDependencies, build_agent

        return build_agent(
            current.settings.agent,
            AgentDependencies(
                paths,
                policy,
                llms,
                weights,
                experts,
                prompts,
                store,
                scorer,
                history.goals,
                local_now,
                records.goal_folder,
                builtin,
            ),
            planner=inner,
            sure=EmbeddedPlanner(scorer, guesses=False),
            replanning_runner=ReplanningRunner(
                inner, tasks, selector=selector, executor=executor, obtainer=obtainer
            ),
            inventory=tasks,
        )

    agent_mode = Lazy(build_agent_mode)
    assistant = Assistant(
        AssistantDependencies(
            planner=planner,
            inventory=tasks,
            selector=selector,
            executor=executor,
            intake=intake,
            obtainer=obtainer,
            recogniser=speech.hearing,
            speaker=speech.speaker,
            answerer=AnswerWriter(llms, prompts),
            memory=ConversationMemory(history, history.facts, llms, prompts),
            history=history,
            journal=history.journal,
            agent=lambda: agent_mode().agent,
            acting=acting,
            instant=INSTANT,
            embedded=embedded,
            now=local_now,
            hands_free=speech.asking_aloud,
        )
    )
    stop.assistant = assistant
    app = Application(
        current=current,
        policy=policy,
        assistant=assistant,
        planner=planner,
        selector=selector,
        eligibility=fitting,
        acquirer=obtainer,
        apart=apart,
        scorer=scorer,
        languages=languages,
        intake=intake,
        history=history,
        store=store,
        speech=speech,
        talk=speech.talk,
        microphone=speech.microphone,
        recogniser=speech.recogniser,
        voice=speech.voice,
        player=speech.player,
        speaker=speech.speaker,
        hotkey=speech.hotkey,
        quick_key=speech.quick_key,
        dictation=speech.dictation,
        timers=timers,
        bell=bell,
        experts=experts,
        inventory=inventory,
        catalogue=catalogue,
        hub=hub,
        hub_refresh=HubRefresh(paths.hub_index, embed=scorer.directions, key=hub_key),
        hub_policy=hub_policy,
        weights=weights,
        engines=engines,
        llms=llms,
        plan_check=PlanningCheck(
            shipped("resources", "prompts", "plan_check.json"),
            lambda examinee, fallback: LlmPlanner(
                examinee,
                prompts,
                fallback=fallback,
                runnable=lambda task_type, llm: True,
                scorer=scorer,
                timeout=MEASURING_LIMIT_S,
            ),
            INVENTORY,
        ),
        builtin=builtin,
        local=local,
        api=api,
        mcp=mcp,
        machines=machines,
        servers=servers,
        endpoints=endpoints,
        paths=paths,
        goals=history.goals,
        agent_mode=agent_mode,
        updates=Updates(
            paths.updates, release_channel(paths), online=lambda: policy.allows_downloads
        ),
    )
    return app


class _StopSwitch:
    """Stops the other turns. It exists before the assistant does."""

    assistant: Assistant

    def __call__(self) -> int:
        return self.assistant.stop_others()
