"""The person stops what runs for a goal, in the real application: whoever began it hears what they
say, and a second stop ends the request with nothing left of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.events import Event, RoundProgress, TaskStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.process_tree import ProcessInfo, alive, descendants
from jarvis_desktop.settings import LLMSettings, Settings
from tests.assistant.agent.scripted import says
from tests.fakes import FakeFrontend
from tests.line_server import Answer, running
from tests.ollama import Ollama, _Handler

FEEDBACK = "Use euros"
ENDLESS = 'print("begun", flush=True)\nwhile True:\n    pass\n'
PLAN = "1. Work"
END = says("final_answer", text="Over.")
FINISH = says("finish", summary="Coded.")
CODE = says("run_code", code=ENDLESS, purpose="Turn round")
NEVER = ""
"""An answer that is never whole."""


@dataclass
class Person(FakeFrontend):
    """Says what should be different."""

    answer: str = FEEDBACK
    ponders: tuple[str, ...] = ()
    """Beginnings of questions that they never answer."""
    seen: Callable[[Event], bool] = lambda event: False
    happened: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when that was shown, or when that was asked."""
    before: tuple[ProcessInfo, ...] = ()
    """What ran when the request was begun."""
    below: tuple[ProcessInfo, ...] = ()
    """What had begun by the time that it was shown."""
    left: tuple[ProcessInfo, ...] | None = None
    """What of it runs still when they are asked what should be different."""

    def show(self, event: Event) -> None:
        super().show(event)
        if self.seen(event):
            known = {each.number for each in self.before}
            self.below = tuple(each for each in children() if each.number not in known)
            self.happened.set()

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        if question.startswith("Stopped:"):
            self.left = alive(self.below)
        if question.startswith(self.ponders):
            self.happened.set()
            await asyncio.Event().wait()
        return self.answer


@dataclass
class Scripted(Ollama):
    """Plans and choices by a list; whatever else it is asked is never answered to its end."""

    said: list[str] = field(default_factory=list)

    def next_answer(self) -> Answer:
        form = json.dumps(self.asked[-1].get("format") or "")
        said = self.said.pop(0) if "branch" in form or "steps" in form else NEVER
        return Answer((said,)) if said else Answer(("Once ",), ends="silent")


def children() -> tuple[ProcessInfo, ...]:
    own = os.getpid()
    return tuple(each for each in descendants(own) if each.number != own)


@dataclass
class Desk:
    app: Application
    llm: Scripted
    person: Person

    def begins(self, *said: str, files: Sequence[Path] = ()) -> asyncio.Task[Turn]:
        self.llm.said = [PLAN, *said]
        self.person.before = children()
        request = Request("Compute it.", files=tuple(files), terms=Terms())
        return asyncio.create_task(self.app.assistant.handle(request, self.person))

    @property
    def prompt(self) -> str:
        """The last one for a choice."""
        asked = [body for body in self.llm.asked if "branch" in json.dumps(body.get("format"))]
        return "\n".join(message["content"] for message in asked[-1]["messages"])

    @property
    def history(self) -> Turn:
        (listed,) = self.app.history.list(5)
        (turn,) = self.app.history.open_conversation(listed.id).turns
        return turn


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    with running(Scripted(), _Handler) as llm:
        wanted = LLMSettings(provider="ollama", address=llm.address)
        app = build(Settings(llm=wanted, processes=2), paths)
        yield Desk(app, llm, Person())
        await app.close()


def in_progress(event: Event) -> bool:
    return isinstance(event, RoundProgress) and "begun" in event.text


async def test_code_that_never_ends_is_dead_when_the_person_is_asked(desk: Desk) -> None:
    desk.person.seen = in_progress
    turn = desk.begins(says("coder", task="A"), PLAN, CODE, FINISH, END)
    await desk.person.happened.wait()
    assert desk.person.below
    assert desk.app.assistant.interrupt()
    ended = await turn
    assert (ended.status, ended.reply) == (Status.DONE, "Over.")
    assert desk.person.left == ()
    assert desk.person.questions == ["Stopped: Turn round. What should change?"]
    asked = [body for body in desk.llm.asked if "run_code" in json.dumps(body.get("format"))]
    told = asked[-1]["messages"][-1]["content"]
    assert f"The person stopped “run_code” and said: {FEEDBACK}" in told
    rounds = {item.branch: item.status for item in ended.rounds.values()}
    assert (rounds["run_code"], rounds["coder"]) == (Status.CANCELLED, Status.DONE)


async def test_the_llm_is_left_while_it_writes(desk: Desk) -> None:
    turn = desk.begins(NEVER, END)
    assert await asyncio.to_thread(desk.llm.silent.acquire, timeout=60)
    assert desk.app.assistant.interrupt()
    ended = await turn
    assert (ended.status, ended.reply) == (Status.DONE, "Over.")
    assert await asyncio.to_thread(desk.llm.left.acquire, timeout=60)
    assert f"The person stopped “think” and said: {FEEDBACK}" in desk.prompt


async def test_experts_are_left_while_they_work(desk: Desk, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("In March the prices rose, and in April they fell. " * 20)
    desk.person.seen = lambda event: isinstance(event, TaskStarted)
    choice = says("run_experts", request="Summarise notes.txt", uses=["notes.txt"])
    turn = desk.begins(choice, END, files=[notes])
    await desk.person.happened.wait()
    assert await asyncio.to_thread(desk.llm.silent.acquire, timeout=60)
    assert desk.app.assistant.interrupt()
    ended = await turn
    assert (ended.status, ended.reply) == (Status.DONE, "Over.")
    assert await asyncio.to_thread(desk.llm.left.acquire, timeout=60)
    assert f"The person stopped “run_experts” and said: {FEEDBACK}" in desk.prompt
    assert ended.rounds[1].status is Status.CANCELLED
    assert Status.CANCELLED in {result.status for result in ended.results.values()}


async def test_a_question_is_taken_back(desk: Desk) -> None:
    desk.person.ponders = ("Which currency",)
    turn = desk.begins(says("ask_user", question="Which currency?"), END)
    await desk.person.happened.wait()
    assert desk.app.assistant.interrupt()
    ended = await turn
    assert (ended.status, ended.reply) == (Status.DONE, "Over.")
    assert f"The person stopped “ask_user” and said: {FEEDBACK}" in desk.prompt


@pytest.mark.parametrize("choice", [says("ask_user", question="Which currency?"), CODE])
async def test_a_second_stop_ends_the_request_with_nothing_left(desk: Desk, choice: str) -> None:
    desk.person.seen = in_progress
    desk.person.ponders = ("Which currency", "Stopped:")
    turn = desk.begins(says("coder", task="A"), PLAN, choice, END)
    await desk.person.happened.wait()
    desk.person.happened.clear()
    assert desk.app.assistant.interrupt()
    await desk.person.happened.wait()
    assert not desk.app.assistant.interrupt()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert desk.person.left == ()
    assert bool(desk.person.below) is (choice is CODE)
    kept = desk.history
    assert (kept.status, kept.reply) == (Status.CANCELLED, "Stopped.")
    (goal,) = desk.app.goals.list()
    assert goal.status is Status.CANCELLED
    assert desk.app.assistant.unfinished() == ()
    assert not desk.app.assistant.interrupt()


async def test_to_end_the_request_ends_the_code_that_runs(desk: Desk) -> None:
    desk.person.seen = in_progress
    turn = desk.begins(says("coder", task="A"), PLAN, CODE)
    await desk.person.happened.wait()
    assert desk.person.below
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert alive(desk.person.below) == ()
    assert desk.history.status is Status.CANCELLED
