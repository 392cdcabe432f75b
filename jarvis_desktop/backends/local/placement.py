"""Chooses the place of an expert on this computer, and another one if it failed there.

The LLM in use shares the memory with the experts: it is unloaded if nothing else makes room.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Protocol

from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.backends.local.residency import Residency
from jarvis_desktop.backends.local.worker import PlaceFailure
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import (
    Hardware,
    Measured,
    MemorySize,
    Placement,
    current_limits,
    fallback_places,
    limits,
    places,
    required_memory,
    too_large,
)
from jarvis_desktop.paths import replace_text
from jarvis_desktop.platform.hardware_probe import resident_bytes_of

log = logging.getLogger(__name__)

MIN_CHANGE = 0.05  # the share by which a measurement must grow to be saved


class MemoryMeasurements:
    """The peak memory of each expert at each place, saved across restarts. A lost or broken file is
    started again."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file, measurements last as long as this process."""
        self._file = file
        self._known: dict[tuple[str, Placement], MemorySize] | None = None
        self._lock = Lock()

    def known(self) -> Measured:
        """Return all measurements; reads the file the first time."""
        with self._lock:
            return MappingProxyType(dict(self._read()))

    def note(self, expert_id: str, place: Placement, most: MemorySize) -> None:
        """Record the peak memory of an expert. It may write the file, and never raises."""
        if most == MemorySize():  # the system does not say
            return
        with self._lock:
            known = self._read()
            before = known.get((expert_id, place), MemorySize())
            after = before.most(most)
            known[expert_id, place] = after
            more = 1 + MIN_CHANGE
            enough = MemorySize(int(before.main * more), int(before.graphics * more))
            if self._file and not after.within(enough):
                self._write(self._file, known)

    def _read(self) -> dict[tuple[str, Placement], MemorySize]:
        if self._known is None:
            self._known = _load_measurements(self._file) if self._file else {}
        return self._known

    @staticmethod
    def _write(file: Path, known: Mapping[tuple[str, Placement], MemorySize]) -> None:
        rows = [
            {"expert": expert, "place": asdict(place), "memory": asdict(memory)}
            for (expert, place), memory in known.items()
        ]
        try:
            replace_text(file, json.dumps(rows))
        except OSError as error:
            log.info("The memory measurements could not be saved: %s", error)


