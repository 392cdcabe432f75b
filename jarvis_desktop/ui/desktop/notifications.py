"""Notifies the user, by the means that their desktop offers, while they look at other windows.

They are notified of long work that ended, a question or a timer, but never of what they see anyway.
On Linux desktops, notifications are sent over org.freedesktop.Notifications, on the engine.
"""

from __future__ import annotations

import contextlib
import html
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.paths import APP_ID, shipped
from jarvis_desktop.platform.dbus import BusSignal, CallError, MessageBus
from jarvis_desktop.text.speakable import plain
from jarvis_desktop.ui.engine import EngineThread, Outcome
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.session import WindowSession

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
SIGNATURES = {"ActionInvoked": "us", "NotificationClosed": "uu", "ActivationToken": "us"}
"""Of the signals that mean something here."""
DEFAULT = "default"
"""The action of a click on the notification itself."""
MAX_TITLE, MAX_BODY = 80, 240
"""Characters that are shown."""
DEFAULT_TIMEOUT = -1

Acted = Callable[[str, str, str], None]


@dataclass(frozen=True, slots=True)
class Note:
    """One desktop notification. Its texts are plain text, never markup."""

    key: str
    """A later note with this key takes its place."""
    title: str
    body: str = ""
    actions: tuple[tuple[str, str], ...] = ()
    """For each its id and its words; "default" is a click on the note."""


class BusNotices:
    """Connects when there is first something to tell."""

    def __init__(self, acted: Acted) -> None:
        """`acted` is called on the loop with the key of a note, the action, and the activation
        token that lets a window come to the front, or ""."""
        self._acted = acted
        self._bus: MessageBus | None = None
        self._is_lost = False
        """Whether the bus has ended."""
        self._owner = ""
        self._can: frozenset[str] = frozenset()
        self._shown: dict[str, int] = {}
        self._tokens: dict[int, str] = {}

    async def tell(self, note: Note) -> None:
        """Show a note. Raises UnavailableError if the desktop shows none."""
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
                one_line(note.title, limit=MAX_TITLE),
                self._body(note),
                [word for action in note.actions for word in action]
                if "actions" in self._can
                else [],
                {
                    "desktop-entry": ("s", APP_ID),
                    "image-path": ("s", str(shipped("resources", "icons", "jarvis.svg"))),
                },
                DEFAULT_TIMEOUT,
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
        text = one_line(note.body, limit=MAX_BODY)
        return html.escape(text, quote=False) if "body-markup" in self._can else text

    def _signalled(self, signal: BusSignal) -> None:
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


class Notifier(QObject):
    """Nothing here waits for the desktop."""

    acted = Signal(str, str, str)
    """Carries the key of a note, the chosen action, and the desktop's activation token for the
    window."""

    def __init__(
        self,
        engine: EngineThread,
        by_tray: Callable[[str, str], None],
        parent: QObject | None = None,
    ) -> None:
        """`by_tray` shows a title and a text where the desktop itself shows no notes."""
        super().__init__(parent)
        self._engine = engine
        self._by_tray = by_tray
        self._last = ""
        self._signals = _NotificationSignals()
        self._signals.acted.connect(self.acted, Qt.ConnectionType.QueuedConnection)
        self._bus = BusNotices(self._signals.acted.emit) if sys.platform == "linux" else None

    def tell(self, note: Note) -> None:
        """Show a note."""
        if self._bus is None:
            self._notify_by_tray(note)
            return
        bus = self._bus

        def finished(outcome: Outcome) -> None:
            if outcome.error:
                self._notify_by_tray(note)

        self._engine.run(lambda: bus.tell(note), finished)

    def withdraw(self, key: str) -> None:
        """Withdraw a note: the user has seen its subject."""
        if self._bus:
            bus = self._bus
            self._engine.run(lambda: bus.withdraw(key), lambda outcome: None)

    def clicked(self) -> None:
        """What the tray showed was clicked."""
        if self._last:
            self.acted.emit(self._last, DEFAULT, "")

    def close(self) -> None:
        """Withdraw all notes: JARVIS ends, or its window is replaced."""
        if self._bus:
            self._engine.run(self._bus.close, lambda outcome: None)

    def _notify_by_tray(self, note: Note) -> None:
        self._last = note.key
        self._by_tray(note.title, note.body)


class _NotificationSignals(QObject):
    """Carries clicks on notifications from the engine to the main thread."""

    acted = Signal(str, str, str)


