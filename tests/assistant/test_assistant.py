"""The front door: every turn ends in an answer or a stated reason, and is kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.request_reader import MAX_REQUEST_CHARS
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import PlanRejected
from jarvis_desktop.core.task import Call, Ref, Task
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import ONE_TASK, House, answering, names
from tests.fake_voice import write_wav
from tests.types import BLUR, CLOCK, READ, SHORTEN, SPEAK


async def test_a_typed_request_from_beginning_to_end(house: House) -> None:
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(text=" what time is it "))
    assert names(house) == [
        "TurnStarted",
        "PlanProposed",
        "PlanAccepted",
        "ExpertsSelected",
        "TaskStarted",
        "TaskFinished",
        "ReplyChunk",
        "Kept",
        "TurnFinished",
    ]
    assert (turn.text, turn.reply, turn.status) == ("what time is it", "It is noon.", Status.DONE)
    assert house.history.kept["c"] == [turn]
    assert house.planner.asked[0][0] == "what time is it"


async def test_a_recording_is_heard_first(house: House, tmp_path: Path) -> None:
    house.recogniser.note = "A small recogniser was used."
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(audio=write_wav(tmp_path / "a.wav")))
    assert names(house)[1:3] == ["Transcribed", "Noted"]
    assert (turn.text, turn.heard_by) == ("what time is it", "fake")
    assert turn.notes == ("A small recogniser was used.",)


async def test_the_only_recording_among_the_files_is_the_request(
    house: House, tmp_path: Path
) -> None:
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    picture = house.file("scan.png")
    turn = await house.handle(Request(files=(write_wav(tmp_path / "question.wav"), picture)))
    assert turn.text == "what time is it"
    assert [item.name for item in turn.attachments] == ["scan.png"]


async def test_no_words_and_no_recording_is_left_to_the_planner(house: House) -> None:
    house.planner.planned = PlanRejected("There was nothing in that request.")
    turn = await house.handle(Request(files=(house.file("scan.png"),)))
    assert turn.reply == "There was nothing in that request."
    assert turn.status is Status.FAILED


async def test_what_cannot_be_heard_is_said(house: House, tmp_path: Path) -> None:
    house.recogniser.error = UnavailableError("No recogniser is here.", hint="Install one.")
    turn = await house.handle(Request(audio=write_wav(tmp_path / "a.wav")))
    assert turn.reply == "No recogniser is here. Install one."
    assert turn.status is Status.FAILED
    assert house.history.kept["c"] == [turn]


async def test_a_recording_that_says_nothing_is_named_as_the_person_does(
    house: House, tmp_path: Path
) -> None:
    plain = house.store.take_in

    def hashed(path: Path) -> Artifact:
        kept = plain(path)
        assert kept.path is not None
        return Artifact(
            kept.kind, path=kept.path.rename(kept.path.with_name("ab12.wav")), name=path.name
        )

    house.store.take_in = hashed  # type: ignore[method-assign]
    house.recogniser.error = InputError("There is no sound in ab12.wav.", hint="Speak up.")
    turn = await house.handle(Request(files=(write_wav(tmp_path / "question.wav"),)))
    assert turn.reply == "There is no sound in question.wav. Speak up."


async def test_named_files_are_found_and_attached(house: House) -> None:
    house.file("work/a.txt")
    house.file("usual/b.txt")
    house.file("given.txt")
    request = Request(
        text="compare a.txt, b.txt, given.txt and none.txt, save it as a.txt",
        files=(Path("given.txt"),),
        folder=house.folder / "work",
    )
    house.file("work/given.txt")
    await house.handle(request)
    context = house.planner.asked[0][1]
    assert [item.name for item in context.attachments] == ["given.txt", "a.txt", "b.txt"]
    assert context.folder == house.folder / "work"
    assert names(house)[1:3] == ["Attached", "Attached"]


async def test_an_absolute_path_is_taken(house: House) -> None:
    path = house.file("deep/er/x.txt")
    await house.handle(Request(text=f"read {path}"))
    assert [item.name for item in house.planner.asked[0][1].attachments] == ["x.txt"]


async def test_every_file_that_cannot_be_used_is_named(house: House) -> None:
    missing = (house.folder / "one.png", house.folder / "two.png")
    turn = await house.handle(Request(text="read", files=missing[:1]))
    assert turn.reply == "There is no file one.png with something in it."
    turn = await house.handle(Request(text="read", files=missing))
    assert "one.png" in turn.reply
    assert "two.png" in turn.reply
    assert not house.planner.asked


async def test_a_far_too_long_request_is_refused(house: House) -> None:
    turn = await house.handle(Request(text="x" * (MAX_REQUEST_CHARS + 1)))
    assert turn.reply.startswith("The text is 200,001 characters long")


async def test_the_person_may_change_the_plan_or_refuse_it(house: House) -> None:
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, CLOCK)))
    house.backend.does = answering()  # type: ignore[assignment]
    house.frontend.edit = lambda plan: plan.without(1)
    turn = await house.handle(Request(text="a"))
    assert turn.plan == ONE_TASK
    house.frontend.edit = lambda plan: None
    turn = await house.handle(Request(text="a"))
    assert turn.status is Status.CANCELLED
    assert turn.reply == "The plan was not accepted, so nothing was done."


async def test_a_given_plan_runs_without_planning(house: House) -> None:
    house.file("in.png")
    picture = Artifact(Kind.IMAGE, path=Path("in.png"))
    plan = Plan((Task(0, READ, {"image": picture}), Task(1, SHORTEN, {"text": Ref(0)})))
    house.backend.does = lambda candidate, call: [text_artifact(call.task)]
    turn = await house.assistant.handle(
        Request(folder=house.folder), house.frontend, conversation="c", plan=plan
    )
    assert turn.status is Status.DONE
    assert not house.planner.asked
    taken = house.backend.calls[0].file("image")
    assert taken.is_relative_to(house.store.root)


async def test_a_given_plan_keeps_its_lists(house: House) -> None:
    from tests.types import JOIN

    plan = Plan((Task(0, JOIN, {"texts": ("a", "b")}),))
    house.backend.does = lambda candidate, call: [text_artifact("".join(call.texts("texts")))]
    turn = await house.assistant.handle(Request(), house.frontend, plan=plan)
    assert turn.reply == "ab"


async def test_a_failure_is_part_of_the_answer(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "summarization":
            raise ExpertError("It broke.")
        return [text_artifact("It is noon.")]

    house.backend.does = does
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": "a"})))
    turn = await house.handle(Request(text="a"))
    assert turn.status is Status.PARTLY
    assert turn.reply == "It is noon.\n\nNot done: Summarization. It broke."


async def test_the_answer_is_spoken_when_asked_for(house: House) -> None:
    house.planner.planned = ONE_TASK
    house.backend.does = answering("First one. Second one.")  # type: ignore[assignment]
    turn = await house.handle(Request(text="a", speak=True))
    assert house.voice.said == ["First one.", "Second one."]
    assert len(house.player.played) == 2
    spoken = [item.text for item in house.frontend.events if isinstance(item, events.Speaking)]
    assert spoken == ["First one.", "Second one."]
    assert turn.speaking == ""
    assert names(house)[-1] == "TurnFinished"


async def test_speech_that_was_asked_for_is_played_once(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        audio = write_wav(call.workdir / "speech.wav")
        return [Artifact(Kind.AUDIO, path=audio)]

    house.backend.does = does
    house.planner.planned = Plan((Task(0, SPEAK, {"text": "Hello."}), Task(1, CLOCK)))
    turn = await house.handle(Request(text="say hello", speak=True))
    assert turn.reply.startswith("Text to speech: Hello.")
    assert house.player.played[0].name == "speech.wav"
    assert not house.voice.said


async def test_a_silent_computer_still_answers(house: House) -> None:
    house.player.error = UnavailableError("There is no sound device.")
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(text="a", speak=True))
    assert turn.status is Status.DONE
    assert turn.notes == ("The answer could not be spoken: There is no sound device.",)


async def test_a_history_that_fails_does_not_take_the_answer(house: House) -> None:
    house.history.error = StorageError("The disk is full.")
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(text="a"))
    assert turn.reply == "It is noon."
    assert turn.notes == ("This turn could not be saved in the history: The disk is full.",)


async def test_a_bug_ends_in_words_and_in_the_log(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.planner.planned = KeyError("ours")
    turn = await house.handle(Request(text="a"))
    assert turn.status is Status.FAILED
    assert turn.reply.startswith("Something went wrong inside JARVIS itself.")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    caplog.clear()


async def until_played(house: House) -> None:
    while not house.player.played:
        await asyncio.sleep(0)


async def test_stopping_silences_and_keeps_the_turn(house: House) -> None:
    house.player.hold = True
    house.planner.planned = ONE_TASK
    house.backend.does = answering("One. Two. Three.")  # type: ignore[assignment]
    running = asyncio.create_task(house.handle(Request(text="a", speak=True)))
    await until_played(house)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.player.stopped == 1
    kept = house.history.kept["c"][0]
    assert (kept.reply, kept.status) == ("One. Two. Three.", Status.DONE)
    ended = house.frontend.events[-1]
    assert isinstance(ended, events.TurnFinished)
    assert ended.status is Status.DONE


async def test_stopping_before_the_answer_says_stopped(house: House) -> None:
    started = asyncio.Event()

    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        started.set()
        await asyncio.Event().wait()
        return ()

    house.backend.run = run  # type: ignore[method-assign]
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": Ref(0)})))
    running = asyncio.create_task(house.handle(Request(text="a")))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    kept = house.history.kept["c"][0]
    assert (kept.reply, kept.status) == ("Stopped.", Status.CANCELLED)
    assert {item.status for item in kept.results.values()} == {Status.CANCELLED}


async def test_one_turn_may_stop_the_others_but_not_itself(house: House) -> None:
    house.player.hold = True
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    talking = asyncio.create_task(house.handle(Request(text="a", speak=True)))
    await until_played(house)
    stopped: list[int] = []

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        stopped.append(house.assistant.stop_others())
        return [text_artifact("Stopped one.")]

    house.backend.does = does
    turn = await house.handle(Request(text="stop"))
    assert stopped == [1]  # it was silent already, as with any new request
    assert turn.status is Status.DONE
    assert (await talking).status is Status.DONE
    assert house.assistant.stop_others() == 0


async def test_edited_pictures_are_named_in_the_answer(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        made = call.workdir / "out.png"
        made.write_text("picture")
        return [Artifact(Kind.IMAGE, path=made, name=f"{call.title('image')}-blur.png")]

    house.backend.does = does
    pictures = [Artifact(Kind.IMAGE, path=Path("x"), name=name) for name in ("a.png", "b.png")]
    house.planner.planned = Plan(
        tuple(Task(n, BLUR, {"image": item}) for n, item in enumerate(pictures))
    )
    turn = await house.handle(Request(text="blur both"))
    assert turn.reply == (
        "Image editing (a.png): Here is the picture a.png-blur.png.\n\n"
        "Image editing (b.png): Here is the picture b.png-blur.png."
    )
