"""What a row of the settings is, before anything is drawn: its words, and how it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.settings.fields import Field, fields

if TYPE_CHECKING:
    from jarvis_desktop.ui.places import Surroundings
    from jarvis_desktop.ui.settings.desk import SettingsDesk
    from jarvis_desktop.ui.voice.desk import VoiceDesk


@dataclass(frozen=True, slots=True)
class Hands:
    """What the controls are made with."""

    surroundings: Surroundings
    settings: SettingsDesk
    voice: VoiceDesk
    show: Callable[[str], None]
    """Show another row, by its key."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of several values, with its words."""

    value: str
    words: str
    told: str = ""
    """What it means, where that needs a sentence."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that can be chosen or done. All words are marked, and translated where shown."""

    key: str
    """Of the setting; one that no setting has is only a name."""
    title: str
    help: str = ""
    """A sentence."""
    words: str = ""
    """Other words for it, by which it is found."""
    options: tuple[Option, ...] = ()
    unit: str = ""
    """Such as "{value} days"."""
    nothing: str = ""
    """Says what the lowest number means, or no text at all."""
    refusal: str = ""
    """Says of a text what it should be."""
    slides: float = 0
    """Where it is a slider: its step."""
    factor: float = 1
    """By how much a number is larger on the screen than in the file."""
    make: Callable[[Row, Hands], QWidget] | None = None
    """Makes another control than the field's usual one. It has `changed`, a signal that carries a
    value, and `show_value` where it is for a setting."""
    whole: bool = False
    """Whether the control takes the whole width."""

    @property
    def field(self) -> Field | None:
        """The setting that it is for."""
        return fields().get(self.key)

    def found_by(self, sought: str, *about: str) -> bool:
        """Whether each of the words that are sought is in its words, or in those `about` it."""
        own = (self.title, self.help, self.words, *about)
        choices = (part for each in self.options for part in (each.words, each.told))
        text = " ".join((self.key, *own, *map(tr, own), *map(tr, choices))).casefold()
        return all(word in text for word in sought.casefold().split())

    def shown(self, value: Any) -> str:
        """A value in words."""
        for option in self.options:
            if option.value == value:
                return tr(option.words)
        if isinstance(value, bool):
            return tr("on") if value else tr("off")
        if self.nothing and (not value or (self.field and value == self.field.low == 0)):
            return tr(self.nothing)
        if isinstance(value, tuple):
            return ", ".join(value)
        if isinstance(value, int | float):
            number = f"{value * self.factor:,.10g}"
            return tr(self.unit, value=number) if self.unit else number
        return str(value)


@dataclass(frozen=True, slots=True)
class Card:
    """Rows that belong together."""

    rows: tuple[Row, ...]
    title: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """One subject of the settings."""

    name: str
    title: str
    icon: str
    cards: tuple[Card, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them, from top to bottom."""
        return tuple(row for card in self.cards for row in card.rows)
