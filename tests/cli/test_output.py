"""Where the output goes when nobody reads it, and what comes in that is no text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.cli import output
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import TaskFinished
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.turn import Turn
from tests.cli.conftest import Jarvis
from tests.families import some

QUESTION = "What is 6 times 7?"


def with_stdout(folder: Path, stdout: int, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    return subprocess.run(
        [sys.executable, "-m", "jarvis_desktop", *args],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
        stderr=subprocess.PIPE, text=True, timeout=200, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("form", some([(), ("--events",), ("--json",)]))
def test_a_turn_whose_reader_went_away_is_finished_and_kept(
    jarvis: Jarvis, tmp_path: Path, form: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = with_stdout(tmp_path, writer, "ask", QUESTION, *form)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "roken pipe" not in done.stderr
    assert "Exception" not in done.stderr
    kept = jarvis("history", "show", "last", "--json").json["turns"][0]
    assert (kept["status"], "42" in kept["reply"]) == ("done", True)


@pytest.mark.parametrize(
    "command", some([("--help",), ("completion", "bash"), ("history", "--help")])
)
def test_help_whose_reader_went_away(tmp_path: Path, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = with_stdout(tmp_path, writer, *command)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_finds_no_room_is_told_in_a_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = with_stdout(tmp_path, full.fileno(), "ask", QUESTION)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "jarvis-desktop: The system refused: No space left on device."
    )


@pytest.mark.parametrize(
    "command", some([("ask", "-"), ("say", "-", "--out", "a.wav"), ("run", "-")])
)  # fmt: skip
def test_stdin_that_is_no_text(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_desktop", *command],
        cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        input=b"What time is it? \xff\xfe", capture_output=True, timeout=200, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    assert done.returncode == (1 if command[0] == "run" else 0), done.stderr


def test_an_argument_that_is_no_text(jarvis: Jarvis) -> None:
    assert jarvis("ask", os.fsdecode(b"What is 6 times 7? \xff")).code in (0, 1, 3)
    assert jarvis("plan", os.fsdecode(b"What is 6 times 7? \xff"), "--json").code in (0, 1)
    assert jarvis("say", os.fsdecode(b"Hello \xff"), "--out", "a.wav").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("ask", QUESTION), ("plan", QUESTION), ("say", "Hello", "--out", "a.wav"),
        ("transcribe", "a.wav"), ("listen", "--once"), ("history", "list"),
        ("experts", "list"), ("doctor",),
    ],
)  # fmt: skip
def test_a_home_that_is_a_file_gives_one_json_document(
    jarvis: Jarvis, home: Path, command: tuple[str, ...]
) -> None:
    (home / "jarvis").write_text("not a folder")
    shown = jarvis(*command, "--json")
    assert shown.code == 1
    assert shown.json["status"] == "failed"
    assert shown.json["error"].endswith(".")
    assert shown.err.count("defaults are used") == 1


def test_a_mistake_in_the_settings_leaves_one_json_document(jarvis: Jarvis, home: Path) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("mode = 7")
    shown = jarvis("ask", QUESTION, "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["reply"]
    assert "mode" in shown.err


def test_a_database_that_cannot_be_opened_gives_one_json_document(
    jarvis: Jarvis, home: Path
) -> None:
    (home / "jarvis" / "data" / "history.db").mkdir(parents=True)
    shown = jarvis("ask", QUESTION, "--json")
    assert (shown.code, shown.json["status"]) == (1, "failed")


def test_a_folder_for_results_that_cannot_be_made_is_told_before_the_work(
    jarvis: Jarvis, tmp_path: Path
) -> None:
    (tmp_path / "taken").touch()
    for name in ("taken", "taken/below"):
        shown = jarvis("ask", QUESTION, "--out", name, "--json")
        assert shown.code == 1
        assert name in shown.json["error"]
    assert jarvis("history", "list", "--json").json == []


def test_a_result_that_cannot_be_copied_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("a")
    kept = (Artifact(Kind.TEXT, path=tmp_path / name, name=name) for name in ("gone.txt", "a.txt"))
    done = TaskResult(0, Status.DONE, artifacts=tuple(kept))
    turn = Turn(id="1", started=datetime.now(UTC)).apply(TaskFinished(done))
    (tmp_path / "out").mkdir()
    assert not output.copy_out(turn, tmp_path / "out")
    told = capsys.readouterr().err.splitlines()
    assert "gone.txt cannot be written: no such file or directory." in told[0]
    assert told[1].startswith("saved ")
    assert (tmp_path / "out" / "a.txt").read_text() == "a"


def test_a_warning_is_red_where_colours_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output.warn("NOT SANDBOXED\x1b[0m")
    assert capsys.readouterr().err == "NOT SANDBOXED�[0m\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    output.warn("NOT SANDBOXED\x1b[0m")
    assert capsys.readouterr().err == "\x1b[1;31mNOT SANDBOXED�[0m\x1b[0m\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    output.warn("NOT SANDBOXED")
    assert capsys.readouterr().err == "NOT SANDBOXED\n"


def test_a_question_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.prompt("Which\x1b[2J? ")
    assert capsys.readouterr().err == "Which�[2J? "
