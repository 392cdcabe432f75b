"""How one task type is done with nothing downloaded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.ports import ArtifactStore, Desktop, Facts, Timers
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.voice import Recogniser, Voice


@dataclass(frozen=True, slots=True)
class Services:
    """What a skill may use of the running application."""

    recogniser: Recogniser
    voice: Voice
    timers: Timers
    desktop: Desktop
    now: Callable[[], datetime]
    stop_others: Callable[[], int]
    """Stops every other turn and all speech; how many turns there were."""
    facts: Facts
    store: ArtifactStore


Method = Callable[[Call, Report], Iterable[Artifact]]
"""Runs in a child process: native code, large inputs, anything that may crash or hang."""

Skill = Callable[[Call, Report, Services], Awaitable[Iterable[Artifact]]]
"""Runs on the engine's loop: quick, or waiting for one of the services."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A task type and its built-in way: a method, a skill, or neither where none is honest."""

    type: TaskType
    method: Method | None = None
    skill: Skill | None = None
    question: Callable[[Call], str] | None = None
    """What must be asked before a call runs; "" where nothing."""
    note: str = ""
    """For the README's table: what the built-in way is, or what is missing for one."""
