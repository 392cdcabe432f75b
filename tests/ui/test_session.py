import asyncio
import gc
import weakref
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import Kept, ReplyChunk, Waiting, WaitReason
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.ui.engine import EngineThread, QtFrontend
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.pending_turn import OpenConversation
from jarvis_desktop.ui.request.attachments import FileOffers
from jarvis_desktop.ui.session import WindowSession
from tests.ui import scene
from tests.ui.scene import NOW, FakeApp, Shown


@pytest.fixture
def ready(session: WindowSession, app: FakeApp, qtbot: QtBot) -> WindowSession:
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    return session


def old(conversation: str, *words: str) -> Conversation:
    turns = [
        Turn(f"{conversation}-{number}", NOW + timedelta(minutes=number), text)
        for number, text in enumerate(words)
    ]
    return Conversation(conversation, tuple(replace(turn, status=Status.DONE) for turn in turns))


def test_what_is_sent_before_it_is_ready_waits_and_is_answered(
    session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    exchange = session.send(Request("hello"))
    assert exchange.waiting == "Getting ready…"
    session.start(app.build)
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    assert exchange.turn.reply == "You said: hello"
    assert exchange.waiting == ""


def test_requests_are_answered_one_after_another_in_one_conversation(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    exchanges = [ready.send(Request(str(number))) for number in range(3)]
    qtbot.waitUntil(lambda: not ready.busy)
    assert [turn.text for turn in app.assistant.turns] == ["0", "1", "2"]
    assert [item.turn.reply for item in exchanges] == [f"You said: {n}" for n in range(3)]
    assert {conversation for _, conversation in app.assistant.handled} == {"new-1"}


def test_the_history_is_read_as_soon_as_a_turn_is_in_it(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    said = asyncio.Event()

    async def talks(request: Request, shown: Shown) -> Status:
        shown.show(Kept())
        await said.wait()
        return Status.DONE

    app.assistant.script = talks
    with qtbot.waitSignal(ready.kept):
        exchange = ready.send(Request("talk for minutes"))
    assert exchange.turn.status is None
    ready.engine.call(said.set)
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)


def test_who_begins_a_request_wakes_what_it_needs(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: app.woken == 1)  # the talk key was told of
    window.composer.field.setPlainText("W")
    qtbot.waitUntil(lambda: app.woken == 2)
    window.talker.press()
    qtbot.waitUntil(lambda: app.woken > 2)


def test_stop_ends_the_turn_and_those_that_wait(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    first, second = ready.send(Request("one")), ready.send(Request("two"))
    qtbot.waitUntil(lambda: second.waiting == "Waiting for the request before it…")
    ready.stop()
    qtbot.waitUntil(lambda: not ready.busy)
    assert first.turn.status is second.turn.status is Status.CANCELLED
    assert second.waiting == ""
    assert [request.text for request, _ in app.assistant.handled] == ["one"]


def test_each_turn_can_be_stopped_by_itself(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    first, second, third = (ready.send(Request(words)) for words in ("one", "two", "three"))
    qtbot.waitUntil(lambda: bool(third.waiting))
    ready.stop_turn(second.turn)
    qtbot.waitUntil(lambda: second.turn.status is Status.CANCELLED)
    assert first.turn.status is third.turn.status is None
    app.assistant.script = scene.echo
    ready.stop_turn(replace(first.turn, reply="as it was drawn"))
    qtbot.waitUntil(lambda: third.turn.status is Status.DONE)
    assert first.turn.status is Status.CANCELLED


def test_what_waits_for_the_application_is_stopped_by_itself_too(session: WindowSession) -> None:
    first, second = session.send(Request("one")), session.send(Request("two"))
    session.stop_turn(second.turn)
    assert (first.turn.status, second.turn.status) == (None, Status.CANCELLED)
    session.stop()
    assert first.turn.status is Status.CANCELLED
    assert not session.busy


def test_turns_of_different_conversations_run_at_once_and_stop_means_the_open_one(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    running = ready.send(Request("one"))
    behind = ready.send(Request("behind it"))
    qtbot.waitUntil(lambda: bool(behind.waiting))
    ready.new_conversation()
    here = ready.send(Request("two"))
    other = ready.send(Request("three"), place=OpenConversation())
    qtbot.waitUntil(lambda: len(app.assistant.handled) == 3)
    assert ready.active == (running, behind, here, other)
    assert ready.running is here
    ready.stop()
    qtbot.waitUntil(lambda: here.turn.status is Status.CANCELLED)
    assert running.turn.status is behind.turn.status is other.turn.status is None
    ready.stop()  # nothing runs here any more: what was asked last is meant
    qtbot.waitUntil(lambda: other.turn.status is Status.CANCELLED)
    assert running.turn.status is behind.turn.status is None
    ready.stop()
    qtbot.waitUntil(lambda: not ready.busy)
    assert running.turn.status is behind.turn.status is Status.CANCELLED


def test_a_request_that_waits_for_nothing_is_answered_beside_the_running_one(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        work = scene.echo if request.text == "what time is it" else scene.for_ever
        return await work(request, shown)

    app.assistant.script, app.assistant.instant = script, ["what time is it"]
    first, second = ready.send(Request("one")), ready.send(Request("what time is it"))
    qtbot.waitUntil(lambda: second.turn.status is Status.DONE)
    assert first.turn.status is None
    assert [item.turn.text for item in ready.open.entries] == ["one", "what time is it"]
    ready.end()
    qtbot.waitUntil(lambda: first.turn.status is Status.CANCELLED)


def test_who_waits_for_the_language_model_is_told_so(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    free = asyncio.Event()

    async def waits(request: Request, shown: Shown) -> Status:
        shown.show(Waiting(WaitReason.LLM))
        await free.wait()
        shown.show(Waiting(WaitReason.NOTHING))
        return await scene.echo(request, shown)

    app.assistant.script = waits
    exchange = ready.send(Request("one"))
    qtbot.waitUntil(lambda: exchange.waiting == "Waiting for the language model…")
    ready.engine.call(free.set)
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    assert exchange.waiting == ""


def test_who_waits_behind_a_question_is_told_so(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    async def asks(request: Request, shown: Shown) -> Status:
        if request.text != "one":
            return await scene.echo(request, shown)
        return Status.DONE if await shown.frontend.confirm("Really?") else Status.FAILED

    app.assistant.script = asks
    first, second = ready.send(Request("one")), ready.send(Request("two"))
    words = "Waiting for your answer above…"
    qtbot.waitUntil(lambda: second.waiting == words)
    third = ready.send(Request("three"))
    qtbot.waitUntil(lambda: third.waiting == words)
    with qtbot.waitSignal(ready.asked):
        assert first.question
        first.question.answer(True)
    qtbot.waitUntil(lambda: second.turn.status is third.turn.status is Status.DONE)
    assert second.waiting == third.waiting == ""


def test_a_turn_that_breaks_is_told_and_the_next_one_runs(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    async def breaks(request: Request, shown: Shown) -> Status:
        raise UnavailableError("There is no engine.")

    app.assistant.script = breaks
    with qtbot.waitSignal(ready.failed) as told:
        exchange = ready.send(Request("one"))
    assert told.args == ["There is no engine."]
    assert exchange.turn.status is Status.FAILED
    app.assistant.script = scene.echo
    again = ready.send(Request("two"))
    qtbot.waitUntil(lambda: again.turn.status is Status.DONE)


def test_an_application_that_cannot_start_says_so_and_keeps_nobody_waiting(
    session: WindowSession, qtbot: QtBot
) -> None:
    def build() -> Any:
        raise UnavailableError("The history cannot be opened.")

    exchange = session.send(Request("hello"))
    with qtbot.waitSignal(session.failed) as told:
        session.start(build)
    assert told.args == ["JARVIS could not start. The history cannot be opened."]
    qtbot.waitUntil(lambda: exchange.turn.status is Status.FAILED)
    with qtbot.waitSignal(session.failed) as again:
        assert session.send(Request("again")).turn.status is Status.FAILED
    assert again.args == told.args, "no turn fails in silence"


def test_files_are_refused_where_nobody_will_look_at_them(
    session: WindowSession, qtbot: QtBot, tmp_path: Path
) -> None:
    def build() -> Any:
        raise UnavailableError("The history cannot be opened.")

    offering, looks, told = FileOffers(session), list[bool](), list[str]()
    offering.looking.connect(looks.append)
    offering.refused.connect(told.append)
    offering.offer([tmp_path], room=1)
    with qtbot.waitSignal(session.failed):
        session.start(build)
    assert looks == [True, False], "what waits for the files goes on"
    offering.offer([tmp_path], room=1)
    assert told == ["JARVIS could not start. The history cannot be opened."]


def test_files_are_shown_from_the_first_moment(session: WindowSession, tmp_path: Path) -> None:
    exchange = session.send(Request("look", files=(tmp_path / "a.png", tmp_path / "b.csv")))
    assert [str(item.kind) for item in exchange.turn.attachments] == ["image", "table"]


def test_an_earlier_conversation_is_opened_at_the_turn_that_was_sought(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.history.conversations = {
        "a": old("a", "the weather", "the weather again"),
        "b": old("b", "a letter"),
    }
    with qtbot.waitSignals([ready.switched, ready.sought]):
        ready.open_conversation("a", "a-1")
    assert [item.turn.text for item in ready.open.entries] == ["the weather", "the weather again"]
    with qtbot.waitSignal(ready.sought) as sought:
        ready.open_conversation("a", "a-0")
    assert sought.args == [0]
    exchange = ready.send(Request("and tomorrow?"))
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    assert app.assistant.handled[-1][1] == "a"


def test_a_turn_goes_on_while_another_conversation_is_read(
    ready: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    go_on = asyncio.Event()

    async def waits(request: Request, shown: Shown) -> Status:
        await go_on.wait()
        return Status.DONE

    app.assistant.script = waits
    exchange = ready.send(Request("slow"))
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    place = ready.open
    ready.new_conversation()
    assert ready.open.entries == []
    assert place.id is not None
    ready.open_conversation(place.id)
    assert ready.open is place
    ready.engine.call(go_on.set)
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)


def test_a_new_window_is_told_what_holds(ready: WindowSession, app: FakeApp, qtbot: QtBot) -> None:
    told: list[str] = []
    for name in ("switched", "ready", "settled", "kept"):
        getattr(ready, name).connect(lambda *_, name=name: told.append(name))
    ready.greet()
    assert told == ["switched", "ready", "settled", "kept"]


def test_a_turn_that_is_over_keeps_nothing_alive(ready: WindowSession, qtbot: QtBot) -> None:
    for words in ("one", "two", "three"):
        ready.send(Request(words))
    qtbot.waitUntil(lambda: not ready.busy)
    qtbot.waitUntil(lambda: len(ready.findChildren(QtFrontend)) == 1)
    gone = weakref.ref(ready.open)
    ready.new_conversation()
    last = ready.send(Request("four"))  # lets go of the turn before it
    qtbot.waitUntil(lambda: last.turn.status is Status.DONE)

    def looked() -> None:
        gc.collect()
        assert gone() is None

    qtbot.waitUntil(looked)


def test_what_is_told_after_the_window_let_go_is_not_an_error(
    engine: EngineThread, qtbot: QtBot
) -> None:
    frontend = QtFrontend(engine)
    frontend.deleteLater()
    with qtbot.waitSignal(frontend.destroyed):
        pass
    frontend.show(ReplyChunk("late"))
