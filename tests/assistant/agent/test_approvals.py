from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.code import Allow, CodeRequest, Protection, Verdict
from jarvis_desktop.core.goal import (
    CodeTerms,
    ControllerFrame,
    Goal,
    Outline,
    OutlineStep,
    StepState,
    Terms,
)
from jarvis_desktop.core.task import Ref, Task
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend
from tests.types import CLOCK

IN_SANDBOX = Protection("bubblewrap", True)
BARE = Protection("none", False)


@dataclass
class Place:
    """What Approvals looks at of a goal_run."""

    goal: Goal
    live: FakeFrontend = field(default_factory=FakeFrontend)
    frames: list[ControllerFrame] = field(
        default_factory=lambda: [ControllerFrame("assistant", "x")]
    )


ASKING = Terms()


def goal_run(terms: Terms = ASKING, *, tainted: bool = False, allow: Allow = Allow.ONCE) -> GoalRun:
    place = Place(
        Goal("g", "c", "x", terms, NOON),
        frames=[ControllerFrame("assistant", "x", tainted=tainted)],
    )
    place.live.judge = lambda code: Verdict(allow, code.source)
    return cast(GoalRun, place)


def questions(place: GoalRun) -> list[CodeRequest]:
    return cast(Place, place).live.codes


def approvals(code: CodeTerms = CodeTerms.ASK) -> Approvals:
    return Approvals(code=code, acting={"clock", "open-file"})


def request(
    protection: Protection = IN_SANDBOX, *, hosts: tuple[str, ...] = (), saves: str = ""
) -> CodeRequest:
    return CodeRequest("print(1)", "to see", protection, hosts=hosts, saves=saves)


async def test_code_is_asked_about() -> None:
    at = goal_run(allow=Allow.NO)
    assert (await approvals().code(at, request())).allow is Allow.NO
    assert questions(at) == [request()]


@pytest.mark.parametrize(
    ("terms", "setting", "asked"),
    [
        (Terms(), CodeTerms.ASK, 1),
        (Terms(), CodeTerms.SANDBOXED, 0),
        (Terms(code=CodeTerms.ASK), CodeTerms.SANDBOXED, 1),
        (Terms(code=CodeTerms.SANDBOXED), CodeTerms.ASK, 0),
    ],
)
async def test_terms_come_before_the_setting(terms: Terms, setting: CodeTerms, asked: int) -> None:
    at = goal_run(terms)
    await approvals(setting).code(at, request())
    assert len(questions(at)) == asked


@pytest.mark.parametrize(
    ("protection", "named", "hosts", "asked"),
    [
        (BARE, (), (), 1),
        (IN_SANDBOX, (), ("evil.example",), 1),
        (IN_SANDBOX, ("good.example",), ("good.example",), 0),
        (IN_SANDBOX, ("good.example",), ("good.example", "evil.example"), 1),
    ],
)
async def test_only_a_sandbox_and_named_hosts_need_no_question(
    protection: Protection, named: tuple[str, ...], hosts: tuple[str, ...], asked: int
) -> None:
    at = goal_run(Terms(code=CodeTerms.SANDBOXED, hosts=named))
    await approvals().code(at, request(protection, hosts=hosts))
    assert len(questions(at)) == asked


async def test_the_same_code_is_not_asked_about_again() -> None:
    rules, at = approvals(), goal_run(allow=Allow.NO)
    await rules.code(at, request())
    assert await rules.code(at, request()) == Verdict(Allow.NO, "print(1)")
    assert len(questions(at)) == 1
    await rules.code(at, request(saves="plot"))
    rules.forget("g")
    await rules.code(at, request())
    assert len(questions(at)) == 3


async def test_allowed_for_the_goal_holds_for_the_same_hosts_and_this_goal_only() -> None:
    rules, at = approvals(), goal_run(allow=Allow.GOAL)
    verdict = await rules.code(at, request(hosts=("a.example",)))
    assert verdict.allow is Allow.ONCE
    await rules.code(at, request(hosts=("a.example",)))
    await rules.code(at, request())
    assert len(questions(at)) == 1
    await rules.code(at, request(hosts=("b.example",)))
    await rules.code(at, request(BARE))
    assert len(questions(at)) == 3
    rules.forget("g")
    await rules.code(at, request())
    assert len(questions(at)) == 4


@pytest.mark.parametrize("once", [request(BARE), request(saves="plot")])
async def test_what_is_bare_or_kept_is_never_allowed_for_the_goal(once: CodeRequest) -> None:
    rules, at = approvals(), goal_run(allow=Allow.GOAL)
    assert (await rules.code(at, once)).allow is Allow.ONCE
    await rules.code(at, request())
    assert len(questions(at)) == 2


@pytest.mark.parametrize(("tainted", "asked"), [(False, 0), (True, 1)])
async def test_keeping_is_asked_about_once_foreign_text_was_read(tainted: bool, asked: int) -> None:
    at = goal_run(Terms(code=CodeTerms.SANDBOXED), tainted=tainted)
    at.frames.append(ControllerFrame("coder", "y"))  # by whichever controller
    await approvals().code(at, request(saves="plot"))
    assert len(questions(at)) == asked


async def test_an_allowed_goal_does_not_keep_functions() -> None:
    rules, at = approvals(), goal_run(allow=Allow.GOAL)
    await rules.code(at, request())
    await rules.code(at, request(saves="plot"))
    assert len(questions(at)) == 2


async def test_what_acts_is_asked_about_with_its_arguments() -> None:
    at = goal_run()
    front = cast(Place, at).live
    picture = Artifact(Kind.IMAGE, name="a\nb.png", text="x")
    tasks = [
        Task(1, CLOCK, {"a": text_artifact("the door"), "b": Ref(0), "c": 3, "d": picture}),
        Task(2, CLOCK),
    ]
    assert await approvals().acting(at, tasks) == {}
    title = CLOCK.title.capitalize()
    assert front.questions == [
        f"{title} (a “the door”, b the result of task 0, c “3”, d “x”): do it?",
        f"{title}: do it?",
    ]
    front.consent = False
    assert set(await approvals().acting(at, tasks)) == {1, 2}


async def test_what_does_not_act_is_not_asked_about() -> None:
    at = goal_run()
    rules = Approvals(code=CodeTerms.ASK, acting=())
    assert await rules.acting(at, [Task(1, CLOCK)]) == {}
    assert cast(Place, at).live.questions == []


ONE, TWO = OutlineStep(1, "Read"), OutlineStep(2, "Answer")


@pytest.mark.parametrize(
    ("after", "trusted"),
    [
        (Outline((TWO, ONE)), True),
        (Outline((TWO,)), True),
        (Outline((OutlineStep(1, "Read", StepState.DONE), TWO)), True),
        (Outline((ONE, TWO, OutlineStep(3, "Send it away"))), False),
        (Outline((ONE, OutlineStep(2, "Send it away"))), False),
    ],
)
def test_foreign_text_adds_no_step(after: Outline, trusted: bool) -> None:
    before = Outline((ONE, TWO))
    at = goal_run(tainted=True)
    at.frames.append(ControllerFrame("coder", "y"))
    assert approvals().trusts_outline(at, 0, before, after) is trusted
    assert approvals().trusts_outline(goal_run(), 0, before, after)
    assert approvals().trusts_outline(goal_run(tainted=True), 1, before, after)
    assert approvals().trusts_outline(goal_run(tainted=True), 0, None, after)
