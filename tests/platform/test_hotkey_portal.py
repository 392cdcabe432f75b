"""The talk key by a stand-in for the desktop's portal, on a real message bus."""

import asyncio
import re

import pytest
from jeepney import DBusAddress, HeaderFields, new_signal
from jeepney.io.asyncio import open_dbus_connection

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform import hotkey_portal
from jarvis_desktop.platform import hotkey_portal as portal_module
from jarvis_desktop.platform.hotkey_portal import (
    BUS_GONE,
    NO_PORTAL,
    NO_SHORTCUTS,
    REFUSED_WORDS,
    TAKEN,
    PortalKey,
    PortalKeys,
)
from jarvis_desktop.platform.shortcut import QUICK, TALK, PressState, parse
from tests.platform.pressed import PATIENCE, Pressed
from tests.portal import PATH, SHORTCUTS, Portal, start_bus

APP = "org.example.Talk"


@pytest.fixture
def pressed():
    return Pressed()


@pytest.fixture
async def portal(bus):
    portal = Portal()
    await portal.start()
    yield portal
    await portal.stop()


@pytest.fixture
async def key(portal, pressed, monkeypatch):
    monkeypatch.setattr(portal_module, "RETRY_DELAYS_S", (0, 0))
    key = PortalKey(TALK, parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait, PortalKeys(APP))
    yield key
    await key.close()


async def bound(key, pressed) -> HotkeyStatus:
    async with asyncio.timeout(PATIENCE):
        status: HotkeyStatus = await key.bind(PressState(pressed.press, pressed.release))
        return status


async def tap(portal, pressed) -> None:
    await portal.press()
    assert await pressed.next() == "press"
    await portal.release()
    assert await pressed.next() == "release"


def is_live(status) -> bool:
    return bool(status.way == "portal")


async def test_the_program_is_registered_first_and_the_key_asked_for(portal, key, pressed):
    status = await bound(key, pressed)
    assert portal.calls == ["Register", "CreateSession", "BindShortcuts"]
    assert list(portal.registered.values()) == [APP]
    assert status.key == "CTRL+ALT+space"
    assert status.holds


async def test_an_older_portal_without_a_registry_lends_it_too(portal, key, pressed):
    portal.has_registry = portal.needs_app = False
    await bound(key, pressed)
    await tap(portal, pressed)


async def test_a_portal_that_does_not_tell_what_it_bound_is_asked(portal, key, pressed):
    portal.tells_bound = False
    portal.trigger = "Super+T"
    assert (await bound(key, pressed)).key == "Super+T"
    assert portal.calls[-1] == "ListShortcuts"


async def test_where_no_key_is_told_the_person_hears_what_to_do(portal, key, pressed):
    portal.trigger = None
    status = await bound(key, pressed)
    assert status.key == ""
    assert "bind = CTRL ALT, space, global, org.example.Talk:talk" in status.why
    await tap(portal, pressed)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"answer": 1}, REFUSED_WORDS),
        ({"grants": False}, REFUSED_WORDS),
        ({"answer": 2}, "could not give the key"),
        ({"installed": ()}, r"org\.example\.Talk\.desktop is not in its list"),
        ({"has_shortcuts": False}, re.escape(NO_SHORTCUTS)),
        ({"closes": True, "answer": None}, "took the key back"),
    ],
)
async def test_why_the_key_is_not_lent_is_told(portal, key, pressed, how, why):
    for name, value in how.items():
        setattr(portal, name, value)
    with pytest.raises(UnavailableError, match=why):
        await bound(key, pressed)
    assert portal.calls.count("BindShortcuts") <= 1


async def test_where_there_is_no_portal_that_is_told(bus, pressed):
    key = PortalKey(TALK, parse("F9"), pressed.statuses.put_nowait, PortalKeys(APP))
    with pytest.raises(UnavailableError) as raised:
        await bound(key, pressed)
    assert str(raised.value) == NO_PORTAL
    await key.close()


@pytest.mark.parametrize("address", ["unix:path=/nowhere/at/all", "disabled:", "tcp:host=x", ""])
async def test_where_there_is_no_bus_that_is_told(pressed, monkeypatch, address):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    key = PortalKey(TALK, parse("F9"), pressed.statuses.put_nowait, PortalKeys(APP))
    with pytest.raises(UnavailableError, match="no message bus"):
        await bound(key, pressed)
    await key.close()


async def test_the_usual_place_of_the_bus_is_found(portal, key, pressed, monkeypatch, tmp_path):
    with start_bus(f"--address=unix:path={tmp_path}/bus") as address:
        assert address
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        with pytest.raises(UnavailableError) as raised:  # the bus is another one, with no portal
            await bound(key, pressed)
        assert str(raised.value) == NO_PORTAL


