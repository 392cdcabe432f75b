"""Opens the window, starts the engine behind it, and closes both in order.

The window is built again when the language changes. Modules that only the first turn needs are
imported after the first paint, a few at a time."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication
from shiboken6 import delete

from jarvis_desktop import localization, paths
from jarvis_desktop.app.ipc_client import LaunchRequest
from jarvis_desktop.paths import log_to_file
from jarvis_desktop.ui.desktop.presence import Presence
from jarvis_desktop.ui.engine import EngineThread, Outcome, unexpected
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import RESTART, restart
from jarvis_desktop.ui.widgets import icons, images, theme
from jarvis_desktop.ui.widgets.forms import ReturnPresses
from jarvis_desktop.ui.widgets.theme import Appearance
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.single_instance import Instance

    Build = Callable[[WindowSession], Application]
    """Builds the application on the engine thread; background events go to the session."""


class WindowSet(QObject):
    """Everything on the screen, which is replaced when the language changes. The session
    continues."""

    painted = Signal()
    """A window is visible for the first time."""

    def __init__(self, session: WindowSession, appearance: Appearance, kept: Path) -> None:
        """`kept` is the file with the window's position."""
        super().__init__()
        self._session = session
        self._kept = kept
        self._later = new_timer(self, self._renew)
        self._make()
        session.settled.connect(appearance.adopt)
        # What changed the language may be a part of the window, which cannot go while it speaks.
        appearance.relabelled.connect(self._later.start)

    def begin(self, wish: LaunchRequest) -> None:
        """Show the window as this launch requests it."""
        self.presence.begin(wish)

    def let_end(self) -> None:
        """Quit JARVIS when the window is closed, from now on."""
        self.presence.let_end()

    def close(self) -> None:
        """Remove everything from the screen."""
        self._later.stop()
        self.window.keep()  # no close event comes on a restart
        self.window.hide()
        self.presence.close()

    def _make(self) -> None:
        self.window = MainWindow(self._session, self._kept)
        self.presence = Presence(self.window, self._kept)
        self.window.painted.connect(self._painted)

    def _painted(self) -> None:
        if self.window.is_first_start:
            self.window.begin_first_start()
        # Only now: the engine, which starts by it, keeps Python from what is imported here.
        self.painted.emit()

    def _renew(self) -> None:
        before, quick = self.window, self.presence.quick
        shown, asked = before.isVisible(), quick.is_open
        here, part = before.places.here, before.places.part
        before.keep()
        self.presence.close()
        self._make()
        self.window.take_over(before)
        self.presence.quick.take_over(quick)
        delete(before)
        if shown:
            self.presence.show()
        self._session.greet()
        if here:
            self.window.places.go(here, part)
        if asked:
            self.presence.quick.appear()


PRELOADED_MODULES = (
    "markdown_it",
    "jarvis_desktop.ui.conversation.markdown",
    "jarvis_desktop.ui.conversation.prose",
    "jarvis_desktop.ui.media.cards",
    "jarvis_desktop.ui.plan.plan_view",
    "jarvis_desktop.ui.conversation.turn_view",
)
"""Dependencies first, so that no single import blocks the event loop for long."""
IMPORT_INTERVAL_MS = 20
"""Milliseconds between two imports, so that user input is handled."""


class Preloader(QObject):
    """Imports modules one by one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._left = list(PRELOADED_MODULES)
        self._timer = new_timer(self, self._next, IMPORT_INTERVAL_MS, repeat=True)

    def begin(self) -> None:
        """Start importing."""
        self._timer.start()

    def _next(self) -> None:
        if self._left:
            importlib.import_module(self._left.pop(0))
        else:
            self._timer.stop()


log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 4.0
"""Seconds that the application has to close its child processes and files."""
JOIN_TIMEOUT_S = 2.0
"""Seconds that the engine's loop then has to end."""
SWITCH_INTERVAL_S = 0.001
"""The longest that the engine may hold the GIL, in seconds. Qt releases it up to a hundred times
in one drawing."""
NO_WISH = LaunchRequest()
START_TIMEOUT_MS = 400
"""Milliseconds after which the engine starts even if the window is not visible."""

