"""The person stops: whatever runs, control goes to its caller with what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice
from tests.assistant.agent.scripted import Crew, Holds, ScriptedLLM, goal_run_for, says, told
from tests.fakes import FakeFrontend

END = says("final_answer", text="Over.")
FINISH = says("finish", summary="Coded.")


@dataclass
class Person(FakeFrontend):
    """Answers when a test lets it; the question about a stop is answered with `feedback`."""

    feedback: str = "Use euros"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    at_stop: Callable[[], None] = lambda: None

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        if question.startswith("Stopped:"):
            self.at_stop()
            return self.feedback
        self.asked.set()
        await self.may_answer.wait()
        return self.answer


@pytest.fixture
def person() -> Person:
    return Person()


async def stopped_when(
    ready: Awaitable[object], crew: Crew, goal_run: GoalRun
) -> tuple[Observation, GoalRun]:
    """What comes of a goal that is stopped once something is so."""
    running = asyncio.create_task(crew.work(goal_run))
    await ready
    assert goal_run.interrupts.stop()
    return await running, goal_run


KINDS = ["run_experts", "re_plan", "update_plan", "ask_user", "intermediate_answer"]
CHOICES = {
    "run_experts": says("run_experts", request="x"),
    "re_plan": says("re_plan", reason="x"),
    "update_plan": says("update_plan", steps=[{"id": 1, "state": "done"}]),
    "ask_user": says("ask_user", question="Which?"),
    "intermediate_answer": says("intermediate_answer", text="So far."),
}


@pytest.mark.parametrize("branch", KINDS)
async def test_a_stopped_branch_gives_control_to_its_caller(person: Person, branch: str) -> None:
    llm = ScriptedLLM([CHOICES[branch], END])
    talks = branch in ("ask_user", "intermediate_answer")
    holds, crew = Holds(), Crew(llm)
    if not talks:
        crew.branches[branch] = holds
    begun = person.asked if talks else holds.begun
    given, goal_run = await stopped_when(begun.wait(), crew, goal_run_for(person))
    assert given.text == "Over."
    assert (goal_run.log[0].branch, goal_run.log[0].status) == (branch, Status.CANCELLED)
    assert goal_run.log[0].observation == "Use euros"
    assert (
        f"- The person stopped “{branch}” and said: Use euros" in llm.prompts[1].messages[-1].text
    )
    assert "Use euros" in goal_run.answers[0]
    assert talks or holds.cancelled == 1


@pytest.mark.parametrize("branch", ["run_code", "ask_user"])
async def test_a_stop_in_an_inner_branch_gives_control_to_the_inner_controller(
    person: Person, branch: str
) -> None:
    choice = says("run_code", code="while True: pass") if branch == "run_code" else CHOICES[branch]
    llm = ScriptedLLM([says("coder", task="A"), choice, FINISH, END])
    holds = Holds()
    crew = Crew(llm, run_code=holds)
    begun = holds.begun if branch == "run_code" else person.asked
    given, goal_run = await stopped_when(begun.wait(), crew, goal_run_for(person))
    assert given.text == "Over."
    assert [(item.path, item.status.value) for item in goal_run.log] == [
        ("assistant/coder", "cancelled"),
        ("assistant/coder", "done"),
        ("assistant", "done"),
        ("assistant", "done"),
    ]
    assert "Use euros" in llm.prompts[2].messages[-1].text
    assert "Your task:\nA" in told(llm.prompts[2])
    what = "while True: pass" if branch == "run_code" else "Which"
    assert person.questions[-1] == f"Stopped: {what}. What should change?"


async def test_a_stop_two_levels_down_reaches_the_librarian_alone(person: Person) -> None:
    write = says("write_function", name="f", code="x", tests="y")
    llm = ScriptedLLM(
        [says("coder", task="A"), says("extend_library", task="B"), write, FINISH, FINISH, END]
    )
    holds = Holds()
    crew = Crew(llm, write_function=holds)
    given, goal_run = await stopped_when(holds.begun.wait(), crew, goal_run_for(person))
    assert given.text == "Over."
    assert [item.status.value for item in goal_run.log] == ["cancelled", *["done"] * 5]
    assert goal_run.log[0].path == "assistant/coder/librarian"


async def test_while_the_outermost_thinks_its_thinking_is_stopped(person: Person) -> None:
    llm = ScriptedLLM([says("run_experts", request="x"), END], hold=asyncio.Event())

    async def thinking() -> None:
        await llm.asked.wait()
        await asyncio.sleep(0)

    running = asyncio.create_task(stopped_when(thinking(), Crew(llm), goal_run_for(person)))
    await thinking()
    assert llm.hold
    llm.hold.set()
    given, goal_run = await running
    assert given.text == "Over."
    assert llm.stopped == 1
    assert (goal_run.log[0].branch, goal_run.log[0].status) == ("think", Status.CANCELLED)
    assert "The person stopped “think” and said: Use euros" in told(llm.prompts[1])
    assert "Nothing was done yet." in told(llm.prompts[1])


async def test_while_an_inner_one_thinks_control_goes_to_the_outer_one(person: Person) -> None:
    """The coder is gone, and what it did stays in the log."""
    held = asyncio.Event()
    answers = iter(
        [says("coder", task="A"), says("run_code", code="1"), says("run_code", code="2"), END]
    )

    def answer(prompt: object) -> str:
        text = next(answers)
        if len(llm.prompts) == 3:
            llm.hold = asyncio.Event()
            held.set()
        else:
            llm.hold = None
        return text

    async def runs(goal_run: GoalRun, choice: BranchChoice) -> Observation:
        return Observation("one")

    def is_gone() -> None:
        """A crash while the person thinks would not bring the coder back; what it read counts."""
        (frame,) = goal_run.memory.frames("g")
        assert (frame.pending, frame.tainted) == (None, True)
        left.append(frame.role)

    left: list[str] = []
    person.at_stop = is_gone
    goal_run, llm = goal_run_for(person), ScriptedLLM(answer)
    given, _ = await stopped_when(held.wait(), Crew(llm, run_code=runs), goal_run)
    assert given.text == "Over."
    assert left == ["assistant"]
    assert [(item.path, item.branch, item.status.value) for item in goal_run.log] == [
        ("assistant/coder", "run_code", "done"),
        ("assistant", "coder", "cancelled"),
        ("assistant", "final_answer", "done"),
    ]
    assert [frame.role for frame in goal_run.frames] == ["assistant"]
    assert "Use euros" in llm.prompts[-1].messages[-1].text
    assert "My goal:" in told(llm.prompts[-1])


async def test_saying_nothing_is_told_as_well(person: Person) -> None:
    person.feedback = " "
    holds, llm = Holds(), ScriptedLLM([CHOICES["run_experts"], END])
    _, goal_run = await stopped_when(
        holds.begun.wait(), Crew(llm, run_experts=holds), goal_run_for(person)
    )
    assert "The person stopped “run_experts” and did not say why" in told(llm.prompts[1])
    assert goal_run.log[0].observation == "The person stopped it."
    assert goal_run.answers == []


@pytest.mark.parametrize("inner", [False, True])
async def test_a_second_stop_before_the_person_was_heard_ends_the_turn(
    person: Person, inner: bool
) -> None:
    asked = asyncio.Event()

    async def waits(question: str) -> str:
        asked.set()
        await asyncio.Event().wait()
        return ""

    person.ask = waits  # type: ignore[method-assign]
    holds = Holds()
    answers = [says("coder", task="A"), says("run_code", code="1")]
    llm = ScriptedLLM(answers if inner else [CHOICES["run_experts"]])
    goal_run = goal_run_for(person)
    running = asyncio.create_task(Crew(llm, run_experts=holds, run_code=holds).work(goal_run))
    await holds.begun.wait()
    assert goal_run.interrupts.stop()
    await asked.wait()
    assert not goal_run.interrupts.stop()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # Whoever goes on later does not do again what was stopped.
    frame = goal_run.memory.frames("g")[-1]
    assert frame.pending is None
    assert frame.notices


def at_that_moment(
    goal_run: GoalRun, observation: Observation
) -> Callable[..., Awaitable[Observation]]:
    """A branch that is done when the stop comes."""

    async def done(goal_run: GoalRun, choice: BranchChoice) -> Observation:
        asyncio.get_running_loop().call_soon(goal_run.interrupts.stop)
        return observation

    return done


async def test_what_was_done_at_that_moment_counts_and_the_person_is_heard(
    person: Person,
) -> None:
    goal_run, llm = goal_run_for(person), ScriptedLLM([CHOICES["run_experts"], END])
    crew = Crew(llm, run_experts=at_that_moment(goal_run, Observation("All of it.")))
    await crew.work(goal_run)
    assert (goal_run.log[0].status, goal_run.log[0].observation) == (Status.DONE, "All of it.")
    assert "Use euros" in told(llm.prompts[1])
    assert "All of it." in told(llm.prompts[1])


async def test_an_end_that_was_reached_at_that_moment_is_the_end(person: Person) -> None:
    goal_run, llm = goal_run_for(person), ScriptedLLM([END])
    crew = Crew(llm, final_answer=at_that_moment(goal_run, Observation("Over.", ends=True)))
    assert (await crew.work(goal_run)).text == "Over."
    assert person.questions == []
