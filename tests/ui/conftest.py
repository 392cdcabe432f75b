"""Widgets are tested without a screen; what needs one starts its own."""

from __future__ import annotations

import gc
import os
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import ExpertsSelected, PlanAccepted
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.engine import EngineQuestion, EngineThread
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import images
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
def swept(qapp: QApplication) -> Iterator[None]:
    """No test finds widgets of the one before, or what they were dressed with."""
    font = qapp.font()
    yield
    # Qt deletes them in an event loop only; and to undress them first would take longer.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect(1 if gc.get_count()[2] < 40 else 2)  # all takes long, what is new next to nothing
    if qapp.styleSheet():
        Theme(qapp).deleteLater()  # as nobody wished it
        qapp.setStyleSheet("")
        qapp.setFont(font)


class _Flashes(QObject):
    """Notes what was a window of its own for a moment, because it was shown before it had a
    parent: on a screen it flashes there, and takes the keyboard away."""

    def __init__(self) -> None:
        super().__init__()
        self.alone: dict[int, tuple[weakref.ref[QWidget], str]] = {}
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(watched, QWidget):
            return False
        # Asked first: of most events the kind need not be known, and to ask for it takes longer.
        alone = watched.isWindow()
        if not alone and id(watched) not in self.alone:
            return False
        kind = event.type()
        if alone and kind == QEvent.Type.Show:
            shown = "".join(traceback.format_stack(limit=6)[:-1])
            told = f"{watched} was shown without a parent:\n{shown}"
            self.alone[id(watched)] = weakref.ref(watched), told
        elif kind == QEvent.Type.ParentChange and id(watched) in self.alone:
            widget, told = self.alone.pop(id(watched))
            if widget() is watched:  # else another one has its number by now
                self.found.append(told)
        return False


@pytest.fixture(autouse=True)
def no_flashes(qapp: QApplication) -> Iterator[None]:
    """No widget is shown before it has its place."""
    flashes = _Flashes()
    qapp.installEventFilter(flashes)
    yield
    qapp.removeEventFilter(flashes)
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
    assert engine.close(5)


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
    session.engine.submit(session.close_app()).result(5)
    assert images.finish_reading(5000)


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
    session.engine.submit(session.close_app()).result(5)


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
