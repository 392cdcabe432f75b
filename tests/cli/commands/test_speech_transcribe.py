"""`transcribe`: where the transcripts go, in which format, and what is said where it cannot be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.cli import session
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import Segment, Transcript
from tests.fake_voice import write_wav

SAID = (Segment(0.5, 2, "Good morning."), Segment(65, 66.5, "Good night."))
SRT = (
    "1\n00:00:00,500 --> 00:00:02,000\nGood morning.\n\n"
    "2\n00:01:05,000 --> 00:01:06,500\nGood night.\n"
)


class Files:
    """Stands for what hears, here or on a server: the same in every recording."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, bool]] = []
        self.stop_after = -1
        """At how many segments Ctrl-C is pressed; -1 is never."""

    async def write_down(
        self,
        audio: Path,
        report: Callable[[float | None, str], None],
        *,
        language: str | None,
        words: bool,
        found: Callable[[tuple[Segment, ...]], None],
    ) -> Transcript:
        self.asked.append((audio.name, language, words))
        report(0.0, "listening")
        if audio.stem == "silent":
            raise InputError(f"There is no sound in {audio.name}.")
        for at, segment in enumerate(SAID):
            if at == self.stop_after:
                raise asyncio.CancelledError
            found(SAID[: at + 1])
            report(segment.end / 70, f"{at + 1} of 2")
        text = " ".join(segment.text for segment in SAID)
        return Transcript(text, "whisper", "en", SAID, "It is only a test.")


@pytest.fixture
def files(monkeypatch, tmp_path) -> Files:
    """What recognises the recordings a.wav, b.wav and silent.wav of the folder one is in."""
    files = Files()
    app: Any = SimpleNamespace(speech=SimpleNamespace(hearing=files))
    monkeypatch.setattr(session, "run", lambda args, work: asyncio.run(work(app)))
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "silent"):
        write_wav(tmp_path / f"{name}.wav")
    return files


def test_text_is_shown_and_the_note_once(files, capsys):
    assert main(["transcribe", "a.wav"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "Good morning. Good night.\n"
    assert "   3% 1 of 2" in shown.err
    assert "listening" not in shown.err
    assert main(["transcribe", "a.wav", "b.wav"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "a.wav: Good morning. Good night.\nb.wav: Good morning. Good night.\n"
    assert shown.err.count("It is only a test.") == 1


def test_subtitles_are_written_into_a_file_by_its_name(files, tmp_path, capsys):
    assert main(["transcribe", "a.wav", "--out", "talk.srt", "--language", "EN"]) == 0
    assert (tmp_path / "talk.srt").read_text() == SRT
    assert "saved   talk.srt" in capsys.readouterr().err
    assert files.asked == [("a.wav", "en", True)]


def test_subtitles_are_shown_where_no_file_is_named(files, capsys):
    assert main(["transcribe", "a.wav", "--format", "vtt"]) == 0
    assert capsys.readouterr().out.startswith("WEBVTT\n\n00:00:00.500 --> ")


def test_several_go_into_a_folder_and_nothing_is_written_over(files, tmp_path, capsys):
    for _ in range(2):
        assert main(["transcribe", "a.wav", "b.wav", "--format", "json", "--out", "texts"]) == 0
    names = sorted(path.name for path in (tmp_path / "texts").iterdir())
    assert names == ["a-2.json", "a.json", "b-2.json", "b.json"]
    assert json.loads((tmp_path / "texts" / "b.json").read_text())["text"].startswith("Good")
    assert f"saved   {Path('texts', 'a-2.json')}" in capsys.readouterr().err


def test_a_file_that_is_there_stays_and_nothing_is_recognised(files, tmp_path, capsys):
    (tmp_path / "talk.txt").write_text("mine")
    assert main(["transcribe", "a.wav", "--out", "talk.txt"]) == 1
    assert (tmp_path / "talk.txt").read_text() == "mine"
    assert "talk.txt is there already. Give another name." in capsys.readouterr().err
    assert main(["transcribe", "a.wav", "--out", "no/where.txt"]) == 1
    assert "is not a place for a file" in capsys.readouterr().err
    assert files.asked == []


def test_what_fails_does_not_keep_the_others(files, tmp_path, capsys):
    arguments = ["transcribe", "silent.wav", "a.wav", "none.wav", "--out", "texts", "--json"]
    assert main(arguments) == 3
    shown = capsys.readouterr()
    silent, heard, none = json.loads(shown.out)
    assert silent["error"] == "There is no sound in silent.wav."
    assert heard["saved"] == str(Path("texts", "a.txt"))
    assert heard["transcript"]["segments"][1]["start"] == 65
    assert "no file none.wav" in none["error"]
    assert main(["transcribe", "silent.wav"]) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("a.wav", "b.wav", "--out", "both.srt"), "do not go into the one file both.srt"),
        (("a.wav", "--out", "a.srt", "--format", "vtt"), "--format vtt does not fit the name"),
        (("a.wav", "b.wav", "--format", "srt"), "want --out FOLDER"),
        (("a.wav", "--out", ""), "--out wants the name of a file"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(files, capsys, arguments, why):
    assert main(["transcribe", *arguments]) == 2
    assert why in capsys.readouterr().err
    assert files.asked == []


def stopped(arguments: list[str]) -> None:
    with pytest.raises(asyncio.CancelledError):
        main(["transcribe", *arguments])


def test_ctrl_c_keeps_what_was_written_down_by_then(files, tmp_path, capsys):
    files.stop_after = 1
    stopped(["a.wav", "--out", "talk.srt", "--json"])
    shown = capsys.readouterr()
    assert "stopped a.wav: it is written down up to 0:02 in talk.srt." in shown.err
    assert (tmp_path / "talk.srt").read_text() == SRT.partition("\n\n")[0] + "\n"
    (record,) = json.loads(shown.out)
    assert record["upto"] == "0:02"
    files.stop_after = 0
    stopped(["b.wav"])
    assert "stopped b.wav: nothing of it was written down yet." in capsys.readouterr().err


def test_a_disk_that_refuses_is_told(files, tmp_path, capsys, monkeypatch):
    def refuse(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", refuse)
    assert main(["transcribe", "a.wav", "--out", "talk.srt"]) == 1
    files.stop_after = 1
    stopped(["a.wav", "--out", "talk.srt"])
    shown = capsys.readouterr().err
    assert shown.count("talk.srt cannot be written: no space left on device.") == 2
