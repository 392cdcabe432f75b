"""The settings file as validated values. Only compose and the front ends read it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.goal import CodeTerms
from jarvis_desktop.core.llm import Think
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
    volume: float = Field(1.0, ge=0, le=1)
    """Of the voice, as a share of what the sound output gives."""
    engine: Literal["system", "kokoro", "piper"] = "system"
    """Who speaks; all but "system" must be installed first."""
    language: str = Field("", pattern=r"^([a-z]{2,3})?$")
    """The language that is spoken to JARVIS, such as "de"; "" lets Whisper find out."""
    words: tuple[str, ...] = ()
    """Names and other words that the recogniser should expect."""
    recogniser: str = ""
    """The Whisper that hears, such as "whisper-small"; "" takes the best one on the disk that keeps
    up with speech, and for recordings the best one."""
    microphone: Literal["talking", "conversation", "always"] = "conversation"
    """When the microphone is open: while the talk key says so; also while an answer is spoken and
    for half a minute after; or all the time. Only an open one hears what is said in the half second
    before the key. What nobody asked for is forgotten at once, and kept in memory only."""
    key: str = "Ctrl+Alt+Space"
    """The talk key of the whole desktop; "" is none."""
    key_way: Literal["auto", "hold", "toggle"] = "auto"
    """"hold" listens while it is held, "toggle" from one press to the next, "auto" does the first
    where it is held for longer than a tap."""
    pause: float = Field(1.0, ge=0.3, le=10)
    """Seconds of silence that end what is said, where the key is not held."""
    hands_free: bool = True
    """Whether what JARVIS asks about a spoken request is asked aloud and can be answered so."""
    interrupt: bool = False
    """Whether speaking alone, without a key, ends an answer that is spoken."""
    wake_word: str = ""
    """The word that begins to listen, such as "hey_jarvis", or the JSON file of microWakeWord's
    weights for another one; the microphone is open all the time for it."""


class LLMSettings(BaseModel):
    """The `[llm]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    provider: Literal["auto", "ollama", "openai", "transformers", "none"] = "auto"
    """Who runs it; "openai" is any service that speaks OpenAI's protocol."""
    id: str = ""
    """What the provider calls it; "" takes the best that is there."""
    address: str = ""
    """Of the service, up to its version: "http://127.0.0.1:1234/v1"."""
    think: Think = Think.OFF
    """How long it may reason before it answers."""
    context: int = Field(8192, ge=2048, le=1 << 20)
    """The most tokens of a prompt and its answer; more of them take more memory."""
    sees: bool = False
    """Whether the LLM of a service takes pictures: OpenAI's protocol does not tell."""


class PlannerSettings(BaseModel):
    """The `[planner]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: Literal["auto", "embedded", "llm"] = "auto"
    """Who plans; "auto" is the built-in planner where its cues are sure, else the LLM."""


class ExpertSettings(BaseModel):
    """The `[experts]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    allowed_licences: tuple[str, ...] = ("*",)
    """Patterns of the licences that experts may have."""
    denied_licences: tuple[str, ...] = ()
    """Patterns of licences that are left out, such as "CC-BY-NC-*"."""
    gated: bool = False
    """Whether experts are offered whose terms must be accepted on the Hub first."""
    disk_budget_gb: float = Field(20.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """The most disk that fetched experts take together, in gigabytes; 0 is no limit."""
    ask_above_mb: int = Field(500, ge=0)
    """A larger download is asked about first; in the mode "local" every one is."""
    memory_budget_mb: int = Field(0, ge=0, le=1 << 20)
    """The most memory that experts take together, of the main memory and of the graphics card
    each; 0 leaves other programs their part of both."""

    @property
    def disk_budget(self) -> int:
        """The most disk that they take, in bytes; 0 is no limit."""
        return round(self.disk_budget_gb * 1_000_000_000)


class ApiSettings(BaseModel):
    """The `[api]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    provider: str = Field("auto", pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    """The only inference provider that may be asked, by the Hub's name for it; "auto" is any."""


class AgentSettings(BaseModel):
    """The `[agent]` table: goals that take several rounds."""

    model_config = ConfigDict(frozen=True, extra="allow")

    ask_plan: Literal["always", "larger", "never"] = "always"
    """Whether the first plan of a goal is asked about; "larger" means: one with more than three
    steps. What changes a plan later, after foreign text was read, is asked about in any case."""
    code: CodeTerms = CodeTerms.ASK
    """"sandboxed" runs code in the sandbox without asking, reaching only hosts that were named."""
    rounds: int = Field(60, ge=1, le=10_000)
    """The most rounds of a goal before the person is asked whether to go on."""
    minutes: int = Field(60, ge=1, le=10_000)
    """The same in minutes of work."""
    tokens: int = Field(400_000, ge=10_000)
    """The same in tokens of the LLM, estimated."""
    repairs: int = Field(4, ge=0, le=50)
    """How often one piece of code is mended."""


class Settings(BaseModel):
    """settings.toml. Keys that are not known are kept and ignored."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: Mode = Mode.LOCAL
    speech: SpeechSettings = SpeechSettings()
    llm: LLMSettings = LLMSettings()
    planner: PlannerSettings = PlannerSettings()
    experts: ExpertSettings = ExpertSettings()
    api: ApiSettings = ApiSettings()
    agent: AgentSettings = AgentSettings()
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


def change(path: Path, table: str, values: Mapping[str, str | float | Sequence[str]]) -> None:
    """Set keys of one table of the file; its comments and everything else stay as they are.

    Raises StorageError where the file has a mistake or cannot be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        path = path.resolve()  # a link, as people have for settings that they share, stays one
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        document = tomlkit.parse(text)
        part = document.setdefault(table, tomlkit.table())
        for name, value in values.items():
            part[name] = value
        fresh = tomlkit.dumps(document)
        Settings.model_validate(tomllib.loads(fresh))
        _replace(path, fresh)
    except (TOMLKitError, TypeError, ValueError) as error:
        mistake = _first_line(error) if isinstance(error, ValidationError) else str(error)
        raise StorageError(
            f"The settings were not changed, because they would have a mistake: {mistake}.",
            hint=f"Look into {path}.",
        ) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StorageError(f"The settings in {path} could not be written: {reason}.") from error


def _replace(path: Path, text: str) -> None:
    """Write the file anew in one step: whoever reads it finds the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        fresh.chmod(path.stat().st_mode & 0o777)
    fresh.replace(path)


def _first_line(error: tomllib.TOMLDecodeError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error)
