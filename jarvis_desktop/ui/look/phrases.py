"""Sizes, durations, dates and counts as a person reads them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from PySide6.QtCore import QDate, QLocale

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.suffixes import kind_of_name
from jarvis_desktop.core.wording import mark, tr, trn

KINDS = {
    Kind.TEXT: mark("text"),
    Kind.IMAGE: mark("picture"),
    Kind.AUDIO: mark("sound"),
    Kind.VIDEO: mark("video"),
    Kind.TABLE: mark("table"),
    Kind.DOCUMENT: mark("document"),
}
"""What each is called, among other words."""


def kind_of(path: Path) -> Kind:
    """What a file seems to be, by its name; it is looked into only when it is used."""
    return kind_of_name(path) or Kind.DOCUMENT


def size(count: int) -> str:
    """A number of bytes: "812 bytes", "3.4 MB"."""
    if count < 1000:
        return trn("{count} byte", "{count} bytes", count)
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            return f"{QLocale().toString(amount, 'f', 1 if amount < 10 else 0)} {unit}"
    raise AssertionError


def seconds(amount: float) -> str:
    """A duration: "0.4 s", "12 s", "3 min 05 s"."""
    if amount < 9.95:
        return tr("{count} s", count=QLocale().toString(amount, "f", 1))
    whole = round(amount)
    if whole < 60:
        return tr("{count} s", count=whole)
    return tr("{minutes} min {seconds} s", minutes=whole // 60, seconds=f"{whole % 60:02d}")


def clock(amount: float) -> str:
    """A running time: "0:07", "1:02:30"."""
    minutes, rest = divmod(int(amount), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def day(when: date, today: date) -> str:
    """The heading under which a conversation is listed."""
    age = (today - when).days
    if age <= 0:
        return tr("Today")
    if age == 1:
        return tr("Yesterday")
    if age < 7:
        return tr("Last seven days")
    if (when.year, when.month) == (today.year, today.month):
        return tr("This month")
    # TRANSLATORS: the name of a month and its year, as Qt writes a format of dates
    return QLocale().toString(QDate(when.year, when.month, when.day), tr("MMMM yyyy"))


def counted(number: int, noun: str) -> str:
    """ "1 step", "3 steps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def upper_first(words: str) -> str:
    """The words with a capital at their beginning."""
    return words[:1].upper() + words[1:]
