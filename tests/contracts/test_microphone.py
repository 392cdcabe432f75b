"""What every Microphone does, the real one on a PulseAudio and the fake of the other tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from jarvis_desktop.core.speech import FRAME, RATE, WIDTH, Microphone, Sound
from jarvis_desktop.speech.microphone import SoundMicrophone
from tests.fake_voice import FakeMicrophone

STRETCH = Sound(bytes(2 * FRAME), level=0.0, speech=(0.1,))


@pytest.fixture(params=[pytest.param("sound", marks=pytest.mark.sound), "fake"])
async def microphone(request) -> AsyncIterator[Microphone]:
    if request.param == "fake":
        yield FakeMicrophone([STRETCH] * 3)
        return
    request.getfixturevalue("sound_server")
    microphone = SoundMicrophone()
    yield microphone
    await microphone.close()


class Watched:
    """The states a microphone went through, one after the other."""

    def __init__(self, microphone: Microphone) -> None:
        self._seen: asyncio.Queue[str] = asyncio.Queue()
        microphone.watch(self._seen.put_nowait)
        self.all: list[str] = []

    async def until(self, state: str) -> None:
        while not self.all or self.all[-1] != state:
            self.all.append(await self._seen.get())


async def some(microphone: Microphone, count: int = 3) -> list[Sound]:
    """The first stretches, after which it is left."""
    heard = []
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        async for sound in sounds:
            heard.append(sound)
            if len(heard) == count:
                return heard
    raise AssertionError("it ended by itself")


async def test_it_gives_stretches_of_sound(microphone):
    for sound in await some(microphone):
        assert sound.pcm
        assert len(sound.pcm) % WIDTH == 0
        assert sound.seconds == len(sound.pcm) / RATE / WIDTH
        assert 0 <= sound.level <= 1
        assert all(0 <= likely <= 1 for likely in sound.speech)


async def test_it_ends_when_told_and_closes_the_device(microphone):
    watched, until = Watched(microphone), asyncio.Event()
    assert microphone.state == "closed"
    async for _ in microphone.listen(until):
        assert microphone.state == "open"
        until.set()
    await watched.until("closed")
    assert "open" in watched.all


async def test_the_sound_goes_on_while_it_is_judged_whether_one_has_finished(microphone):
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        assert (await anext(sounds)).finished is None
        microphone.judge(STRETCH.pcm * 30)
        for _ in range(2):
            assert (await anext(sounds)).pcm


async def test_leaving_it_closes_the_device_too(microphone):
    watched = Watched(microphone)
    await some(microphone, 1)
    await watched.until("closed")
    assert await some(microphone, 1)


async def test_it_listens_again_after_being_cancelled(microphone):
    begun = asyncio.Event()

    async def listen() -> None:
        async with aclosing(microphone.listen(asyncio.Event())) as sounds:
            async for _ in sounds:
                begun.set()

    listening = asyncio.create_task(listen())
    await begun.wait()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert await some(microphone, 1)


async def test_several_listen_at_once_and_the_last_one_closes_it(microphone):
    watched, first_until, second_until = Watched(microphone), asyncio.Event(), asyncio.Event()
    async with (
        aclosing(microphone.listen(first_until)) as first,
        aclosing(microphone.listen(second_until)) as second,
    ):
        assert (await anext(first)).pcm
        assert (await anext(second)).pcm
        first_until.set()
        async for _ in first:
            pass
        assert microphone.state == "open"
        assert (await anext(second)).pcm
        second_until.set()
        async for _ in second:
            pass
    await watched.until("closed")
    assert watched.all.count("open") == 1


async def test_held_open_it_stays_open_when_nobody_listens(microphone):
    watched = Watched(microphone)
    microphone.hold(open=True)
    await watched.until("open")
    await some(microphone, 1)
    assert microphone.state == "open"
    microphone.hold(open=False)
    await watched.until("closed")
    assert watched.all.count("open") == 1
