from __future__ import annotations

import asyncio
import random

import pytest

from jarvis_desktop.assistant.agent.goal_run import Desk
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, GoalLimits, StepState
from tests.assistant.agent.scripted import Crew, Does, ScriptedLLM, desk_for, outline, says, told
from tests.fakes import FakeFrontend

END = says("final_answer", text="Over.")


def busy() -> Does:
    """Experts that always give something new."""
    return Does(lambda desk, choice: Observation(f"Result {desk.number}."))


def work_on() -> ScriptedLLM:
    return ScriptedLLM(lambda prompt: says("run_experts", request=f"Part {len(told(prompt))}"))


async def test_more_rounds_than_the_goal_may_take_are_asked_for(frontend: FakeFrontend) -> None:
    llm = ScriptedLLM([says("run_experts", request=str(n)) for n in range(5)] + [END])
    desk = desk_for(frontend, limits=GoalLimits(rounds=2))
    given = await Crew(llm, run_experts=busy()).work(desk)
    assert given.text == "Over."
    assert frontend.questions == [
        f"The goal has taken its {n} rounds. Go on with as much again?" for n in (2, 4)
    ]


async def test_a_no_ends_with_what_was_reached(frontend: FakeFrontend, tmp_path) -> None:
    frontend.consent = False
    plot = Artifact(Kind.IMAGE, path=tmp_path / "plot.png")
    desk = desk_for(frontend, limits=GoalLimits(rounds=1))
    desk.change(0, outline=outline().with_state(1, StepState.DONE))
    crew = Crew(work_on(), run_experts=Does([Observation("Plotted.", artifacts=(plot,))]))
    given = await crew.work(desk)
    assert given.status is Status.PARTLY
    assert given.text == (
        "I stopped before the end: The goal has taken its 1 round. Done: 1. Fetch the prices. "
        "Not done: 2. Plot them; 3. Name the best month. Made so far: “plot.png”."
    )
    assert desk.live.turn.reply == given.text
    assert desk.live.turn.artifacts == (plot,)
    assert frontend.questions == ["The goal has taken its 1 round. Go on with as much again?"]


async def test_a_no_within_an_inner_controller_ends_all_of_it_with_one_question(
    frontend: FakeFrontend,
) -> None:
    frontend.consent = False
    llm = ScriptedLLM([says("coder", task="A"), says("run_code", code="1")])
    desk = desk_for(frontend, limits=GoalLimits(rounds=1))
    given = await Crew(llm, run_code=Does([Observation("1")])).work(desk)
    assert given.status is Status.FAILED
    assert [item.path for item in desk.log if item.branch == "give_up"] == [
        *("assistant/coder", "assistant"),
    ]
    assert len(frontend.questions) == 1


async def test_more_tokens_are_asked_for(frontend: FakeFrontend) -> None:
    frontend.consent = False
    desk = desk_for(frontend, limits=GoalLimits(tokens=1000))
    given = await Crew(work_on(), run_experts=busy()).work(desk)
    assert "its 1,000 tokens of the language model" in given.text
    assert len(desk.log) == 2


@pytest.mark.parametrize(("seconds", "words"), [(0.0, "its time"), (60.0, "its 1 minute of work")])
async def test_more_time_is_asked_for(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch, seconds: float, words: str
) -> None:
    frontend.consent = False
    desk = desk_for(frontend, limits=GoalLimits(seconds=seconds))
    loop = asyncio.get_running_loop()
    later = loop.time() + seconds
    monkeypatch.setattr(loop, "time", lambda: later)
    given = await Crew(work_on(), run_experts=busy()).work(desk)
    assert f"The goal has taken {words}." in given.text


async def test_waiting_for_the_person_takes_no_time_of_the_goal(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_for(frontend)
    loop = asyncio.get_running_loop()
    now = [loop.time()]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    before = desk.seconds

    async def confirm(question: str) -> bool:
        now[0] += 3000.0
        return True

    frontend.confirm = confirm  # type: ignore[method-assign]
    assert await desk.live.confirm("Well?")
    assert desk.seconds == pytest.approx(before)
    now[0] += 5.0
    assert desk.seconds == pytest.approx(before + 5.0)
    desk.change(0, rounds=0)
    again = Desk(
        desk.goal,
        desk.memory.frames("g"),
        live=desk.live,
        context=desk.context,
        memory=desk.memory,
        limits=desk.limits,
        now=desk.now,
    )
    assert again.seconds == pytest.approx(before + 5.0, abs=0.1)


async def test_a_round_tells_how_long_it_took_without_the_person(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_for(frontend)
    now = [asyncio.get_running_loop().time()]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])

    async def ask(question: str) -> str:
        now[0] += 3000.0
        return "May"

    async def works(desk: Desk, choice: BranchChoice) -> Observation:
        now[0] += 2.25
        return Observation(await desk.live.ask("Which month?"))

    frontend.ask = ask  # type: ignore[method-assign]
    llm = ScriptedLLM([says("run_experts", request="Fetch"), END])
    await Crew(llm, run_experts=works).work(desk)
    assert [entry.seconds for entry in desk.memory.log("g")] == pytest.approx([2.25, 0.0])
    assert [item.seconds for item in desk.live.turn.rounds.values()] == [2.25, 0.0]


async def test_an_inner_controller_has_its_own_rounds(frontend: FakeFrontend) -> None:
    runs = iter(range(1000))
    coder = ScriptedLLM(
        lambda prompt: (
            says("run_code", code=str(next(runs)))
            if "Your task" in told(prompt)
            else (END if "rounds." in told(prompt) else says("coder", task="A"))
        )
    )
    desk = desk_for(frontend)
    ran = Does(lambda desk, choice: Observation(f"Result {desk.number}."))
    given = await Crew(coder, run_code=ran).work(desk)
    assert given.text == "Over."
    assert len(ran.calls) == 30
    assert "The coder has taken its 30 rounds." in told(coder.prompts[-1])


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_the_llm_says_it_comes_to_an_end(frontend: FakeFrontend, seed: int) -> None:
    """Nobody is there; nothing that is done helps."""
    dice = random.Random(seed)
    frontend.consent = False
    choices = [
        *(
            "Hm.",
            "{}",
            "```python\nprint(1)\n```",
            says("coder", task="A"),
            says("coder", task="B"),
        ),
        *(says("run_code", code=str(n)) for n in range(3)),
        *(says("run_experts", request="x"), says("re_plan", reason="y")),
        *(says("ask_user", question="z?"), says("intermediate_answer", text="So far.")),
        *(says("extend_library", task="C"), says("write_function", name="f", code="1", tests="2")),
        says("update_plan", steps=[{"id": 1, "state": "doing"}]),
    ]
    llm = ScriptedLLM(lambda prompt: dice.choice(choices))
    never = Does([Observation("It did not work.", Status.FAILED)])
    always = Does([Observation("Well.", trusted=True)])

    async def flips(desk: Desk, choice: BranchChoice) -> Observation:
        return await (always if dice.random() < 0.5 else never)(desk, choice)

    crew = Crew(
        llm,
        run_code=flips,
        run_experts=flips,
        re_plan=flips,
        update_plan=flips,
        write_function=flips,
    )
    desk = desk_for(frontend, limits=GoalLimits(rounds=60))
    given = await crew.work(desk)
    assert given.ends
    assert given.text
    assert desk.live.turn.reply.endswith(given.text)
    assert len(desk.log) < 70
