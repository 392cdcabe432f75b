"""One goal of a small LLM while it is worked on: its scripts, its queries, and what they confirm.

A result counts as confirmed if two ways that do not know each other come to the same: a script and
a query, or what the built-in reader of tables says and either of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from jarvis_desktop.assistant.agent.agreement import QueryResult, agrees, answers_agree
from jarvis_desktop.assistant.agent.code_session import RUNS_CODE
from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    ResultKind,
    format_expected,
)
from jarvis_desktop.assistant.agent.goal_checks import missing
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.queries import (
    QUERY,
    query_purpose,
    questions,
    refers_to_answer,
    told_rows,
    without_values,
)
from jarvis_desktop.assistant.agent.recomputed_results import pictures_as_asked, text_as_asked
from jarvis_desktop.assistant.agent.script_checks import overlooked
from jarvis_desktop.assistant.planning.inputs import ARRANGE, ASK_TABLE
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import LogEntry

ASKS = "ask_user"
"""The branch of a round that is a question."""
LOOK = "look"
"""The branch of the round that reads the beginnings of the files."""
BUILT_IN = "run_experts"
"""The branch of the round in which the built-in methods make files."""
MAX_TRIES = 3
"""Scripts that mend each other, before another one is written from the beginning."""
MAX_QUERIES = 4
"""Queries for one part of the goal."""
READING_QUERIES = 2
"""Queries for a question that the reader of tables answers."""
SAME_SCRIPT = "This is the script that did not work. Write another one: do it in another way."
_COMPUTED_AGAIN = (pictures_as_asked, text_as_asked)
"""What computes new files a second time without an LLM."""


@dataclass(frozen=True, slots=True)
class ScriptThread:
    """Scripts that mend each other, in one folder, and the questions between them."""

    rounds: tuple[LogEntry, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the next script begins another thread."""
        tries = [each for each in self.rounds if each.branch != ASKS]
        stuck = bool(tries) and tries[-1].observation == SAME_SCRIPT
        return self.succeeded or stuck or len(tries) >= MAX_TRIES

    @property
    def succeeded(self) -> bool:
        """Whether everything is there that the goal asks for."""
        last = self.rounds[-1] if self.rounds else None
        return last is not None and (last.status, last.branch) == (Status.DONE, RUNS_CODE)

    @property
    def made(self) -> tuple[Artifact, ...]:
        """The files of all its scripts, each in its newest version."""
        by_name = {item.title: item for each in self.rounds for item in each.artifacts}
        return tuple(by_name.values())

    @property
    def result(self) -> tuple[str, tuple[Artifact, ...]]:
        """What its last script printed, and the files."""
        return (self.rounds[-1].observation if self.rounds else ""), self.made


def threads(rounds: Sequence[LogEntry]) -> list[ScriptThread]:
    """Return the threads of a goal's rounds, oldest first; the last one may be open."""
    found: list[ScriptThread] = []
    for each in rounds:
        if found and not found[-1].is_over:
            found[-1] = ScriptThread((*found[-1].rounds, each))
        else:
            found.append(ScriptThread((each,)))
    return found


