"""Goals that come by other ways than `agent`: the conversation, `resume`, and what `plan` says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jarvis_desktop.app.application import Application
from jarvis_desktop.assistant.agent.goal_run import Interrupts, StoppedError
from jarvis_desktop.cli.commands import ask
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms, outline_from_markdown
from jarvis_desktop.core.ports import Context, Frontend, NeedsAgent, Unfinished
from jarvis_desktop.core.turn import Round, Turn
from tests.cli.house import CTRL_C, SHOWN, House, Person, house, person, turn

__all__ = ["house", "person"]

Shown = pytest.CaptureFixture[str]
CUT_OFF = Unfinished("c", turn(id="aa" * 8, text="Plot the prices", status=None), goal=True)


@pytest.mark.parametrize(
    ("line", "text", "terms"),
    [
        ("/agent plot the prices", "plot the prices", Terms()),
        ("/agent  with  spaces ", "with  spaces", Terms()),
        ("/agents are busy", "/agents are busy", None),
        ("what is /agent", "what is /agent", None),
    ],
)
async def test_a_line_of_the_conversation_may_be_a_goal(
    house: House, line: str, text: str, terms: Terms | None
) -> None:
    assert await ask._turn(cast(Application, house), line, "c") == 0
    (request,) = house.assistant.requests
    assert (request.text, request.terms) == (text, terms)
    assert house.assistant.conversations == ["c"]


def test_a_folder_gives_its_files(house: House, tmp_path: Path) -> None:
    for name in ("a.csv", ".hidden", "deep/b.csv", ".git/c.csv"):
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text("x")
    (tmp_path / "d.csv").write_text("x")
    given = ("--file", str(tmp_path / "notes"), "--file", str(tmp_path / "d.csv"))
    assert house("agent", "Plot them", *given) == 0
    (request,) = house.assistant.requests
    assert [path.name for path in request.files] == ["a.csv", "b.csv", "d.csv"]


@pytest.mark.parametrize("line", ["/agent", "/agent  "])
async def test_no_goal_is_none(house: House, capsys: Shown, line: str) -> None:
    assert await ask._turn(cast(Application, house), line, "c") == 2
    assert not house.assistant.requests
    assert "Say after /agent what is to be reached." in capsys.readouterr().err


async def test_in_the_conversation_ctrl_c_stops_a_branch(house: House, person: Person) -> None:
    interrupts = Interrupts()

    async def play(frontend: Frontend) -> Turn:
        with pytest.raises(StoppedError):
            await interrupts.branch(frontend.ask("Which month?"))
        return turn(status=Status.PARTLY)

    house.assistant.play, house.assistant.stop = play, interrupts.stop
    person.says(CTRL_C)
    assert await ask._turn(cast(Application, house), "/agent plot", "c") == 3


def test_a_goal_that_was_cut_off_is_listed(house: House, capsys: Shown) -> None:
    house.assistant.left = [CUT_OFF]
    assert house("resume", "--list") == 0
    assert capsys.readouterr().out == (
        f"aaaaaaaa  {SHOWN}  “Plot the prices”: a goal of agent mode\n"
    )
    assert house("resume", "--list", "--json") == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["goal"], shown["plan"]) == (True, None)


def test_a_goal_is_gone_on_with_and_can_be_interrupted(house: House, person: Person) -> None:
    interrupts = Interrupts()

    async def play(frontend: Frontend) -> Turn:
        with pytest.raises(StoppedError):
            await interrupts.branch(frontend.ask("Which month?"))
        return turn()

    house.assistant.left = [CUT_OFF]
    house.assistant.play, house.assistant.stop = play, interrupts.stop
    person.says(CTRL_C)
    assert house("resume") == 0
    assert house.assistant.resumed == [CUT_OFF]


def test_who_asks_is_told_of_a_goal_that_was_cut_off(house: House, capsys: Shown) -> None:
    house.assistant.left = [CUT_OFF]
    assert house("agent", "Rename them") == 0
    assert (
        "“Plot the prices” was interrupted (a goal of agent mode). Resume it with: "
        "jarvis-desktop resume\n" in capsys.readouterr().err
    )


def test_the_history_has_its_plan_and_its_rounds(house: House, capsys: Shown) -> None:
    rounds = {
        1: Round(1, "assistant/coder", "run_code", "plot", status=Status.DONE),
        2: Round(2, "assistant", "ask_user", "which"),
    }
    outline = outline_from_markdown("1. Fetch\n2. Plot")
    kept = turn(text="Plot", outline=outline, rounds=rounds, reply="It was May.")
    house.history = SimpleNamespace(show=lambda wanted: kept)
    assert house("history", "show", "ff") == 0
    assert capsys.readouterr().out == (
        f"{SHOWN}  Plot\n"
        "  - [ ] 1. Fetch\n"
        "  - [ ] 2. Plot\n"
        "  round 1 assistant/coder: run_code  plot  (done)\n"
        "  round 2 assistant: ask_user  which  (not finished)\n"
        "  It was May.\n"
    )


class ToAgent:
    """Finds a goal in every request."""

    async def plan(self, text: str, inventory: Sequence[Any], context: Context) -> NeedsAgent:
        return NeedsAgent()


async def nothing(*args: object) -> tuple[()]:
    return ()


def test_of_a_goal_there_is_no_plan_to_show(house: House, capsys: Shown) -> None:
    parts = cast(Any, house)
    parts.inventory = {}
    parts.intake, parts.planner = SimpleNamespace(given=nothing, named=nothing), ToAgent()
    assert house("plan", "Plot the prices") == 0
    assert "jarvis-desktop agent 'Plot the prices'" in capsys.readouterr().out
