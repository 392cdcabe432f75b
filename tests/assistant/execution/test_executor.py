"""The executor: branches, fallback, skipping, questions, lanes, cancelling, carrying on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Ref, Report, Task
from tests.fakes import FakeBackend, FakeFrontend, FakeStore
from tests.types import BLUR, CLOCK, COMPARE, FIND, JOIN, SHORTEN

FIRST = Candidate(Expert("first", "any"), "builtin")
SECOND = Candidate(Expert("second", "any"), "builtin")


class Gates:
    """A backend whose calls wait until the test lets them go."""

    name = "builtin"

    def __init__(self, lane: str = "instant") -> None:
        self.lane = lane
        self.started: list[str] = []
        self.stopped: list[str] = []
        self._gates: dict[str, asyncio.Event] = {}
        self._moved = asyncio.Event()

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        name = call.text("text") or call.task
        self.started.append(name)
        self._moved.set()
        try:
            await self._gate(name).wait()
        except asyncio.CancelledError:
            self.stopped.append(name)
            raise
        return [text_artifact(f"<{name}>")]

    def open(self, name: str) -> None:
        self._gate(name).set()

    async def until_started(self, *names: str) -> None:
        while not set(names) <= set(self.started):
            self._moved.clear()
            await self._moved.wait()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


def select(plan: Plan, *candidates: Candidate) -> list[Selection]:
    return [Selection(task.id, candidates or (FIRST,), "") for task in plan]


def shorten(number: int, text: str | Ref) -> Task:
    return Task(number, SHORTEN, {"text": text})


@pytest.fixture
def store(tmp_path: Path) -> FakeStore:
    return FakeStore(tmp_path / "store")


@pytest.fixture
def frontend() -> FakeFrontend:
    return FakeFrontend()


@pytest.fixture
def run(store: FakeStore, frontend: FakeFrontend):
    async def run(
        plan: Plan,
        backend: object,
        *candidates: Candidate,
        lanes: dict[str, int] | None = None,
        timeout: float = 60.0,
        done: dict[int, TaskResult] | None = None,
    ) -> dict[int, TaskResult]:
        executor = Executor(
            {"builtin": backend},  # type: ignore[dict-item]
            store,
            lanes=lanes or {},
            timeout=timeout,
            jitter=lambda: 0.0,
        )
        return await executor.run(
            plan,
            select(plan, *candidates),
            show=frontend.show,
            confirm=frontend.confirm,
            done=done,
        )

    return run


def says(text: Callable[[Call], str]) -> FakeBackend:
    return FakeBackend(does=lambda candidate, call: [text_artifact(text(call))])


async def test_a_chain_passes_its_results_on(run, frontend: FakeFrontend) -> None:
    plan = Plan((shorten(0, "a"), shorten(1, Ref(0)), shorten(2, Ref(1))))
    results = await run(plan, says(lambda call: call.text("text") + "!"))
    assert [item.artifacts[0].text for item in results.values()] == ["a!", "a!!", "a!!!"]
    assert [item.artifacts[0].made_by for item in results.values()] == [0, 1, 2]
    kinds = [type(event).__name__ for event in frontend.events]
    assert kinds == ["TaskStarted", "TaskFinished"] * 3


async def test_independent_tasks_run_at_the_same_time(run) -> None:
    gates = Gates()
    plan = Plan((shorten(0, "a"), shorten(1, "b")))
    running = asyncio.create_task(run(plan, gates))
    await gates.until_started("a", "b")
    gates.open("b")
    gates.open("a")
    assert [item.status for item in (await running).values()] == [Status.DONE, Status.DONE]


async def test_a_task_starts_the_moment_its_own_inputs_exist(run) -> None:
    gates = Gates()
    plan = Plan((shorten(0, "slow"), shorten(1, "quick"), shorten(2, Ref(1))))
    running = asyncio.create_task(run(plan, gates))
    gates.open("quick")
    await gates.until_started("<quick>")
    assert gates.started == ["slow", "quick", "<quick>"]
    for name in ("slow", "<quick>"):
        gates.open(name)
    await running


async def test_a_lane_bounds_what_runs_at_once(run, frontend: FakeFrontend) -> None:
    gates = Gates(lane="gpu")
    plan = Plan((shorten(0, "a"), shorten(1, "b")))
    running = asyncio.create_task(run(plan, gates, lanes={"gpu": 1}))
    await gates.until_started("a")
    await asyncio.sleep(0)
    assert gates.started == ["a"]
    assert frontend.events[-1] == events.TaskProgress(1, None, "Waiting for other work to end…")
    gates.open("a")
    await gates.until_started("b")
    assert events.TaskProgress(1, None) in frontend.events
    gates.open("b")
    await running


def failing(*names: str) -> FakeBackend:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if candidate.expert.id in names:
            raise ExpertError(f"{candidate.expert.id} broke.")
        return [text_artifact(candidate.expert.id)]

    return FakeBackend(does=does)


async def test_the_next_candidate_is_tried(run, frontend: FakeFrontend) -> None:
    results = await run(Plan((Task(0, CLOCK),)), failing("first"), FIRST, SECOND)
    assert results[0].status is Status.DONE
    assert results[0].artifacts[0].text == "second"
    assert [attempt.error for attempt in results[0].attempts] == ["first broke.", ""]
    assert [attempt.kind for attempt in results[0].attempts] == ["expert", ""]
    failed = [item for item in frontend.events if isinstance(item, events.AttemptFailed)]
    assert [item.attempt.candidate for item in failed] == [FIRST]


async def test_only_the_dependants_of_a_failure_are_skipped(run, frontend: FakeFrontend) -> None:
    plan = Plan(
        (
            Task(0, CLOCK),
            shorten(1, Ref(0)),
            shorten(2, Ref(1)),
            shorten(3, "other"),
            Task(4, JOIN, {"texts": (Ref(0), Ref(1), Ref(3))}),
        )
    )

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "clock":
            raise ExpertError("It broke.")
        return [text_artifact("fine")]

    results = await run(plan, FakeBackend(does=does))
    statuses = {number: item.status.value for number, item in results.items()}
    assert statuses == {0: "failed", 1: "skipped", 2: "skipped", 3: "done", 4: "skipped"}
    assert results[0].reason == "It broke."
    assert results[2].reason == "It needs the result of “Summarization”, which is missing."
    finished = [item for item in frontend.events if isinstance(item, events.TaskFinished)]
    assert len(finished) == 5


async def test_no_candidate_is_a_stated_failure(store: FakeStore, frontend: FakeFrontend) -> None:
    executor = Executor({}, store, lanes={})
    plan = Plan((Task(0, CLOCK), Task(1, CLOCK)))
    results = await executor.run(
        plan,
        [Selection(0, (), "There is no expert.")],
        show=frontend.show,
        confirm=frontend.confirm,
    )
    assert [item.reason for item in results.values()] == [
        "There is no expert.",
        "No expert was selected.",
    ]


async def test_an_expert_that_gives_nothing_has_failed(run) -> None:
    results = await run(Plan((Task(0, CLOCK),)), FakeBackend())
    assert results[0].reason == "first produced no result."


async def test_a_hang_is_ended(run) -> None:
    results = await run(Plan((Task(0, CLOCK),)), Gates(), timeout=0.01)
    assert results[0].reason == "first was stopped after 0 seconds."


async def test_files_are_kept_and_the_work_folder_goes(run, store: FakeStore) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        made = call.workdir / "out.png"
        made.write_bytes(b"picture")
        (call.workdir / "scrap").write_bytes(b"x")
        return [Artifact(Kind.IMAGE, path=made)]

    picture = Artifact(Kind.IMAGE, path=Path("in.png"))
    results = await run(Plan((Task(0, BLUR, {"image": picture}),)), FakeBackend(does=does))
    kept = results[0].artifacts[0]
    assert kept.path is not None
    assert kept.path.read_bytes() == b"picture"
    assert (kept.name, kept.made_by) == ("out.png", 0)
    assert not list(store.root.rglob("scrap"))


async def test_options_are_completed_with_their_defaults(run) -> None:
    backend = says(lambda call: "fine")
    await run(Plan((Task(0, SHORTEN, {"text": "a", "sentences": 1}),)), backend)
    assert backend.calls[0].options == {"sentences": 1, "share": 0.5}


async def test_a_list_for_a_single_port_makes_one_call_each(run) -> None:
    pictures = [Artifact(Kind.IMAGE, path=Path(f"{n}.png")) for n in range(3)]
    done = {0: TaskResult(0, Status.DONE, tuple(pictures))}
    plan = Plan(
        (
            Task(0, BLUR, {"image": pictures[0]}),
            Task(1, FIND, {"image": Ref(0)}),
            Task(2, JOIN, {"texts": Ref(1)}),
        )
    )

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "join":
            return [text_artifact(" ".join(call.texts("texts")))]
        return [text_artifact(call.file("image").name)]

    results = await run(plan, FakeBackend(does=does), done=done)
    assert results[2].artifacts[0].text == "0.png 1.png 2.png"


async def test_too_many_calls_are_refused(run) -> None:
    many = tuple(text_artifact(str(n)) for n in range(11))
    done = {n: TaskResult(n, Status.DONE, many) for n in (0, 1)}
    plan = Plan(
        (Task(0, CLOCK), Task(1, CLOCK), Task(2, COMPARE, {"text_1": Ref(0), "text_2": Ref(1)}))
    )
    results = await run(plan, says(lambda call: "x"), done=done)
    assert results[2].reason == "That would be 121 calls; the limit is 100."


async def test_a_missing_kind_is_a_stated_failure(run) -> None:
    done = {0: TaskResult(0, Status.DONE, (text_artifact("only words"),))}
    picture = Artifact(Kind.IMAGE, path=Path("a.png"))
    plan = Plan((Task(0, FIND, {"image": picture}), Task(1, BLUR, {"image": Ref(0)})))
    results = await run(plan, says(lambda call: "x"), done=done)
    assert results[1].reason == "The previous step produced no image."


async def test_what_was_done_is_kept_and_the_rest_is_tried_again(run) -> None:
    backend = says(lambda call: call.text("text") + "!")
    done = {
        0: TaskResult(0, Status.DONE, (text_artifact("kept"),)),
        2: TaskResult(2, Status.FAILED, reason="It broke."),
    }
    plan = Plan((Task(0, CLOCK), shorten(1, Ref(0)), Task(2, CLOCK), shorten(3, Ref(2))))
    results = await run(plan, backend, done=done)
    assert results[1].artifacts[0].text == "kept!"
    assert results[3].artifacts[0].text == "!!"
    assert len(backend.calls) == 3


async def test_a_question_is_asked_before_and_a_no_is_a_no(run, frontend: FakeFrontend) -> None:
    backend = FakeBackend(does=lambda candidate, call: [text_artifact("done")], ask="Really?")
    results = await run(Plan((Task(0, CLOCK),)), backend)
    assert results[0].status is Status.DONE
    frontend.consent = False
    results = await run(Plan((Task(0, CLOCK),)), backend, FIRST, SECOND)
    assert results[0].reason == "You did not agree to it, so it was not done."
    assert frontend.questions == ["Really?", "Really?"]
    assert len(backend.calls) == 1


async def test_progress_is_shown(run, frontend: FakeFrontend) -> None:
    class Reporting(FakeBackend):
        async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
            report(0.5, "half")
            return [text_artifact("done")]

    await run(Plan((Task(0, CLOCK),)), Reporting())
    assert events.TaskProgress(0, 0.5, "half") in frontend.events


async def test_cancelling_stops_the_work_and_says_so(run, frontend: FakeFrontend) -> None:
    gates = Gates()
    gates.open("done before")
    plan = Plan((shorten(0, "done before"), shorten(1, "running"), shorten(2, Ref(1))))
    running = asyncio.create_task(run(plan, gates))
    await gates.until_started("running")
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert gates.stopped == ["running"]
    finished = [item.result for item in frontend.events if isinstance(item, events.TaskFinished)]
    statuses = {item.task_id: item.status.value for item in finished}
    assert statuses == {0: "done", 1: "cancelled", 2: "cancelled"}


async def test_a_bug_in_one_branch_leaves_the_other_running(
    run, caplog: pytest.LogCaptureFixture
) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "clock":
            raise KeyError("a secret of the person")
        return [text_artifact("fine")]

    results = await run(Plan((Task(0, CLOCK), shorten(1, "a"))), FakeBackend(does=does))
    assert results[0].reason.startswith("Something went wrong inside JARVIS itself")
    assert results[1].status is Status.DONE
    assert "KeyError" in caplog.text
    assert "secret" not in caplog.text
    caplog.clear()


async def test_the_folder_of_the_request_reaches_the_expert(
    store: FakeStore, frontend: FakeFrontend, tmp_path: Path
) -> None:
    backend = says(lambda call: str(call.folder))
    plan = Plan((Task(0, CLOCK),))
    results = await Executor({"builtin": backend}, store, lanes={}).run(
        plan, select(plan), show=frontend.show, confirm=frontend.confirm, folder=tmp_path
    )
    assert results[0].artifacts[0].text == str(tmp_path)


@pytest.mark.no_cover
async def test_a_plan_of_a_thousand_tasks(run) -> None:
    chain = [shorten(0, "a"), *(shorten(n, Ref(n - 1)) for n in range(1, 1000))]
    results = await run(Plan(tuple(chain)), says(lambda call: "x"))
    assert {item.status for item in results.values()} == {Status.DONE}
    assert len(results) == 1000


async def test_attempts_are_timed(run) -> None:
    results = await run(Plan((Task(0, CLOCK),)), says(lambda call: "x"))
    attempt = results[0].attempts[0]
    assert attempt == Attempt(FIRST, attempt.seconds)
    assert attempt.seconds >= 0
