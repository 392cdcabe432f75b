"""A text that is the whole answer is said while it is written; what does not count is said so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_desktop.assistant.live_turn import JournalWriter, LiveTurn, answering_task
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.task import Call, Ref, Report, Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, House
from tests.fake_journal import FakeJournal
from tests.fake_voice import write_wav
from tests.fakes import FakeFrontend
from tests.types import BLUR, CLOCK, JOIN, SHORTEN, SPEAK

WRITE = Task(0, SHORTEN, {"text": "a"})
PLAN = Plan((WRITE,))
FIRST, SECOND = (Candidate(Expert(f"e/{name}", "summarization"), "builtin") for name in "ab")
PICTURE = Artifact(Kind.IMAGE, path=Path("a.png"))
VAGUE = ExpertError("e/a was vague.", retryable=False)


def writing(house: House, *attempts: Sequence[str | ExpertError]) -> None:
    """The experts write these pieces, attempt by attempt; an error breaks it off."""
    left = list(attempts)

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "clock":
            return [text_artifact(hour) for hour in ("one", "two", "three")]
        if call.task == "text-to-speech":
            return [Artifact(Kind.AUDIO, path=write_wav(call.workdir / "speech.wav"))]
        whole = ""
        for piece in left.pop(0):
            if isinstance(piece, ExpertError):
                raise piece
            whole += piece
            current_draft.get()(piece)
        return [text_artifact(whole)]

    house.backend.does = does
    house.catalogue.listed["summarization"] = (FIRST, SECOND)
    house.planner.planned = PLAN


def chunks(house: House) -> list[str]:
    return [item.text for item in house.frontend.events if isinstance(item, events.ReplyChunk)]


async def test_the_pieces_of_the_only_text_are_the_answer(house: House) -> None:
    writing(house, ("Two ", "words."))
    turn = await house.handle(Request(text="shorten it"))
    assert (turn.reply, turn.status) == ("Two words.", Status.DONE)
    assert chunks(house) == ["Two ", "words."]
    assert [item for item in house.frontend.events if isinstance(item, events.TaskChunk)] == [
        events.TaskChunk(0, "Two "),
        events.TaskChunk(0, "words."),
    ]
    assert turn.drafts == {}


@dataclass
class Pausing:
    """Writes a text, with a pause before its last piece."""

    pieces: Sequence[str]
    pause: Callable[[], Awaitable[object]]
    name: str = "builtin"
    lane: str = "instant"

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        for piece in self.pieces:
            if piece is self.pieces[-1]:
                await self.pause()
            current_draft.get()(piece)
        return [text_artifact("".join(self.pieces))]


def pausing(house: House, pieces: Sequence[str], pause: Callable[[], Awaitable[object]]) -> None:
    writing(house)
    backends = house.assistant._dependencies.executor._dependencies.backends
    backends["builtin"] = Pausing(pieces, pause)  # type: ignore[index]


async def test_the_first_sentence_is_spoken_while_the_second_is_written(house: House) -> None:
    async def until_it_is_spoken() -> None:
        while not house.player.played:
            await asyncio.sleep(0)
        assert house.voice.said == ["One sentence."]

    pausing(house, ("One sentence. ", "Ano", "ther."), until_it_is_spoken)
    turn = await house.handle(Request(text="shorten it", speak=True))
    assert turn.reply == "One sentence. Another."
    assert house.voice.said == ["One sentence.", "Another."]


async def test_after_a_failed_attempt_the_next_text_begins_with_the_reason(house: House) -> None:
    writing(house, ("Hal", VAGUE), ("Two words.",))
    turn = await house.handle(Request(text="shorten it"))
    assert turn.reply == (
        "Hal\n\nThe text above does not count: e/a was vague.\n\nTwo words."
        "\n\ne/b was used, because e/a failed: e/a was vague."
    )


async def test_an_attempt_that_failed_without_a_word_leaves_none(house: House) -> None:
    writing(house, (VAGUE,), ("Two words.",))
    turn = await house.handle(Request(text="shorten it"))
    assert turn.reply == "Two words.\n\ne/b was used, because e/a failed: e/a was vague."


async def test_words_of_a_task_that_fails_are_followed_by_why(house: House) -> None:
    writing(house, ("Hal", VAGUE), (VAGUE,))
    turn = await house.handle(Request(text="shorten it"))
    assert turn.reply == "Hal\n\nNot done: Summarization. e/a was vague."
    assert turn.status is Status.FAILED


async def test_a_new_plan_begins_with_the_reason_too(house: House) -> None:
    writing(house, ("Hal", VAGUE), (VAGUE,), ("Two words.",))
    house.planner.other_plans = [Plan((Task(0, SHORTEN, {"text": "b"}),))]
    turn = await house.handle(Request(text="shorten it"))
    assert turn.reply == "Hal\n\nThe text above does not count: e/a was vague.\n\nTwo words."


async def test_a_speech_that_was_asked_for_is_played_and_its_words_are_only_shown(
    house: House,
) -> None:
    writing(house, ("Two ", "words."))
    house.planner.planned = Plan((WRITE, Task(1, SPEAK, {"text": Ref(0)})))
    turn = await house.handle(Request(text="shorten it and read it to me", speak=True))
    assert (turn.reply, chunks(house)) == ("Two words.", ["Two ", "words."])
    assert house.voice.said == []
    assert len(house.player.played) == 1


async def test_of_several_results_none_is_said_before_all_are_there(house: House) -> None:
    writing(house, ("Two words.",), ("Three more words.",))
    house.planner.planned = Plan((WRITE, Task(1, SHORTEN, {"text": "b"})))
    turn = await house.handle(Request(text="shorten both"))
    assert turn.reply == "Summarization: Two words.\n\nSummarization: Three more words."
    assert chunks(house) == [turn.reply]


async def test_the_texts_of_a_list_follow_each_other(house: House) -> None:
    """One call per item, the second fails once: the first text is kept and shown again."""
    writing(house, ("One.",), ("Tw", VAGUE), ("Two.",), ("Three.",))
    house.planner.planned = Plan((Task(1, CLOCK), Task(0, SHORTEN, {"text": Ref(1)})))
    turn = await house.handle(Request(text="shorten them"))
    assert turn.reply.startswith(
        "One.\nTw\n\nThe text above does not count: e/a was vague.\n\nOne.\nTwo.\nThree.\n\n"
    )
    assert [item.text for item in turn.artifacts] == ["One.", "Two.", "Three."]


async def test_stopping_keeps_what_was_said(house: House) -> None:
    begun = asyncio.Event()

    async def for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    pausing(house, ("Half a ", "sentence."), for_ever)
    running = asyncio.create_task(house.handle(Request(text="shorten it")))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.history.kept["c"][0].reply == "Half a \n\nStopped."


def live(plan: Plan = PLAN, **more: bool) -> LiveTurn:
    turn = Turn("t", NOON, "shorten it", plan=plan, **more)  # type: ignore[arg-type]
    return LiveTurn(
        turn,
        FakeFrontend(),
        journal_writer=JournalWriter(FakeJournal(), Unfinished("c", turn), acting=()),
    )


def done(text: str, task_id: int = 0) -> events.TaskFinished:
    return events.TaskFinished(TaskResult(task_id, Status.DONE, (text_artifact(text),)))


def shown(told: Sequence[events.Event], final: str = "", plan: Plan = PLAN) -> str:
    """The answer after these events and the final words."""
    turn = live(plan)
    for event in (events.TaskStarted(0, FIRST), *told):
        turn.show(event)
    turn.complete(final)
    return turn.turn.reply


HALF = events.TaskChunk(0, "Hal")


@pytest.mark.parametrize(
    ("told", "final", "reply"),
    [
        ((done("Two words."),), "Two words.", "Two words."),
        ((HALF, done("Half of it.")), "Half of it.", "Half of it."),
        ((events.TaskChunk(0, "```py\n1\n```"), done("1")), "1", "```py\n1\n```"),
        (
            (HALF, done("Other.")),
            "Other.",
            "Hal\n\nThe text above does not count: It was changed after it was written.\n\nOther.",
        ),
        ((HALF, done("Hal")), "Here it is.", "Hal\n\nHere it is."),
        (
            (HALF, events.TaskStarted(0, SECOND), events.TaskChunk(0, "Two."), done("Two.")),
            "Two.",
            "Hal\n\nThe text above does not count: Another expert continues.\n\nTwo.",
        ),
        (
            (HALF, events.AttemptFailed(0, Attempt(FIRST, 1.0, "It broke.")), done("Two.")),
            "Two.",
            "Hal\n\nThe text above does not count: It broke.\n\nTwo.",
        ),
    ],
)
def test_what_was_said_and_the_final_text(
    told: Sequence[events.Event], final: str, reply: str
) -> None:
    async def see() -> None:
        assert shown(told, final) == reply

    asyncio.run(see())


LONGER = Plan((WRITE, Task(1, CLOCK)))
OTHER = Plan((Task(0, SHORTEN, {"text": "b"}),))


@pytest.mark.parametrize(
    ("before", "changed", "reply"),
    [
        ((HALF,), OTHER, "Hal\n\nThe text above does not count: The plan was changed.\n\nAll."),
        ((HALF,), LONGER, "Hal\n\nThe text above does not count: The plan was changed.\n\nAll."),
        (
            (HALF, done("Hal")),
            LONGER,
            "Hal\n\nThe text above does not count: The plan was changed.\n\nAll.",
        ),
        ((HALF,), PLAN, "Hal\n\nAll."),
        ((), OTHER, "All."),
    ],
)
async def test_a_plan_that_the_user_changes(
    before: Sequence[events.Event], changed: Plan, reply: str
) -> None:
    end = (done("Hal"),) if changed is PLAN else ()
    assert shown((*before, events.PlanChanged(changed), *end), "All.") == reply


async def test_the_final_words_may_come_in_pieces_and_hold_the_text() -> None:
    turn = live()
    for event in (events.TaskStarted(0, FIRST), HALF, done("Hal")):
        turn.show(event)
    for piece in ("\n\nHere ", "it is.", "\n\nWell."):
        turn.complete(piece)
    assert turn.turn.reply == "Hal\n\nHere it is.\n\nWell."


async def test_words_about_a_failure_begin_with_the_reason() -> None:
    turn = live()
    lost = TaskResult(0, Status.FAILED, reason="It broke.")
    failed = events.AttemptFailed(0, Attempt(FIRST, 1.0, "It broke."))
    for event in (events.TaskStarted(0, FIRST), HALF, failed, events.TaskFinished(lost)):
        turn.show(event)
    for piece in ("It did ", "not work.", "\n\nNot done. It broke."):
        turn.complete(piece)
    assert turn.turn.reply == (
        "Hal\n\nThe text above does not count: It broke.\n\nIt did not work.\n\nNot done. It broke."
    )


async def test_what_is_added_to_the_text_is_a_paragraph() -> None:
    turn = live()
    for event in (events.TaskStarted(0, FIRST), HALF, done("Hal")):
        turn.show(event)
    for piece in ("Hal", "\n\nBoth are short."):
        turn.complete(piece)
    assert turn.turn.reply == "Hal\n\nBoth are short."


async def test_agent_mode_answers_in_its_own_words() -> None:
    turn = live(agentic=True)
    turn.show(events.TaskStarted(0, FIRST))
    turn.show(HALF)
    assert turn.turn.reply == ""
    assert turn.turn.drafts == {0: "Hal"}


@pytest.mark.parametrize(
    ("plan", "task_id"),
    [
        (PLAN, 0),
        (Plan((Task(3, CLOCK), Task(4, SHORTEN, {"text": Ref(3)}))), 4),
        (Plan((Task(0, BLUR, {"image": PICTURE}),)), None),
        (Plan((WRITE, Task(1, SPEAK, {"text": Ref(0)}))), 0),
        (Plan((Task(0, SPEAK, {"text": "Hello."}),)), None),
        (Plan((WRITE, Task(1, JOIN, {"texts": Ref(0)}), Task(2, CLOCK))), None),
        (Plan(()), None),
    ],
)
def test_whose_text_is_the_answer(plan: Plan, task_id: int | None) -> None:
    assert answering_task(plan) == task_id
