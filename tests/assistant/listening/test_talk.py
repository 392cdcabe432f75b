import asyncio

import pytest

from jarvis_desktop.assistant.listening import talk as module
from jarvis_desktop.assistant.listening.talk import LONGEST, TOO_LONG, UNEXPECTED, Talk
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.hearing import Loudness, Partial, Sound, Talking, Unheard
from tests.assistant.listening.front import FakeFront, silence, sound, speaking
from tests.fake_voice import FakeMicrophone, FakeRecogniser


@pytest.fixture
def microphone():
    return FakeMicrophone()


@pytest.fixture
def recogniser():
    return FakeRecogniser(hears="what time is it")


@pytest.fixture
def front():
    return FakeFront()


@pytest.fixture
async def make(microphone, recogniser, front):
    made = []

    def make(**settings):
        talk = Talk(microphone, recogniser, **settings)
        talk.front = front
        made.append(talk)
        return talk

    yield make
    for talk in made:
        await talk.close()
    assert microphone.state == "closed"


async def listening(front):
    await front.shows("listening")


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
    await listening(front)
    microphone.feed(silence(0.6))
    await front.until(lambda: front.said == ["what time is it"])


async def test_a_held_key_waits_through_a_silence(make, microphone, front):
    microphone.sounds = [speaking(1), silence(3), speaking(1)]
    talk = make(way="hold", pause=0.5)
    talk.press()
    await front.until(lambda: len([e for e in front.events if isinstance(e, Loudness)]) == 3)
    assert talk.state == "listening"
    talk.release()
    await front.until(lambda: bool(front.said))


async def test_a_key_that_is_stuck_is_let_go_for_the_person(make, microphone, front):
    microphone.sounds = [speaking(1), silence(31)]
    make(way="hold").press()
    await front.until(lambda: bool(front.said))


async def test_after_ten_minutes_it_ends_and_what_was_said_is_taken(make, microphone, front):
    microphone.sounds = [speaking(LONGEST + 1)]
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
    await listening(front)


async def test_start_stop_and_toggle(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.start()
    talk.start()  # it listens already
    await listening(front)
    assert microphone.listened == 1
    talk.stop()
    await front.until(lambda: len(front.said) == 1)
    talk.toggle()
    await listening(front)
    talk.toggle()
    await front.until(lambda: len(front.said) == 2)
    talk.stop()
    assert talk.state == "idle"


async def test_what_a_button_began_is_ended_by_the_key(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.start()
    await listening(front)
    talk.press()
    talk.release()
    await front.until(lambda: len(front.said) == 1)


async def test_a_press_right_after_the_release_begins_something_new(make, microphone, front):
    microphone.sounds = [speaking(1)]
    talk = make(way="hold")
    talk.press()
    await listening(front)
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
    await listening(front)
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
    await listening(front)
    talk.stop()
    await front.until(lambda: Unheard("Nobody seems to speak in your recording.") in front.events)
    assert front.said == []


@pytest.mark.parametrize("error", [ExpertError("The recogniser stopped."), ValueError("odd")])
async def test_an_engine_that_fails_is_told(make, microphone, recogniser, front, error, caplog):
    recogniser.error = error
    microphone.sounds = [speaking(1)]
    talk = make()
    talk.start()
    await listening(front)
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


async def asked():
    """It was asked."""


async def test_a_question_is_answered_without_a_key(make, microphone, recogniser, front):
    recogniser.hears = "yes"
    microphone.sounds = [sound(0.9, before=True), speaking(0.5), silence(1.1)]
    answer = await make().answer(asked, limit=8)
    assert answer.text == "yes"
    assert recogniser.hearings[0].pcm == speaking(0.5).pcm + silence(1.1).pcm
    assert (front.said, front.barged) == ([], 0)


async def test_nobody_answers(make, microphone, recogniser, front):
    recogniser.error = InputError("There is no sound in your recording.")
    microphone.sounds = [silence(9)]
    assert await make().answer(asked, limit=8) is None
    assert not [event for event in front.events if isinstance(event, Unheard)]


async def test_the_key_answers_a_question_while_it_is_being_asked(make, microphone, front):
    microphone.sounds = [speaking(0.5)]
    talk = make(way="hold")
    asked = asyncio.Event()
    answering = asyncio.create_task(talk.answer(asked.wait, limit=8))
    await asyncio.sleep(0)
    talk.press()
    await listening(front)
    talk.release()
    await front.shows("idle")
    asked.set()
    assert (await answering).text == "what time is it"
    assert (front.said, front.barged, microphone.listened) == ([], 0, 1)


async def test_the_key_takes_over_from_listening_by_itself(make, microphone, recogniser, front):
    talk = make(way="hold")
    microphone.sounds = [silence(0.1)]
    answering = asyncio.create_task(talk.answer(asked, limit=8))
    await listening(front)
    talk.press()
    await front.until(lambda: microphone.listened == 2)
    await listening(front)
    assert recogniser.hearings[0].dropped
    talk.release()
    assert (await answering).text == "what time is it"


async def test_a_question_that_is_withdrawn_is_listened_for_no_more(make, microphone, front):
    talk = make()
    microphone.sounds = [silence(0.1)]
    answering = asyncio.create_task(talk.answer(asked, limit=8))
    await listening(front)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    await front.shows("idle")
    assert microphone.state == "closed"


async def test_of_two_questions_the_newer_one_is_answered_first(make, microphone, front):
    talk = make(way="hold")
    asked = asyncio.Event()
    first = asyncio.create_task(talk.answer(asked.wait, limit=8))
    second = asyncio.create_task(talk.answer(asked.wait, limit=8))
    await asyncio.sleep(0)
    microphone.sounds = [speaking(1)]
    talk.press()
    await listening(front)
    talk.release()
    asked.set()
    assert (await second).text
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_one_who_speaks_already_is_asked_nothing(make, microphone, front):
    talk = make(way="hold")
    microphone.sounds = [speaking(1)]
    talk.press()
    await listening(front)

    async def never():
        raise AssertionError("nobody would hear it")

    answering = asyncio.create_task(talk.answer(never, limit=8))
    await asyncio.sleep(0)
    talk.release()
    assert (await answering).text == "what time is it"


async def test_what_was_held_is_let_go(make, microphone, front):
    talk = make()
    talk.let_go()
    microphone.sounds = [speaking(1), silence(3)]
    talk.start(held=True)
    await listening(front)
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
    await listening(front)
    assert talk.state == "listening"
    microphone.feed(silence(0.2))
    await front.until(lambda: bool(front.said))
    talk.choose(way="hold", pause=2, use="always")
    assert microphone.held
    talk.choose(way="hold", pause=2, use="talking")
    assert microphone.state == "closed"


async def test_in_a_conversation_it_stays_open_for_a_while(make, microphone, front, monkeypatch):
    monkeypatch.setattr(module, "LINGER", 0)
    busy = [True]
    closed = asyncio.Event()
    microphone.watch(lambda state: closed.set() if state == "closed" else None)

    def goes_on():
        was, busy[0] = busy[0], False
        return was

    talk = make(use="conversation", busy=goes_on)
    microphone.sounds = [speaking(1)]
    talk.start()
    await listening(front)
    talk.start()
    talk.stop()
    await closed.wait()
    assert front.said
    talk.start()
    await listening(front)
