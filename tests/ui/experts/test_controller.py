"""What the window knows of the downloads."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts.controller import DownloadsMonitor
from jarvis_desktop.ui.session import WindowSession
from tests.ui.scene import FakeApp


def test_a_window_that_is_made_anew_hears_of_each_change_once(
    session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    session.engine.submit(app.expert_manager.downloads.restore()).result(60)
    watch, told, over = DownloadsMonitor(session), list[object](), list[Outcome]()
    watch.changed.connect(told.append)
    session.greet()

    async def after() -> None:
        pass

    session.engine.run(after, over.append)
    qtbot.waitUntil(lambda: bool(over))
    assert len(told) == 1
    session.engine.submit(session.close_app()).result(60)