_levels = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def composed(session: WindowSession, instance: Instance | None = None) -> Application:
    """Build the application from the settings; `instance` is the single-instance lock if it is held
    already."""
    from jarvis_desktop import settings
    from jarvis_desktop.app import application as compose_settings
    from jarvis_desktop.app import build as compose

    folders = paths.user_paths()
    log_to_file(folders)
    chosen, notice = settings.load(folders.settings)
    compose_settings.apply_network_settings(chosen)
    app = compose.build(chosen, folders, on_ring=session.rang.emit, instance=instance)
    for words in (notice, app.history.notice):
        if words:
            session.failed.emit(words)
    return app


def run(build: Build = composed, wish: LaunchRequest = NO_WISH) -> int:
    """Run the window until JARVIS ends, and return the exit code.

    `build` is called after the window is painted, so that nothing slow delays it.
    """
    localization.begin()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    application = _Application(sys.argv[:1])
    application.setApplicationName(paths.APP)
    application.setApplicationDisplayName("JARVIS Desktop")
    application.setDesktopFileName(paths.APP_ID)
    application.setWindowIcon(icons.application_icon())
    kept = paths.user_paths().config / "window.ini"
    ReturnPresses(application)
    appearance = Appearance(application, kept)
    engine = EngineThread()
    session = WindowSession(engine)
    session.ready.connect(GarbageCollection(lambda: session.busy, session).begin)
    session.ready.connect(lambda: _look_at_motion(engine))
    face = WindowSet(session, appearance, kept)
    application.quitting.connect(face.let_end)
    application.commitDataRequest.connect(face.let_end)
    begin = _Once(lambda: _begin(engine, session, build))
    face.painted.connect(begin)
    face.painted.connect(Preloader(session).begin)
    with _hooks(session.failed.emit), _signals(application):
        face.begin(wish)
        QTimer.singleShot(START_TIMEOUT_MS, begin)
        code = application.exec()
        face.close()
        ended = close(engine, session)
    appearance.deleteLater()
    if code == RESTART:
        restart()
    if not ended:
        # Something foreign hangs in a thread, or imports; the interpreter would wait for it.
        logging.shutdown()
        os._exit(code)
    return code


def close(engine: EngineThread, session: WindowSession) -> bool:
    """Stop the turn, close the application and the engine. Return False if that took too long."""
    session.end()
    if session.leave():
        return False
    closing = engine.submit(session.close_app()) if engine.is_running else None
    try:
        if closing:
            closing.result(CLOSE_TIMEOUT_S)
    except (TimeoutError, CancelledError):
        log.error("The application did not close in time")
    except Exception:
        log.exception("The application did not close as it should")
    ended = engine.close(JOIN_TIMEOUT_S)
    if not ended:
        log.error("The engine did not end in time")
    images.finish_reading(1000)
    _kill_children()
    return ended


def _begin(engine: EngineThread, session: WindowSession, build: Build) -> None:
    engine.start()
    session.start(lambda: build(session))


def _look_at_motion(engine: EngineThread) -> None:
    from jarvis_desktop.platform.desktop import wants_motion

    engine.run(wants_motion, _adopt_motion)


def _adopt_motion(outcome: Outcome) -> None:
    if outcome.value is not None:
        theme.let_move(outcome.value)


class _Application(QApplication):
    """An application that emits `quitting` before it closes its windows."""

    quitting = Signal()

    def event(self, event: QEvent) -> bool:
        """Handle an event that is sent to the application itself."""
        if event.type() == QEvent.Type.Quit:
            self.quitting.emit()
        return super().event(event)


