"""Somebody talks in the window: a recogniser that can be held back, and questions to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop import settings
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.ports import Frontend
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import SpeechSettings
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.voice.talk import Dictation
from tests.fake_voice import FakeHearing, FakeRecogniser, nobody
from tests.ui import goal_scene
from tests.ui.scene import FakeApp, Shown

LEFT = Qt.MouseButton.LeftButton

Asks = Callable[[Frontend], Awaitable[Any]]

ASKING: dict[str, Asks] = {
    "plan": lambda frontend: frontend.review_outline(goal_scene.DRAFT, ""),
    "code": lambda frontend: frontend.review_code(goal_scene.code_request()),
    "words": lambda frontend: frontend.ask("Which month?"),
}


class SlowHearing(FakeHearing):
    """Is written down once it is let go on."""

    async def finish(self) -> Transcript:
        assert isinstance(self.recogniser, Slow)
        await self.recogniser.go_on.wait()
        return await super().finish()


class Slow(FakeRecogniser):
    """Writes down what is said once it is let go on, as it is until `go_on` is cleared."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.go_on.set()

    def hear(self, show: Callable[[Partial], None] = nobody) -> FakeHearing:
        self.hearings.append(SlowHearing(self, show, iter(self.partials)))
        return self.hearings[-1]


class Asked:
    """A request whose turn asks something; keeps the answers."""

    def __init__(self, window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
        self.window = window
        self.app = app
        self.qtbot = qtbot
        self.answers: list[Any] = []

    def ask(self, *asking: Asks) -> ApprovalPanel:
        async def script(request: Request, shown: Shown) -> Status:
            for asks in asking:
                self.answers.append(await asks(shown.frontend))
            return Status.DONE

        self.app.assistant.script = script
        self.window.send(Request("go"))
        return self.panel()

    def panel(self) -> ApprovalPanel:
        self.qtbot.waitUntil(lambda: bool(self.window.conversation.panels()))
        return self.window.conversation.panels()[0]

    def begin(self) -> None:
        """Hold the button, and say something."""
        meter, before = self.window.composer.meter, len(self.app.recogniser.hearings)
        QTest.mousePress(self.window.composer.talk, LEFT)
        self.qtbot.waitUntil(lambda: len(self.app.recogniser.hearings) > before)
        self.qtbot.waitUntil(lambda: len(meter.levels()) == len(self.app.microphone.sounds))

    def speak(self) -> None:
        """Hold the button, say something, and let go."""
        self.begin()
        QTest.mouseRelease(self.window.composer.talk, LEFT)
        self.qtbot.waitUntil(lambda: not self.window.talker.active)

    def hear(self, words: str) -> None:
        self.app.recogniser.hears = words
        self.speak()


def line(panel: ApprovalPanel) -> Dictation:
    assert panel.dictation
    return panel.dictation


def settled(asked: Asked, panel: ApprovalPanel) -> None:
    asked.qtbot.waitUntil(lambda: not panel.awaits_words)


def opened(window: MainWindow, qtbot: QtBot) -> SettingsPage:
    """The settings, at the voice."""
    QTest.mouseClick(window.header.voice, LEFT)
    page = window.places.page("settings")
    assert isinstance(page, SettingsPage)
    qtbot.waitUntil(lambda: not page.voice.jobs.busy)
    return page


def kept(app: FakeApp) -> SpeechSettings:
    return settings.load(app.paths.settings)[0].speech
