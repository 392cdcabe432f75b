"""The hardware, and on which device and with how many bits an expert runs. Values only.

The places from best to last: the graphics card in 16 bits; the same with weights in main memory
that are moved to the card part by part; the processor in 32 bits; the processor in 16 bits, which
halves the memory and is slower on most processors.
"""

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
    """Bytes of main memory and graphics memory: a need, a limit, or what is in use."""

    main: int = 0
    graphics: int = 0

    def __add__(self, other: MemorySize) -> MemorySize:
        return MemorySize(self.main + other.main, self.graphics + other.graphics)

    def __sub__(self, other: MemorySize) -> MemorySize:
        """Return what is left, at least 0."""
        return MemorySize(max(0, self.main - other.main), max(0, self.graphics - other.graphics))

    def within(self, limit: MemorySize) -> bool:
        """Whether it exceeds the limit in neither memory."""
        return self.main <= limit.main and self.graphics <= limit.graphics

    def most(self, other: MemorySize) -> MemorySize:
        """Return the larger of each."""
        return MemorySize(max(self.main, other.main), max(self.graphics, other.graphics))

    def least(self, other: MemorySize) -> MemorySize:
        """Return the smaller of each."""
        return MemorySize(min(self.main, other.main), min(self.graphics, other.graphics))


@dataclass(frozen=True, slots=True)
class Graphics:
    """A graphics card that can compute, or the graphics side of an Apple chip."""

    name: str
    device: str = "cuda"
    """ "cuda" or "mps", as torch calls it."""
    memory: int = 0
    """Total bytes; for an Apple chip, what the system allows its graphics side."""
    bfloat16: bool = True
    """Whether it computes in bfloat16. The alternative, float16, only reaches 65504."""
    id: str = ""
    """Which card it is, for its driver; "" if there is only one."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """This computer; values are 0 if the system does not report them."""

    memory: int = 0
    """Total bytes of main memory."""
    available: int = 0
    """Bytes that programs can still allocate."""
    swap: int = 0
    """Free bytes of swap."""
    cores: int = 0
    graphics: Graphics | None = None
    graphics_free: int = 0
    """Free bytes of graphics memory."""
    trouble: str = ""
    """Why a graphics card that seems to exist is not used, in a sentence; "" if none."""
    fix: str = ""
    """What would help against that."""


LIBRARIES = 400 * MB
"""What a process needs for the libraries alone; included in an expert's memory."""

DRIVER = MemorySize(800 * MB, 500 * MB)
"""What the graphics card's libraries need in both memories."""

PART = 0.75
"""The largest part of an expert that is moved to the card at once: the network of SDXL or Flux."""

SHARE = 0.8
"""The default share of main memory for experts; the rest is the system's."""

SYSTEM = 1_500 * MB
"""The minimum left to the system, which matters on small computers."""

GRAPHICS_SHARE = 0.9
"""The share of graphics memory; the screen needs some."""

Measured = Mapping[tuple[str, "Placement"], MemorySize]
"""The measured memory of experts, by their ids and places."""

NOTHING_MEASURED: Measured = MappingProxyType({})

_devices = {
    "cpu": mark("on the processor"),
    "cuda": mark("on the graphics card"),
    "mps": mark("on the GPU"),
}


@dataclass(frozen=True, slots=True)
class Placement:
    """The device and number format that an expert computes with."""

    device: str = "cpu"
    """ "cpu", "cuda" or "mps"."""
    half: bool = False
    """Whether its weights are in 16 bits instead of 32."""
    offload: bool = False
    """Whether its 16-bit weights stay in main memory and move to the card part by part."""
    float16: bool = False
    """Whether 16 bits means float16, because bfloat16 is not supported."""

    def __str__(self) -> str:
        where = tr(_devices[self.device]) if self.device in _devices else self.device
        if self.offload:  # always in 16 bits
            return tr("{place} in 16 bits, part by part", place=where)
        return tr("{place} in 16 bits", place=where) if self.half else where


PROCESSOR = Placement()
"""Where everything runs, given enough memory."""


def limits(hardware: Hardware, budget: int = 0) -> MemorySize:
    """Return the maximum that experts may use together. `budget` limits both memories unless 0.

    An unknown main memory does not limit them.
    """
    main = min(int(hardware.memory * SHARE), hardware.memory - SYSTEM)
    card = int(hardware.graphics.memory * GRAPHICS_SHARE) if hardware.graphics else 0
    found = MemorySize(max(0, main) if hardware.memory else 1 << 62, card)
    return found.least(MemorySize(budget, budget)) if budget else found


def current_limits(hardware: Hardware, held: MemorySize, budget: int = 0) -> MemorySize:
    """Return the limits given other programs; `held` is what our experts already use."""
    found = limits(hardware, budget)
    if hardware.available:
        # Half of the swap: idle programs may be swapped out, not the one at work.
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
    """Return the places where the expert fits within `limit`, the best first.

    `without` excludes places that failed; `offloads` says whether its loader can move weights part
    by part.
    """
    return tuple(
        place
        for place in fallback_places(hardware.graphics, offloads=offloads)
        if place not in without and required_memory(expert, place, measured).within(limit)
    )


def fallback_places(graphics: Graphics | None, *, offloads: bool = True) -> tuple[Placement, ...]:
    """Return all places of a computer, the best first."""
    processor = (PROCESSOR, Placement(half=True))
    if graphics is None:
        return processor
    card = Placement(graphics.device, half=True, float16=not graphics.bfloat16)
    if graphics.device == "mps" or not offloads:  # one memory for both: nothing to move
        return (card, *processor)
    by_parts = Placement(graphics.device, half=True, offload=True, float16=not graphics.bfloat16)
    return (card, by_parts, *processor)


def required_memory(
    expert: Expert, place: Placement, measured: Measured = NOTHING_MEASURED
) -> MemorySize:
    """Return an expert's memory at a place: measured, else estimated; nothing if unknown.

    The estimate uses the catalogue, or the size of the weights.
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
    # Weights pass through main memory: converted ones completely, others as far as there is room.
    return MemorySize(half - weights // 2, weights) + DRIVER


def too_large(
    expert: Expert, hardware: Hardware, limit: MemorySize, *, measured: Measured = NOTHING_MEASURED
) -> str:
    """Return the reason why an expert has no place, to follow its name."""
    smallest = min(required_memory(expert, place, measured).main for place in fallback_places(None))
    if not hardware.graphics:
        return tr(
            "needs about {need} of memory, and experts can have {room} here",
            need=readable_size(smallest),
            room=readable_size(limit.main),
        )
    return tr(
        "needs about {need} of memory, and experts can have {room}, or {card} of the graphics card"
        " here",
        need=readable_size(smallest),
        room=readable_size(limit.main),
        card=readable_size(limit.graphics),
    )


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
    return LIBRARIES + weights * 6 // 5  # a fifth for activations


def _in_16_bits(expert: Expert) -> int:
    if expert.memory_half_mb:
        return expert.memory_half_mb * MB
    full = _in_32_bits(expert)
    return min(full, (full + LIBRARIES) // 2)
