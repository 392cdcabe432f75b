import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import ReplyChunk, RoundEnded, RoundProgress, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import MAX_PRINTED_CHARS
from jarvis_desktop.ui.engine import EngineQuestion, EngineThread, Outcome, QtFrontend
from tests.ui.scene import three_steps


class Seen:
    """Keeps what came, and on which thread."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.threads: set[threading.Thread] = set()

    def __call__(self, value: Any) -> None:
        self.values.append(value)
        self.threads.add(threading.current_thread())


def outcome_of(qtbot: QtBot, seen: Seen) -> Outcome:
    qtbot.waitUntil(lambda: bool(seen.values))
    outcome: Outcome = seen.values[0]
    return outcome


def test_work_runs_on_the_engine_and_its_value_comes_back_to_the_main_thread(
    engine: EngineThread, qtbot: QtBot
) -> None:
    seen = Seen()

    async def work() -> str:
        return threading.current_thread().name

    engine.run(work, seen)
    assert outcome_of(qtbot, seen).value == "engine"
    assert seen.threads == {threading.main_thread()}


def test_what_is_posted_arrives_while_its_owner_exists_and_no_error_is_hidden(
    engine: EngineThread, qtbot: QtBot
) -> None:
    seen, owner = Seen(), QObject()
    poster, gone = engine.poster(owner, seen), engine.poster(gone_owner := QObject(), seen)
    delete(gone_owner)

    def fail() -> None:
        raise RuntimeError("a mistake")

    with qtbot.capture_exceptions() as errors:
        for told in (partial(gone, 1), partial(poster, 2), engine.poster(owner, fail)):
            engine.call(told)
        qtbot.waitUntil(lambda: bool(errors))
    assert [str(error) for _, error, _ in errors] == ["a mistake"]
    assert seen.values == [2]
    assert seen.threads == {threading.main_thread()}


def test_an_error_of_ours_comes_back_as_it_is(engine: EngineThread, qtbot: QtBot) -> None:
    seen = Seen()

    async def work() -> None:
        raise InputError("a.png is empty.")

    engine.run(work, seen)
    error = outcome_of(qtbot, seen).error
    assert error is not None
    assert error.message == "a.png is empty."


def test_any_other_error_is_logged_and_told_without_its_insides(
    engine: EngineThread, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()

    async def work() -> None:
        raise ValueError("secret")

    engine.run(work, seen)
    error = outcome_of(qtbot, seen).error
    assert error is not None
    assert "secret" not in str(error)
    assert "ValueError: secret" in caplog.text
    caplog.clear()


def test_cancelled_work_says_so_even_when_it_had_not_begun(
    engine: EngineThread, qtbot: QtBot
) -> None:
    seen = Seen()

    async def work() -> None:
        await asyncio.Event().wait()

    engine.run(work, seen).cancel()
    assert outcome_of(qtbot, seen).cancelled


def test_its_end_is_told_only_after_it_has_really_stopped(
    engine: EngineThread, qtbot: QtBot
) -> None:
    seen = Seen()
    order: list[str] = []
    begun = threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            order.append("stopped")

    def told(outcome: Outcome) -> None:
        order.append("told")
        seen(outcome)

    job = engine.run(work, told)
    assert begun.wait(60)
    job.cancel()
    outcome_of(qtbot, seen)
    assert order == ["stopped", "told"]


def test_what_was_given_before_the_start_runs_after_it(qtbot: QtBot) -> None:
    engine = EngineThread()
    seen = Seen()

    async def work() -> int:
        return 7

    engine.run(work, seen)
    engine.start()
    assert outcome_of(qtbot, seen).value == 7
    assert engine.close(60)


def test_closing_cancels_what_runs_and_joins(qtbot: QtBot) -> None:
    engine = EngineThread()
    engine.start()
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    engine.run(work, Seen())
    assert begun.wait(60)
    assert engine.close(60)
    assert ended.is_set()
    engine.call(begun.clear)  # after the end nothing happens, and nothing is raised
    assert begun.is_set()


def test_an_engine_that_never_started_closes(qtbot: QtBot) -> None:
    assert EngineThread().close(1)


def test_events_arrive_on_the_main_thread_in_order(engine: EngineThread, qtbot: QtBot) -> None:
    frontend = QtFrontend(engine)
    seen = Seen()
    frontend.happened.connect(seen)
    events = [ReplyChunk(str(number)) for number in range(200)]

    async def work() -> None:
        for event in events:
            frontend.show(event)

    engine.run(work, Seen())
    qtbot.waitUntil(lambda: len(seen.values) == 200)
    assert seen.values == events
    assert seen.threads == {threading.main_thread()}


def test_a_flood_of_printed_lines_is_told_in_one(engine: EngineThread, qtbot: QtBot) -> None:
    frontend = QtFrontend(engine)
    seen = Seen()
    frontend.happened.connect(seen)
    lines = [f"line {number}\n" for number in range(10_000)]
    started = RoundStarted(3, "assistant/coder", "run_code", "print")
    ended = RoundEnded(3, Status.DONE, "done")

    async def work() -> None:
        frontend.show(started)
        for line in lines:
            frontend.show(RoundProgress(3, line))
        frontend.show(ended)

    engine.run(work, Seen())
    qtbot.waitUntil(lambda: ended in seen.values)
    assert seen.values == [started, RoundProgress(3, "".join(lines)[-MAX_PRINTED_CHARS:]), ended]


def test_what_is_printed_is_told_soon_and_of_each_round_apart(
    engine: EngineThread, qtbot: QtBot
) -> None:
    frontend = QtFrontend(engine)
    seen = Seen()
    frontend.happened.connect(seen)
    asked = Seen()
    frontend.asked.connect(asked)

    async def work() -> None:
        for number, text in ((1, "a"), (1, "b"), (2, "c"), (2, "d"), (1, "e")):
            frontend.show(RoundProgress(number, text))

    engine.run(work, Seen())  # nothing else happens, and it is told all the same
    qtbot.waitUntil(lambda: len(seen.values) == 3)
    told = [RoundProgress(1, "ab"), RoundProgress(2, "cd"), RoundProgress(1, "e")]
    assert seen.values == told

    async def asks() -> None:
        frontend.show(RoundProgress(1, "f"))
        await frontend.confirm("Shall I?")

    job = engine.run(asks, Seen())
    qtbot.waitUntil(lambda: bool(asked.values))
    assert seen.values == [*told, RoundProgress(1, "f")]
    job.cancel()


def test_a_plan_runs_at_once_unless_the_person_wants_to_see_it(
    engine: EngineThread, qtbot: QtBot, tmp_path: Path
) -> None:
    plan = three_steps(tmp_path / "a.png")
    seen = Seen()
    engine.run(lambda: QtFrontend(engine).review(plan), seen)
    assert outcome_of(qtbot, seen).value is plan


@pytest.mark.parametrize("agreed", [True, False])
def test_a_plan_that_is_shown_first_runs_if_agreed(
    engine: EngineThread, qtbot: QtBot, tmp_path: Path, agreed: bool
) -> None:
    plan = three_steps(tmp_path / "a.png")
    frontend = QtFrontend(engine, ask="always")
    seen = Seen()

    def answer(question: EngineQuestion) -> None:
        assert question.plan is plan
        question.answer(agreed)

    frontend.asked.connect(answer)
    engine.run(lambda: frontend.review(plan), seen)
    assert outcome_of(qtbot, seen).value is (plan if agreed else None)


def test_questions_are_answered_once(engine: EngineThread, qtbot: QtBot) -> None:
    frontend = QtFrontend(engine)
    seen, withdrawn = Seen(), Seen()

    def answer(question: EngineQuestion) -> None:
        assert question.text == "Which city?"
        assert question.open_ended
        question.answer("Bern")
        question.answer("Basel")

    frontend.asked.connect(answer)
    frontend.withdrawn.connect(withdrawn)
    engine.run(lambda: frontend.ask("Which city?"), seen)
    assert outcome_of(qtbot, seen).value == "Bern"
    assert len(withdrawn.values) == 1


def test_a_question_goes_away_when_its_turn_is_stopped(engine: EngineThread, qtbot: QtBot) -> None:
    frontend = QtFrontend(engine)
    seen, asked, withdrawn = Seen(), Seen(), Seen()
    frontend.asked.connect(asked)
    frontend.withdrawn.connect(withdrawn)
    job = engine.run(lambda: frontend.confirm("Delete it?"), seen)
    qtbot.waitUntil(lambda: bool(asked.values))
    job.cancel()
    assert outcome_of(qtbot, seen).cancelled
    assert withdrawn.values == asked.values
