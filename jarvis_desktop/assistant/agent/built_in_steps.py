"""The part of a goal that the built-in methods do: files changed, converted, joined or drawn, and
tables of what others hold.

If the words leave no doubt about that, nothing is gained by a script: the same words would be
planned so outside of agent mode too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from jarvis_desktop.assistant.agent.branches.run_experts import joined, renumbered
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.execution.executor import ReplanningRunner
from jarvis_desktop.assistant.planning.inputs import (
    ARRANGE,
    ASK_TABLE,
    CHART,
    COLLECT,
    CONVERT,
    COUNT_WORDS,
    CUT,
    EDIT_TABLE,
    EDIT_TEXT,
    FILE_DETAILS,
    JOIN,
    QUESTION,
    SAVE,
)
from jarvis_desktop.core.artifact import WRITTEN_TABLES, Artifact, Kind
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.events import PlanAccepted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Planner
from jarvis_desktop.core.task import Arg, Ref, Task, TaskType
from jarvis_desktop.text.tokens import FUNCTION_WORDS

_EXACT = frozenset(
    (
        *("image-editing", CONVERT, CUT, JOIN, EDIT_TEXT, EDIT_TABLE, CHART, FILE_DETAILS),
        *(ARRANGE, COLLECT, COUNT_WORDS, ASK_TABLE),
    )
)
"""Tasks that do with a file just what their options say, or say that they are not sure."""


@dataclass(frozen=True, slots=True)
class BuiltInPlan:
    """Tasks that make files, and the names that these get, by the numbers of the tasks."""

    tasks: Plan
    names: Mapping[int, str]

    @property
    def answers(self) -> bool:
        """Whether it counts what is asked, and makes no files."""
        return {task.type.name for task in self.tasks} in (
            {FILE_DETAILS},
            {COUNT_WORDS},
            {COLLECT},
            {ARRANGE},
        )


@dataclass(eq=False)
class BuiltInSteps:
    """Plans a goal without an LLM, and does what makes files.

    `is_doubtful` returns whether a result says of itself that it is not sure.
    """

    planner: Planner
    inventory: Sequence[TaskType]
    replanning_runner: ReplanningRunner
    is_doubtful: Callable[[str], bool]

    async def plan(self, run: GoalRun, files: Iterable[Artifact]) -> BuiltInPlan | None:
        """Return what the words of the goal clearly ask to be done with these files, None if there
        is a doubt or nothing of that kind."""
        context = Context(tuple(files))
        planned = await self.planner.plan(run.goal.text, self.inventory, context)
        if not isinstance(planned, Plan) or planned.undone:
            return None
        names = _names(planned)
        tasks = [task for task in planned if task.type.name != SAVE]
        # What is only asked is read and confirmed in another way; an answer in a file is a table.
        tasks = [task for task in tasks if task.type.name != ASK_TABLE or task.id in names]
        if not tasks or not all(map(_is_exact, tasks)):
            return None
        if all(task.type.name == ASK_TABLE for task in tasks) and _left_out(run.goal.text, tasks):
            return None
        if sum(task.type.name == FILE_DETAILS for task in tasks) > 1:
            return None  # what is asked of several files compares or adds up
        try:
            fresh = renumbered(Plan(tuple(tasks)), run.live.turn)
        except PlanError:  # one of them works on an answer
            return None
        called = {new.id: names.get(old.id, "") for old, new in zip(tasks, fresh, strict=True)}
        return self._with_formats(BuiltInPlan(fresh, called))

    def _with_formats(self, plan: BuiltInPlan) -> BuiltInPlan:
        """Convert answers that are to be in files, and tables that are to be of another format."""
        convert = next((each for each in self.inventory if each.name == CONVERT), None)
        tasks, names = list(plan.tasks), dict(plan.names)
        for task in plan.tasks:
            suffix = PurePath(names[task.id]).suffix.lower()
            answers = task.type.gives == (Kind.TEXT,)
            answers |= task.type.name == ARRANGE and suffix in (".txt", ".md")
            if convert is None or not suffix or not (answers or suffix != _made_as(task, suffix)):
                continue
            fresh = tasks[-1].id + 1
            args: dict[str, Arg] = {convert.ports[0].name: Ref(task.id), "format": suffix[1:]}
            tasks.append(Task(fresh, convert, args))
            names |= {task.id: "", fresh: names[task.id]}
        return BuiltInPlan(Plan(tuple(tasks)), names)

    async def carry_out(self, run: GoalRun, plan: BuiltInPlan) -> Sequence[Artifact]:
        """Return the new files under their names, and the sentences about them. There are
        none if a step fails or is in doubt, or if a name is that of another format. Raises
        StorageError."""
        whole = joined(plan.tasks, run.live.turn)
        run.live.show(PlanAccepted(whole))
        await self.replanning_runner.carry_out(whole, run.context, run.live, rounds=0)
        used = {number for task in plan.tasks for number in task.depends_on}
        made: list[Artifact] = []
        for task in plan.tasks:
            result, name = run.live.turn.results.get(task.id), plan.names[task.id]
            if result is None or result.status is not Status.DONE:
                return ()
            if name and not any(item.path for item in result.artifacts):
                return ()
            for item in result.artifacts:
                if self.is_doubtful(item.text or "") or not _may_be_called(item, name):
                    return ()
                if task.id not in used or name:
                    made.append(replace(item, name=name) if item.path and name else item)
        return made


_word = re.compile(r"[^\W_]+")
_file_name = re.compile(r"\S+\.\w{2,5}\b")
_saving = FUNCTION_WORDS | frozenset(
    """save store write put export keep make create list file files table csv tsv excel spreadsheet
    xlsx json result results answer answers outcome rows rest new call name called named
    please them speichere speichern speicher schreibe schreib lege ergebnis ergebnisse
    antwort tabelle datei liste als in im ihn sie es das die der den und unter namens
    bitte""".split()
)
"""Words that only say that something is to be written."""


def _left_out(goal: str, questions: Iterable[Task]) -> bool:
    """Return whether a goal has words for more than these questions: "add up the points and save
    the five best"."""
    asked = {
        word
        for task in questions
        for word in _word.findall(str(task.args.get(QUESTION, "")).casefold())
    }
    return not {*_word.findall(_file_name.sub(" ", goal).casefold())} <= asked | _saving


def _is_exact(task: Task) -> bool:
    free = task.type.exact and not task.args.get(task.type.exact)
    return task.type.name in _EXACT and not free


def _made_as(task: Task, otherwise: str) -> str:
    """Return the ending of the table that a task makes: a changed one has that of its source."""
    given = task.args.get("table")
    if task.type.name == ASK_TABLE:
        return ".csv"
    if task.type.name != EDIT_TABLE or not isinstance(given, tuple):
        return otherwise
    sources = [PurePath(item.title).suffix.lower() for item in given if isinstance(item, Artifact)]
    return next((suffix for suffix in sources if suffix in WRITTEN_TABLES), ".csv")


def _names(plan: Plan) -> dict[int, str]:
    """Return under which name the result of a task is to be saved, by its id."""
    found = {}
    for task in plan:
        content = task.args.get("content")
        for item in content if isinstance(content, tuple) else (content,):
            if task.type.name == SAVE and isinstance(item, Ref):
                found[item.task_id] = str(task.args.get("name", ""))
    return found


def _may_be_called(item: Artifact, name: str) -> bool:
    suffixes = {PurePath(each).suffix.lower() for each in (name, item.title)}
    return item.path is None or not name or len(suffixes) == 1
