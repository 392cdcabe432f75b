"""What a row of the settings is before it is drawn, made from the fields of `settings.py`."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.settings import Settings

if TYPE_CHECKING:
    from jarvis_desktop.ui.actions import PageContext
    from jarvis_desktop.ui.settings.controller import SettingsController
    from jarvis_desktop.ui.settings.speech_controller import SpeechController


Kind = Literal["switch", "choice", "whole", "number", "text", "words"]


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting."""

    key: str
    """Such as "mode" or "speech.rate"."""
    kind: Kind
    default: Any
    info: FieldInfo
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()
    """Of a choice."""

    def of(self, settings: Settings) -> Any:
        """Its value."""
        value: Any = settings
        for name in self.key.split("."):
            value = getattr(value, name)
        return value

    def takes(self, value: object) -> bool:
        """Whether this value may be set."""
        table, _, name = self.key.rpartition(".")
        try:
            _model(table).model_validate({name: value})
        except ValidationError:
            return False
        return True


@cache
def fields() -> dict[str, SettingField]:
    """All settings, by their keys."""
    found = {}
    for name, info in Settings.model_fields.items():
        if isinstance(info.default, BaseModel):
            for inner, each in type(info.default).model_fields.items():
                found[f"{name}.{inner}"] = _field(f"{name}.{inner}", each)
        else:
            found[name] = _field(name, info)
    return found


def _model(table: str) -> type[BaseModel]:
    return type(Settings.model_fields[table].default) if table else Settings


def _field(key: str, info: FieldInfo) -> SettingField:
    kind, values = _kind(info.annotation)
    bounds = {
        side: next((getattr(item, sign) for item in info.metadata if hasattr(item, sign)), None)
        for side, sign in (("low", "ge"), ("high", "le"))
    }
    return SettingField(key, kind, info.default, info, values=values, **bounds)


def _kind(annotation: object) -> tuple[Kind, tuple[str, ...]]:
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice", get_args(annotation)
    if origin is tuple:
        return "words", ()
    assert isinstance(annotation, type)
    assert not isinstance(annotation, types.GenericAlias)
    if issubclass(annotation, Enum):
        return "choice", tuple(str(item.value) for item in annotation)
    kinds: dict[type, Kind] = {bool: "switch", int: "whole", float: "number", str: "text"}
    return kinds[annotation], ()


@dataclass(frozen=True, slots=True)
class RowContext:
    """What the controls of a row work with."""

    context: PageContext
    settings: SettingsController
    voice: SpeechController
    show: Callable[[str], None]
    """Show another row, by its key."""


@dataclass(frozen=True, slots=True)
class SettingOption:
    """One of several values, with its words."""

    value: str
    words: str
    description: str = ""
    """A sentence about it, if needed."""


@dataclass(frozen=True, slots=True)
class SettingsRow:
    """One thing that can be chosen or done. All texts are marked, and translated where shown;
    those from `search` to `factor` are described at `settings.setting`."""

    key: str
    """The setting's key, or another name for a row without a setting."""
    title: str
    help: str = ""
    search: str = ""
    options: tuple[SettingOption, ...] = ()
    unit: str = ""
    empty: str = ""
    invalid: str = ""
    step: float = 0
    factor: float = 1
    make: Callable[[SettingsRow, RowContext], QWidget] | None = None
    """Makes another control than the field's usual one. It has a signal `changed` that carries a
    value, and `show_value` if it is for a setting."""
    whole: bool = False
    """Whether the control takes the whole width, as every SettingsPanel does."""

    @property
    def field(self) -> SettingField | None:
        """The setting that it is for."""
        return fields().get(self.key)

    def found_by(self, sought: str, *about: str) -> bool:
        """Whether each of the words that are sought is in its words, or in those `about` it."""
        own = (self.title, self.help, self.search, *about)
        choices = (part for each in self.options for part in (each.words, each.description))
        text = " ".join((self.key, *own, *map(tr, own), *map(tr, choices))).casefold()
        return all(word in text for word in sought.casefold().split())

    def shown(self, value: Any) -> str:
        """A value in words."""
        for option in self.options:
            if option.value == value:
                return tr(option.words)
        if isinstance(value, bool):
            return tr("on") if value else tr("off")
        if self.empty and (not value or (self.field and value == self.field.low == 0)):
            return tr(self.empty)
        if isinstance(value, tuple):
            return ", ".join(value)
        if isinstance(value, int | float):
            number = f"{value * self.factor:,.10g}"
            return tr(self.unit, value=number) if self.unit else number
        return str(value)


def row(
    key: str,
    *,
    make: Callable[[SettingsRow, RowContext], QWidget] | None = None,
    whole: bool = False,
) -> SettingsRow:
    """The row of a setting, with the texts of its field."""
    info = fields()[key].info
    texts: dict[str, Any] = dict(cast("Any", info.json_schema_extra))
    options = tuple(
        SettingOption(value, *([words] if isinstance(words, str) else words))
        for value, words in texts.pop("choices").items()
    )
    title, help = info.title or "", info.description or ""
    return SettingsRow(key, title, help, options=options, make=make, whole=whole, **texts)


def rows(*given: SettingsRow | str) -> tuple[SettingsRow, ...]:
    """Rows, of which those of settings may be given by their keys."""
    return tuple(row(each) if isinstance(each, str) else each for each in given)


@dataclass(frozen=True, slots=True)
class SettingsCard:
    """Rows that belong together."""

    rows: tuple[SettingsRow, ...]
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class SettingsGroup:
    """One subject of the settings."""

    name: str
    title: str
    icon: str
    cards: tuple[SettingsCard, ...]

    @property
    def rows(self) -> tuple[SettingsRow, ...]:
        """All of them, from top to bottom."""
        return tuple(row for card in self.cards for row in card.rows)
