"""What is found in files that are shown; goes from the reader's process to the window's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peaks:
    """How loud a sound is, from its beginning on."""

    length: float
    """Seconds."""
    values: bytes
    """The loudest of each stretch, 0 to 255; all stretches are equally long."""
    share: float = 1.0
    """How much of the sound that is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """A picture of a film."""

    at: float
    """Seconds from the film's beginning."""
    width: int
    height: int
    pixels: bytes
    """Four bytes each: blue, green, red and one of no meaning."""


@dataclass(frozen=True, slots=True)
class Film:
    """What a film is."""

    length: float
    """Seconds; 0 where it does not say."""
    width: int
    height: int
    sound: float
    """Until when there is sound, in seconds; 0 where there is none."""
    poster: FilmFrame


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool
    """Whether there are more rows."""