async def test_a_portal_that_starts_again_is_asked_again(portal, key, pressed):
    await bound(key, pressed)
    for _ in range(2):
        await portal.restart()
        await pressed.status(is_live)
        assert portal.registered
        await tap(portal, pressed)


async def test_a_portal_that_ends_lets_the_key_go(portal, key, pressed):
    await bound(key, pressed)
    await portal.press()
    assert await pressed.next() == "press"
    await portal.stop()
    assert await pressed.next() == "release"
    await pressed.status(lambda status: status.why == NO_PORTAL)
    await portal.start()
    await pressed.status(is_live)


async def test_a_session_that_is_closed_is_begun_again(portal, key, pressed):
    await bound(key, pressed)
    await portal.take_back()
    await pressed.status(is_live)
    await tap(portal, pressed)
    assert portal.calls.count("Register") == 1


async def test_a_desktop_that_always_takes_it_back_is_left_in_peace(portal, key, pressed):
    await bound(key, pressed)
    for _ in portal_module.RETRY_DELAYS_S:
        await portal.take_back()
        await pressed.status(is_live)
    await portal.take_back()
    await pressed.status(lambda status: status.why == TAKEN)
    assert portal.calls.count("BindShortcuts") == 1 + len(portal_module.RETRY_DELAYS_S)


async def test_one_that_takes_it_back_at_once_is_asked_a_few_times(portal, key, pressed):
    await bound(key, pressed)
    portal.closes = True
    await portal.take_back()
    await pressed.status(lambda status: status.why == TAKEN)


async def test_who_refused_is_not_asked_again(portal, key, pressed):
    await bound(key, pressed)
    portal.answer = 1
    await portal.restart()
    assert REFUSED_WORDS in (await pressed.status(lambda status: REFUSED_WORDS in status.why)).why
    asked = portal.calls.count("BindShortcuts")
    portal.answer = 0
    await portal.restart()
    await portal.press()
    other = PortalKey(TALK, parse("F9"), pressed.statuses.put_nowait, PortalKeys(APP))
    await bound(other, pressed)  # by now the first has seen the new portal
    await other.close()
    assert portal.calls.count("BindShortcuts") == asked + 1
    assert pressed.statuses.empty()


async def test_a_key_that_the_person_changes_is_told(portal, key, pressed):
    await bound(key, pressed)
    await portal.change("Super+Space\n")
    status = await pressed.status(is_live)
    assert status.key == "Super+Space"


async def test_a_key_that_repeats_itself_is_pressed_once(portal, key, pressed):
    await bound(key, pressed)
    for _ in range(5):
        await portal.press()
    await portal.release()
    assert [await pressed.next(), await pressed.next()] == ["press", "release"]
    assert pressed.so_far() == []


async def test_a_lost_release_is_made_good_by_the_next_press(portal, key, pressed, monkeypatch):
    await bound(key, pressed)
    await tap(portal, pressed)
    monkeypatch.setattr(hotkey_portal, "REPEAT_S", 0)
    for _ in range(2):
        await portal.press()
    assert [await pressed.next() for _ in range(3)] == ["press", "release", "press"]
    await portal.release()
    assert await pressed.next() == "release"
    assert pressed.statuses.empty()  # it tells releases, but for that one


async def test_a_desktop_that_never_tells_of_a_release_is_known_by_that(
    portal, key, pressed, monkeypatch
):
    monkeypatch.setattr(hotkey_portal, "REPEAT_S", 0)
    assert (await bound(key, pressed)).holds
    for _ in range(2):
        await portal.press()
    assert [await pressed.next() for _ in range(4)] == 2 * ["press", "release"]
    assert not (await pressed.status(is_live)).holds
    await portal.press()
    assert [await pressed.next() for _ in range(2)] == ["press", "release"]
    await portal.release()  # it does tell
    assert (await pressed.status(is_live)).holds


async def test_what_others_signal_is_not_believed(portal, key, pressed):
    await bound(key, pressed)
    ((session, sender),) = portal.sessions.items()
    stranger = await open_dbus_connection()
    for signature, body in (("osta{sv}", (session, "talk", 1, {})), ("o", (session,))):
        emitter = DBusAddress(PATH, interface=SHORTCUTS)
        message = new_signal(emitter, "Activated", signature, body)
        message.header.fields[HeaderFields.destination] = sender
        await stranger.send(message)
    await stranger.close()
    await portal._signal(sender, PATH, SHORTCUTS, "Activated", "o", (session,))  # misshapen
    await tap(portal, pressed)
    assert pressed.so_far() == []


