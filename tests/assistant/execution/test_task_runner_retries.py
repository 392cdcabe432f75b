"""The ladder: who is tried after which fault, after how long, and when it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jarvis_desktop.assistant.execution.task_runner import RetryLimits, RetryPolicy, RetryStep
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.expert import Candidate, Expert

A, B, C = (Candidate(Expert(name, "any"), "local") for name in "abc")


class Climb:
    """Climbs a ladder; the clock goes on by what is waited."""

    def __init__(self, *candidates: Candidate, patience: RetryLimits | None = None) -> None:
        self.time = 0.0
        self.steps: list[RetryStep] = []
        self.ladder = RetryPolicy(
            candidates,
            patience=patience or RetryLimits(),
            clock=lambda: self.time,
            jitter=lambda: 0.5,
        )

    def to_the_end(self, error: Callable[[RetryStep], ExpertError]) -> list[Candidate]:
        """Let every step fail."""
        while step := self.next():
            self.fail(step, error(step))
        return [step.candidate for step in self.steps]

    def next(self) -> RetryStep | None:
        step = self.ladder.next()
        if step:
            self.time += step.wait
            self.steps.append(step)
        return step

    def fail(self, step: RetryStep, error: ExpertError, *, shunned: bool = False) -> None:
        self.ladder.failed(step, error, again=error.retryable, shunned=shunned)

    @property
    def waits(self) -> list[float]:
        return [step.wait for step in self.steps]


def passing(fault: Fault = Fault.BUSY, wait: float = 0.0) -> ExpertError:
    return ExpertError("It is busy.", retryable=True, fault=fault, wait=wait)


def lasting(fault: Fault = Fault.OTHER) -> ExpertError:
    return ExpertError("It is broken.", fault=fault)


def test_a_lasting_fault_is_never_tried_again() -> None:
    climb = Climb(A, B, A)
    assert climb.to_the_end(lambda step: lasting()) == [A, B]
    assert climb.waits == [0, 0]


def test_a_passing_one_is_tried_again_with_back_off_and_once_more_at_the_end() -> None:
    climb = Climb(A, B)
    tried = climb.to_the_end(lambda step: passing() if step.candidate == A else lasting())
    assert tried == [A, A, A, B, A]
    assert climb.waits == [0, 0.5, 1, 0, 2]
    assert [step.reason for step in climb.steps] == ["", *["It is busy."] * 2, "", "It is busy."]


@pytest.mark.parametrize(
    ("fault", "times", "waited"),
    [
        (Fault.MEMORY, 5, 0.0),
        (Fault.CRASH, 2, 0.0),
        (Fault.TIMEOUT, 2, 0.5),
        (Fault.NETWORK, 3, 1.5),
    ],
)
def test_each_fault_has_its_number_of_tries(fault: Fault, times: int, waited: float) -> None:
    climb = Climb(A, B)
    tried = climb.to_the_end(lambda step: passing(fault) if step.candidate == A else lasting())
    assert tried == [*[A] * times, B, A]
    assert sum(climb.waits[:-1]) == waited


@pytest.mark.parametrize("fault", [Fault.KEY, Fault.PAYMENT, Fault.GONE])
def test_what_no_waiting_mends_is_not_tried_again_whatever_it_says(fault: Fault) -> None:
    climb = Climb(A, B)
    assert climb.to_the_end(lambda step: passing(fault)) == [A, B]


def test_what_a_service_asks_for_is_waited_and_a_little_more() -> None:
    climb = Climb(A, B)
    assert climb.to_the_end(lambda step: passing(wait=7) if step.candidate == A else lasting())
    assert climb.waits[:3] == [0, 7.5, 8]


def test_who_wants_a_longer_wait_is_come_back_to_only_when_nothing_else_is_left() -> None:
    climb = Climb(A, B)
    tried = climb.to_the_end(lambda step: passing(wait=60) if step.candidate == A else lasting())
    assert tried == [A, B, A]
    assert climb.waits == [0, 0, 60.5]


def test_the_first_to_be_ready_comes_first_in_the_second_round() -> None:
    climb = Climb(A, B, C)
    waits = {A: 90.0, B: 50.0, C: 3600.0}
    tried = climb.to_the_end(lambda step: passing(wait=waits[step.candidate]))
    assert tried == [A, B, C, B, A], "and nobody waits an hour"
    assert climb.time == 90.5


def test_patience_ends() -> None:
    climb = Climb(A, B, patience=RetryLimits(in_all=1.2))
    assert climb.to_the_end(lambda step: passing()) == [A, A, B, B]
    climb = Climb(A, B, patience=RetryLimits(failures=2))
    assert climb.to_the_end(lambda step: passing()) == [A, A]


def test_who_was_put_aside_comes_after_the_others_and_before_the_second_round() -> None:
    climb = Climb(A, B)
    assert climb.next() == RetryStep(A)
    climb.ladder.put_aside(A)
    tried = climb.to_the_end(lambda step: passing(Fault.CRASH))
    assert tried == [A, B, B, A, A, B]
    assert [step.last for step in climb.steps] == [False] * 3 + [True] * 3


def test_who_is_shunned_is_left_for_the_others() -> None:
    climb = Climb(A, B)
    step = climb.next()
    assert step
    climb.fail(step, passing(), shunned=True)
    assert climb.to_the_end(lambda step: lasting()) == [A, B, A]


def test_a_service_that_is_down_is_a_last_resort_once_and_not_for_each_expert_behind_it() -> None:
    one, two, three = (
        Candidate(Expert(name, "any"), "api", remote=True, provider=provider)
        for name, provider in (("a", "together"), ("b", "together"), ("c", "groq"))
    )
    climb = Climb(one, two, three)
    for candidate in (one, two, three):
        climb.next()
        climb.ladder.put_aside(candidate)
    while step := climb.next():
        climb.fail(step, passing(Fault.TIMEOUT), shunned=True)
    assert [step.candidate for step in climb.steps[3:]] == [one, three]


def test_the_last_resort_is_tried_once() -> None:
    climb = Climb(A)
    step = climb.next()
    assert step
    climb.ladder.put_aside(A)
    step = climb.next()
    assert step == RetryStep(A, last=True)
    climb.fail(step, passing(), shunned=True)
    assert climb.next() is None


def test_a_call_that_worked_gives_the_next_one_all_its_tries_but_not_those_out_for_good() -> None:
    climb = Climb(A, B, C)
    for error in (lasting(), passing()):
        step = climb.next()
        assert step
        climb.fail(step, error)
    step = climb.next()
    assert step == RetryStep(B, 0.5, "It is busy.")
    climb.ladder.worked(B)
    climb.ladder.worked(B)
    climb.fail(step, passing())
    assert climb.to_the_end(lambda step: passing())[2:] == [B, B, B, C, C, C, B, C]
