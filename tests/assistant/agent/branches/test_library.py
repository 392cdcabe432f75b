from __future__ import annotations

import re
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.branches.library import (
    SIMILAR_FUNCTIONS,
    CallCoder,
    ExtendLibrary,
)
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.code import FunctionDraft
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.goal import BranchChoice, CodeTerms, ControllerFrame
from tests.assistant.agent.workplace import Workplace
from tests.fakes import FakeFrontend

DOUBLE = 'def double(x: int) -> int:\n    """Twice it."""\n    return 2 * x\n'


@pytest.fixture
def place(tmp_path: Path, frontend: FakeFrontend) -> Workplace:
    return Workplace(tmp_path, frontend, code=CodeTerms.ASK)


def saved(place: Workplace) -> None:
    draft = FunctionDraft("double", DOUBLE)
    place.library.save(draft, approved=draft.sha256)


class Called:
    """An inner controller that finishes at once."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    async def __call__(self, goal_run: GoalRun, role: str, task: str) -> Observation:
        self.calls.append((role, task))
        return Observation("Done.")


def texts_of(place: Workplace) -> GoalRun:
    goal_run = place.goal_run()
    goal_run.made.append(text_artifact("What was said."))
    return goal_run


async def test_the_coder_is_told_where_a_file_has_another_name(place: Workplace) -> None:
    called = Called()
    branch = CallCoder(called, place.workshop)
    seen = await branch(texts_of(place), BranchChoice("coder", {"task": "Count."}))
    assert seen == Observation("Done.")
    [(role, task)] = called.calls
    assert role == "coder"
    assert re.fullmatch(
        r"Count\.\n\nIn the folder where code runs some have another name:\n"
        r"<(data-\w+)>\ntext 1 is the file text 1\.txt\n</\1>",
        task,
    )


async def test_without_such_files_the_coder_has_its_task_alone(
    place: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "prices.csv").write_text("1\n")
    goal_run = place.goal_run(files=[Artifact(Kind.TABLE, path=tmp_path / "prices.csv")])
    called = Called()
    await CallCoder(called, place.workshop)(goal_run, BranchChoice("coder", {"task": "Plot it."}))
    assert called.calls == [("coder", "Plot it.")]


async def test_after_a_crash_an_inner_controller_gets_the_very_task_that_it_had(
    place: Workplace,
) -> None:
    saved(place)
    called = Called()
    coder, librarian = CallCoder(called, place.workshop), ExtendLibrary(called, place.library)
    for branch, role, left, goes_on in (
        (coder, "coder", "Count.\n\nIn the folder it was otherwise.", True),
        (coder, "coder", "Count.", True),
        (coder, "coder", "Count it.", False),
        (coder, "librarian", "Count.", False),
        (librarian, "librarian", "Count.\n\nNothing was there.", True),
    ):
        goal_run = texts_of(place)
        goal_run.frames.append(ControllerFrame(role, left))
        await branch(goal_run, BranchChoice("x", {"task": "Count."}))
        assert (called.calls[-1][1] == left) == goes_on


async def test_the_librarian_is_shown_what_there_is(place: Workplace) -> None:
    saved(place)
    long = FunctionDraft("triple", DOUBLE.replace("double", "triple") + "# \n" * 2000)
    place.library.save(long, approved=long.sha256)
    called = Called()
    branch = ExtendLibrary(called, place.library)
    seen = await branch(
        place.goal_run(), BranchChoice("extend_library", {"task": "Quadruple a number."})
    )
    assert seen == Observation("Done.")
    [(role, task)] = called.calls
    assert role == "librarian"
    assert task.startswith(f"Quadruple a number.\n\n{SIMILAR_FUNCTIONS}\n<data-")
    assert f"double(x: int) -> int: Twice it.\n\n{DOUBLE.rstrip()}" in task
    assert "triple(x: int) -> int: Twice it.\n</data-" in task


async def test_without_a_library_the_librarian_begins_from_nothing(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(words: str, most: int) -> None:
        raise StorageError("The disk is broken.")

    called = Called()
    branch = ExtendLibrary(called, place.library)
    await branch(place.goal_run(), BranchChoice("extend_library", {"task": "Double it."}))
    monkeypatch.setattr(place.library, "search", broken)
    goal_run = place.goal_run()
    await branch(goal_run, BranchChoice("extend_library", {"task": "Double it."}))
    assert called.calls == [("librarian", "Double it.")] * 2
    assert goal_run.live.turn.trace == (
        "The code library could not be searched: The disk is broken.",
    )
