"""The settings file as validated values. Only compose and the front ends read it."""

from __future__ import annotations

import os
import tomllib
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.core.policy import Mode


class SpeechSettings(BaseModel):
    """The `[speech]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    rate: int = Field(170, ge=80, le=450)
    """Words a minute."""
    voice: str = ""
    """Id of a voice of the engine; "" follows the language of the text."""
    output: str = ""
    """Name of the sound output; "" is the system's default."""
    input: str = ""
    """Name of the microphone; "" is the system's default."""


class Settings(BaseModel):
    """settings.toml. Keys that are not known are kept and ignored."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: Mode = Mode.LOCAL
    speech: SpeechSettings = SpeechSettings()
    processes: int = Field(0, ge=0, le=64)
    """How many built-in methods run at once; 0 is one per core, at most four."""
    conversation_minutes: int = Field(30, ge=0)
    """A command carries on with the last conversation if that is no older than this."""

    @property
    def width(self) -> int:
        """How many built-in methods run at once."""
        return self.processes or min(4, max(2, os.cpu_count() or 2))


def load(path: Path) -> tuple[Settings, str]:
    """The settings, and a notice for the person ("" where all is well).

    A file that cannot be used is put aside, never overwritten, and the defaults are taken.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(), ""
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), f"The settings in {path} could not be read ({error}); defaults are used."
    try:
        return Settings.model_validate(tomllib.loads(text)), ""
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        aside = path.with_name(f"{path.name}.bad-{datetime.now():%Y%m%d-%H%M%S}")
        path.rename(aside)
        return Settings(), (
            f"The settings file has a mistake ({_first_line(error)}); defaults are used. "
            f"Your file is kept as {aside.name}."
        )


def _first_line(error: tomllib.TOMLDecodeError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error)
