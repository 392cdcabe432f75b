"""What the tables of the settings are made of: fields with the texts that describe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

Choices = Mapping[str, str | tuple[str, str]]
"""The values that can be chosen, each with its name, and a sentence about it if it needs one."""


def setting(
    default: Any,
    title: str,
    help: str = "",
    *,
    search: str = "",
    choices: Choices | None = None,
    unit: str = "",
    empty: str = "",
    invalid: str = "",
    step: float = 0,
    factor: float = 1,
    **constraints: Any,
) -> Any:
    """A field with the texts that describe it, all marked; `constraints` are those of pydantic.

    `search` has more words by which it is found. `unit` is such as "{value} days"; `empty` says
    what the lowest number or no text means, `invalid` what a text must be. With `step` it is a
    slider; its number is `factor` times as large on the screen as in the file.
    """
    shown = {
        "search": search,
        "choices": dict(choices or {}),
        "unit": unit,
        "empty": empty,
        "invalid": invalid,
        "step": step,
        "factor": factor,
    }
    return Field(
        default, title=title, description=help, json_schema_extra=cast("Any", shown), **constraints
    )


class SettingsTable(BaseModel):
    """A table of the file. Unknown keys are kept and ignored."""

    model_config = ConfigDict(frozen=True, extra="allow")
