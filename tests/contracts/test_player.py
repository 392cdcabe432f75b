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


async def test_it_plays_one_file_after_the_other(player, tmp_path):
    for number in (1, 2):
        await player.play(write_tone(tmp_path / f"{number}.wav", seconds=0.1))


async def test_cancelling_ends_it_and_the_next_one_plays(player, tmp_path):
    if isinstance(player, FakePlayer):
        player.hold = True
    playing = asyncio.create_task(player.play(write_tone(tmp_path / "long.wav", seconds=60)))
    await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    if isinstance(player, FakePlayer):
        player.hold = False
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1))
