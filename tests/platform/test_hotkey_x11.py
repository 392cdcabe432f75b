"""The talk key on a real X server, pressed with its own test extension."""

import asyncio
import time

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.platform import hotkey_x11, shortcut
from jarvis_desktop.platform.hotkey_x11 import LOST, X11Key, X11Keyboard
from jarvis_desktop.platform.shortcut import KEYS, PressState, parse
from tests.platform.pressed import PATIENCE, Pressed

pytestmark = pytest.mark.screen

CONTROL, ALT, SUPER, SHIFT = 0xFFE3, 0xFFE9, 0xFFEB, 0xFFE1
CAPS_LOCK, NUM_LOCK = 0xFFE5, 0xFF7F
SPACE = 0x20
TALK = CONTROL, ALT, SPACE
UNUSED = 97
"""A code on which nothing stands on this keyboard."""


@pytest.fixture
def pressed():
    return Pressed()


@pytest.fixture
async def key(screen, pressed):
    key = X11Key(parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait)
    yield key
    await key.close()


def test_the_keysyms_are_those_of_x11():
    from xcffib import keysymdef

    for key in KEYS.values():
        assert getattr(keysymdef, f"XK_{key.keysym}") == key.code


async def bound(key, pressed) -> None:
    assert (await key.bind(PressState(pressed.press, pressed.release))).way == "x11"


async def tap(screen, pressed, *keysyms) -> None:
    await asyncio.to_thread(screen.press, *keysyms)
    assert await pressed.next() == "press"
    await asyncio.to_thread(screen.release, *keysyms)
    assert await pressed.next() == "release"


async def test_locks_do_not_matter(screen, key, pressed):
    await bound(key, pressed)
    for lock in (CAPS_LOCK, NUM_LOCK, CAPS_LOCK):
        screen.press(lock)
        screen.release(lock)
        await tap(screen, pressed, *TALK)


async def test_other_modifiers_and_keys_are_not_told(screen, key, pressed):
    await bound(key, pressed)
    for others in ((CONTROL, SPACE), (CONTROL, ALT, SHIFT, SPACE), (CONTROL, ALT, 0x6A)):
        screen.press(*others)
        screen.release(*others)
    await tap(screen, pressed, *TALK)
    assert pressed.so_far() == []


async def test_modifiers_may_be_let_go_first(screen, key, pressed):
    await bound(key, pressed)
    screen.press(*TALK)
    screen.release(CONTROL, ALT)
    assert await pressed.next() == "press"
    assert pressed.so_far() == []
    screen.release(SPACE)
    assert await pressed.next() == "release"


@pytest.mark.parametrize("detects", [True, False], ids=["told as one", "told in pairs"])
def test_a_held_key_repeats_itself_without_being_let_go(screen, monkeypatch, detects):
    if not detects:
        monkeypatch.setattr(X11Keyboard, "_tell_repeats", lambda keyboard: False)
    keyboard = X11Keyboard(parse("Ctrl+Alt+Space"))
    keyboard.grab()
    screen.press(*TALK)
    told = until(keyboard, lambda told: told.count("down") >= 3)
    assert "up" not in told
    assert keyboard.is_down()
    screen.release(*TALK)
    assert until(keyboard, lambda told: "up" in told).count("up") == 1
    assert not keyboard.is_down()
    keyboard.close()


def until(keyboard, enough) -> list[str]:
    told: list[str] = []
    end = time.monotonic() + PATIENCE
    while not enough(told):
        assert time.monotonic() < end
        told += keyboard.happened()
    return told


async def test_a_lost_release_is_noticed(screen, key, pressed, monkeypatch):
    whole = X11Keyboard.happened
    monkeypatch.setattr(
        X11Keyboard, "happened", lambda self: (each for each in whole(self) if each != "up")
    )
    await bound(key, pressed)
    await tap(screen, pressed, *TALK)
    await tap(screen, pressed, *TALK)


async def test_a_key_that_moves_is_found_again(screen, key, pressed):
    await bound(key, pressed)
    before = screen.code(SPACE)
    screen.press(CONTROL, ALT, SPACE)
    assert await pressed.next() == "press"
    screen.put(SPACE, UNUSED)
    screen.put(0, before)
    assert await pressed.next() == "release"  # what is held means something else now
    screen.release(CONTROL, ALT)
    await tap(screen, pressed, *TALK)
    assert pressed.statuses.empty()


async def test_a_key_that_vanishes_is_told_and_had_again(screen, key, pressed):
    await bound(key, pressed)
    code = screen.code(SPACE)
    screen.put(0, code)
    status = await pressed.status(lambda status: status.way == "none")
    assert "no key Space" in status.why
    screen.put(SPACE, code)
    await pressed.status(lambda status: status.way == "x11")
    await tap(screen, pressed, *TALK)


async def test_a_key_that_another_program_has_is_told_with_what_to_do(screen, key, pressed):
    other = screen.connect()
    root = other.get_setup().roots[0].root
    grab = other.core.GrabKey(False, root, 4 | 8, screen.code(SPACE), 1, 1, is_checked=True)
    grab.check()
    with pytest.raises(UnavailableError, match=r"has the key Ctrl\+Alt\+Space already") as raised:
        await bound(key, pressed)
    assert raised.value.hint
    other.disconnect()


async def test_a_given_back_key_is_free(screen, pressed):
    for _ in range(2):
        key = X11Key(parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait)
        await bound(key, pressed)
        await tap(screen, pressed, *TALK)
        await key.close()


async def test_a_screen_that_goes_away_is_told_and_the_key_let_go(screen, key, pressed):
    await bound(key, pressed)
    screen.press(*TALK)
    assert await pressed.next() == "press"
    screen.stop()
    assert await pressed.next() == "release"
    assert (await pressed.status(lambda status: status.way == "none")).why == LOST


async def test_a_screen_that_hangs_is_not_waited_for(screen, key, pressed, monkeypatch):
    monkeypatch.setattr(shortcut, "BIND_TIMEOUT_S", 0.2)
    monkeypatch.setattr(shortcut, "JOIN_TIMEOUT_S", 0.2)
    screen.freeze()
    with pytest.raises(UnavailableError, match="does not answer"):
        await bound(key, pressed)
    thread = key._thread
    await key.close()
    screen.thaw()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_where_there_is_no_screen_that_is_said(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":9999")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        X11Keyboard(parse("F9"))


def test_the_x_server_of_a_wayland_desktop_is_no_way(screen, monkeypatch):
    monkeypatch.setattr(hotkey_x11, "XWAYLAND", "XTEST")  # one that this server has
    with pytest.raises(UnavailableError, match="Wayland"):
        X11Keyboard(parse("F9"))


@pytest.mark.parametrize(
    ("written", "keysyms"),
    [("F9", (0xFFC6,)), ("Super+J", (SUPER, 0x6A)), ("Ctrl+Shift+.", (CONTROL, SHIFT, 0x2E))],
)
async def test_any_combination_can_be_had(screen, pressed, written, keysyms):
    key = X11Key(parse(written), pressed.statuses.put_nowait)
    await bound(key, pressed)
    await tap(screen, pressed, *keysyms)
    await key.close()
