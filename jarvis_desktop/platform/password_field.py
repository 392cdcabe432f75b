"""Finds out whether the field that has the focus is for a password, on Linux.

Programs describe their windows on a message bus for accessibility (AT-SPI). It is asked only if a
program is there already, so that nothing is started or switched on by it. Many programs describe
themselves only if accessibility is switched on for the desktop, and no terminal knows what the
program within it does with a line: if nobody answers, the field is taken for any other.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.platform.dbus import BUS, session_address
from jarvis_desktop.platform.insertion import PASSWORD

log = logging.getLogger(__name__)

WHILE_SPEAKING_S = 0.3
BEFORE_INSERTION_S = 0.15
"""Seconds to wait for the answers of all programs: when the user begins to speak, and when the text
is there, which usually takes a few milliseconds, as the field is known by then."""
LAUNCHER = "org.a11y.Bus"
REGISTRY = "org.a11y.atspi.Registry"
ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE = "org.a11y.atspi.Accessible"
PROPERTIES = "org.freedesktop.DBus.Properties"
PASSWORD_TEXT = 40
"""The role of a field for a password."""
ACTIVE, EDITABLE, FOCUSED, SHOWING = 1 << 1, 1 << 7, 1 << 12, 1 << 25
"""Bits of a state: of a window that has the focus, and of what is in it."""
MOST_CHILDREN = 500
"""What has more is a table or a list, whose program may take seconds to describe it."""
AT_ONCE = 64
"""Questions that wait for an answer."""

Part = tuple[str, str]
"""Of a window: the name of its program on the bus, and its path there."""


class PasswordField:
    """Remembers which field had the focus: no search is needed as long as it has it."""

    def __init__(self) -> None:
        self._field: Part | None = None

    def check(self) -> str | None:
        """Return why nothing is inserted if a field for a password has the focus, else None."""
        return tr(PASSWORD) if self._has_focus(WHILE_SPEAKING_S) else None

    def refuse(self) -> None:
        """Raise UnavailableError if a field for a password has the focus."""
        if self._has_focus(BEFORE_INSERTION_S):
            raise UnavailableError(tr(PASSWORD))

    def _has_focus(self, limit: float) -> bool:
        """Return False if it is not known after this many seconds."""
        until = time.monotonic() + limit
        try:
            with _Connection(session_address(), until) as bus:
                address = bus.address_of_accessibility()
            if not address:
                return False
            with _Connection(address, until) as bus:
                search = _Search(bus, self._field)
                search.run()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, text can be inserted
            log.info("The accessibility bus did not report the focus: %s", frames(error))
            return False
        self._field = search.field
        return search.is_password


_Steps = Generator[tuple[Any, ...], Any, None]
"""Yields questions, and is sent their answers: part, method, D-Bus's signature of the answer, and
texts as arguments. A question that is refused is its last."""


class _Search:
    """Walks through the active windows, much at a time, until the field with the focus is found."""

    def __init__(self, bus: _Connection, before: Part | None) -> None:
        self.field: Part | None = None
        self.is_password = False
        self._bus = bus
        self._before = before
        self._waiting: deque[tuple[_Steps, tuple[Any, ...]]] = deque()
        self._asked: dict[int, tuple[_Steps, str]] = {}

    def run(self) -> None:
        """Search. Raises TimeoutError."""
        if self._before:
            self._go_on(self._look_at(self._before))
            self._take_answers()
            self._before = None
        if not self.field and self._bus.has(REGISTRY):
            self._go_on(self._look_at_children((REGISTRY, ROOT), self._look_at_program))
            self._take_answers()

    def _look_at_program(self, program: Part) -> _Steps:
        return self._look_at_children(program, self._look_at_window)

    def _look_at_window(self, window: Part) -> _Steps:
        state = yield window, "GetState", "au"
        if state and state[0] & ACTIVE:
            yield from self._look_into(window)

    def _look_into(self, part: Part) -> _Steps:
        kind, count = yield part, "Get", "v", ACCESSIBLE, "ChildCount"
        if kind == "i" and 0 < count <= MOST_CHILDREN:
            yield from self._look_at_children(part, self._look_at)

    def _look_at_children(self, part: Part, look_at: Callable[[Part], _Steps]) -> _Steps:
        for child in (yield part, "GetChildren", "a(so)"):
            self._go_on(look_at(child))

    def _look_at(self, part: Part) -> _Steps:
        state = yield part, "GetState", "au"
        bits = state[0] if state else 0
        if bits & FOCUSED:
            self._go_on(self._find(part, is_end=bool(bits & EDITABLE)))
        if bits & SHOWING and part != self._before:
            yield from self._look_into(part)

    def _find(self, part: Part, *, is_end: bool) -> _Steps:
        role = yield part, "GetRole", "u"
        self.is_password = role == PASSWORD_TEXT
        if self.is_password or is_end:  # otherwise it may be around the field
            self.field = part

    def _go_on(self, steps: _Steps, answer: Any = None) -> None:
        with contextlib.suppress(StopIteration):
            self._waiting.append((steps, steps.send(answer)))

    def _take_answers(self) -> None:
        while not self.field and (self._waiting or self._asked):
            while self._waiting and len(self._asked) < AT_ONCE:
                steps, ((name, path), method, expected, *arguments) = self._waiting.popleft()
                interface = PROPERTIES if arguments else ACCESSIBLE
                serial = self._bus.ask(name, path, interface, method, *arguments)
                self._asked[serial] = steps, expected
            serial, signature, values = self._bus.receive()
            if serial in self._asked:
                steps, expected = self._asked.pop(serial)
                if signature == expected:
                    self._go_on(steps, values[0])
        self._waiting.clear()
        self._asked.clear()


class _Connection:
    """A connection that waits for nothing longer than until a moment of `time.monotonic`. Its
    methods raise TimeoutError then, and others of OSError and ValueError if the bus is broken."""

    def __init__(self, address: str, until: float) -> None:
        from jeepney import Parser
        from jeepney.bus import get_bus
        from jeepney.io.blocking import prep_socket

        self._until = until
        self._parser = Parser()
        self._serial = 0
        self._socket: socket.socket = prep_socket(get_bus(address), timeout=self._left())
        try:
            self._call_bus("Hello")
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def has(self, name: str) -> bool:
        """Whether somebody has this name."""
        return bool(self._call_bus("NameHasOwner", name))

    def address_of_accessibility(self) -> str:
        """The address of the bus for accessibility, or "" if nobody has started it."""
        if not self.has(LAUNCHER):
            return ""
        return str(self._answer(self.ask(LAUNCHER, "/org/a11y/bus", LAUNCHER, "GetAddress")))

    def ask(self, name: str, path: str, interface: str, method: str, *arguments: str) -> int:
        """Call a method with texts; returns the number of the call."""
        from jeepney import DBusAddress, new_method_call

        address = DBusAddress(path, bus_name=name, interface=interface)
        message = new_method_call(address, method, "s" * len(arguments) or None, arguments)
        self._serial += 1
        self._socket.settimeout(self._left())
        self._socket.sendall(message.serialise(self._serial))
        return self._serial

    def receive(self) -> tuple[int, str, tuple[Any, ...]]:
        """The next answer: the number of its call, and the signature and values of its results;
        errors have none."""
        from jeepney import HeaderFields, MessageType

        while True:
            while (message := self._parser.get_next_message()) is None:
                self._socket.settimeout(self._left())
                if not (data := self._socket.recv(1 << 16)):
                    raise ConnectionResetError
                self._parser.add_data(data)
            fields = message.header.fields
            serial = fields.get(HeaderFields.reply_serial, 0)
            if message.header.message_type is MessageType.method_return:
                return serial, str(fields.get(HeaderFields.signature, "")), tuple(message.body)
            if message.header.message_type is MessageType.error:
                return serial, "", ()

    def _call_bus(self, method: str, *arguments: str) -> Any:
        return self._answer(self.ask(BUS, "/org/freedesktop/DBus", BUS, method, *arguments))

    def _answer(self, number: int) -> Any:
        while (got := self.receive())[0] != number:
            pass
        return got[2][0] if got[2] else None

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left
