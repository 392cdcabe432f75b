"""The settings file as validated values, each with the texts that describe it to the user.

Only the application's builder and the front ends read it. The page of the settings makes its rows
from the fields: their texts are marked here and translated where they are shown."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError, model_validator

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.goal import CodeTerms
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import Think
from jarvis_desktop.core.plan import SIMPLE
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.localization import LANGUAGES, SPEECH_LANGUAGES
from jarvis_desktop.network_settings import (
    NetworkSettings,
    ServerSettings,
    ServersSettings,
    UpdateSettings,
)
from jarvis_desktop.paths import replace_text
from jarvis_desktop.setting_fields import SettingsTable, setting

Value = str | float | Sequence[str]
"""What a key of the file may be set to; bool and int count as floats."""

MAX_MISTAKES = 20
"""Unreadable lines; a file with more of them is not used at all."""

_place = re.compile(r"at line (\d+)")


class SpeechSettings(SettingsTable):
    """The `[speech]` table."""

    rate: int = setting(
        170,
        mark("Speed"),
        mark("How fast answers are spoken."),
        search=mark("rate slower faster words per minute"),
        unit=mark("{value} words a minute"),
        step=10,
        ge=80,
        le=450,
    )
    voice: str = setting(
        "",
        mark("Name of the voice"),
        mark("One of that speaker’s voices, by its name; left empty, it follows the language."),
        search=mark("speaker accent"),
        empty=mark("By the language of the text"),
    )
    output: str = setting(
        "",
        mark("Loudspeaker"),
        mark("The device on which answers are heard."),
        search=mark("output device headphones sound"),
    )
    """Name of the sound output; "" is the system's default."""
    input: str = setting(
        "",
        mark("Microphone"),
        mark("The device that hears you."),
        search=mark("input device headset recording"),
    )
    """Name of the microphone; "" is the system's default."""
    volume: float = setting(
        1.0,
        mark("Volume"),
        mark("As a share of what your system gives."),
        search=mark("louder quieter"),
        unit=mark("{value} %"),
        step=0.05,
        factor=100,
        ge=0,
        le=1,
    )
    engine: Literal["hibari", "system", "kokoro", "piper"] = setting(
        "hibari",
        mark("Spoken by"),
        mark(
            "The system’s voice speaks the languages that the chosen one cannot. Kokoro and Piper "
            "have to be installed first."
        ),
        search=mark("tts text to speech engine espeak hibari kokoro piper"),
        choices={
            "hibari": mark("The built-in voice, Hibari (English)"),
            "system": mark("The system’s own voice"),
            "kokoro": mark("Kokoro"),
            "piper": mark("Piper"),
        },
    )
    speak_typed: bool = setting(
        False,
        mark("Answer typed requests aloud too"),
        mark("Otherwise only what was asked aloud is answered aloud."),
        search=mark("speak answers read out silent"),
    )
    language: str = setting(
        "",
        mark("Language that is spoken"),
        mark("The one in which you talk to JARVIS."),
        search=mark("tongue English German Chinese"),
        choices=SPEECH_LANGUAGES,
        pattern=r"^([a-z]{2,3})?$",
    )
    """Such as "de"; "" lets Whisper detect it."""
    words: tuple[str, ...] = setting(
        (),
        mark("Words to expect"),
        mark("Names and other words that are often misheard, with commas between them."),
        search=mark("vocabulary names dictionary spelling"),
        empty=mark("None"),
    )
    recogniser: str = setting(
        "",
        mark("Which Whisper is used"),
        mark("A larger one hears more exactly, and takes longer."),
        search=mark("model size speed"),
    )
    """Such as "whisper-small"; "" uses the best installed one that keeps up with speech, and for
    recordings the best one."""
    microphone: Literal["talking", "conversation", "always"] = setting(
        "conversation",
        mark("When the microphone is open"),
        mark("Only an open one hears what is said in the half second before the key."),
        search=mark("privacy listening always on recording"),
        choices={
            "talking": (
                mark("Only while I talk"),
                mark(
                    "It opens with the key and closes with it. A device that is slow to wake "
                    "up may lose the beginning of the first word."
                ),
            ),
            "conversation": (
                mark("Also while an answer is spoken, and for half a minute after"),
                mark(
                    "No first word is lost when you go on talking. What nobody asked for is "
                    "forgotten after half a second; it is never written down, and never leaves "
                    "the memory of this computer."
                ),
            ),
            "always": (
                mark("All the time"),
                mark(
                    "No first word is ever lost, and a wake word can be heard. Your system "
                    "shows the microphone as in use; what nobody asked for is forgotten after "
                    "half a second."
                ),
            ),
        },
    )
    key: str = setting(
        "Ctrl+Alt+Space",
        mark("Talk key"),
        mark("Hold it and speak. Press the field, then the keys you want."),
        search=mark("hotkey shortcut push to talk keyboard microphone"),
    )
    """"" disables it."""
    key_way: Literal["auto", "hold", "toggle"] = setting(
        "auto",
        mark("What the talk key does"),
        mark("A tap is shorter than about a third of a second."),
        search=mark("hold toggle press push to talk"),
        choices={
            "auto": mark("Hold it, or tap it"),
            "hold": mark("Hold it while you speak"),
            "toggle": mark("Press it to start and to stop"),
        },
    )
    """"auto" is "hold" if the key is held longer than a tap, else "toggle"."""
    pause: float = setting(
        1.5,
        mark("Silence that ends what you say"),
        mark(
            "If no key is held, JARVIS answers after a pause of this length, or sooner if you "
            "sound as if you had said all."
        ),
        search=mark("timeout end of speech wait"),
        unit=mark("{value} s"),
        step=0.1,
        ge=0.3,
        le=10,
    )
    hands_free: bool = setting(
        True,
        mark("Ask aloud, and take the answer aloud"),
        mark(
            "Questions about a spoken request are read out, and “yes”, “no”, “stop”, “repeat” "
            "or “slower” answers them. Anything unclear is a no; what deletes or sends is "
            "never agreed to by voice."
        ),
        search=mark("confirm questions"),
    )
    interrupt: bool = setting(
        False,
        mark("Interrupt an answer by speaking, without a key"),
        mark(
            "The microphone listens while an answer is spoken, and the answer stops as soon as you "
            "speak. Headphones are not needed."
        ),
        search=mark("barge in stop talking"),
    )
    echo_cancellation: bool = setting(
        True,
        mark("Leave out what JARVIS plays from what it hears"),
        mark("So that its own voice is not taken for yours. With headphones it is not needed."),
        search=mark("echo cancellation loudspeaker feedback headphones"),
    )
    wake_word: str = setting(
        "",
        mark("Wake word"),
        mark("Said aloud, it begins to listen; the microphone is open all the time for it."),
        search=mark("hey jarvis hotword always listening"),
        choices={
            "": mark("None"),
            "hey_jarvis": "Hey Jarvis",
            "okay_nabu": "Okay Nabu",
            "hey_mycroft": "Hey Mycroft",
            "alexa": "Alexa",
        },
    )
    """Such as "hey_jarvis", or the JSON file of other microWakeWord weights."""

    @model_validator(mode="before")
    @classmethod
    def _of_the_system(cls, data: Any) -> Any:
        """A voice that was named while the system's were the usual ones is one of them."""
        if isinstance(data, dict) and data.get("voice") and "engine" not in data:
            return {**data, "engine": "system"}
        return data