@dataclass
class GoalWork:
    """One goal while it is worked on."""

    run: GoalRun
    names: Sequence[str]
    """Of the files that its code has."""
    expected: Sequence[ExpectedResult]
    files: Collection[Artifact]
    words: Mapping[str, Collection[str]]
    """Words of the files by which results can differ, and how they are written."""
    brief: str = ""
    """What the files are: data."""
    tables: str = ""
    """The tables that queries have, as they are created: data."""
    rows: dict[int, QueryResult] = field(default_factory=dict)
    """What the queries returned, by the number of their round."""
    reading: Sequence[str] = ()
    """What the reader of tables answers to each question, if it is sure of all of them."""
    told: str = ""
    """The answer that the reader of tables gave and queries confirmed."""
    asked: Sequence[ExpectedResult] = ()
    """All that was expected, before anything was there."""
    built: Sequence[Artifact] = ()
    """The files that the built-in methods made, and the sentences about them."""

    def __post_init__(self) -> None:
        self.asked = self.expected

    @property
    def rounds(self) -> Sequence[LogEntry]:
        """Its scripts and questions, oldest first."""
        others = (LOOK, BUILT_IN, QUERY)
        return [entry for entry in self.run.done_by(0) if entry.branch not in others]

    @property
    def left(self) -> str:
        """The words of the goal, without those that the built-in methods did."""
        if not self.built:
            return self.run.goal.text
        return " ".join(dict.fromkeys(each.clause for each in self.expected))

    @property
    def queried(self) -> Sequence[str]:
        """The names of the files that a query can read."""
        return [name for name in self.names if file_kind(name) in ("table", "text")]

    @property
    def results(self) -> list[ScriptThread]:
        """The threads that made everything."""
        return [each for each in threads(self.rounds) if each.succeeded]

    @property
    def open(self) -> ScriptThread:
        """The thread that goes on."""
        found = threads(self.rounds)
        return found[-1] if found and not found[-1].is_over else ScriptThread()

    def queries(self, part: ExpectedResult) -> Sequence[LogEntry]:
        """Return the queries for a part of the goal, oldest first."""
        purpose = purpose_of(part)
        done = self.run.done_by(0)
        return [each for each in done if (each.branch, each.what) == (QUERY, purpose)]

    def returned(self, part: ExpectedResult) -> list[QueryResult]:
        """Return what the queries for a part of the goal gave, oldest first."""
        numbers = [each.number for each in self.queries(part)]
        return [self.rows[number] for number in numbers if number in self.rows]

    def read_parts(self) -> list[tuple[ExpectedResult, str]]:
        """Return the questions that the reader of tables answers, each with its answer, until that
        is confirmed."""
        asked = [each for each in self.expected if each.kind is ResultKind.ANSWER]
        parts = [part for each in asked for part in parts_of(each)]
        return list(zip(parts, self.reading, strict=True)) if self.reading and not self.told else []

    @property
    def form(self) -> str:
        """What the reader of tables answers, without its values."""
        return " ".join(without_values(each, self.words) for each in self.reading)

    def form_of(self, part: ExpectedResult) -> str:
        """What the reader of tables answers to one question, without its values; "" if it does
        not."""
        said = next((said for each, said in self.read_parts() if each == part), "")
        return without_values(said, self.words)

    def confirms_reading(self, part: ExpectedResult, answer: str) -> bool:
        """Return whether a query says what the reader of tables says. It reads files."""
        return any(
            agrees(part, (answer, ()), each, self.words, self.files) for each in self.returned(part)
        )

    def see_reading_confirmed(self) -> None:
        """Take the reading if the table that is to hold the answer says the same. It reads
        files."""
        if self.reading and not self.told and self.results:
            rows, result = told_rows(self.reading, apart=True), self.results[-1].result
            holders = [each for each in self.expected if refers_to_answer(each)]
            if any(agrees(each, result, rows, self.words, self.files) for each in holders):
                self.take_reading()

    def take_reading(self) -> None:
        """Answer with what the reader of tables says, which is confirmed; the rest is left."""
        self.told = "\n\n".join(self.reading)
        self.expected = [each for each in self.expected if each.kind is not ResultKind.ANSWER]

    def take_built(self, made: Sequence[Artifact]) -> None:
        """Take what the built-in methods made, as far as the goal asks for it; the rest is left. It
        reads files."""
        files = [item for item in made if item.path]
        telling = (ARRANGE, ASK_TABLE)
        asked = {task.id for task in self.run.live.turn.plan or () if task.type.name in telling}
        # A sentence beside a file is about that file, unless it answers a question about a table.
        answer = " ".join(
            item.text for item in made if item.text and (not files or item.made_by in asked)
        )
        left = {
            id(each) for each, _ in missing(self.expected, answer, files, self.files, self.brief)
        }
        if any(id(each) not in left for each in self.expected):
            self.built = made
            self.expected = [each for each in self.expected if id(each) in left]

    def with_built(self, made: Sequence[Artifact]) -> list[Artifact]:
        """Return the files that the built-in methods made, and those of a script that have other
        names."""
        built = [item for item in self.built if item.path]
        names = {item.title for item in built}
        return [*built, *(item for item in made if item.title not in names)]

    def unconfirmed(self, thread: ScriptThread) -> list[ExpectedResult]:
        """Return the parts of the goal that nothing confirms in a result. It reads files."""
        return [each for each in self.expected if not self._confirms(each, thread)]

    def _confirms(self, expected: ExpectedResult, thread: ScriptThread) -> bool:
        answers = expected.kind is ResultKind.ANSWER
        rows, parts = [*self.rows.values()], parts_of(expected)
        if self.reading and answers:
            rows = [told_rows(self.reading)]  # a query that says something else proves nothing
        elif self.reading and refers_to_answer(expected):
            rows.append(told_rows(self.reading, apart=True))
        elif len(parts) > 1:  # the queries for each question together
            returned = [[(part, each) for each in self.returned(part)] for part in parts]
            printed, _ = thread.result
            return any(
                answers_agree(expected, printed, each, self.words, self.files)
                for each in product(*returned)
            )
        if any(agrees(expected, thread.result, each, self.words, self.files) for each in rows):
            return True
        return not answers and any(
            check(expected, thread.made, self.files) for check in _COMPUTED_AGAIN
        )

    def missing(
        self, printed: str, made: Sequence[Artifact]
    ) -> Iterator[tuple[ExpectedResult, str]]:
        """Yield what the goal asks for and a script did not do. It reads files."""
        return missing(self.expected, printed, made, self.files, self.brief)

    def problems(self, code: str, printed: str, made: Sequence[Artifact]) -> list[str]:
        """Return what a script did not do or did wrong, in words for its author. It reads files."""
        missed = (problem for _, problem in self.missing(printed, made))
        return [*missed, *overlooked(code, self.run.goal.text, self.words, self.brief)]

    def next_query(self, left: Sequence[ExpectedResult]) -> ExpectedResult | None:
        """Return the part of the goal for which another query is written; None if none is. Each
        result allows one more, so that scripts and queries take turns."""
        most = min(MAX_QUERIES, 1 + len(self.results))
        if self.names and not self.queried:
            return None
        left = [each for each in left if each.kind is not ResultKind.ANSWER or not self.reading]
        open_parts = [
            part for each in left for part in parts_of(each) if len(self.queries(part)) < most
        ]
        return min(open_parts, key=lambda part: len(self.queries(part)), default=None)


def parts_of(expected: ExpectedResult) -> Sequence[ExpectedResult]:
    """Return what one query each computes: the questions of an answer, or the whole of a file."""
    asked = questions(expected.clause) if expected.kind is ResultKind.ANSWER else ()
    return [replace(expected, clause=each) for each in asked] if len(asked) > 1 else [expected]


def purpose_of(part: ExpectedResult) -> str:
    """Return the task of a query for a part of a goal, by which it is known."""
    if part.kind is ResultKind.ANSWER:
        return query_purpose(f"“{one_line(part.clause, limit=100)}”")
    return query_purpose(format_expected(part))


def file_kind(name: str) -> str:
    """Return "table", "sound", "picture" or "text"."""
    kind = kind_of_name(name)
    if kind is Kind.TABLE or name.lower().endswith((".json", ".jsonl")):
        return "table"
    if kind in (Kind.AUDIO, Kind.VIDEO):
        return "sound"
    return "picture" if kind is Kind.IMAGE else "text"
