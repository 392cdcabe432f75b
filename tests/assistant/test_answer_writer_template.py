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
    assert words in answer_writer.text_below(made, "x and y")
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
        "It is noon.\n\nNot done: image to text. It broke.\n\n"
        "Left out, because it needed that: summarization."
    )
    assert answer_writer.turn_status(made) is Status.PARTLY


def test_half_a_chain_is_better_than_nothing() -> None:
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))
    made = turn(plan, done(0, text_artifact("The whole text.")), failed(1))
    assert (
        answer_writer.compose_answer(made)
        == "The whole text.\n\nNot done: summarization. It broke."
    )
    assert answer_writer.turn_status(made) is Status.PARTLY


def test_nothing_done() -> None:
    made = turn(Plan((Task(0, CLOCK),)), failed(0))
    assert answer_writer.compose_answer(made) == "Not done: clock. It broke."
    assert answer_writer.turn_status(made) is Status.FAILED


def test_a_turn_that_was_cut_off_has_fewer_results() -> None:
    made = turn(Plan((Task(0, CLOCK), Task(1, CLOCK))), done(0, text_artifact("noon")))
    assert answer_writer.compose_answer(made) == "noon"


def by(number: int, backend: str, *artifacts: Artifact, failed: str = "") -> TaskResult:
    candidate = Candidate(Expert(f"{backend}-one", "any"), backend)
    attempt = Attempt(candidate, 1.0, failed)
    status = Status.FAILED if failed else Status.DONE
    return TaskResult(number, status, artifacts, (attempt,), failed)


def asked(plan: Plan | None, *results: TaskResult) -> Turn:
    return replace(turn(plan, *results), text="do it")


NOON = text_artifact("It is noon.")
LONG = text_artifact("word " * 60)
TWO = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": "a"})))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (turn(TWO, done(0, NOON), done(1, NOON)), True),  # nothing was asked in words
        (asked(None), True),
        (asked(Plan(())), True),
        (asked(Plan((Task(0, CLOCK),)), by(0, "local", NOON)), True),
        (asked(Plan((Task(0, CLOCK),)), by(0, "local", failed="It broke.")), False),
        (asked(Plan((Task(0, BLUR, {"image": PICTURE}),)), by(0, "local", MADE)), False),
        (asked(Plan((Task(0, SPEAK, {"text": "a"}),)), by(0, "local", MADE)), True),
        (asked(TWO, by(0, "skill", NOON), by(1, "skill", NOON)), True),
        (asked(TWO, by(0, "skill", NOON), by(1, "local", NOON)), False),
        (asked(TWO, by(0, "skill", NOON), failed(1)), False),
        (
            asked(TWO, by(0, "skill", failed="No."), TaskResult(1, Status.SKIPPED, reason="…")),
            True,
        ),
    ],
)
def test_when_no_words_are_needed(made: Turn, expected: bool) -> None:
    assert answer_writer.needs_no_words(made) is expected


def test_below_an_answer_stands_what_it_kept_quiet_about() -> None:
    plan = Plan(
        (
            Task(0, READ, {"image": PICTURE}),
            Task(1, CLOCK),
            Task(2, READ, {"image": MADE}),
            Task(3, SHORTEN, {"text": Ref(2)}),
        )
    )
    skipped = TaskResult(3, Status.SKIPPED, reason="It needs …")
    made = asked(plan, by(0, "local", LONG), by(1, "local", NOON), failed(2), skipped)
    assert answer_writer.text_below(made, "It is noon now, and I read the scan.") == (
        f"Image to text: {LONG.text}\n\nNot done: image to text. It broke.\n\n"
        "Left out, because it needed that: summarization.\n\nDone by local-one."
    )


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Two  dogs, 98 %", "There are TWO dogs, 98 % sure.", ""),
        ("Two dogs, 98 %", "Two dogs, surely.", "Two dogs, 98 %"),
        ("dog 98 %, cat 3:15", "A dog at 3:15, 98 percent.", ""),
        ("a man on a horse", "Ein Reiter.", "a man on a horse"),
        ("word " * 60, "It says word.", "word " * 60),
        ("word " * 60, f"It says: {'word ' * 60}", ""),
    ],
)
def test_which_texts_are_told(text: str, words: str, expected: str) -> None:
    made = asked(Plan((Task(0, READ, {"image": PICTURE}),)), done(0, text_artifact(text)))
    assert answer_writer.text_below(made, words) == expected


def test_experts_are_named_once_and_what_came_along_is_not() -> None:
    builtin = Candidate(Expert("builtin/clock", "clock"), "builtin")
    own = TaskResult(1, Status.DONE, (MADE,), (Attempt(builtin, 1.0),))
    made = asked(TWO, by(0, "local", MADE), own)
    assert answer_writer.text_below(made, "Here it is.") == "Done by local-one."
    assert answer_writer.text_below(made, "LOCAL-ONE made it.") == ""


def test_speech_is_not_repeated_below() -> None:
    made = asked(
        Plan((Task(0, SPEAK, {"text": "a"}), Task(1, CLOCK))), done(0, MADE), done(1, NOON)
    )
    assert answer_writer.text_below(made, "It is noon.") == ""
