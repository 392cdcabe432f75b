"""The branches that call inner controllers, with what these start from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from jarvis_desktop.assistant.agent.code_session import CodeWorkspaces
from jarvis_desktop.assistant.agent.goal_run import GoalRun, search_functions
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.code import Function, Library
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.text.quotation import marked_off

CODER, LIBRARIAN = "coder", "librarian"
"""The roles of the inner controllers."""

CallController = Callable[[GoalRun, str, str], Awaitable[Observation]]
"""Calls an inner controller: run, role, task. Its observation does not end the caller's work."""

MAX_SIMILAR = 3
"""Library functions shown to the librarian."""
MAX_SOURCE_CHARS = 3000
"""Characters of the code of all of them."""
MAX_FILES = 40
RENAMED_FILES = "In the folder where code runs some have another name:"
SIMILAR_FUNCTIONS = (
    "The library has these functions already, the nearest first. Where one of them will do, finish "
    "and name it; where one nearly does, write it anew under the same name, so that it does both."
)


class CallCoder:
    """Runs `coder`, with the argument `task`."""

    def __init__(self, call: CallController, workshop: CodeWorkspaces) -> None:
        self._call = call
        self._workshop = workshop

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Have code written and run, on the available files."""
        task = choice.args["task"]
        whole = _unfinished_task(run, CODER, task)
        if not whole:
            files = self._workshop.bench(run).files.renamed(run)
            lines = [f"{name} is the file {file}" for name, file in files.items()]
            whole = _with_data(run, task, RENAMED_FILES, "\n".join(lines[:MAX_FILES]))
        return await self._call(run, CODER, whole)


class ExtendLibrary:
    """Runs `extend_library`, with the argument `task`."""

    def __init__(self, call: CallController, library: Library) -> None:
        self._call = call
        self._library = library

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Have a function written, or change one that is nearly it."""
        task = choice.args["task"]
        whole = _unfinished_task(run, LIBRARIAN, task)
        if not whole:
            near = await search_functions(run, self._library, task, MAX_SIMILAR)
            whole = _with_data(run, task, SIMILAR_FUNCTIONS, _format_functions(near))
        return await self._call(run, LIBRARIAN, whole)


def _unfinished_task(run: GoalRun, role: str, task: str) -> str:
    """Return the whole task of the controller that worked on it before a crash; "" if none did. A
    controller resumes only the very same task."""
    for frame in run.frames[run.inner + 1 :][:1]:
        if frame.role == role and f"{frame.task}\n\n".startswith(f"{task}\n\n"):
            return frame.task
    return ""


def _with_data(run: GoalRun, task: str, heading: str, data: str) -> str:
    return f"{task}\n\n{heading}\n{marked_off(data, run.goal.id)}" if data else task


def _format_functions(functions: Sequence[Function]) -> str:
    """Return their signatures, and the code of the nearest ones as far as it fits as a whole."""
    room, told = MAX_SOURCE_CHARS, []
    for function in functions:
        told.append(f"{function.signature}: {function.summary}")
        source = function.draft.source.strip()
        if len(source) <= room:  # half of one would pass for the whole
            room -= len(source)
            told.append(source)
    return "\n\n".join(told)