class DictationSettings(SettingsTable):
    """The `[dictation]` table."""

    key: str = setting(
        "Ctrl+Alt+W",
        mark("Dictation key"),
        mark("Hold it in any program and speak: the text stands at the caret when you let go."),
        search=mark("hotkey shortcut dictate type write keyboard microphone"),
    )
    """"" disables it."""
    key_way: Literal["auto", "hold", "toggle"] = setting(
        "auto",
        mark("What the dictation key does"),
        mark("After a tap it listens, through pauses too, until the key is pressed again."),
        search=mark("hold toggle press push to talk dictate"),
        choices={
            "auto": mark("Hold it, or tap it"),
            "hold": mark("Hold it while you speak"),
            "toggle": mark("Press it to start and to stop"),
        },
    )
    commands: bool = setting(
        True,
        mark("Spoken commands"),
        mark("“New line”, “new paragraph”, and “scratch that”, which removes the last sentence."),
        search=mark("voice commands dictate line break delete undo"),
    )
    replacements: tuple[str, ...] = setting(
        (),
        mark("Replacements"),
        mark(
            "One on each line, such as “my mail = anna@example.org”. The first part is what you "
            "say, and “\\n” a line break in what is written."
        ),
        search=mark("snippets abbreviations expand dictate autocorrect"),
    )
    space: bool = setting(
        False,
        mark("A space after each dictation"),
        mark("So that the next one does not stick to it."),
        search=mark("trailing blank dictate"),
    )
    clean_up: bool = setting(
        False,
        mark("Tidy up with the LLM"),
        mark(
            "One on this computer leaves out hesitations and repeated words; if that takes longer "
            "than a second, the text is written as it was spoken."
        ),
        search=mark("clean up filler words grammar dictate ai"),
    )
    keep: bool = setting(
        True,
        mark("Keep the last dictations"),
        mark(
            "The last fifty, on this computer alone, to be pasted again. Nothing is kept while a "
            "private conversation is open."
        ),
        search=mark("history privacy dictate list clipboard"),
    )


