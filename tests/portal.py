"""A private message bus with a stand-in for the desktop's portal that speaks its protocol.

It plays the part of xdg-desktop-portal and of the person: what they grant, refuse and press.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.io.asyncio import DBusConnection, open_dbus_connection

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
ERRORS = "org.freedesktop.portal.Error"


@dataclass
class Portal:
    """What it says of itself, and how the person answers."""

    version: int = 2
    has_registry: bool = True
    has_shortcuts: bool = True
    needs_app: bool = True
    """Refuses programs that did not register, as version 1.21 does."""
    installed: tuple[str, ...] = ("org.example.Talk",)
    """The .desktop files that it knows."""
    answer: int | None = 0
    """The code with which binding is answered; None lets the person think."""
    grants: bool = True
    only: tuple[str, ...] = ()
    """The ids that are granted; () is all."""
    tells_bound: bool = True
    """Whether binding is answered with what was bound."""
    trigger: str | None = ""
    """How the key is described; "" takes what was asked for, None gives no description."""
    closes: bool = False
    """Takes the session back as soon as it is bound."""
    settings: dict[tuple[str, str], tuple[str, object]] = field(default_factory=dict)
    """Namespace and key of a setting of the desktop: its signature and value."""
    calls: list[str] = field(default_factory=list)
    callers: set[str] = field(default_factory=set)
    """Who called anything before it registered."""
    registered: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    """Path of each open session and the program whose it is."""
    bound: dict[str, list[Any]] = field(default_factory=dict)
    _connection: DBusConnection | None = None
    _serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Appear on the bus."""
        self._connection = await open_dbus_connection()
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        message = new_method_call(bus, "RequestName", "su", (NAME, 0))
        await self._connection.send(message)
        while True:
            if (await self._connection.receive()).header.message_type is MessageType.method_return:
                break
        self._serving = asyncio.create_task(self._serve())

    async def stop(self) -> None:
        """Vanish, with all that was lent."""
        assert self._connection
        assert self._serving
        self._serving.cancel()
        await asyncio.gather(self._serving, return_exceptions=True)
        await self._connection.close()
        self._connection = None
        self.registered, self.sessions, self.bound, self.callers = {}, {}, {}, set()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def press(self, name: str = "talk") -> None:
        await self._of_shortcut("Activated", name)

    async def release(self, name: str = "talk") -> None:
        await self._of_shortcut("Deactivated", name)

    async def change(self, trigger: str) -> None:
        """The person chooses another key in the desktop's settings."""
        self.trigger = trigger
        for session, sender in self.sessions.items():
            body = (session, self._described(session))
            await self._signal(sender, PATH, SHORTCUTS, "ShortcutsChanged", "oa(sa{sv})", body)

    async def take_back(self) -> None:
        """Close all sessions."""
        sessions, self.sessions = self.sessions, {}
        for session, sender in sessions.items():
            name = "org.freedesktop.portal.Session"
            await self._signal(sender, session, name, "Closed", "a{sv}", ({},))

    async def _of_shortcut(self, member: str, wanted: str) -> None:
        options = {"activation_token": ("s", "a")} if self.version > 1 else {}
        stamp = int(time.monotonic() * 1000)
        for session, sender in self.sessions.items():
            if wanted in dict(self.bound.get(session, ())):
                body = (session, wanted, stamp, options)
                await self._signal(sender, PATH, SHORTCUTS, member, "osta{sv}", body)

    async def _serve(self) -> None:
        assert self._connection
        with contextlib.suppress(EOFError):
            while True:
                message = await self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    await self._called(message)

    async def _called(self, message: Any) -> None:
        fields = message.header.fields
        method, sender = fields[HeaderFields.member], fields[HeaderFields.sender]
        interface = fields.get(HeaderFields.interface, "")
        self.calls.append(method)
        if interface.endswith("Registry") and self.has_registry:
            await self._register(message, sender)
        elif interface == SHORTCUTS and self.has_shortcuts:
            self.callers.add(sender)
            await {
                "CreateSession": self._create,
                "BindShortcuts": self._bind,
                "ListShortcuts": self._list,
            }[method](message, sender)
        elif method == "Read" and message.body in self.settings:
            await self._return(message, "v", (("v", self.settings[message.body]),))
        else:
            await self._refuse(message, "org.freedesktop.DBus.Error.UnknownMethod")

    async def _register(self, message: Any, sender: str) -> None:
        (app, _) = message.body
        if sender in {*self.registered, *self.callers} or app not in self.installed:
            await self._refuse(message, f"{ERRORS}.Failed")
            return
        self.registered[sender] = app
        await self._return(message)

    async def _create(self, message: Any, sender: str) -> None:
        if self.needs_app and sender not in self.registered:
            await self._refuse(message, f"{ERRORS}.NotAllowed")
            return
        (options,) = message.body
        session = f"{PATH}/session/{_escaped(sender)}/{options['session_handle_token'][1]}"
        self.sessions[session] = sender
        await self._respond(message, sender, options, 0, {"session_handle": ("s", session)})

    async def _bind(self, message: Any, sender: str) -> None:
        session, shortcuts, _, options = message.body
        if session in self.bound or session not in self.sessions:
            await self._refuse(message, "org.freedesktop.DBus.Error.AccessDenied")
            return
        granted = [each for each in shortcuts if not self.only or each[0] in self.only]
        self.bound[session] = granted if self.grants else []
        results: dict[str, Any] = {}
        if self.tells_bound:
            results = {"shortcuts": ("a(sa{sv})", self._described(session))}
        await self._respond(message, sender, options, self.answer, results)
        if self.closes:
            await self.take_back()

    async def _list(self, message: Any, sender: str) -> None:
        session, options = message.body
        results = {"shortcuts": ("a(sa{sv})", self._described(session))}
        await self._respond(message, sender, options, 0, results)

    def _described(self, session: str) -> list[Any]:
        told = []
        for name, asked in self.bound[session]:
            about = {"description": asked["description"]}
            if self.trigger is not None:
                about["trigger_description"] = ("s", self.trigger or asked["preferred_trigger"][1])
            told.append((name, about))
        return told

    async def _respond(
        self, message: Any, sender: str, options: Any, code: int | None, results: Any
    ) -> None:
        """The signal first: who waits for it only after the call would miss it."""
        handle = f"{PATH}/request/{_escaped(sender)}/{options['handle_token'][1]}"
        if code is not None:
            name = "org.freedesktop.portal.Request"
            await self._signal(sender, handle, name, "Response", "ua{sv}", (code, results))
        await self._return(message, "o", (handle,))

    async def _return(self, message: Any, signature: str | None = None, body: Any = ()) -> None:
        assert self._connection
        await self._connection.send(new_method_return(message, signature, body))

    async def _refuse(self, message: Any, name: str) -> None:
        assert self._connection
        await self._connection.send(new_error(message, name, "s", ("It is refused.",)))

    async def _signal(
        self, to: str, path: str, interface: str, member: str, signature: str, body: Any
    ) -> None:
        assert self._connection
        emitter = DBusAddress(path, interface=interface)
        message = new_signal(emitter, member, signature, body)
        message.header.fields[HeaderFields.destination] = to
        await self._connection.send(message)


def _escaped(sender: str) -> str:
    return sender.removeprefix(":").replace(".", "_")


BUS = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
"""The usual one, without services: a real portal would start, and mount a file system in the folder
of the test."""


@contextlib.contextmanager
def start_bus(*options: str) -> Iterator[str]:
    """The address of a message bus that lives as long as this."""
    ours, theirs = os.pipe()
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as config:
        config.write(BUS)
        config.flush()
        command = ["dbus-daemon", f"--config-file={config.name}", "--nofork"]
        daemon = subprocess.Popen(
            [*command, f"--print-address={theirs}", *options],
            pass_fds=[theirs],
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        with open(ours) as told:
            address = told.readline().strip()
    assert address, "dbus-daemon did not start"
    yield address
    daemon.kill()
    daemon.wait(60)


@pytest.fixture(scope="session")
def _bus_of_the_session() -> Iterator[str]:
    with start_bus() as address:
        yield address


@pytest.fixture
def bus(_bus_of_the_session: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A message bus of this test process, and a Wayland desktop in the environment."""
    for name in ("DISPLAY", "XDG_CURRENT_DESKTOP", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", _bus_of_the_session)
    monkeypatch.setenv("XDG_SESSION_TYPE", "wayland")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-test")
    return _bus_of_the_session
