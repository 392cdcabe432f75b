"""One task through its candidates: further tries, breakers, time limits, what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant.execution.executor import Executor, mendable
from jarvis_desktop.assistant.execution.task_runner import REFUSED, RetryLimits
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_account, current_wait
from jarvis_desktop.core.errors import ExpertError, Fault, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import (
    Candidate,
    Experience,
    Expert,
    Selection,
    Spent,
    Status,
    TaskResult,
)
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Ref, Report, Task, TaskType
from jarvis_desktop.core.turn import Turn
from tests.fakes import FakeBackend, FakeFrontend, FakeStore, FakeTrackRecord
from tests.types import BLUR, CLOCK, FIND, SHORTEN

FIRST = Candidate(Expert("first", "any"), "builtin")
SECOND = Candidate(Expert("second", "any"), "builtin")
AFAR = Candidate(Expert("afar", "any"), "builtin", remote=True, provider="together")

BUSY = ExpertError("It is busy.", retryable=True, fault=Fault.BUSY)
CRASH = ExpertError("It crashed.", retryable=True, fault=Fault.CRASH)
BROKEN = ExpertError("It is broken.")

Outcome = JarvisError | str


@dataclass
class Scripted:
    """A backend whose candidates do what is written for them, the last of it again and again."""

    script: dict[Candidate, list[Outcome]]
    name: str = "builtin"
    lane: str = "cpu"
    calls: list[tuple[str, Call]] = field(default_factory=list)
    ask: str = ""
    during: Callable[[Call], None] = lambda call: None

    def question(self, call: Call) -> str:
        return self.ask

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        self.calls.append((candidate.expert.id, call))
        self.during(call)
        left = self.script[candidate]
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, JarvisError):
            raise outcome
        return [text_artifact(outcome)]

    @property
    def tried(self) -> list[str]:
        return [name for name, _ in self.calls]


@dataclass
class World:
    """An executor whose back-off takes no time."""

    store: FakeStore
    frontend: FakeFrontend = field(default_factory=FakeFrontend)
    record: FakeTrackRecord = field(default_factory=FakeTrackRecord)
    time: float = 0.0
    executor: Executor | None = None

    async def run(
        self,
        backend: Scripted | FakeBackend,
        *candidates: Candidate,
        tasks: Sequence[Task] = (Task(0, SHORTEN, {"text": "a b c"}),),
        done: dict[int, TaskResult] | None = None,
        **more,
    ) -> TaskResult:
        if self.executor is None:
            self.executor = Executor(
                {"builtin": backend},
                self.store,
                lanes={"cpu": 1},
                record=self.record,
                clock=lambda: self.time,
                jitter=lambda: 0.0,
                **more,
            )
        results = await self.executor.run(
            Plan(tuple(tasks)),
            [Selection(tasks[-1].id, candidates, "")],
            show=self.frontend.show,
            confirm=self.frontend.confirm,
            done=done,
        )
        return results[tasks[-1].id]

    def of_type(self, kind: type[events.Event]) -> list[events.Event]:
        return [item for item in self.frontend.events if isinstance(item, kind)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(FakeStore(tmp_path / "store"))


async def test_every_step_is_shown_and_kept(world: World) -> None:
    result = await world.run(Scripted({FIRST: [BUSY, BROKEN], SECOND: ["done"]}), FIRST, SECOND)
    assert result.status is Status.DONE
    assert [(each.candidate, each.fault, each.retryable) for each in result.attempts] == [
        (FIRST, Fault.BUSY, True),
        (FIRST, Fault.OTHER, False),
        (SECOND, Fault.OTHER, False),
    ]
    assert [type(event).__name__ for event in world.frontend.events] == [
        *("TaskStarted", "AttemptFailed", "Retrying", "TaskStarted", "AttemptFailed"),
        *("TaskStarted", "TaskFinished"),
    ]
    assert world.of_type(events.Retrying) == [events.Retrying(0, FIRST, 0.0, "It is busy.")]


async def test_what_each_try_cost_is_kept_with_it(world: World) -> None:
    told = [(Spent(1), Spent(2, 30, 0.5)), (Spent(1, 10, 0.25), Spent(1)), ()]

    def during(call: Call) -> None:
        for spent in told.pop(0):
            current_account.get()(spent)

    backend = Scripted({AFAR: [BROKEN], FIRST: ["done"], SECOND: ["done"]}, during=during)
    result = await world.run(backend, AFAR, FIRST)
    assert [each.spent for each in result.attempts] == [Spent(3, 30, 0.5), Spent(2, 10, 0.25)]
    result = await world.run(backend, SECOND)
    assert result.attempts[0].spent == Spent(), "nobody told a price"
    current_account.get()(Spent(1))  # outside of any task nobody keeps account


async def test_the_reason_of_a_task_that_failed_is_its_last_failure(world: World) -> None:
    result = await world.run(Scripted({FIRST: [BUSY], SECOND: [BROKEN]}), FIRST, SECOND)
    assert result.status is Status.FAILED
    assert [each.candidate.expert.id for each in result.attempts] == [
        *("first", "first", "first", "second", "first")
    ]
    assert result.reason == "It is busy."


async def test_a_task_that_waits_holds_no_lane(world: World) -> None:
    """The one that is asked to wait sleeps for good here; the other runs in the same lane."""
    wait = ExpertError("It is busy.", retryable=True, fault=Fault.BUSY, wait=20.0)
    backend = Scripted({FIRST: [wait, wait, "late"], SECOND: ["done"]})
    waiting = asyncio.create_task(world.run(backend, FIRST))
    while not world.of_type(events.Retrying):
        await asyncio.sleep(0)
    result = await world.run(backend, SECOND)
    assert result.status is Status.DONE
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_each_attempt_has_a_folder_of_its_own(world: World) -> None:
    seen: list[list[str]] = []

    def during(call: Call) -> None:
        seen.append([path.name for path in call.workdir.iterdir()])
        (call.workdir / "half.png").write_bytes(b"half")

    backend = Scripted({FIRST: [CRASH, CRASH], SECOND: ["done"]}, during=during)
    await world.run(backend, FIRST, SECOND)
    assert seen == [[], [], []]
    assert len({call.workdir for _, call in backend.calls}) == 3
    assert not list(world.store.root.rglob("half.png"))


async def test_what_was_agreed_to_once_is_not_done_again_unasked(world: World) -> None:
    backend = Scripted({FIRST: [BUSY], SECOND: ["done"]}, ask="Delete it?")
    result = await world.run(backend, FIRST, SECOND)
    assert backend.tried == ["first", "second"]
    assert not result.attempts[0].retryable
    assert world.frontend.questions == ["Delete it?", "Delete it?"]


async def test_what_was_refused_after_others_failed_is_not_planned_around(world: World) -> None:
    backend = Scripted({FIRST: [BROKEN], SECOND: ["done"]}, ask="Delete it?")

    def refuse(call: Call) -> None:
        world.frontend.consent = False

    backend.during = refuse
    result = await world.run(backend, FIRST, SECOND)
    assert (result.status, result.reason) == (Status.FAILED, REFUSED)
    assert [each.candidate for each in result.attempts] == [FIRST]
    plan = Plan((Task(0, SHORTEN, {"text": "a"}),))
    turn = Turn("t", datetime(2026, 1, 1, tzinfo=UTC), plan=plan, results={0: result})
    assert mendable(turn) == []
    assert mendable(replace(turn, results={0: replace(result, reason="It is broken.")}))


async def test_a_list_goes_on_where_a_call_failed(world: World) -> None:
    pictures = tuple(Artifact(Kind.IMAGE, path=Path(f"{n}.png")) for n in range(4))
    done = {0: TaskResult(0, Status.DONE, pictures)}
    tasks = (Task(0, BLUR, {"image": pictures[0]}), Task(1, FIND, {"image": Ref(0)}))
    backend = Scripted({FIRST: ["0", BUSY, "1", BROKEN], SECOND: ["2", BUSY, "3"]})
    result = await world.run(backend, FIRST, SECOND, tasks=tasks, done=done)
    assert [item.text for item in result.artifacts] == ["0", "1", "2", "3"]
    assert backend.tried == ["first"] * 4 + ["second"] * 3
    looked_at = [call.file("image").name for _, call in backend.calls]
    assert looked_at == ["0.png", "1.png", "1.png", "2.png", "2.png", "3.png", "3.png"]


async def test_it_does_not_go_on_for_ever(world: World) -> None:
    patience = RetryLimits(failures=7)
    result = await world.run(
        Scripted({FIRST: [BUSY], SECOND: [BUSY], AFAR: [BUSY]}),
        *(FIRST, SECOND, AFAR),
        patience=patience,
    )
    assert result.status is Status.FAILED
    assert len(result.attempts) == 7


async def test_what_fails_again_and_again_is_tried_last_in_the_next_turns(world: World) -> None:
    backend = Scripted({AFAR: [BUSY], SECOND: ["done"]})
    await world.run(backend, AFAR, SECOND)
    assert backend.tried == ["afar", "afar", "afar", "second"]
    backend.calls.clear()
    result = await world.run(backend, AFAR, SECOND)
    assert backend.tried == ["second"]
    assert result.attempts[0].candidate == SECOND
    assert world.of_type(events.Traced) == [
        events.Traced(
            "builtin:together failed 3 times in a row, so it is tried last for now.",
        )
    ]
    backend.script[SECOND] = [BROKEN]
    result = await world.run(backend, AFAR, SECOND)
    assert backend.tried[1:] == ["second", "afar"], "it is not lost: nothing else is left"
    assert result.status is Status.FAILED


async def test_who_stands_in_line_for_a_service_that_goes_down_turns_to_the_next(
    world: World,
) -> None:
    backend = Scripted({AFAR: [BUSY], SECOND: ["done"]})
    results = await asyncio.gather(*(world.run(backend, AFAR, SECOND) for _ in range(6)))
    assert {result.status for result in results} == {Status.DONE}
    assert backend.tried.count("afar") < 6
    assert sum(each.candidate == AFAR for each in results[-1].attempts) == 0


async def test_what_was_given_is_not_held_against_an_expert(world: World) -> None:
    backend = Scripted({FIRST: [InputError("x.png is damaged.")]})
    for _ in range(5):
        await world.run(backend, FIRST)
    assert backend.tried == ["first"] * 5
    assert world.of_type(events.Traced) == []
    assert world.record.noted == []


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (BROKEN, [("first", "summarization", False)]),
        (ExpertError("No way to it.", fault=Fault.NETWORK), []),
        (UnavailableError("There is no key.", fault=Fault.KEY), []),
    ],
)
async def test_only_its_own_faults_are_kept_of_an_expert(
    world: World, error: JarvisError, noted: list[tuple[str, str, bool]]
) -> None:
    await world.run(Scripted({FIRST: [error]}), FIRST)
    assert world.record.noted == noted


async def test_a_time_out_of_the_backends_own_is_not_taken_for_the_tasks(world: World) -> None:
    def waits_in_vain(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        raise TimeoutError

    result = await world.run(FakeBackend(does=waits_in_vain), FIRST)
    assert result.reason == "first did not finish in time."
    assert result.attempts[0].fault is Fault.TIMEOUT


async def test_how_much_was_worked_on_is_kept(world: World) -> None:
    await world.run(Scripted({FIRST: ["done"]}), FIRST)
    assert world.record.sizes == [5]


async def test_a_call_has_as_long_as_its_expert_is_known_to_need(world: World) -> None:
    world.record.known["first"] = Experience(
        runs=5, worked=5, seconds=10.0, slowest=20.0, largest=100
    )
    late = ExpertError("It gave no answer.", retryable=True, fault=Fault.TIMEOUT)
    backend = Scripted({FIRST: [late, BROKEN], SECOND: ["done"]})
    await world.run(backend, FIRST, SECOND)
    assert [call.seconds for _, call in backend.calls] == [80.0, 320.0, None]


async def test_a_skill_has_no_such_limit_and_is_not_inspected(world: World) -> None:
    def inspect(*_: object) -> None:
        raise AssertionError

    backend = Scripted({FIRST: ["done"]}, lane="instant")
    assert (await world.run(backend, FIRST, inspect=inspect)).status is Status.DONE
    assert backend.calls[0][1].seconds is None
    assert world.record.noted == []


async def test_a_result_that_cannot_be_right_is_a_failed_attempt(world: World) -> None:
    def inspect(candidate: Candidate, call: Call, type: TaskType, made: Sequence[Artifact]) -> None:
        assert type is SHORTEN
        if made[0].text == call.text("text"):
            raise ExpertError(f"{candidate.expert.id} gave an echo.", fault=Fault.ANSWER)

    backend = Scripted({FIRST: ["a b c"], SECOND: ["short"]})
    result = await world.run(backend, FIRST, SECOND, inspect=inspect)
    assert [item.text for item in result.artifacts] == ["short"]
    assert result.attempts[0].error == "first gave an echo."
    assert [worked for *_, worked in world.record.noted] == [False, True]


async def test_files_are_looked_into_beside_the_loop(world: World) -> None:
    import threading

    looked: list[bool] = []

    def inspect(*_: object) -> None:
        looked.append(threading.current_thread() is threading.main_thread())

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        (call.workdir / "out.png").write_bytes(b"picture")
        return [Artifact(Kind.IMAGE, path=call.workdir / "out.png")]

    picture = Artifact(Kind.IMAGE, path=Path("in.png"))
    backend = FakeBackend(lane="cpu", does=does)
    tasks = (Task(0, BLUR, {"image": picture}),)
    result = await world.run(backend, FIRST, tasks=tasks, inspect=inspect)
    assert result.status is Status.DONE
    assert looked == [False]


async def test_nothing_given_is_a_wrong_answer(world: World) -> None:
    result = await world.run(FakeBackend(lane="cpu"), FIRST, tasks=(Task(0, CLOCK),))
    assert result.attempts[0].fault is Fault.ANSWER


async def test_the_last_resort_against_a_call_that_never_ends(world: World) -> None:
    class Hanging(Scripted):
        async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
            await asyncio.Event().wait()
            raise AssertionError

    result = await world.run(Hanging({}), FIRST, timeout=0.01)
    assert len(result.attempts) == 1, "a day was long enough"
    assert result.attempts[0].fault is Fault.TIMEOUT


async def test_a_result_that_a_task_cannot_use_is_no_fault_of_its_expert(world: World) -> None:
    done = {0: TaskResult(0, Status.DONE, (text_artifact("only words"),))}
    picture = Artifact(Kind.IMAGE, path=Path("a.png"))
    tasks = (Task(0, FIND, {"image": picture}), Task(1, BLUR, {"image": Ref(0)}))
    for _ in range(4):
        result = await world.run(Scripted({}), FIRST, tasks=tasks, done=done)
        assert result.reason == "The previous step produced no image."
    assert world.of_type(events.Traced) == []


async def test_the_wait_for_the_llm_is_not_part_of_a_call(world: World) -> None:
    def during(call: Call) -> None:
        world.time += 2
        current_wait.get()(True, "another turn")
        world.time += 50
        current_wait.get()(False, "another turn")
        world.time += 3

    await world.run(Scripted({FIRST: ["done"]}, during=during), FIRST)
    assert world.record.seconds == [5]