def _load_measurements(file: Path) -> dict[tuple[str, Placement], MemorySize]:
    try:
        rows = json.loads(file.read_text("utf-8"))
        return {
            (row["expert"], Placement(**row["place"])): MemorySize(**row["memory"]) for row in rows
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.info("The memory measurements cannot be read: %s", error)
        return {}


CLOSE_OTHERS = mark("Close other programs, or choose a smaller expert.")
_failures = {
    PlaceFailure.MEMORY: mark("{expert} found too little memory {place}."),
    PlaceFailure.CARD: mark("{expert} was stopped by the graphics card."),
    PlaceFailure.NUMBERS: mark("{expert} cannot compute {place}."),
}


class SharedMemoryUser(Protocol):
    """The LLM in use, which can be unloaded and loads itself again when prompted."""

    async def memory(self) -> MemorySize:
        """Return what it takes; nothing if it is not loaded, or not by us. Never raises."""

    async def leave(self) -> str:
        """Unload it after its running answers, and return its name. Raises JarvisError."""


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """An expert to be placed."""

    expert: Expert
    loader: str
    offloads: bool
    """Whether its loader can keep weights in main memory and move them to the card as needed."""


@dataclass(frozen=True, slots=True)
class ExpertPlacement:
    """The place of an expert now."""

    place: Placement
    need: MemorySize
    limit: MemorySize  # of all experts together
    most: int  # bytes of main memory that its process may use
    hardware: Hardware


class PlacementPlanner:
    """Finds places for experts; knows which are free and which failed for whom."""

    def __init__(
        self,
        residency: Residency,
        *,
        probe: GpuProbe,
        measures: MemoryMeasurements,
        budget: int,
        shared_memory_user: SharedMemoryUser | None,
    ) -> None:
        self._residency = residency
        self._probe = probe
        self._measures = measures
        self.budget = budget
        self._shared_memory_user = shared_memory_user
        self._failed: defaultdict[tuple[str, str], set[Placement]] = defaultdict(set)
        """Per expert and loader, the places that are not tried again."""
        self._doubted = False
        """Whether the graphics card failed and was not probed since."""
        self.llm_unloaded = False
        """Whether the LLM was unloaded and has not been loaded again."""

    async def find(self, request: PlacementRequest) -> ExpertPlacement | None:
        """Find the best place now; None if a running call may leave room. Raises ExpertError."""
        expert = request.expert
        measured = await asyncio.to_thread(self._measures.known)
        held = self._residency.find(expert, request.loader)
        if held and not self._doubted:  # it stays where it is
            hardware = self._probe.guess()
            whole = limits(hardware, self.budget)
            return self._placement(expert, held.key.place, hardware, whole, measured)
        hardware = await self._probe.hardware()
        self._check_lost_card(hardware)
        whole = limits(hardware, self.budget)
        taken = self._residency.taken(resident_bytes_of)
        now = current_limits(hardware, taken, self.budget)
        possible, found = (
            self._places(request, hardware, limit, measured) for limit in (whole, now)
        )
        if not possible:
            raise ExpertError(
                tr(
                    "{id} {expert}.",
                    id=expert.id,
                    expert=too_large(expert, hardware, whole, measured=measured),
                ),
                hint=tr("Choose a smaller expert, or one that runs elsewhere."),
                fault=Fault.MEMORY,
            )
        best = possible[0]
        if best in found:
            return self._placement(expert, best, hardware, now, measured)
        if not found and self._residency.busy:
            return None
        if not found or best.device != "cpu":
            with_its = await self._unload_llm(
                expert, required_memory(expert, best, measured), now, whole
            )
            if with_its:
                return self._placement(expert, best, hardware, with_its, measured)
        if not found:
            least = min(required_memory(expert, place, measured).main for place in possible)
            raise ExpertError(
                tr(
                    "{id} needs about {least} of memory, and {main} can be had now.",
                    id=expert.id,
                    least=readable_size(least),
                    main=readable_size(now.main),
                ),
                hint=tr(CLOSE_OTHERS),
                fault=Fault.MEMORY,
            )
        return self._placement(expert, found[0], hardware, now, measured)

    async def failed(
        self, request: PlacementRequest, placement: ExpertPlacement, why: PlaceFailure
    ) -> ExpertError:
        """Exclude a place that failed for this expert, and return the error for it."""
        key, place = (request.expert.id, request.loader), placement.place
        failed, every = self._failed[key], fallback_places(placement.hardware.graphics)
        failed.add(place)
        if why is PlaceFailure.NUMBERS:
            failed.update(each for each in every if each.half)
        if why is PlaceFailure.CARD:
            failed.update(each for each in every if each.device == place.device)
            # The expert itself may be to blame; only probing the card again can tell.
            self._doubted = True
            self._probe.forget()
        measured = await asyncio.to_thread(self._measures.known)
        left = self._places(request, placement.hardware, placement.limit, measured)
        if not left:
            del self._failed[key]  # the user may close other programs and try again
        message = tr(_failures[why], expert=request.expert.id, place=place)
        if left:
            message = f"{message} {tr('The next try is {place}.', place=left[0])}"
        return ExpertError(
            message,
            hint="" if left else tr(CLOSE_OTHERS),
            retryable=bool(left),
            fault=Fault.MEMORY if why is PlaceFailure.MEMORY else Fault.CRASH,
        )

    def _placement(
        self,
        expert: Expert,
        place: Placement,
        hardware: Hardware,
        limit: MemorySize,
        measured: Measured,
    ) -> ExpertPlacement:
        most = limits(hardware, self.budget).main
        return ExpertPlacement(
            place, required_memory(expert, place, measured), limit, most, hardware
        )

    def _places(
        self, request: PlacementRequest, hardware: Hardware, limit: MemorySize, measured: Measured
    ) -> tuple[Placement, ...]:
        return places(
            request.expert,
            hardware,
            limit,
            measured=measured,
            without=self._failed.get((request.expert.id, request.loader), ()),
            offloads=request.offloads,
        )

    async def _unload_llm(
        self, expert: Expert, wanted: MemorySize, now: MemorySize, whole: MemorySize
    ) -> MemorySize | None:
        """Unload the LLM and return the new limit; None if that would not help or fails."""
        if self._shared_memory_user is None:
            return None
        its = await self._shared_memory_user.memory()
        with_its = (now + its).least(whole)
        if its == MemorySize() or not wanted.within(with_its):
            return None
        try:
            name = await self._shared_memory_user.leave()
        except JarvisError as error:
            log.info("The LLM stays in memory: %s", error.message)
            return None
        self.llm_unloaded = True
        current_note.get()(
            tr(
                "The language model {name} was put out of memory to make room for {id}; "
                "it is loaded again when it is needed.",
                name=name,
                id=expert.id,
            )
        )
        return with_its

    def _check_lost_card(self, hardware: Hardware) -> None:
        """Evict the experts on a card that failed and was not found again."""
        doubted, self._doubted = self._doubted, False
        if not doubted or hardware.graphics:
            return
        for each in self._residency.held:
            if each.key.place.device != "cpu" and not each.calls:
                self._residency.end(each)
        reason = f" {hardware.trouble}" if hardware.trouble else ""
        current_note.get()(
            tr(
                "The graphics card can no longer be used; experts run on the processor.{reason}",
                reason=reason,
            )
        )
