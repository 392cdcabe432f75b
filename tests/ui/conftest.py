"""Widgets are tested without a screen; what needs one starts its own."""

from __future__ import annotations

import gc
import os
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from jarvis_desktop.core.events import ExpertsSelected, PlanAccepted
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.engine import EngineQuestion, EngineThread
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import images
from jarvis_desktop.ui.widgets import theme as theme_module
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui import scene
from tests.ui.scene import NOW, FakeApp, iter_files, three_steps
from tests.ui.voice_scene import Asked, Slow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's screenless platform says what it cannot do with windows, and that it has no tray."""
    ours = Path(__file__).parent
    for item in items:
        if ours in item.path.parents:
            item.add_marker(
                pytest.mark.qt_log_ignore(
                    "does not support propagateSizeHints",
                    "does not support raise",
                    "systemTrayWindowChanged",
                )
            )


@pytest.fixture(autouse=True, scope="package")
def tidied() -> Iterator[None]:
    """Unreachable circles of objects go on the main thread alone, as with `GarbageCollection`: a
    widget that went on another one would bring all down."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(autouse=True)
def swept(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test finds widgets of the one before, or what they were dressed with."""
    font = qapp.font()
    monkeypatch.setattr(theme_module, "_wish", theme_module.ThemeChoice())
    yield
    # Qt deletes them in an event loop only; and to undress them first would take longer.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect(1 if gc.get_count()[2] < 40 else 2)  # all takes long, what is new next to nothing
    if qapp.styleSheet():
        qapp.setStyleSheet("")
        qapp.setPalette(QPalette())
        qapp.setFont(font)


class PatientBot(QtBot):
    """Waits a minute where pytest-qt waits five seconds: on a busy computer nothing comes sooner
    for having been given up, and what comes at once is not waited for."""

    PATIENCE_MS = 60_000

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **named: Any) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **named)

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE_MS) -> Any:
        return super().waitExposed(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """In place of pytest-qt's own."""
    return PatientBot(request)


class _Flashes(QObject):
    """Notes what was a window of its own for a moment, because it was shown before it had a
    parent: on a screen it flashes there, and takes the keyboard away.

    It looks at the calls that show, and then at the events of what was shown alone. To look at all
    events of the application took a fifth of the time of these tests."""

    def __init__(self) -> None:
        super().__init__()
        self.alone: dict[int, tuple[weakref.ref[QWidget], str]] = {}
        self.found: list[str] = []

    def shown(self, widget: QWidget) -> None:
        """To be called with what is about to be shown."""
        if not widget.isWindow() or widget.isVisible():
            return
        stack = "".join(traceback.format_stack(limit=6)[:-2])
        told = f"{widget} was shown without a parent:\n{stack}"
        if id(widget) not in self.alone or self.alone[id(widget)][0]() is not widget:
            widget.installEventFilter(self)
        self.alone[id(widget)] = weakref.ref(widget), told

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ParentChange and id(watched) in self.alone:
            widget, told = self.alone.pop(id(watched))
            watched.removeEventFilter(self)
            if widget() is watched:  # else another one has its number by now
                self.found.append(told)
        return False


@pytest.fixture(autouse=True)
def no_flashes(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No widget is shown before it has its place."""
    flashes = _Flashes()
    show, set_visible = QWidget.show, QWidget.setVisible

    def noted_show(self: QWidget) -> None:
        flashes.shown(self)
        show(self)

    def noted_set_visible(self: QWidget, visible: bool) -> None:
        if visible:
            flashes.shown(self)
        set_visible(self, visible)

    monkeypatch.setattr(QWidget, "show", noted_show)
    monkeypatch.setattr(QWidget, "setVisible", noted_set_visible)
    yield
    assert not flashes.found, flashes.found[0]


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The application dressed as it is for a person."""
    theme = Theme(qapp)
    yield theme
    theme.deleteLater()


@pytest.fixture
def engine(qapp: QApplication) -> Iterator[EngineThread]:
    """A running engine thread."""
    engine = EngineThread()
    engine.start()
    yield engine
    assert engine.close(60)


@pytest.fixture
def app() -> FakeApp:
    return FakeApp(recogniser=Slow())


@pytest.fixture
def slow(app: FakeApp) -> Slow:
    """Writes nothing down before it is told to go on."""
    assert isinstance(app.recogniser, Slow)
    app.recogniser.go_on.clear()
    return app.recogniser


@pytest.fixture
def asked(window: MainWindow, app: FakeApp, qtbot: QtBot) -> Asked:
    return Asked(window, app, qtbot)


@pytest.fixture
def session(engine: EngineThread, app: FakeApp) -> WindowSession:
    """A session whose application is not started yet."""
    return WindowSession(engine)


@pytest.fixture
def window(
    qtbot: QtBot, theme: Theme, session: WindowSession, app: FakeApp, tmp_path: Path
) -> Iterator[MainWindow]:
    """The window with its application started."""
    window = MainWindow(session, tmp_path / "window.ini")
    qtbot.addWidget(window)
    window.show()
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    yield window
    session.end()
    window.talker.cancel()
    session.engine.submit(session.close_app()).result(60)
    assert images.finish_reading(60_000)


@pytest.fixture
def picture(tmp_path: Path, qapp: QApplication) -> Path:
    path = tmp_path / "letter.png"
    image = QImage(640, 480, QImage.Format.Format_RGB32)
    image.fill(QColor("steelblue"))
    assert image.save(str(path))
    return path


@pytest.fixture
def actions(qapp: QApplication) -> Actions:
    return Actions()


@pytest.fixture
def served(
    actions: Actions, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> Iterator[Actions]:
    """Actions whose media are at work, with an application that has started."""
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    actions.media.serve(session)
    yield actions
    session.engine.submit(session.close_app()).result(60)


class SettledView(TurnView):
    """Lets Qt show what was added before the test looks at it."""

    def draw(
        self, turn: Turn, *, waiting: str = "", question: EngineQuestion | None = None
    ) -> None:
        super().draw(turn, waiting=waiting, question=question)
        QApplication.processEvents()


@pytest.fixture
def view(qtbot: QtBot, actions: Actions) -> TurnView:
    view = SettledView(actions)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    return view


@pytest.fixture
def turn(picture: Path) -> Turn:
    plan = three_steps(picture)
    turn = Turn("t", NOW, "Read this to me", attachments=(next(iter_files(plan)),))
    return turn.apply(PlanAccepted(plan)).apply(ExpertsSelected(scene.selections(plan)))
