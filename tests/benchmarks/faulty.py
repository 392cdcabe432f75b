"""Backends that fail by dice, as their real counterparts do, and an executor over them."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.assistant.execution.task_runner import RetryLimits
from jarvis_desktop.assistant.prompts import Template
from jarvis_desktop.backends.llm import LLMBackend, LLMMethod
from jarvis_desktop.backends.result_checks import checked, inspect
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.events import Event, TaskStarted
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.llm import Ability, Prompt
from jarvis_desktop.core.task import Call, Port, Report, TaskOption, TaskType
from jarvis_desktop.tasks.definition import Definition
from tests.benchmarks.executor import NoStore
from tests.fakes import FakeLLMs
from tests.virtual import VirtualLoop

SECONDS = 2.0
"""What a call takes that works."""
LIMIT = 60.0
"""What a backend of these allows a call before it gives it up."""

PORT = (Port("text", (Kind.TEXT,)),)
SORT = TaskType(
    "zero-shot-classification", "", PORT, (Kind.TEXT,), (TaskOption("labels", "", "a,b"),)
)
REWRITE = TaskType("rewriting", "", PORT, (Kind.TEXT,))
TYPES = (SORT, REWRITE)


LLM_ITSELF = Candidate(Expert("llm:7b", "any"), "llm")

Down = Callable[[Candidate], str]
"""Why a candidate fails for good; "" where it does not."""


def working(candidate: Candidate) -> str:
    """Nothing is gone."""
    return ""


class Dice:
    """Decides about each call: "" where it works, else the name of what it fails of."""

    def __init__(self, probability: float, seed: int, *, unseen: float = 0.0) -> None:
        """`unseen` is the share of failures that give a wrong result which looks right."""
        self._probability = probability
        self._unseen = unseen
        self._random = random.Random(seed)
        self.rolled: Counter[str] = Counter()

    def __call__(self, *, says: bool = False) -> str:
        """`says` for an expert that writes JSON, which may then be cut off."""
        self.rolled["calls"] += 1
        if self._random.random() >= self._probability:
            return ""
        if self._random.random() < self._unseen:
            return "unseen"
        names = [name for name in FAULTS if says or name != "truncated JSON"]
        name = self._random.choice(names)
        self.rolled[name] += 1
        return name


FAULTS = (
    "exception",
    "time-out",
    "429",
    "503",
    "wrong kind",
    "empty",
    "truncated JSON",
    "killed worker",
)


async def suffer(name: str, type: TaskType) -> Sequence[Artifact]:
    """What a backend does when its expert fails of `name`."""
    await asyncio.sleep(SECONDS / 2)
    match name:
        case "exception":
            raise ExpertError("It failed: ValueError: a shape is wrong.", retryable=True)
        case "time-out":
            await asyncio.sleep(LIMIT)
            raise ExpertError("It gave no answer.", retryable=True, fault=Fault.TIMEOUT)
        case "429":
            raise ExpertError("Too many requests.", retryable=True, fault=Fault.BUSY, wait=5.0)
        case "503":
            raise ExpertError("It is loaded.", retryable=True, fault=Fault.LOADING, wait=45.0)
        case "wrong kind":
            return checked([Artifact(Kind.IMAGE, path=Path("no.png"))], type)
        case "killed worker":
            raise ExpertError("It stopped.", retryable=True, fault=Fault.CRASH)
    return checked([text_artifact("")], type)


@dataclass
class Diced:
    """A backend whose calls fail by dice. `down` says why a candidate fails for good."""

    name: str
    lane: str
    dice: Dice
    down: Down = working

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        type = next(item for item in TYPES if item.name == call.task)
        if down := self.down(candidate):
            return await perish(down)
        fault = self.dice()
        if fault == "unseen":
            return checked([text_artifact("a wrong one" if type is REWRITE else "b: 98%")], type)
        if fault:
            return await suffer(fault, type)
        await asyncio.sleep(SECONDS)
        return checked([text_artifact(right(call))], type)


async def perish(how: str) -> Sequence[Artifact]:
    """What a call ends with whose endpoint, network or card is gone."""
    if how == "silent":
        await asyncio.sleep(LIMIT)
        raise ExpertError("It gave no answer.", retryable=True, fault=Fault.TIMEOUT)
    if how == "network":
        raise UnavailableError("There is no way to it.", retryable=True, fault=Fault.NETWORK)
    await asyncio.sleep(SECONDS / 2)
    raise ExpertError("It failed: CUDA error: the GPU is lost.", retryable=True, fault=Fault.CRASH)


def right(call: Call) -> str:
    """What the task is to give; the next one is given it."""
    return f"{call.text('text')}+" if call.task == REWRITE.name else "a: 97%"


@dataclass
class DicedLLM:
    """An LLM that answers as its prompt wants, and fails by dice."""

    dice: Dice
    down: Down = working
    name: str = "llm:7b"
    provider: str = "ollama"
    remote: bool = False
    window: int = 8192
    sees: bool = False
    ability: Ability = Ability.FULL_PLANS
    enforces_schema: bool = False

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        if down := self.down(LLM_ITSELF):
            await perish(down)
        labels = bool(prompt.schema)
        given = prompt.messages[-1].text.split("\n")[2]
        answer = '{"label": "a"}' if labels else f"{given}+"
        fault = self.dice(says=labels)
        match fault:
            case "":
                await asyncio.sleep(SECONDS)
                yield answer
            case "unseen":
                yield '{"label": "b"}' if labels else "a wrong one"
            case "truncated JSON":
                yield answer[:4]
            case "wrong kind":
                yield "c" if labels else ""
            case "empty":
                yield " "
            case _:
                await suffer(fault, SORT)


class Templates:
    """A prompt for every task."""

    def template(self, name: str) -> Template:
        return Template(name, "1", "{{instruction}} {{mark}}" if name == "task" else name)


DEFINITIONS = {item.name: Definition(item) for item in TYPES}
WAYS = {
    SORT.name: LLMMethod(labels=lambda call: ("a", "b"), says="{}: 97%"),
    REWRITE.name: LLMMethod(),
}


@dataclass
class World:
    """Backends, an executor over them, and what is counted."""

    dice: Dice
    clock: VirtualLoop
    patience: RetryLimits = field(default_factory=RetryLimits)
    down: Down = working
    seed: int = 0

    def __post_init__(self) -> None:
        self.llm = DicedLLM(self.dice, self.down)
        diced = [
            Diced(name, lane, self.dice, self.down)
            for name, lane in (("local", "gpu"), ("api", "network"), ("builtin", "cpu"))
        ]
        self.backends = {item.name: item for item in diced}
        self.attempts = 0
        llms = LLMBackend(FakeLLMs(self.llm), Templates(), DEFINITIONS, ways=WAYS)
        self.executor = Executor(
            {**self.backends, "llm": llms},
            NoStore(),
            lanes={"gpu": 1, "network": 4, "cpu": 2, "llm": 1},
            inspect=inspect,
            patience=self.patience,
            clock=self.clock.time,
            jitter=random.Random(self.seed).random,
        )

    def show(self, event: Event) -> None:
        self.attempts += isinstance(event, TaskStarted)
