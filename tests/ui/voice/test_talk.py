"""Talking in the window: the button, the key, what is shown of the voice, and where words go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.events import Speaking
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import Partial, Talking
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import header
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.request import composer
from jarvis_desktop.ui.voice import live_transcript, talk
from jarvis_desktop.ui.voice.live_transcript import PartialText
from jarvis_desktop.ui.widgets import theme
from tests.ui import scene
from tests.ui.scene import HOSTILE, FakeApp, Shown

LEFT, F4 = Qt.MouseButton.LeftButton, Qt.Key.Key_F4


def held(window: MainWindow, qtbot: QtBot) -> None:
    """The talk button is held until something was heard."""
    QTest.mousePress(window.composer.talk, LEFT)
    qtbot.waitUntil(lambda: bool(window.composer.meter.levels()))


def idle(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.talker.now.state == "idle")


def test_what_is_said_while_the_button_is_held_is_asked_aloud_with_the_files(
    window: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("words")
    window.add_files([note])
    qtbot.waitUntil(lambda: window.composer.attached.files() == (note,))
    window.composer.field.setPlainText("a draft")
    held(window, qtbot)
    assert window.composer.meter.isVisible()
    assert window.composer.talk.property("recording") == "true"
    QTest.mouseRelease(window.composer.talk, LEFT)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    request = app.assistant.handled[0][0]
    assert request.heard
    assert request.heard.text == "what time is it"
    assert (request.text, request.files, request.speak) == ("", (note,), True)
    assert window.composer.attached.files() == ()
    assert window.composer.field.toPlainText() == "a draft"
    idle(window, qtbot)
    qtbot.waitUntil(lambda: not window.session.busy)
    window.conversation.draw_now()
    [view] = window.conversation.views()
    assert view.request.text.toPlainText() == "what time is it"
    assert not window.composer.meter.isVisible()
    assert not window.composer.strip.isVisible()


def test_an_answer_is_not_spoken_where_the_switch_says_so(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    window.header.speak.setChecked(False)
    held(window, qtbot)
    QTest.mouseRelease(window.composer.talk, LEFT)
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    assert not app.assistant.handled[0][0].speak


def test_f4_is_the_talk_button_and_alt_f4_is_not(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    field = window.composer.field
    QTest.keyPress(field, F4, Qt.KeyboardModifier.AltModifier)
    QTest.keyRelease(field, F4, Qt.KeyboardModifier.AltModifier)
    QTest.keyPress(field, F4)
    qtbot.waitUntil(lambda: bool(window.composer.meter.levels()))
    QTest.keyRelease(field, F4)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert app.microphone.listened == 1


def test_the_space_bar_on_the_button_is_the_button(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    window.composer.talk.setFocus()
    QTest.keyPress(window.composer.talk, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.talker.active)
    QTest.keyRelease(window.composer.talk, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))


def test_a_key_that_repeats_as_release_and_press_is_one_talk(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    field = window.composer.field
    for _ in range(5):
        QTest.keyPress(field, F4)
        QTest.keyRelease(field, F4)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert app.microphone.listened == 1


def test_a_window_that_is_left_lets_the_key_go(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyPress(window.composer.field, F4)
    qtbot.waitUntil(lambda: bool(window.composer.meter.levels()))
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: bool(app.assistant.turns))


def test_escape_drops_what_is_said(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    held(window, qtbot)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    idle(window, qtbot)
    QTest.mouseRelease(window.composer.talk, LEFT)
    assert app.recogniser.hearings[0].dropped
    assert app.assistant.handled == []


def test_escape_while_it_speaks_silences_and_stops(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        shown.show(Speaking("The answer is forty-two."))
        return await scene.for_ever(request, shown)

    app.assistant.script = script
    window.send(Request("go"))
    hint = window.composer.hint
    qtbot.waitUntil(
        lambda: hint.full_text() == composer.ACTIVITY_HINTS["speaking"].format(key="F4")
    )
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.session.busy)
    assert (app.player.silenced, app.assistant.silenced) == (1, 1)
    assert window.session.open.entries[0].turn.status is Status.CANCELLED
    assert hint.full_text() == composer.HINT.format(key="F4")


def test_work_is_told_in_the_hint(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    app.assistant.script = scene.for_ever
    window.send(Request("go"))
    qtbot.waitUntil(
        lambda: (
            window.composer.hint.full_text() == composer.ACTIVITY_HINTS["working"].format(key="F4")
        )
    )


def test_words_appear_as_one_speaks(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    app.recogniser.partials = [Partial("", "set"), Partial("set a", "time her")]
    held(window, qtbot)
    strip = window.composer.strip
    qtbot.waitUntil(lambda: strip.words.text == "set a time her")
    assert strip.isVisible()
    assert strip.state.text() == live_transcript.HELD
    assert strip.words.accessibleName() == "Understood so far: set a time her"
    QTest.keyClick(window, Qt.Key.Key_Escape)
    idle(window, qtbot)
    QTest.mouseRelease(window.composer.talk, LEFT)
    assert not strip.isVisible()


def test_a_microphone_that_gives_only_silence_yet_gets_ready(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = []
    QTest.mousePress(window.composer.talk, LEFT)
    strip = window.composer.strip
    qtbot.waitUntil(strip.isVisible)
    assert strip.state.text() == live_transcript.WAITING
    assert window.header.voice.text() == "Getting ready…"
    window.session.engine.call(app.microphone.feed, scene.SPEECH)
    qtbot.waitUntil(lambda: strip.state.text() == live_transcript.HELD)
    assert window.header.voice.text() == "Listening"
    assert window.header.voice.property("microphone") == "hearing"
    QTest.mouseRelease(window.composer.talk, LEFT)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert window.header.voice.property("microphone") != "hearing"


@pytest.mark.parametrize("state", ["closed", "opening", "open", "lost"])
def test_the_microphone_is_always_to_be_seen(
    window: MainWindow, app: FakeApp, qtbot: QtBot, state: str
) -> None:
    told, meaning = header.MICROPHONE[state]  # type: ignore[index]
    window.session.engine.call(app.microphone._become, state)
    voice = window.header.voice
    qtbot.waitUntil(lambda: voice.property("microphone") == state)
    assert ("closes half a minute after" in voice.toolTip()) == (state == "open")
    assert voice.text() == told
    assert meaning in voice.accessibleName()
    window.resize(500, 600)
    assert voice.text() == ""
    assert voice.isVisible()
    assert meaning in voice.toolTip()


def test_why_nothing_was_heard_is_told_and_can_be_tried_again(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.recogniser.error = InputError(
        "Nobody seems to speak in your recording.", hint="Speak closer to the microphone."
    )
    held(window, qtbot)
    QTest.mouseRelease(window.composer.talk, LEFT)
    notice = window.composer.unheard
    qtbot.waitUntil(notice.isVisible)
    assert "Speak closer to the microphone." in notice.reason.text()
    assert notice.accessibleName() == notice.reason.text()
    assert app.assistant.handled == []
    app.recogniser.error = None
    QTest.mouseClick(notice.try_again, LEFT)
    qtbot.waitUntil(lambda: window.talker.active)
    assert not notice.isVisible()
    assert not window.talker.now.held
    assert "F4" in window.composer.strip.state.text()
    QTest.mouseClick(window.composer.talk, LEFT)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))


@pytest.mark.parametrize("words", ["", "  "])
def test_a_blank_transcript_is_no_request(
    window: MainWindow, app: FakeApp, qtbot: QtBot, words: str
) -> None:
    app.recogniser.hears = words
    held(window, qtbot)
    QTest.mouseRelease(window.composer.talk, LEFT)
    qtbot.waitUntil(window.composer.unheard.isVisible)
    assert app.assistant.handled == []


def test_a_microphone_that_is_missing_is_told(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = []
    app.microphone.error = UnavailableError("There is no microphone.", hint="Plug one in.")
    QTest.mousePress(window.composer.talk, LEFT)
    qtbot.waitUntil(window.composer.unheard.isVisible)
    QTest.mouseRelease(window.composer.talk, LEFT)
    assert window.composer.unheard.reason.text() == "There is no microphone. Plug one in."
    QTest.mouseClick(window.composer.unheard.close_button, LEFT)
    assert not window.composer.unheard.isVisible()


@pytest.fixture
def hung(window: MainWindow, app: FakeApp, qtbot: QtBot) -> Iterator[threading.Event]:
    """The engine's loop does nothing until this is set."""
    with qtbot.waitSignal(window.talker.talked):
        window.talker.attach(app.talk)
    hangs, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        go_on.wait(60)

    window.session.engine.call(hang)
    assert hangs.wait(60)
    yield go_on
    go_on.set()


