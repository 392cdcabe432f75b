"""What is changed is written a moment later, for good, and taken up at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.policy import Mode
from jarvis_desktop.settings import Settings, change
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept


def test_what_is_changed_quickly_is_written_once(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    told: list[Settings] = []
    begun.settled.connect(told.append)
    with qtbot.waitSignal(controller.saved):
        for rate in range(100, 200, 10):
            controller.change("speech.rate", rate)
        controller.change("mode", "hybrid")
        controller.change("window.theme", "dark")
    assert len(app.adopted) == 1
    assert kept(app) == app.settings == told[-1] == controller.now
    assert (kept(app).speech.rate, kept(app).mode) == (190, Mode.HYBRID)
    with qtbot.waitSignal(controller.saved):
        controller.change("speech.rate", None)
    assert "rate" not in app.paths.settings.read_text()
    assert kept(app).window.theme == "dark"


def test_what_the_command_line_writes_is_taken_up(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(controller.saved):
        controller.change("window.theme", "dark")
    with qtbot.waitSignal(begun.settled) as settled:
        change(app.paths.settings, "llm", {"provider": "ollama"})
    assert settled.args[0].llm.provider == app.settings.llm.provider == "ollama"
    assert len(app.adopted) == 2
    with qtbot.waitSignal(controller.failed) as failed:
        app.paths.settings.write_text("[llm")
    assert "settings.toml" in failed.args[0]
    assert controller.now
    assert controller.now.llm.provider == "ollama"


def test_the_first_setting_of_a_new_user_is_taken_up_from_the_command_line(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(begun.settled) as settled:
        change(app.paths.settings, "llm", {"provider": "ollama"})
    assert settled.args[0].llm.provider == app.settings.llm.provider == "ollama"


def test_what_is_refused_is_told_and_the_rest_is_kept(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    told: list[Settings] = []
    begun.settled.connect(told.append)
    with qtbot.waitSignal(controller.failed) as failed:
        controller.change("speech.rate", 9000)
        controller.change("window.theme", "dark")
    assert "speech.rate" in failed.args[0]
    assert kept(app).speech.rate == 170
    assert told[-1].window.theme == "dark"


def test_a_file_that_cannot_be_written_is_told(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.paths.settings.parent.mkdir(parents=True, exist_ok=True)
    app.paths.settings.write_text("[speech")
    with qtbot.waitSignal(controller.failed) as failed:
        controller.change("speech.rate", 200)
    assert "were not changed" in failed.args[0]
    assert app.paths.settings.read_text() == "[speech"


def test_what_waits_for_a_restart_waits_until_then(
    controller: SettingsController, begun: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.waits = ("processes",)
    with qtbot.waitSignal(controller.saved):
        controller.change("processes", 3)
    app.waits = ("speech.wake_word",)
    with qtbot.waitSignal(controller.saved) as saved:
        controller.change("speech.wake_word", "hey_jarvis")
    assert saved.args == [frozenset({"processes", "speech.wake_word"})]


def test_what_is_changed_before_there_is_an_application_is_kept_for_it(
    controller: SettingsController, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    controller.change("window.theme", "dark")
    controller.write()
    assert not Path(app.paths.settings).exists()
    with qtbot.waitSignal(controller.saved):
        session.start(app.build)
    assert kept(app).window.theme == "dark"
    session.engine.submit(session.close_app()).result(60)


def test_an_application_that_fails_is_told(
    controller: SettingsController,
    begun: WindowSession,
    app: FakeApp,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def adopt(settings: Settings) -> tuple[()]:
        raise ValueError("ours")

    monkeypatch.setattr(app, "adopt", adopt)
    with qtbot.waitSignal(controller.failed):
        controller.change("window.theme", "dark")
    caplog.clear()
