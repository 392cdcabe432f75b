"""Finds the spot of an expert on this computer as it is now, and the next one when it failed there.

The LLM in use is a neighbour in the same memory: where only its going makes room, it goes.

What experts were seen to take of the memory, place by place, also in earlier runs."""

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

from jarvis_desktop.backends.local.failures import Why
from jarvis_desktop.backends.local.gpu_probe import Probe
from jarvis_desktop.backends.local.residency import Residency
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import (
    MB,
    Hardware,
    Measured,
    MemorySize,
    Placement,
    limits,
    limits_now,
    need,
    places,
    rungs,
    too_large,
)
from jarvis_desktop.platform.hardware_probe import resident_bytes_of

CLOSE = 0.05
"""A change by less than this share is not worth writing down."""


class MemoryMeasurements:
    """Remembers the most that each expert took. A file that is lost or broken is begun anew."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file, what was measured is forgotten with this process."""
        self._file = file
        self._known: dict[tuple[str, Placement], MemorySize] | None = None
        self._lock = Lock()

    def known(self) -> Measured:
        """What is known by now. The first call reads the file."""
        with self._lock:
            return MappingProxyType(dict(self._read()))

    def note(self, expert_id: str, place: Placement, most: MemorySize) -> None:
        """Remember what an expert took at most. It may write the file; it never raises."""
        if most == MemorySize():  # a system that says nothing: that is not to need nothing
            return
        with self._lock:
            known = self._read()
            before = known.get((expert_id, place), MemorySize())
            after = before.most(most)
            known[expert_id, place] = after
            if self._file and not after.within(_a_little_more(before)):
                self._write(self._file, known)

    def _read(self) -> dict[tuple[str, Placement], MemorySize]:
        if self._known is None:
            self._known = {}
            if self._file:
                self._known = _parsed(self._file)
        return self._known

    @staticmethod
    def _write(file: Path, known: Mapping[tuple[str, Placement], MemorySize]) -> None:
        rows = [
            {"expert": expert, "place": asdict(place), "memory": asdict(memory)}
            for (expert, place), memory in known.items()
        ]
        fresh = file.with_name(f"{file.name}.new")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(rows), "utf-8")
            fresh.replace(file)
        except OSError as error:
            log.info("What experts take of the memory was not kept: %s", error)


