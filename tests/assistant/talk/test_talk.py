import asyncio
from dataclasses import replace

import pytest

from jarvis_desktop.assistant.talk import talk as module
from jarvis_desktop.assistant.talk.talk import (
    JUDGED_BYTES,
    MAX_SPEECH_S,
    TOO_LONG,
    UNEXPECTED,
    Talk,
)
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.speech import Loudness, Partial, Sound, Talking, Unheard
from tests.assistant.talk.front import silence, sound, speaking


async def test_what_is_said_while_the_key_is_held_is_heard_after_its_release(
    make, microphone, recogniser, front
):
    microphone.sounds = [speaking(0.5), speaking(0.5)]
    recogniser.partials = (Partial("", "what"), Partial("what", "time"))
    talk = make(way="hold")
    talk.press()
    assert talk.state == "waiting"
    await front.until(lambda: Partial("what", "time") in front.events)
    assert talk.state == "listening"
    talk.release()
    assert talk.state == "recognising"
    await front.until(lambda: front.said == ["what time is it"])
    assert recogniser.hearings[0].pcm == speaking(0.5).pcm * 2
    assert front.states == ["waiting", "listening", "recognising", "idle"]
    assert front.barged == 1
    assert Loudness(0.5) in front.events


async def test_a_tap_listens_until_a_silence(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="auto", pause=0.5)
    talk.press()
    talk.release()
    assert front.events[-1] == Talking("waiting", held=False)
    await front.shows("listening")
    microphone.feed(silence(0.6))
    await front.until(lambda: front.said == ["what time is it"])


async def test_what_is_finished_ends_before_the_silence_does(make, microphone, front):
    said, pause = speaking(9), silence(0.6)
    microphone.sounds = [said, pause, silence(0.1)]
    make(way="toggle", pause=5).press()
    await front.until(lambda: len(microphone.judged) == 2)
    assert microphone.judged[0] == (said.pcm + pause.pcm)[-JUDGED_BYTES:]
    microphone.feed(replace(silence(0.1), finished=0.95))
    await front.until(lambda: microphone.heard)
    assert front.said == []
    microphone.feed(replace(silence(0.1), finished=0.95))
    await front.until(lambda: front.said == ["what time is it"])


async def test_a_held_key_waits_through_a_silence(make, microphone, front):
    microphone.sounds = [speaking(1), silence(3), speaking(1)]
    talk = make(way="hold", pause=0.5)
    talk.press()
    await front.until(lambda: len([e for e in front.events if isinstance(e, Loudness)]) == 3)
    assert talk.state == "listening"
    assert microphone.judged == []
    talk.release()
    await front.until(lambda: bool(front.said))


async def test_a_key_that_is_stuck_is_let_go_for_the_person(make, microphone, front):
    microphone.sounds = [speaking(1), silence(31)]
    make(way="hold").press()
    await front.until(lambda: bool(front.said))


async def test_after_ten_minutes_it_ends_and_what_was_said_is_taken(make, microphone, front):
    microphone.sounds = [speaking(MAX_SPEECH_S + 1)]
    make(way="hold").press()
    await front.until(lambda: bool(front.said))
    assert Unheard(TOO_LONG) in front.events


async def test_the_words_go_nowhere_where_nobody_is(microphone, recogniser):
    microphone.sounds = [speaking(1), silence(2)]
    closed = asyncio.Event()
    microphone.watch(lambda state: closed.set() if state == "closed" else None)
    talk = Talk(microphone, recogniser)
    talk.start()
    await closed.wait()
    await talk.close()
    assert recogniser.hearings[0].pcm


async def test_exact_silence_is_a_microphone_that_wakes_up(make, microphone, front):
    talk = make()
    microphone.sounds = [Sound(bytes(1024), 0, (0.0,))]
    talk.start()
    await front.until(lambda: Loudness(0) in front.events)
    assert talk.state == "waiting"
    microphone.feed(speaking(0.1))
    await front.shows("listening")


