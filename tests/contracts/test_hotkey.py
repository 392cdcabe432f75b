"""What every hotkey does: the fake, and the real one on a real X screen and a real message bus."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.platform.hotkey_portal import PortalKeys
from jarvis_desktop.platform.shortcut import TALK
from tests.fake_voice import FakeHotkey
from tests.platform.pressed import Pressed

pytestmark = pytest.mark.screen

CONTROL, ALT, SPACE = 0xFFE3, 0xFFE9, 0x20


@dataclass
class Desk:
    """A hotkey and the hand that presses it."""

    hotkey: DesktopHotkey | FakeHotkey
    press: Callable[[], Awaitable[None]]
    release: Callable[[], Awaitable[None]]


@pytest.fixture(params=["fake", "x11", "portal 1", "portal 2"])
async def desk(request):
    if request.param == "fake":
        yield fake_desk()
    elif request.param == "x11":
        yield x11_desk(request.getfixturevalue("screen"))
    else:
        from tests.portal import Portal

        request.getfixturevalue("bus")
        portal = Portal(version=int(request.param[-1]))
        await portal.start()
        yield Desk(real(), portal.press, portal.release)
        await portal.stop()


def real() -> DesktopHotkey:
    return DesktopHotkey("Ctrl+Alt+Space", TALK, portal=PortalKeys("org.example.Talk"))


def fake_desk() -> Desk:
    hotkey = FakeHotkey()

    async def press() -> None:
        if hotkey.press:
            hotkey.press()

    async def release() -> None:
        if hotkey.release:
            hotkey.release()

    return Desk(hotkey, press, release)


def x11_desk(screen) -> Desk:
    async def press() -> None:
        await asyncio.to_thread(screen.press, CONTROL, ALT, SPACE)

    async def release() -> None:
        await asyncio.to_thread(screen.release, CONTROL, ALT, SPACE)

    return Desk(real(), press, release)


async def test_it_says_how_the_key_is_had(desk):
    status = await desk.hotkey.bind(lambda: None, lambda: None)
    assert status == desk.hotkey.status
    assert status.way != "none"
    assert status.key
    assert status.holds
    assert status.why
    await desk.hotkey.close()
    assert desk.hotkey.status.way == "none"


async def test_press_and_release_are_told_in_turns(desk):
    pressed = Pressed()
    await desk.hotkey.bind(pressed.press, pressed.release)
    for _ in range(3):
        await desk.press()
        assert await pressed.next() == "press"
        await desk.release()
        assert await pressed.next() == "release"
    await desk.hotkey.close()
    assert pressed.so_far() == []


async def test_each_change_of_how_it_is_had_is_told(desk):
    statuses: list[HotkeyStatus] = []
    desk.hotkey.watch(statuses.append)
    bound = await desk.hotkey.bind(lambda: None, lambda: None)
    assert statuses[-1] == bound
    await desk.hotkey.close()
    assert statuses[-1] == desk.hotkey.status != bound


async def test_a_closed_one_tells_nothing(desk):
    pressed = Pressed()
    await desk.hotkey.bind(pressed.press, pressed.release)
    await desk.hotkey.close()
    await desk.press()
    await desk.release()
    assert pressed.so_far() == []


async def test_one_that_was_never_bound_closes(desk):
    await desk.hotkey.close()
    assert desk.hotkey.status.way == "none"
