"""The quick box and the overlay at work: the key that opens the box, what is said to it, and the
way of its conversation into the window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.turn import Request
from jarvis_desktop.core.voice import Hotkey
from jarvis_desktop.ui.bridge import Outcome, while_there
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.quick.overlay import Overlay
from jarvis_desktop.ui.quick.phases import Phases

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.quick.box import QuickBox

WARMING = 2000
"""Milliseconds after the start at which the box is made, so that the key opens it at once."""


class QuickDesk(QObject):
    """Belongs to the window."""

    window_wanted = Signal(str)
    """The window is to be shown; carries a token of the desktop."""
    key_changed = Signal(str)
    """Carries the key that opens the box, as the desktop names it, or ""."""

    def __init__(self, window: MainWindow, phases: Phases, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._session = window.session
        self._box: QuickBox | None = None
        self._key: Hotkey | None = None
        self._wanted_key: str | None = None
        """As the settings have it; the key was made with the first of them."""
        self._mode = Mode.LOCAL
        self.overlay = Overlay(self._session, window.talker, phases)
        self._told = _Told()
        queued = Qt.ConnectionType.QueuedConnection
        self._told.pressed.connect(self._pressed, queued)
        self._told.changed.connect(self._show_key, queued)
        self._warming = QTimer(self, singleShot=True, interval=WARMING)
        self._warming.timeout.connect(lambda: self.box)

    @property
    def box(self) -> QuickBox:
        """The box, made where it was not needed yet."""
        if self._box is None:
            from jarvis_desktop.ui.quick.box import QuickBox

            window = self._window
            box = self._box = QuickBox(self._session, window.talker, window.wishes)
            box.sent.connect(self._send)
            box.window_wanted.connect(self._move)
            box.shown.connect(lambda: self.see(self._window.isActiveWindow()))
            box.show_mode(self._mode)
            box.line.show_busy(self._session.busy)
            box.winId()  # the desktop's part of it takes the longest
            window.spoken.elsewhere = box
        return self._box

    @property
    def is_looked_at(self) -> bool:
        """Whether the box is in front."""
        return self._box is not None and self._box.listens

    @property
    def is_open(self) -> bool:
        """Whether the box is on the screen."""
        return self._box is not None and self._box.isVisible()

    def take_over(self, other: QuickDesk) -> None:
        """Go on with what was being written in the box of another one."""
        if other._box:
            self.box.line.take_over(other._box.line)

    def appear(self, token: str = "") -> None:
        """Open the box."""
        _use(token)
        self.box.appear()

    def talk(self) -> None:
        """Listen, or stop where it listens."""
        talker = self._window.talker
        talker.stop() if talker.active else talker.start()

    def bind(self, key: Hotkey) -> None:
        """Be opened by this key of the desktop."""
        self._key = key
        told = self._told

        async def bind() -> HotkeyStatus:
            await key.close()  # a window before this one may have had it
            key.watch(while_there(told, told.changed.emit))
            return await key.bind(told.pressed.emit, lambda: None)

        self._session.engine.run(bind, self._bound)
        self._warming.start()

    def adopt(self, settings: Settings) -> None:
        """Be as the settings say."""
        self._mode = settings.mode
        if self._box:
            self._box.show_mode(self._mode)
        self.overlay.want(settings.window.overlay)
        before, self._wanted_key = self._wanted_key, settings.window.quick_key
        key = self._key
        if key and before not in (None, self._wanted_key):
            wanted = settings.window.quick_key
            self._session.engine.run(lambda: key.choose(wanted), lambda outcome: None)

    def see(self, seen: bool) -> None:
        """The window is looked at now, or not: what it shows needs no sign above others."""
        self.overlay.see(seen or self.is_looked_at)

    def close(self) -> None:
        """The window goes, and all of this with it."""
        self._warming.stop()
        for widget in (self.overlay, self._box):
            if widget:
                widget.hide()
                widget.deleteLater()
        self._window.spoken.elsewhere = None

    def _send(self, request: Request) -> None:
        self._window.send(request, self._session.quick)

    def _move(self) -> None:
        """Let the conversation, and what is not sent yet, go on in the window."""
        line, composer = self.box.line, self._window.composer
        text, files = line.field.toPlainText(), line.attached.files()
        self.box.leave()
        self.window_wanted.emit("")
        if self._session.quick.entries:
            self._session.open_place(self._session.quick)
        line.clear()
        if text.strip():
            composer.field.insertPlainText(text)
        if files:
            self._window.add_files(files)
        self.box.begin()

    def _pressed(self) -> None:
        if self._key:
            _use(self._key.token)
        self.box.toggle()

    def _bound(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, HotkeyStatus):
            self._show_key(outcome.value)

    def _show_key(self, status: HotkeyStatus) -> None:
        self.key_changed.emit("" if status.way == "none" else status.key)


class _Told(QObject):
    """Told on the engine's loop."""

    pressed = Signal()
    changed = Signal(object)


def _use(token: str) -> None:
    """Qt looks for it there when a window is to come to the front, on Wayland."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token
