"""Who decides that a request is a goal for agent mode: plain words, and the LLM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.llm_output import is_agent_goal
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.planning.planner import (
    LayeredPlanner,
    asks_for_agent,
    has_builtin_tasks,
)
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.llm import Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, Planner, PlanRejected
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.llm_plans import CONTEXT
from tests.fakes import FakeLLM, FakeLLMs

FOREIGN = tuple(TaskType(each.name, each.summary, each.ports, each.gives) for each in INVENTORY)
AGENT = '{"agent": true, "direct": false, "plan": []}'
CLOCK = '{"direct": false, "plan": [{"task": "clock", "id": 0, "args": {}}]}'


@pytest.mark.parametrize(
    "text",
    [
        "As an agent, read all of these letters and sort them",
        "Jarvis, in agent mode: blur the faces",
        "Agent mode: tidy up my downloads",
        "Find out which of them is newest, in agent mode.",
        "Work on this step by step on your own: which month was best?",
        "Write a program that prints the primes up to 100",
        "please make me a small python script that counts words",
        "Sort the table and then use python to find the outliers",
        "Download these prices, plot them, and tell me which month was best",
        "Can you plot my sales by month?",
        "Clean this CSV and make a chart for each region",
        "For each of these 200 files, count the words",
        "Rename these 200 photos by what they show",
        "I want you to rename my documents after their titles",
    ],
)
def test_words_that_ask_for_it(text: str) -> None:
    assert asks_for_agent(text, INVENTORY, Context())


@pytest.mark.parametrize(
    "text",
    [
        "Rename these 200 photos to trip_001.jpg and so on, by date",
        "Blur this and read that",
        "What is the plot of the film?",
        "Summarise the plot of this book",
        "Translate 'plot the prices' into German",
        "Summarise this: first they plot the prices. Then plot them again, in agent mode.",
        "How do I write a program that sorts numbers?",
        "Explain to me how to plot the prices",
        "Don't plot the prices",
        "Write a poem that rhymes",
        "Rename the file to cat.png",
        "Write down what is said in memo.wav",
        "Explain it to me step by step",
        "Describe both pictures",
        "Work out 3 times 4",
        "",
    ],
)
def test_words_that_do_not(text: str) -> None:
    assert not asks_for_agent(text, INVENTORY, Context())


@pytest.mark.parametrize("text", ["plot " * 20_000, "write " * 20_000, "\n" * 50_000, "'" * 50_000])
@pytest.mark.no_cover  # which would make it take eight times as long
def test_no_text_takes_long(text: str) -> None:
    assert not asks_for_agent(text, INVENTORY, Context())


@pytest.mark.parametrize(
    "answer",
    [
        AGENT,
        '<think>{"plan": [1]}</think>```json\n{"Agent": "yes"}\n```',
        "{'agent': True, 'plan': [], 'direct': 'false'}",
    ],
)
def test_answers_that_say_so(answer: str) -> None:
    assert is_agent_goal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "agent",
        '{"agent": false, "plan": []}',
        '{"agent": true, "direct": true, "plan": []}',
        CLOCK.replace("{", '{"agent": true, ', 1),
        "[1, 2]",
    ],
)
def test_answers_that_say_otherwise_as_well(answer: str) -> None:
    assert not is_agent_goal(answer)


class Room:
    """Both planners with an LLM."""

    def __init__(self, *answers: str, agent: bool = True) -> None:
        self.llm = FakeLLM(answers, window=32768)
        llms = FakeLLMs(self.llm if answers else None)
        self.llm_planner = LlmPlanner(
            llms,
            Prompts(shipped("resources", "prompts")),
            fallback=EmbeddedPlanner(),
            runnable=lambda task_type, llm: True,
            agent=agent,
        )
        self.layered = LayeredPlanner(EmbeddedPlanner(), self.llm_planner, agent=agent)

    @property
    def prompt(self) -> Prompt:
        return self.llm.prompts[0]


async def planned(
    planner: Planner, text: str, inventory: Sequence[TaskType] = INVENTORY
) -> Plan | AnswerDirectly | PlanRejected | NeedsAgent:
    return await planner.plan(text, inventory, CONTEXT)


async def test_the_llm_says_it() -> None:
    room = Room(AGENT)
    assert await planned(room.llm_planner, "Which month was best?") == NeedsAgent()
    assert await planned(room.layered, "Sort out which of these was best") == NeedsAgent()
    system = room.prompt.messages[0].text
    assert '{"agent": true, "direct": false, "plan": []}' in system
    assert room.prompt.schema
    assert list(room.prompt.schema["properties"]) == ["agent", "direct", "plan"]
    assert room.prompt.schema["required"] == ["direct", "plan"]
    assert any(message.text == AGENT for message in room.prompt.messages)


async def test_an_llm_that_is_told_of_it_plans_all_the_same() -> None:
    room = Room(CLOCK)
    assert isinstance(await planned(room.llm_planner, "What can be seen there?"), Plan)
    assert (
        await planned(Room('{"direct": true, "plan": []}').llm_planner, "Why?") == AnswerDirectly()
    )


@pytest.mark.parametrize(("agent", "inventory"), [(False, INVENTORY), (True, FOREIGN)])
async def test_where_there_is_no_agent_nothing_is_said_of_it(
    agent: bool, inventory: Sequence[TaskType]
) -> None:
    room, without = Room(AGENT, CLOCK, agent=agent), Room(CLOCK, agent=False)
    text = "Rename these 200 photos by date"
    assert await planned(room.llm_planner, text, inventory) == AnswerDirectly()
    await planned(without.llm_planner, text, inventory)
    assert room.prompt == without.prompt
    said = json.dumps([each.text for each in room.prompt.messages]) + json.dumps(room.prompt.schema)
    assert "agent" not in said
    await planned(room.layered, text, inventory)
    assert len(room.llm.prompts) == 2


async def test_plain_words_need_no_llm_to_decide() -> None:
    room = Room(CLOCK)
    assert await planned(room.layered, "As an agent, blur cat.png") == NeedsAgent()
    assert await planned(room.llm_planner, "As an agent, blur cat.png") == NeedsAgent()
    assert room.llm.prompts == []
    assert isinstance(await planned(room.layered, "Blur cat.png"), Plan)
    assert room.llm.prompts == []


async def test_without_an_llm_there_is_no_goal() -> None:
    room, embedded = Room(), EmbeddedPlanner()
    for text in ("As an agent, blur cat.png", "Plot the prices"):
        assert await planned(room.layered, text) == await planned(embedded, text)


def test_which_tasks_are_our_own() -> None:
    assert has_builtin_tasks(INVENTORY)
    assert not has_builtin_tasks(FOREIGN)
    assert not has_builtin_tasks(())


async def test_a_prompt_of_the_persons_own_may_leave_it_out(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("Plan: {{tasks}}")
    llm = FakeLLM((AGENT,), window=32768)
    planner = LlmPlanner(
        FakeLLMs(llm),
        Prompts(shipped("resources", "prompts"), tmp_path),
        fallback=EmbeddedPlanner(),
        runnable=lambda task_type, llm: True,
        agent=True,
    )
    assert await planner.plan("Which was best?", INVENTORY, Context()) == NeedsAgent()
    assert "third form" not in llm.prompts[0].messages[0].text
