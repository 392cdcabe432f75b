"""Dictation: what is said is written where the caret is, and nothing else happens with it."""

import asyncio
import threading

import pytest

from jarvis_desktop.assistant.talk import dictation as module
from jarvis_desktop.assistant.talk.dictation import DictationSession, DictationState
from jarvis_desktop.assistant.talk.talk import MAX_SPEECH_S, Talk
from jarvis_desktop.core.errors import InputError, InsertionError, UnavailableError
from jarvis_desktop.core.speech import Loudness, Partial
from jarvis_desktop.text.dictation import DictationRules
from tests.assistant.talk.front import FakeDictationFront, silence, speaking
from tests.fake_voice import FakeTextInserter


@pytest.fixture
def inserter():
    return FakeTextInserter()


@pytest.fixture
def kept():
    return []


@pytest.fixture
def screen():
    return FakeDictationFront()


@pytest.fixture
def escapes():
    return []


@pytest.fixture
async def dictation(microphone, recogniser, inserter, kept, screen, escapes):
    microphone.sounds = [speaking(1)]
    recogniser.hears = "Hello there."

    async def shout(text: str) -> str:
        return text.upper()

    talk = Talk(microphone, recogniser, way="hold", pause=1)
    session = DictationSession(
        talk, inserter, keep=kept.append, clean_up=shout, escape=escapes.append
    )
    session.front = screen
    yield session
    await session.close()
    assert microphone.state == "closed"
    assert inserter.closed
    assert escapes[-1] is False


async def dictate(session, screen, phase="written"):
    before = len(screen.levels)
    session.talk.press()
    await screen.hears(before + 1)
    session.talk.release()
    return await screen.until(phase)


async def test_what_is_said_is_written_at_the_caret(
    dictation, recogniser, inserter, kept, screen, escapes
):
    recogniser.partials = (Partial("Hello", "there"),)
    dictation.talk.press()
    await screen.hears()
    assert dictation.active
    dictation.talk.release()
    state = await screen.until("written")
    assert not dictation.active
    assert inserter.inserted == kept == ["Hello there."]
    assert inserter.aims == 1
    assert state.words == Partial("Hello there.")
    assert screen.phases == ["waiting", "listening", "recognising", "writing", "written"]
    assert DictationState("listening", Partial("Hello", "there"), held=True) in screen.states
    assert escapes == [True, False]
    dictation.dismiss()
    assert screen.states[-1] == DictationState()


async def test_what_is_shown_is_what_will_be_written(dictation, recogniser, inserter, kept, screen):
    dictation.rules = DictationRules(replacements=("my mail = a@b.org",))
    dictation.spaces = True
    recogniser.hears = "Write to my mail. New line. Bye."
    recogniser.partials = (
        Partial("Write to my", "mail."),
        Partial("Write to my mail. New line.", "Bye."),
        Partial("One.", "Scratch that."),
    )
    dictation.talk.press()
    for number in range(1, 4):
        await screen.hears(number)
        dictation.talk._microphone.feed(speaking(0.1))
    dictation.talk.release()
    await screen.until("written")
    words = [state.words for state in screen.states]
    assert Partial("", "Write to a@b.org.") in words
    assert Partial("Write to a@b.org.\n", "Bye.") in words
    assert Partial("", "") in words
    assert words[-1] == Partial("Write to a@b.org.\nBye. ")
    assert kept == ["Write to a@b.org.\nBye."]
    assert inserter.inserted == ["Write to a@b.org.\nBye. "]


async def test_the_field_of_jarvis_that_has_the_focus_takes_it(dictation, inserter, screen):
    screen.own = []
    inserter.unusable = "Not asked."
    await dictate(dictation, screen)
    assert screen.own == ["Hello there."]
    assert inserter.inserted == []


@pytest.mark.parametrize("whose", ["own field", "another program"])
async def test_where_nothing_may_be_written_nobody_listens(
    dictation, inserter, screen, kept, whose
):
    reason = "This is a field for a password."
    if whose == "own field":
        screen.refuses = reason
    else:
        inserter.unusable = reason
    dictation.talk.press()
    state = await screen.until("failed")
    assert state == DictationState("failed", message=reason)
    dictation.talk.release()
    await dictation.settled()
    assert screen.states[-1] == state
    assert inserter.inserted == kept == []


@pytest.mark.parametrize(
    ("error", "rest"),
    [(InsertionError("Half.", rest="there."), "there."), (UnavailableError("No."), "Hello there.")],
)
async def test_what_cannot_be_inserted_is_kept_and_offered(
    dictation, inserter, screen, kept, error, rest
):
    inserter.error = error
    state = await dictate(dictation, screen, "failed")
    assert (state.message, state.rest) == (str(error), rest)
    assert kept == ["Hello there."]
    inserter.error = None
    await dictation.paste(rest)
    assert inserter.inserted == [rest]
    assert screen.states[-1].phase == "written"