class LLMSettings(SettingsTable):
    """The `[llm]` table."""

    provider: Literal["auto", "ollama", "openai", "transformers", "none"] = setting(
        "auto",
        mark("Who runs it"),
        mark("The LLM answers questions, and plans what the built-in planner cannot."),
        search=mark("language model chat ollama openai transformers"),
        choices={
            "auto": mark("The best that is there"),
            "ollama": "Ollama",
            "openai": mark("A service that speaks OpenAI’s protocol"),
            "transformers": mark("JARVIS itself, from the disk"),
            "none": mark("Nobody: work without an LLM"),
        },
    )
    id: str = setting(
        "",
        mark("Which LLM"),
        mark("As its provider calls it, such as “qwen3.5:4b”."),
        search=mark("model name"),
        empty=mark("The best that is there"),
    )
    address: str = setting(
        "",
        mark("Address of the service"),
        mark("Up to its version, such as http://127.0.0.1:1234/v1."),
        search=mark("url endpoint server lm studio llama.cpp vllm"),
        empty=mark("None"),
    )
    think: Think = setting(
        Think.OFF,
        mark("Thinking"),
        mark("How long it may reason before it answers; slower, and often better."),
        search=mark("reasoning effort"),
        choices={
            "off": mark("Not at all"),
            "low": mark("Briefly"),
            "medium": mark("For a while"),
            "high": mark("For long"),
        },
    )
    context: int = setting(
        8192,
        mark("Longest prompt"),
        mark("Together with its answer. More takes more memory."),
        search=mark("context window tokens"),
        unit=mark("{value} tokens"),
        ge=2048,
        le=1 << 20,
    )
    sees: bool = setting(
        False,
        mark("The LLM of a service takes pictures"),
        mark("OpenAI’s protocol does not say; turn it on if yours does."),
        search=mark("vision images multimodal"),
    )


class PlannerSettings(SettingsTable):
    """The `[planner]` table."""

    kind: Literal["auto", "embedded", "llm"] = setting(
        "auto",
        mark("Planner"),
        mark("Who turns your words into steps."),
        search=mark("embedded llm planning engine"),
        choices={
            "auto": mark("Built-in if it is sure, else the LLM"),
            "embedded": mark("Built-in: quick, and needs no LLM"),
            "llm": mark("The LLM"),
        },
    )
    ask: Literal["always", "larger", "never"] = setting(
        "larger",
        mark("Show a plan before it runs"),
        SIMPLE,
        search=mark("review confirm approve simple plans without asking"),
        choices={
            "always": mark("Every plan"),
            "larger": mark("All but simple ones"),
            "never": mark("None"),
        },
    )
    """Simple plans are those of `core.plan.is_simple`."""


class ExpertSettings(SettingsTable):
    """The `[experts]` table."""

    allowed_licences: tuple[str, ...] = setting(
        ("*",),
        mark("Licences that experts may have"),
        mark("Patterns such as “Apache-*”, with commas between them; “*” is any."),
        search=mark("license commercial"),
        empty=mark("none"),
    )
    denied_licences: tuple[str, ...] = setting(
        (),
        mark("Licences that are left out"),
        mark("Such as “CC-BY-NC-*”, for experts that may not be used to earn money."),
        search=mark("license non-commercial"),
        empty=mark("none"),
    )
    gated: bool = setting(
        False,
        mark("Offer experts behind terms"),
        mark("Their terms must be accepted on the Hugging Face Hub first."),
        search=mark("gated licence agreement"),
    )
    disk_budget_gb: float = setting(
        20.0,
        mark("Disk for experts"),
        mark("The most that they take together; the least used ones go first."),
        search=mark("storage space budget gigabytes"),
        unit=mark("{value} GB"),
        empty=mark("no limit"),
        ge=0,
        le=1_000_000,
        allow_inf_nan=False,
    )
    ask_above_mb: int = setting(
        500,
        mark("Ask before downloads larger than"),
        mark("In the mode “local” every download is asked about."),
        search=mark("download confirm size"),
        unit=mark("{value} MB"),
        ge=0,
    )
    memory_budget_mb: int = setting(
        0,
        mark("Memory for experts"),
        mark("Of the main memory and of the graphics card each."),
        search=mark("ram vram budget"),
        unit=mark("{value} MB"),
        empty=mark("shares memory with other programs"),
        ge=0,
        le=1 << 20,
    )

    @property
    def disk_budget(self) -> int:
        """The disk budget in bytes; 0 means no limit."""
        return round(self.disk_budget_gb * 1_000_000_000)


