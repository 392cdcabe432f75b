"""Ten plain requests that show whether an LLM can plan."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.inputs import CONVERTERS
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.llm import LLM, Ability, LLMs, Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Planner, PlanRejected
from jarvis_desktop.core.task import TaskType


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request, its files by name and kind, and the sets of tasks that are right for it."""

    request: str
    files: Mapping[str, str]
    tasks: Sequence[frozenset[str]]

    def is_right(self, planned: object) -> bool:
        """Whether a plan has one of the sets of tasks. Conversions of files are not counted."""
        if not isinstance(planned, Plan):
            return False
        names = {task.type.name for task in planned}
        return any(names - set(CONVERTERS) == tasks - set(CONVERTERS) for tasks in self.tasks)


def load_requests(file: Path) -> list[CheckedRequest]:
    """Read the requests of a file."""
    return [
        CheckedRequest(
            each["request"], each["files"], [frozenset(names) for names in each["tasks"]]
        )
        for each in json.loads(file.read_text("utf-8"))
    ]


@dataclass(eq=False)
class PlanningCheck:
    """Has an LLM plan the requests of a file with the planner that `make` builds."""

    file: Path
    make: Callable[[LLMs, Planner], Planner]
    inventory: Sequence[TaskType]

    async def __call__(self, llm: LLM) -> AsyncGenerator[bool, None]:
        """Return of each plan whether it is right. Raises JarvisError if the LLM is gone."""
        examinee = Examinee(llm)
        planner = self.make(examinee, NoPlanner())
        for asked in load_requests(self.file):
            files = (Artifact(Kind(kind), path=Path(name)) for name, kind in asked.files.items())
            context = Context(attachments=tuple(files))
            planned = await planner.plan(asked.request, self.inventory, context)
            if examinee.failure:
                raise examinee.failure
            yield asked.is_right(planned)


class Examinee:
    """An LLM that plans from short lists, whatever is assumed of it, and the choice of it."""

    ability = Ability.SHORT_PLANS

    def __init__(self, llm: LLM) -> None:
        self.name, self.provider, self.remote = llm.name, llm.provider, llm.remote
        self.window, self.sees = llm.window, llm.sees
        self.enforces_schema = llm.enforces_schema
        self.failure: JarvisError | None = None
        """Why it cannot be reached."""
        self._llm = llm

    async def current(self) -> LLM:
        """Return itself."""
        return self

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces. Raises JarvisError."""
        try:
            async for piece in self._llm.stream(prompt):
                yield piece
        except JarvisError as error:
            if error.retryable or isinstance(error, UnavailableError):
                self.failure = error
            raise


class NoPlanner(EmbeddedPlanner):
    """Plans nothing, so that only the LLM's plans count."""

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> PlanRejected:
        """Return that there is none."""
        return PlanRejected("")