async def test_a_failure_is_shown_after_the_next_dictation(dictation, inserter, screen):
    inserter.error = UnavailableError("No.")
    inserter.gate = threading.Event()
    await dictate(dictation, screen, "writing")
    dictation.talk.press()
    await screen.until("listening")
    inserter.gate.set()
    while inserter.tried < 1:
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    assert screen.states[-1].phase == "listening"
    dictation.cancel()
    assert screen.states[-1].message == "No."
    dictation.dismiss()
    assert screen.states[-1] == DictationState()


async def test_nothing_is_typed_while_a_key_is_held(dictation, recogniser, inserter, screen):
    dictation.talk.press()
    await screen.hears()
    dictation.talk.release()
    dictation.talk.press()
    await screen.hears(2)
    for _ in range(5):
        await asyncio.sleep(0)
    assert inserter.inserted == []
    dictation.talk.release()
    while len(inserter.inserted) < 2:
        await asyncio.sleep(0)
    await dictation.settled()
    assert screen.states[-1].phase == "written"


async def test_esc_forgets_what_was_said(dictation, inserter, screen, kept):
    assert dictation.cancel() is False
    dictation.dismiss()
    dictation.toggle()
    await screen.hears()
    assert dictation.cancel() is True
    await dictation.settled()
    await asyncio.sleep(0)
    assert screen.states[-1] == DictationState()
    assert inserter.inserted == kept == []


async def test_an_llm_may_tidy_it_up_and_esc_ends_that_too(dictation, inserter, screen, kept):
    dictation.tidies = True
    await dictate(dictation, screen)
    assert inserter.inserted == kept == ["HELLO THERE."]
    asked = asyncio.Event()

    async def slow(text: str) -> str:
        asked.set()
        await asyncio.Event().wait()
        return text

    dictation._clean_up = slow
    await dictate(dictation, screen, "tidying")
    await asked.wait()
    assert dictation.cancel() is True
    await dictation.settled()
    assert inserter.inserted == ["HELLO THERE."]


async def test_a_text_of_nothing_is_not_written(dictation, recogniser, inserter, screen):
    recogniser.hears = "Scratch that."
    state = await dictate(dictation, screen, "failed")
    assert state.message == module.NOTHING_LEFT
    assert inserter.inserted == []
    dictation.dismiss()
    assert screen.states[-1] == DictationState()


async def test_silence_ends_it_where_no_key_is_held(dictation, microphone, inserter, screen):
    dictation.talk.start()
    await screen.hears()
    microphone.feed(silence(1.1))
    await screen.until("written")
    assert inserter.inserted == ["Hello there."]
    dictation.talk.start()
    await screen.hears(3)
    dictation.talk.stop()
    await screen.until("written")
    assert inserter.inserted == ["Hello there."] * 2


@pytest.mark.parametrize("where", ["microphone", "recogniser"])
async def test_a_reason_is_stated_if_nobody_can_be_heard(
    dictation, microphone, recogniser, screen, where
):
    if where == "microphone":
        microphone.sounds, microphone.error = [], UnavailableError("There is no microphone.")
        dictation.talk.press()
        state = await screen.until("failed")
        dictation.talk.release()
    else:
        recogniser.error = InputError("Nobody seems to speak.")
        state = await dictate(dictation, screen, "failed")
    assert state.message in ("There is no microphone.", "Nobody seems to speak.")


async def test_what_was_said_in_ten_minutes_is_written(dictation, microphone, inserter, screen):
    microphone.sounds = [speaking(MAX_SPEECH_S + 1)]
    dictation.talk.press()
    state = await screen.until("written")
    assert inserter.inserted == ["Hello there."]
    assert "ten minutes" in state.message


async def test_a_bug_does_not_end_in_silence(dictation, inserter, screen, caplog):
    inserter.error = RuntimeError("bug")
    state = await dictate(dictation, screen, "failed")
    assert state.message == module.UNEXPECTED
    caplog.clear()


async def test_it_goes_on_without_a_screen(dictation, inserter, kept, screen):
    dictation.toggle()
    await screen.hears()
    dictation.front = None
    dictation.show(Loudness(0.5))
    dictation.toggle()
    while not inserter.inserted:
        await asyncio.sleep(0)
    await dictation.settled()
    assert kept == ["Hello there."]
    assert dictation.state == DictationState("written", Partial("Hello there."))


async def test_it_is_checked_without_a_screen_too(dictation, inserter):
    inserter.unusable = "No window has the keyboard."
    dictation.front = None
    dictation.talk.press()
    while dictation.state.phase != "failed":
        await asyncio.sleep(0)
    assert dictation.state.message == inserter.unusable
