"""A turn that was cut off goes on where it stopped, and what was done is not done again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Unfinished
from jarvis_desktop.core.task import Call, Ref, Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, ONE_TASK, House, names
from tests.assistant.gates import GatedBackend
from tests.fake_journal import FakeJournal
from tests.fake_voice import write_wav
from tests.fakes import FakeLLM
from tests.types import CLOCK, JOIN, SHORTEN, SPEAK

CHAIN = Plan(
    (
        Task(0, SHORTEN, {"text": "long"}),
        Task(1, JOIN, {"texts": (Ref(0),)}),
        Task(2, CLOCK),
    )
)
CANDIDATE = Candidate(Expert("first/one", "summarization"), "builtin")
DONE = TaskResult(0, Status.DONE, (text_artifact("short", made_by=0),), (Attempt(CANDIDATE, 1.5),))
TURN = Turn(
    "t",
    NOON,
    text="shorten it",
    heard_by="fake",
    notes=("A small recogniser was used.",),
    plan=CHAIN,
    selections=(Selection(0, (CANDIDATE,), "It was done before."),),
    results={0: DONE},
)


@pytest.fixture
def house(house: House) -> House:
    house.backend.does = lambda candidate, call: [text_artifact(f"{call.task} done")]
    return house


def left(house: House, turn: Turn = TURN, **more: object) -> Unfinished:
    """What a process that was killed has left in the journal."""
    killed = FakeJournal(house.journal.kept)
    killed.begin(Unfinished("c", turn, **more))  # type: ignore[arg-type]
    killed.close()
    (found,) = house.assistant.unfinished()
    return found


def ran(house: House) -> list[str]:
    return [call.task for call in house.backend.calls]


async def test_it_goes_on_where_it_stopped(house: House) -> None:
    turn = await house.assistant.resume(left(house), house.frontend)
    assert ran(house) == ["clock", "join"] or ran(house) == ["join", "clock"]
    assert names(house)[:6] == [
        "TurnStarted", "Transcribed", "Noted", "PlanAccepted", "TaskFinished", "Noted",
    ]  # fmt: skip
    assert names(house)[-1] == "TurnFinished"
    assert turn.id == "t"
    assert turn.started == NOON
    assert (turn.text, turn.heard_by, turn.plan) == ("shorten it", "fake", CHAIN)
    assert turn.results[0] == DONE
    assert turn.notes == (
        "A small recogniser was used.",
        "It resumes where it was interrupted: 1 of 3 steps is done.",
    )
    assert [item.task_id for item in turn.selections] == [0, 1, 2]
    assert turn.selections[0] == TURN.selections[0]
    assert turn.status is Status.DONE
    assert house.history.kept["c"] == [turn]
    assert not house.journal.kept


async def test_it_is_shown_as_any_other_turn(house: House) -> None:
    """A front end that folds the events has the turn that the assistant gives back."""
    turn = await house.assistant.resume(left(house), house.frontend)
    folded = Turn("t", NOON)
    for event in house.frontend.events:
        folded = folded.apply(event)
    assert folded == turn


async def test_a_plan_that_waited_to_be_agreed_to_is_in_the_journal(house: House) -> None:
    seen: list[Unfinished] = []

    def look(plan: Plan) -> Plan:
        seen.extend(entry for _, entry in house.journal.kept.values())
        return plan

    house.frontend.edit = look
    house.planner.planned = CHAIN
    turn = await house.handle(Request(text="shorten it"))
    (waiting,) = seen
    assert (waiting.turn.text, waiting.turn.plan, waiting.begun) == ("shorten it", CHAIN, False)
    # As a request, then with its plan; once that is agreed to, it is there.
    assert house.journal.written.count(f"begin {turn.id}") == 2


async def test_a_plan_nobody_may_have_agreed_to_is_proposed_again(house: House) -> None:
    proposed: list[Plan] = []

    def refuse(plan: Plan) -> None:
        proposed.append(plan)

    house.frontend.edit = refuse
    found = left(house, replace(TURN, results={}, selections=()))
    turn = await house.assistant.resume(found, house.frontend)
    assert proposed == [CHAIN]
    assert ran(house) == []
    assert "PlanAccepted" not in names(house)
    assert turn.status is Status.CANCELLED
    assert turn.reply == "The plan was not accepted, so nothing was done."
    assert not house.journal.kept


async def test_with_everything_done_only_the_answer_is_missing(house: House) -> None:
    results = {number: replace(DONE, task_id=number) for number in range(3)}
    found = left(house, replace(TURN, heard_by="", results=results))
    turn = await house.assistant.resume(found, house.frontend)
    assert ran(house) == []
    assert turn.status is Status.DONE
    assert turn.reply


async def test_killed_once_more_it_has_what_both_runs_did(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "join":
            (_, entry) = house.journal.kept["t"]
            assert sorted(entry.turn.results) in ([0], [0, 2])
        return [text_artifact("made")]

    house.backend.does = does
    await house.assistant.resume(left(house), house.frontend)
    assert [line for line in house.journal.written if line.startswith("begin")] == []
    assert sorted(line for line in house.journal.written if "finished" in line) == [
        "finished t 1",
        "finished t 2",
    ]


async def test_what_acts_outside_and_may_have_been_done_is_asked_about(house: House) -> None:
    found = left(house, perhaps=frozenset({2}))
    house.frontend.consent = False
    turn = await house.assistant.resume(found, house.frontend)
    assert house.frontend.questions == [
        "Clock: this may have been done already when JARVIS was interrupted. Do it again?"
    ]
    assert ran(house) == ["join"]
    assert turn.results[2] == TaskResult(
        2, Status.FAILED, reason="It may have been done already, so it was not done again."
    )
    assert turn.status is Status.PARTLY
    assert "so it was not done again" in turn.reply


async def test_it_is_done_again_where_the_person_wants_that(house: House) -> None:
    found = left(house, perhaps=frozenset({2}))
    turn = await house.assistant.resume(found, house.frontend)
    assert sorted(ran(house)) == ["clock", "join"]
    assert turn.status is Status.DONE


async def test_what_is_not_done_again_is_not_in_a_new_plan_either(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "join":
            raise ExpertError("It broke.")
        return [text_artifact(f"{call.task} done")]

    house.backend.does = does
    house.frontend.consent = False
    found = left(house, perhaps=frozenset({2}))
    house.planner.other_plans = [Plan((*CHAIN.tasks[:1], CHAIN.tasks[2]))]
    turn = await house.assistant.resume(found, house.frontend)
    assert len(house.planner.failures) == 1
    assert ran(house) == ["join"]
    assert turn.results[2].status is Status.FAILED
    assert [line for line in house.journal.written if line.startswith("begin")] == ["begin t"]


async def test_a_plan_that_was_given_is_carried_out_as_it_is_this_time_too(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        raise ExpertError("It broke.")

    house.backend.does = does
    await house.assistant.resume(left(house, fixed=True), house.frontend)
    assert not house.planner.failures


async def test_the_answer_is_spoken_where_it_was_to_be(house: House) -> None:
    await house.assistant.resume(left(house), house.frontend)
    assert not house.voice.said
    await house.assistant.resume(left(house, speak=True), house.frontend)
    assert house.voice.said


async def test_speech_that_was_made_before_is_played(house: House) -> None:
    audio = write_wav(house.folder / "speech.wav")
    made = TaskResult(0, Status.DONE, (Artifact(Kind.AUDIO, path=audio),))
    plan = Plan((Task(0, SPEAK, {"text": "Hello."}),))
    turn = replace(TURN, plan=plan, results={0: made})
    await house.assistant.resume(left(house, turn), house.frontend)
    assert house.player.played == [audio]


async def test_a_resumed_turn_can_be_stopped_and_is_over_then(house: House) -> None:
    started = asyncio.Event()

    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        started.set()
        await asyncio.Event().wait()
        return ()

    house.backend.run = run  # type: ignore[method-assign]
    found = left(house)
    running = asyncio.create_task(house.assistant.resume(found, house.frontend))
    await started.wait()
    with pytest.raises(InputError, match="has been resumed elsewhere"):
        await house.assistant.resume(found, house.frontend)
    with pytest.raises(InputError, match="has been resumed elsewhere"):
        house.assistant.give_up(found)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (kept,) = house.history.kept["c"]
    assert kept.status is Status.CANCELLED
    assert kept.results[0] == DONE
    assert not house.journal.kept
    assert house.assistant.unfinished() == ()


async def test_one_that_is_over_is_not_gone_on_with(house: House) -> None:
    found = left(house)
    await house.assistant.resume(found, house.frontend)
    with pytest.raises(InputError, match="over already"):
        await house.assistant.resume(found, house.frontend)


async def test_what_was_done_meanwhile_elsewhere_is_not_done_again(house: House) -> None:
    found = left(house)
    other = FakeJournal(house.journal.kept)
    assert other.take_over("t")
    assert set(house.assistant.elsewhere()) == {"t"}
    other.finished("t", replace(DONE, task_id=1))
    other.close()
    await house.assistant.resume(found, house.frontend)
    assert ran(house) == ["clock"]


async def test_a_plan_of_another_version_can_only_be_given_up(house: House) -> None:
    found = left(house, replace(TURN, plan=None))
    with pytest.raises(InputError, match="another version") as caught:
        await house.assistant.resume(found, house.frontend)
    assert caught.value.hint
    turn = house.assistant.give_up(found)
    assert turn.reply == "This was interrupted and not resumed."
    assert (turn.status, dict(turn.results)) == (Status.PARTLY, {0: DONE})
    assert house.history.kept["c"] == [turn]
    assert not house.journal.kept


def test_one_that_is_given_up_is_kept_with_what_was_done(house: House) -> None:
    turn = house.assistant.give_up(left(house))
    assert turn.status is Status.PARTLY
    assert turn.finished == NOON
    assert turn.reply == "This was interrupted and not resumed.\n\nshort"
    assert turn.results[0] == DONE
    assert {turn.results[number].status for number in (1, 2)} == {Status.CANCELLED}
    assert house.history.kept["c"] == [turn]


def test_one_of_which_nothing_was_done_is_given_up_as_stopped(house: House) -> None:
    turn = house.assistant.give_up(left(house, replace(TURN, results={})))
    assert (turn.status, turn.reply) == (
        Status.CANCELLED,
        "This was interrupted and not resumed.",
    )


ASKED = Turn("t", NOON, text="why is the sky blue", heard_by="fake", notes=("A note.",))


async def test_a_request_is_in_the_journal_before_it_is_planned(house: House) -> None:
    seen: list[Unfinished] = []

    async def plan(*_: object) -> AnswerDirectly:
        seen.extend(entry for _, entry in house.journal.kept.values())
        return AnswerDirectly()

    house.planner.plan = plan  # type: ignore[assignment]
    given = house.folder / "a.txt"
    given.write_text("Hello.")
    await house.handle(Request(text="what is this", files=(given,), speak=True))
    (asked,) = seen
    assert (asked.unplanned, asked.speak, asked.turn.text) == (True, True, "what is this")
    assert [item.name for item in asked.turn.attachments] == ["a.txt"]
    assert asked.progress == "not answered yet"
    assert not house.journal.kept


async def test_a_request_that_was_not_planned_is_answered_from_the_beginning(house: House) -> None:
    house.planner.planned = AnswerDirectly()
    house.llms.llm = FakeLLM(("Yes.",))
    turn = await house.assistant.resume(left(house, ASKED, unplanned=True), house.frontend)
    assert turn.reply == "Yes."
    assert (turn.id, turn.started, turn.heard_by) == ("t", NOON, "fake")
    assert turn.notes == (
        "A note.",
        "It was interrupted before it was answered, so it starts again.",
    )
    assert turn.status is Status.DONE
    assert house.history.kept["c"] == [turn]
    assert not house.journal.kept


async def test_one_that_is_planned_after_all_is_resumed_with_its_plan(house: House) -> None:
    house.planner.planned = CHAIN
    entries: list[Unfinished] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        entries.append(next(iter(house.journal.kept.values()))[1])
        return [text_artifact("made")]

    house.backend.does = does
    await house.assistant.resume(left(house, ASKED, unplanned=True), house.frontend)
    assert (entries[-1].unplanned, entries[-1].turn.plan) == (False, CHAIN)


def test_one_that_was_not_planned_may_be_given_up(house: House) -> None:
    turn = house.assistant.give_up(left(house, ASKED, unplanned=True))
    assert (turn.status, turn.text) == (Status.CANCELLED, "why is the sky blue")
    assert turn.reply == "This was interrupted and not resumed."


async def test_a_request_that_cannot_be_written_down_is_answered(house: House) -> None:
    house.planner.planned = AnswerDirectly()
    house.llms.llm = FakeLLM(("Yes.",))
    house.journal.wrong = StorageError("The disk is full.")
    turn = await house.handle(Request(text="why"))
    assert turn.reply == "Yes."
    assert turn.notes == ("After a crash this could not go on where it stops: The disk is full.",)


@pytest.mark.parametrize(
    ("plan", "done", "words"),
    [
        (CHAIN, 1, "1 of 3 steps is done"),
        (ONE_TASK, 0, "0 of 1 step is done"),
        (None, 1, "1 step is done"),
        (None, 2, "2 steps are done"),
    ],
)
def test_how_far_it_was(plan: Plan | None, done: int, words: str) -> None:
    results = {number: replace(DONE, task_id=number) for number in range(done)}
    assert Unfinished("c", replace(TURN, plan=plan, results=results)).progress == words


def test_what_cannot_be_kept_is_not_lost_by_giving_it_up(house: House) -> None:
    house.history.error = StorageError("The disk is full.")
    found = left(house)
    with pytest.raises(StorageError):
        house.assistant.give_up(found)
    house.history.error = None
    assert house.assistant.give_up(found).status is Status.PARTLY


async def test_what_was_not_done_again_is_done_where_the_person_asks_for_it_meanwhile(
    house: House,
) -> None:
    gates = GatedBackend()
    house.assistant._dependencies.executor._dependencies.backends["builtin"] = gates  # type: ignore[index]
    house.frontend.consent = False
    running = asyncio.create_task(
        house.assistant.resume(left(house, perhaps=frozenset({2})), house.frontend)
    )
    await gates.until_started("short")
    assert await house.assistant.change(CHAIN, afresh=frozenset({2}))
    gates.open("clock", "short")
    turn = await running
    assert sorted(gates.started) == ["clock", "short"]
    assert turn.status is Status.DONE
