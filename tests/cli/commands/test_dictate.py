"""Dictation in the terminal: what is written while somebody speaks, and how it ends."""

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


def test_no_microphone_is_a_stated_reason(jarvis, no_sound_device):
    done = jarvis("dictate", "--seconds", "1")
    assert (done.code, done.out) == (1, "")
    assert "microphone" in done.err


def test_seconds_are_checked(jarvis):
    assert jarvis("dictate", "--seconds", "0").code == 2
