"""A connection to the session's message bus: method calls and signals. Linux only."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr

BUS = "org.freedesktop.DBus"
CONNECT_TIMEOUT_S = 5.0
"""Seconds to connect."""
CALL_TIMEOUT_S = 10.0
"""Seconds for a call; questions to the user are answered by a later signal."""

Options = dict[str, tuple[str, str]]
"""D-Bus's a{sv} with texts only."""


@dataclass(frozen=True, slots=True)
class BusSignal:
    """A signal on the bus."""

    sender: str
    path: str
    interface: str
    member: str
    signature: str
    body: tuple[Any, ...]


class CallError(Exception):
    """A call was refused; `name` is D-Bus's name for the reason."""

    def __init__(self, name: str, text: str = "") -> None:
        super().__init__(name, text)
        self.name = name
        self.text = text


class MessageBus:
    """A connection that belongs to the loop that opened it."""

    def __init__(
        self, connection: Any, signalled: Callable[[BusSignal], None], lost: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._signalled = signalled
        self._lost = lost
        self._replies: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(
        cls, signalled: Callable[[BusSignal], None], lost: Callable[[], None]
    ) -> MessageBus:
        """Connect; `lost` is called when the bus ends. Raises UnavailableError."""
        from jeepney.io.asyncio import open_dbus_connection

        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                connection = await open_dbus_connection(session_address())
        except (OSError, EOFError, RuntimeError, ValueError, LookupError) as error:
            # jeepney raises KeyError if its reader ends before the first answer, as at the exit.
            raise UnavailableError(
                tr("There is no message bus of a desktop session here.")
            ) from error
        return cls(connection, signalled, lost)

    @property
    def name(self) -> str:
        """The unique name of this connection, such as ":1.42"."""
        return str(self._connection.unique_name)

    async def call(
        self,
        interface: str,
        method: str,
        signature: str,
        *arguments: object,
        path: str,
        to: str,
    ) -> tuple[Any, ...]:
        """Call a method and return its results. Raises CallError."""
        from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call

        address = DBusAddress(path, bus_name=to, interface=interface)
        message = new_method_call(address, method, signature or None, arguments)
        serial = next(self._connection.outgoing_serial)
        reply = self._replies[serial] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                await self._connection.send(message, serial=serial)
                answer = await reply
        except (TimeoutError, OSError) as error:
            raise CallError(tr("{bus}.Error.NoReply", bus=BUS)) from error
        finally:
            self._replies.pop(serial, None)
        if answer.header.message_type is MessageType.error:
            text = answer.body[0] if answer.body and isinstance(answer.body[0], str) else ""
            raise CallError(answer.header.fields.get(HeaderFields.error_name, ""), text)
        return tuple(answer.body)

    async def call_bus(self, method: str, signature: str, *arguments: object) -> tuple[Any, ...]:
        """Call a method of the bus itself. Raises CallError."""
        return await self.call(
            BUS, method, signature, *arguments, path="/org/freedesktop/DBus", to=BUS
        )

    async def close(self) -> None:
        """Disconnect, which releases everything that was granted."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        with contextlib.suppress(OSError):
            await self._connection.close()

    async def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError, ValueError):
            while True:
                self._take(await self._connection.receive())
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(ConnectionError())
        self._lost()

    def _take(self, message: Any) -> None:
        from jeepney import HeaderFields, MessageType

        fields = message.header.fields
        if message.header.message_type is MessageType.signal:
            sender, path, interface, member, signature = (
                str(fields.get(HeaderFields[name], ""))
                for name in ("sender", "path", "interface", "member", "signature")
            )
            body = tuple(message.body)
            self._signalled(BusSignal(sender, path, interface, member, signature, body))
        else:
            reply = self._replies.get(fields.get(HeaderFields.reply_serial, -1))
            if reply and not reply.done():
                reply.set_result(message)


def session_address() -> str:
    """Return the address of the session's bus. Raises ValueError."""
    if address := os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return address
    usual = Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere"), "bus")
    if usual.is_socket():
        return f"unix:path={usual}"
    raise ValueError("no address")
