"""Run as a program: opens the window over an application with a child process, and closes it.

WHEN, its argument, is build, start, slot, signal, hang or a number of milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from jarvis_desktop.app.application import Application
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import app as window_app
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from tests.ui.scene import FakeApp, FakeAssistant, for_ever

WHEN = sys.argv[1]


class AppWithChild(FakeApp):
    """Its child ends only when it is closed."""

    async def start(self) -> None:
        self.child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "input()", stdin=subprocess.PIPE
        )
        print("child", self.child.pid, flush=True)
        if WHEN == "start":
            await asyncio.Event().wait()

    async def close(self) -> None:
        if child := getattr(self, "child", None):
            child.kill()
            await child.wait()
        if WHEN == "hang":
            await asyncio.to_thread(time.sleep, 60)


def build(session: WindowSession) -> Application:
    if WHEN == "build":
        session.engine.post(lambda: window().close())
        time.sleep(60)
    return AppWithChild(assistant=FakeAssistant(script=for_ever)).build()


def window() -> MainWindow:
    return next(item for item in QApplication.topLevelWidgets() if isinstance(item, MainWindow))


def act() -> None:
    main = window()
    main.send(Request("work for ever"))
    if WHEN == "slot":
        QTimer.singleShot(100, main.close)
        raise ValueError("a slip in a slot")
    if WHEN == "signal":
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    elif WHEN == "build":
        return
    elif WHEN == "start":
        QTimer.singleShot(300, main.close)
    elif WHEN == "hang":
        QTimer.singleShot(500, main.close)
    else:
        QTimer.singleShot(int(WHEN) if WHEN.isdigit() else 0, main.close)


if __name__ == "__main__":
    if WHEN == "hang":
        window_app.CLOSE_TIMEOUT_S = window_app.JOIN_TIMEOUT_S = 0.3
    QTimer.singleShot(0, act)
    code = window_app.run(build)
    print("threads", [item.name for item in threading.enumerate() if item.name == "engine"])
    sys.exit(code)
