"""A stand-in for the desktop's notification server, on a real message bus."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

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

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"


@dataclass
class NoticeServer:
    """Keeps what is shown, and clicks on it as a person does."""

    can: tuple[str, ...] = ("actions", "body", "body-markup")
    refuses: bool = False
    shown: dict[int, dict[str, Any]] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)
    _numbers: int = 0
    _connection: DBusConnection | None = None
    _serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._connection = await open_dbus_connection()
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        await self._connection.send(new_method_call(bus, "RequestName", "su", (NAME, 0)))
        while True:
            if (await self._connection.receive()).header.message_type is MessageType.method_return:
                break
        self._serving = asyncio.create_task(self._serve())

    async def stop(self) -> None:
        assert self._connection
        assert self._serving
        self._serving.cancel()
        await asyncio.gather(self._serving, return_exceptions=True)
        await self._connection.close()

    async def click(self, number: int, action: str, token: str = "") -> None:
        if token:
            await self._signal("ActivationToken", "us", (number, token))
        await self._signal("ActionInvoked", "us", (number, action))

    async def dismiss(self, number: int) -> None:
        await self._signal("NotificationClosed", "uu", (number, 2))

    async def _signal(self, member: str, signature: str, body: Any) -> None:
        assert self._connection
        emitter = DBusAddress(PATH, interface=NAME)
        await self._connection.send(new_signal(emitter, member, signature, body))

    async def _serve(self) -> None:
        assert self._connection
        with contextlib.suppress(EOFError):
            while True:
                message = await self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    await self._called(message)

    async def _called(self, message: Any) -> None:
        assert self._connection
        method = message.header.fields[HeaderFields.member]
        if self.refuses:
            error = new_error(message, f"{NAME}.Error", "s", ("It is refused.",))
            await self._connection.send(error)
        elif method == "GetCapabilities":
            await self._connection.send(new_method_return(message, "as", (list(self.can),)))
        elif method == "Notify":
            number = message.body[1] or self._numbers + 1
            self._numbers = max(self._numbers, number)
            names = ("app", "replaces", "icon", "title", "body", "actions", "hints", "expires")
            self.shown[number] = dict(zip(names, message.body, strict=True))
            await self._connection.send(new_method_return(message, "u", (number,)))
        else:
            self.closed.append(message.body[0])
            await self._connection.send(new_method_return(message))
