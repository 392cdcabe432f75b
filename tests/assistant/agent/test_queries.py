"""Queries of small LLMs, which confirm what scripts come to, or stand in for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent import queries
from jarvis_desktop.assistant.agent.expected_results import expected_results
from jarvis_desktop.assistant.agent.goal_work import LOOK
from jarvis_desktop.assistant.agent.queries import QUERY, parse_query
from jarvis_desktop.core.code import CodeOutcome, Ending, Script
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Status
from tests.assistant.agent.scripted import told
from tests.assistant.agent.test_code_loop import (
    WEST,
    WHICH,
    Bench,
    bench,
    chart,
    error,
    query,
    script,
)

__all__ = ["bench"]  # a fixture


async def test_a_query_may_fail(bench: Callable[..., Bench]) -> None:
    replies = [
        *(script("one()"), "I cannot.", ExpertError("Gone.")),
        *(script("one(1)"), query("many")),
        *(script("one(2)"), query("  many")),
    ]
    rows = {"many": [["n"], [[1]] * 40]}
    at = bench(replies, {"one(": CodeOutcome(Ending.DONE, "West 5")}, goal=WHICH, rows=rows)
    assert (await at.work()).status is Status.PARTLY
    failed = [entry.observation for entry in at.run.log if entry.branch == QUERY]
    assert failed[:2] == [queries.NO_QUERY, "Gone."]
    assert failed[2].startswith("It returned 40 rows: return only the answer")
    assert failed[3] == queries.SAME_QUERY


@pytest.mark.parametrize("broken", [CodeOutcome(Ending.ERROR, "Killed"), ExpertError("Killed")])
async def test_a_query_that_does_not_run(
    bench: Callable[..., Bench], broken: CodeOutcome | ExpertError
) -> None:
    at = bench([script("one()"), query("x west"), WEST], {"one": chart("West 5")}, goal=WHICH)
    outcome, results = at._outcome, [broken]

    def does(source: Script, to: Path) -> CodeOutcome:
        if "queries.query(" not in source.source or not results:
            return outcome(source, to)
        if isinstance(found := results.pop(), ExpertError):
            raise found
        return found

    at.place.sandbox.does = does
    assert (await at.work()).status is Status.DONE
    failed = [entry.observation for entry in at.run.log if entry.status is Status.FAILED]
    assert failed == ["Killed"]


def test_replies_with_queries() -> None:
    assert parse_query("```sql\nDROP TABLE a\n```") == ""
    assert parse_query("select 1;") == "select 1"
    for rows in ([], [[None]]):
        empty = queries.wrong_rows(expected_results(WHICH, ())[0], rows)
        assert empty == "It returned no values: check the conditions."


@pytest.mark.parametrize(
    ("goal", "told_", "made"),
    [
        (WHICH, "region: West, amount: 5\nregion: East, amount: 3", []),
        (
            "Which region is ahead? Write the sum of each region to sums.csv",
            "region: West, amount: 5\nregion: East, amount: 3\n\nMade: “sums.csv”.",
            ["region,amount\nWest,5\nEast,3\n"],
        ),
    ],
)
async def test_where_no_script_works_queries_are_shown(
    bench: Callable[..., Bench], goal: str, told_: str, made: list[str]
) -> None:
    numbers = iter(range(100))
    at = bench(
        lambda prompt: WEST if "SELECT" in told(prompt) else script(f"bad({next(numbers)})"),
        {"bad": error("E")},
        goal=goal,
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    assert found.text.partition("\n\n")[2] == told_
    assert [item.path.read_text("utf-8") for item in found.artifacts if item.path] == made


async def test_a_query_that_was_written_before_is_not_written_again(
    bench: Callable[..., Bench],
) -> None:
    numbers = iter(range(100))
    at = bench(
        lambda prompt: (
            query(f"west + {next(numbers)}")
            if "SELECT" in told(prompt)
            else script(f"bad({next(numbers)})")
        ),
        {"bad": error("E")},
        goal=WHICH,
        read={WHICH: "East has the highest amount: 3."},
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    # What the reader of tables says is believed rather than the two queries that say otherwise.
    assert found.text.endswith("East has the highest amount: 3.")
    assert at.branches.count(QUERY) == 2


async def test_a_query_that_finds_nothing_is_not_shown(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(100))
    at = bench(
        lambda prompt: query("x") if "SELECT" in told(prompt) else script(f"bad({next(numbers)})"),
        {"bad": error("E")},
        goal=WHICH,
        rows={"x": [["region"], []]},
    )
    found = await at.work()
    assert (found.status, at.branches[-2:]) == (Status.FAILED, [QUERY, "final_answer"])


async def test_queries_that_cannot_run_again_after_a_crash_are_written_again(
    bench: Callable[..., Bench],
) -> None:
    at = bench([script("one()"), WEST], {"one()": chart("West 5")})
    at.log([(LOOK, "sales.csv", (), "look()"), (QUERY, "[]", (), "SELECT west")])
    at.place.sandbox.errors = [ExpertError("No process.")]
    assert (await at.work()).status is Status.DONE
    assert len(at.llm.prompts) == 2


@pytest.mark.parametrize(
    ("clause", "asked"),
    [
        ("Which author has the most books, and how many?", 1),
        ("Welche Stadt hat die meisten Kunden und wie viele Bestellungen gibt es?", 2),
    ],
)
def test_the_questions_of_a_clause(clause: str, asked: int) -> None:
    assert len(queries.questions(clause)) == asked
