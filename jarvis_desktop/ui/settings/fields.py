"""What is known of a setting by its field: of which kind it is, within which bounds, and what holds
where the person says nothing."""

from __future__ import annotations

import types
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from jarvis_desktop.settings import Settings

Kind = Literal["switch", "choice", "whole", "number", "text", "words"]


@dataclass(frozen=True, slots=True)
class Field:
    """One setting."""

    key: str
    """Such as "mode" or "speech.rate"."""
    kind: Kind
    default: Any
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
def fields() -> dict[str, Field]:
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


def _field(key: str, info: FieldInfo) -> Field:
    kind, values = _kind(info.annotation)
    bounds = {
        side: next((getattr(item, sign) for item in info.metadata if hasattr(item, sign)), None)
        for side, sign in (("low", "ge"), ("high", "le"))
    }
    return Field(key, kind, info.default, values=values, **bounds)


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
