"""A goal at a real terminal: its questions, the red line, and Ctrl-C as a person presses it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, terminal

ROOT = Path(__file__).resolve().parents[2]
PLAN, CODE = "should be different: ", "y runs it, n does not; or say what should be different: "
STOPPED = "What should be different? "
RED = "\x1b[1;31mNOT SANDBOXED"


def goal(folder: Path) -> AbstractContextManager[Terminal]:
    environment = {"PYTHONPATH": str(ROOT), "EDITOR": "", "VISUAL": "", "NO_COLOR": ""}
    return terminal(
        folder, "agent", "Plot", environment=environment, module="tests.cli.goal_in_terminal"
    )


@pytest.mark.parametrize(
    ("typed", "said"), [("y\n", "once"), ("\n", "no"), ("take May\n", "no take May")]
)
def test_code_is_read_and_judged(tmp_path: Path, typed: str, said: str) -> None:
    with goal(tmp_path) as running:
        running.until(PLAN)
        running.type("\n")
        assert RED in running.until(CODE)
        running.type(typed)
        assert running.ends() == 0
        assert f"They said: {said}\r\n" in running.shown


def test_ctrl_c_at_a_question_stops_the_step_and_once_more_all_of_it(tmp_path: Path) -> None:
    for typed, code in (("only May\n", 0), ("\x03", 130)):
        with goal(tmp_path) as running:
            running.until(PLAN)
            running.type("\n")
            running.until(CODE)
            running.type("half a wo\x03")
            assert "This step is stopped" in running.until(STOPPED)
            running.type(typed)
            assert running.ends() == code
            assert running.shows_what_is_typed()
            assert ("They said: only May" in running.shown) is (code == 0)


def test_ctrl_c_where_no_step_runs_ends_it(tmp_path: Path) -> None:
    with goal(tmp_path) as running:
        running.until(PLAN)
        running.type("\x03")
        assert running.ends() == 130


def test_the_end_of_the_input_accepts_nothing(tmp_path: Path) -> None:
    with goal(tmp_path) as running:
        running.until(PLAN)
        running.type("\x04")
        assert running.ends() == 1
        assert "round" not in running.shown