class ApiSettings(SettingsTable):
    """The `[api]` table."""

    provider: str = setting(
        "auto",
        mark("Inference provider"),
        mark("The only one that the Hub may pass requests on to; “auto” is any."),
        search=mark("groq together fal hub api"),
        invalid=mark("That is the Hub’s name of a provider: small letters and digits."),
        pattern=r"^[a-z0-9][a-z0-9-]{0,39}$",
    )


class MachineSettings(SettingsTable):
    """The `[machines]` table."""

    in_local_mode: bool = setting(
        False,
        mark("Also in the mode “local”"),
        mark("Then words and files go to your own machines and to servers of your own network."),
        search=mark("other computer graphics card gpu remote privacy"),
    )


class AgentSettings(SettingsTable):
    """The `[agent]` table: goals that take several rounds."""

    ask_plan: Literal["always", "larger", "never"] = setting(
        "always",
        mark("Ask about the first plan of a goal"),
        mark("What changes it after foreign text was read is asked about in any case."),
        search=mark("agent approve confirm"),
        choices={
            "always": mark("Always"),
            "larger": mark("With more than three steps"),
            "never": mark("Never"),
        },
    )
    code: CodeTerms = setting(
        CodeTerms.ASK,
        mark("Code"),
        mark("In the sandbox it reaches only hosts that you named, and no other file."),
        search=mark("python sandbox script security"),
        choices={
            "ask": mark("Ask before it runs"),
            "sandboxed": mark("Run in the sandbox without asking"),
        },
    )
    rounds: int = setting(
        60,
        mark("Most rounds"),
        mark("Then you are asked whether to go on."),
        search=mark("agent limit steps budget"),
        unit=mark("{value} rounds"),
        ge=1,
        le=10_000,
    )
    minutes: int = setting(
        60,
        mark("Most minutes"),
        mark("Of work, before you are asked whether to go on."),
        search=mark("agent limit time budget"),
        unit=mark("{value} minutes"),
        ge=1,
        le=10_000,
    )
    tokens: int = setting(
        400_000,
        mark("Most tokens"),
        mark("Of the LLM, estimated, before you are asked whether to go on."),
        search=mark("agent limit cost budget"),
        unit=mark("{value} tokens"),
        ge=10_000,
    )
    repairs: int = setting(
        4,
        mark("Repairs of code"),
        mark("How often failing code is repaired before another approach is tried."),
        search=mark("agent retry fix"),
        unit=mark("{value} times"),
        ge=0,
        le=50,
    )


