"""A stand-in for the accessibility bus: the launcher, the registry, and the programs on it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call
from jeepney import new_method_return as returned
from jeepney.io.threading import ReceiveStopped, open_dbus_connection

from jarvis_desktop.platform.password_field import (
    ACTIVE,
    EDITABLE,
    FOCUSED,
    PASSWORD_TEXT,
    REGISTRY,
    ROOT,
    SHOWING,
)

Answer = tuple[str, tuple[Any, ...]]
"""The signature and the values of an answer."""
ENTRY, PANEL = 79, 39


class Accessible:
    """A part of a window: its state, its role, and what is in it."""

    def __init__(self, path: str, state: int, *children: Accessible, role: int = PANEL) -> None:
        self.path, self.state, self.children, self.role = path, state, children, role


def password(state: int = FOCUSED | EDITABLE) -> Accessible:
    """A field for a password."""
    return Accessible("/password", state | SHOWING, role=PASSWORD_TEXT)


def entry(state: int = FOCUSED | EDITABLE) -> Accessible:
    """A field for anything else."""
    return Accessible("/entry", state | SHOWING, role=ENTRY)


def panel(*children: Accessible, state: int = SHOWING) -> Accessible:
    """What other things are in."""
    return Accessible(f"/panel{id(children)}", state, *children)


def window(*children: Accessible, state: int = ACTIVE | SHOWING) -> Accessible:
    """A window, the active one."""
    return Accessible(f"/window{id(children)}", state, *children)


class AccessibleDesktop:
    """The windows of one program, described on the session's bus, which is the one for
    accessibility too. `change` may return another answer than the right one, an error (""), or None
    for none."""

    def __init__(self, *windows: Accessible) -> None:
        self.change: Callable[[str, str, Answer], Answer | str | None] = lambda *of: of[2]
        self.asked: list[str] = []
        self._connection = open_dbus_connection()
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        for name in ("org.a11y.Bus", REGISTRY):
            self._connection.send(new_method_call(bus, "RequestName", "su", (name, 0)))
            while self._connection.receive().header.message_type is not MessageType.method_return:
                pass
        self._parts: dict[str, Accessible] = {}
        self._know(Accessible("/program", 0, *windows))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def stop(self) -> None:
        self._connection.interrupt()
        self._thread.join()
        self._connection.close()

    def _know(self, part: Accessible) -> None:
        self._parts[part.path] = part
        for child in part.children:
            self._know(child)

    def _serve(self) -> None:
        with contextlib.suppress(ReceiveStopped):
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._answer(message)

    def _answer(self, message: Any) -> None:
        fields = message.header.fields
        path, method = fields[HeaderFields.path], fields[HeaderFields.member]
        self.asked.append(f"{path} {method}")
        got = self.change(path, method, self._right(path, method))
        if got is None:
            return
        if isinstance(got, str):
            self._connection.send(new_error(message, "org.example.Error"))
        else:
            self._connection.send(returned(message, *got))

    def _right(self, path: str, method: str) -> Answer:
        if method == "GetAddress":
            from jarvis_desktop.platform.dbus import session_address

            return "s", (session_address(),)
        name = self._connection.unique_name
        if path == ROOT:
            return "a(so)", ([(name, "/program")],)
        part = self._parts[path]
        return {
            "GetChildren": ("a(so)", ([(name, child.path) for child in part.children],)),
            "GetState": ("au", ([part.state, 0],)),
            "GetRole": ("u", (part.role,)),
            "Get": ("v", (("i", len(part.children)),)),
        }[method]
