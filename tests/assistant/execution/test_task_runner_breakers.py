"""What fails again and again is tried last: for a while, for all who need it, and not for ever."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.execution.task_runner import (
    COOL_DOWN_S,
    CRASH_WINDOW_S,
    MAX_COOL_DOWN_S,
    MAX_CRASHES,
    MAX_FAILURES,
    CircuitBreakers,
)
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.expert import Candidate, Expert

HERE = Candidate(Expert("nllb", "translation"), "local")
AFAR = Candidate(Expert("gpt", "translation"), "api", remote=True, provider="together")
ALSO_AFAR = Candidate(Expert("flan", "summarization"), "api", remote=True, provider="together")
ELSEWHERE = Candidate(Expert("bart", "summarization"), "api", remote=True, provider="groq")


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> CircuitBreakers:
    return CircuitBreakers(clock=clock)


def fail(breakers: CircuitBreakers, candidate: Candidate, fault: Fault, times: int) -> None:
    for _ in range(times):
        breakers.failed(candidate, fault)


def test_nothing_is_held_against_what_never_failed(breakers: CircuitBreakers) -> None:
    assert breakers.objection(HERE) == ""
    assert breakers.admit(AFAR) == ""
    breakers.worked(HERE)


def test_failures_in_a_row_open_it_and_a_success_closes_it(breakers: CircuitBreakers) -> None:
    fail(breakers, HERE, Fault.ANSWER, MAX_FAILURES - 1)
    breakers.worked(HERE)
    fail(breakers, HERE, Fault.ANSWER, MAX_FAILURES - 1)
    assert breakers.objection(HERE) == ""
    fail(breakers, HERE, Fault.OTHER, 1)
    assert breakers.objection(HERE) == (
        "nllb failed 3 times in a row, so it is tried last for now."
    )
    assert breakers.admit(HERE) == breakers.objection(HERE)
    breakers.worked(HERE)
    assert breakers.objection(HERE) == ""


def test_trouble_of_a_service_is_trouble_of_all_behind_it(breakers: CircuitBreakers) -> None:
    fail(breakers, AFAR, Fault.TIMEOUT, MAX_FAILURES)
    assert breakers.objection(ALSO_AFAR).startswith("api:together failed 3 times in a row")
    assert breakers.objection(ELSEWHERE) == ""
    breakers.worked(ALSO_AFAR)
    assert breakers.objection(AFAR) == ""


def test_an_experts_own_fault_is_its_own(breakers: CircuitBreakers) -> None:
    fail(breakers, AFAR, Fault.ANSWER, MAX_FAILURES)
    assert breakers.objection(AFAR).startswith("gpt failed")
    assert breakers.objection(ALSO_AFAR) == ""


def test_after_its_cool_down_one_is_let_through_and_the_others_wait(
    breakers: CircuitBreakers, clock: Clock
) -> None:
    fail(breakers, HERE, Fault.TIMEOUT, MAX_FAILURES)
    clock.time += COOL_DOWN_S
    assert breakers.objection(HERE) == ""
    assert breakers.admit(HERE) == ""
    assert breakers.admit(HERE) != ""
    fail(breakers, HERE, Fault.TIMEOUT, 1)
    clock.time += COOL_DOWN_S
    assert breakers.objection(HERE) != "", "it failed once more, and waits twice as long"
    clock.time += COOL_DOWN_S
    assert breakers.admit(HERE) == ""
    breakers.worked(HERE)
    assert breakers.admit(HERE) == breakers.admit(HERE) == ""


def test_no_cool_down_is_longer_than_the_longest(breakers: CircuitBreakers, clock: Clock) -> None:
    fail(breakers, HERE, Fault.TIMEOUT, 5000)
    clock.time += MAX_COOL_DOWN_S
    assert breakers.objection(HERE) == ""


def test_crashes_count_even_where_it_worked_in_between(
    breakers: CircuitBreakers, clock: Clock
) -> None:
    for _ in range(MAX_CRASHES + 1):
        assert breakers.objection(HERE) == ""
        clock.time += CRASH_WINDOW_S / MAX_CRASHES
        breakers.failed(HERE, Fault.CRASH)
        breakers.worked(HERE)
    assert breakers.objection(HERE) == "nllb crashed again and again, so it is tried last for now."
    clock.time += MAX_COOL_DOWN_S
    assert breakers.objection(HERE) == ""


def test_crashes_that_are_far_between_are_forgiven(breakers: CircuitBreakers, clock: Clock) -> None:
    for _ in range(3 * MAX_CRASHES):
        clock.time += CRASH_WINDOW_S / 2
        breakers.failed(HERE, Fault.CRASH)
        breakers.worked(HERE)
    assert breakers.objection(HERE) == ""
