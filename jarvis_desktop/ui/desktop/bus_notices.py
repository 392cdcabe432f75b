"""Notifications over org.freedesktop.Notifications, the way of Linux desktops. Lives on the
engine."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.message_bus import CallError, MessageBus, Signal
from jarvis_desktop.paths import APP_ID, shipped

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
SIGNATURES = {"ActionInvoked": "us", "NotificationClosed": "uu", "ActivationToken": "us"}
"""Of the signals that mean something here."""
DEFAULT = "default"
"""The action of a click on the notification itself."""
LONGEST_TITLE, LONGEST_BODY = 80, 240
"""Characters that are shown."""
AS_LONG_AS_USUAL = -1

Acted = Callable[[str, str, str], None]


@dataclass(frozen=True, slots=True)
class Note:
    """What a person is told of; its texts are plain, whoever wrote them."""

    key: str
    """A later note with this key takes its place."""
    title: str
    body: str = ""
    actions: tuple[tuple[str, str], ...] = ()
    """For each its id and its words; "default" is a click on the note."""


class BusNotices:
    """Connects when there is first something to tell."""

    def __init__(self, acted: Acted) -> None:
        """`acted` is told on the loop the key of a note, the action, and a token by which the
        desktop lets a window come to the front, or ""."""
        self._acted = acted
        self._bus: MessageBus | None = None
        self._is_lost = False
        """Whether the bus has ended."""
        self._owner = ""
        self._can: frozenset[str] = frozenset()
        self._shown: dict[str, int] = {}
        self._tokens: dict[int, str] = {}

    async def tell(self, note: Note) -> None:
        """Show a note. Raises UnavailableError where this desktop shows none."""
        if self._is_lost:
            await self.close()
        try:
            bus = self._bus or await self._open()
            (number,) = await self._call(
                bus,
                "Notify",
                "susssasa{sv}i",
                "JARVIS Desktop",
                self._shown.get(note.key, 0),
                APP_ID,
                one_line(note.title, limit=LONGEST_TITLE),
                self._body(note),
                [word for action in note.actions for word in action]
                if "actions" in self._can
                else [],
                {
                    "desktop-entry": ("s", APP_ID),
                    "image-path": ("s", str(shipped("resources", "icons", "jarvis.svg"))),
                },
                AS_LONG_AS_USUAL,
            )
            (owner,) = await bus.call_bus("GetNameOwner", "s", NAME)
            if owner != self._owner:  # another server, which knows none of the notes before
                self._owner = owner
                self._shown.clear()
            self._shown[note.key] = number
        except CallError as error:
            raise UnavailableError(tr("This desktop shows no notifications.")) from error

    async def withdraw(self, key: str) -> None:
        """Take a note away, if it is there still."""
        number = self._shown.pop(key, 0)
        if number and self._bus:
            with contextlib.suppress(CallError):  # it was closed already
                await self._call(self._bus, "CloseNotification", "u", number)

    async def close(self) -> None:
        """Leave the bus."""
        bus, self._bus = self._bus, None
        if bus:
            await bus.close()

    async def _open(self) -> MessageBus:
        bus = self._bus = await MessageBus.open(self._signalled, self._lost)
        self._is_lost = False
        await bus.call_bus("AddMatch", "s", f"type='signal',sender='{NAME}',path='{PATH}'")
        (can,) = await self._call(bus, "GetCapabilities", "")
        self._can = frozenset(map(str, can))
        return bus

    async def _call(self, bus: MessageBus, method: str, signature: str, *arguments: object) -> Any:
        return await bus.call(NAME, method, signature, *arguments, path=PATH, to=NAME)

    def _body(self, note: Note) -> str:
        """The server may read the body as markup, which a plain text is not."""
        text = one_line(note.body, limit=LONGEST_BODY)
        return html.escape(text, quote=False) if "body-markup" in self._can else text

    def _signalled(self, signal: Signal) -> None:
        if signal.sender != self._owner or SIGNATURES.get(signal.member) != signal.signature:
            return
        number, about = signal.body
        key = next((key for key, shown in self._shown.items() if shown == number), None)
        if key is None:
            return
        if signal.member == "ActivationToken":
            self._tokens[number] = str(about)
        elif signal.member == "ActionInvoked":
            self._acted(key, str(about), self._tokens.pop(number, ""))
        else:
            del self._shown[key]
            self._tokens.pop(number, None)

    def _lost(self) -> None:
        self._is_lost = True
        self._shown.clear()
        self._tokens.clear()
