"""How the application finds, chooses and keeps experts and LLMs: the rules that take the settings,
this computer and what is on its disk together. Part of compose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from jarvis_desktop.assistant.fitting import Fitting, Licences, Room
from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.catalogue.hub.wanted import Wanted as WantedOfHub
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.computer import free_disk_bytes
from jarvis_desktop.core.expert import Expert, times_real_time
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.placing import limits
from jarvis_desktop.llm.choice import LLMChoice, Wanted
from jarvis_desktop.llm.transformers_local import TransformersLLM
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import ExpertSettings, LLMSettings

WHISPER = ("whisper-small", "whisper-base", "whisper-tiny")
"""Recognisers of the catalogue, the best first, and the slowest."""
KEEPS_UP = 9.0
"""How many times as fast as people speak one must be to follow them: whatever was said, Whisper
listens to half a minute, which should take it no more than about three seconds."""


def fitting_of(
    experts: ExpertSettings,
    paths: Paths,
    local: LocalBackend,
    ruled_out: Callable[[str, str], bool],
) -> Fitting:
    """The rules by which an expert fits this person and this computer."""

    def room() -> Room:
        disk = free_disk_bytes(paths.weights)
        hardware, measured = local.probe.guess(), local.measures.known()
        return Room(hardware, disk, experts.disk_budget, local.budget, measured)

    return Fitting(
        room=room,
        licences=Licences(experts.allowed_licences, experts.denied_licences),
        gated=experts.gated,
        ruled_out=ruled_out,
    )


def hub_policy_of(
    settings: Callable[[], ExpertSettings], local: LocalBackend
) -> Callable[[], WantedOfHub]:
    """What is wanted of the Hub by someone with these settings and this computer."""

    def policy() -> WantedOfHub:
        room, experts = limits(local.probe.guess(), local.budget), settings()
        return WantedOfHub(
            allowed_licences=experts.allowed_licences,
            denied_licences=experts.denied_licences,
            gated=experts.gated,
            memory_mb=max(room.main, room.graphics) / MB,
        )

    return policy


def whisper(
    experts: Sequence[Expert], weights: Weights, *, named: str = "", cores: int = 0
) -> Path | None:
    """The folder of the recogniser that is about to be used: the one that is `named`, else the
    best on the disk.

    For live speech on the processor, give its `cores`: then it is the best that keeps up, or the
    fastest where none does.
    """
    known = {item.id: item for item in experts}
    there = [
        (expert, folder)
        for expert in filter(None, map(known.get, WHISPER))
        if (folder := weights.folder(expert))
    ]
    wished = [each for each in there if each[0].id == named]
    quick = [each for each in there if times_real_time(each[0].speed, cores) >= KEEPS_UP]
    for expert, folder in wished or (quick or there[-1:] if cores else there):
        weights.used(expert)
        return folder
    return None


def at_work(holding: Iterable[str], llm: LLM | None, experts: Sequence[Expert]) -> frozenset[str]:
    """The experts that must stay on the disk: those in memory, their bases, and the LLM's own."""
    names = {*holding, *([llm.name] if llm else ())}
    return frozenset(names | {each.base.id for each in experts if each.base and each.id in names})


def make_way(local: LocalBackend, llms: LLMChoice, weights: Weights) -> None:
    """An LLM is about to be used: it gets the memory that it needs."""
    local.make_way()
    if isinstance(llms.in_use, TransformersLLM):
        weights.used(Expert(llms.in_use.name, "text-generation"))


def writers(experts: tuple[Expert, ...], weights: Weights) -> list[tuple[Expert, Path]]:
    """The chat LLMs of the disk, with their folders."""
    writers = [item for item in experts if item.task == "text-generation"]
    return [(item, folder) for item in writers if (folder := weights.folder(item))]


def wanted_llm(llm: LLMSettings) -> Wanted:
    """Which LLM is wished for."""
    return Wanted(
        llm.provider, llm.id, llm.address, think=llm.think, context=llm.context, sees=llm.sees
    )
