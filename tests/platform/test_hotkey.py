import asyncio

import pytest

from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.hotkey import ASKING, NO_DESKTOP, DesktopHotkey, EscapeKey
from jarvis_desktop.platform.hotkey_portal import NO_PORTAL, REFUSED_WORDS, PortalKeys
from jarvis_desktop.platform.hotkey_x11 import LOST
from jarvis_desktop.platform.shortcut import TALK
from tests.platform.pressed import PATIENCE, Pressed
from tests.portal import Portal

pytestmark = pytest.mark.screen

CONTROL, ALT, SPACE, ESC = 0xFFE3, 0xFFE9, 0x20, 0xFF1B
DISPLAYS = "DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP"


@pytest.fixture
def pressed():
    return Pressed()


async def bound(key, pressed=None) -> tuple[DesktopHotkey, HotkeyStatus]:
    pressed = pressed or Pressed()
    hotkey = DesktopHotkey(key, TALK, portal=PortalKeys("org.example.Talk"))
    hotkey.watch(pressed.statuses.put_nowait)
    async with asyncio.timeout(PATIENCE):
        return hotkey, await hotkey.bind(pressed.press, pressed.release)


@pytest.mark.parametrize(
    ("desktop", "advice"),
    [
        ("ubuntu:GNOME", "talk toggle in Settings > Keyboard > View and Customise Shortcuts"),
        ("KDE", "talk toggle in System Settings > Keyboard > Shortcuts"),
        ("sway", "bindsym --no-repeat Ctrl+Mod1+space exec jarvis-desktop talk toggle"),
        ("Hyprland", "bind = CTRL ALT, space, exec, jarvis-desktop talk toggle"),
        ("LXQt", "the command jarvis-desktop talk toggle in the keyboard settings"),
        ("", "the command jarvis-desktop talk toggle in the keyboard settings"),
    ],
)
async def test_without_a_portal_a_wayland_desktop_is_told_the_command(
    bus, monkeypatch, desktop, advice
):
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", desktop)
    hotkey, status = await bound("Ctrl+Alt+Space")
    assert status.way == "none"
    assert status.why.startswith(NO_PORTAL)
    assert advice in status.why
    await hotkey.close()


async def test_the_x_server_of_a_wayland_desktop_is_not_asked(screen, bus, monkeypatch, pressed):
    monkeypatch.setenv("DISPLAY", screen.name)
    hotkey, status = await bound("Ctrl+Alt+Space")
    assert status.way == "none"
    await hotkey.close()


async def test_who_refused_in_the_desktops_question_is_told_what_to_do(bus):
    portal = Portal(answer=1)
    await portal.start()
    hotkey, status = await bound("Ctrl+Alt+Space")
    assert status.way == "none"
    assert status.why.startswith(REFUSED_WORDS)
    assert "remove the key from the settings" in status.why
    await hotkey.close()
    await portal.stop()


async def test_where_another_program_has_the_key_the_portal_is_tried(bus, screen, monkeypatch):
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    first, status = await bound("Ctrl+Alt+Space")
    assert status.way == "x11"
    second, status = await bound("Ctrl+Alt+Space")
    assert status.way == "none"
    assert "Another program has the key Ctrl+Alt+Space already." in status.why
    assert NO_PORTAL in status.why
    await second.close()
    portal = Portal(trigger="Super+T")
    await portal.start()
    third, status = await bound("Ctrl+Alt+Space")
    assert (status.way, status.key) == ("portal", "Super+T")
    assert "Another program has the key" in status.why
    for hotkey in (first, third):
        await hotkey.close()
    await portal.stop()


async def test_where_there_is_no_desktop_that_is_told(monkeypatch):
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    hotkey, status = await bound("Ctrl+Alt+Space")
    assert status.why.startswith(NO_DESKTOP)
    await hotkey.close()


