from __future__ import annotations

import asyncio
import random

import pytest

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, GoalLimits, StepState
from tests.assistant.agent.scripted import (
    Crew,
    Does,
    ScriptedLLM,
    goal_run_for,
    outline,
    says,
    told,
)
from tests.fakes import FakeFrontend

END = says("final_answer", text="Over.")


def busy() -> Does:
    """Experts that always give something new."""
    return Does(lambda goal_run, choice: Observation(f"Result {goal_run.number}."))


def work_on() -> ScriptedLLM:
    return ScriptedLLM(lambda prompt: says("run_experts", request=f"Part {len(told(prompt))}"))


async def test_more_rounds_than_the_goal_may_take_are_asked_for(frontend: FakeFrontend) -> None:
    llm = ScriptedLLM([says("run_experts", request=str(n)) for n in range(5)] + [END])
    goal_run = goal_run_for(frontend, limits=GoalLimits(rounds=2))
    given = await Crew(llm, run_experts=busy()).work(goal_run)
    assert given.text == "Over."
    assert frontend.questions == [
        f"The goal has used its {n} rounds. Continue with as much again?" for n in (2, 4)
    ]


async def test_a_no_ends_with_what_was_reached(frontend: FakeFrontend, tmp_path) -> None:
    frontend.consent = False
    plot = Artifact(Kind.IMAGE, path=tmp_path / "plot.png")
    goal_run = goal_run_for(frontend, limits=GoalLimits(rounds=1))
    goal_run.change(0, outline=outline().with_state(1, StepState.DONE))
    crew = Crew(work_on(), run_experts=Does([Observation("Plotted.", artifacts=(plot,))]))
    given = await crew.work(goal_run)
    assert given.status is Status.PARTLY
    assert given.text == (
        "I stopped before the end: The goal has used its 1 round. Done: 1. Fetch the prices. "
        "Not done: 2. Plot them; 3. Name the best month. Made so far: “plot.png”."
    )
    assert goal_run.live.turn.reply == given.text
    assert goal_run.live.turn.artifacts == (plot,)
    assert frontend.questions == ["The goal has used its 1 round. Continue with as much again?"]


async def test_a_no_within_an_inner_controller_ends_all_of_it_with_one_question(
    frontend: FakeFrontend,
) -> None:
    frontend.consent = False
    llm = ScriptedLLM([says("coder", task="A"), says("run_code", code="1")])
    goal_run = goal_run_for(frontend, limits=GoalLimits(rounds=1))
    given = await Crew(llm, run_code=Does([Observation("1")])).work(goal_run)
    assert given.status is Status.FAILED
    assert [item.path for item in goal_run.log if item.branch == "give_up"] == [
        *("assistant/coder", "assistant"),
    ]
    assert len(frontend.questions) == 1


async def test_more_tokens_are_asked_for(frontend: FakeFrontend) -> None:
    frontend.consent = False
    goal_run = goal_run_for(frontend, limits=GoalLimits(tokens=1000))
    given = await Crew(work_on(), run_experts=busy()).work(goal_run)
    assert "its 1,000 tokens of the language model" in given.text
    assert len(goal_run.log) == 2


@pytest.mark.parametrize(("seconds", "words"), [(0.0, "its time"), (60.0, "its 1 minute of work")])
async def test_more_time_is_asked_for(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch, seconds: float, words: str
) -> None:
    frontend.consent = False
    goal_run = goal_run_for(frontend, limits=GoalLimits(seconds=seconds))
    loop = asyncio.get_running_loop()
    later = loop.time() + seconds
    monkeypatch.setattr(loop, "time", lambda: later)
    given = await Crew(work_on(), run_experts=busy()).work(goal_run)
    assert f"The goal has used {words}." in given.text


async def test_waiting_for_the_person_takes_no_time_of_the_goal(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal_run = goal_run_for(frontend)
    loop = asyncio.get_running_loop()
    now = [loop.time()]
    monkeypatch.setattr(loop, "time", lambda: now[0])
    before = goal_run.seconds

    async def confirm(question: str, *, yes: str = "") -> bool:
        now[0] += 3000.0
        return True

    frontend.confirm = confirm  # type: ignore[method-assign]
    assert await goal_run.live.confirm("Well?")
    assert goal_run.seconds == pytest.approx(before)
    now[0] += 5.0
    assert goal_run.seconds == pytest.approx(before + 5.0)
    goal_run.change(0, rounds=0)
    again = GoalRun(
        goal_run.goal,
        goal_run.memory.frames("g"),
        live=goal_run.live,
        context=goal_run.context,
        memory=goal_run.memory,
        limits=goal_run.limits,
        now=goal_run.now,
    )
    assert again.seconds == pytest.approx(before + 5.0, abs=0.1)


async def test_a_round_tells_how_long_it_took_without_the_person(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal_run = goal_run_for(frontend)
    now = [asyncio.get_running_loop().time()]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])

    async def ask(question: str) -> str:
        now[0] += 3000.0
        return "May"

    async def works(goal_run: GoalRun, choice: BranchChoice) -> Observation:
        now[0] += 2.25
        return Observation(await goal_run.live.ask("Which month?"))

    frontend.ask = ask  # type: ignore[method-assign]
    llm = ScriptedLLM([says("run_experts", request="Fetch"), END])
    await Crew(llm, run_experts=works).work(goal_run)
    assert [entry.seconds for entry in goal_run.memory.log("g")] == pytest.approx([2.25, 0.0])
    assert [item.seconds for item in goal_run.live.turn.rounds.values()] == [2.25, 0.0]


async def test_an_inner_controller_has_its_own_rounds(frontend: FakeFrontend) -> None:
    runs = iter(range(1000))
    coder = ScriptedLLM(
        lambda prompt: (
            says("run_code", code=str(next(runs)))
            if "Your task" in told(prompt)
            else (END if "rounds." in told(prompt) else says("coder", task="A"))
        )
    )
    goal_run = goal_run_for(frontend)
    ran = Does(lambda goal_run, choice: Observation(f"Result {goal_run.number}."))
    given = await Crew(coder, run_code=ran).work(goal_run)
    assert given.text == "Over."
    assert len(ran.calls) == 30
    assert "The coder has used its 30 rounds." in told(coder.prompts[-1])


@pytest.mark.no_cover
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

    async def flips(goal_run: GoalRun, choice: BranchChoice) -> Observation:
        return await (always if dice.random() < 0.5 else never)(goal_run, choice)

    crew = Crew(
        llm,
        run_code=flips,
        run_experts=flips,
        re_plan=flips,
        update_plan=flips,
        write_function=flips,
    )
    goal_run = goal_run_for(frontend, limits=GoalLimits(rounds=60))
    given = await crew.work(goal_run)
    assert given.ends
    assert given.text
    assert goal_run.live.turn.reply.endswith(given.text)
    assert len(goal_run.log) < 70
