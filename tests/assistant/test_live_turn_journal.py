"""A turn is written down while it runs; what cannot be written stops nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from jarvis_desktop.assistant.live_turn import JournalWriter
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.context import current_note, current_turn, current_usage
from jarvis_desktop.core.errors import ExpertError, StorageError
from jarvis_desktop.core.expert import Candidate, Status, TaskResult
from jarvis_desktop.core.llm import Usage
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.task import Call, Ref, Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, ONE_TASK, House, answering, names
from tests.types import CLOCK, JOIN, SHORTEN

CHAIN = Plan(
    (
        Task(0, SHORTEN, {"text": "long"}),
        Task(1, JOIN, {"texts": (Ref(0),)}),
        Task(2, CLOCK),
    )
)


@pytest.fixture
def house(house: House) -> House:
    house.backend.does = lambda candidate, call: [text_artifact(f"{call.task} done")]
    return house


def ran(house: House) -> list[str]:
    return [call.task for call in house.backend.calls]


async def test_a_turn_is_written_down_as_it_runs_and_forgotten_once_it_is_kept(
    house: House,
) -> None:
    house.planner.planned = CHAIN
    seen: list[Unfinished] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        (entry,) = house.journal.kept.values()
        seen.append(entry[1])
        return [text_artifact(f"{call.task} done")]

    house.backend.does = does
    request = Request(text="shorten it", folder=house.folder, speak=True)
    turn = await house.handle(request)
    name = turn.id
    assert [line.replace(name, "t") for line in house.journal.written] == [
        "begin t",
        "begin t",
        "starting t 2",
        "finished t 0",
        "finished t 2",
        "finished t 1",
        "end t",
    ]
    assert not house.journal.kept
    last = seen[-1]
    assert (last.conversation, last.folder, last.speak) == ("c", house.folder, True)
    assert (last.turn.text, last.turn.plan) == ("shorten it", CHAIN)
    # Whatever builds on a result finds it written down.
    assert sorted(last.turn.results) == [0, 2]
    assert ran(house)[-1] == "join"


async def test_what_takes_less_time_than_writing_is_done_again_rather_than_written_down(
    house: House,
) -> None:
    turn = Turn("t", NOON, text="what time is it")
    written = house.journal.written
    plan = Plan((Task(0, CLOCK),))
    for asked, expected in (
        (True, ["begin t"]),
        (False, ["begin t", "finished t 0"]),  # it would be lost
    ):
        written.clear()
        journal_writer = JournalWriter(
            house.journal, Unfinished("c", turn), acting=(), repeatable=("clock",)
        )
        if asked:
            journal_writer.take_request(turn)
        running = turn
        for event in (
            events.PlanProposed(plan),
            events.PlanAccepted(plan),
            events.TaskFinished(TaskResult(0, Status.DONE, (text_artifact("Noon."),))),
        ):
            running = running.apply(event)
            journal_writer.take(event, running)
        assert written == expected


async def test_a_changed_plan_is_written_down_though_it_could_be_done_again(house: House) -> None:
    turn, plan = Turn("t", NOON, text="what time is it"), Plan((Task(0, CLOCK),))
    journal_writer = JournalWriter(
        house.journal, Unfinished("c", turn), acting=(), repeatable=("clock",)
    )
    journal_writer.take_request(turn)
    longer = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": Ref(0)})))
    for event in (events.PlanAccepted(plan), events.PlanChanged(longer)):
        turn = turn.apply(event)
        journal_writer.take(event, turn)
    ((_, kept),) = house.journal.kept.values()
    assert (kept.turn.plan, kept.unplanned, kept.fixed) == (longer, False, True)


async def test_the_voice_has_the_answer_before_it_is_written_down(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.planner.planned = ONE_TASK
    house.backend.does = answering("It is noon. It is late.")  # type: ignore[assignment]
    said: list[str] = []
    save = house.history.save

    def watched(conversation: str, turn: Turn) -> None:
        said.extend(house.voice.said)
        save(conversation, turn)

    monkeypatch.setattr(house.history, "save", watched)
    await house.handle(Request(text="what time is it", speak=True))
    assert said[:1] == ["It is noon."]


async def test_a_new_plan_is_written_down_with_what_it_shares_with_the_old(house: House) -> None:
    entries: list[Unfinished] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        entries.append(next(iter(house.journal.kept.values()))[1])
        if call.task == "join":
            raise ExpertError("It broke.")
        return [text_artifact(f"{call.task} done")]

    house.backend.does = does
    house.planner.planned = Plan((*CHAIN.tasks[:2], Task(3, CLOCK)))
    other = Plan((CHAIN.tasks[0], Task(3, SHORTEN, {"text": "another"})))
    house.planner.other_plans = [other]
    await house.handle(Request(text="shorten it"))
    assert entries[-1].turn.plan == other
    assert sorted(entries[-1].turn.results) == [0]


async def test_a_task_that_acts_and_failed_is_free_to_be_tried_again(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        raise ExpertError("There is no clock.")

    house.backend.does = does
    house.planner.planned = CHAIN
    turn = await house.handle(Request(text="shorten it"))
    finished = [line for line in house.journal.written if "finished" in line]
    assert finished == [f"finished {turn.id} 2"]


async def test_a_task_that_acts_is_written_down_again_when_a_new_plan_begins_it(
    house: House,
) -> None:
    begun: list[frozenset[int]] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "clock":
            begun.append(next(iter(house.journal.kept.values()))[1].perhaps)
            raise ExpertError("There is no clock.")
        return [text_artifact("made")]

    house.backend.does = does
    house.planner.planned = CHAIN
    house.planner.other_plans = [Plan((Task(1, SHORTEN, {"text": "b"}), CHAIN.tasks[2]))]
    await house.handle(Request(text="shorten it"))
    assert begun == [{2}, {2}]


async def test_a_journal_that_cannot_be_written_stops_nothing_and_is_told_once(
    house: House,
) -> None:
    house.planner.planned = CHAIN
    house.journal.wrong = StorageError("The disk is full.")
    turn = await house.handle(Request(text="shorten it"))
    assert turn.status is Status.DONE
    assert turn.notes == ("After a crash this could not go on where it stops: The disk is full.",)
    assert house.history.kept["c"] == [turn]


async def test_one_that_fails_in_the_middle_is_told_once_as_well(house: House) -> None:
    house.planner.planned = CHAIN

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        house.journal.wrong = StorageError("The disk is full.")
        return [text_artifact("made")]

    house.backend.does = does
    turn = await house.handle(Request(text="shorten it"))
    assert turn.status is Status.DONE
    assert len(turn.notes) == 1


async def test_a_turn_that_the_history_could_not_keep_may_be_gone_on_with(house: House) -> None:
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    house.history.error = StorageError("The disk is full.")
    turn = await house.handle(Request(text="a"))
    assert list(house.journal.kept) == [turn.id]


async def test_what_is_told_from_below_is_noted_from_any_thread(house: House) -> None:
    told: list[str] = []

    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        told.append(current_turn.get())
        current_note.get()("One was put away.")
        await asyncio.to_thread(current_note.get(), "Another was put away.")
        return [text_artifact("made")]

    house.backend.run = run  # type: ignore[method-assign]
    house.planner.planned = ONE_TASK
    turn = await house.handle(Request(text="a"))
    assert told == [turn.id]
    assert turn.notes == ("One was put away.", "Another was put away.")
    current_note.get()("Nobody hears this.")


async def test_the_usage_of_each_call_is_in_the_trace(house: House) -> None:
    report: list[Callable[[Usage], None]] = []
    usage = Usage(43, 143, 11, 0.1, 0.3)

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        report.append(current_usage.get())
        report[0](usage)
        return [text_artifact("made")]

    house.backend.does = does
    house.planner.planned = ONE_TASK
    turn = await house.handle(Request(text="a"))
    assert usage.summary in turn.trace
    report[0](usage)  # of something that outlives the turn
    current_usage.get()(usage)
    assert names(house)[-1] == "TurnFinished"


async def test_nothing_is_noted_after_the_end(house: House) -> None:
    kept: list[object] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        kept.append(current_note.get())
        return [text_artifact("made")]

    house.backend.does = does
    house.planner.planned = ONE_TASK
    turn = await house.handle(Request(text="a"))
    kept[0]("Too late.")  # type: ignore[operator]
    await asyncio.sleep(0)
    assert names(house)[-1] == "TurnFinished"
    assert turn.notes == ()
    assert not [item for item in house.frontend.events if isinstance(item, events.Noted)]


async def changed_before(house: House, plan: Plan, *afresh: int) -> Unfinished:
    """What is written down once the plan was changed while the clock and the join worked."""
    working = asyncio.Event()
    left: list[Unfinished] = []

    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        if call.task == SHORTEN.name:
            return [text_artifact("short")]
        if call.task == "join":
            working.set()
        await asyncio.Event().wait()
        raise AssertionError

    house.backend.run = run  # type: ignore[method-assign]
    house.planner.planned = CHAIN
    running = asyncio.create_task(house.handle(Request(text="shorten it")))
    await working.wait()
    assert await house.assistant.change(plan, afresh=frozenset(afresh))
    left.append(next(iter(house.journal.kept.values()))[1])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return left[0]


async def test_a_changed_plan_is_written_down_with_all_that_is_unchanged(house: House) -> None:
    longer = CHAIN.add(SHORTEN, {"text": Ref(1)})
    left = await changed_before(house, longer)
    assert left.turn.plan == longer
    assert list(left.turn.results) == [0]
    assert left.perhaps == {2}  # the clock goes on
    assert left.fixed


async def test_what_a_changed_plan_does_otherwise_is_not_written_down(house: House) -> None:
    other = CHAIN.with_arg(0, "text", "longer").pinned(2, "sun-dial")
    left = await changed_before(house, other)
    assert not left.turn.results
    assert not left.perhaps


async def test_what_is_run_again_is_not_written_down_as_done_or_begun(house: House) -> None:
    left = await changed_before(house, CHAIN, 0, 2)
    assert not left.turn.results
    assert not left.perhaps
    assert (left.turn.plan, left.fixed) == (CHAIN, True)


async def test_a_change_of_a_plan_that_was_not_written_down(house: House) -> None:
    journal_writer = JournalWriter(house.journal, Unfinished("c", Turn("t", NOON)), acting=())
    turn = Turn("t", NOON, plan=CHAIN)
    assert journal_writer.take(events.PlanChanged(CHAIN), turn) == ""
    assert house.journal.kept["t"][1].turn == turn


async def test_a_note_is_shown_once_however_often_it_is_made(house: House) -> None:
    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        for _ in range(2):
            current_note.get()("One was put away.")
        await asyncio.sleep(0)
        return [text_artifact("made")]

    house.backend.run = run  # type: ignore[method-assign]
    house.planner.planned = ONE_TASK
    turn = await house.handle(Request(text="a"))
    assert turn.notes == ("One was put away.",)