async def test_a_bus_that_ends_is_told(pressed, monkeypatch, tmp_path):
    with start_bus() as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        portal = Portal()
        await portal.start()
        key = PortalKey(TALK, parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait, PortalKeys(APP))
        await bound(key, pressed)
        await portal.press()
        assert await pressed.next() == "press"
    assert await pressed.next() == "release"
    assert (await pressed.status(lambda status: True)).why == BUS_GONE
    await key.close()
    await portal.stop()


async def test_it_closes_while_the_person_is_being_asked(portal, key, pressed):
    portal.answer = None
    binding = asyncio.create_task(bound(key, pressed))
    async with asyncio.timeout(PATIENCE):
        while "BindShortcuts" not in portal.calls:
            await asyncio.sleep(0)
    binding.cancel()
    await asyncio.gather(binding, return_exceptions=True)
    await key.close()
    assert pressed.statuses.empty()


@pytest.fixture
async def both(portal, pressed):
    """The talk key and that of the quick box, in one portal session."""
    keys = PortalKeys(APP)
    quick = Pressed()
    talk = PortalKey(TALK, parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait, keys)
    box = PortalKey(QUICK, parse("Ctrl+Alt+J"), quick.statuses.put_nowait, keys)
    await asyncio.gather(bound(talk, pressed), bound(box, quick))
    yield talk, box, quick
    await talk.close()
    await box.close()


async def test_two_keys_are_asked_for_in_one_question(portal, both, pressed):
    assert portal.calls.count("BindShortcuts") == portal.calls.count("CreateSession") == 1
    (shortcuts,) = portal.bound.values()
    assert [name for name, _ in shortcuts] == ["talk", "quick"]
    assert dict(shortcuts)["quick"]["preferred_trigger"] == ("s", "CTRL+ALT+j")


async def test_each_of_two_keys_is_told_apart(portal, both, pressed):
    _, _, quick = both
    await portal.press("quick")
    await portal.release("quick")
    assert [await quick.next(), await quick.next()] == ["press", "release"]
    assert pressed.so_far() == []
    await portal.press("talk")
    assert await pressed.next() == "press"
    assert quick.so_far() == []


async def test_one_of_two_keys_may_not_be_granted(portal, pressed):
    portal.only = ("talk",)
    keys, quick = PortalKeys(APP), Pressed()
    talk = PortalKey(TALK, parse("Ctrl+Alt+Space"), pressed.statuses.put_nowait, keys)
    box = PortalKey(QUICK, parse("Ctrl+Alt+J"), quick.statuses.put_nowait, keys)
    first, second = await asyncio.gather(
        bound(talk, pressed), bound(box, quick), return_exceptions=True
    )
    assert isinstance(first, HotkeyStatus)
    assert first.way == "portal"
    assert isinstance(second, UnavailableError)
    assert str(second).startswith(REFUSED_WORDS)
    await tap(portal, pressed)
    await box.close()
    await talk.close()


async def test_one_key_is_given_back_without_the_other(portal, both, pressed):
    talk, box, quick = both
    await box.close()
    async with asyncio.timeout(PATIENCE):
        while portal.calls.count("BindShortcuts") < 2:
            await asyncio.sleep(0.01)
        async with talk._portal._renewing:
            """The answer was taken; what is pressed before that is pressed for nobody."""
    assert [name for name, _ in list(portal.bound.values())[-1]] == ["talk"]
    await tap(portal, pressed)
    assert quick.so_far() == []


async def test_another_key_is_asked_for_with_the_one_that_stays(portal, both, pressed):
    talk, box, quick = both
    await box.close()
    other = PortalKey(QUICK, parse("F9"), quick.statuses.put_nowait, talk._portal)
    assert (await bound(other, quick)).key == "F9"
    assert [name for name, _ in list(portal.bound.values())[-1]] == ["talk", "quick"]
    assert portal.calls.count("BindShortcuts") == 2
    await tap(portal, pressed)
    await other.close()


async def test_who_refuses_two_keys_is_asked_once(portal, pressed):
    portal.answer = 1
    keys = PortalKeys(APP)

    async def asked(shortcut):
        key = PortalKey(shortcut, parse("F9"), pressed.statuses.put_nowait, keys)
        try:
            await bound(key, pressed)
        finally:
            await key.close()

    told = await asyncio.gather(asked(TALK), asked(QUICK), return_exceptions=True)
    assert all(str(each).startswith(REFUSED_WORDS) for each in told)
    assert portal.calls.count("BindShortcuts") == 1


async def test_a_press_brings_what_lets_a_window_come_to_the_front(portal, key, pressed):
    keys = PressState(pressed.press, pressed.release)
    await key.bind(keys)
    await tap(portal, pressed)
    assert keys.token == "a"
    portal.version = 1  # which has none
    await tap(portal, pressed)
    assert keys.token == ""
