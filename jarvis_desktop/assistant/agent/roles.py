"""Who works on a goal: each role is data for the one controller and the one plan writer.

A new kind of worker is a role, its branches and two prompts. A branch is an object that returns an
`Observation`; branch names mean the same in every role.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, StepState

if TYPE_CHECKING:
    from jarvis_desktop.assistant.agent.goal_run import GoalRun

MAX_ABILITIES_CHARS = 900
"""Characters of the list of what experts can do."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What a controller can choose. `args` are JSON Schemas by name. Arguments in `required` must
    be given; of the others, those with a default are always there."""

    name: str
    summary: str
    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    """The argument that the user sees as what the round does (by default the first one), and lists
    of what it works on."""


@dataclass(frozen=True, slots=True)
class AgentRole:
    """A kind of controller."""

    name: str
    """Part of the path in logs: "assistant", "coder", "librarian"."""
    prompt: str
    """The template of its system message, without ".md"."""
    writes: str
    """The template by which its plan is written; "" if it works without a plan."""
    branches: tuple[Branch, ...]
    shows_library: bool = False
    """Whether its prompt lists the functions of the code library."""
    rounds: int = 30
    """At most, for one call; those of the whole goal are counted separately."""

    def branch(self, name: str) -> Branch | None:
        """Return its branch of that name, or None."""
        return next((branch for branch in self.branches if branch.name == name), None)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a branch returned."""

    text: str
    """For the controller's next prompt and for the log."""
    status: Status = Status.DONE
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    printed: str = ""
    """What the code printed, and the value of its last expression."""
    error: str = ""
    """The traceback of the code."""
    trusted: bool = False
    """Whether the text is the user's or the application's; else it is data."""
    ends: bool = False
    """Whether the controller is finished with it."""


def failure(text: str, *, code: str = "") -> Observation:
    """Return a failed observation in the application's own, trusted words."""
    return Observation(text, Status.FAILED, code=code, trusted=True)


class BranchRunner(Protocol):
    """Runs a branch."""

    def __call__(self, run: GoalRun, choice: BranchChoice, /) -> Awaitable[Observation]:
        """Run it. Failures are FAILED observations; only what must end the turn is raised."""


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT, "default": []}
_STEP = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "state": {"enum": [state.value for state in StepState]},
        "note": {"type": "string", "default": ""},
    },
    "required": ["id", "state"],
}

ASK_USER = Branch(
    "ask_user",
    "Ask the person something that only they can decide or know.",
    {"question": _TEXT},
    ("question",),
)
RE_PLAN = Branch(
    "re_plan",
    "Have the plan written anew, because it does not work as it stands.",
    {"reason": _TEXT},
    ("reason",),
)
UPDATE_PLAN = Branch(
    "update_plan",
    "Mark steps of the plan, with what came of them in a few words.",
    {"steps": {"type": "array", "items": _STEP}},
    ("steps",),
)
_FINISH = Branch(
    "finish",
    "The task is done, or cannot be done: say what came of it. `uses` names the files and results "
    "that belong to it.",
    {"summary": _TEXT, "uses": _TEXTS},
    ("summary",),
)
_SHARED = (ASK_USER, RE_PLAN, UPDATE_PLAN)


def assistant(abilities: Iterable[str] = ()) -> AgentRole:
    """Return the controller that works for the user. `abilities` are titles of expert tasks."""
    can = one_line("; ".join(abilities), limit=MAX_ABILITIES_CHARS)
    return AgentRole(
        "assistant",
        prompt="agent",
        writes="outline",
        branches=(
            Branch(
                "run_experts",
                "Have experts work on files, pictures, sound or texts. Say in `request` what is to "
                "be done; `uses` names the files and results to work on."
                + (f" They can do: {can}." if can else ""),
                {"request": _TEXT, "uses": _TEXTS},
                ("request",),
                shows=("request", "uses"),
            ),
            Branch(
                "coder",
                "Have a programmer write and run Python code: fetch data, compute, clean, convert, "
                "draw charts, make files. It knows nothing but `task` and the files: say all of it "
                "there.",
                {"task": _TEXT},
                ("task",),
            ),
            *_SHARED,
            Branch(
                "intermediate_answer",
                "Show the person what there is so far, and hear what they say to it.",
                {"text": _TEXT, "uses": _TEXTS},
                ("text",),
            ),
            Branch(
                "final_answer",
                "The goal is reached, or cannot be reached: answer the person. `uses` names the "
                "files and results that belong to the answer.",
                {"text": _TEXT, "uses": _TEXTS},
                ("text",),
            ),
        ),
        # The limit is the goal's.
        rounds=100_000,
    )


ASSISTANT = assistant()

CODER = AgentRole(
    "coder",
    prompt="coder",
    writes="outline_coder",
    branches=(
        Branch(
            "run_code",
            "Run a Python script in the sandbox. Variables of earlier scripts are still there.",
            {"code": _TEXT, "purpose": {**_TEXT, "default": ""}},
            ("code",),
            shows=("purpose",),
        ),
        Branch(
            "extend_library",
            "Have a function written, tested and kept in the library, or one that is there "
            "changed: for what will be needed again. Say its name, arguments and result.",
            {"task": _TEXT},
            ("task",),
        ),
        *_SHARED,
        _FINISH,
    ),
    shows_library=True,
)

LIBRARIAN = AgentRole(
    "librarian",
    prompt="librarian",
    writes="outline_librarian",
    branches=(
        Branch(
            "write_function",
            "Test a function and keep it. `code` is a module with the function, its imports, types "
            "and docstring; `tests` a module of functions test_… that import it from the library; "
            "`packages` what is to be installed for it. One of the same name is replaced, and its "
            "tests must pass as well, unless `replaces` names it: then it is to behave otherwise.",
            {
                "name": _TEXT,
                "code": _TEXT,
                "tests": _TEXT,
                "packages": _TEXTS,
                "replaces": {**_TEXT, "default": ""},
            },
            ("name", "code", "tests"),
        ),
        *_SHARED,
        _FINISH,
    ),
    shows_library=True,
    rounds=12,
)


def roles(abilities: Iterable[str] = ()) -> Mapping[str, AgentRole]:
    """Return all roles by name."""
    return {role.name: role for role in (assistant(abilities), CODER, LIBRARIAN)}
