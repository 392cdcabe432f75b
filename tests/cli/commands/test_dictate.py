"""Dictation in the terminal: what is written while somebody speaks, and how it ends."""

import subprocess
import sys

import pytest

from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.cli.commands.speech import TerminalDictation
from jarvis_desktop.core.speech import Partial


def listening(settled: str, rest: str = "") -> DictationState:
    return DictationState("listening", Partial(settled, rest))


async def test_a_sentence_is_written_while_the_next_one_is_spoken(capsys):
    front = TerminalDictation(writes=True, streams=True)
    front.level(0.5)
    front.show(listening("One. Two", "three."))
    assert capsys.readouterr().out == "One."
    front.show(listening("One. Two three. Four", "five"))
    front.show(listening("One. Two three. Four", "six"))
    assert capsys.readouterr().out == " Two three."
    assert await front.objection() == ""
    assert await front.take("One. Two three. Four six.")
    front.show(DictationState("written", message="A note."))
    assert capsys.readouterr() == (" Four six.\n", "note    A note.\n")
    assert front.ended.is_set()


async def test_what_is_taken_back_too_late_is_told(capsys):
    front = TerminalDictation(writes=True, streams=True)
    front.show(listening("One. Two. Three."))
    capsys.readouterr()
    await front.take("One. Four.")
    told = capsys.readouterr()
    assert told.out == "\nOne. Four.\n"
    assert "taken back" in told.err


@pytest.mark.parametrize(("writes", "written"), [(True, "One. Two.\n"), (False, "")])
async def test_nothing_is_written_before_it_is_tidied_up(capsys, writes, written):
    front = TerminalDictation(writes=writes, streams=False)
    front.show(listening("One. Two."))
    assert capsys.readouterr().out == ""
    await front.take("One. Two.")
    assert capsys.readouterr().out == written
    assert front.text == "One. Two."


def test_no_microphone_is_a_stated_reason(tmp_path, no_sound_device):
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_desktop", "dictate", "--seconds", "1"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert "microphone" in done.stderr
    assert "Traceback" not in done.stderr


def test_seconds_are_checked(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_desktop", "dictate", "--seconds", "0"],
        cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 2
