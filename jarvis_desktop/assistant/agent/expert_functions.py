"""Experts as functions of code: what a script calls becomes a plan of one task, which is run like
any other.

A script may be wrong or hostile, and a call of it is data. So it can only have tasks done that have
no effect outside of the artifact store; a person is asked about everything else by the same steps
as for any plan. The same task is not done twice in a goal: a second script that checks the first
one gets the result that is there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.agent.branches.run_experts import following_id, is_done, joined
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.execution.executor import ReplanningRunner
from jarvis_desktop.assistant.planning.inputs import find_route
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import ExpertCall
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.events import PlanAccepted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.core.task import PROMPT, Arg, Item, Port, Ref, Task, TaskType
from jarvis_desktop.core.turn import Turn


class ExpertFunctions:
    """Has experts do what scripts ask for."""

    def __init__(
        self,
        inventory: Sequence[TaskType],
        replanning_runner: ReplanningRunner,
        store: ArtifactStore,
    ) -> None:
        self._inventory = inventory
        self._types = {
            item.name: item for item in inventory if item.ports and not (item.acts or item.guarded)
        }
        self._replanning_runner = replanning_runner
        self._store = store

    async def call(self, run: GoalRun, call: ExpertCall) -> Sequence[Artifact]:
        """Return what the task gives. Raises InputError if there is no such task, or it does not
        take that, and ExpertError with the reason if it fails."""
        live = run.live
        task_type = self._types.get(call.task)
        if task_type is None:
            raise InputError(
                tr("Experts do nothing called “{name}” for code.", name=one_line(call.task))
            )
        args = await asyncio.to_thread(self._stored, call.args)
        tasks = _NewTasks(live.turn, self._inventory)
        wanted = tasks.add(task_type, args)
        if tasks.new:
            plan = joined(tasks.new, live.turn)
            live.show(PlanAccepted(plan))
            await self._replanning_runner.carry_out(plan, run.context, live, rounds=0)
        result = live.turn.results.get(wanted)
        if result is None or result.status is not Status.DONE:
            raise ExpertError(_reason(tasks.new, live.turn) or tr("It was taken out of the plan."))
        return result.artifacts

    def _stored(self, args: Mapping[str, Arg]) -> dict[str, Arg]:
        """Return the arguments with their files in the store, which looks at what they are. Raises
        InputError, StorageError."""

        def stored(item: Item) -> Item:
            if not isinstance(item, Artifact) or item.path is None:
                return item
            return replace(self._store.take_in(item.path), name=item.name, source=None)

        return {
            name: tuple(map(stored, arg)) if isinstance(arg, tuple) else stored(arg)
            for name, arg in args.items()
        }


class _NewTasks:
    """The tasks of a call that are not done yet: the one that is asked for, and those that turn its
    inputs into what it takes, such as a film into sound."""

    def __init__(self, turn: Turn, inventory: Sequence[TaskType]) -> None:
        self._turn = turn
        self._inventory = inventory
        self._following = following_id(turn)
        self.new: list[Task] = []

    def add(self, task_type: TaskType, args: Mapping[str, Arg]) -> int:
        """Return the id of a task that does this, or has done it already."""
        taken: dict[str, Arg] = {}
        for name, arg in args.items():
            port = task_type.port(name)
            items = arg if isinstance(arg, tuple) else (arg,)
            fitting = tuple(self._converted(item, port) if port else item for item in items)
            taken[name] = fitting if isinstance(arg, tuple) else fitting[0]
        # A wish in words may be meant to give something else each time.
        if task_type.port(PROMPT) is None:
            done = [task for task in self._turn.plan or () if is_done(task, self._turn)]
            for task in done + self.new:
                if task.type == task_type and task.args == taken:
                    return task.id
        task = Task(self._following, task_type, taken)
        self._following += 1
        self.new.append(task)
        return task.id

    def _converted(self, item: Item, port: Port) -> Item:
        if not isinstance(item, Artifact):
            return item
        for converter in find_route((item.kind,), port.kinds, self._inventory) or ():
            item = Ref(self.add(converter, {converter.ports[0].name: item}))
        return item


def _reason(tasks: Sequence[Task], turn: Turn) -> str:
    """Return why the first of these tasks that failed did so."""
    results = [turn.results[task.id] for task in tasks if task.id in turn.results]
    failed = [each for each in results if each.status is not Status.DONE]
    return failed[0].reason if failed else ""


# What the prompt for scripts says about experts.

_translating = re.compile(r"translat|übersetz|tradu[cizt]|翻译", re.IGNORECASE)
_summarizing = re.compile(
    r"summar|zusammenfass|résum|resum|key points|gist\b|总结|摘要", re.IGNORECASE
)
_looking = re.compile(
    r"\b(?:show(?:n|s|ing)?|see[ns]?|depict\w*|describ\w*|descri\w+|caption\w*|contents?|read|texts?"
    r"|written|says?|receipts?|scans?|screenshots?|signs?|letters?|invoices?|what|who|which|alt"
    r"|beschreib\w*|zeig\w*|steht|lies|text\w*|was|wer|décri\w*|montr\w*|lis|quel\w*|qué|muestra\w*"
    r"|lee)\b|描述|文字|什么",
    re.IGNORECASE,
)
_function = re.compile(r"\bjarvis\.(ask|caption|read_picture|summarize|transcribe|translate)\(")


def needed_functions(goal: str, names: Collection[str]) -> frozenset[str]:
    """Return the names of the functions that a goal over files of these names may need."""
    kinds = {kind_of_name(name) for name in names}
    found: set[str] = set()
    if kinds & {Kind.AUDIO, Kind.VIDEO}:
        found.add("transcribe")
    if _translating.search(goal):
        found.add("translate")
    if _summarizing.search(goal) and kinds != {Kind.TABLE}:  # there it means totals
        found.add("summarize")
    if Kind.IMAGE in kinds and _looking.search(goal):
        found |= {"caption", "read_picture", "ask"}
    return frozenset(found)


def experts_prompt(text: str, functions: Collection[str]) -> str:
    """Return a text about all functions without the lines of those that are not among these."""
    return "\n".join(line for line in text.splitlines() if calls_only(line, functions))


def calls_only(code: str, functions: Collection[str]) -> bool:
    """Return whether code calls no other experts than by these functions."""
    return set(_function.findall(code)) <= set(functions)