def test_an_engine_that_hangs_is_told_and_the_window_goes_on(
    window: MainWindow, app: FakeApp, qtbot: QtBot, hung: threading.Event
) -> None:
    window.talker._slow.setInterval(30)
    QTest.mousePress(window.composer.talk, LEFT)
    qtbot.waitUntil(window.composer.unheard.isVisible)
    assert window.composer.unheard.reason.text() == talk.SLOW
    window.composer.field.setPlainText("still here")
    QTest.mouseRelease(window.composer.talk, LEFT)
    window.talker.cancel()
    hung.set()
    qtbot.waitUntil(lambda: bool(app.recogniser.hearings) and app.recogniser.hearings[0].dropped)
    idle(window, qtbot)
    assert app.assistant.handled == []


def test_what_is_told_of_a_talk_that_went_on_before_is_shown(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    """The key of the desktop talks too: nothing of it goes through the window."""
    window.session.engine.call(app.talk.start)
    qtbot.waitUntil(lambda: window.composer.strip.isVisible())
    assert window.composer.strip.state.text() == live_transcript.FREE.format(key="F4")
    window.session.engine.call(app.talk.stop)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))


def dark_and_light(shown: PartialText) -> tuple[int, int]:
    """How many pixels are of the colour of text, and of that of what may change."""
    image = shown.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    palette = shown.palette().windowText().color()
    colours = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return colours.count(palette), colours.count(QColor(theme.colour("muted")))


