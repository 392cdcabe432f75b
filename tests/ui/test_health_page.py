"""The check-up: findings as they come, what mends them, and a report for strangers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.app import health_checks
from jarvis_desktop.app.health_checks import Finding, HealthCheck
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.llm import ollama
from jarvis_desktop.llm.choice import LLMPreference, Provider
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.health_page import PLACES, STATES, HealthPage, report
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.settings.groups import GROUPS
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui import scene
from tests.ui.scene import FakeApp

LEFT = Qt.MouseButton.LeftButton
GOOD = Finding("SQLite", "ok", "3.51")
SPEAKER = Finding("speaker", "missing", "no device was found", "Plug one in.")
LLM = Finding("language model", "limited", "There is none.", "Start Ollama.")


def found(about: str, *findings: Finding, after: asyncio.Event | None = None) -> HealthCheck:
    async def look(app: object) -> Sequence[Finding]:
        if after:
            await after.wait()
        return findings

    return HealthCheck(about, look)


async def _broken(app: object) -> Sequence[Finding]:
    raise UnavailableError("It could not be looked at.", hint="Try again.")


@pytest.fixture
def page(
    qtbot: QtBot,
    theme: Theme,
    session: WindowSession,
    app: FakeApp,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[HealthPage]:
    some = (found("SQLite", GOOD), found("sound", SPEAKER), found("language model", LLM),
            HealthCheck("planner", _broken))  # fmt: skip
    monkeypatch.setattr(health_checks, "CHECKS", some)
    context = PageContext(
        session,
        TalkController(session.engine),
        Actions(session),
        SettingsController(session, session),
    )
    page = HealthPage(context)
    qtbot.addWidget(page)
    page.resize(700, 700)
    page.show()
    with qtbot.waitSignal(page.controller.ended):
        session.start(app.build)
    yield page
    session.end()
    session.engine.submit(session.close_app()).result(60)


def test_everything_that_was_found_is_shown_in_order(page: HealthPage) -> None:
    assert [item.what for item in page.findings] == [
        "SQLite", "speaker", "language model", "planner",
    ]  # fmt: skip
    assert page.summary.text() == "1 problem, 2 things could be better"
    assert not page.progress.isVisible()
    good, speaker, llm, planner = page.rows
    assert good.accessibleName() == "SQLite: In order. 3.51"
    assert not good.open.isVisible()
    assert speaker.accessibleName() == "Speaker: Problem. no device was found Plug one in."
    assert planner.detail.text() == "It could not be looked at."
    assert planner.fix.text() == "Try again."
    assert not llm.begin.isVisible()


def test_what_is_wrong_is_mended_from_here(page: HealthPage) -> None:
    gone: list[tuple[str, str]] = []
    page._actions.go.connect(lambda *to: gone.append(to))
    speaker = page.rows[1]
    QTest.mouseClick(speaker.open, LEFT)
    assert gone == [("settings", "speech.output")]
    QTest.mouseClick(speaker.copy, LEFT)
    assert QGuiApplication.clipboard().text() == "Plug one in."
    keys = {row.key for group in GROUPS for row in group.rows}
    assert {part for place, part in PLACES.values() if place == "settings"} <= keys


def test_the_progress_is_shown_while_it_looks(
    page: HealthPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()
    monkeypatch.setattr(
        health_checks, "CHECKS", (found("SQLite", GOOD), found("a", GOOD, after=go_on))
    )
    QTest.mouseClick(page.again, LEFT)
    assert page.progress.isVisible()
    assert not page.again.isEnabled()
    qtbot.waitUntil(lambda: page.progress.value() == 1)
    assert len([row for row in page.rows if row.isVisible()]) == 1
    with qtbot.waitSignal(page.controller.ended):
        page._session.engine.call(go_on.set)
    assert page.summary.text() == "Everything works."
    assert page.again.isEnabled()


def test_ollama_is_started_where_that_helps(
    page: HealthPage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    async def start() -> None:
        begun.append("ollama")
        if len(begun) == 1:
            raise UnavailableError("It does not answer.")

    monkeypatch.setattr(app.expert_manager, "start_ollama", start)
    llm = page.rows[2]
    cases: tuple[tuple[Provider, list[str]], ...] = (
        ("auto", []),
        ("openai", ["ollama"]),
        ("ollama", ["ollama"]),
    )
    for wanted, installed in cases:
        app.llms.wanted = LLMPreference(wanted)
        monkeypatch.setattr(ollama, "command", lambda found=installed: found)
        with qtbot.waitSignal(page.controller.ended):
            page.appear()
        assert llm.begin.isVisible() is (wanted == "ollama")
    with qtbot.waitSignal(page.controller.mended):
        QTest.mouseClick(llm.begin, LEFT)
    assert page.trouble.text() == "It does not answer."
    with qtbot.waitSignals([page.controller.mended, page.controller.ended, page.message]):
        QTest.mouseClick(llm.begin, LEFT)
    assert not page.trouble.isVisible()


def test_the_report_has_no_secrets_and_no_name(page: HealthPage, home: Path) -> None:
    QTest.mouseClick(page.copy, LEFT)
    text = QGuiApplication.clipboard().text()
    assert "missing  speaker: no device was found\n         → Plug one in." in text
    private = [
        Finding("data", "ok", f"{home}/data; log: {home}/logs, of {home.name}"),
        Finding("proxy", "ok", "http://anna:secret1@proxy:1 hf_abcdefgh sk-proj-1234567890"),
    ]
    told = report(private)
    assert "~/data; log: ~/logs" in told
    for secret in (str(home), "secret1", "hf_abc", "1234567890"):
        assert secret not in told


def test_the_logs_are_shown(page: HealthPage, app: FakeApp) -> None:
    opened: list[Path] = []
    page._actions.open_file.connect(opened.append)
    QTest.mouseClick(page.logs, LEFT)
    assert opened == [app.paths.logs]


def test_foreign_words_are_only_text(page: HealthPage) -> None:
    for hostile in scene.HOSTILE:
        for state in STATES:
            page.rows[0].show_finding(Finding("voice", state, hostile, hostile), startable=True)
            page.grab()
        assert page.rows[0].detail.textFormat() == Qt.TextFormat.PlainText
        assert page.rows[0].minimumSizeHint().width() <= 460