async def test_start_stop_and_toggle(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.start()
    talk.start()  # it listens already
    await front.shows("listening")
    assert microphone.listened == 1
    talk.stop()
    await front.until(lambda: len(front.said) == 1)
    talk.toggle()
    await front.shows("listening")
    talk.toggle()
    await front.until(lambda: len(front.said) == 2)
    talk.stop()
    assert talk.state == "idle"


async def test_what_a_button_began_is_ended_by_the_key(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.start()
    await front.shows("listening")
    talk.press()
    talk.release()
    await front.until(lambda: len(front.said) == 1)


async def test_a_press_right_after_the_release_begins_something_new(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.press()
    await front.shows("listening")
    talk.release()
    talk.press()
    assert talk.state == "waiting"
    await front.until(lambda: len(front.said) == 1)
    talk.release()
    await front.until(lambda: len(front.said) == 2)
    assert front.barged == 2


async def test_cancelling_forgets_what_was_said(make, microphone, recogniser, front):
    microphone.sounds = [speaking(1)]
    talk = make()
    assert not talk.cancel()
    talk.press()
    await front.shows("listening")
    assert talk.cancel()
    await front.shows("idle")
    assert recogniser.hearings[0].dropped
    assert front.said == []


async def test_what_cannot_be_understood_is_told_with_its_reason(
    make, microphone, recogniser, front
):
    recogniser.error = InputError("Nobody seems to speak in your recording.")
    microphone.sounds = [sound(0.1)]
    talk = make()
    talk.start()
    await front.shows("listening")
    talk.stop()
    await front.until(lambda: Unheard("Nobody seems to speak in your recording.") in front.events)
    assert front.said == []


@pytest.mark.parametrize("error", [ExpertError("The recogniser stopped."), ValueError("odd")])
async def test_an_engine_that_fails_is_told(make, microphone, recogniser, front, error, caplog):
    recogniser.error = error
    microphone.sounds = [speaking(1)]
    talk = make()
    talk.start()
    await front.shows("listening")
    talk.stop()
    told = UNEXPECTED if isinstance(error, ValueError) else "The recogniser stopped."
    await front.until(lambda: Unheard(told) in front.events)
    caplog.clear()
    await front.shows("idle")


async def test_a_microphone_that_cannot_be_had_is_told(make, microphone, front):
    microphone.error = UnavailableError("There is no microphone.", hint="Plug one in.")
    make().start()
    await front.until(lambda: Unheard("There is no microphone. Plug one in.") in front.events)
    await front.shows("idle")


async def test_what_was_said_before_the_microphone_went_away_is_kept(make, microphone, front):
    microphone.sounds = [speaking(1)]
    microphone.error = UnavailableError("The microphone went away.")
    make().start()
    await front.until(lambda: bool(front.said))
    assert Unheard("The microphone went away.") in front.events


async def test_what_is_heard_is_silenced_before_anything_else(make, microphone, front):
    order = []
    talk = make(hush=lambda: order.append("hush"))
    front.barge_in = lambda: order.append("barge in")
    talk.press()
    assert order == ["hush", "barge in"]
    assert microphone.listened == 0


async def test_what_was_held_is_let_go(make, microphone, front):
    talk = make()
    talk.let_go()
    microphone.sounds = [speaking(1), silence(3)]
    talk.start(held=True)
    await front.shows("listening")
    assert front.events[-1] != Talking("idle")
    talk.let_go()
    microphone.feed(silence(1.1))
    await front.until(lambda: bool(front.said))


async def test_it_begins_with_what_was_said_before(make, microphone, recogniser, front):
    microphone.sounds = [sound(0.9, before=True), speaking(1), silence(1.1)]
    make().start(said=b"before")
    await front.until(lambda: bool(front.said))
    assert recogniser.hearings[0].pcm == b"before" + speaking(1).pcm + silence(1.1).pcm


async def test_what_the_microphone_heard_of_its_own_voice_is_left_out(
    make, microphone, recogniser, front
):
    recogniser.hears = "red bicycle what time is it"
    microphone.sounds = [sound(0.9, before=True), speaking(1), silence(1.1)]
    make(spoken=lambda: "The picture shows a red bicycle.").start()
    await front.until(lambda: front.said == ["what time is it"])
    microphone.sounds = [sound(0.1, before=True), speaking(1), silence(1.1)]
    make(spoken=lambda: "The picture shows a red bicycle.").start()
    await front.until(lambda: len(front.said) == 2)
    assert front.said[1] == recogniser.hears
    assert recogniser.hearings[0].pcm.startswith(sound(0.9).pcm + speaking(1).pcm)


async def test_open_all_the_time(make, microphone):
    talk = make(use="always")
    talk.open()
    assert microphone.state == "open"
    make(use="talking").open()


async def test_other_settings_are_taken_up(make, microphone, front):
    talk = make(way="hold")
    talk.choose(way="toggle", pause=2, use="always")
    assert microphone.state == "open"
    microphone.sounds = [speaking(1), silence(1.9)]
    talk.press()
    talk.release()
    await front.shows("listening")
    assert talk.state == "listening"
    microphone.feed(silence(0.2))
    await front.until(lambda: bool(front.said))
    talk.choose(way="hold", pause=2, use="always")
    assert microphone.held
    talk.choose(way="hold", pause=2, use="talking")
    assert microphone.state == "closed"


async def test_in_a_conversation_it_stays_open_for_a_while(make, microphone, front, monkeypatch):
    monkeypatch.setattr(module, "MICROPHONE_LINGER_S", 0)
    busy = [True]
    closed = asyncio.Event()
    microphone.watch(lambda state: closed.set() if state == "closed" else None)

    def goes_on():
        was, busy[0] = busy[0], False
        return was

    talk = make(use="conversation", busy=goes_on)
    microphone.sounds = [speaking(1)]
    talk.start()
    await front.shows("listening")
    talk.start()
    talk.stop()
    await closed.wait()
    assert front.said
    talk.start()
    await front.shows("listening")


async def test_nobody_talks_while_it_is_barred(make, microphone, front):
    reasons = ["Not now."]
    talk = make(way="hold", barred=lambda: "".join(reasons))
    for begin in (talk.press, talk.start, talk.toggle):
        begin()
        assert front.events.pop() == Unheard("Not now.")
    assert not talk.taken
    assert await talk.answer(never, limit=1) is None
    assert microphone.listened == 0
    reasons.clear()
    talk.release()
    talk.press()
    assert talk.taken


async def never() -> None:
    raise AssertionError("the question was asked")


async def test_a_question_is_not_answered_by_what_is_dictated(make, microphone, front):
    reasons: list[str] = []
    talk = make(barred=lambda: "".join(reasons))

    async def asked() -> None:
        reasons.append("Somebody dictates.")

    assert await talk.answer(asked, limit=1) is None
    assert microphone.listened == 0
    reasons.clear()
    answer = asyncio.create_task(talk.answer(silent, limit=1))
    await front.shows("waiting")
    assert not talk.taken
    talk.give_way()
    assert await answer is None


async def silent() -> None:
    """Asks without a voice."""


async def test_only_silence_ends_it_if_nothing_is_judged(make, microphone, front):
    microphone.sounds = [speaking(1), silence(1)]
    make(way="toggle", pause=2, judges=False).press()
    await front.until(lambda: microphone.heard and len(front.events) > 3)
    microphone.feed(silence(1.1))
    await front.until(lambda: bool(front.said))
    assert microphone.judged == []