LONG_TURN_S = 10.0
"""Shorter turns cause no notification."""
SNOOZE = 300.0
"""Seconds after which a snoozed timer rings again."""
MAX_LINES = 12
"""Lines of an answer that are searched for its first words."""
SHOW, SPEAK, STOP, AGAIN = "show", "speak", "stop", "again"

_endings = {
    Status.DONE: mark("JARVIS is done"),
    Status.PARTLY: mark("JARVIS could do a part of it"),
    Status.FAILED: mark("JARVIS could not do it"),
}


class TurnNotifications(QObject):
    """Notifies the user of the turns of a session."""

    show_wanted = Signal(object, str)
    """Carries the PendingTurn to show, or None for the window as it is, and an activation token."""
    speak_wanted = Signal(object)
    """Carries the Turn whose answer is to be read aloud."""

    def __init__(
        self,
        session: WindowSession,
        notifier: Notifier,
        is_seen: Callable[[PendingTurn], bool],
        parent: QObject | None = None,
    ) -> None:
        """`is_seen` says whether the user is looking at a turn."""
        super().__init__(parent)
        self._session = session
        self._notifier = notifier
        self._is_seen = is_seen
        self._wanted = True
        self._running: set[PendingTurn] = set()
        self._notified: dict[str, PendingTurn] = {}
        """The turns with a notification, by the key of their notes."""
        self._timers: dict[str, Timer] = {}
        session.changed.connect(self._changed)
        session.asked.connect(self._asked)
        session.rang.connect(self._rang)
        notifier.acted.connect(self._acted)

    def want(self, wanted: bool) -> None:
        """Turn notifications on or off."""
        self._wanted = wanted

    def seen(self) -> None:
        """Withdraw notes about what the active window shows."""
        for key, pending in list(self._notified.items()):
            if self._is_seen(pending):
                del self._notified[key]
                self._notifier.withdraw(key)

    def _changed(self, pending: PendingTurn) -> None:
        turn = pending.turn
        if turn.status is None:
            self._running.add(pending)
        elif pending in self._running:
            self._running.discard(pending)
            took = (turn.finished - turn.started).total_seconds() if turn.finished else 0.0
            in_box = pending.place is self._session.quick
            if turn.status in _endings and (took >= LONG_TURN_S or in_box):
                self._notify(pending, tr(_endings[turn.status]), first_words(turn))

    def _asked(self, pending: PendingTurn) -> None:
        if pending.question:
            title = tr("JARVIS has a question for you")
            self._notify(pending, title, one_line(pending.question.text, limit=400))

    def _notify(self, pending: PendingTurn, title: str, body: str) -> None:
        if not self._wanted or self._is_seen(pending):
            return
        key = f"turn-{id(pending)}"
        self._notified[key] = pending
        words = one_line(pending.turn.text, limit=60)
        actions = [(DEFAULT, tr("Show")), (SHOW, tr("Show"))]
        if pending.turn.reply and pending.question is None:
            actions.append((SPEAK, tr("Read aloud")))
        text = f"{words}: {body}" if words and body else words or body
        self._notifier.tell(Note(key, title, text, tuple(actions)))

    def _rang(self, timer: Timer) -> None:
        if not self._wanted:
            return
        key = f"timer-{timer.id}"
        self._timers[key] = timer
        actions = (
            (DEFAULT, tr("Show")),
            (STOP, tr("Stop")),
            (AGAIN, tr("Again in 5 minutes")),
        )
        self._notifier.tell(Note(key, tr("The timer is up"), one_line(timer.label), actions))

    def _acted(self, key: str, action: str, token: str) -> None:
        pending = self._notified.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer and action == AGAIN:
            self._again(timer)
        if timer and action in (AGAIN, STOP):
            self._session.silence()
        elif pending and action == SPEAK:
            self.speak_wanted.emit(pending.turn)
        else:
            self.show_wanted.emit(pending, token)
        self._notifier.withdraw(key)

    def _again(self, timer: Timer) -> None:
        app = self._session.app
        if app is None:
            return
        timers = app.timers

        async def again() -> None:
            timers.set(SNOOZE, timer.label)

        def finished(outcome: Outcome) -> None:
            if outcome.error:
                self._session.failed.emit(str(outcome.error))

        self._session.engine.run(again, finished)


def first_words(turn: Turn) -> str:
    """How the answer begins, without its markup."""
    lines = turn.reply[:4000].splitlines()[:MAX_LINES]
    return " ".join(words for line in lines if (words := plain(line, begins=True)))
