"""Several turns at a time: what waits for what, and what overtakes."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.events import Waiting, WaitReason
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, ONE_TASK, House
from tests.assistant.gates import GatedBackend
from tests.fakes import FakeFrontend, FakeLLM
from tests.types import SHORTEN

TIME = "what time is it"


def shorten(text: str) -> Plan:
    return Plan((Task(0, SHORTEN, {"text": text_artifact(text)}),))


@dataclass
class Talks:
    """Several turns of an assistant, each with a front end of its own."""

    house: House
    gates: GatedBackend = field(default_factory=GatedBackend)
    fronts: list[FakeFrontend] = field(default_factory=list)
    asked: list[tuple[str, Context]] = field(default_factory=list)
    """What was planned, and what was known then."""

    seconds: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        house = self.house
        house.assistant._stages._replanning_runner._executor = Executor(
            {"builtin": self.gates}, house.store, lanes={}
        )
        self.gates.open("clock")
        house.clock = lambda: NOON + timedelta(seconds=next(self.seconds))
        house.planner.plan = house.embedded.plan = self._plan  # type: ignore[method-assign]

    async def _plan(self, text: str, inventory: object, context: Context) -> Plan:
        """The time is told at once; everything else is shortened once it is let go."""
        self.asked.append((text, context))
        return ONE_TASK if text == TIME else shorten(text)

    def begin(self, text: str, place: str = "c") -> asyncio.Task[Turn]:
        return self.send(Request(text=text), place)

    def send(self, request: Request, place: str = "c") -> asyncio.Task[Turn]:
        assistant = self.house.assistant
        return self.run(lambda front: assistant.handle(request, front, conversation=place))

    def run(self, work: Callable[[FakeFrontend], Coroutine[Any, Any, Turn]]) -> asyncio.Task[Turn]:
        self.fronts.append(FakeFrontend())
        return asyncio.create_task(work(self.fronts[-1]))

    async def until(self, number: int, event: events.Event) -> None:
        """Wait until that turn was shown an event."""
        while event not in self.fronts[number].events:
            await asyncio.sleep(0)

    def waited(self, number: int) -> list[WaitReason]:
        seen = self.fronts[number].events
        return [event.reason for event in seen if isinstance(event, Waiting)]

    def kept(self, place: str = "c") -> list[str]:
        return [turn.text for turn in self.house.history.kept[place]]


@pytest.fixture
def talks(house: House) -> Talks:
    return Talks(house)


WAITS = Waiting(WaitReason.REQUEST)


async def test_turns_of_different_conversations_run_at_once(talks: Talks) -> None:
    first = talks.begin("one", "c")
    await talks.gates.until_started("one")
    second = talks.begin("two", "d")
    await talks.gates.until_started("two")
    talks.gates.open("two")
    assert (await second).reply
    assert not first.done()
    talks.gates.open("one")
    await first
    assert talks.waited(1) == []


async def test_all_running_turns_could_be_resumed_after_a_crash(talks: Talks) -> None:
    running = [talks.begin("one", "c"), talks.begin("two", "d")]
    await talks.gates.until_started("one", "two")
    kept = talks.house.journal.kept
    assert sorted(entry.turn.text for _, entry in kept.values()) == ["one", "two"]
    talks.gates.open("one", "two")
    await asyncio.gather(*running)
    assert not kept


async def test_a_turn_waits_for_the_answer_before_it_and_knows_it(talks: Talks) -> None:
    first = talks.begin("one")
    await talks.gates.until_started("one")
    second = talks.begin("two")
    await talks.until(1, WAITS)
    assert talks.gates.started == ["one"]
    talks.gates.open("one", "two")
    await asyncio.gather(first, second)
    assert talks.waited(1) == [WaitReason.REQUEST, WaitReason.NOTHING]
    context = talks.asked[-1][1]
    assert context.conversation
    assert [turn.text for turn in context.conversation.turns] == ["one"]


async def test_an_instant_request_overtakes_and_the_history_keeps_the_order(talks: Talks) -> None:
    first = talks.begin("one")
    await talks.gates.until_started("one")
    second = talks.begin("two")
    await talks.until(1, WAITS)
    third = await talks.begin(TIME)
    assert third.status is Status.DONE
    assert talks.kept() == [TIME]
    assert not first.done()
    assert not second.done()
    talks.gates.open("one", "two")
    await asyncio.gather(first, second)
    assert talks.waited(2) == []
    assert talks.kept() == ["one", "two", TIME]


async def test_the_next_turn_waits_for_no_voice_but_answers_are_spoken_in_order(
    talks: Talks,
) -> None:
    house = talks.house
    house.llms.llm = FakeLLM(("It is one.", "It is two."))
    house.player.hold = True

    async def plan(*_: object) -> AnswerDirectly:
        return AnswerDirectly()

    house.planner.plan = plan  # type: ignore[assignment, method-assign]
    first, second = (talks.send(Request(text=words, speak=True)) for words in ("one", "two"))
    await talks.until(1, events.Kept())
    await talks.until(0, events.Speaking("It is one."))
    assert not first.done()
    assert events.Speaking("It is two.") not in talks.fronts[1].events
    house.assistant.silence()
    assert [turn.reply for turn in await asyncio.gather(first, second)] == [
        "It is one.",
        "It is two.",
    ]


async def test_a_turn_that_waits_is_stopped_alone_and_kept(talks: Talks) -> None:
    first = talks.begin("one")
    await talks.gates.until_started("one")
    file = talks.house.file("scan.png")
    second = talks.send(Request(text="two", files=(file,)))
    await talks.until(1, WAITS)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    (kept,) = talks.house.history.kept["c"]
    assert (kept.text, kept.reply, kept.status) == ("two", "Stopped.", Status.CANCELLED)
    assert [item.name for item in kept.attachments] == ["scan.png"]
    talks.gates.open("one")
    assert (await first).status is Status.DONE


async def test_a_turn_whose_earlier_one_is_stopped_goes_on(talks: Talks) -> None:
    first = talks.begin("one")
    await talks.gates.until_started("one")
    second = talks.begin("two")
    await talks.until(1, WAITS)
    first.cancel()
    talks.gates.open("two")
    assert (await second).status is Status.DONE
    assert first.cancelled()


async def test_stop_ends_the_turns_of_its_conversation_or_else_all(talks: Talks) -> None:
    house, counts = talks.house, list[int]()
    here, there = talks.begin("one"), talks.begin("two", "d")
    await talks.gates.until_started("one", "two")

    async def stop(*_: object) -> Plan:
        counts.append(house.assistant.stop_others())
        return ONE_TASK

    house.embedded.plan = house.planner.plan = stop  # type: ignore[method-assign, assignment]
    for _ in range(3):
        await talks.begin("stop")
    assert counts == [1, 1, 0]
    assert here.cancelled()
    assert there.cancelled()


async def test_a_goal_waits_even_if_its_words_are_those_of_a_skill(talks: Talks) -> None:
    first = talks.begin("one")
    await talks.gates.until_started("one")
    goal = talks.send(Request(text=TIME, terms=Terms()))
    await talks.until(1, WAITS)
    talks.gates.open("one")
    await asyncio.gather(first, goal)
    assert talks.house.agent.taken[0][2].conversation


@pytest.mark.parametrize("plan", [ONE_TASK, shorten("two")])
async def test_a_given_plan_overtakes_if_all_of_it_is_instant(talks: Talks, plan: Plan) -> None:
    house = talks.house
    first = talks.begin("one")
    await talks.gates.until_started("one")
    second = talks.run(
        lambda front: house.assistant.handle(
            Request(text="two"), front, conversation="c", plan=plan
        )
    )
    if plan is not ONE_TASK:
        await talks.until(1, WAITS)
        talks.gates.open("one", "two")
    assert (await second).status is Status.DONE
    assert first.done() == (plan is not ONE_TASK)
    talks.gates.open("one")
    await first


async def test_what_is_run_again_or_resumed_waits_too(talks: Talks) -> None:
    house = talks.house
    first = talks.begin("one")
    await talks.gates.until_started("one")
    earlier = Turn("old", NOON, "two", plan=shorten("two"))
    again = talks.run(
        lambda front: house.assistant.run_again(earlier, shorten("two"), front, conversation="c")
    )
    await talks.until(1, WAITS)
    left = Unfinished("c", Turn("cut", NOON, "three", plan=shorten("three")))
    house.journal.begin(left)
    resumed = talks.run(lambda front: house.assistant.resume(left, front))
    await talks.until(2, WAITS)
    talks.gates.open("one", "two", "three")
    await asyncio.gather(first, again, resumed)
    assert talks.gates.started == ["one", "two", "three"]


async def test_nothing_is_summed_up_while_somebody_waits(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[str] = []

    async def settle(conversation: str) -> None:
        settled.append(conversation)

    monkeypatch.setattr(talks.house.assistant._dependencies.memory, "settle", settle)
    first, second = talks.begin("one"), talks.begin("two", "d")
    talks.gates.open("one")
    await first
    assert settled == []
    talks.gates.open("two")
    await second
    await talks.house.assistant.close()
    assert settled == ["d"]