class _Once:
    """Calls a function once, at the first of several events."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act: Callable[[], None] | None = act

    def __call__(self) -> None:
        act, self._act = self._act, None
        if act:
            act()


def _kill_children() -> None:
    """End all remaining child processes, whatever state they are in."""
    if (multiprocessing := sys.modules.get("multiprocessing")) is not None:
        for child in multiprocessing.active_children():
            child.kill()
            child.join(1.0)


@contextmanager
def _hooks(tell: Callable[[str], None]) -> Iterator[None]:
    """Log and report every uncaught error while the window is open, and keep the window."""
    telling = threading.Lock()

    def caught(
        kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        log.error("An error nobody caught", exc_info=(kind, error or kind(), trace))
        if telling.acquire(blocking=False):  # reporting may fail too, and must not report itself
            try:
                tell(str(unexpected()))
            finally:
                telling.release()

    def in_thread(args: threading.ExceptHookArgs) -> None:
        caught(args.exc_type, args.exc_value, args.exc_traceback)

    def unraisable(args: sys.UnraisableHookArgs) -> None:
        caught(args.exc_type, args.exc_value, args.exc_traceback)

    def from_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        logging.getLogger("qt").log(_levels[kind], message)

    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.excepthook, threading.excepthook, sys.unraisablehook = caught, in_thread, unraisable
    qt_before = qInstallMessageHandler(from_qt)
    try:
        yield
    finally:
        qInstallMessageHandler(qt_before)
        sys.excepthook, threading.excepthook, sys.unraisablehook = before


@contextmanager
def _signals(application: QApplication) -> Iterator[None]:
    """Close the window on Ctrl-C and at the end of the session, as its button does.

    Python runs its signal handlers only between its own instructions; the socket wakes Qt's loop
    for it.
    """
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda: ours.recv(64))

    def leave(number: int, frame: FrameType | None) -> None:
        application.quit()

    kept = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        notifier.setEnabled(False)
        notifier.deleteLater()
        ours.close()
        theirs.close()


CHECK_INTERVAL_MS = 1000
"""Milliseconds between two checks."""
MIN_NEW_OBJECTS = 700
"""The number of new objects below which no collection is worthwhile, as in Python."""
FULL_COLLECTION_OBJECTS = 7_000
"""The number of new objects after which a full collection is worthwhile. Python waits for ten
times as many, since it may collect at a bad moment. Collecting sooner frees memory for reuse, so
that memory grows half as much."""
MIN_CHECKS_BETWEEN = 5
"""The least number of checks between two full collections."""
MAX_POSTPONED_CHECKS = 120
"""The number of checks for which a full collection is put off while something runs, so that
memory does not grow without bound."""


class GarbageCollection(QObject):
    """Runs the cyclic garbage collector on the main thread only, in place of Python: on new objects
    at every check, which takes microseconds, and on all objects when that delays nobody.

    Python collects on whichever thread made the last object, and destroys what it finds there. A
    widget that is destroyed on the wrong thread crashes the window. A full collection also blocks
    every thread: with a long conversation for up to a tenth of a second, and possibly while the
    user scrolls or an answer streams. Here it waits until nothing moves.
    """

    def __init__(
        self,
        is_busy: Callable[[], bool],
        parent: QObject | None = None,
        every: int = CHECK_INTERVAL_MS,
    ) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._begun = False
        self._made = 0
        self._passed = 0
        gc.disable()
        timer = QTimer(self, interval=every, timerType=Qt.TimerType.CoarseTimer)
        timer.timeout.connect(self._look)
        timer.start()

    def begin(self) -> None:
        """Exclude everything that exists after the start from collections. Further calls do
        nothing: by then a closed window may exist, which must be collected."""
        if not self._begun:
            self._begun = True
            gc.freeze()

    def _look(self) -> None:
        self._passed += 1
        made = gc.get_count()[0]
        if made >= MIN_NEW_OBJECTS:
            self._made += made
            gc.collect(1)
        if (
            not self._begun
            or self._made < FULL_COLLECTION_OBJECTS
            or self._passed < MIN_CHECKS_BETWEEN
        ):
            return
        if self._is_busy() and self._passed < MAX_POSTPONED_CHECKS:
            return
        self._made = self._passed = 0
        gc.collect()
