from __future__ import annotations

import asyncio
import logging

import pytest

from jarvis_desktop.assistant.agent import context_window
from jarvis_desktop.assistant.agent.context_window import recent, sum_up, summary_tokens
from jarvis_desktop.assistant.agent.goal_run import Desk
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import LogEntry
from jarvis_desktop.core.llm import estimated_tokens
from tests.assistant.agent.scripted import ScriptedLLM, desk_for, told
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend


def done(desk: Desk, rounds: int) -> None:
    """Rounds that were done, each as long as one in a prompt may be."""
    for _ in range(rounds):
        number = desk.begin_round()
        entry = LogEntry(
            number, "assistant", "coder", f"Part {number}", Status.DONE, "It went " * 40, NOON
        )
        desk.end_round(0, entry)


async def summed(desk: Desk, prompts: Prompts, llm: ScriptedLLM, timeout: float = 60.0) -> str:
    await sum_up(desk, 0, llm, prompts, timeout=timeout)
    return desk.frames[0].summary


async def test_few_rounds_are_told_one_by_one(frontend: FakeFrontend, prompts: Prompts) -> None:
    desk, llm = desk_for(frontend), ScriptedLLM()
    done(desk, 5)
    assert await summed(desk, prompts, llm) == ""
    assert llm.prompts == []
    assert len(recent(desk, 0)) == 5


async def test_older_rounds_become_a_summary(frontend: FakeFrontend, prompts: Prompts) -> None:
    desk, llm = desk_for(frontend), ScriptedLLM(["Parts 1 to 8 went well."])
    done(desk, 12)
    tokens = desk.tokens
    assert await summed(desk, prompts, llm) == "Parts 1 to 8 went well."
    kept = desk.memory.frames("g")[0]
    assert (kept.summary, kept.summed) == ("Parts 1 to 8 went well.", 8)
    assert [item.number for item in recent(desk, 0)] == [9, 10, 11, 12]
    assert desk.tokens > tokens
    assert "1. coder: Part 1 → done: It went" in told(llm.prompts[0])
    assert "9. coder" not in told(llm.prompts[0])
    await summed(desk, prompts, llm)
    assert len(llm.prompts) == 1
    done(desk, 12)
    llm.answers = ["x" * 9000]
    text = await summed(desk, prompts, llm)
    assert "Parts 1 to 8 went well." in told(llm.prompts[1])
    assert estimated_tokens(text) <= summary_tokens(llm.window)


@pytest.mark.parametrize("answer", [ExpertError("No."), "  "])
async def test_an_llm_that_fails_leaves_a_line_a_round(
    frontend: FakeFrontend,
    prompts: Prompts,
    answer: str | ExpertError,
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = desk_for(frontend)
    desk.change(0, summary="The person wants euros.")
    done(desk, 12)
    with caplog.at_level(logging.INFO, context_window.__name__):
        text = await summed(desk, prompts, ScriptedLLM([answer]))
    assert text.startswith("The person wants euros.")
    assert "8. coder: Part 8 → done" in text
    assert estimated_tokens(text) <= 400
    assert "No." not in caplog.text


async def test_an_llm_that_says_nothing_is_not_waited_for(
    frontend: FakeFrontend, prompts: Prompts
) -> None:
    desk = desk_for(frontend)
    done(desk, 12)
    llm = ScriptedLLM(["Notes"], hold=asyncio.Event())
    assert "8. coder" in await summed(desk, prompts, llm, timeout=0.0)
