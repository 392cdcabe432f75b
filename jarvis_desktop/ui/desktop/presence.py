"""JARVIS on the desktop: the window, the tray, the quick box, and commands of other processes.
Closing the window need not quit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from jarvis_desktop.app.ipc_client import LaunchRequest
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.desktop.notifications import Note, Notifier, TurnNotifications
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.mode_picker import opens_more
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.quick.overlay import PhaseTracker
from jarvis_desktop.ui.quick.quick_box import QuickBoxController
from jarvis_desktop.ui.quick.tray import TrayIcon
from jarvis_desktop.ui.voice.dictation import DictationController
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.single_instance import CommandHandler
    from jarvis_desktop.settings import Settings

TRAY_WAIT_MS = 5000
"""Milliseconds to wait for the tray of a session that has just started."""
TRAY_NOTE, DICTATION_NOTE = "tray", "dictation"
TOKEN = "XDG_ACTIVATION_TOKEN"  # noqa: S105 - no secret
"""Where Qt reads the token that lets a window come to the front on Wayland."""

Act = Callable[[Mapping[str, object]], None]


class Presence(QObject):
    """Belongs to one window, and is closed before it."""

    def __init__(self, window: MainWindow, kept: Path) -> None:
        """`kept` is the file with the window's position: the tray's state is needed before the
        settings are read."""
        super().__init__(window)
        session = window.session
        self.window = window
        self._session = session
        self._kept = QSettings(str(kept), QSettings.Format.IniFormat)
        self._leaving = False
        self.phases = PhaseTracker(session, window.talker, self)
        self.tray = TrayIcon(self.phases, self)
        self.quick = QuickBoxController(window, self.phases, self)
        self.dictation = DictationController(session, self)
        self.notifier = Notifier(session.engine, self.tray.tell, self)
        self.telling = TurnNotifications(session, self.notifier, self._is_seen, self)
        self._late = new_timer(self, self.show, TRAY_WAIT_MS)
        window.history.is_seen = self._is_seen
        window.installEventFilter(self)
        self._connect()
        for name, act in (
            ("show", lambda command: self.show(_token(command))),
            ("new", self._new),
            ("open", self._open),
            ("quick", lambda command: self.quick.appear(_token(command))),
        ):
            session.commands[name] = self._command(act)
        self.tray.want(self._remembered("wanted", usual=True))

    def _connect(self) -> None:
        session, tray, window = self._session, self.tray, self.window
        session.ready.connect(self._ready)
        session.settled.connect(self._settled)
        session.busy_changed.connect(tray.show_busy)
        tray.show_wanted.connect(self.show)
        tray.hide_wanted.connect(self.hide)
        tray.quick_wanted.connect(self.quick.appear)
        tray.talk_wanted.connect(self.quick.talk)
        tray.stop_wanted.connect(session.end)
        tray.settings_wanted.connect(self._settings)
        tray.mode_wanted.connect(self._change_mode)
        tray.quit_wanted.connect(self.quit)
        window.quit_wanted.connect(self.quit)
        window.leaving.agreed.connect(self._quit)
        session.rang.connect(self._timers_changed)
        session.timers_changed.connect(self._timers_changed)
        tray.serve(window.countdown)
        tray.came.connect(self._late_enough)
        tray.went.connect(self._surface)
        tray.clicked_note.connect(self.notifier.clicked)
        tray.speak_wanted.connect(window.header.speak.setChecked)
        window.header.speak.toggled.connect(tray.show_speaks)
        tray.show_speaks(window.header.speak.isChecked())
        tray.show_busy(session.busy)
        tray.show_window_shown(window.isVisible())
        tray.paste_wanted.connect(self.dictation.paste_last)
        self.dictation.active_changed.connect(self.phases.dictate)
        self.dictation.phase_changed.connect(window.voice.show_dictation)
        self.dictation.failed.connect(self._not_dictated)
        self.quick.window_wanted.connect(self.show)
        self.quick.key_changed.connect(tray.show_keys)
        self.telling.show_wanted.connect(self._show_exchange)
        self.telling.speak_wanted.connect(window.user_actions.read_aloud)
        window.user_actions.enlarge.connect(lambda _: self.show())
        QGuiApplication.instance().focusWindowChanged.connect(self._looked_at)  # type: ignore[union-attr]

    def begin(self, wish: LaunchRequest) -> None:
        """Show what this launch asks for."""
        hidden = wish.hidden or self._remembered("hidden", usual=False)
        if wish.files or wish.new or wish.talk or not (hidden or wish.quick):
            self.show()
        elif self.tray.is_there:
            self._become_hidden()
        else:
            self._late.start()
        if wish.files:
            self.window.add_files(wish.files)
        if wish.quick:
            self.quick.appear()
        if wish.talk:
            self._session.ready.connect(self.quick.talk)

    def show(self, token: str = "") -> None:
        """Show the window, in front of the others."""
        self._late.stop()
        if token:
            os.environ[TOKEN] = token
        QGuiApplication.setQuitOnLastWindowClosed(True)
        window = self.window
        was_there = window.isVisible()
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        if was_there:
            window.raise_()
        window.activateWindow()

    def hide(self) -> None:
        """Leave only the tray icon; without a tray the window stays."""
        if not self.tray.is_there:
            return
        self._become_hidden()
        self.window.voice.keys.let_go()
        self.window.hide()
        if not self._remembered("told", usual=False):
            self._kept.setValue("presence/told", True)
            title = tr("JARVIS stays in the tray")
            body = tr("Its icon opens the window again, and its menu quits JARVIS.")
            self.notifier.tell(Note(TRAY_NOTE, title, body))

    def quit(self) -> None:
        """Quit JARVIS; if timers are running, ask first."""
        if not self._asks():
            self._quit()

    def _quit(self) -> None:
        self.let_end()
        QApplication.quit()

    def let_end(self) -> None:
        """Let closing the window quit JARVIS from now on."""
        self._leaving = True

    def close(self) -> None:
        """Hide everything except the window."""
        self.window.removeEventFilter(self)
        self._late.stop()
        self.quick.close()
        self.dictation.close()
        self.tray.close()
        self.notifier.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Close and not self._leaving:
            self.tray.look()
            if self.tray.is_there:
                self.hide()
                event.ignore()
                return True
            if self._asks():
                event.ignore()
                return True
            self._leaving = True
        elif kind in (QEvent.Type.Show, QEvent.Type.Hide):
            self.tray.show_window_shown(kind == QEvent.Type.Show)
        return super().eventFilter(watched, event)

    def _asks(self) -> bool:
        """Ask before quitting if necessary; return whether a question is open."""
        app, leaving = self._session.app, self.window.leaving
        # The pages of the first start lie over the question; nobody is through them yet.
        if self._leaving or app is None or self.window.first:
            return False
        if not leaving.ask(app.timers.pending()):
            return False
        self.window.uncover()
        self.show()
        leaving.stay.setFocus()
        return True

    def _timers_changed(self) -> None:
        """Update the question: timers were set or have rung."""
        self.window.leaving.follow(self.window.countdown.timers)

    def _become_hidden(self) -> None:
        # What is closed while the window is hidden, such as a dialog, must not end JARVIS.
        QGuiApplication.setQuitOnLastWindowClosed(False)

    def _surface(self) -> None:
        """Show the hidden window: without a tray it could not be reached."""
        if self.window.isHidden():
            self.show()

    def _late_enough(self) -> None:
        """The awaited tray has appeared."""
        if self._late.isActive():
            self._late.stop()
            self._become_hidden()

    def _ready(self, app: Application) -> None:
        self.quick.bind(app.quick_key)
        self.dictation.use(app)

    def _not_dictated(self, reason: str) -> None:
        self.notifier.tell(Note(DICTATION_NOTE, tr("Nothing was inserted"), reason))

    def _change_mode(self, value: str) -> None:
        mode = Mode(value)
        if opens_more(mode, self.tray.mode):
            self.show()  # the question is shown there
        self.window.header.change_mode(mode)

    def _settled(self, settings: Settings) -> None:
        wanted = settings.window
        self._kept.setValue("presence/wanted", wanted.tray)
        self._kept.setValue("presence/hidden", wanted.start_hidden)
        self.tray.want(wanted.tray)
        if not (self.tray.is_there or self._late.isActive() or self._leaving):
            self._surface()
        self.telling.want(wanted.notify)
        self.quick.adopt(settings)
        self.tray.show_mode(settings.mode)

    def _remembered(self, name: str, *, usual: bool) -> bool:
        return bool(self._kept.value(f"presence/{name}", usual, type=bool))

    def _settings(self) -> None:
        self.show()
        self.window.places.go("settings")

    # What is seen

    def _looked_at(self) -> None:
        self.quick.see(self.window.isActiveWindow())
        self.telling.seen()

    def _is_seen(self, pending: PendingTurn) -> bool:
        # The window may have opened the conversation of the box.
        if pending.place is self._session.quick and self.quick.is_looked_at:
            return True
        return self.window.isActiveWindow() and pending.place is self._session.open

    def _show_exchange(self, pending: PendingTurn | None, token: str) -> None:
        session = self._session
        if pending and pending.place is session.quick and session.quick is not session.open:
            self.quick.appear(token)
            return
        self.show(token)
        if pending and pending.place is not self._session.open and pending.place.id:
            self._session.open_conversation(pending.place.id)

    # What other processes want

    def _command(self, act: Act) -> CommandHandler:
        """A handler that acts on Qt's thread and answers when done."""
        engine = self._session.engine

        async def handle(command: Mapping[str, object]) -> Mapping[str, object]:
            done: asyncio.Future[InputError | None] = asyncio.get_running_loop().create_future()

            def settle(error: InputError | None) -> None:
                if not done.done():
                    done.set_result(error)

            def carry_out() -> None:
                try:
                    act(command)
                except InputError as error:
                    engine.call(settle, error)
                else:
                    engine.call(settle, None)

            engine.post(carry_out)
            if error := await done:
                raise error
            return {}

        return handle

    def _new(self, command: Mapping[str, object]) -> None:
        self._session.new_conversation()
        self.show(_token(command))

    def _open(self, command: Mapping[str, object]) -> None:
        names = command.get("paths")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(tr("These are not files."))
        self.show(_token(command))
        self.window.add_files([Path(name) for name in names])


def _token(command: Mapping[str, object]) -> str:
    token = command.get("token")
    return token if isinstance(token, str) and "\0" not in token else ""
