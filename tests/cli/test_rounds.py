"""What a terminal shows of a goal as it is worked on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.cli.rounds import MOST_PRINTED, Rounds
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    OutlineChanged,
    ReplyChunk,
    RoundEnded,
    RoundProgress,
    RoundStarted,
)
from jarvis_desktop.core.outline import StepState, outline_from_markdown
from jarvis_desktop.core.result import Status

OUTLINE = outline_from_markdown("1. Fetch\n2. Plot")
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
    assert lines[1:] == [*(f"        line {n}" for n in range(5)), "        …"]


def test_what_stands_there_already_is_not_said_again(show: Show) -> None:
    assert show(RoundStarted(9, "assistant", "final_answer", "It was May.")) == (
        "round   9 assistant: final_answer\n"
    )
    assert show(RoundEnded(9, Status.PARTLY, "It was May.")) == "partly  9\n"


def test_a_script_that_prints_without_end_fills_no_terminal() -> None:
    rounds = Rounds()
    rounds.lines(RoundStarted(1, "assistant/coder", "run_code", ""))
    shown = [rounds.lines(RoundProgress(1, f"{number}\n")) for number in range(10_000)]
    assert shown[MOST_PRINTED - 1] == f"        {MOST_PRINTED - 1}"
    assert shown[MOST_PRINTED] == "        …"
    assert not any(shown[MOST_PRINTED + 1 :])
    assert rounds.lines(RoundEnded(1, Status.DONE, "")) == "done    1"


def test_many_lines_at_once_and_one_without_end() -> None:
    rounds = Rounds()
    many = rounds.lines(RoundProgress(1, "x\n" * 1000)).split("\n")
    assert (len(many), many[-1]) == (MOST_PRINTED + 1, "        …")
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
