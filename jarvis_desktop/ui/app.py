"""Opens the window, starts the engine behind it, and ends both in order."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from types import FrameType, TracebackType

from PySide6.QtCore import (
    QMessageLogContext,
    QSocketNotifier,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from jarvis_desktop import paths
from jarvis_desktop.log_file import log_to_file
from jarvis_desktop.ui import icons, pictures
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import EngineThread, unexpected
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import Session
from jarvis_desktop.ui.theme import Theme

log = logging.getLogger(__name__)

CLOSING = 4.0
"""Seconds that the application has to close its children and files."""
JOINING = 2.0
"""Seconds that the engine's loop has to end after that."""
UNSEEN = 400
"""Milliseconds after which the engine starts even where the window cannot be seen."""

_levels = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


Build = Callable[[Session], App]
"""Makes the application, on the engine thread; the session is told what happens on its own."""


def composed(session: Session) -> App:
    """The application as the settings want it."""
    from jarvis_desktop import compose, offline, settings
    from jarvis_desktop.core.policy import Mode

    folders = paths.user_paths()
    log_to_file(folders)
    chosen, notice = settings.load(folders.settings)
    offline.settle(offline=chosen.mode is Mode.OFFLINE)
    app = compose.build(chosen, folders, on_ring=session.rang.emit)
    for words in (notice, app.history.notice):
        if words:
            session.failed.emit(words)
    return app


def run(build: Build = composed) -> int:
    """Show the window until it is closed; the exit code.

    `build` is called after the window is painted, so that nothing heavy keeps the window from the
    screen.
    """
    application = QApplication(sys.argv[:1])
    application.setApplicationName(paths.APP)
    application.setApplicationDisplayName("JARVIS Desktop")
    application.setDesktopFileName(paths.APP_ID)
    application.setWindowIcon(icons.application_icon())
    theme = Theme(application)
    engine = EngineThread()
    session = Session(engine)
    window = MainWindow(session, paths.user_paths().config / "window.ini")
    begin = _Once(lambda: _begin(engine, session, build))
    window.painted.connect(begin)
    with _hooks(session.failed.emit), _signals(application):
        window.show()
        QTimer.singleShot(UNSEEN, begin)
        code = application.exec()
        window.hide()
        ended = close(engine, session)
    theme.deleteLater()
    if not ended:
        # Something foreign hangs in a thread; the interpreter would wait for it for ever.
        log.error("The engine did not end in time")
        logging.shutdown()
        os._exit(code)
    return code


def close(engine: EngineThread, session: Session) -> bool:
    """Stop the turn, close the application, end the engine; False where it did not end in time."""
    session.end()
    closing = engine.submit(session.close_app()) if engine.is_running else None
    try:
        if closing:
            closing.result(CLOSING)
    except (TimeoutError, CancelledError):
        log.error("The application did not close in time")
    except Exception:
        log.exception("The application did not close as it should")
    ended = engine.close(JOINING)
    pictures.finish_reading(1000)
    _kill_children()
    return ended


def _begin(engine: EngineThread, session: Session, build: Build) -> None:
    engine.start()
    session.start(lambda: build(session))


class _Once:
    """Calls something at the first of several occasions."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act: Callable[[], None] | None = act

    def __call__(self) -> None:
        act, self._act = self._act, None
        if act:
            act()


def _kill_children() -> None:
    """End what is left of our child processes, whatever state they are in."""
    if (multiprocessing := sys.modules.get("multiprocessing")) is not None:
        for child in multiprocessing.active_children():
            child.kill()
            child.join(1.0)


@contextmanager
def _hooks(tell: Callable[[str], None]) -> Iterator[None]:
    """While the window is open no error is lost: it is logged and told, and the window stays."""
    telling = threading.Lock()

    def caught(
        kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        log.error("An error nobody caught", exc_info=(kind, error or kind(), trace))
        if telling.acquire(blocking=False):  # telling may fail too, and must not tell of that
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
    """Ctrl-C and the end of the session close the window as its button does.

    Python runs its handlers only between its own instructions; the socket wakes Qt's loop for it.
    """
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda: ours.recv(64))

    def leave(number: int, frame: FrameType | None) -> None:
        application.closeAllWindows()
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
