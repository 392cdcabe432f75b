"""The contents of files for display; sent from the worker process to the window."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peaks:
    """The loudness of a sound over time."""

    length: float  # seconds
    values: bytes  # the peak of each interval, 0 to 255; all intervals are equally long
    share: float = 1.0  # the analysed share of the sound, 0 to 1


@dataclass(frozen=True, slots=True)
class VideoFrame:
    """A frame of a video."""

    at: float  # seconds from the start
    width: int
    height: int
    pixels: bytes  # four bytes each: blue, green, red and an unused one


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """The properties of a video."""

    length: float  # seconds; 0 if unknown
    width: int
    height: int
    sound: float  # seconds until the sound ends; 0 without sound
    poster: VideoFrame


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The first rows of a table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool  # whether there are more rows
