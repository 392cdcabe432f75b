from __future__ import annotations

import asyncio
import logging

import pytest

from jarvis_desktop.assistant.agent import prompt as module
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.prompt import (
    recent_rounds,
    summarize_rounds,
    summary_tokens,
)
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import LogEntry
from jarvis_desktop.core.llm import estimated_tokens
from tests.assistant.agent.scripted import ScriptedLLM, goal_run_for, told
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend


def done(goal_run: GoalRun, rounds: int) -> None:
    """Rounds that were done, each as long as one in a prompt may be."""
    for _ in range(rounds):
        number = goal_run.begin_round()
        entry = LogEntry(
            number, "assistant", "coder", f"Part {number}", Status.DONE, "It went " * 40, NOON
        )
        goal_run.end_round(0, entry)


async def summed(
    goal_run: GoalRun, prompts: Prompts, llm: ScriptedLLM, timeout: float = 60.0
) -> str:
    await summarize_rounds(goal_run, 0, llm, prompts, timeout=timeout)
    return goal_run.frames[0].summary


async def test_few_rounds_are_told_one_by_one(frontend: FakeFrontend, prompts: Prompts) -> None:
    goal_run, llm = goal_run_for(frontend), ScriptedLLM()
    done(goal_run, 5)
    assert await summed(goal_run, prompts, llm) == ""
    assert llm.prompts == []
    assert len(recent_rounds(goal_run, 0)) == 5


async def test_older_rounds_become_a_summary(frontend: FakeFrontend, prompts: Prompts) -> None:
    goal_run, llm = goal_run_for(frontend), ScriptedLLM(["Parts 1 to 8 went well."])
    done(goal_run, 12)
    tokens = goal_run.tokens
    assert await summed(goal_run, prompts, llm) == "Parts 1 to 8 went well."
    kept = goal_run.memory.frames("g")[0]
    assert (kept.summary, kept.summed) == ("Parts 1 to 8 went well.", 8)
    assert [item.number for item in recent_rounds(goal_run, 0)] == [9, 10, 11, 12]
    assert goal_run.tokens > tokens
    assert "1. coder: Part 1 → done: It went" in told(llm.prompts[0])
    assert "9. coder" not in told(llm.prompts[0])
    await summed(goal_run, prompts, llm)
    assert len(llm.prompts) == 1
    done(goal_run, 12)
    llm.answers = ["x" * 9000]
    text = await summed(goal_run, prompts, llm)
    assert "Parts 1 to 8 went well." in told(llm.prompts[1])
    assert estimated_tokens(text) <= summary_tokens(llm.window)


@pytest.mark.parametrize("answer", [ExpertError("No."), "  "])
async def test_an_llm_that_fails_leaves_a_line_a_round(
    frontend: FakeFrontend,
    prompts: Prompts,
    answer: str | ExpertError,
    caplog: pytest.LogCaptureFixture,
) -> None:
    goal_run = goal_run_for(frontend)
    goal_run.change(0, summary="The person wants euros.")
    done(goal_run, 12)
    with caplog.at_level(logging.INFO, module.__name__):
        text = await summed(goal_run, prompts, ScriptedLLM([answer]))
    assert text.startswith("The person wants euros.")
    assert "8. coder: Part 8 → done" in text
    assert estimated_tokens(text) <= 400
    assert "No." not in caplog.text


async def test_an_llm_that_says_nothing_is_not_waited_for(
    frontend: FakeFrontend, prompts: Prompts
) -> None:
    goal_run = goal_run_for(frontend)
    done(goal_run, 12)
    llm = ScriptedLLM(["Notes"], hold=asyncio.Event())
    assert "8. coder" in await summed(goal_run, prompts, llm, timeout=0.0)
