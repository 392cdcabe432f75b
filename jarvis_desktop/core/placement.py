"""What this computer has for experts. Values only: who looks is elsewhere.

Decides on which part of this computer, and in how many bits, an expert runs.

The rungs, from the best to the last: the graphics card in 16 bits; the same with the weights in the
main memory, visiting the card part by part; the processor in 32 bits; the processor in 16 bits,
which halves the weights and is slower on most."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class MemorySize:
    """Bytes of the main memory and of the graphics card: a need, a limit, or what is taken."""

    main: int = 0
    graphics: int = 0

    def __add__(self, other: MemorySize) -> MemorySize:
        return MemorySize(self.main + other.main, self.graphics + other.graphics)

    def __sub__(self, other: MemorySize) -> MemorySize:
        """What is left, never less than nothing."""
        return MemorySize(max(0, self.main - other.main), max(0, self.graphics - other.graphics))

    def within(self, limit: MemorySize) -> bool:
        """Whether it is no more than the limit in either memory."""
        return self.main <= limit.main and self.graphics <= limit.graphics

    def most(self, other: MemorySize) -> MemorySize:
        """The larger of each."""
        return MemorySize(max(self.main, other.main), max(self.graphics, other.graphics))

    def least(self, other: MemorySize) -> MemorySize:
        """The smaller of each."""
        return MemorySize(min(self.main, other.main), min(self.graphics, other.graphics))


@dataclass(frozen=True, slots=True)
class Graphics:
    """A graphics card that was found to compute, or the graphics side of an Apple chip."""

    name: str
    device: str = "cuda"
    """cuda or mps, as torch calls it."""
    memory: int = 0
    """Bytes in all; of an Apple chip, what the system lets its graphics side have."""
    bfloat16: bool = True
    """Whether it computes in bfloat16. float16 is the other way, and its numbers end at 65504."""
    id: str = ""
    """Which card it is, for its driver; "" where there is one only."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """This computer; 0 where the system does not say."""

    memory: int = 0
    """Bytes of the main memory, used or not."""
    available: int = 0
    """Bytes of it that programs can still get."""
    swap: int = 0
    """Bytes that are free where the system puts what it has no memory for."""
    cores: int = 0
    graphics: Graphics | None = None
    graphics_free: int = 0
    """Bytes of the graphics card that are free now."""
    trouble: str = ""
    """Why a graphics card that seems to be there is not used, in a sentence; "" where none is."""
    fix: str = ""
    """What would help against that."""


LIBRARIES = 400 * MB
"""What a process takes with the libraries alone; an expert's memory counts it in."""

DRIVER = MemorySize(800 * MB, 500 * MB)
"""What the graphics card's own libraries add in both memories."""

PART = 0.75
"""The largest part of an expert that visits the card part by part: the network of SDXL or Flux."""

SHARE = 0.8
"""Of the main memory, for experts, by default: the rest is the system's."""

SYSTEM = 1_500 * MB
"""What is left to the system at least; it decides on small computers."""

GRAPHICS_SHARE = 0.9
"""Of the graphics card; the screen takes some."""

Measured = Mapping[tuple[str, "Placement"], MemorySize]
"""What experts were seen to take, by their ids and places."""

NOTHING_MEASURED: Measured = MappingProxyType({})

