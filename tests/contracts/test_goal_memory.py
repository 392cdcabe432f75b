"""What every GoalMemory promises, asked of the fake and of the SQLite one alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    BranchChoice,
    CodeTerms,
    ControllerFrame,
    Goal,
    GoalMemory,
    LogEntry,
    Outline,
    OutlineStep,
    StepState,
    Terms,
    outline_from_markdown,
)
from jarvis_desktop.storage.history import SqliteHistory
from tests.fake_goals import FakeGoalMemory
from tests.storage.samples import INVENTORY, START, stored_file

OUTLINE = Outline(
    (
        OutlineStep(1, "Download the prices", StepState.DONE, "prices.csv"),
        OutlineStep(3, "Plot them", StepState.FAILED, "no column ‘Close’"),
    )
)
OUTER = ControllerFrame(
    "assistant", "Tell the best month", OUTLINE, pending=BranchChoice("coder", {"task": "x"})
)
CODER = ControllerFrame(
    "coder",
    "Plot the prices",
    OUTLINE,
    rounds=7,
    tokens=1200,
    summary="It began.",
    summed=4,
    notices=("You changed step 3.", "ünother"),
    observation="KeyError: 'Close'",
    last='{"branch": "run_code"}',
    pending=BranchChoice(
        "run_code", {"code": "print(1)", "many": [1, None, {"a": 0.5}]}, "To see it."
    ),
    tainted=True,
    kept={"name": "plot", "source": "def plot(): …\n"},
)
TERMS = Terms(True, CodeTerms.SANDBOXED, ("127.0.0.1:8080", "example.org"))


@pytest.fixture(params=["fake", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GoalMemory]:
    if request.param == "fake":
        yield FakeGoalMemory()
        return
    real = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield real.goals
    real.close()


def goal(goal_id: str = "g", text: str = "Plot the prices", *, minutes: int = 0) -> Goal:
    return Goal(goal_id, "c", text, TERMS, START + timedelta(minutes=minutes))


def entry(number: int, path: str = "assistant", *artifacts: Artifact) -> LogEntry:
    at = START + timedelta(seconds=number)
    what, said = f"Round {number}", f"It said {number}.\nAnd more."
    return LogEntry(
        number, path, "coder", what, Status.DONE, said, at, artifacts, "print(1)\n", 1.25
    )


def test_a_goal_comes_back_as_it_was(memory: GoalMemory) -> None:
    assert memory.goal("g") is None
    memory.begin(goal(), [OUTER])
    assert memory.goal("g") == goal()
    assert tuple(memory.frames("g")) == (OUTER,)
    assert tuple(memory.log("g")) == ()
    memory.end("g", Status.PARTLY, "March was the best.")
    assert memory.goal("g") == replace(goal(), status=Status.PARTLY, answer="March was the best.")
    assert tuple(memory.frames("g")) == (OUTER,)


@pytest.mark.parametrize("terms", [Terms(), TERMS, Terms(code=CodeTerms.ASK)])
def test_what_was_agreed_to_is_kept(memory: GoalMemory, terms: Terms) -> None:
    memory.begin(replace(goal(), terms=terms), [OUTER])
    assert memory.list()[0].terms == terms


def test_the_stack_and_what_was_done_are_kept_together(memory: GoalMemory, tmp_path: Path) -> None:
    made = replace(stored_file(tmp_path, "abc.png"), made_by=3)
    outside = replace(made, path=Path("/elsewhere/x.png"))
    memory.begin(goal(), [OUTER])
    first = entry(1, "assistant", made, outside, text_artifact("March"))
    memory.keep("g", [OUTER, CODER], [first, entry(2, "assistant/coder")])
    assert tuple(memory.frames("g")) == (OUTER, CODER)
    assert tuple(memory.log("g")) == (first, entry(2, "assistant/coder"))
    changed = replace(OUTER, pending=None, rounds=1)
    memory.keep("g", [changed])
    assert tuple(memory.frames("g")) == (changed,)
    assert len(memory.log("g")) == 2


def test_a_round_written_once_more_takes_the_place_of_the_first(memory: GoalMemory) -> None:
    memory.begin(goal(), [OUTER])
    memory.keep("g", [OUTER], [entry(1), entry(2)])
    again = replace(entry(1), status=Status.FAILED, observation="It broke.")
    memory.keep("g", [OUTER], [again])
    assert tuple(memory.log("g")) == (again, entry(2))


def test_a_part_of_the_log(memory: GoalMemory) -> None:
    memory.begin(goal(), [OUTER])
    coder = "assistant/coder"
    entries = [entry(number, coder if number % 2 else "assistant") for number in range(1, 7)]
    memory.keep("g", [OUTER], entries[::-1])
    assert [item.number for item in memory.log("g")] == [1, 2, 3, 4, 5, 6]
    assert [item.number for item in memory.log("g", path=coder)] == [1, 3, 5]
    assert [item.number for item in memory.log("g", path="assistant")] == [2, 4, 6]
    assert not memory.log("g", path="assistant/coder/librarian")


def test_a_goal_begun_again_forgets_what_there_was(memory: GoalMemory) -> None:
    memory.begin(goal(), [OUTER, CODER])
    memory.keep("g", [OUTER, CODER], [entry(1)])
    memory.end("g", Status.FAILED, "It broke.")
    memory.begin(goal(text="Another"), [CODER])
    assert memory.goal("g") == goal(text="Another")
    assert tuple(memory.frames("g")) == (CODER,)
    assert not memory.log("g")


def test_the_newest_come_first(memory: GoalMemory) -> None:
    for number in range(5):
        memory.begin(goal(f"g{number}", minutes=-number), [OUTER])
    assert [item.id for item in memory.list()] == ["g4", "g3", "g2", "g1", "g0"]
    assert [item.id for item in memory.list(2)] == ["g4", "g3"]


def test_goals_that_were_reached_are_found_by_their_words(memory: GoalMemory) -> None:
    texts = {
        "a": "Download the closing prices of wheat and plot them",
        "b": "Rename these photos by their date",
        "c": "Download prices",
        "d": "Plot the prices of wheat",
        "e": "Prices prices prices of wheat, plotted: prices",
    }
    for name, text in texts.items():
        memory.begin(goal(name, text), [OUTER])
    for name, status in (("a", Status.DONE), ("b", Status.PARTLY), ("c", Status.DONE)):
        memory.end(name, status, "Done.")
    memory.end("e", Status.FAILED, "It broke.")
    assert [item.id for item in memory.like("wheat prices", 5)][:1] == ["a"]
    assert {item.id for item in memory.like("wheat prices", 5)} == {"a", "c"}
    assert [item.id for item in memory.like("wheat prices", 1)] == ["a"]
    assert [item.id for item in memory.like('photos "OR (NEAR* -date', 5)] == ["b"]
    for nothing in ("elephants", "", "?!", "\0"):
        assert not memory.like(nothing, 5)


def test_what_is_told_of_a_goal_that_is_not_there_is_not_kept(memory: GoalMemory) -> None:
    memory.keep("g", [OUTER], [entry(1)])
    memory.end("g", Status.DONE, "Done.")
    assert memory.goal("g") is None
    assert not memory.list()
    assert not memory.frames("g")
    assert not memory.log("g")


def test_one_is_forgotten_and_no_other(memory: GoalMemory) -> None:
    for name in ("g", "h"):
        memory.begin(goal(name), [OUTER])
        memory.keep(name, [OUTER, CODER], [entry(1)])
        memory.end(name, Status.DONE, "Done.")
    memory.remove("g")
    assert [item.id for item in memory.list()] == ["h"]
    assert not memory.frames("g")
    assert not memory.log("g")
    assert [item.id for item in memory.like("plot prices", 5)] == ["h"]
    assert len(memory.frames("h")) == 2
    with pytest.raises(InputError, match="g"):
        memory.remove("g")


def test_the_numbers_of_steps_that_went_are_remembered(memory: GoalMemory) -> None:
    shorter = outline_from_markdown("- [x] 1. Download the prices", OUTLINE)
    memory.begin(goal(), [replace(OUTER, outline=shorter)])
    (frame,) = memory.frames("g")
    assert frame.outline
    assert frame.outline.highest == 3
