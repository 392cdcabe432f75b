"""The shipped list of LLMs (models/llms.toml), and which of them suit a computer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import tr

Item = TypeVar("Item")
MB, GB = 1_000_000, 1_000_000_000
SLOW_ABOVE_BYTES = 6 * GB
"""An LLM that needs more is too slow to talk with unless it is on a graphics card."""

Handle = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][\w.-]*(/[\w.-]+)?:[\w.-]+$")]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class ShippedLLM:
    """One LLM of the list."""

    id: str
    ollama: str
    download_mb: int
    memory_gb: float
    licence: str
    languages: tuple[str, ...]
    good_at: str
    expert: str = ""
    """The handle of the same LLM as an expert for transformers, or ""."""
    sees: bool = False
    verified: bool = False
    """Whether size and licence were read at their source."""

    @property
    def need(self) -> int:
        """Its memory in bytes."""
        return round(self.memory_gb * GB)

    @property
    def described(self) -> str:
        """What the user wants to know before downloading it."""
        return described(self.id, self.download_mb, self.licence, verified=self.verified)


def described(name: str, download_mb: int, licence: str, *, verified: bool) -> str:
    """Describe an LLM with the size of its download and its licence."""
    size = f"{download_mb / 1000:.1f} GB"
    if not verified:
        size = tr("about {size}", size=size)
    return tr("{name} ({size}, licence {licence})", name=name, size=size, licence=licence)


@dataclass(frozen=True, slots=True)
class Computer:
    """What a computer has, in bytes; 0 if there is none or it is not known."""

    memory: int
    graphics: int
    """The memory of the graphics card."""
    disk: int
    """The free disk space for weights."""

    def holds(self, need: int) -> bool:
        """Whether an LLM runs at all; the system needs a quarter of the memory."""
        return need <= max(self.graphics, self.memory * 3 // 4)

    def suits(self, need: int) -> bool:
        """Whether it is fast enough to talk with, beside other programs."""
        return need <= self.graphics or need <= min(self.memory // 2, SLOW_ABOVE_BYTES)

    def best(self, items: Iterable[Item], need: Callable[[Item], int]) -> Item | None:
        """Return the largest item that suits this computer, else the smallest that it holds."""
        rising = sorted(items, key=need)
        suitable = [item for item in rising if self.suits(need(item))]
        possible = [item for item in rising if self.holds(need(item))]
        return suitable[-1] if suitable else possible[0] if possible else None


class LLMBlock(BaseModel):
    """One [[llm]] block of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Handle
    ollama: Tag
    expert: Handle | None = None
    download_mb: int = Field(gt=0)
    memory_gb: float = Field(gt=0)
    licence: Words
    languages: list[str] = Field(min_length=1)
    good_at: Words
    sees: bool = False
    verified: bool = False


class LLMFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid")

    llm: list[LLMBlock] = Field(min_length=1)


def load(path: Path) -> tuple[ShippedLLM, ...]:
    """Read the LLMs of the file, sorted by memory. Raises JarvisError naming the mistake."""
    try:
        blocks = LLMFile.model_validate(tomllib.loads(path.read_text("utf-8"))).llm
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise JarvisError(
            tr(
                "The list {name} is wrong at {where}: {first}.",
                name=path.name,
                where=where,
                first=first["msg"],
            )
        ) from error
    except (OSError, ValueError) as error:
        raise JarvisError(
            tr("The list {name} cannot be read: {error}.", name=path.name, error=error)
        ) from error
    names = [name for block in blocks for name in {block.id, block.ollama}]
    if twice := {name for name in names if names.count(name) > 1}:
        raise JarvisError(
            tr(
                "The list {name} is wrong: {twice} is in it twice.",
                name=path.name,
                twice=min(twice),
            )
        )
    found = (
        ShippedLLM(
            **block.model_dump(exclude={"languages", "expert"}),
            languages=tuple(block.languages),
            expert=block.expert or "",
        )
        for block in blocks
    )
    return tuple(sorted(found, key=lambda llm: llm.need))


def fitting(llms: Sequence[ShippedLLM], room: Computer) -> ShippedLLM | None:
    """Return the LLM to offer: the largest that suits the computer, else the smallest."""
    storable = [llm for llm in llms if llm.download_mb * MB <= room.disk]
    return room.best(storable, lambda llm: llm.need)
