"""What an assistant is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.listening.hands_free import HandsFree
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.obtaining import Obtainer
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.core.journal import Journal
from jarvis_desktop.core.ports import History, Planner
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.voice import Recogniser


@dataclass(frozen=True, slots=True)
class Parts:
    """The stages of a turn, and what they need."""

    planner: Planner
    inventory: Sequence[TaskType]
    selector: Selector
    executor: Executor
    intake: Intake
    obtainer: Obtainer
    recogniser: Recogniser
    speaker: Speaker
    answerer: Answerer
    memory: Memory
    history: History
    journal: Journal
    agent: Agent
    acting: Collection[str]
    """The tasks that do something outside of the store, which must not be done twice unasked."""
    now: Callable[[], datetime]
    hands_free: Callable[[], HandsFree | None] = lambda: None
    """Asks aloud about what was asked aloud; None where nobody wants that now."""
