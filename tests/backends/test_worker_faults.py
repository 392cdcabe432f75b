"""A worker that ends badly in the middle of a plan: one failed attempt, a fresh worker, no more."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.events import Event, Retrying, TaskProgress
from jarvis_desktop.core.expert import Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from tests.backends import methods
from tests.fakes import FakeFrontend, FakeStore

ONCE, SHOUT, HANG = (methods.BY_NAME[name].type for name in ("once", "shout", "hang"))


@pytest.fixture
async def backend() -> AsyncIterator[BuiltinBackend]:
    """Two workers, with time enough for their start and little for what hangs."""
    backend = BuiltinBackend(
        methods.BY_NAME, width=2, registry=methods.__name__, time_limit=5.0, memory=1 << 30
    )
    yield backend
    await backend.close()


@pytest.fixture
def store(tmp_path: Path) -> FakeStore:
    return FakeStore(tmp_path / "store")


async def run(
    plan: Plan,
    backend: BuiltinBackend,
    store: FakeStore,
    show: Callable[[Event], None],
) -> dict[int, TaskResult]:
    executor = Executor({"builtin": backend}, store, lanes={"cpu": 2}, jitter=lambda: 0.0)
    selections = [
        Selection(task.id, (Candidate(Expert(task.type.name, "any"), "builtin"),), "")
        for task in plan
    ]
    return await executor.run(plan, selections, show=show, confirm=FakeFrontend().confirm)


def four_steps(how: str, folder: Path) -> Plan:
    """The second of them ends badly the first time; the last has nothing to do with it."""
    return Plan(
        (
            Task(0, SHOUT, {"text": "a"}),
            Task(1, ONCE, {"text": f"{how} {folder}"}),
            Task(2, SHOUT, {"text": Ref(1)}),
            Task(3, SHOUT, {"text": "b"}),
        )
    )


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("killed", Fault.CRASH),
        ("aborted", Fault.CRASH),
        ("stopped", Fault.TIMEOUT),
        ("raised", Fault.OTHER),
    ],
)
async def test_the_plan_ends_right(
    backend: BuiltinBackend, store: FakeStore, tmp_path: Path, how: str, fault: Fault
) -> None:
    shown: list[Event] = []
    results = await run(four_steps(how, tmp_path), backend, store, shown.append)
    assert {item.status for item in results.values()} == {Status.DONE}
    assert [each.fault for each in results[1].attempts] == [fault, Fault.OTHER]
    assert results[2].artifacts[0].text == f"{how} was survived".upper()
    assert [len(results[number].attempts) for number in (0, 2, 3)] == [1, 1, 1]
    assert [event.task_id for event in shown if isinstance(event, Retrying)] == [1]
    assert not list(store.root.rglob("half"))
    assert int((tmp_path / how).read_text()) not in backend.processes or how == "raised"


async def test_want_of_memory_is_said(
    backend: BuiltinBackend, store: FakeStore, tmp_path: Path
) -> None:
    results = await run(four_steps("exhausted", tmp_path), backend, store, lambda event: None)
    assert results[1].attempts[0].fault is Fault.MEMORY
    assert results[1].reason.startswith("once needed more than 1 GB of memory.")
    assert results[2].status is Status.SKIPPED
    assert results[3].status is Status.DONE


async def test_a_worker_that_is_killed_from_outside(
    backend: BuiltinBackend, store: FakeStore, tmp_path: Path
) -> None:
    def kill(event: Event) -> None:
        if isinstance(event, TaskProgress) and event.task_id == 1 and event.message.isdigit():
            os.kill(int(event.message), signal.SIGKILL)

    plan = four_steps("waiting", tmp_path)
    results = await run(plan, backend, store, kill)
    assert {item.status for item in results.values()} == {Status.DONE}
    assert [each.fault for each in results[1].attempts] == [Fault.CRASH, Fault.OTHER]


async def test_a_stopped_worker_is_ended_by_a_cancel(
    backend: BuiltinBackend, store: FakeStore
) -> None:
    """A process that was stopped looks like one that is busy; a time limit or a cancel ends it."""
    stopped = asyncio.Event()
    pids: list[int] = []

    def stop(event: Event) -> None:
        if isinstance(event, TaskProgress) and event.message.isdigit():
            pids.append(int(event.message))
            os.kill(pids[0], signal.SIGSTOP)
            stopped.set()

    running = asyncio.create_task(run(Plan((Task(0, HANG),)), backend, store, stop))
    await stopped.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert backend.processes == ()
    # A child of ours that was killed is there until it was waited for, which may take a moment.
    while _lives(pids[0]):
        await asyncio.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
