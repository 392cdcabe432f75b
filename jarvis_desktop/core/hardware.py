"""What this computer has for experts. Values only: who looks is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of the main memory and of the graphics card: a need, a limit, or what is taken."""

    main: int = 0
    graphics: int = 0

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.main + other.main, self.graphics + other.graphics)

    def __sub__(self, other: Memory) -> Memory:
        """What is left, never less than nothing."""
        return Memory(max(0, self.main - other.main), max(0, self.graphics - other.graphics))

    def within(self, limit: Memory) -> bool:
        """Whether it is no more than the limit in either memory."""
        return self.main <= limit.main and self.graphics <= limit.graphics

    def most(self, other: Memory) -> Memory:
        """The larger of each."""
        return Memory(max(self.main, other.main), max(self.graphics, other.graphics))

    def least(self, other: Memory) -> Memory:
        """The smaller of each."""
        return Memory(min(self.main, other.main), min(self.graphics, other.graphics))


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
