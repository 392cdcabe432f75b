"""The answer on the terminal: on stdout, piece by piece, and nothing lost of what surrounds it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.cli import output
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    Noted,
    ReplyChunk,
    Retrying,
    Speaking,
    TaskChunk,
    TaskFinished,
    TurnFinished,
)
from jarvis_desktop.core.expert import Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.turn import Turn

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
ENDED = TurnFinished(Status.DONE, WHEN)
PICTURE = Artifact(Kind.IMAGE, path=Path("x.png"), name="cat.png")
TURN = Turn("t", WHEN, results={0: TaskResult(0, Status.DONE, (PICTURE,))})

Capture = pytest.CaptureFixture[str]


def test_pieces_come_as_they_are_written(capsys: Capture) -> None:
    frontend = TerminalFrontend()
    shown = []
    for event in (ReplyChunk("Here "), ReplyChunk("it is."), Speaking("Here it is."), ENDED):
        frontend.show(event)
        shown.append(tuple(capsys.readouterr()))
    assert shown == [("Here ", ""), ("it is.", ""), ("", "speak   Here it is.\n"), ("\n", "")]
    frontend.end(TURN)
    assert capsys.readouterr().out == "  cat.png: x.png\n"


def test_that_nothing_is_spoken_any_more_is_no_line(capsys: Capture) -> None:
    TerminalFrontend().show(Speaking(""))
    assert capsys.readouterr() == ("", "")


def test_on_a_screen_no_line_is_torn_apart(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_on_screen", lambda: True)
    frontend = TerminalFrontend()
    for event in (
        ReplyChunk("Here "),
        Speaking("Here"),
        ReplyChunk("it is."),
        Noted("Well."),
        ENDED,
    ):
        frontend.show(event)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("Here it is.\n", "note    Well.\n")


def test_a_further_try_is_told(capsys: Capture) -> None:
    candidate = Candidate(Expert("bart", "summarization"), "api", remote=True)
    TerminalFrontend().show(Retrying(1, candidate, 2.4, "The service has too much to do."))
    told = "again   1 Trying again in 2 s: The service has too much to do.\n"
    assert capsys.readouterr().err == told


def test_a_turn_without_an_answer_leaves_no_line(capsys: Capture) -> None:
    TerminalFrontend().show(ENDED)
    assert capsys.readouterr().out == ""


def test_json_is_one_document_and_events_are_lines(capsys: Capture) -> None:
    quiet = TerminalFrontend(quiet=True)
    quiet.show(ReplyChunk("Here it is."))
    assert capsys.readouterr().out == ""
    quiet.end(TURN)
    assert capsys.readouterr().out.startswith("{")
    lines = TerminalFrontend(events_as_json=True)
    lines.show(ReplyChunk("Here"))
    lines.end(TURN)
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_a_step_writes_is_only_an_event(capsys: Capture) -> None:
    for frontend in (TerminalFrontend(), TerminalFrontend(quiet=True)):
        frontend.show(TaskChunk(0, "Here"))
        assert capsys.readouterr() == ("", "")
    TerminalFrontend(events_as_json=True).show(TaskChunk(0, "Here"))
    assert capsys.readouterr().out == '{"event": "task_chunk", "task_id": 0, "text": "Here"}\n'


def test_an_answer_that_a_step_wrote_ends_with_its_line(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step's own end is told in between; what is added to the answer stands apart."""
    monkeypatch.setattr(output, "is_on_screen", lambda: True)
    frontend = TerminalFrontend()
    done = TaskResult(0, Status.SKIPPED, reason="No.")
    for event in (ReplyChunk("Here "), ReplyChunk("it is."), TaskFinished(done), ENDED):
        frontend.show(event)
    assert capsys.readouterr().out == "Here it is.\n"
    for event in (ReplyChunk("Here"), TaskFinished(done), ReplyChunk("\n\nWell."), ENDED):
        frontend.show(event)
    assert capsys.readouterr().out == "Here\nWell.\n"


def test_what_could_not_be_shown_is_told_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "say_piece", full)
    frontend = TerminalFrontend()
    frontend.show(ReplyChunk("Here"))
    frontend.show(ReplyChunk("it is."))
    with pytest.raises(OSError, match="No space left"):
        frontend.end(TURN)