class WindowSettings(SettingsTable):
    """The `[window]` table."""

    theme: Literal["system", "light", "dark", "contrast"] = setting(
        "system",
        mark("Colours"),
        mark("High contrast is dark or light, as your system is."),
        search=mark("theme dark light mode night contrast accessibility"),
        choices={
            "system": mark("As the system"),
            "light": mark("Light"),
            "dark": mark("Dark"),
            "contrast": mark("High contrast"),
        },
    )
    text_size: float = setting(
        1.0,
        mark("Text size"),
        mark("Of everything in this window."),
        search=mark("font zoom scale larger accessibility"),
        unit=mark("{value} %"),
        step=0.1,
        factor=100,
        ge=0.8,
        le=2.0,
    )
    motion: bool = setting(
        True,
        mark("Motion"),
        mark("If off, nothing is animated."),
        search=mark("animation accessibility reduce"),
    )
    language: Literal["", "en", "de", "zh"] = setting(
        "",
        mark("Language"),
        mark("Of this window; what you say and write may be in any."),
        search=mark("translation locale English Deutsch 中文"),
        choices={"": mark("The system’s"), **LANGUAGES},
    )
    tray: bool = setting(
        True,
        mark("Stay in the tray"),
        mark("Closing the window leaves JARVIS running in the tray, if there is one."),
        search=mark("background icon close minimise"),
    )
    start_hidden: bool = setting(
        False,
        mark("Start hidden"),
        mark("In the tray alone, without the window."),
        search=mark("background minimised"),
    )
    overlay: bool = setting(
        True,
        mark("Show that JARVIS listens"),
        mark("A small sign above all windows, while this one is not in front."),
        search=mark("overlay recording indicator"),
    )
    notify: bool = setting(
        True,
        mark("Notifications"),
        mark("Of long work that ended and of timers, while JARVIS is not in front."),
        search=mark("alerts messages popup"),
    )
    quick_key: str = setting(
        "Ctrl+Alt+J",
        mark("Key of the quick box"),
        mark("Opens a small field near the pointer, in which you type or talk."),
        search=mark("hotkey shortcut launcher spotlight tray"),
    )
    """"" disables it."""


class HistorySettings(SettingsTable):
    """The `[history]` table."""

    retention_days: int = setting(
        0,
        mark("Forget conversations after"),
        mark("Those without a request for this long; pinned ones stay."),
        search=mark("delete retention privacy old days"),
        unit=mark("{value} days"),
        empty=mark("never"),
        ge=0,
        le=36_500,
    )
    """0 keeps all conversations."""


class Settings(SettingsTable):
    """The whole of settings.toml."""

    mode: Mode = setting(
        Mode.LOCAL,
        mark("How far a request may travel"),
        mark(
            "Applies at once to everything that runs. You are asked before changing to a "
            "mode that sends more away."
        ),
        search=mark("privacy offline local hybrid lite cloud network data"),
    )
    speech: SpeechSettings = SpeechSettings()
    dictation: DictationSettings = DictationSettings()
    llm: LLMSettings = LLMSettings()
    planner: PlannerSettings = PlannerSettings()
    experts: ExpertSettings = ExpertSettings()
    api: ApiSettings = ApiSettings()
    machines: MachineSettings = MachineSettings()
    agent: AgentSettings = AgentSettings()
    window: WindowSettings = WindowSettings()
    history: HistorySettings = HistorySettings()
    network: NetworkSettings = NetworkSettings()
    updates: UpdateSettings = UpdateSettings()
    server: ServerSettings = ServerSettings()
    servers: ServersSettings = ServersSettings()
    processes: int = setting(
        0,
        mark("Built-in methods at once"),
        mark("Each runs in its own process."),
        search=mark("cores cpu parallel performance threads"),
        unit=mark("{value} processes"),
        empty=mark("one per core, at most four"),
        ge=0,
        le=64,
    )
    conversation_minutes: int = setting(
        30,
        mark("Commands carry on for"),
        mark("A command in a terminal continues the last conversation within this time."),
        search=mark("terminal command line cli"),
        unit=mark("{value} minutes"),
        ge=0,
    )

    @property
    def width(self) -> int:
        """The number of built-in methods that run at once."""
        return self.processes or min(4, max(2, os.cpu_count() or 2))


@dataclass
class Current:
    """The settings in use, replaced while the application runs."""

    settings: Settings


def load(path: Path) -> tuple[Settings, str]:
    """Load the settings, with a notice for the user ("" if the file is valid). Invalid entries are
    ignored and named; the file is not changed."""
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
        "The settings file {path} has a mistake: {mistakes}. The wrong settings are ignored; the "
        "others apply.",
        path=path,
        mistakes="; ".join(told),
    )


def change(path: Path, table: str, values: Mapping[str, Value | None]) -> None:
    """Set keys of one table, or top-level keys if `table` is "". None removes a key, which restores
    its default. Comments and everything else are preserved.

    Raises StorageError if a value is invalid or the file cannot be read or written.
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
        replace_text(path, fresh, durable=True)
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
    """Parse what is valid, and return the mistakes of the ignored lines. A table with an invalid
    header is ignored as a whole: its keys would belong to another table."""
    lines = text.splitlines(keepends=True)
    told: list[str] = []
    for _ in range(MAX_MISTAKES):
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
    """The settings from these values, and the mistakes of those that are ignored."""
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
