"""Sizes, durations, dates and counts as a person reads them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from jarvis_desktop.core.artifact import Kind

_kinds = {
    Kind.IMAGE: "png jpg jpeg gif webp bmp tif tiff heic avif",
    Kind.AUDIO: "wav mp3 flac ogg oga opus m4a aac wma",
    Kind.VIDEO: "mp4 mkv webm mov avi m4v mpg mpeg",
    Kind.TABLE: "csv tsv xlsx xls ods parquet",
}
_by_suffix = {suffix: kind for kind, suffixes in _kinds.items() for suffix in suffixes.split()}


def kind_of(path: Path) -> Kind:
    """What a file seems to be, by its name; it is looked into only when it is used."""
    return _by_suffix.get(path.suffix.lower().lstrip("."), Kind.DOCUMENT)


def size(count: int) -> str:
    """A number of bytes: "812 bytes", "3.4 MB"."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"
    raise AssertionError


def seconds(amount: float) -> str:
    """A duration: "0.4 s", "12 s", "3 min 05 s"."""
    if amount < 9.95:
        return f"{amount:.1f} s"
    whole = round(amount)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


def clock(amount: float) -> str:
    """A running time: "0:07"."""
    return f"{int(amount) // 60}:{int(amount) % 60:02d}"


def day(when: date, today: date) -> str:
    """The heading under which a conversation is listed."""
    age = (today - when).days
    if age <= 0:
        return "Today"
    if age == 1:
        return "Yesterday"
    if age < 7:
        return "Last seven days"
    return f"{when:%B %Y}" if when.year != today.year or when.month != today.month else "This month"


def counted(number: int, noun: str) -> str:
    """ "1 step", "3 steps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def upper_first(words: str) -> str:
    """The words with a capital at their beginning."""
    return words[:1].upper() + words[1:]
