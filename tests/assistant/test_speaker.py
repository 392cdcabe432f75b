"""The speaker: sentence by sentence, one ahead, silent at once when cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_desktop.assistant.speaker import Speaker, Speech
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.events import Event, Noted, Speaking
from tests.fake_voice import FakePlayer, FakeVoice, write_wav
from tests.fakes import FakeStore


@pytest.fixture
def voice() -> FakeVoice:
    return FakeVoice()


@pytest.fixture
def player() -> FakePlayer:
    return FakePlayer()


@pytest.fixture
def speaker(voice: FakeVoice, player: FakePlayer, tmp_path: Path) -> Speaker:
    return Speaker(voice, player, FakeStore(tmp_path))


async def test_markup_is_not_read_aloud(speaker: Speaker, voice: FakeVoice) -> None:
    shown: list[Event] = []
    await speaker.say("**One.** Two.", shown.append)
    assert voice.said == ["One.", "Two."]
    assert shown == [Speaking("One."), Speaking("Two.")]


async def test_the_next_sentence_is_made_while_one_plays(
    speaker: Speaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.hold = True
    talking = asyncio.create_task(speaker.say("One. Two. Three.", lambda event: None))
    while len(voice.said) < 2:
        await asyncio.sleep(0)
    assert len(player.played) == 1
    talking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talking
    assert player.stopped == 1
    assert voice.said == ["One.", "Two."]


async def test_nothing_to_say_is_silent(speaker: Speaker, player: FakePlayer) -> None:
    await speaker.say("```\ncode\n```", lambda event: None)
    assert player.played == []


async def test_a_voice_that_fails_is_a_note(speaker: Speaker, voice: FakeVoice) -> None:
    voice.error = UnavailableError("espeak-ng is not installed.", hint="apt install espeak-ng")
    shown: list[Event] = []
    await speaker.say("One. Two.", shown.append)
    assert shown == [
        Noted("The answer could not be spoken: espeak-ng is not installed. apt install espeak-ng")
    ]


async def test_a_player_that_fails_while_the_voice_fails_too(
    speaker: Speaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.error = ExpertError("The device went away.")
    shown: list[Event] = []
    await speaker.say("One. Two.", shown.append)
    assert shown[-1] == Noted("The answer could not be spoken: The device went away.")


async def test_ready_speech_is_played(speaker: Speaker, player: FakePlayer, tmp_path: Path) -> None:
    audio = write_wav(tmp_path / "a.wav")
    shown: list[Event] = []
    await speaker.play(audio, "Hello.", shown.append)
    assert player.played == [audio]
    player.error = UnavailableError("There is no sound device.")
    await speaker.play(audio, "Hello.", shown.append)
    assert shown == [
        Speaking("Hello."),
        Speaking("Hello."),
        Noted("The answer could not be spoken: There is no sound device."),
    ]


async def test_one_speaks_at_a_time(speaker: Speaker, player: FakePlayer) -> None:
    player.hold = True
    first = asyncio.create_task(speaker.say("First.", lambda event: None))
    while not player.played:
        await asyncio.sleep(0)
    second = asyncio.create_task(speaker.say("Second.", lambda event: None))
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(player.played) == 1
    first.cancel()
    while len(player.played) < 2:
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)


async def test_it_speaks_while_the_text_is_written(
    speaker: Speaker, voice: FakeVoice, player: FakePlayer
) -> None:
    speech = Speech(speaker, lambda event: None)
    for piece in ("First ", "sentence. ", "Second"):
        speech.add(piece)
    while not player.played:
        await asyncio.sleep(0)
    assert voice.said == ["First sentence."]
    speech.add(" one.")
    await speech.finish()
    assert voice.said == ["First sentence.", "Second one."]
    assert len(player.played) == 2


async def test_a_silenced_speech_says_nothing_more(
    speaker: Speaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.hold = True
    shown: list[Event] = []
    speech = Speech(speaker, shown.append)
    speech.add("One. Two. Three. ")
    while not player.played:
        await asyncio.sleep(0)
    speech.stop()
    await speech.stopped()
    assert player.stopped == 1
    assert shown == [Speaking("One.")]
    await speaker.say("", shown.append)


async def test_it_tells_when_it_falls_silent_for_long(
    speaker: Speaker, player: FakePlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.assistant.speaker.PAUSE", 0.0)
    shown: list[Event] = []
    speech = Speech(speaker, shown.append)
    speech.add("One.\n")
    while Speaking("") not in shown:
        await asyncio.sleep(0)
    speech.add("Two.")
    await speech.finish()
    assert [event for event in shown if event != Speaking("")] == [
        Speaking("One."),
        Speaking("Two."),
    ]


async def test_one_that_is_silenced_is_not_waited_for(speaker: Speaker, player: FakePlayer) -> None:
    player.hold = True
    speech = Speech(speaker, lambda event: None)
    speech.add("One. Two. ")
    while not player.played:
        await asyncio.sleep(0)
    ending = asyncio.create_task(speech.finish())
    await asyncio.sleep(0)
    speech.stop()
    await ending
    assert player.stopped == 1


async def test_code_and_links_that_come_in_pieces_are_not_read_aloud(
    speaker: Speaker, voice: FakeVoice
) -> None:
    speech = Speech(speaker, lambda event: None)
    for piece in (
        "See [the",
        " guide](htt",
        "ps://x.org). ``",
        "`\n",
        "``",
        "`\nco",
        "de\n```\nEnd.",
    ):
        speech.add(piece)
    await speech.finish()
    assert voice.said == ["See the guide.", "End."]