@pytest.mark.usefixtures("theme")
def test_settled_words_are_drawn_as_text_and_the_rest_lighter(qtbot: QtBot) -> None:
    shown = PartialText()
    qtbot.addWidget(shown)
    shown.resize(400, shown.sizeHint().height())
    shown.show()
    shown.show_partial(Partial("llllllllll", ""))
    settled, lighter = dark_and_light(shown)
    assert settled > 0
    assert lighter == 0
    shown.show_partial(Partial("", "llllllllll"))
    assert dark_and_light(shown) == (0, settled)
    shown.show_partial(Partial("llllllllll", "llllllllll"))
    assert dark_and_light(shown) == (settled, settled)


@pytest.mark.usefixtures("theme")
def test_words_that_are_read_stay_in_their_place(qtbot: QtBot) -> None:
    shown = PartialText()
    qtbot.addWidget(shown)
    shown.resize(200, shown.sizeHint().height())
    shown.show()
    height = shown.sizeHint().height()
    words = "one two three four five six seven eight nine ten eleven twelve thirteen"
    shown.show_partial(Partial(words, "fourteen fifteen sixteen seventeen eighteen nineteen"))
    before = shown.grab().toImage()
    first = shown._first
    assert first > 0
    shown.show_partial(Partial(words, ""))
    shown.grab()
    assert shown._first == first  # fewer lines, and still the text does not move back
    assert shown.sizeHint().height() == height
    assert before.height() == height
    shown.clear()
    assert (shown.text, shown._first) == ("", 0)


def test_foreign_words_and_reasons_are_only_text(window: MainWindow, qtbot: QtBot) -> None:
    strip, notice = window.composer.strip, window.composer.unheard
    strip.show_talking(Talking("listening", held=True))
    for hostile in HOSTILE:
        strip.words.show_partial(Partial(hostile, hostile))
        notice.say(hostile)
        window.grab()
        assert notice.reason.textFormat() == Qt.TextFormat.PlainText
        assert window.minimumSizeHint().width() <= 800
        assert window.composer.minimumSizeHint().height() <= 700


def test_every_button_has_a_name_and_the_keyboard(window: MainWindow) -> None:
    window.composer.unheard.say("Nothing was heard.")
    for item in (*window.composer.findChildren(QPushButton), window.header.voice):
        assert item.accessibleName()
        assert item.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_the_window_closes_while_one_speaks(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    held(window, qtbot)
    window.close()
    qtbot.waitUntil(lambda: app.recogniser.hearings[0].dropped)
