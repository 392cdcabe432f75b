from __future__ import annotations

from pathlib import Path

from jarvis_desktop.assistant.timers import Bell
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.ports import Timer
from tests.assistant.conftest import NOON
from tests.fake_voice import FakePlayer

TIMER = Timer("t", "tea", NOON)


async def test_whoever_wants_to_know_is_told_and_the_sound_is_played():
    player = FakePlayer()
    told: list[Timer] = []
    bell = Bell(player, Path("ring.wav"), told.append)
    await bell.finished()  # nothing rings yet
    bell(TIMER)
    assert told == [TIMER]
    await bell.finished()
    assert player.played == [Path("ring.wav")]


async def test_without_a_sound_device_it_is_still_told():
    told: list[Timer] = []
    bell = Bell(FakePlayer(error=UnavailableError("No sound.")), Path("ring.wav"), told.append)
    bell(TIMER)
    await bell.finished()
    assert told == [TIMER]
