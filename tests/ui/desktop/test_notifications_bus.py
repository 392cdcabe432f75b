"""Notifications on a real message bus, with a stand-in for the desktop's server."""

from __future__ import annotations

import asyncio
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux desktops have a message bus", allow_module_level=True)

from jeepney import DBusAddress, new_signal
from jeepney.io.asyncio import open_dbus_connection

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.ui.desktop.notifications import BusNotices, Note
from tests.families import some
from tests.notices import NAME, PATH, NoticeServer
from tests.portal import start_bus
from tests.ui.scene import HOSTILE

PATIENCE = 60.0
NOTE = Note(
    "a", "JARVIS is done", "It is <b>42</b> & more", (("default", "Show"), ("show", "Show"))
)


@pytest.fixture
async def server(bus):
    server = NoticeServer()
    await server.start()
    yield server
    await server.stop()


class Told(asyncio.Queue[tuple[str, str, str]]):
    def __call__(self, *acted):
        self.put_nowait(acted)

    async def next(self):
        async with asyncio.timeout(PATIENCE):
            return await self.get()


@pytest.fixture
def told():
    return Told()


@pytest.fixture
async def notices(told):
    notices = BusNotices(told)
    yield notices
    await notices.close()


async def test_a_note_is_shown_with_its_actions(server, notices):
    await notices.tell(NOTE)
    (shown,) = server.shown.values()
    assert shown["app"] == "JARVIS Desktop"
    assert shown["title"] == "JARVIS is done"
    assert shown["actions"] == ["default", "Show", "show", "Show"]
    assert shown["hints"]["desktop-entry"] == ("s", "org.jarvisdesktop.JarvisDesktop")
    assert shown["hints"]["image-path"][1].endswith("jarvis.svg")


@pytest.mark.parametrize(
    ("can", "body"),
    [
        (("body", "body-markup"), "It is &lt;b&gt;42&lt;/b&gt; &amp; more"),
        (("body",), "It is <b>42</b> & more"),
    ],
)
async def test_a_body_is_plain_for_every_server(server, notices, can, body):
    server.can = can
    await notices.tell(NOTE)
    (shown,) = server.shown.values()
    assert shown["body"] == body
    assert shown["actions"] == []


@pytest.mark.parametrize("text", some(HOSTILE))
async def test_hostile_texts_stay_short_and_plain(server, notices, text):
    await notices.tell(Note("a", text, text))
    (shown,) = server.shown.values()
    assert len(shown["title"]) <= 81
    assert "<" not in shown["body"]
    assert "\n" not in shown["title"] + shown["body"]


async def test_a_later_note_takes_the_place_of_one_with_its_key(server, notices):
    await notices.tell(NOTE)
    await notices.tell(Note("b", "another"))
    await notices.tell(Note("a", "again"))
    assert [shown["title"] for shown in server.shown.values()] == ["again", "another"]


async def test_what_is_chosen_is_told_with_the_desktops_token(server, notices, told):
    await notices.tell(NOTE)
    await server.click(1, "show", token="tok")
    assert await told.next() == ("a", "show", "tok")
    await server.click(1, "default")
    assert await told.next() == ("a", "default", "")


async def test_a_note_that_was_closed_is_not_acted_on(server, notices, told):
    await notices.tell(NOTE)
    await notices.tell(Note("b", "another"))
    await server.dismiss(1)
    await server.click(1, "show")
    await server.click(2, "show")
    assert (await told.next())[0] == "b"
    assert told.empty()


async def test_a_note_is_withdrawn(server, notices):
    await notices.tell(NOTE)
    await notices.withdraw("a")
    await notices.withdraw("a")
    await notices.withdraw("unknown")
    assert server.closed == [1]


async def test_what_others_signal_is_not_believed(server, notices, told):
    await notices.tell(NOTE)
    stranger = await open_dbus_connection()
    emitter = DBusAddress(PATH, interface=NAME)
    await stranger.send(new_signal(emitter, "ActionInvoked", "us", (1, "evil")))
    await stranger.close()
    await server.click(1, "show")
    assert (await told.next())[1] == "show"


async def test_a_server_that_starts_again_is_used_again(server, notices, told):
    await notices.tell(NOTE)
    await server.stop()
    with pytest.raises(UnavailableError):
        await notices.tell(NOTE)
    other = NoticeServer()
    await other.start()
    await notices.tell(Note("b", "new"))
    await other.click(1, "show")
    assert (await told.next())[:2] == ("b", "show")
    await other.stop()
    await server.start()


async def test_without_a_server_that_is_told(bus, notices):
    with pytest.raises(UnavailableError, match="shows no notifications"):
        await notices.tell(NOTE)


async def test_without_a_bus_that_is_told(notices, monkeypatch):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    with pytest.raises(UnavailableError, match="no message bus"):
        await notices.tell(NOTE)
    await notices.withdraw("a")


async def test_one_that_refuses_is_told(server, notices):
    server.refuses = True
    with pytest.raises(UnavailableError):
        await notices.tell(NOTE)


async def test_a_bus_that_ends_is_opened_anew(notices, monkeypatch, told):
    for _ in range(2):
        with start_bus() as address:
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
            server = NoticeServer()
            await server.start()
            await notices.tell(NOTE)
            assert len(server.shown) == 1
        async with asyncio.timeout(PATIENCE):
            while not notices._is_lost:
                await asyncio.sleep(0.01)
        await server.stop()