@pytest.mark.parametrize(
    ("key", "why"), [("Ctrl+Spcae", 'no key is called "Spcae"'), ("  ", "No key is set.")]
)
async def test_a_wrong_key_and_none_are_told(key, why):
    hotkey, status = await bound(key)
    assert status.way == "none"
    assert why in status.why
    assert "jarvis-desktop talk toggle" in status.why
    await hotkey.close()


async def test_a_way_that_is_lost_is_told_with_the_command(screen, pressed):
    hotkey, _ = await bound("Ctrl+Alt+Space", pressed)
    screen.stop()
    status = await pressed.status(lambda status: status.why.startswith(LOST))
    assert status == hotkey.status
    assert "jarvis-desktop talk toggle" in status.why
    await hotkey.close()


async def test_a_held_key_is_let_go_when_it_is_given_back(screen, pressed):
    hotkey, _ = await bound("Ctrl+Alt+Space", pressed)
    screen.press(CONTROL, ALT, SPACE)
    assert await pressed.next() == "press"
    await hotkey.close()
    assert await pressed.next() == "release"


async def test_another_key_is_taken_up_at_once(screen, pressed):
    hotkey, _ = await bound("Ctrl+Alt+Space", pressed)
    await hotkey.choose("F9")
    assert (hotkey.status.way, hotkey.status.key) == ("x11", "F9")
    await hotkey.choose("nonsense")
    assert hotkey.status.way == "none"
    await hotkey.close()
    never = DesktopHotkey("F9", TALK, portal=PortalKeys("org.example.Talk"))
    await never.choose("F8")
    assert never.status.way == "none"


@pytest.mark.parametrize("ended", ["closed", "cancelled"])
async def test_it_ends_while_the_person_is_being_asked(bus, pressed, ended):
    portal = Portal(answer=None)
    await portal.start()
    hotkey = DesktopHotkey("Ctrl+Alt+Space", TALK, portal=PortalKeys("org.example.Talk"))
    binding = asyncio.create_task(hotkey.bind(pressed.press, pressed.release))
    async with asyncio.timeout(PATIENCE):
        while "BindShortcuts" not in portal.calls:
            await asyncio.sleep(0)
    assert hotkey.status.why == ASKING
    if ended == "cancelled":
        binding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await binding
        await hotkey.close()
    else:
        await hotkey.close()
        assert (await binding).way == "none"
    portal.answer = 0
    other, status = await bound("Ctrl+Alt+Space")
    assert status.way == "portal"
    await other.close()
    await portal.stop()


async def test_esc_is_reported_while_the_key_is_held(screen, pressed):
    hotkey = DesktopHotkey(
        "Ctrl+Alt+Space",
        TALK,
        portal=PortalKeys("org.example.Talk"),
        escape=lambda: pressed.told.put_nowait("escape"),
    )
    await hotkey.bind(pressed.press, pressed.release)
    await asyncio.to_thread(screen.press, CONTROL, ALT, SPACE, ESC)
    assert [await pressed.next() for _ in range(2)] == ["press", "escape"]
    await asyncio.to_thread(screen.release, CONTROL, ALT, SPACE, ESC)
    await hotkey.close()


async def test_esc_is_taken_only_while_it_is_wanted(screen, pressed, monkeypatch):
    escape = EscapeKey(pressed.press, held=lambda: "no key")
    again = EscapeKey(pressed.press, held=lambda: "Ctrl+Alt+Space")
    escape.take(True)
    await settled(escape)
    await asyncio.to_thread(screen.press, ESC)
    assert await pressed.next() == "press"
    await asyncio.to_thread(screen.release, ESC)
    again.take(True)  # another program has it
    await settled(again)
    await again.close()
    await escape.close()
    again.take(True)
    await settled(again)
    await asyncio.to_thread(screen.press, CONTROL, ALT, ESC)
    assert await pressed.next() == "press"
    await asyncio.to_thread(screen.release, CONTROL, ALT, ESC)
    await again.close()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    escape.take(True)
    await escape.close()
    assert pressed.so_far() == []


async def settled(escape: EscapeKey) -> None:
    if escape._task:
        await escape._task
