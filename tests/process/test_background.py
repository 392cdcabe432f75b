"""Functions in a process of their own: answers, errors, ends, and what the window is spared."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from jarvis_desktop.backends.task_encoder import BackgroundScorer, TaskEncoder
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.background import BackgroundProcess
from jarvis_desktop.tasks.registry import INVENTORY
from jarvis_desktop.text.languages import BackgroundLanguages, is_clearly_not

FOLDER = shipped("models", "planner")
REQUEST = "please put this letter into Polish"
GERMAN = "Das ist ein ganz gewöhnlicher Satz über das Wetter von morgen und übermorgen."


def number(value: int) -> int:
    return value + 1


def process() -> int:
    return os.getpid()


def refuse() -> None:
    raise InputError("x.png is damaged.", hint="Give another.")


def leave() -> None:
    os._exit(3)


def hang() -> None:
    time.sleep(60)


def _within(seconds: float, so: Callable[[], bool]) -> bool:
    latest = time.monotonic() + seconds
    while not so() and time.monotonic() < latest:
        time.sleep(0.01)
    return so()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def apart() -> Iterator[BackgroundProcess]:
    apart = BackgroundProcess("reader of texts")
    yield apart
    apart.close()


def test_it_answers_from_another_process_and_any_thread(apart: BackgroundProcess) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda value: apart.call(f"{__name__}:number", value), range(8)))
    assert answers == list(range(1, 9))
    assert apart.call(f"{__name__}:process") != os.getpid()


async def test_a_loop_may_wait_for_it(apart: BackgroundProcess) -> None:
    assert apart.call(f"{__name__}:number", 1) == 2
    assert await asyncio.to_thread(apart.call, f"{__name__}:number", 2) == 3


def test_an_error_crosses_over(apart: BackgroundProcess) -> None:
    with pytest.raises(InputError, match="damaged"):
        apart.call(f"{__name__}:refuse")


def test_the_next_call_starts_it_again(apart: BackgroundProcess) -> None:
    before = apart.call(f"{__name__}:process")
    with pytest.raises(ExpertError, match=r"The reader of texts stopped unexpectedly"):
        apart.call(f"{__name__}:leave")
    assert apart.call(f"{__name__}:process") not in (before, os.getpid())


def test_it_leaves_when_nobody_asks_and_comes_back() -> None:
    apart = BackgroundProcess("reader of texts", idle=0.05)
    assert not apart.left
    before = apart.call(f"{__name__}:process")
    assert _within(5, lambda: apart.left and not _lives(before))
    assert apart.call(f"{__name__}:process") != before
    apart.close()


def test_one_that_hangs_is_ended() -> None:
    apart = BackgroundProcess("reader of texts", patience=0.5)
    with pytest.raises(ExpertError, match="no answer within"):
        apart.call(f"{__name__}:hang")
    apart.close()


def test_who_waits_at_the_end_is_told_and_nothing_starts_again() -> None:
    apart = BackgroundProcess("reader of texts")
    apart.call(f"{__name__}:number", 1)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(apart.call, f"{__name__}:hang") for _ in range(3)]
        apart.close()
        for each in waiting:
            with pytest.raises(ExpertError):
                each.result(30)
    with pytest.raises(ExpertError, match="was ended"):
        apart.call(f"{__name__}:number", 1)
    apart.close()


def test_one_that_never_ran_closes() -> None:
    BackgroundProcess("reader of texts").close()


def test_scores_and_directions_are_those_of_the_encoder(apart: BackgroundProcess) -> None:
    scorer, encoder = BackgroundScorer(apart, FOLDER), TaskEncoder(FOLDER)
    scorer.warm(INVENTORY)
    assert scorer.score(REQUEST, INVENTORY) == encoder.score(REQUEST, INVENTORY)
    assert scorer.score(REQUEST, INVENTORY[:9]) == encoder.score(REQUEST, INVENTORY[:9])
    assert scorer.directions([REQUEST]) == encoder.directions([REQUEST])


def test_an_encoder_that_ended_is_unavailable(apart: BackgroundProcess) -> None:
    apart.close()
    with pytest.raises(UnavailableError, match="was ended"):
        BackgroundScorer(apart, FOLDER).score(REQUEST, INVENTORY)


@pytest.mark.parametrize("text", [GERMAN, "This is an ordinary sentence about the weather.", "hm"])
def test_a_language_is_ruled_out_as_it_is_here(apart: BackgroundProcess, text: str) -> None:
    languages = BackgroundLanguages(apart.call)
    assert languages.is_clearly_not(text, "en") == is_clearly_not(text, "en")
    assert is_clearly_not(GERMAN, "en")


def test_nothing_is_ruled_out_where_it_cannot_be_told(apart: BackgroundProcess) -> None:
    apart.close()
    assert not BackgroundLanguages(apart.call).is_clearly_not(GERMAN, "en")
