"""The order of prompts to an LLM that writes one answer at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest

from jarvis_desktop.core.context import Urgency, current_turn, current_wait, urgency
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, Think
from jarvis_desktop.llm.choice import GuardedLLM, PromptQueue
from tests.fakes import FakeLLM


@dataclass
class Scene:
    """Prompts of several turns to one LLM, which writes what it is let write."""

    remote: bool = False
    asked: list[str] = field(default_factory=list)
    waits: list[tuple[str, bool, str]] = field(default_factory=list)
    """Which prompt began or ceased to wait, and for which turn."""
    failures: int = 0
    used: int = 0
    objection: str = ""
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.real = _GatedLLM(self)
        self.llm = GuardedLLM(
            self.real,  # type: ignore[arg-type]
            Think.OFF,
            self._failed,
            self._used,
            objection=lambda: self.objection,
            queue=PromptQueue(),
        )

    def _failed(self) -> None:
        self.failures += 1

    def _used(self) -> None:
        self.used += 1

    def stream(self, name: str) -> AsyncGenerator[str]:
        return self.llm.stream(Prompt((Message(MessageRole.USER, name),)))

    def ask(
        self, name: str, level: Urgency = Urgency.REQUEST, *, turn: str = ""
    ) -> asyncio.Task[str]:
        """Ask for an answer on behalf of a turn, by default one of its own."""
        self.gates.setdefault(name, asyncio.Event())

        async def read() -> str:
            current_turn.set(turn or f"turn of {name}")
            current_wait.set(lambda waits, whose: self.waits.append((name, waits, whose)))
            with urgency(level):
                async with aclosing(self.stream(name)) as pieces:
                    return "".join([piece async for piece in pieces])

        return asyncio.create_task(read())

    async def until_asked(self, *names: str) -> None:
        while self.asked[-len(names) :] != list(names):
            await asyncio.sleep(0)


class _GatedLLM(FakeLLM):
    def __init__(self, scene: Scene) -> None:
        super().__init__(remote=scene.remote)
        self._scene = scene

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        name = prompt.messages[0].text
        self._scene.asked.append(name)
        yield "so "
        await self._scene.gates[name].wait()
        if name == "fails":
            raise ExpertError("It fails.")
        yield name


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_most_urgent_prompt_is_next_then_the_oldest() -> None:
    scene = Scene()
    first = scene.ask("first", Urgency.GOAL)
    await scene.until_asked("first")
    later = [
        scene.ask("summary", Urgency.BACKGROUND),
        scene.ask("round", Urgency.GOAL),
        scene.ask("answer"),
        scene.ask("second answer"),
    ]
    await settled()
    assert scene.asked == ["first"], "what is being written is not interrupted"
    for gate in scene.gates.values():
        gate.set()
    assert [await task for task in (first, *later)][3] == "so answer"
    assert scene.asked == ["first", "answer", "second answer", "round", "summary"]


async def test_who_waits_is_shown_for_whom_unless_it_is_background_work() -> None:
    scene = Scene()
    first = scene.ask("first")
    await scene.until_asked("first")
    others = [scene.ask("answer"), scene.ask("summary", Urgency.BACKGROUND)]
    await settled()
    assert scene.waits == [("answer", True, "turn of first")]
    for gate in scene.gates.values():
        gate.set()
    await asyncio.gather(first, *others)
    assert scene.waits[1:] == [("answer", False, "turn of first")]


async def test_services_on_other_computers_write_several_at_once() -> None:
    scene = Scene(remote=True)
    tasks = [scene.ask("one"), scene.ask("two")]
    await scene.until_asked("one", "two")
    scene.gates["two"].set()
    assert await tasks[1] == "so two"
    scene.gates["one"].set()
    await tasks[0]


async def test_an_answer_that_is_read_slowly_blocks_nobody() -> None:
    scene = Scene()
    scene.gates["slow"] = asyncio.Event()
    async with aclosing(scene.stream("slow")) as slow:
        assert await anext(slow) == "so "
        second = scene.ask("second")
        scene.gates["slow"].set()
        scene.gates["second"].set()
        assert await second == "so second"
        assert [piece async for piece in slow] == ["slow"]


@pytest.mark.parametrize("how", ["closed", "cancelled", "failed"])
async def test_an_answer_that_ends_early_lets_the_next_one_through(how: str) -> None:
    scene = Scene()
    name = "fails" if how == "failed" else "first"
    if how == "closed":
        scene.gates[name] = asyncio.Event()
        stream = scene.stream(name)
        await anext(stream)
    else:
        task = scene.ask(name)
        await scene.until_asked(name)
    second = scene.ask("second")
    scene.gates["second"].set()
    await settled()
    assert not second.done()
    if how == "closed":
        await stream.aclose()
    elif how == "cancelled":
        task.cancel()
    else:
        scene.gates[name].set()
        with pytest.raises(ExpertError, match="It fails"):
            await task
    assert await second == "so second"
    assert scene.failures == (how == "failed")
    assert scene.used == 2


async def test_who_is_cancelled_while_waiting_is_passed_over() -> None:
    scene = Scene()
    first, second, third = (scene.ask(name) for name in ("first", "second", "third"))
    await settled()
    second.cancel()
    for gate in scene.gates.values():
        gate.set()
    assert (await first, await third) == ("so first", "so third")
    assert scene.asked == ["first", "third"]


async def test_who_is_cancelled_at_the_moment_it_is_let_through_passes_it_on() -> None:
    queue, order = PromptQueue(), list[str]()

    async def take(name: str) -> None:
        async with queue.slot():
            order.append(name)

    async with queue.slot():
        second, third = asyncio.create_task(take("second")), asyncio.create_task(take("third"))
        await settled()
    second.cancel()  # it was let through, and has not run since
    await asyncio.wait([second, third])
    assert order == ["third"]
    async with asyncio.timeout(60), queue.slot():
        pass


async def test_the_mode_is_asked_once_the_llm_is_free() -> None:
    scene = Scene()
    first, second = scene.ask("first"), scene.ask("second")
    await scene.until_asked("first")
    scene.gates["first"].set()
    await first
    scene.objection = "It is offline now."
    scene.gates["second"].set()
    with pytest.raises(Exception, match="offline"):
        await second


async def test_our_own_marks_are_not_among_the_words() -> None:
    scene = Scene()
    answer = scene.ask("<data-0123abcd>\nwell</data-0123abcd>")
    await scene.until_asked("<data-0123abcd>\nwell</data-0123abcd>")
    for gate in scene.gates.values():
        gate.set()
    assert (await answer).split() == ["so", "well"]
