"""The speaker: sentence by sentence, two ahead, silent at once when it is told to be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jarvis_desktop.assistant.speaker import AnswerSpeaker, SpokenAnswer
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
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
def speaker(voice: FakeVoice, player: FakePlayer, tmp_path: Path) -> AnswerSpeaker:
    return AnswerSpeaker(voice, player, FakeStore(tmp_path))


async def test_markup_is_not_read_aloud(speaker: AnswerSpeaker, voice: FakeVoice) -> None:
    shown: list[Event] = []
    await speaker.say("**One.** Two.", shown.append)
    assert voice.said == ["One.", "Two."]
    assert shown == [Speaking("One."), Speaking("Two.")]


async def test_the_next_sentence_is_made_while_one_plays(
    speaker: AnswerSpeaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.hold = True
    talking = asyncio.create_task(speaker.say("One. Two. Three. Four.", lambda event: None))
    while len(voice.said) < 3:
        await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(player.played) == 1
    assert voice.said == ["One.", "Two.", "Three."]
    talking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talking
    assert player.stopped == 1
    assert player.silenced >= 1


async def test_nothing_to_say_is_silent(speaker: AnswerSpeaker, player: FakePlayer) -> None:
    await speaker.say("```\ncode\n```", lambda event: None)
    assert player.played == []


async def test_a_voice_that_fails_is_a_note(speaker: AnswerSpeaker, voice: FakeVoice) -> None:
    voice.error = UnavailableError("espeak-ng is not installed.", hint="apt install espeak-ng")
    shown: list[Event] = []
    await speaker.say("One. Two.", shown.append)
    assert shown == [
        Noted("The answer could not be spoken: espeak-ng is not installed. apt install espeak-ng")
    ]


async def test_an_output_that_is_not_there_ends_it_with_one_note(
    speaker: AnswerSpeaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.error = UnavailableError("There is no sound output.")
    shown: list[Event] = []
    await speaker.say("One. Two. Three. Four. Five.", shown.append)
    assert shown == [Noted("The answer could not be spoken: There is no sound output.")]
    assert "Five." not in voice.said


async def test_answers_tell_what_keeps_them_from_being_heard_once(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    shown: list[Event] = []

    async def answer() -> None:
        speech = SpokenAnswer(speaker, shown.append)
        speech.add("One.")
        await speech.finish()

    gone = UnavailableError("There is no sound output.")
    note = Noted("The answer could not be spoken: There is no sound output.")
    player.error = gone
    await answer()
    await answer()
    assert shown == [note]
    await speaker.say("One.", shown.append)  # this was asked for
    assert shown == [note, note]
    player.error = None
    await answer()
    player.error = gone
    await answer()
    assert shown == [note, note, Speaking("One."), note]


class Stumbling(FakeVoice):
    """Cannot say some words."""

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        if "hang" in text:
            raise ExpertError("The voice gave no answer.")
        if "crash" in text:
            raise ExpertError("The voice stopped.")
        return await super().synthesise(text, to, pace=pace)


async def test_after_a_sentence_that_fails_the_next_is_spoken(
    player: FakePlayer, tmp_path: Path
) -> None:
    voice, shown = Stumbling(), list[Event]()
    speaker = AnswerSpeaker(voice, player, FakeStore(tmp_path))
    await speaker.say("One. I hang. Two. I hang. I crash. Three.", shown.append)
    assert shown == [
        Speaking("One."),
        Noted("A sentence could not be spoken: The voice gave no answer."),
        Speaking("Two."),
        Noted("A sentence could not be spoken: The voice stopped."),
        Speaking("Three."),
    ]
    assert player.drained == 1


async def test_a_voice_that_always_fails_is_given_up(player: FakePlayer, tmp_path: Path) -> None:
    shown: list[Event] = []
    await AnswerSpeaker(Stumbling(), player, FakeStore(tmp_path)).say(
        "I hang. I hang. I hang. I speak.", shown.append
    )
    assert shown == [
        Noted("A sentence could not be spoken: The voice gave no answer."),
        Noted("The answer could not be spoken: The voice gave no answer."),
    ]
    assert player.played == []


async def test_a_file_that_is_no_sound_is_one_sentence_less(
    speaker: AnswerSpeaker, player: FakePlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = player.play

    async def play(audio: Path, **how: object) -> None:
        if audio.name == "1.wav":
            raise InputError("1.wav contains no sound at all.")
        await played(audio, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(player, "play", play)
    shown: list[Event] = []
    await speaker.say("One. Two.", shown.append)
    assert shown[1:] == [Speaking("Two.")]


async def test_ready_speech_is_played(
    speaker: AnswerSpeaker, player: FakePlayer, tmp_path: Path
) -> None:
    audio = write_wav(tmp_path / "a.wav")
    shown: list[Event] = []
    await speaker.begin_playing(audio, "Hello.", shown.append)
    assert player.played == [audio]
    player.error = UnavailableError("There is no sound device.")
    await speaker.begin_playing(audio, "Hello.", shown.append)
    assert shown == [
        Speaking("Hello."),
        Noted("The answer could not be spoken: There is no sound device."),
    ]


async def test_silence_ends_all_that_is_spoken_and_waits_to_be(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    player.hold = True
    first = asyncio.create_task(speaker.say("One. Two.", lambda event: None))
    second = asyncio.create_task(speaker.say("Three.", lambda event: None))
    while not player.played:
        await asyncio.sleep(0)
    speaker.silence()
    assert player.silenced == 1  # already, before any task had its turn
    await asyncio.gather(first, second)
    assert len(player.played) == 1
    player.hold = False
    await speaker.say("Four.", lambda event: None)
    assert len(player.played) == 2


async def test_to_end_what_waits_leaves_alone_what_is_heard(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    player.hold = True
    first = speaker.begin("One.", lambda event: None)
    second = speaker.begin("Two.", lambda event: None)
    while not player.played:
        await asyncio.sleep(0)
    speaker.silence(second)
    await asyncio.wait([second])
    assert player.silenced == 0
    assert not first.done()
    speaker.silence(first)
    await asyncio.wait([first])
    assert player.silenced >= 1


async def test_what_is_left_to_be_heard_is_silenced_too(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    speech = SpokenAnswer(speaker, lambda event: None)
    speech.add("One.\n")
    while not player.played:
        await asyncio.sleep(0)
    for _ in range(10):  # its end has come, and the next sentence is not written yet
        await asyncio.sleep(0)
    speech.stop()
    await speech.stopped()
    assert player.silenced >= 1


async def test_it_speaks_slower_but_not_for_ever(speaker: AnswerSpeaker, voice: FakeVoice) -> None:
    await speaker.say("One.", lambda event: None)
    speaker.slower()
    await speaker.say("Two.", lambda event: None)
    for _ in range(5):
        speaker.slower()
    await speaker.say("Three.", lambda event: None)
    assert voice.paces == pytest.approx([1.0, 0.8, 0.5])


async def test_a_text_that_breaks_off_is_not_taken_for_its_end(speaker: AnswerSpeaker) -> None:
    async def text() -> AsyncIterator[str]:
        yield "One.\n"
        raise RuntimeError("the wire was cut")

    with pytest.raises(RuntimeError, match="cut"):
        await speaker.say(text(), lambda event: None)


async def test_one_speaks_at_a_time(speaker: AnswerSpeaker, player: FakePlayer) -> None:
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
    speaker: AnswerSpeaker, voice: FakeVoice, player: FakePlayer
) -> None:
    speech = SpokenAnswer(speaker, lambda event: None)
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
    speaker: AnswerSpeaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.hold = True
    shown: list[Event] = []
    speech = SpokenAnswer(speaker, shown.append)
    speech.add("One. Two. Three. ")
    while not player.played:
        await asyncio.sleep(0)
    speech.stop()
    await speech.stopped()
    assert player.stopped == 1
    assert shown == [Speaking("One.")]
    await speaker.say("", shown.append)


async def test_it_tells_when_it_falls_silent_for_long(
    speaker: AnswerSpeaker, player: FakePlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.assistant.speaker.SENTENCE_PAUSE_S", 0.0)
    shown: list[Event] = []
    speech = SpokenAnswer(speaker, shown.append)
    speech.add("One.\n")
    while Speaking("") not in shown:
        await asyncio.sleep(0)
    speech.add("Two.")
    await speech.finish()
    assert [event for event in shown if event != Speaking("")] == [
        Speaking("One."),
        Speaking("Two."),
    ]


async def test_one_that_is_silenced_is_not_waited_for(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    player.hold = True
    speech = SpokenAnswer(speaker, lambda event: None)
    speech.add("One. Two. ")
    while not player.played:
        await asyncio.sleep(0)
    ending = asyncio.create_task(speech.finish())
    await asyncio.sleep(0)
    speech.stop()
    await ending
    assert player.stopped == 1


async def test_code_and_links_that_come_in_pieces_are_not_read_aloud(
    speaker: AnswerSpeaker, voice: FakeVoice
) -> None:
    speech = SpokenAnswer(speaker, lambda event: None)
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


async def test_who_watches_is_told_what_is_heard_and_when_nothing_is(
    speaker: AnswerSpeaker,
) -> None:
    heard: list[str] = []
    speaker.changed = heard.append
    await speaker.say("One. Two.", lambda event: None)
    assert heard == ["One.", "Two.", ""]
    assert speaker.speaking == ""


async def test_it_tells_when_the_voice_has_the_first_sentence(
    speaker: AnswerSpeaker, voice: FakeVoice
) -> None:
    answer = SpokenAnswer(speaker, lambda event: None)
    answer.add("One. Two.")
    answer.complete()
    await answer.begun()
    assert voice.said[:1] == ["One."]
    await answer.finish()
    nothing = SpokenAnswer(speaker, lambda event: None)
    nothing.complete()
    await nothing.begun()  # though no sentence comes


async def test_what_waits_for_another_speech_is_not_waited_for(
    speaker: AnswerSpeaker, voice: FakeVoice, player: FakePlayer
) -> None:
    player.hold = True
    talking = speaker.begin("One.", lambda event: None)
    while not player.played:
        await asyncio.sleep(0)
    answer = SpokenAnswer(speaker, lambda event: None)
    answer.add("Two.")
    answer.complete()
    await answer.begun()
    assert voice.said == ["One."]
    answer.stop()
    await answer.finish()
    speaker.silence()
    await asyncio.wait([talking])


async def test_who_stops_before_the_first_sentence_hears_none(
    speaker: AnswerSpeaker, player: FakePlayer
) -> None:
    answer = SpokenAnswer(speaker, lambda event: None)  # which has no sentence yet
    waiting = asyncio.create_task(answer.begun())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await answer.finish()
    assert player.played == []