_devices = {
    "cpu": mark("on the processor"),
    "cuda": mark("on the graphics card"),
    "mps": mark("on the GPU"),
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an expert computes, and in how many bits."""

    device: str = "cpu"
    """cpu, cuda or mps."""
    half: bool = False
    """Whether its weights are in 16 bits instead of 32."""
    offload: bool = False
    """Whether its weights, in 16 bits, stay in the main memory and visit the graphics card part by
    part."""
    float16: bool = False
    """Whether 16 bits means float16 here, for want of bfloat16."""

    def __str__(self) -> str:
        where = tr(_devices[self.device]) if self.device in _devices else self.device
        if self.offload:  # always in 16 bits
            return tr("{place} in 16 bits, part by part", place=where)
        return tr("{place} in 16 bits", place=where) if self.half else where


PROCESSOR = Placement()
"""Where everything runs, if only there is enough memory."""


def limits(hardware: Hardware, budget: int = 0) -> MemorySize:
    """The most that experts may hold together. `budget` bounds both memories; 0 is none of ours.

    A main memory that is not known bounds nothing.
    """
    main = min(int(hardware.memory * SHARE), hardware.memory - SYSTEM)
    card = int(hardware.graphics.memory * GRAPHICS_SHARE) if hardware.graphics else 0
    found = MemorySize(max(0, main) if hardware.memory else 1 << 62, card)
    return found.least(MemorySize(budget, budget)) if budget else found


def limits_now(hardware: Hardware, held: MemorySize, budget: int = 0) -> MemorySize:
    """The same as other programs leave it; `held` is what our experts have of it already."""
    found = limits(hardware, budget)
    if hardware.available:
        # Half of the swap: programs that nobody looks at may go there, not the one at work.
        free = hardware.available + hardware.swap // 2
        found = found.least(MemorySize(free + held.main, found.graphics))
    if hardware.graphics_free:
        found = found.least(MemorySize(found.main, hardware.graphics_free + held.graphics))
    return found


def places(
    expert: Expert,
    hardware: Hardware,
    limit: MemorySize,
    *,
    measured: Measured = NOTHING_MEASURED,
    without: Collection[Placement] = (),
    offloads: bool = True,
) -> tuple[Placement, ...]:
    """Where the expert finds room within `limit`, the best place first; () where nowhere.

    `without` leaves out places that failed; `offloads` says whether its loader works part by part.
    """
    return tuple(
        place
        for place in rungs(hardware.graphics, offloads=offloads)
        if place not in without and need(expert, place, measured).within(limit)
    )


def rungs(graphics: Graphics | None, *, offloads: bool = True) -> tuple[Placement, ...]:
    """All places of a computer, the best first."""
    processor = (PROCESSOR, Placement(half=True))
    if graphics is None:
        return processor
    card = Placement(graphics.device, half=True, float16=not graphics.bfloat16)
    if graphics.device == "mps" or not offloads:  # one memory for both: nothing to go between
        return (card, *processor)
    by_parts = Placement(graphics.device, half=True, offload=True, float16=not graphics.bfloat16)
    return (card, by_parts, *processor)


def need(expert: Expert, place: Placement, measured: Measured = NOTHING_MEASURED) -> MemorySize:
    """What an expert takes at a place: as measured, else by estimate; nothing if nothing is known.

    The estimate rests on what the catalogue says, or on the size of the weights.
    """
    seen = measured.get((expert.id, place))
    if seen:
        return seen
    full, half = _in_32_bits(expert), _in_16_bits(expert)
    if not full:
        return MemorySize()
    if place.device == "cpu":
        return MemorySize(half if place.half else full)
    weights = max(0, half - LIBRARIES)
    if place.device == "mps":
        return MemorySize(half, weights)
    if place.offload:
        return MemorySize(half, int(weights * PART)) + DRIVER
    # On their way to the card they pass through the main memory: those that are converted wholly,
    # the others only as far as there is room.
    return MemorySize(half - weights // 2, weights) + DRIVER


def too_large(
    expert: Expert, hardware: Hardware, limit: MemorySize, *, measured: Measured = NOTHING_MEASURED
) -> str:
    """What to say of one that has no place, after its name."""
    smallest = min(need(expert, place, measured).main for place in rungs(None))
    if not hardware.graphics:
        return tr(
            "needs about {need} of memory, and experts can have {room} here",
            need=_size(smallest),
            room=_size(limit.main),
        )
    return tr(
        "needs about {need} of memory, and experts can have {room}, or {card} of the graphics card"
        " here",
        need=_size(smallest),
        room=_size(limit.main),
        card=_size(limit.graphics),
    )


def _size(size: int) -> str:
    return readable_size(size / MB)


def _in_32_bits(expert: Expert) -> int:
    if expert.memory_mb:
        return expert.memory_mb * MB
    if expert.memory_half_mb:
        half = expert.memory_half_mb * MB
        return max(half, 2 * half - LIBRARIES)
    weights = expert.whole_mb * MB
    if not weights:
        return 0
    if any("fp16" in pattern for pattern in expert.files):
        weights *= 2
    return LIBRARIES + weights * 6 // 5  # a fifth is for what is computed


def _in_16_bits(expert: Expert) -> int:
    if expert.memory_half_mb:
        return expert.memory_half_mb * MB
    full = _in_32_bits(expert)
    return min(full, (full + LIBRARIES) // 2)
