"""Older turns become a summary: once each, by an LLM or without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant.memory import (
    MAX_SUMMARISED,
    MAX_SUMMARY_CHARS,
    MIN_SUMMARISED,
    RECENT_TURNS,
    HistorySummaries,
)
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, StorageError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.llm import LLM, Prompt
from jarvis_desktop.core.turn import Turn
from tests.fakes import FakeHistory, FakeLLM, FakeLLMs

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
SHIPPED = Path(__file__).parents[2] / "resources" / "prompts"
NOTES = "They spoke of tea."


def said(number: int, text: str = "", reply: str = "Done.") -> Turn:
    return Turn(f"t{number}", NOON, text=text or f"question {number}", reply=reply)


def drawn(number: int) -> Turn:
    picture = Artifact(Kind.IMAGE, path=Path("/store/cat.png"), name="cat.png")
    return replace(said(number, "draw a cat"), results={0: TaskResult(0, Status.DONE, (picture,))})


def recaps(
    history: FakeHistory, llm: LLM | None = None, prompts: Path = SHIPPED
) -> HistorySummaries:
    return HistorySummaries(history, FakeLLMs(llm), Prompts(prompts))


def filled(count: int, make: Callable[[int], Turn] = said) -> FakeHistory:
    history = FakeHistory()
    for number in range(count):
        history.save("c", make(number))
    return history


def through(history: FakeHistory) -> str:
    recap = history.recap("c")
    return recap.through if recap else ""


def text_of(history: FakeHistory) -> str:
    recap = history.recap("c")
    assert recap
    return recap.text


async def test_few_turns_are_left_as_they_are():
    history, llm = filled(RECENT_TURNS + MIN_SUMMARISED - 1), FakeLLM()
    await recaps(history, llm).settle("c")
    assert through(history) == ""
    assert llm.prompts == []


async def test_older_turns_are_summed_up_once_and_then_only_what_is_new():
    history, llm = (
        filled(RECENT_TURNS + MIN_SUMMARISED),
        FakeLLM((NOTES, "They spoke of tea and cake.")),
    )
    settled = recaps(history, llm)
    await settled.settle("c")
    assert through(history) == f"t{MIN_SUMMARISED - 1}"
    assert text_of(history) == NOTES
    await settled.settle("c")
    assert len(llm.prompts) == 1
    first = llm.prompts[0].messages[0].text
    assert "Person: question 0\nAssistant: Done." in first
    assert f"question {MIN_SUMMARISED}" not in first
    for number in range(100, 100 + MIN_SUMMARISED):
        history.save("c", said(number))
    await settled.settle("c")
    second = llm.prompts[1].messages[0].text
    assert NOTES in second
    assert "question 0" not in second
    assert f"question {MIN_SUMMARISED}" in second
    assert text_of(history) == "They spoke of tea and cake."


async def test_long_turns_are_summed_up_sooner():
    history = filled(9, lambda number: said(number, "x" * 9000, "y" * 9000))
    await recaps(history, FakeLLM()).settle("c")
    assert through(history) == ""
    wide = filled(9, lambda number: said(number, "語" * 9000, "語" * 9000))
    await recaps(wide, FakeLLM()).settle("c")
    assert through(wide) == "t5"


async def test_a_long_past_is_summed_up_piece_by_piece():
    history, llm = filled(RECENT_TURNS + 2 * MAX_SUMMARISED + 1), FakeLLM()
    await recaps(history, llm).settle("c")
    assert len(llm.prompts) == 2
    assert through(history) == f"t{2 * MAX_SUMMARISED - 1}"


async def test_without_an_llm_each_turn_is_a_line():
    history = filled(
        RECENT_TURNS + MIN_SUMMARISED, lambda at: drawn(at) if at % 2 else said(at, reply="")
    )
    await recaps(history).settle("c")
    assert text_of(history).splitlines() == [
        "- “question 0” → no answer",
        "- “draw a cat” → cat.png",
        "- “question 2” → no answer",
        "- “draw a cat” → cat.png",
    ]


async def test_lines_do_not_grow_without_bound():
    history = filled(
        RECENT_TURNS + 50 * MAX_SUMMARISED, lambda at: said(at, f"question {at} " + "x" * 99)
    )
    await recaps(history).settle("c")
    assert len(text_of(history)) <= MAX_SUMMARY_CHARS + 1
    assert text_of(history).startswith("…")
    assert f"question {50 * MAX_SUMMARISED - 1} " in text_of(history)


@pytest.mark.parametrize(
    "llm",
    [
        FakeLLM((ExpertError("The answer broke off."),)),
        FakeLLM((("They", ExpertError("The answer broke off.")),)),
        FakeLLM((" \n",)),
        FakeLLM(window=700),
    ],
    ids=["fails", "breaks off", "says nothing", "too small"],
)
async def test_an_llm_that_writes_none_is_done_without(llm: FakeLLM):
    history = filled(RECENT_TURNS + MIN_SUMMARISED)
    await recaps(history, llm).settle("c")
    assert text_of(history).startswith("- “question 0” → Done.")


async def test_a_prompt_that_cannot_be_read_is_done_without(tmp_path: Path):
    history = filled(RECENT_TURNS + MIN_SUMMARISED)
    await recaps(history, FakeLLM(), tmp_path).settle("c")
    assert text_of(history).startswith("- “question 0”")


async def test_turns_are_shortened_until_they_fit_the_llm():
    history = filled(RECENT_TURNS + MIN_SUMMARISED, lambda at: said(at, "x" * 600, "y" * 600))
    llm = FakeLLM(window=2000)
    await recaps(history, llm).settle("c")
    (prompt,) = llm.prompts
    assert prompt.tokens + prompt.longest <= 2000
    assert "x" * 200 + " […]" in prompt.messages[0].text


async def test_a_summary_is_bounded():
    history = filled(RECENT_TURNS + MIN_SUMMARISED)
    await recaps(history, FakeLLM(("word " * 5000,))).settle("c")
    assert len(text_of(history)) <= MAX_SUMMARY_CHARS + 4


@dataclass
class WhileItWrites(FakeLLM):
    """Does something else before its answer is whole."""

    act: Callable[[], None] = print

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        async for piece in super().stream(prompt):
            yield piece
        self.act()


async def test_what_is_deleted_meanwhile_does_not_come_back():
    history = filled(RECENT_TURNS + MIN_SUMMARISED + 1)
    llm = WhileItWrites(act=lambda: history.delete("c", "t1"))
    await recaps(history, llm).settle("c")
    assert history.recap("c") is None
    await recaps(history, FakeLLM((NOTES,))).settle("c")
    before = FakeLLM((NOTES,))
    for number in range(100, 100 + MIN_SUMMARISED):
        history.save("c", said(number))
    forgetting = WhileItWrites(act=lambda: history.recaps.clear())
    await recaps(history, forgetting).settle("c")
    assert history.recap("c") is None
    await recaps(history, before).settle("c")
    assert text_of(history) == NOTES


async def test_one_at_a_time_and_cancelled_at_any_time():
    history, llm = filled(RECENT_TURNS + MIN_SUMMARISED), FakeLLM(hold=True)
    settled = recaps(history, llm)
    first = asyncio.create_task(settled.settle("c"))
    while not llm.prompts:
        await asyncio.sleep(0)
    await settled.settle("c")
    assert len(llm.prompts) == 1
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert text_of(history).startswith("- “question 0” → Done.")
    assert through(history) == f"t{MIN_SUMMARISED - 1}"


async def test_nothing_is_lost_where_every_summing_up_is_cancelled():
    history, llm = FakeHistory(), FakeLLM(hold=True)
    settled = recaps(history, llm)
    for number in range(RECENT_TURNS + 3 * MAX_SUMMARISED):
        history.save("c", said(number))
        settling = asyncio.create_task(settled.settle("c"))
        await asyncio.sleep(0)
        settling.cancel()
        await asyncio.gather(settling, return_exceptions=True)
    assert len(history.since("c", through(history))) < RECENT_TURNS + MIN_SUMMARISED
    assert text_of(history).startswith("- “question 0” → Done.\n- “question 1”")
    assert f"question {3 * MAX_SUMMARISED - 1}" in text_of(history)


class Broken(FakeHistory):
    """Cannot be read."""

    def since(self, conversation_id: str, turn_id: str) -> list[Turn]:
        raise StorageError("The disk is gone.")


async def test_what_is_deleted_before_it_is_cancelled_does_not_come_back():
    history, llm = filled(RECENT_TURNS + MIN_SUMMARISED), FakeLLM(hold=True)
    settling = asyncio.create_task(recaps(history, llm).settle("c"))
    while not llm.prompts:
        await asyncio.sleep(0)
    history.delete("c", "t1")
    settling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settling
    assert history.recap("c") is None


async def test_a_history_that_fails_while_it_is_cancelled_is_left_alone():
    history, llm = filled(RECENT_TURNS + MIN_SUMMARISED), FakeLLM(hold=True)
    settling = asyncio.create_task(recaps(history, llm).settle("c"))
    while not llm.prompts:
        await asyncio.sleep(0)
    history.since = Broken().since  # type: ignore[method-assign]
    settling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settling
    assert history.recap("c") is None


async def test_a_history_that_fails_is_left_alone():
    await recaps(Broken()).settle("c")
