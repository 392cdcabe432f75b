"""The sign above all windows: when it is there, and what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import ReplyChunk, Speaking
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import Loudness, Partial, Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.quick import overlay as overlay_module
from jarvis_desktop.ui.quick.overlay import Overlay, PhaseTracker
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.scene import HOSTILE, FakeApp, Shown


@pytest.fixture
def talker(session: WindowSession) -> TalkController:
    return TalkController(session.engine, session)


@pytest.fixture
def overlay(session: WindowSession, talker: TalkController, theme: Theme, qtbot: QtBot) -> Overlay:
    overlay = Overlay(session, talker, PhaseTracker(session, talker, session))
    qtbot.addWidget(overlay)
    overlay.want(True)
    return overlay


@pytest.fixture
def started(session: WindowSession, app: FakeApp, qtbot: QtBot) -> Iterator[FakeApp]:
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    yield app
    session.end()
    session.engine.submit(session.close_app()).result(60)


def test_it_is_there_while_it_listens(overlay: Overlay, talker: TalkController) -> None:
    assert not overlay.isVisible()
    talker._happened(Talking("listening", held=True))
    assert overlay.isVisible()
    assert overlay.words.full_text() == "JARVIS is listening"
    talker._happened(Loudness(0.5))
    assert overlay.meter.levels() == [0.5]
    talker._happened(Partial("read", "it"))
    assert overlay.words.full_text() == "read it"
    talker._happened(Talking("recognising"))
    assert overlay.words.full_text() == "JARVIS is thinking"
    assert not overlay.meter.isVisible()
    talker._happened(Talking("idle"))
    assert not overlay.isVisible()


def test_of_many_words_the_last_are_shown(overlay: Overlay, talker: TalkController) -> None:
    talker._happened(Talking("listening"))
    talker._happened(Partial("word " * 500, "the end"))
    assert overlay.words.full_text().endswith("the end")
    assert overlay.words.full_text().startswith("…")


def test_hostile_words_harm_nothing(overlay: Overlay, talker: TalkController) -> None:
    for text in HOSTILE:
        talker._happened(Talking("listening"))
        talker._happened(Partial(text, text))
        assert overlay.width() < overlay.screen().availableGeometry().width()
        assert overlay.words.textFormat() == Qt.TextFormat.PlainText


@pytest.mark.parametrize("why", ["unwanted", "seen", "wayland"])
def test_it_is_not_there_where_it_is_not_wanted(
    overlay: Overlay, talker: TalkController, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "unwanted":
        overlay.want(False)
    elif why == "seen":
        overlay.see(True)
    else:
        monkeypatch.setattr(overlay_module, "places_windows", lambda: False)
    talker._happened(Talking("listening"))
    assert not overlay.isVisible()


def test_it_goes_when_the_window_comes_and_comes_when_that_goes(
    overlay: Overlay, talker: TalkController
) -> None:
    talker._happened(Talking("listening"))
    overlay.see(True)
    assert not overlay.isVisible()
    overlay.see(False)
    assert overlay.isVisible()


def test_it_takes_no_click_and_no_keyboard(overlay: Overlay, talker: TalkController) -> None:
    talker._happened(Talking("listening"))
    flags = overlay.windowFlags()
    for flag in (
        Qt.WindowType.WindowTransparentForInput,
        Qt.WindowType.WindowDoesNotAcceptFocus,
        Qt.WindowType.WindowStaysOnTopHint,
    ):
        assert flags & flag
    assert overlay.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert not overlay.isActiveWindow()


def test_it_stands_at_the_bottom_of_the_screen(overlay: Overlay, talker: TalkController) -> None:
    talker._happened(Talking("listening"))
    room = overlay.screen().availableGeometry()
    place = overlay.geometry()
    assert room.contains(place)
    assert abs(place.center().x() - room.center().x()) <= 1
    assert room.bottom() - place.bottom() < 60


def test_what_is_spoken_is_read_along(
    overlay: Overlay, session: WindowSession, started: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        shown.show(ReplyChunk("Six times seven is forty-two."))
        shown.show(Speaking("Six times seven is forty-two."))
        await asyncio.Event().wait()
        return Status.DONE

    started.assistant.script = script
    session.send(Request("typed"))
    qtbot.waitUntil(lambda: overlay.words.full_text() == "Six times seven is forty-two.")
    assert overlay.isVisible()


async def work(request: Request, shown: Shown) -> Status:
    await asyncio.Event().wait()
    return Status.DONE


def test_work_on_what_was_said_is_shown_for_a_while(
    overlay: Overlay, session: WindowSession, started: FakeApp, qtbot: QtBot
) -> None:
    started.assistant.script = work
    session.send(Request(heard=Transcript("work", "fake")))
    qtbot.waitUntil(overlay.isVisible)
    assert overlay._long.isActive()
    overlay._long.timeout.emit()
    assert not overlay.isVisible()


def test_who_typed_has_a_window_for_it(
    overlay: Overlay, session: WindowSession, started: FakeApp, qtbot: QtBot
) -> None:
    started.assistant.script = work
    exchange = session.send(Request("work"))
    qtbot.waitUntil(lambda: exchange.turn.id != "")
    assert not overlay.isVisible()
