"""The settings file as validated values. Only compose and the front ends read it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.goal import CodeTerms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Think
from jarvis_desktop.core.policy import Mode

Value = str | float | Sequence[str]
"""What a key of the file may be set to; bool and int are floats for this."""

MOST_MISTAKES = 20
"""Lines that cannot be read; of a file with more of them nothing is taken."""

_place = re.compile(r"at line (\d+)")


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
    ask: Literal["always", "larger", "never"] = "larger"
    """Which plans are shown before they run: all, all but simple ones (`core.plan.is_simple`), or
    none."""


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


class WindowSettings(BaseModel):
    """The `[window]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    theme: Literal["system", "light", "dark", "contrast"] = "system"
    """"contrast" has the strongest one, dark or light as the system is."""
    text_size: float = Field(1.0, ge=0.8, le=2.0)
    """As a multiple of the system's."""
    motion: bool = True
    """Whether anything moves that need not."""
    language: Literal["", "en", "de", "zh"] = ""
    """That of the window; "" is the system's."""
    tray: bool = True
    """Whether an icon stands in the tray, where the desktop has one, and closing the window leaves
    JARVIS running there."""
    start_hidden: bool = False
    """Whether it starts in the tray."""
    overlay: bool = True
    """Whether a small sign above all windows shows that JARVIS listens, while its own is not in
    front."""
    notify: bool = True
    """Whether the desktop tells of long work that ended and of timers, while the window is not in
    front."""
    quick_key: str = "Ctrl+Alt+J"
    """The key of the whole desktop that opens the quick box; "" is none."""


class HistorySettings(BaseModel):
    """The `[history]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    retention_days: int = Field(0, ge=0, le=36_500)
    """Conversations without a turn for so many days are forgotten, but for pinned ones; 0 keeps
    them all."""


class NetworkSettings(BaseModel):
    """The `[network]` table."""

    model_config = ConfigDict(frozen=True, extra="allow")

    proxy: str = Field("", pattern=r"^(https?://[^\s/@]+/?)?$")
    """The address of the proxy for downloads and the API, such as "http://proxy:3128"; "" is the
    system's. A name and a password do not belong here: the environment's may have them."""


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
    window: WindowSettings = WindowSettings()
    history: HistorySettings = HistorySettings()
    network: NetworkSettings = NetworkSettings()
    processes: int = Field(0, ge=0, le=64)
    """How many built-in methods run at once; 0 is one per core, at most four."""
    conversation_minutes: int = Field(30, ge=0)
    """A command carries on with the last conversation if that is no older than this."""

    @property
    def width(self) -> int:
        """How many built-in methods run at once."""
        return self.processes or min(4, max(2, os.cpu_count() or 2))


@dataclass
class Current:
    """The settings that are in use; others take their place while the application runs."""

    settings: Settings


def load(path: Path) -> tuple[Settings, str]:
    """The settings, and a notice for the person ("" where all is well).

    What is wrong in the file is left out, alone, and named; the file stays as it is.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(), ""
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), tr(
            "The settings in {path} could not be read ({error}); defaults are used.",
            path=path,
            error=error,
        )
    data, unreadable = _readable(text)
    settings, mistakes = _usable(data)
    told = [*unreadable, *mistakes.values()]
    if not told:
        return settings, ""
    return settings, tr(
        "The settings file {path} has a mistake: {mistakes}. What is wrong is left out, everything "
        "else holds.",
        path=path,
        mistakes="; ".join(told),
    )


def change(path: Path, table: str, values: Mapping[str, Value | None]) -> None:
    """Set keys of one table of the file, or, where `table` is "", those above all tables; None
    takes a key out, so that its default holds. Comments and everything else stay as they are.

    Raises StorageError where a value is not allowed, or the file cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        path = path.resolve()  # a link, as people have for settings that they share, stays one
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        document = tomlkit.parse(text)
        part = document.setdefault(table, tomlkit.table()) if table else document
        for name, value in values.items():
            if value is not None:
                part[name] = value
            elif name in part:
                del part[name]
        fresh = tomlkit.dumps(document)
        _, mistakes = _usable(tomllib.loads(fresh))
        for name in values:
            if (mistake := mistakes.get(f"{table}.{name}".strip("."))) or (
                mistake := mistakes.get(table)
            ):
                raise ValueError(mistake)
        _replace(path, fresh)
    except (TOMLKitError, TypeError, ValueError) as error:
        raise StorageError(
            tr("The settings were not changed: {mistake}.", mistake=str(error).rstrip(".")),
            hint=tr("Look into {path}.", path=path),
        ) from error
    except OSError as error:
        raise StorageError(
            tr(
                "The settings in {path} could not be written: {reason}.",
                path=path,
                reason=(error.strerror or str(error)).lower(),
            )
        ) from error


def _readable(text: str) -> tuple[dict[str, Any], list[str]]:
    """What can be read of a file, and what is wrong with the lines that are left out: a table
    whose head cannot be read is left out whole, for its keys would count as another's."""
    lines = text.splitlines(keepends=True)
    told: list[str] = []
    for _ in range(MOST_MISTAKES):
        try:
            return tomllib.loads("".join(lines)), told
        except tomllib.TOMLDecodeError as error:
            told.append(str(error))
            found = _place.search(str(error))
            first = int(found[1]) - 1 if found else len(lines) - 1
            end = first + 1
            if lines[first].lstrip().startswith("["):
                heads = (n for n in range(end, len(lines)) if lines[n].lstrip().startswith("["))
                end = next(heads, len(lines))
            lines[first:end] = ["\n"] * (end - first)
    return {}, told[:1]


def _usable(data: dict[str, Any]) -> tuple[Settings, dict[str, str]]:
    """The settings that these values make, and what is wrong with those that are left out."""
    mistakes: dict[str, str] = {}
    while True:
        try:
            return Settings.model_validate(data), mistakes
        except ValidationError as error:
            for each in error.errors():
                *tables, name = (str(part) for part in each["loc"][:2])
                key = ".".join((*tables, name))
                mistakes.setdefault(key, f"{key}: {each['msg']}")
                part = data
                for table in tables:
                    part = part[table]
                part.pop(name, None)


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
