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
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QSocketNotifier,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from jarvis_desktop import in_window, paths
from jarvis_desktop.log_file import log_to_file
from jarvis_desktop.start import Wish
from jarvis_desktop.ui.appearance import Appearance
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import EngineThread, unexpected
from jarvis_desktop.ui.face import Face
from jarvis_desktop.ui.look import icons, pictures
from jarvis_desktop.ui.look.pressing import ReturnPresses
from jarvis_desktop.ui.preparing import Preparing
from jarvis_desktop.ui.restarting import RESTART, restart
from jarvis_desktop.ui.session import Session
from jarvis_desktop.ui.tidying import Tidying

if TYPE_CHECKING:
    from jarvis_desktop.instance import Instance

log = logging.getLogger(__name__)

CLOSING = 4.0
"""Seconds that the application has to close its children and files."""
JOINING = 2.0
"""Seconds that the engine's loop has to end after that."""
SWITCHING = 0.001
"""Seconds that the engine may keep Python from the window, each time that Qt has given it away: in
one drawing that happens a hundred times."""
NO_WISH = Wish()
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


def composed(session: Session, instance: Instance | None = None) -> App:
    """The application as the settings want it; `instance` is given where it is claimed already."""
    from jarvis_desktop import compose, compose_settings, settings

    folders = paths.user_paths()
    log_to_file(folders)
    chosen, notice = settings.load(folders.settings)
    compose_settings.settle_process(chosen)
    app = compose.build(chosen, folders, on_ring=session.rang.emit, instance=instance)
    for words in (notice, app.history.notice):
        if words:
            session.failed.emit(words)
    return app


def run(build: Build = composed, wish: Wish = NO_WISH) -> int:
    """Show what is wished of the window until JARVIS ends; the exit code.

    `build` is called after the window is painted, so that nothing heavy keeps the window from the
    screen.
    """
    in_window.begin()
    sys.setswitchinterval(SWITCHING)
    application = _Application(sys.argv[:1])
    application.setApplicationName(paths.APP)
    application.setApplicationDisplayName("JARVIS Desktop")
    application.setDesktopFileName(paths.APP_ID)
    application.setWindowIcon(icons.application_icon())
    kept = paths.user_paths().config / "window.ini"
    ReturnPresses(application)
    appearance = Appearance(application, kept)
    engine = EngineThread()
    session = Session(engine)
    session.ready.connect(Tidying(lambda: session.busy, session).begin)
    face = Face(session, appearance, kept)
    application.quitting.connect(face.let_end)
    application.commitDataRequest.connect(face.let_end)
    begin = _Once(lambda: _begin(engine, session, build))
    face.painted.connect(begin)
    face.painted.connect(Preparing(session).begin)
    with _hooks(session.failed.emit), _signals(application):
        face.begin(wish)
        QTimer.singleShot(UNSEEN, begin)
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


def close(engine: EngineThread, session: Session) -> bool:
    """Stop the turn, close the application, end the engine; False where it did not end in time."""
    session.end()
    if session.leave():
        return False
    closing = engine.submit(session.close_app()) if engine.is_running else None
    try:
        if closing:
            closing.result(CLOSING)
    except (TimeoutError, CancelledError):
        log.error("The application did not close in time")
    except Exception:
        log.exception("The application did not close as it should")
    ended = engine.close(JOINING)
    if not ended:
        log.error("The engine did not end in time")
    pictures.finish_reading(1000)
    _kill_children()
    return ended


def _begin(engine: EngineThread, session: Session, build: Build) -> None:
    engine.start()
    session.start(lambda: build(session))


class _Application(QApplication):
    """Tells that it is to end before it closes its windows."""

    quitting = Signal()

    def event(self, event: QEvent) -> bool:
        """What is told to the application itself."""
        if event.type() == QEvent.Type.Quit:
            self.quitting.emit()
        return super().event(event)


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
