"""Two hundred turns: prompts stay within their budget, and the first picture is still known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.assistant.memory import ConversationMemory, messages
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.llm import LLM, Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.paths import shipped
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.tasks.registry import INVENTORY
from tests.fakes import FakeLLM, FakeLLMs

START = datetime(2026, 1, 2, 12, tzinfo=UTC)
TYPES = {item.name: item for item in INVENTORY}
BUDGET = 1500
CONVERSATION = "the-long-one"


@contextmanager
def opened(folder: Path) -> Iterator[SqliteHistory]:
    history = SqliteHistory(
        folder / "history.db", store_root=folder, inventory=TYPES, now=lambda: START
    )
    yield history
    history.close()


def memory(history: SqliteHistory, llm: LLM | None) -> ConversationMemory:
    prompts = Prompts(shipped("resources", "prompts"))
    return ConversationMemory(history, history.facts, FakeLLMs(llm), prompts)


async def known(history: SqliteHistory, llm: LLM | None, conversation: str) -> Context:
    def trace(text: str) -> None:
        """Nobody looks closer."""

    found = history.open_conversation(conversation)
    return await memory(history, llm).context(found, [], folder=None, trace=trace)


def turn(folder: Path, number: int) -> Turn:
    """Every tenth brings a picture, every other reads a long text off it, the rest is talk."""
    picture = Artifact(Kind.IMAGE, path=folder / f"{number}.png", name=f"photo-{number}.png")
    plan, results = None, {}
    if number % 2:
        text = f"Line {number}. " + "The quick brown fox jumps over the lazy dog. " * 40
        plan = Plan((Task(0, TYPES["image-to-text"], {"image": picture}),))
        results = {0: TaskResult(0, Status.DONE, (text_artifact(text, made_by=0),))}
    return Turn(
        f"turn-{number}",
        START + timedelta(minutes=number),
        text=f"Question {number}: what does it say?",
        attachments=() if number % 10 else (picture,),
        plan=plan,
        results=results,
        reply=results[0].artifacts[0].text or "" if results else f"Answer {number}.",
        status=Status.DONE,
    )


@pytest.mark.parametrize(("with_llm", "turns"), [(True, 200), (False, 50)])
async def test_many_turns(tmp_path: Path, with_llm: bool, turns: int) -> None:
    llm = FakeLLM(("They looked at pictures.",)) if with_llm else None
    with opened(tmp_path) as history:
        for number in range(turns):
            context = await known(history, llm, CONVERSATION)
            told, _ = messages(context, BUDGET)
            assert Prompt(tuple(told)).tokens <= BUDGET
            if number:
                assert told[-2].text.startswith(f"Question {number - 1}:")
            # What the last turns no longer tell, the summary does: no turn is in neither.
            assert context.conversation
            recap = history.recap(CONVERSATION)
            between = history.since(CONVERSATION, recap.through if recap else "")
            assert context.conversation.turns == between
            history.save(CONVERSATION, turn(tmp_path, number))
            await memory(history, llm).settle(CONVERSATION)
        assert len(history.resources(CONVERSATION)) == turns // 10 + turns // 2
    with opened(tmp_path) as history:
        context = await known(history, llm, CONVERSATION)
        assert context.conversation
        assert len(context.conversation.turns) < 20
        assert context.summary
        planned = await EmbeddedPlanner().plan(
            "rotate the first picture I gave you", INVENTORY, context
        )
        assert isinstance(planned, Plan)
        assert planned.tasks[0].args["image"] == turn(tmp_path, 0).attachments[0]
    if llm:
        assert all(prompt.tokens + prompt.longest <= llm.window for prompt in llm.prompts)
        assert len(llm.prompts) <= turns // 4


async def test_facts_outlive_a_restart_and_the_conversation(tmp_path: Path) -> None:
    with opened(tmp_path) as history:
        history.facts.add("always answer in German")
    with opened(tmp_path) as history:
        context = await known(history, None, "another conversation")
        assert context.facts == ("always answer in German",)
        assert "- always answer in German" in messages(context, BUDGET)[0][0].text
        history.facts.clear()
        assert (await known(history, None, "another conversation")).facts == ()
