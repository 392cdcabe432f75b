"""`plan` where the planner says that a request is a goal for agent mode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.planner import LayeredPlanner
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent
from jarvis_desktop.core.task import TaskType

GOAL = "plot my 'sales'\nby month"


@pytest.fixture(autouse=True)
def says_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    async def plan(
        self: object, text: str, inventory: Sequence[TaskType], context: Context
    ) -> AnswerDirectly | NeedsAgent:
        return AnswerDirectly() if text == "hello" else NeedsAgent()

    monkeypatch.setattr(LayeredPlanner, "plan", plan)
    monkeypatch.setattr(EmbeddedPlanner, "plan", plan)


def test_a_goal_is_named_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", GOAL]) == 0
    command = """jarvis-desktop agent 'plot my '"'"'sales'"'"' by month'"""
    assert capsys.readouterr().out == f"This is a goal for agent mode: {command}\n"


def test_a_goal_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", GOAL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"agent": True}


def test_a_goal_in_a_batch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = [{"id": 1, "text": GOAL}, {"id": 2, "text": "hello"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert main(["plan", "--batch", str(tmp_path / "in.jsonl")]) == 1
    goal, direct = map(json.loads, capsys.readouterr().out.splitlines())
    assert goal == {"id": 1, "plan": [], "reason": "This is a goal for agent mode."}
    assert direct["reason"].startswith("No expert is needed")
