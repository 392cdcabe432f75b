from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media import playback as transport_module
from jarvis_desktop.ui.media.playback import Playback
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.session import WindowSession
from tests.ui.scene import NOW, FakeApp

Make = Callable[[str], Playback]


class Clock:
    """The computer's clock, as the test wants it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(transport_module, "time", clock)
    return clock


@pytest.fixture
def make(actions: Actions, clock: Clock) -> Make:
    """Makes a transport of a file of one minute."""

    def make(name: str) -> Playback:
        made = Playback(actions.media.sounds, Path(name), actions)
        made.length = 60.0
        return made

    return make


@pytest.fixture
def letter(make: Make) -> Playback:
    return make("letter.wav")


@pytest.fixture
def film(make: Make) -> Playback:
    film = make("film.mp4")
    film.shows, film.sound = True, 60.0
    return film


def start(transport: Playback, app: FakeApp, qtbot: QtBot) -> None:
    transport.play()
    qtbot.waitUntil(lambda: transport.runs)


def silence(session: WindowSession, app: FakeApp) -> None:
    """End what sounds, as barge-in does, or the file itself."""
    session.engine.call(app.player.silence)


def test_it_is_where_the_sound_is(letter: Playback, app: FakeApp, qtbot: QtBot) -> None:
    start(letter, app, qtbot)
    assert app.player.played == [Path("letter.wav")]
    app.player.position = 12.5
    assert letter.position == 12.5
    with qtbot.waitSignal(letter.moved):
        pass
    letter.pause()
    assert not letter.playing
    assert letter.position == 12.5
    qtbot.waitUntil(lambda: app.player.stopped == 1)
    start(letter, app, qtbot)
    assert app.player.starts == [12.5]


def test_it_plays_again_at_once(letter: Playback, app: FakeApp, qtbot: QtBot) -> None:
    start(letter, app, qtbot)
    app.player.position = 9.0
    letter.pause()
    letter.play()
    qtbot.waitUntil(lambda: app.player.starts == [9.0] and letter.runs)
    qtbot.waitUntil(lambda: app.player.stopped == 1)
    with qtbot.waitSignal(letter.moved):
        pass
    assert letter.playing


def test_what_is_gone_is_not_heard_any_more(letter: Playback, app: FakeApp, qtbot: QtBot) -> None:
    start(letter, app, qtbot)
    letter.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: app.player.stopped == 1)


def test_a_jump_while_it_plays_begins_the_sound_anew_once(
    letter: Playback, app: FakeApp, qtbot: QtBot
) -> None:
    start(letter, app, qtbot)
    for place in (10, 20, 30):
        letter.seek(place)
    assert letter.position == 30
    qtbot.waitUntil(lambda: app.player.starts == [30])
    letter.seek(-5)
    assert letter.position == 0
    letter.seek(500)
    assert letter.position == 60


def test_a_jump_while_it_stands_is_only_remembered(letter: Playback, app: FakeApp) -> None:
    letter.seek(40)
    assert (letter.position, letter.playing, app.player.played) == (40, False, [])


def test_what_ends_goes_back_to_its_beginning(
    letter: Playback, app: FakeApp, session: WindowSession, qtbot: QtBot
) -> None:
    start(letter, app, qtbot)
    app.player.position = 59.8
    with qtbot.waitSignal(letter.moved):
        pass
    silence(session, app)
    qtbot.waitUntil(lambda: not letter.playing)
    assert letter.position == 0


def test_what_is_silenced_by_somebody_else_pauses(
    letter: Playback, app: FakeApp, session: WindowSession, qtbot: QtBot
) -> None:
    start(letter, app, qtbot)
    app.player.position = 20.0
    with qtbot.waitSignal(letter.moved):
        pass
    silence(session, app)
    qtbot.waitUntil(lambda: not letter.playing)
    assert letter.position == 20


def test_one_thing_sounds_at_a_time(
    make: Make, letter: Playback, app: FakeApp, qtbot: QtBot
) -> None:
    other = make("other.wav")
    start(letter, app, qtbot)
    start(other, app, qtbot)
    qtbot.waitUntil(lambda: not letter.playing)
    assert other.playing
    assert app.assistant.silenced == 2


def test_an_answer_that_is_spoken_and_a_timer_stop_what_plays(
    letter: Playback, app: FakeApp, session: WindowSession, qtbot: QtBot
) -> None:
    start(letter, app, qtbot)
    session.rang.emit(None)
    qtbot.waitUntil(lambda: not letter.playing)
    start(letter, app, qtbot)
    turn = Turn("t", NOW, "What time is it?", reply="It is ten.")
    session.changed.emit(PendingTurn(turn, OpenConversation(), Request(speak=False)))
    assert letter.playing
    session.changed.emit(PendingTurn(turn, OpenConversation(), Request(speak=True)))
    qtbot.waitUntil(lambda: not letter.playing)


def test_what_cannot_be_played_says_why(letter: Playback, app: FakeApp, qtbot: QtBot) -> None:
    app.player.error = InputError("letter.wav is damaged.")
    with qtbot.waitSignal(letter.failed) as told:
        letter.play()
    assert told.args == ["letter.wav is damaged."]
    assert not letter.playing


def test_a_film_goes_on_where_nothing_can_be_heard(
    film: Playback, app: FakeApp, clock: Clock, qtbot: QtBot
) -> None:
    app.player.error = UnavailableError("There is no sound output.")
    with qtbot.waitSignal(film.failed) as told:
        film.play()
    assert told.args == ["It plays without sound. There is no sound output."]
    clock.now += 7
    assert film.playing
    assert film.position == pytest.approx(7)


def test_a_film_without_sound_goes_by_the_clock_and_ends(
    film: Playback, app: FakeApp, clock: Clock, qtbot: QtBot
) -> None:
    film.sound = 0.0
    film.play()
    clock.now += 30
    assert film.position == 30
    film.pause()
    clock.now += 10
    assert film.position == 30
    film.play()
    clock.now += 31
    qtbot.waitUntil(lambda: not film.playing)
    assert film.position == 0
    assert app.player.played == []


def test_a_film_outlasts_its_sound(
    film: Playback, app: FakeApp, session: WindowSession, clock: Clock, qtbot: QtBot
) -> None:
    film.sound = 40.0
    start(film, app, qtbot)
    app.player.position = 39.9
    with qtbot.waitSignal(film.moved):
        pass
    silence(session, app)
    qtbot.waitUntil(lambda: film._since is not None)
    clock.now += 5
    assert film.playing
    assert film.position == pytest.approx(44.9)


def test_it_can_be_muted_and_heard_again(
    film: Playback, app: FakeApp, clock: Clock, qtbot: QtBot
) -> None:
    start(film, app, qtbot)
    app.player.position = 10.0
    film.mute(True)
    clock.now += 2
    assert film.position == 12
    qtbot.waitUntil(lambda: app.player.stopped == 1)
    film.mute(False)
    qtbot.waitUntil(lambda: app.player.starts == [12])


def test_before_there_is_an_application_nothing_plays(qapp: object, tmp_path: Path) -> None:
    idle = Actions()
    transport = Playback(idle.media.sounds, tmp_path / "a.wav", idle)
    transport.toggle()
    assert not transport.playing
