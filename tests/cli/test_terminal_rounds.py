"""What a terminal shows of a goal as it is worked on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.cli.terminal import (
    MAX_PRINTED_LINES,
    SHOWN_BRANCHES,
    GoalProgress,
    TerminalFrontend,
)
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    OutlineChanged,
    ReplyChunk,
    RoundEnded,
    RoundProgress,
    RoundStarted,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import StepState, outline_from_markdown
from tests.cli.house import Person, person

__all__ = ["person"]

OUTLINE = outline_from_markdown("1. Fetch\n2. Plot")
LAST = ("line 5", "line 6", "line 7", "line 8")
Show = Callable[[Event], str]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    frontend = TerminalFrontend()

    def shown(event: Event) -> str:
        frontend.show(event)
        return capsys.readouterr().err

    return shown


def test_the_goal_and_its_plan(show: Show) -> None:
    assert "Ctrl-C stops a step" in show(GoalTaken())
    # A plan that is only proposed is shown where it is asked about.
    assert show(OutlineChanged(OUTLINE, accepted=False)) == ""
    assert show(OutlineChanged(OUTLINE)) == "plan    - [ ] 1. Fetch\nplan    - [ ] 2. Plot\n"


def test_of_a_changed_plan_what_is_different_and_why(show: Show) -> None:
    show(OutlineChanged(OUTLINE))
    done = OUTLINE.with_state(1, StepState.DONE, "500 rows")
    assert show(OutlineChanged(done)) == "plan    - [x] 1. Fetch — 500 rows\n"
    assert show(OutlineChanged(done)) == ""
    words = "Step 1 is open now."  # which its line says as well
    assert show(OutlineChanged(OUTLINE, why=words)) == "plan    - [ ] 1. Fetch\n"
    show(OutlineChanged(done))
    more = outline_from_markdown(done.markdown + "\n3. Tell\nthe best", done)
    assert show(OutlineChanged(more, why="The person\nadded a step.")) == (
        "plan    The person added a step.\nplan    - [ ] 3. Tell\n"
    )


def test_the_plan_of_the_coder_is_its_own(show: Show) -> None:
    show(OutlineChanged(OUTLINE))
    inner = outline_from_markdown("1. Fetch")
    assert show(OutlineChanged(inner, "assistant/coder")) == "plan    coder: - [ ] 1. Fetch\n"


def test_a_round(show: Show, tmp_path: Path) -> None:
    started = RoundStarted(3, "assistant/coder", "run_code", "plot the\nclosing prices", "x = 1")
    assert show(started) == "round   3 coder: run_code  plot the closing prices\n"
    assert show(RoundProgress(3, "May is the be")) == ""
    assert show(RoundProgress(3, "st\n\nthe wor")) == "        May is the best\n"
    picture = Artifact(Kind.IMAGE, path=tmp_path / "x.png", name="plot.png")
    words = Artifact(Kind.TEXT, "words")
    ended = RoundEnded(3, Status.DONE, "May is the best\nIt made plot.png.", (picture, words))
    assert show(ended) == (
        f"        the wor\ndone    3 It made plot.png.\n        plot.png: {tmp_path / 'x.png'}\n"
    )


def test_a_round_that_failed(show: Show) -> None:
    show(RoundStarted(4, "assistant", "coder", ""))
    error = "\n".join(["Traceback", *(f"line {n}" for n in range(9))])
    lines = show(RoundEnded(4, Status.FAILED, error)).splitlines()
    assert lines[0] == "failed  4 Traceback"
    assert lines[1:] == [f"        {shown}" for shown in ("line 0", "…", *LAST)]


@pytest.mark.parametrize("branch", sorted(SHOWN_BRANCHES))
def test_what_stands_there_already_is_not_said_again(show: Show, branch: str) -> None:
    started = RoundStarted(9, "assistant", branch, "It was May.")
    assert show(started) == f"round   9 assistant: {branch}\n"
    assert show(RoundEnded(9, Status.DONE, "It was May.\nIt was hot.")) == ""
    show(started)
    assert show(RoundEnded(9, Status.PARTLY, "It was May.")) == f"partly  9 {branch}\n"
    show(started)
    assert show(RoundEnded(9, Status.FAILED, "Nobody is there.")) == "failed  9 Nobody is there.\n"


def test_what_an_inner_round_said_the_outer_one_does_not_say_again(show: Show) -> None:
    show(RoundStarted(1, "assistant", "coder", "Plot the prices"))
    show(RoundStarted(2, "assistant/coder", "finish", "May was best."))
    assert show(RoundEnded(2, Status.DONE, "May was best.")) == ""
    assert show(RoundEnded(1, Status.DONE, "May was best.")) == "done    1 coder\n"
    show(RoundStarted(3, "assistant", "coder", "Plot the prices"))
    assert show(RoundEnded(3, Status.DONE, "May was best.")) == "done    3 May was best.\n"


def test_the_end_of_all_is_told_by_the_answer_that_of_the_coder_is_not(show: Show) -> None:
    for number, path in ((4, "assistant"), (5, "assistant/coder")):
        show(RoundStarted(number, path, "give_up", "It goes in a circle."))
    told = RoundEnded(5, Status.FAILED, "I stopped before the end.")
    assert show(told) == "failed  5 I stopped before the end.\n"
    assert show(RoundEnded(4, Status.FAILED, "Stopped.")) == "failed  4 give_up\n"


def test_a_file_is_told_once(show: Show, tmp_path: Path) -> None:
    picture = Artifact(Kind.IMAGE, path=tmp_path / "x.png", name="plot.png")
    other = Artifact(Kind.IMAGE, path=tmp_path / "y.png", name="other.png")
    show(RoundStarted(1, "assistant/coder", "run_code", "Plot."))
    assert "plot.png" in show(RoundEnded(1, Status.DONE, "", (picture,)))
    show(RoundStarted(2, "assistant", "final_answer", "There."))
    told = show(RoundEnded(2, Status.DONE, "There.", (picture, other)))
    assert told == f"        other.png: {tmp_path / 'y.png'}\n"


def test_a_script_that_says_not_what_it_is_for(show: Show) -> None:
    code = "import math\n" + "print(math.pi)\n" * 30
    what = one_line(code, limit=200)
    assert show(RoundStarted(1, "assistant/coder", "run_code", what, code)) == (
        "round   1 coder: run_code  a script of 31 lines\n"
    )


def test_a_heading_of_what_was_printed_goes_with_it(show: Show) -> None:
    show(RoundStarted(1, "assistant/coder", "run_code", "Add."))
    show(RoundProgress(1, "42\n"))
    assert show(RoundEnded(1, Status.DONE, "It ran.\nIt printed:\n42\nFiles:\na.txt")) == (
        "done    1 It ran.\n        Files:\n        a.txt\n"
    )


async def test_what_the_person_typed_and_accepted_is_not_shown_again(
    person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    frontend = TerminalFrontend()
    person.says("", "only May")
    review = await frontend.review_outline(OUTLINE, "")
    assert review is not None
    frontend.show(RoundStarted(1, "assistant", "run_experts", "Read."))
    await frontend.ask("What should be different?")
    capsys.readouterr()
    frontend.show(OutlineChanged(review.outline))
    frontend.show(RoundEnded(1, Status.CANCELLED, "only May"))
    assert capsys.readouterr().err == "cancelled 1 run_experts\n"


async def test_a_plan_that_is_commented_on_is_shown_when_it_is_accepted(
    person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    frontend = TerminalFrontend()
    person.says("no")
    assert await frontend.review_outline(OUTLINE, "") is not None
    capsys.readouterr()
    frontend.show(OutlineChanged(OUTLINE))
    assert capsys.readouterr().err == "plan    - [ ] 1. Fetch\nplan    - [ ] 2. Plot\n"


def test_a_script_that_prints_without_end_fills_no_terminal() -> None:
    rounds = GoalProgress()
    rounds.lines(RoundStarted(1, "assistant/coder", "run_code", ""))
    shown = [rounds.lines(RoundProgress(1, f"{number}\n")) for number in range(10_000)]
    assert shown[MAX_PRINTED_LINES - 1] == f"        {MAX_PRINTED_LINES - 1}"
    assert shown[MAX_PRINTED_LINES] == "        …"
    assert not any(shown[MAX_PRINTED_LINES + 1 :])
    ended = RoundEnded(1, Status.DONE, "\n".join(f"{number}" for number in range(9_000, 9_010)))
    assert rounds.lines(ended).split() == ["done", "1", "9000", "9001", "…"] + [
        str(number) for number in range(9_006, 9_010)
    ]


def test_many_lines_at_once_and_one_without_end() -> None:
    rounds = GoalProgress()
    many = rounds.lines(RoundProgress(1, "x\n" * 1000)).split("\n")
    assert (len(many), many[-1]) == (MAX_PRINTED_LINES + 1, "        …")
    long = rounds.lines(RoundProgress(2, "y" * 450)).split("\n")
    assert [len(line) for line in long] == [208, 208]
    assert rounds.lines(RoundEnded(2, Status.DONE, "")) == f"        {'y' * 50}\ndone    2"


def test_nothing_that_is_shown_steers_the_terminal(show: Show) -> None:
    show(RoundStarted(1, "assistant/coder", "run_code", "\x1b[2J"))
    for event in (
        RoundStarted(2, "assistant/\x1b]52;c;x\x07", "run_code\x1b[2J", "\x1b[2J"),
        RoundProgress(1, "\x1b[2J\r\x07\n"),
        OutlineChanged(outline_from_markdown("1. \x1b[2J"), why="\x1b[2J"),
        RoundEnded(1, Status.DONE, "\x1b[2J\u202e"),
    ):
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(show(event))


def test_a_round_ends_a_piece_of_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    frontend = TerminalFrontend(quiet=True)
    frontend.show(ReplyChunk("So far"))
    frontend.show(RoundStarted(1, "assistant", "coder", ""))
    assert capsys.readouterr() == ("", "")
