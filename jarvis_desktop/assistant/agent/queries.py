"""A second opinion on a script's result: the same computed by a query over the given files.

Two scripts by one small LLM share slips. A query is another form: it has no loops to get wrong, and
is a few lines long. It runs in the sandbox on copies in memory and can only read. Questions about
tables that the built-in reader of tables is sure of need no query by the LLM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection, Sequence

from jarvis_desktop.assistant.agent.agreement import QueryResult
from jarvis_desktop.assistant.agent.expected_results import ExpectedResult, ResultKind
from jarvis_desktop.assistant.prompts import keep_ends, keep_start
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.goal import LogEntry
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Message, MessageRole, Prompt
from jarvis_desktop.text.quotation import marked_off

QUERY = "query"
"""The branch of a round that is a query."""
RESULT_FILE = "query_result.json"
MAX_QUERY_TOKENS = 300
TABLES_TOKENS = 900
ERROR_TOKENS = 120
SHOWN_ROWS = 12
"""Rows of a query that a user reads."""
SHOWN_CHARS = 600
MAX_LISTED = 15
"""Rows of an answer."""
NO_QUERY = "Write one SELECT statement."
FORM = "The answer has this form: "
SAME_QUERY = "This query was written before. Write another one: compute it in another way."
ANOTHER_TEMPERATURE = 0.4
WARM_TEMPERATURE = 0.9
"""After what was written before."""

TableReader = Callable[[str, Sequence[Artifact]], Awaitable[str]]
"""Answers a question about tables without an LLM; "" if it is not sure."""

_fence = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_next_question = re.compile(
    r"(?:[,;]\s*|\s)(?:and|und)\s+(?=(?:which|what|who|when|where|how\s+(?:many|much|old|long)"
    r"|welche\w*|was|wer|wann|wo|wie\s?viele?)\b(?:\W+\w+){2})",
    re.IGNORECASE,
)
_returns = {
    ResultKind.CHART: "a row for each point of the chart",
    ResultKind.TABLE: "the rows of the new table",
    ResultKind.TEXT: "a row for each line of the new text",
    ResultKind.FILES: "the rows of all new tables",
}


def describe_code(names: Collection[str]) -> str:
    """Return the script that prints the tables of a query."""
    return f"from jarvis import queries\nqueries.describe_tables({_listed(names)})"


def query_code(names: Collection[str], queries: Sequence[str]) -> str:
    """Return the script that writes the rows of queries to `RESULT_FILE`."""
    return (
        f"from jarvis import queries\n"
        f"queries.query({_listed(names)}, {json.dumps(queries, ensure_ascii=False)}, "
        f'"{RESULT_FILE}")'
    )


def _listed(names: Collection[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def query_purpose(result: str) -> str:
    """Return the task of a round, by which its query is known; `result` names what it computes."""
    return one_line(tr("Compute {result} a second time, by a query", result=result), limit=200)


def query_prompt(
    system: str,
    examples: Sequence[dict[str, str]],
    tables: str,
    expected: ExpectedResult,
    before: Sequence[LogEntry],
    whose: str,
    *,
    form: str = "",
    warmer: bool = False,
) -> Prompt:
    """Return the prompt for the query of a result. `before` are the queries for it so far; `form`
    is the answer without its values, and `warmer` is for another query than before."""
    messages = [Message(MessageRole.SYSTEM, system)]
    for each in examples:
        messages += [
            Message(MessageRole.USER, f"{each['tables']}\n\nGoal: {each['goal']}\n{each['needs']}"),
            Message(MessageRole.ASSISTANT, f"```sql\n{each['query']}\n```"),
        ]
    shown = marked_off(keep_start(tables, TABLES_TOKENS), whose)
    # What comes after a question only misleads, and what is before one that the reader of tables
    # understood by itself.
    before_it, is_there, _ = expected.goal.partition(expected.clause)
    goal = expected.clause if form or not is_there else before_it + expected.clause
    task = f"{shown}\n\nGoal: {goal}\n{_needs(expected)}"
    if form:
        task += f"\n{FORM}{form}"
    messages.append(Message(MessageRole.USER, task))
    failed = before[-1] if before and before[-1].status.value != "done" else None
    if failed and failed.code:
        error = json.dumps(keep_ends(failed.observation, ERROR_TOKENS), ensure_ascii=False)
        messages += [
            Message(MessageRole.ASSISTANT, f"```sql\n{failed.code}\n```"),
            Message(MessageRole.USER, f"It failed: {error}\nWrite the whole query, corrected."),
        ]
    temperature = WARM_TEMPERATURE if warmer else ANOTHER_TEMPERATURE if before else 0.0
    return Prompt(tuple(messages), longest=MAX_QUERY_TOKENS, temperature=temperature)


def _needs(expected: ExpectedResult) -> str:
    if expected.kind is ResultKind.ANSWER:
        return f'The query returns only the values that answer "{expected.clause}".'
    name = f' "{expected.name}"' if expected.name else ""
    return f"The query returns {_returns[expected.kind]}{name}."


def wrong_rows(expected: ExpectedResult, rows: Sequence[Sequence[object]]) -> str:
    """Return what is wrong if a query cannot be for a result, in words for its author."""
    if not any(cell is not None for row in rows for cell in row):
        return "It returned no values: check the conditions."
    if expected.kind is ResultKind.ANSWER and len(rows) > MAX_LISTED:
        return (
            f"It returned {len(rows)} rows: return only the answer, with SUM, COUNT, AVG, MAX or "
            "MIN, or with GROUP BY, ORDER BY and LIMIT."
        )
    return ""


def parse_query(text: str) -> str:
    """Return the query in a reply; "" if there is none."""
    found = _fence.search(text)
    query = (found[1] if found else text).strip().rstrip(";").strip()
    return query if re.match(r"(?:select|with)\b", query, re.IGNORECASE) else ""


def questions(clause: str) -> Sequence[str]:
    """Return the questions in a clause of a goal. Its end, such as "and how many?", is none."""
    return _next_question.split(clause)


_refers_to_answer = re.compile(
    r"\b(?:it|them|this|these|those|the\s+(?:answer|result)s?|es|sie|das)\b", re.I
)


def refers_to_answer(expected: ExpectedResult) -> bool:
    """Return whether a file is to hold the answer: "Write it to shares.csv"."""
    return expected.kind is ResultKind.TABLE and bool(_refers_to_answer.search(expected.clause))


def told_rows(answers: Sequence[str], *, apart: bool = False) -> QueryResult:
    """Return answers in words as rows: a row for each item of a list, or for the whole answer.
    `apart` makes two cells of an item such as "Lab: 36.10 %"."""
    rows: list[Sequence[str]] = []
    for answer in answers:
        items = re.findall(r"(?m)^- (.+)$", answer)
        rows += [item.rsplit(": ", 1) if apart else [item] for item in items or [answer]]
    return QueryResult(["answer"] * len(rows[0]), rows, ranked=False)


def format_rows(found: QueryResult) -> str:
    """Return the first rows of a query for a reader, each with the names of its columns."""
    rows = [
        ", ".join(f"{name}: {cell}" for name, cell in zip(found.columns, row, strict=False))
        for row in found.rows[:SHOWN_ROWS]
    ]
    more = len(found.rows) - len(rows)
    return "\n".join([*rows, *([f"… (+{more})"] if more else [])])


def without_values(answer: str, words: Collection[str]) -> str:
    """Return an answer with … for its numbers and for these words: how a question is understood,
    for an author who is to compute it."""
    return re.sub(r"[^\W\d_]+|\d[\d,.]*\d|\d", lambda found: _hidden(found[0], words), answer)


def _hidden(word: str, words: Collection[str]) -> str:
    return "…" if word[0].isdigit() or word.casefold() in words else word
