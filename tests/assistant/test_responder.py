"""The answer that is written without an LLM."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jarvis_desktop.assistant import responder
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from tests.types import BLUR, CLOCK, FIND, READ, SHORTEN, SPEAK

PICTURE = Artifact(Kind.IMAGE, path=Path("x/ab.png"), name="scan.png")
MADE = Artifact(Kind.IMAGE, path=Path("x/cd.png"), name="scan-blur.png")


def turn(plan: Plan | None, *results: TaskResult) -> Turn:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Turn("t", moment, plan=plan, results={item.task_id: item for item in results})


def done(number: int, *artifacts: Artifact) -> TaskResult:
    return TaskResult(number, Status.DONE, artifacts)


def failed(number: int, reason: str = "It broke.") -> TaskResult:
    return TaskResult(number, Status.FAILED, reason=reason)


def test_no_plan_no_answer() -> None:
    assert responder.compose(turn(None)) == ""
    assert responder.outcome(turn(None, failed(0))) is Status.FAILED


def test_one_text_is_the_answer() -> None:
    made = turn(Plan((Task(0, CLOCK),)), done(0, text_artifact("It is noon.")))
    assert responder.compose(made) == "It is noon."
    assert responder.outcome(made) is Status.DONE


def test_files_are_named() -> None:
    plan = Plan((Task(0, BLUR, {"image": PICTURE}),))
    assert responder.compose(turn(plan, done(0, MADE))) == "Here is the picture scan-blur.png."
    two = turn(plan, done(0, MADE, Artifact(Kind.TABLE, path=Path("t.csv"))))
    assert responder.compose(two) == "Here is the picture scan-blur.png and the table t.csv."


def test_words_beside_a_picture_are_enough() -> None:
    plan = Plan((Task(0, FIND, {"image": PICTURE}),))
    assert responder.compose(turn(plan, done(0, text_artifact("Two faces."), MADE))) == "Two faces."


def test_several_answers_have_labels() -> None:
    plan = Plan(
        (
            Task(0, READ, {"image": PICTURE}),
            Task(1, READ, {"image": MADE}),
            Task(2, SHORTEN, {"text": "words"}),
        )
    )
    made = turn(plan, *(done(n, text_artifact(str(n))) for n in range(3)))
    assert responder.compose(made) == (
        "Image to text (scan.png): 0\n\nImage to text (scan-blur.png): 1\n\nSummarization: 2"
    )


def test_twins_without_files_keep_the_plain_label() -> None:
    plan = Plan((Task(0, SHORTEN, {"text": "a"}), Task(1, SHORTEN, {"text": "b"})))
    made = turn(plan, done(0, text_artifact("x")), done(1, text_artifact("y")))
    assert responder.compose(made) == "Summarization: x\n\nSummarization: y"


def test_speech_is_shown_as_what_it_says() -> None:
    speech = Artifact(Kind.AUDIO, path=Path("s.wav"))
    plan = Plan((Task(0, CLOCK), Task(1, SPEAK, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("It is noon.")), done(1, speech))
    assert responder.compose(made) == "It is noon."
    assert responder.said(made, Task(1, SPEAK, {"text": "typed"})) == "typed"
    assert responder.said(made, Task(1, SPEAK, {"text": text_artifact("kept")})) == "kept"
    assert responder.said(made, Task(1, SPEAK, {"text": Artifact(Kind.TEXT, path=Path("a"))})) == ""


def test_failures_and_what_they_kept_from_running() -> None:
    plan = Plan(
        (Task(0, CLOCK), Task(1, READ, {"image": PICTURE}), Task(2, SHORTEN, {"text": Ref(1)}))
    )
    skipped = TaskResult(2, Status.SKIPPED, reason="It needs …")
    made = turn(plan, done(0, text_artifact("It is noon.")), failed(1), skipped)
    assert responder.compose(made) == (
        "It is noon.\n\nNot done: image to text. It broke.\n\n"
        "Left out, because it needed that: summarization."
    )
    assert responder.outcome(made) is Status.PARTLY


def test_half_a_chain_is_better_than_nothing() -> None:
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("The whole text.")), failed(1))
    assert responder.compose(made) == "The whole text.\n\nNot done: summarization. It broke."
    assert responder.outcome(made) is Status.PARTLY


def test_nothing_done() -> None:
    made = turn(Plan((Task(0, CLOCK),)), failed(0))
    assert responder.compose(made) == "Not done: clock. It broke."
    assert responder.outcome(made) is Status.FAILED


def test_a_turn_that_was_cut_off_has_fewer_results() -> None:
    made = turn(Plan((Task(0, CLOCK), Task(1, CLOCK))), done(0, text_artifact("noon")))
    assert responder.compose(made) == "noon"
