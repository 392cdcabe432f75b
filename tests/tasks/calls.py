"""Builds calls of a task as the executor would, and services that are fakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.task import Call, TaskType, Value
from jarvis_desktop.tasks.definition import Services
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.fake_voice import FakeRecogniser, FakeVoice
from tests.fakes import FakeFacts, FakeLists, FakeStore

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
"""A Monday."""

Given = Artifact | Path | Value | Iterable[Artifact | Path | str]


def call_of(type: TaskType, workdir: Path, **args: Given) -> Call:
    """A call of `type`: args named like a port become artifacts, the others are options.

    A Path becomes an artifact of the port's first kind, a string a text; several may be given as a
    list. Options that are not given have their defaults.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    inputs: dict[str, tuple[Artifact, ...]] = {}
    options: dict[str, Value] = {option.name: option.default for option in type.options}
    for name, given in args.items():
        if port := type.port(name):
            many = [given] if isinstance(given, Artifact | Path | str) else given
            assert not isinstance(many, int | float)
            inputs[name] = tuple(_artifact(item, port.kinds[0]) for item in many)
        else:
            option = type.option(name)
            assert option, f"{type.name} has no argument {name}"
            assert isinstance(given, str | int | float | bool)
            assert not option.choices or given in option.choices
            options[name] = given
    return Call(type.name, inputs, options, workdir)


def _artifact(item: Artifact | Path | str, kind: Kind) -> Artifact:
    if isinstance(item, Artifact):
        return item
    return Artifact(kind, path=item) if isinstance(item, Path) else text_artifact(item)


def text_of(artifacts: Iterable[Artifact]) -> str:
    """The text of the first artifact."""
    first = next(iter(artifacts))
    assert first.text is not None
    return first.text


@dataclass
class Reports:
    """Remembers what a call reported."""

    heard: list[tuple[float | None, str]] = field(default_factory=list)

    def __call__(self, fraction: float | None, message: str) -> None:
        self.heard.append((fraction, message))


def quiet(fraction: float | None, message: str) -> None:
    """A report nobody hears."""


@dataclass
class FakeTimers:
    """Timers that never ring."""

    now: datetime = NOON
    running: list[Timer] = field(default_factory=list)
    on_change: Callable[[], None] = lambda: None

    def set(self, seconds: float, label: str) -> Timer:
        timer = Timer(str(len(self.running) + 1), label, self.now + timedelta(seconds=seconds))
        self.running.append(timer)
        self.on_change()
        return timer

    def pending(self) -> list[Timer]:
        return sorted(self.running, key=lambda timer: timer.due)

    def cancel_all(self) -> int:
        count = len(self.running)
        self.running.clear()
        self.on_change()
        return count

    def cancel(self, timer_id: str) -> None:
        self.running = [timer for timer in self.running if timer.id != timer_id]
        self.on_change()


@dataclass
class FakePlanControllertop:
    """Remembers what it was asked to open."""

    opened: list[Path] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    error: UnavailableError | None = None

    def open(self, path: Path, name: str = "") -> None:
        if self.error:
            raise self.error
        self.opened.append(path)
        self.names.append(name)


@dataclass
class FakeServices:
    """The parts of a `Services`, open to the test's eyes."""

    recogniser: FakeRecogniser = field(default_factory=FakeRecogniser)
    voice: FakeVoice = field(default_factory=FakeVoice)
    timers: FakeTimers = field(default_factory=FakeTimers)
    desktop: FakePlanControllertop = field(default_factory=FakePlanControllertop)
    turns: int = 0
    facts: FakeFacts = field(default_factory=FakeFacts)
    lists: FakeLists = field(default_factory=FakeLists)
    store: FakeStore = field(default_factory=lambda: FakeStore(Path("store")))

    def services(self, now: datetime = NOON) -> Services:
        return Services(
            self.recogniser,
            self.voice,
            self.timers,
            self.desktop,
            lambda: now,
            lambda: self.turns,
            self.facts,
            self.lists,
            self.store,
            definitions=DEFINITIONS,
        )