def _parsed(file: Path) -> dict[tuple[str, Placement], MemorySize]:
    try:
        rows = json.loads(file.read_text("utf-8"))
        return {
            (row["expert"], Placement(**row["place"])): MemorySize(**row["memory"]) for row in rows
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.info("What experts take of the memory cannot be read: %s", error)
        return {}


def _a_little_more(memory: MemorySize) -> MemorySize:
    return MemorySize(int(memory.main * (1 + CLOSE)), int(memory.graphics * (1 + CLOSE)))


log = logging.getLogger(__name__)

CLOSE_OTHERS = mark("Close other programs, or choose a smaller expert.")
_failures = {
    Why.MEMORY: mark("{expert} found too little memory {place}."),
    Why.CARD: mark("{expert} was stopped by the graphics card."),
    Why.NUMBERS: mark("{expert} cannot compute {place}."),
}


class Neighbour(Protocol):
    """The LLM in use, which has its part of the memory and comes back by itself when asked."""

    async def memory(self) -> MemorySize:
        """What it takes; nothing where it is not loaded, or not by us. It never raises."""
        ...

    async def leave(self) -> str:
        """Make it give the memory back, after the answers that it is at; its name.

        Raises JarvisError.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """An expert that wants to be loaded."""

    expert: Expert
    loader: str
    by_parts: bool
    """Whether its loader can leave weights in the main memory, which visit the card as needed."""


@dataclass(frozen=True, slots=True)
class ExpertSpot:
    """Where an expert goes now."""

    place: Placement
    need: MemorySize
    limit: MemorySize
    """What all experts may take together."""
    most: int
    """Bytes of the main memory that this one's process can have."""
    hardware: Hardware


class Spots:
    """What is known of this computer's places: what is free there, and who failed where."""

    def __init__(
        self,
        residency: Residency,
        *,
        probe: Probe,
        measures: MemoryMeasurements,
        budget: int,
        neighbour: Neighbour | None,
    ) -> None:
        self._residency = residency
        self._probe = probe
        self._measures = measures
        self.budget = budget
        self._neighbour = neighbour
        self._failed: defaultdict[tuple[str, str], set[Placement]] = defaultdict(set)
        """Per expert and loader, the places that are not tried again."""
        self._doubted = False
        """Whether a graphics card failed that has not been looked at since."""
        self.neighbour_left = False
        """Whether the LLM went to make room, and has not come back."""

    async def find(self, wish: PlacementRequest) -> ExpertSpot | None:
        """The best place that has room now, None where it may have some after a call under way.

        Raises ExpertError where there is none.
        """
        expert = wish.expert
        measured = await asyncio.to_thread(self._measures.known)
        held = self._residency.find(expert, wish.loader)
        if held and not self._doubted:  # what has its spot keeps it
            hardware = self._probe.guess()
            whole = limits(hardware, self.budget)
            return self._spot(expert, held.key.place, hardware, whole, measured)
        hardware = await self._probe.hardware()
        self._say_what_was_lost(hardware)
        whole = limits(hardware, self.budget)
        taken = self._residency.taken(resident_bytes_of)
        now = limits_now(hardware, taken, self.budget)
        possible, found = (self._places(wish, hardware, limit, measured) for limit in (whole, now))
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
            return self._spot(expert, best, hardware, now, measured)
        if not found and self._residency.busy:
            return None
        if not found or best.device != "cpu":
            with_its = await self._neighbour_leaves(
                expert, need(expert, best, measured), now, whole
            )
            if with_its:
                return self._spot(expert, best, hardware, with_its, measured)
        if not found:
            least = min(need(expert, place, measured).main for place in possible)
            raise ExpertError(
                tr(
                    "{id} needs about {least} of memory, and {main} can be had now.",
                    id=expert.id,
                    least=readable_size(least / MB),
                    main=readable_size(now.main / MB),
                ),
                hint=tr(CLOSE_OTHERS),
                fault=Fault.MEMORY,
            )
        return self._spot(expert, found[0], hardware, now, measured)

    async def failed(self, wish: PlacementRequest, spot: ExpertSpot, why: Why) -> ExpertError:
        """What to say of a spot that failed, whose place this expert does not try again."""
        key, place = (wish.expert.id, wish.loader), spot.place
        failed, every = self._failed[key], rungs(spot.hardware.graphics)
        failed.add(place)
        if why is Why.NUMBERS:
            failed.update(each for each in every if each.half)
        if why is Why.CARD:
            failed.update(each for each in every if each.device == place.device)
            # It may have been this expert's own doing: only looking again tells.
            self._doubted = True
            self._probe.forget()
        measured = await asyncio.to_thread(self._measures.known)
        left = self._places(wish, spot.hardware, spot.limit, measured)
        if not left:
            del self._failed[key]  # who asks again has perhaps closed other programs
        told = tr(_failures[why], expert=wish.expert.id, place=place)
        if left:
            told = f"{told} {tr('The next try is {place}.', place=left[0])}"
        return ExpertError(
            told,
            hint="" if left else tr(CLOSE_OTHERS),
            retryable=bool(left),
            fault=Fault.MEMORY if why is Why.MEMORY else Fault.CRASH,
        )

    def _spot(
        self,
        expert: Expert,
        place: Placement,
        hardware: Hardware,
        limit: MemorySize,
        measured: Measured,
    ) -> ExpertSpot:
        most = limits(hardware, self.budget).main
        return ExpertSpot(place, need(expert, place, measured), limit, most, hardware)

    def _places(
        self, wish: PlacementRequest, hardware: Hardware, limit: MemorySize, measured: Measured
    ) -> tuple[Placement, ...]:
        return places(
            wish.expert,
            hardware,
            limit,
            measured=measured,
            without=self._failed.get((wish.expert.id, wish.loader), ()),
            offloads=wish.by_parts,
        )

    async def _neighbour_leaves(
        self, expert: Expert, wanted: MemorySize, now: MemorySize, whole: MemorySize
    ) -> MemorySize | None:
        """The limit after the LLM went; None where that would not help, or it did not go."""
        if self._neighbour is None:
            return None
        its = await self._neighbour.memory()
        with_its = (now + its).least(whole)
        if its == MemorySize() or not wanted.within(with_its):
            return None
        try:
            name = await self._neighbour.leave()
        except JarvisError as error:
            log.info("The LLM stays in memory: %s", error.message)
            return None
        self.neighbour_left = True
        current_note.get()(
            tr(
                "The language model {name} was put out of memory to make room for {id}; "
                "it is loaded again when it is needed.",
                name=name,
                id=expert.id,
            )
        )
        return with_its

    def _say_what_was_lost(self, hardware: Hardware) -> None:
        """After a card failed and was looked at again: whether it is gone for all."""
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
