"""The page of the settings by itself, over an application that is a fake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop import settings as settings_file
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Report
from jarvis_desktop.settings import Settings
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.settings.groups import GROUPS
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.fake_fetcher import FakeFetcher
from tests.llm.keyring import MemoryKeyring
from tests.ui.scene import FakeApp

LISTENS = "automatic-speech-recognition"
TINY = Expert("whisper-tiny", LISTENS, "Whisper tiny: fast.", download_mb=78, licence="MIT",
              repo="Systran/faster-whisper-tiny", speed=18.0)  # fmt: skip
SMALL = Expert("whisper-small", LISTENS, "Whisper small: more exactly.", download_mb=486,
               licence="MIT", repo="Systran/faster-whisper-small")  # fmt: skip


class Fetching(FakeFetcher):
    """What it fetched is on the disk."""

    async def fetch(self, expert: Expert, report: Report, *, spared: object = ()) -> Path:
        path = await super().fetch(expert, report)
        self.here = (*self.here, expert.id)
        return path


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    """A keyring in memory."""
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def app() -> FakeApp:
    return FakeApp(experts=(SMALL, TINY, Expert("whisper-large", LISTENS)), weights=Fetching())


@pytest.fixture
def talker(session: WindowSession) -> TalkController:
    return TalkController(session.engine)


@pytest.fixture
def controller(session: WindowSession) -> SettingsController:
    controller = SettingsController(session)
    controller._later.setInterval(0)
    return controller


@pytest.fixture
def context(
    session: WindowSession, talker: TalkController, controller: SettingsController
) -> PageContext:
    return PageContext(session, talker, Actions(session), controller)


@pytest.fixture
def begun(
    session: WindowSession, app: FakeApp, qtbot: QtBot, talker: TalkController
) -> Iterator[WindowSession]:
    """The session, with its application started."""
    with qtbot.waitSignal(session.settled):
        session.start(app.build)
    talker.use(app.build())
    yield session
    session.end()
    talker.cancel()
    session.engine.submit(session.close_app()).result(60)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, context: PageContext, begun: WindowSession) -> SettingsPage:
    page = SettingsPage(context)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    page.controller.now = begun.app.settings if begun.app else None
    page._settled()
    page._making.setInterval(3_600_000)  # a subject that is asked for is built then; all take long
    page.appear()
    settle(page, qtbot)
    return page


@pytest.fixture
def voice_rows(page: SettingsPage, qtbot: QtBot) -> None:
    """The page shows what is about the voice."""
    page.show_group("voice")
    settle(page, qtbot)


@pytest.fixture
def whole_page(page: SettingsPage, qtbot: QtBot) -> SettingsPage:
    """The page, once it has built all subjects."""
    page._making.setInterval(0)
    page.appear()
    qtbot.waitUntil(lambda: len(page.subjects) == len(GROUPS))
    settle(page, qtbot)
    return page


def settle(page: SettingsPage, qtbot: QtBot) -> None:
    """Wait until the page has looked at everything."""
    qtbot.waitUntil(lambda: not page.voice.jobs.busy)


def kept(app: FakeApp) -> Settings:
    """What is in the file."""
    return settings_file.load(app.paths.settings)[0]
