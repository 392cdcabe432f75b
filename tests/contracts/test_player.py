import asyncio

import pytest

from jarvis_desktop.speech.player import SoundPlayer
from tests.fake_voice import FakePlayer
from tests.sound import write_tone

pytestmark = pytest.mark.sound


@pytest.fixture(params=["fake", "real"])
async def player(request, sound_server):
    if request.param == "fake":
        yield FakePlayer()
        return
    player = SoundPlayer()
    yield player
    await player.close()


@pytest.fixture
async def playing(player, tmp_path):
    """What plays for a minute, and can be heard."""
    if isinstance(player, FakePlayer):
        player.hold = True
    begun = asyncio.Event()
    tone = write_tone(tmp_path / "long.wav", seconds=60)
    playing = asyncio.create_task(player.play(tone, begun=begun.set))
    await begun.wait()
    if isinstance(player, FakePlayer):
        player.hold = False
    return playing


async def test_it_plays_one_file_after_the_other(player, tmp_path):
    begun = []
    for number in (1, 2):
        tone = write_tone(tmp_path / f"{number}.wav", seconds=0.1)
        await player.play(tone, begun=lambda number=number: begun.append(number))
    for number in (3, 4):
        tone = write_tone(tmp_path / f"{number}.wav", seconds=0.1)
        await player.play(tone, more=True, begun=lambda number=number: begun.append(number))
    await player.drain()
    assert begun == [1, 2, 3, 4]
    await player.drain()  # nothing is left


async def test_cancelling_ends_it_and_the_next_one_plays(player, playing, tmp_path):
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1))


async def test_silence_ends_it_as_if_the_file_had_and_the_next_one_plays(player, playing, tmp_path):
    player.duck(0.3)
    player.duck(1.0)
    player.silence()
    await playing
    player.silence()  # nothing plays
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1))


async def test_it_begins_where_it_is_wanted_and_tells_how_far_it_is(player, tmp_path):
    assert player.position is None
    if isinstance(player, FakePlayer):
        player.hold = True
    begun = asyncio.Event()
    tone = write_tone(tmp_path / "long.wav", seconds=60)
    playing = asyncio.create_task(player.play(tone, start=50, begun=begun.set))
    await begun.wait()
    assert player.position == pytest.approx(50, abs=0.3)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert player.position is None


async def test_to_play_from_the_end_on_is_to_have_played(player, tmp_path):
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1), start=99)
