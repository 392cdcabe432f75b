"""What an LLM is told of the results: all that ended, marked off, within its budget."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from jarvis_desktop.assistant.answer_writer import format_results
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.llm import estimated_tokens
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from tests.types import BLUR, CLOCK, READ, SHORTEN

PICTURE = Artifact(Kind.IMAGE, path=Path("x/ab.png"), name="scan.png")
EXPERT = Candidate(Expert("trocr", "image-to-text"), "local")


def turn(plan: Plan, *results: TaskResult) -> Turn:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Turn("t", moment, plan=plan, results={item.task_id: item for item in results})


def done(number: int, *artifacts: Artifact) -> TaskResult:
    return TaskResult(number, Status.DONE, artifacts, (Attempt(EXPERT, 1.0),))


def test_everything_that_ended_is_told() -> None:
    plan = Plan(
        (
            Task(0, READ, {"image": PICTURE}),
            Task(1, BLUR, {"image": PICTURE}),
            Task(2, SHORTEN, {"text": "x"}),
            Task(3, CLOCK),
            Task(4, CLOCK),
        )
    )
    made = turn(
        plan,
        done(0, text_artifact("No entry.")),
        done(1, Artifact(Kind.IMAGE, path=Path("y.png"), name="scan-blur.png")),
        TaskResult(2, Status.FAILED, reason="It\nbroke."),
        TaskResult(3, Status.CANCELLED),
    )
    text, left_out = format_results(made, budget=1000)
    assert left_out == ""
    assert text == (
        "image to text: done\ngiven: scan.png\nexpert: trocr (local)\ntext:\nNo entry.\n\n"
        "image editing: done\ngiven: scan.png\nexpert: trocr (local)\nfiles: scan-blur.png\n\n"
        "summarization: failed\nwhy: It broke.\n\n"
        "clock: cancelled"
    )


def test_what_only_another_task_used_is_not_told_in_full() -> None:
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))
    text, _ = format_results(
        turn(plan, done(0, text_artifact("All of it.")), done(1, text_artifact("It."))),
        budget=1000,
    )
    assert "All of it." not in text
    assert "text:\nIt." in text


def test_long_texts_are_cut_and_short_ones_are_not() -> None:
    plan = Plan(tuple(Task(number, CLOCK) for number in range(3)))
    texts = ("short", "ä" * 30_000, "z" * 40_000)
    made = turn(plan, *(done(n, text_artifact(text)) for n, text in enumerate(texts)))
    text, left_out = format_results(made, budget=2000)
    assert left_out == "Too long for the prompt, so cut: 2 of the results."
    assert "text:\nshort\n" in text
    assert "of 30,000 characters)" in text
    assert "of 40,000 characters)" in text
    assert 1500 < estimated_tokens(text) < 2100
    assert abs(text.count("ä") * 2 - text.count("z")) < 10


def test_many_files_are_counted() -> None:
    plan = Plan((Task(0, CLOCK),))
    pictures = [Artifact(Kind.IMAGE, path=Path(f"{number}.png")) for number in range(22)]
    text, _ = format_results(turn(plan, done(0, *pictures)), budget=100)
    assert "19.png and 2 more" in text
    assert "20.png" not in text
