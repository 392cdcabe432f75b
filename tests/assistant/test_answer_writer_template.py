"""The answer that is written without an LLM."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.plan import Plan
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
    assert answer_writer.compose_answer(turn(None)) == ""
    assert answer_writer.turn_status(turn(None, failed(0))) is Status.FAILED


def test_one_text_is_the_answer() -> None:
    made = turn(Plan((Task(0, CLOCK),)), done(0, text_artifact("It is noon.")))
    assert answer_writer.compose_answer(made) == "It is noon."
    assert answer_writer.turn_status(made) is Status.DONE


def test_files_are_named() -> None:
    plan = Plan((Task(0, BLUR, {"image": PICTURE}),))
    assert (
        answer_writer.compose_answer(turn(plan, done(0, MADE)))
        == "Here is the picture scan-blur.png."
    )
    two = turn(plan, done(0, MADE, Artifact(Kind.TABLE, path=Path("t.csv"))))
    assert (
        answer_writer.compose_answer(two)
        == "Here is the picture scan-blur.png and the table t.csv."
    )


def test_words_beside_a_picture_are_enough() -> None:
    plan = Plan((Task(0, FIND, {"image": PICTURE}),))
    assert (
        answer_writer.compose_answer(turn(plan, done(0, text_artifact("Two faces."), MADE)))
        == "Two faces."
    )


def test_several_answers_have_labels() -> None:
    plan = Plan(
        (
            Task(0, READ, {"image": PICTURE}),
            Task(1, READ, {"image": MADE}),
            Task(2, SHORTEN, {"text": "words"}),
        )
    )
    made = turn(plan, *(done(n, text_artifact(str(n))) for n in range(3)))
    assert answer_writer.compose_answer(made) == (
        "Image to text (scan.png): 0\n\nImage to text (scan-blur.png): 1\n\nSummarization: 2"
    )


def test_twins_without_files_keep_the_plain_label() -> None:
    plan = Plan((Task(0, SHORTEN, {"text": "a"}), Task(1, SHORTEN, {"text": "b"})))
    made = turn(plan, done(0, text_artifact("x")), done(1, text_artifact("y")))
    assert answer_writer.compose_answer(made) == "Summarization: x\n\nSummarization: y"


def test_it_is_told_who_stood_in_for_an_expert_that_failed() -> None:
    plan = Plan((Task(0, SHORTEN, {"text": "a"}), Task(1, READ, {"image": PICTURE})))
    first, second, third = (Candidate(Expert(name, "any"), "local") for name in ("a", "b", "c"))
    method = Candidate(Expert("builtin/summarization", "any"), "builtin")
    stood_in = (Attempt(first, 1.0, "No."), Attempt(second, 1.0, "Never."), Attempt(method, 1.0))
    again = (Attempt(method, 1.0, "Hm."), Attempt(third, 1.0, "Busy."), Attempt(third, 1.0))
    made = turn(
        plan,
        replace(done(0, text_artifact("x")), attempts=stood_in),
        replace(done(1, text_artifact("y")), attempts=again),
    )
    words = "The built-in way was used, because a and b failed: Never."
    assert answer_writer.compose_answer(made).endswith(f"y\n\n{words}")
    other = replace(done(0), attempts=(Attempt(first, 1.0, "No."), Attempt(second, 1.0)))
    assert answer_writer.compose_answer(turn(plan, other)).endswith(
        "b was used, because a failed: No."
    )


def test_speech_is_shown_as_what_it_says() -> None:
    speech = Artifact(Kind.AUDIO, path=Path("s.wav"))
    plan = Plan((Task(0, CLOCK), Task(1, SPEAK, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("It is noon.")), done(1, speech))
    assert answer_writer.compose_answer(made) == "It is noon."
    assert answer_writer.spoken_text(made, Task(1, SPEAK, {"text": "typed"})) == "typed"
    assert (
        answer_writer.spoken_text(made, Task(1, SPEAK, {"text": text_artifact("kept")})) == "kept"
    )
    assert (
        answer_writer.spoken_text(
            made, Task(1, SPEAK, {"text": Artifact(Kind.TEXT, path=Path("a"))})
        )
        == ""
    )


def test_failures_and_what_they_kept_from_running() -> None:
    plan = Plan(
        (Task(0, CLOCK), Task(1, READ, {"image": PICTURE}), Task(2, SHORTEN, {"text": Ref(1)}))
    )
    skipped = TaskResult(2, Status.SKIPPED, reason="It needs …")
    made = turn(plan, done(0, text_artifact("It is noon.")), failed(1), skipped)
    assert answer_writer.compose_answer(made) == (
        "It is noon.\n\nNot done: Image to text. It broke.\n\n"
        "Left out, because it needed that: Summarization."
    )
    assert answer_writer.turn_status(made) is Status.PARTLY


def test_half_a_chain_is_better_than_nothing() -> None:
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("The whole text.")), failed(1))
    assert (
        answer_writer.compose_answer(made)
        == "The whole text.\n\nNot done: Summarization. It broke."
    )
    assert answer_writer.turn_status(made) is Status.PARTLY


def test_a_long_text_does_not_hide_why_there_is_no_answer() -> None:
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("word " * 1000)), failed(1))
    failure, text = answer_writer.compose_answer(made).split("\n\n")
    assert failure == "Not done: Summarization. It broke."
    assert len(text) == answer_writer.MAX_MATERIAL_CHARS + 1
    assert text.endswith("…")


def test_nothing_done() -> None:
    made = turn(Plan((Task(0, CLOCK),)), failed(0))
    assert answer_writer.compose_answer(made) == "Not done: Clock. It broke."
    assert answer_writer.turn_status(made) is Status.FAILED


def test_a_turn_that_was_cut_off_has_fewer_results() -> None:
    made = turn(Plan((Task(0, CLOCK), Task(1, CLOCK))), done(0, text_artifact("noon")))
    assert answer_writer.compose_answer(made) == "noon"


NOON, SIGN = text_artifact("It is noon."), text_artifact("No entry.")
TWO_SIGNS = Plan((Task(0, READ, {"image": PICTURE}), Task(1, READ, {"image": MADE})))


@pytest.mark.parametrize(
    ("made", "text", "expected"),
    [
        (turn(TWO_SIGNS, done(0, SIGN), done(1, NOON)), "Which one is older?", True),
        (turn(TWO_SIGNS, done(0, SIGN), done(1, NOON)), "哪一个更旧？", True),
        (turn(TWO_SIGNS, done(0, SIGN), done(1, NOON)), "Read both.", False),
        (turn(TWO_SIGNS, done(0, SIGN), failed(1)), "Which one is older?", False),
        (turn(Plan((Task(0, READ, {"image": PICTURE}),)), done(0, SIGN)), "What is it?", False),
        (
            turn(
                Plan((Task(0, READ, {"image": PICTURE}), Task(1, CLOCK))),
                done(0, SIGN),
                done(1, NOON),
            ),
            "What does it say, and what time is it?",
            False,
        ),
        (turn(None), "What is it?", False),
    ],
)
def test_when_words_about_results_are_asked_for(made: Turn, text: str, expected: bool) -> None:
    assert answer_writer.asks_for_words(replace(made, text=text)) is expected


def test_what_an_llm_is_told_of_results() -> None:
    attempts = (Attempt(Candidate(Expert("sam", "any"), "local"), 1.0),)
    made = turn(
        TWO_SIGNS, replace(done(0, MADE), attempts=attempts), failed(1, "Too dark to read.")
    )
    told, left_out = answer_writer.format_results(made, budget=500)
    assert told.startswith("image to text: done\ngiven: scan.png\nexpert: ")
    assert "files: scan-blur.png" in told
    assert told.endswith("why: Too dark to read.")
    assert left_out == ""
