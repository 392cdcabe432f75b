from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from jarvis_desktop.assistant.agent.stop_conditions import (
    THINK,
    Stall,
    load_stall,
    next_stall,
    stall_reason,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import LogEntry
from tests.assistant.conftest import NOON


def entries(*rounds: tuple[str, ...]) -> list[LogEntry]:
    """Rounds as (branch, what, observation, status), all but the first may be left out."""
    made = []
    for number, (branch, what, came, status) in enumerate(map(_filled, rounds), 1):
        made.append(
            LogEntry(number, "assistant", branch, what, Status(status), came or str(number), NOON)
        )
    return made


def _filled(item: tuple[str, ...]) -> tuple[str, str, str, str]:
    branch, what, came, status = (*item, *("", "", "done")[len(item) - 1 :])
    return branch, what, came, status


FAILED = ("coder", "a", "", "failed")


@pytest.mark.parametrize(
    ("rounds", "why"),
    [
        ([("coder", "a")], ""),
        ([("coder", "a"), ("coder", "b"), ("coder", "c")], ""),
        ([("coder", "a"), ("coder", "a")], ""),
        ([("coder", "a"), ("coder", "a"), ("coder", "a")], "was repeated"),
        ([("coder", "a", "x"), ("coder", "a", "x")], "was repeated"),
        ([("coder", "a", "x"), ("ask_user",), ("coder", "b"), ("coder", "a", "x")], "was repeated"),
        ([("coder", "a", "x"), *[("coder", str(n)) for n in range(4)], ("coder", "a", "x")], ""),
        ([("coder", "a"), ("run_experts", "b")] * 2, "“coder” and “run_experts” alternate"),
        ([("update_plan", "1"), ("update_plan", "2")], ""),
        ([("update_plan", "1"), ("update_plan", "2"), ("update_plan", "3")], "nothing else"),
        ([("coder", str(n)) for n in range(3)], ""),
        ([FAILED, ("coder", "b", "", "failed")], ""),
        ([FAILED, ("coder", "b", "", "failed"), ("coder", "c", "", "failed")], "3 rounds failed"),
        ([FAILED, ("coder", "b"), ("coder", "c", "", "failed")], ""),
        ([FAILED, ("coder", "b", "", "cancelled")], ""),
        ([("coder", "a", "x"), ("coder", "b", "", "cancelled"), ("coder", "a", "x")], ""),
        ([(THINK, "", "", "failed")], "no usable answer"),
        (
            [each for n in range(3) for each in (("re_plan", str(n)), ("coder", str(n)))]
            + [("re_plan", "3")],
            "rewritten again and again",
        ),
    ],
)
def test_rounds_that_lead_nowhere_are_noticed(rounds: Any, why: str) -> None:
    reason = stall_reason(entries(*rounds))
    assert (why in reason) if why else not reason


def follow(rounds: Sequence[tuple[str, ...]], *, replans: bool = True) -> Stall:
    done, stall = entries(*rounds), Stall()
    for count in range(1, len(done) + 1):
        stall = next_stall(load_stall({"stalls": stall.kept}), done[:count], replans=replans)
    return stall


STUCK: list[tuple[str, ...]] = [("coder", "a", "x")] * 2
AGAIN: list[tuple[str, ...]] = [("coder", "a", "x")]
PLAN: list[tuple[str, ...]] = [("re_plan", "b")]


def test_first_it_is_told_then_it_plans_anew_then_the_person_is_asked() -> None:
    assert follow(AGAIN) == Stall(calm=1)
    told = follow(STUCK)
    assert (told.level, told.due) == (1, "")
    plans = follow(STUCK + AGAIN)
    assert (plans.level, plans.due) == (2, "re_plan")
    assert plans.forced.args == {"reason": plans.reason}
    asks = follow(STUCK + AGAIN + PLAN + AGAIN)
    assert (asks.level, asks.due) == (3, "ask_user")
    assert "What should I do?" in asks.forced.args["question"]


def test_whoever_cannot_plan_asks_at_once() -> None:
    assert follow(STUCK + AGAIN, replans=False).due == "ask_user"


def test_no_other_plan_means_that_the_person_is_asked() -> None:
    failed = follow([*STUCK, *AGAIN, ("re_plan", "b", "", "failed")])
    assert (failed.due, failed.reason) == ("ask_user", "No other plan could be written.")


def test_an_answer_makes_a_new_start_and_none_an_end() -> None:
    stuck = STUCK + AGAIN * 2
    assert follow([*stuck, ("ask_user", "q")], replans=False) == Stall()
    over = follow([*stuck, ("ask_user", "q", "", "failed")], replans=False)
    assert over.over
    assert over.reason


def test_a_stop_makes_a_new_start() -> None:
    assert follow([*STUCK, ("coder", "b", "", "cancelled")]) == Stall()


def test_rounds_that_lead_somewhere_make_up_for_it() -> None:
    good: list[tuple[str, ...]] = [("coder", str(n)) for n in range(3)]
    assert follow(STUCK + good[:2]).level == 1
    assert follow(STUCK + good) == Stall()
