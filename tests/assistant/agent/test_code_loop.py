"""The loop for small LLMs, over a sandbox that does as it is told to."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent import code_loop, queries
from jarvis_desktop.assistant.agent.code_loop import (
    MAX_RESULTS,
    MAX_ROUNDS,
    CodeLoop,
    outline_for,
    parse_reply,
)
from jarvis_desktop.assistant.agent.expected_results import ResultKind, expected_results
from jarvis_desktop.assistant.agent.goal_work import (
    ASKS,
    LOOK,
    MAX_TRIES,
    SAME_SCRIPT,
    GoalWork,
)
from jarvis_desktop.assistant.agent.queries import QUERY, RESULT_FILE
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.agent.script_repair import repaired
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import CodeOutcome, Ending, Script
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, ControllerFrame, LogEntry, StepState
from jarvis_desktop.core.llm import Prompt
from tests.assistant.agent.scripted import Answer, BuiltIn, ScriptedLLM, goal_run_for, told
from tests.assistant.agent.workplace import Workplace, no
from tests.fakes import FakeFrontend, FakeLLMs

GOAL = "Draw a chart of the sales by region, and tell me which region is ahead."


def script(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```"


def query(what: str) -> str:
    return f"```sql\nSELECT {what};\n```"


WEST = query("west")
"""Confirms `chart("West 5")`."""


@dataclass
class Bench:
    """A goal over sales.csv, and what its scripts give by a word in them."""

    root: Path
    frontend: FakeFrontend
    answers: Sequence[Answer] | Callable[[Prompt], Answer]
    gives: dict[str, CodeOutcome] = field(default_factory=dict)
    goal: str = GOAL
    files: tuple[str, ...] = ("sales.csv",)
    rows: dict[str, object] = field(default_factory=dict)
    """What queries return by a word in them: columns and rows, or an error."""
    read: dict[str, str | Exception] = field(default_factory=dict)
    """What the reader of tables answers by the question."""
    built: BuiltIn = field(default_factory=BuiltIn)

    def __post_init__(self) -> None:
        self.place = Workplace(self.root, self.frontend, code=CodeTerms.SANDBOXED)
        self.place.sandbox.does = self._outcome
        self.llm = ScriptedLLM(self.answers, window=4096)
        prompts = Prompts(Path("resources/prompts"))
        self.loop = CodeLoop(
            self.place.run_code,
            self.place.workshop,
            self.place.store,
            llms=FakeLLMs(self.llm),
            prompts=prompts,
            read_tables=self._read,
            built_in=self.built,
        )
        given = []
        for name in self.files:
            (self.root / name).write_text("region,amount\nEast,3\nWest,5\n")
            given.append(self.place.store.take_in(self.root / name))
        self.run = goal_run_for(
            self.frontend,
            text=self.goal,
            frames=[
                ControllerFrame("assistant", self.goal, outline_for(self.goal, list(self.files)))
            ],
            files=given,
        )

    async def _read(self, question: str, tables: Sequence[Artifact]) -> str:
        assert [item.title for item in tables] == list(self.files)
        answer = self.read.get(question, "")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _outcome(self, source: Script, to: Path) -> CodeOutcome:
        if "describe_tables" in source.source:
            return CodeOutcome(Ending.DONE, 'CREATE TABLE "sales"')
        if asked := re.search(r"queries.query\(\[.*?\], (\[.*\]), ", source.source):
            known = {"west": [["region", "amount"], [["West", 5], ["East", 3]]], **self.rows}
            found = [
                next((rows for word, rows in known.items() if word in each), "no such table")
                for each in json.loads(asked[1])
            ]
            made = Artifact(Kind.TEXT, text=json.dumps(found), name=RESULT_FILE)
            return CodeOutcome(Ending.DONE, made=(self._made(made, to),))
        for word, outcome in self.gives.items():
            if word in source.source:
                return replace(outcome, made=tuple(self._made(item, to) for item in outcome.made))
        return CodeOutcome(Ending.DONE, "sales.csv: table, 2 rows.")

    def _made(self, item: Artifact, to: Path) -> Artifact:
        to.mkdir(parents=True, exist_ok=True)
        path = to / item.title
        path.write_text(item.text or "x")
        return Artifact(item.kind, path=path, name=item.title)

    async def work(self) -> Observation:
        return await self.loop.run(self.run)

    def log(self, rounds: Sequence[tuple[str, str, tuple[Artifact, ...], str]]) -> None:
        """Let these rounds be done before: branches, what they found, files and code."""
        for number, (branch, text, files, code) in enumerate(rounds, 1):
            now = self.run.now()
            entry = LogEntry(number, "assistant", branch, "x", Status.DONE, text, now, files, code)
            self.run.end_round(0, entry)
        self.run._highest = len(rounds)

    @property
    def branches(self) -> list[str]:
        return [entry.branch for entry in self.run.log]

    @property
    def states(self) -> list[StepState]:
        outline = self.run.frames[0].outline
        return [step.state for step in outline or ()]


def chart(answer: str, points: str = "East 3; West 5", name: str = "a.png") -> CodeOutcome:
    printed = f"Wrote {name}: bar chart, 2 points: {points}\n{answer}"
    return CodeOutcome(Ending.DONE, printed, made=(Artifact(Kind.IMAGE, text="x", name=name),))


def error(text: str) -> CodeOutcome:
    return CodeOutcome(Ending.ERROR, error=text)


@pytest.fixture
def bench(tmp_path: Path, frontend: FakeFrontend) -> Callable[..., Bench]:
    def built(
        answers: Sequence[Answer] | Callable[[Prompt], Answer],
        gives: dict[str, CodeOutcome] | None = None,
        **fields: object,
    ) -> Bench:
        return Bench(tmp_path, frontend, answers, gives or {}, **fields)  # type: ignore[arg-type]

    return built


async def test_a_script_and_a_query_that_agree_reach_the_goal(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()"), WEST], {"one()": chart("West sold most: 5.")})
    assert at.loop.given(at.run) == ["sales.csv"]
    found = await at.work()
    assert (found.status, found.ends) == (Status.DONE, True)
    assert found.text == "West sold most: 5.\n\nMade: “a.png”."
    assert at.run.live.turn.reply == found.text
    assert [item.title for item in at.run.live.turn.artifacts] == ["a.png"]
    assert at.branches == [LOOK, "run_code", QUERY, "final_answer"]
    assert set(at.states) == {StepState.DONE}
    asked = told(at.llm.prompts[1])
    assert 'CREATE TABLE "sales"' in asked
    assert "The query returns a row for each point of the chart." in asked
    assert at.run.log[2].observation == '[["West", 5], ["East", 3]]'


WHICH = "Which region is ahead?"
"""A goal of one part."""


async def test_another_script_is_written_if_no_query_agrees(bench: Callable[..., Bench]) -> None:
    at = bench(
        [script("one()"), query("x"), query("other"), script("two()"), WEST],
        {"one()": CodeOutcome(Ending.DONE, "West 7"), "two()": CodeOutcome(Ending.DONE, "West: 5")},
        goal=WHICH,
        rows={"other": [["region", "amount"], [["East", 5]]]},
    )
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, "West: 5")
    assert at.branches[1:-1] == ["run_code", QUERY, QUERY, "run_code", QUERY]
    assert at.run.log[2].status is Status.FAILED
    assert 'It failed: "no such table"' in told(at.llm.prompts[2])
    # The second script works in a folder of its own, on fresh files.
    folders = [session.folder.name for session in at.place.sandbox.sessions]
    assert folders == ["files", "files-2"]


TWO_QUESTIONS = "Which region is ahead, and how many sales are there?"


@pytest.mark.parametrize(
    ("goal", "printed", "read"),
    [
        (WHICH, "West leads: 5", {WHICH: "West has the highest amount: 5."}),
        (
            TWO_QUESTIONS,
            "West (5), 2 sales",
            {
                "Which region is ahead": "West has the highest amount: 5.",
                "how many sales are there?": "There are 2 rows.",
            },
        ),
        (
            "Which regions have more than 2?",
            "East and West",
            {"Which regions have more than 2?": "The region:\n- East\n- West"},
        ),
    ],
)
async def test_the_reader_of_tables_confirms_a_script(
    bench: Callable[..., Bench], goal: str, printed: str, read: dict[str, str]
) -> None:
    at = bench(
        lambda prompt: query("x") if "SELECT" in told(prompt) else script("one()"),
        {"one()": CodeOutcome(Ending.DONE, printed)},
        goal=goal,
        read=read,
    )
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, printed)
    assert [each for each in at.branches if each != QUERY] == [LOOK, "run_code", "final_answer"]


async def test_a_query_confirms_the_reader_of_tables(bench: Callable[..., Bench]) -> None:
    read = {
        "Which region is ahead": "West has the highest amount: 5.",
        "how many sales are there?": "There are 2 rows.",
    }
    at = bench(
        [query("x"), WEST, query("count")],
        goal=TWO_QUESTIONS,
        read=read,
        rows={"count": [["count"], [[2]]]},
    )
    found = await at.work()
    assert (found.status, found.text) == (
        Status.DONE,
        "West has the highest amount: 5.\n\nThere are 2 rows.",
    )
    assert at.branches == [LOOK, QUERY, QUERY, QUERY, "final_answer"]
    assert 'the values that answer "how many sales are there?"' in told(at.llm.prompts[-1])


SHARES = "What share does each region have, in percent? Write it to shares.csv"


def shares(west: str) -> CodeOutcome:
    rows = Artifact(Kind.TABLE, text=f"region,share\nEast,37.5\nWest,{west}\n", name="shares.csv")
    printed = "Wrote shares.csv: 2 rows, columns region, share\nEast has 37.5 %"
    return CodeOutcome(Ending.DONE, printed, made=(rows,))


async def test_a_table_that_holds_the_answer_confirms_the_reader_of_tables(
    bench: Callable[..., Bench],
) -> None:
    reading = "The share of amount for each region:\n- West: 62.50 %\n- East: 37.50 %"
    at = bench(
        lambda prompt: query("x") if "SELECT" in told(prompt) else script("one()"),
        {"one()": shares("62.5")},
        goal=SHARES,
        read={SHARES.partition(" Write")[0]: reading},
    )
    found = await at.work()
    assert (found.status, found.text) == (
        Status.DONE,
        f"{reading}\n\nMade: “shares.csv”.",
    )


@pytest.mark.parametrize("made", [True, False])
async def test_a_confirmed_answer_is_told_though_the_rest_is_not_reached(
    bench: Callable[..., Bench], made: bool
) -> None:
    reading = "West has the highest amount: 5."
    goal = f"{WHICH} Then save the amounts of the West as west.csv"
    told_of = Artifact(Kind.TABLE, text="region,amount\nWest,9\n", name="west.csv")
    printed = "Wrote west.csv: 1 rows, columns region, amount\nSaved."
    at = bench(
        lambda prompt: WEST if "SELECT" in told(prompt) else script("one()"),
        {"one()": CodeOutcome(Ending.DONE, printed, made=(told_of,)) if made else error("No.")},
        goal=goal,
        read={WHICH: reading},
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    assert reading in found.text
    assert "The table itself" not in found.text


@pytest.mark.parametrize(
    ("printed", "rows", "status"),
    [
        ("West (5), 2 sales", [[2]], Status.DONE),
        ("West leads: 5", [[2]], Status.PARTLY),  # one question has no answer
        ("West leads: 5", [["West", 2]], Status.PARTLY),
    ],
)
async def test_each_of_two_questions_has_a_query_of_its_own(
    bench: Callable[..., Bench], printed: str, rows: list[object], status: Status
) -> None:
    at = bench(
        lambda prompt: (
            script("one()")
            if "SELECT" not in told(prompt)
            else query("count")
            if 'answer "how many' in told(prompt).rpartition("Goal: ")[2]
            else WEST
        ),
        {"one()": CodeOutcome(Ending.DONE, printed)},
        goal=TWO_QUESTIONS,
        rows={"count": [["count", "n"][: len(rows)], rows]},
    )
    assert (await at.work()).status is status
    assert at.branches[:4] == [LOOK, "run_code", QUERY, QUERY]
    assert "Goal: Which region is ahead\nThe query" in told(at.llm.prompts[1])


@pytest.mark.parametrize("left", ["", ExpertError("I did not understand.")])
async def test_the_reader_confirms_nothing_if_it_is_not_sure_of_all(
    bench: Callable[..., Bench], left: str | Exception
) -> None:
    read = {"Which region is ahead": "West: 5.", "how many sales are there?": left}
    at = bench(
        [script("one()"), query("both"), query("both")],
        {"one()": CodeOutcome(Ending.DONE, "West (5), 2 sales")},
        goal=TWO_QUESTIONS,
        read=read,
        rows={"both": [["region", "amount", "sales"], [["West", 5, 2]]]},
    )
    assert (await at.work()).status is Status.DONE
    assert at.branches == [LOOK, "run_code", QUERY, QUERY, "final_answer"]


async def test_the_reader_of_tables_is_believed_where_scripts_say_something_else(
    bench: Callable[..., Bench],
) -> None:
    at = bench(
        lambda prompt: ExpertError("Gone.") if "SELECT" in told(prompt) else script("one()"),
        {"one()": CodeOutcome(Ending.DONE, "East 7")},
        goal=WHICH,
        read={WHICH: "West has the highest amount: 5."},
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    asked = [told(prompt) for prompt in at.llm.prompts if "SELECT" not in told(prompt)]
    assert "has this form" not in asked[0]
    assert "The answer has this form: … has the highest amount: …." in asked[1]
    assert found.text.endswith("before you use it.\n\nWest has the highest amount: 5.")


async def test_a_stopped_query_asks_what_to_change(
    bench: Callable[..., Bench], frontend: FakeFrontend
) -> None:
    held = asyncio.Event()

    def answers(prompt: Prompt) -> Answer:
        if "SELECT" not in told(prompt):
            return script("one()")
        at.llm.hold = None if held.is_set() else held
        return WEST

    at = bench(answers, {"one()": chart("West 5")})
    frontend.answer = "Go on."
    working = asyncio.create_task(at.work())
    while at.llm.hold is None:
        await asyncio.sleep(0)
    held.set()
    assert at.run.interrupts.stop()
    assert (await working).status is Status.DONE
    assert [entry.status for entry in at.run.log if entry.branch == QUERY] == [
        Status.CANCELLED, Status.DONE,
    ]  # fmt: skip


async def test_a_prompt_is_short_and_keeps_its_beginning(bench: Callable[..., Bench]) -> None:
    at = bench(
        [script("broken()"), script("one()"), query("x"), query("y"), script("two()"), WEST],
        {
            "broken()": error('  File "script.py", line 1, in <module>\n    broken()\nKeyError: 1'),
            "one()": CodeOutcome(Ending.DONE, "West 5"),
            "two()": CodeOutcome(Ending.DONE, "West 5"),
        },
        goal=WHICH,
    )
    assert (await at.work()).status is Status.DONE
    first, mended, asked, asked_again, again, _ = at.llm.prompts
    assert "experts" not in told(first)
    assert first.tokens < 1700  # estimated; about 1,000 of Qwen's
    assert asked.tokens < 1000
    assert asked_again.messages[: len(asked.messages)] == asked.messages
    assert mended.messages[: len(first.messages)] == first.messages
    assert again.messages == first.messages
    assert "Line 1: broken()\nKeyError: 1" in told(mended)
    assert "sales.csv: table, 2 rows." in told(first)
    assert WHICH in told(first)
    assert [prompt.temperature for prompt in (first, mended, asked, asked_again, again)] == [
        0.0,
        code_loop.MEND_TEMPERATURE,
        0.0,
        queries.ANOTHER_TEMPERATURE,
        code_loop.AGAIN_TEMPERATURE,
    ]


async def test_experts_are_named_where_a_goal_needs_them(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(9))
    at = bench(
        lambda prompt: script(f"jarvis.transcribe(a).split({next(numbers)})"),
        {
            "_()": CodeOutcome(Ending.DONE),
            "transcribe": CodeOutcome(Ending.DONE, "57 words are said."),
        },
        goal="How many words are said in the recording?",
        files=("talk.mp3",),
    )
    found = await at.work()
    # What an expert heard cannot be computed by a query.
    assert (found.status, QUERY in at.branches) == (Status.PARTLY, False)
    first, second, *_ = at.llm.prompts
    assert "jarvis.transcribe(" in first.messages[0].text
    assert "jarvis.translate(" not in first.messages[0].text
    assert "jarvis.transcribe(" in first.messages[2].text
    assert first.messages == second.messages


async def test_what_is_missing_is_asked_for(bench: Callable[..., Bench]) -> None:
    at = bench(
        [script("only_words()"), script("one()"), WEST],
        {
            "only_words()": CodeOutcome(Ending.DONE, "West sold most."),
            "one()": chart("West: 5"),
        },
    )
    at.run.change(0, outline=None)  # a goal of an older version
    assert (await at.work()).status is Status.DONE
    assert "But the chart was not written: draw the chart" in told(at.llm.prompts[1])
    assert at.run.log[1].status is Status.PARTLY


async def test_slips_of_a_result_that_nothing_confirms_are_told(
    bench: Callable[..., Bench],
) -> None:
    goal = "What is the median amount?"
    at = bench([script("one()"), query("x"), query("y"), script("two()"), query("five")],
               {"o": CodeOutcome(Ending.DONE, "5")}, goal=goal,
               rows={"five": [["x"], [[5]]]})  # fmt: skip
    assert (await at.work()).status is Status.DONE
    assert "Mind: a median is statistics.median(values)." in told(at.llm.prompts[3])


async def test_results_by_invented_values_do_not_count(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(1, 10))
    at = bench(
        lambda prompt: script(f'again({next(numbers)}, by["West"])'), {"again": chart("5 in all")},
        goal="Draw a chart, and tell me the total.",
    )  # fmt: skip
    assert (await at.work()).status is Status.PARTLY


async def test_results_that_nothing_confirms_are_not_claimed(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(1, 30))
    at = bench(
        lambda prompt: (
            query("x") if "SELECT" in told(prompt) else script(f"again({next(numbers)})")
        ),
        {f"again({number})": chart(f"West: {number * 7}") for number in range(1, 10)},
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    assert found.text.startswith("I made this, but could not confirm it")
    assert "West: 7" in found.text
    assert [entry.branch for entry in at.run.log].count("run_code") == MAX_RESULTS
    assert at.states[-1] is StepState.FAILED
    assert at.states[0] is StepState.DONE


async def test_another_script_begins_after_three_that_failed(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(1, 30))
    at = bench(lambda prompt: script(f"again({next(numbers)})"), {"again": error("ValueError: no")})
    found = await at.work()
    assert found.status is Status.FAILED
    assert found.text == (
        f"I did not reach this goal. I tried it {MAX_ROUNDS} times. "
        "The last problem was: ValueError: no"
    )
    lengths = [len(prompt.messages) for prompt in at.llm.prompts]
    assert lengths == [4, 6, 8] * (MAX_ROUNDS // MAX_TRIES)
    assert set(at.states[1:]) == {StepState.FAILED}
    assert at.run.live.turn.artifacts == ()


async def test_a_part_is_shown_as_a_part(bench: Callable[..., Bench]) -> None:
    numbers = iter(range(1, 30))
    at = bench(
        lambda prompt: script(f"again({next(numbers)})"),
        {"again": CodeOutcome(Ending.DONE, "West sold most: 5.")},
    )
    found = await at.work()
    assert found.status is Status.PARTLY
    assert "What is missing: the chart." in found.text
    assert "West sold most: 5." in found.text


async def test_the_same_script_is_not_run_again(bench: Callable[..., Bench]) -> None:
    at = bench(
        [
            script("bad()"),
            script("bad()  # the same"),
            script("bad()"),
            script("one()"),
            WEST,
        ],
        {"bad": error("E"), "one()": chart("West 5")},
    )
    assert (await at.work()).status is Status.DONE
    assert at.place.sandbox.ran[1:].count("bad()\n") == 1
    assert at.run.log[2].observation == SAME_SCRIPT
    # It is asked for another one right away, more boldly.
    assert at.llm.prompts[2].temperature == queries.WARM_TEMPERATURE


async def test_it_asks_the_user(bench: Callable[..., Bench], frontend: FakeFrontend) -> None:
    at = bench(["ASK: Which year?", script("one()"), WEST],
               {"one()": chart("West 5"), "two()": chart("West 5")})  # fmt: skip
    frontend.answer = "2024"
    assert (await at.work()).status is Status.DONE
    assert at.branches[1] == ASKS
    assert "On “Which year?”: 2024" in told(at.llm.prompts[1])


async def test_it_does_not_ask_for_ever(bench: Callable[..., Bench]) -> None:
    at = bench(["ASK: Which year?"])
    found = await at.work()
    assert found.status is Status.FAILED
    assert at.branches == [LOOK, ASKS, ASKS, "think", "think", "final_answer"]
    assert at.run.log[1].observation == code_loop.NOBODY


async def test_an_llm_that_fails_ends_it(bench: Callable[..., Bench]) -> None:
    at = bench([ExpertError("The server is gone.")])
    found = await at.work()
    assert found.status is Status.FAILED
    assert "The server is gone." in found.text


async def test_without_an_llm_it_ends(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()")])
    at.loop.llms = FakeLLMs(None)
    assert (await at.work()).status is Status.FAILED


async def test_an_llm_that_never_answers_ends_it(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()")])
    at.llm.hold = asyncio.Event()
    at.loop.timeout = 0.01
    found = await at.work()
    assert "The language model took too long." in found.text


async def test_time_that_is_used_up_ends_it(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_loop, "MAX_SECONDS", -1.0)
    at = bench([script("one()")])
    found = await at.work()
    assert found.text == "I did not reach this goal. It took too long."


async def test_files_that_cannot_be_read_do_not_end_it(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()"), WEST],
               {"one()": chart("West 5"), "two()": chart("West 5")})  # fmt: skip
    at.place.sandbox.errors = [ExpertError("No process.")]
    assert (await at.work()).status is Status.DONE
    assert "The files could not be read: No process." in told(at.llm.prompts[0])


async def test_a_goal_without_files(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()"), query("2 + 3")], {"one()": CodeOutcome(Ending.DONE, "5")},
               goal="How much is 2 + 3?", files=(), rows={"2 + 3": [["x"], [[5]]]})  # fmt: skip
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, "5")
    assert at.branches[0] == "run_code"


async def test_code_that_the_user_refuses(
    bench: Callable[..., Bench], frontend: FakeFrontend
) -> None:
    at = bench([script("one()"), script("two()"), WEST],
               {"two()": chart("West 5"), "three()": chart("West 5")})  # fmt: skip
    at.place.approvals.code_terms = CodeTerms.ASK
    at.place.answers(no("Leave out the chart."))
    assert (await at.work()).status is Status.DONE
    assert "Leave out the chart." in told(at.llm.prompts[1])


async def _work_of(at: Bench) -> GoalWork:
    return GoalWork(at.run, ["sales.csv"], (), (), {})


async def test_a_stopped_script_asks_what_to_change(
    bench: Callable[..., Bench], frontend: FakeFrontend
) -> None:
    at = bench([script("one()"), script("two()"), WEST],
               {"two()": chart("West 5"), "three()": chart("West 5")})  # fmt: skip
    frontend.answer = "Only the year 2024."
    await at.loop._look(work := await _work_of(at))
    assert work.brief
    at.place.sandbox.hold = True
    working = asyncio.create_task(at.work())
    while not at.place.sandbox.ran[1:]:
        await asyncio.sleep(0)
    at.place.sandbox.hold = False
    assert at.run.interrupts.stop()
    assert (await working).status is Status.DONE
    first = next(entry for entry in at.run.log if entry.branch == "run_code")
    assert first.status is Status.CANCELLED
    assert "Only the year 2024." in told(at.llm.prompts[1])


async def test_a_stopped_thought_asks_what_to_change(
    bench: Callable[..., Bench], frontend: FakeFrontend
) -> None:
    at = bench([script("one()"), script("two()"), WEST],
               {"two()": chart("West 5"), "three()": chart("West 5")})  # fmt: skip
    at.llm.hold = asyncio.Event()
    working = asyncio.create_task(at.work())
    await at.llm.asked.wait()
    assert at.run.interrupts.stop()
    at.llm.hold = None
    assert (await working).status is Status.DONE
    assert at.run.log[1].status is Status.CANCELLED


async def test_rounds_from_before_a_crash_count(bench: Callable[..., Bench]) -> None:
    at = bench([WEST], {})
    made = Artifact(Kind.IMAGE, path=at.root / "sales.csv", name="a.png")
    rounds: Sequence[tuple[str, str, tuple[Artifact, ...], str]] = [
        (LOOK, "sales.csv: a table.", (), "look()"),
        ("run_code", chart("West 5").printed, (made,), "one()"),
        (QUERY, "[]", (), "SELECT west"),
        (QUERY, "[]", (), "SELECT no"),
    ]
    at.log(rounds)
    found = await at.work()
    assert (found.status, found.artifacts) == (Status.DONE, (made,))
    # The query was run again; nothing was asked.
    assert not at.llm.prompts


def test_the_worked_examples_are_sound(prompts: Prompts) -> None:
    examples = json.loads(prompts.read("code_examples.json")[0])
    for each in examples:
        code = "\n".join(each["code"])
        assert repaired(code) == code, each["goal"]
        kinds = {str(result.kind) for result in expected_results(each["goal"], ["x.csv", "x.png"])}
        assert kinds & set(each["wants"]), each["goal"]
        assert {ResultKind(want) for want in each["wants"]}
        assert {kind.removesuffix("s") for kind in each["kinds"]} <= {
            "table", "text", "picture", "sound",
        }  # fmt: skip


def test_the_checklist() -> None:
    files = [f"{number}.csv" for number in range(6)]
    assert [step.text for step in outline_for(GOAL, files)] == [
        "Look at 0.csv, 1.csv, 2.csv, 3.csv (+2)",
        "Draw a chart of the sales by region",
        "Tell me which region is ahead.",
        "Check the result",
    ]
    assert [step.text for step in outline_for("?", [])] == ["?", "Check the result"]


@pytest.mark.parametrize(
    ("text", "code", "question"),
    [
        ("```python\nprint(1)\n```", "print(1)\n", ""),
        ("```\nprint(1)", "print(1)\n", ""),
        ("import os\nprint(1)", "import os\nprint(1)\n", ""),
        ("ASK: Which one?", "", "Which one?"),
        ("I cannot do that.", "", ""),
    ],
)
def test_replies(text: str, code: str, question: str) -> None:
    assert parse_reply(text) == (code, question)


async def test_another_script_is_warned_of_what_was_wrong(bench: Callable[..., Bench]) -> None:
    at = bench(
        [script("broken()"), script("nothing()"), script("bad()"), script("one()"), WEST],
        {
            "broken()": error("TypeError: unsupported operand 'NoneType'"),
            "nothing()": CodeOutcome(Ending.DONE, "x"),
            "bad()": error("ValueError: no"),
            "one()": chart("West 5"),
        },
    )
    assert (await at.work()).status is Status.DONE
    last = at.llm.prompts[3]
    assert "Mind: Empty cells of" in told(last)
    assert "Mind" not in told(at.llm.prompts[2])


async def test_an_answer_names_some_of_many_files(bench: Callable[..., Bench]) -> None:
    many = tuple(Artifact(Kind.IMAGE, text="x", name=f"{number}.png") for number in range(12))
    made = CodeOutcome(Ending.DONE, "12 pictures", made=many)
    at = bench([script("one()"), script("two()"), script("three()")], {"e()": made, "o()": made},
               goal="Resize all pictures.", files=("a.png",))  # fmt: skip
    found = await at.work()
    assert found.text.endswith("“7.png” (+4).")
    assert "picture files: p1.jpg" in told(at.llm.prompts[0])
