import asyncio

import pytest

from jarvis_desktop.assistant.talk.barge_in import DUCKED_VOLUME, BargeIn
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import Partial
from tests.assistant.talk.front import silence, speaking
from tests.fake_voice import FakeMicrophone, FakeRecogniser

SPOKEN = "The picture shows a red bicycle."


class Started:
    """Keeps with what it was begun."""

    def __init__(self):
        self.said = []
        self.event = asyncio.Event()

    def start(self, *, held=False, said=b"", echo_free=False):
        self.said.append(said)
        self.echo_free = echo_free
        self.event.set()


class House:
    def __init__(self):
        self.microphone, self.recogniser = FakeMicrophone(), FakeRecogniser()
        self.talk = Started()
        self.shares: list[float] = []
        self.echo_free = False
        self.closed = asyncio.Event()
        self.microphone.watch(lambda state: self.closed.set() if state == "closed" else None)
        self.interruption = BargeIn(
            self.talk.start,
            self.microphone,
            self.recogniser,
            duck=self.shares.append,
            echo_free=lambda: self.echo_free,
        )

    async def taken(self):
        """Wait until all that was fed was looked at."""
        async with asyncio.timeout(60):
            while not (self.microphone.listened and self.microphone.heard):
                await asyncio.sleep(0)
            for _ in range(5):
                await asyncio.sleep(0)


@pytest.fixture
async def house():
    house = House()
    yield house
    await house.interruption.close()
    assert house.microphone.state == "closed"


async def test_words_of_a_person_end_it_with_all_that_they_said(house):
    house.recogniser.partials = [Partial("", "what"), Partial("what else", "is")]
    house.microphone.sounds = [*map(silence, (1, 0.4, 0.1)), speaking(0.3), speaking(0.5)]
    house.interruption.speaking(SPOKEN)
    await house.talk.event.wait()
    assert house.talk.said == [b"".join(each.pcm for each in house.microphone.sounds[1:4])]
    assert house.recogniser.hearings[0].dropped
    await house.interruption.close()
    assert house.shares == [DUCKED_VOLUME, 1.0]


async def test_one_word_is_enough_where_it_says_so(house):
    house.recogniser.partials = [Partial("", "stop")]
    house.microphone.sounds = [speaking(0.5), speaking(0.1)]
    house.interruption.speaking(SPOKEN)
    await house.talk.event.wait()


async def test_its_own_voice_interrupts_nothing(house):
    house.recogniser.partials = [Partial("the picture", "shows"), Partial("the picture shows", "a")]
    house.microphone.sounds = [speaking(0.5)] * 4
    house.interruption.speaking(SPOKEN)
    await house.taken()
    house.interruption.speaking("A man rides on it.")
    assert (house.talk.said, house.shares) == ([], [])


async def test_a_word_that_nothing_follows_makes_it_quieter_for_a_moment(house):
    house.recogniser.partials = [Partial("", "hm")]
    house.microphone.sounds = [speaking(0.5), silence(1), silence(1)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    assert (house.talk.said, house.shares) == ([], [DUCKED_VOLUME, 1.0])
    assert house.recogniser.hearings[0].dropped


async def test_it_listens_only_while_something_is_spoken(house):
    house.interruption.speaking("")
    house.microphone.sounds = [speaking(0.5)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    assert house.microphone.state == "open"
    house.interruption.speaking("")
    await house.closed.wait()
    assert house.recogniser.hearings[0].dropped


async def test_each_sentence_of_its_own_is_listened_to_anew(house):
    house.recogniser.partials = [Partial("the picture", "shows")]
    house.microphone.sounds = [speaking(0.5)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    house.interruption.speaking("A man rides on it.")
    house.microphone.feed(speaking(0.5))
    await house.taken()
    assert len(house.recogniser.hearings) == 2
    assert house.recogniser.hearings[0].dropped


async def test_speech_that_goes_on_at_once_is_listened_to_as_well(house):
    house.microphone.sounds = [silence(0.1)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    house.interruption.speaking("")
    house.interruption.speaking("Shall I go on?")
    async with asyncio.timeout(60):
        while house.microphone.listened < 2:
            await asyncio.sleep(0)


async def test_without_a_microphone_the_answer_goes_on(house):
    house.microphone.error = UnavailableError("There is no microphone.")
    house.interruption.speaking(SPOKEN)
    await house.closed.wait()


async def test_an_unexpected_error_is_logged(house, caplog):
    def fail(show):
        raise ValueError("odd")

    house.recogniser.hear = fail
    house.microphone.sounds = [speaking(0.5)]
    house.interruption.speaking(SPOKEN)
    await house.closed.wait()
    await house.interruption.close()
    assert "ValueError" in caplog.text
    caplog.clear()


async def test_without_its_own_voice_any_speech_is_the_users(house):
    house.echo_free = True
    house.microphone.sounds = [silence(0.2), speaking(0.2)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    assert (house.talk.said, house.shares) == ([], [DUCKED_VOLUME])
    house.interruption.speaking("A man rides on it.")  # the same speech of the user goes on
    house.microphone.feed(speaking(0.4))
    await house.talk.event.wait()
    assert house.talk.echo_free
    assert len(house.recogniser.hearings) == 1


async def test_a_cough_makes_it_quieter_at_most(house):
    house.echo_free = True
    house.microphone.sounds = [speaking(0.2), silence(1)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    assert (house.talk.said, house.shares) == ([], [DUCKED_VOLUME, 1.0])


async def test_a_click_does_nothing(house):
    house.echo_free = True
    house.microphone.sounds = [speaking(0.03), silence(1)]
    house.interruption.speaking(SPOKEN)
    await house.taken()
    assert (house.talk.said, house.shares) == ([], [])
