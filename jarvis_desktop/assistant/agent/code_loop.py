"""Agent mode for small LLMs: one script after the other, until the results that were asked for
are there.

A small LLM writes a good short script and a bad plan, and says "done" when nothing is. So the plan
is a checklist made from the goal's words, each round is a script or a question, and nothing is
believed: a result counts if the files and answers that the goal asks for exist, and if a second
script, which is written apart from the first on fresh files, comes to the same.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from jarvis_desktop.assistant.agent.agreement import agree
from jarvis_desktop.assistant.agent.branches.run_code import RunCode
from jarvis_desktop.assistant.agent.code_session import RUNS_CODE, CodeWorkspaces, clean_code
from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    clauses,
    expected_results,
    format_expected,
    instructions,
)
from jarvis_desktop.assistant.agent.expert_functions import (
    calls_only,
    experts_prompt,
    needed_functions,
)
from jarvis_desktop.assistant.agent.goal_checks import answer_in, column_names, missing
from jarvis_desktop.assistant.agent.goal_run import GoalRun, OpenRound, StoppedError
from jarvis_desktop.assistant.agent.made_files import data_words
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.agent.script_checks import slips, tables_in
from jarvis_desktop.assistant.agent.stop_conditions import THINK
from jarvis_desktop.assistant.planning.llm_output import strip_reasoning
from jarvis_desktop.assistant.prompts import Prompts, keep_ends, keep_start
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import Script
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.events import OutlineChanged
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import LogEntry, Outline, OutlineStep, StepState
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import (
    LLM,
    LLMs,
    Message,
    MessageRole,
    Prompt,
    answer,
    estimated_tokens,
)
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.text.quotation import marked_off

MAX_ROUNDS = 9
"""Scripts and questions for one goal."""
MAX_TRIES = 3
"""Scripts that mend each other, before another one is written from the beginning."""
MAX_SECONDS = 480.0
"""Seconds of work after which no other script is written."""
MAX_QUESTIONS = 2
MAX_EXAMPLES = 3
"""Examples that scripts are written after: the next one after scripts that came to nothing."""
MAX_LESSONS = 3
"""Slips of earlier scripts that the author of another one is warned of."""
MAX_ANSWER_TOKENS = 900
BRIEF_TOKENS = 700
ERROR_TOKENS = 220
PRINTED_TOKENS = 160
MEND_TEMPERATURE = 0.2
AGAIN_TEMPERATURE = 0.4
"""For a second script: it should be another one."""
WARM_TEMPERATURE = 0.9
"""After a script that was written before."""
LOOK_TIMEOUT = 60.0
MAX_RESULTS = 4
"""Results of which no two agree, before it is given up."""
ASKS = "ask_user"
"""The branch of a round that is a question."""
LOOK = "look"
"""The branch of the round that reads the beginnings of the files."""
MAX_NAMED = 8
"""Files that an answer names."""
LACKS = "Still to do: "
"""Before what a script has not done, in the log."""
NOBODY = "Nobody answered. Decide it yourself."
NO_SCRIPT = "Write one ```python block and nothing else."
SAME_SCRIPT = "This is the script that did not work. Write another one: do it in another way."
NO_PACKAGES = (
    "pandas, numpy and matplotlib are not there. Use jarvis.read_table, jarvis.chart and Python's "
    "standard library."
)

_fence = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_question = re.compile(r"^\W*ASK:?\s*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_code_line = re.compile(r"^(?:import|from|for|with|def|print|\w+\s*=|jarvis\.)", re.MULTILINE)


def outline_for(goal: str, given: Sequence[str]) -> Outline:
    """Return the checklist for a goal: look at the files, its clauses, a check."""
    texts = list(clauses(goal)) or [goal]
    if given:
        names = ", ".join(one_line(name, limit=40) for name in given[:4])
        more = f" (+{len(given) - 4})" if len(given) > 4 else ""
        texts.insert(0, tr("Look at {names}", names=f"{names}{more}"))
    texts.append(tr("Check the result"))
    return Outline(tuple(OutlineStep(number, text) for number, text in enumerate(texts, 1)))


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
        return self.rounds[-1].observation, self.made


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
class _GoalWork:
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

    @property
    def rounds(self) -> Sequence[LogEntry]:
        """Its scripts and questions, oldest first."""
        return [entry for entry in self.run.done_by(0) if entry.branch != LOOK]

    @property
    def results(self) -> list[ScriptThread]:
        """The threads that made everything."""
        return [each for each in threads(self.rounds) if each.succeeded]

    def missing(
        self, printed: str, made: Sequence[Artifact]
    ) -> Iterator[tuple[ExpectedResult, str]]:
        """Yield what the goal asks for and a script did not do. It reads files."""
        return missing(self.expected, printed, made, self.files, self.brief)

    def problems(self, code: str, printed: str, made: Sequence[Artifact]) -> list[str]:
        """Return what a script did not do or did wrong, in words for its author. It reads files."""
        missed = (problem for _, problem in self.missing(printed, made))
        return [*missed, *slips(code, self.run.goal.text, self.words, self.brief)]

    @property
    def open(self) -> ScriptThread:
        """The thread that goes on."""
        found = threads(self.rounds)
        return found[-1] if found and not found[-1].is_over else ScriptThread()


class CodeLoop:
    """Works on goals with an LLM that does not write plans."""

    def __init__(
        self,
        run_code: RunCode,
        workshop: CodeWorkspaces,
        store: ArtifactStore,
        *,
        llms: LLMs,
        prompts: Prompts,
        timeout: float = 300.0,
    ) -> None:
        """`timeout`, in seconds, is for one answer of the LLM."""
        self._run_code = run_code
        self._workshop = workshop
        self._store = store
        self._llms = llms
        self._prompts = prompts
        self._timeout = timeout

    def given(self, run: GoalRun) -> Sequence[str]:
        """Return the names of the files that the goal's code has."""
        return list(self._workshop.bench(run).files.named(run))

    async def run(self, run: GoalRun) -> Observation:
        """Work on the goal and answer the user. Rounds that were done before a crash count. Raises
        StorageError if the memory cannot be written."""
        run.inner = 0
        files = self._workshop.bench(run).files.named(run)
        words = await asyncio.to_thread(data_words, files)
        expected = expected_results(run.goal.text, list(files))
        work = _GoalWork(run, list(files), expected, list(files.values()), words)
        await self._look(work)
        while True:
            if best := await asyncio.to_thread(_confirmed, work):
                return self._finish(work, best)
            if reason := await self._stop_reason(work):
                return self._give_up(work, reason)
            await self._round(work)

    async def _look(self, work: _GoalWork) -> None:
        """Note what the files are. The script is ours and changes nothing, so nobody is asked."""
        run = work.run
        before = [entry for entry in run.done_by(0) if entry.branch == LOOK]
        if before or not work.names:
            work.brief = before[-1].observation if before else ""
            return
        code = f"import jarvis\njarvis.describe({json.dumps(work.names, ensure_ascii=False)})"
        now = _begin(run, LOOK, tr("Look at the files"), code)
        script = Script(code)
        to = await asyncio.to_thread(self._store.workdir)
        status = Status.DONE
        try:
            ran = await self._workshop.bench(run).run(
                script,
                approved=script.sha256,
                to=to,
                timeout=LOOK_TIMEOUT,
                report=lambda text: None,
            )
            work.brief = printable(ran.outcome.printed.strip())
        except JarvisError as error:  # the first script will say the same
            work.brief, status = f"(The files could not be read: {error})", Status.FAILED
        finally:
            await asyncio.to_thread(self._store.discard, to)
        _end(run, now, Observation(work.brief, status, code=code))
        self._mark(work, StepState.DONE, lambda step: step.id == 1)

    async def _stop_reason(self, work: _GoalWork) -> str:
        """Return why there is no other round, as a sentence; "" if there is one."""
        rounds = work.rounds
        if len(rounds) >= MAX_ROUNDS or len(work.results) >= MAX_RESULTS:
            return tr("I tried it {count} times.", count=len(rounds))
        if work.run.seconds >= MAX_SECONDS:
            return tr("It took too long.")
        if len(rounds) > 1 and {each.branch for each in rounds[-2:]} == {THINK}:
            return one_line(rounds[-1].observation, limit=300)
        return ""

    async def _round(self, work: _GoalWork) -> None:
        """Let the LLM write a script or a question, and take it on."""
        run = work.run
        try:
            text = await run.interrupts.branch(self._write(work))
            if _is_known(work.rounds, text):
                text = await run.interrupts.branch(self._write(work, warmer=True))
        except StoppedError:
            await _ask_what_to_change(run, _begin(run, THINK, tr("Write a script"), ""))
            return
        except JarvisError as error:
            now = _begin(run, THINK, tr("Write a script"), "")
            _end(run, now, Observation(str(error), Status.FAILED, trusted=True))
            return
        code, question = parse_reply(text)
        if code:
            await self._run_script(work, repaired(code))
        elif question and sum(each.branch == ASKS for each in work.rounds) < MAX_QUESTIONS:
            now = _begin(run, ASKS, question, "")
            reply = (await run.live.ask(question)).strip()
            if reply:
                run.record_answer(question, reply)
            _end(run, now, Observation(reply or NOBODY, trusted=True))
        else:
            now = _begin(run, THINK, tr("Write a script"), "")
            _end(run, now, Observation(NO_SCRIPT, Status.FAILED, trusted=True))

    async def _write(self, work: _GoalWork, *, warmer: bool = False) -> str:
        """Return the LLM's reply; `warmer` is for another one than before. Raises what it raises,
        and ExpertError if it is too slow."""
        llm = await self._llms.current()
        if llm is None:
            raise UnavailableError(
                tr("There is none now."), hint=tr("jarvis-desktop doctor says why.")
            )
        prompt = self._prompt(work, llm)
        if warmer:
            prompt = replace(prompt, temperature=WARM_TEMPERATURE)
        try:
            async with asyncio.timeout(self._timeout):
                text = await answer(llm, prompt)
        except TimeoutError as error:
            raise ExpertError(tr("The language model took too long.")) from error
        work.run.spend(0, prompt.tokens + estimated_tokens(text))
        work.run.live.trace(f"{llm.name} wrote {len(text)} characters.")
        return strip_reasoning(text)

    def _prompt(self, work: _GoalWork, llm: LLM) -> Prompt:
        """Build the prompt. Its beginning stays the same from round to round, for the cache of the
        server."""
        run, thread = work.run, work.open
        system = self._prompts.template("code_loop").text
        if functions := needed_functions(run.goal.text, work.names):
            experts = self._prompts.template("code_experts").text
            system = f"{system}\n\n{experts_prompt(experts, functions)}"
        examples = [
            each
            for each in json.loads(self._prompts.read("code_examples.json")[0])
            if calls_only("\n".join(each["code"]), functions)
        ]
        begun = len(threads(work.rounds)) - bool(thread.rounds)
        nearest = nearest_examples(examples, run.goal.text, work)
        failed = sum(each.is_over and not each.succeeded for each in threads(work.rounds))
        example = nearest[failed % MAX_EXAMPLES % len(nearest)]
        messages = [
            Message(MessageRole.SYSTEM, system),
            Message(MessageRole.USER, _task(example["files"], example["goal"], example["needs"])),
            Message(MessageRole.ASSISTANT, _fenced("\n".join(example["code"]))),
        ]
        brief = marked_off(keep_start(work.brief, BRIEF_TOKENS), run.goal.id) if work.brief else ""
        task = _task(brief or "(none)", run.goal.text, instructions(work.expected))
        if lessons := list(_lessons(work.rounds[: len(work.rounds) - len(thread.rounds)])):
            task += "\nMind: " + "; ".join(lessons[:MAX_LESSONS]) + "."
        if run.answers:
            task += "\nThe user said:\n" + "\n".join(run.answers)
        messages.append(Message(MessageRole.USER, task))
        for each in thread.rounds:
            if each.branch != ASKS:
                reply = _fenced(each.code) if each.code else "(no script)"
                messages.append(Message(MessageRole.ASSISTANT, reply))
                messages.append(Message(MessageRole.USER, _outcome(each, run.goal.id)))
        temperature = 0.0
        if begun:
            temperature = AGAIN_TEMPERATURE
        elif thread.rounds:
            temperature = MEND_TEMPERATURE
        longest = min(MAX_ANSWER_TOKENS, llm.window // 4)
        return Prompt(tuple(messages), longest=longest, temperature=temperature)

    async def _run_script(self, work: _GoalWork, code: str) -> None:
        """Run a script, unless it is known already, and note what is missing."""
        run, thread = work.run, work.open
        purpose = one_line(run.goal.text, limit=200)
        if work.results:
            purpose = tr("Do it a second time, to check the result.")
        now = _begin(run, RUNS_CODE, purpose, code)
        if any(_same_code(each.code, code) for each in thread.rounds):
            _end(run, now, Observation(SAME_SCRIPT, Status.FAILED, code=code, trusted=True))
            return
        if not thread.rounds and work.rounds:
            await self._workshop.bench(run).start_over()
        try:
            found = await run.interrupts.branch(self._run_code.run(run, code, purpose))
        except StoppedError:
            await _ask_what_to_change(run, now)
            return
        if found.status is not Status.DONE:
            failed = explain_error(found.error, work, code) if found.error else found.text
            slipped = slips(code, run.goal.text, work.words, work.brief)
            _end(run, now, replace(found, text="\n".join([failed, *slipped])))
            return
        so_far = ScriptThread((*thread.rounds, _entry(run, now, found)))
        lacking = await asyncio.to_thread(work.problems, code, found.printed, so_far.made)
        if lacking:
            told = f"{found.printed}\n{LACKS}{'; '.join(lacking)}".strip()
            _end(run, now, replace(found, text=told, status=Status.PARTLY))
        else:
            _end(run, now, replace(found, text=found.printed))

    def _finish(self, work: _GoalWork, best: ScriptThread) -> Observation:
        """Answer with what was computed."""
        printed, made = best.result
        self._mark(work, StepState.DONE)
        return _answer(work.run, _told(printed, made), Status.DONE, made)

    def _give_up(self, work: _GoalWork, reason: str) -> Observation:
        """Say honestly what there is."""
        results = work.results
        partly = [each for each in threads(work.rounds) if each.rounds[-1].status is Status.PARTLY]
        if results:
            self._mark(work, StepState.DONE, lambda step: step.id < _last(work))
            self._mark(work, StepState.FAILED)
            told = [
                tr("I am not sure of this: I computed it again, and it was not the same.")
                if len(results) > 1
                else tr("I am not sure of this: I could not compute it a second time."),
                *dict.fromkeys(_told(*each.result) for each in results[:2]),
            ]
            return _answer(work.run, "\n\n".join(told), Status.PARTLY, results[0].made)
        self._mark(work, StepState.FAILED)
        if partly:
            printed, made = partly[-1].result
            printed = printed.partition(LACKS)[0]
            names = ", ".join(format_expected(each) for each, _ in work.missing(printed, made))
            told = [
                tr("I did not reach this goal. What is missing: {names}.", names=names)
                if names
                else tr("I am not sure of this: the script that computed it has a flaw."),
                tr("This is what there is:"),
                _told(printed, made),
            ]
            return _answer(work.run, "\n\n".join(told), Status.PARTLY, made)
        last = work.rounds[-1].observation if work.rounds else ""
        told = [
            tr("I did not reach this goal. {reason}", reason=reason),
            tr("The last problem was: {problem}", problem=one_line(last, limit=300)),
        ]
        return _answer(work.run, " ".join(told[: 2 if last else 1]), Status.FAILED, ())

    def _mark(
        self,
        work: _GoalWork,
        state: StepState,
        which: Callable[[OutlineStep], bool] = lambda step: True,
    ) -> None:
        """Set the state of open steps of the checklist, and show it."""
        run = work.run
        outline = before = run.frames[0].outline
        for step in before or ():
            if outline and not step.is_settled and which(step):
                outline = outline.with_state(step.id, state)
        if outline and outline != before:
            run.change(0, outline=outline)
            run.live.show(OutlineChanged(outline, run.path(0)))


def _last(work: _GoalWork) -> int:
    outline = work.run.frames[0].outline
    return outline.steps[-1].id if outline else 0


def _confirmed(work: _GoalWork) -> ScriptThread | None:
    """Return the oldest result that another one agrees with; None if there is none. It reads
    files."""
    for one, two in combinations(work.results, 2):
        if agree(one.result, two.result, work.expected, work.words):
            return one
    return None


def _begin(run: GoalRun, branch: str, what: str, code: str) -> OpenRound:
    return run.open_round(0, branch, one_line(what, limit=200), code)


def _entry(run: GoalRun, now: OpenRound, found: Observation) -> LogEntry:
    return run.entry_of(now, found.status, found.text, found.artifacts, found.code)


def _end(run: GoalRun, now: OpenRound, found: Observation) -> None:
    """Save what a round did, and show it."""
    run.number = now.number
    tainted = run.frames[0].tainted or not found.trusted
    run.close_round(now, _entry(run, now, found), found.text, tainted=tainted)


async def _ask_what_to_change(run: GoalRun, now: OpenRound) -> None:
    """Ask the user, who stopped something, what should be different."""
    said = await run.ask_what_to_change(now.what)
    told = f"The user stopped it. {said}".strip()
    _end(run, now, Observation(told, Status.CANCELLED, trusted=True))


def _answer(run: GoalRun, text: str, status: Status, made: Sequence[Artifact]) -> Observation:
    """Answer the user, and note it as the last round."""
    run.live.say_apart(text)
    found = Observation(text, status, tuple(made), ends=True)
    _end(run, _begin(run, "final_answer", text, ""), found)
    return found


def _told(printed: str, made: Sequence[Artifact]) -> str:
    """Return a result as the user reads it: what was printed, and the names of the files."""
    names = ", ".join(f"“{one_line(item.title)}”" for item in made[:MAX_NAMED])
    more = f" (+{len(made) - MAX_NAMED})" if len(made) > MAX_NAMED else ""
    parts = [
        printable(answer_in(printed)),
        tr("Made: {names}.", names=f"{names}{more}") if made else "",
    ]
    return "\n\n".join(filter(None, parts)) or tr("Done.")


# What the LLM reads and writes.


def parse_reply(text: str) -> tuple[str, str]:
    """Return the script and the question of a reply; "" for what it does not have."""
    fenced = _fence.findall(text)
    if fenced:
        return clean_code(max(fenced, key=len)), ""
    asked = _question.search(text)
    if asked:
        return "", printable(asked[1].strip())
    return (clean_code(text), "") if _code_line.search(text) else ("", "")


_imports = {
    "Counter": "collections",
    "defaultdict": "collections",
    "datetime": "datetime",
    "timedelta": "datetime",
    "date": "datetime",
    "Path": "pathlib",
    "Image": "PIL",
    "ImageDraw": "PIL",
    "ImageOps": "PIL",
    "ImageFilter": "PIL",
    "mean": "statistics",
    "median": "statistics",
}
"""Where names come from that small LLMs forget to import."""


def repaired(code: str) -> str:
    """Return a script with the imports that it forgets, and with rows as tuples where it takes them
    apart as such."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return code  # running it says what is wrong
    return _with_imports(_with_tuples(code, tree), tree)


def _with_tuples(code: str, tree: ast.AST) -> str:
    """Let `for name, price in rows`, with rows of a table, loop over their values."""
    nodes = list(ast.walk(tree))
    tables = tables_in(nodes)
    lines = code.encode().splitlines(keepends=True)  # columns of nodes are counted in bytes
    found: list[ast.Name] = []
    for node in nodes:
        match node:
            case (
                ast.For(target=ast.Tuple(), iter=ast.Name(id=name) as rows)
                | ast.comprehension(target=ast.Tuple(), iter=ast.Name(id=name) as rows)
            ) if name in tables:
                found.append(rows)
    # From the end, so that the places before it stay.
    for rows in sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line = lines[rows.lineno - 1]
        before, after = line[: rows.col_offset], line[rows.end_col_offset :]
        lines[rows.lineno - 1] = b"%s[row.values() for row in %s]%s" % (
            before, rows.id.encode(), after
        )  # fmt: skip
    return b"".join(lines).decode()


def _with_imports(code: str, tree: ast.AST) -> str:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                bound |= {(item.asname or item.name).split(".")[0] for item in node.names}
            case ast.FunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
    used = {node.id for node in names} - bound
    modules = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    lines = [
        f"import {name}" if f"{name}.{name}" in code else f"from {_imports[name]} import {name}"
        for name in sorted(used & _imports.keys())
    ]
    if re.search(r"^import PIL$", code, re.MULTILINE):  # which does not load its modules
        lines += [f"import {name}" for name in sorted({*re.findall(r"\bPIL\.[A-Z]\w+", code)})]
    known = used & modules & {*sys.stdlib_module_names, "jarvis"} - _imports.keys()
    return "\n".join([*(f"import {name}" for name in sorted(known)), *lines, code])


def nearest_examples(
    examples: Sequence[Mapping[str, Any]], goal: str, work: _GoalWork
) -> Sequence[Mapping[str, Any]]:
    """Return the examples, those that are most like a goal first: by what is wanted, the kinds of
    its files, and its words."""
    wants = {each.kind.value for each in work.expected}
    counts = Counter(map(_kind, work.names))
    kinds = {kind if count == 1 else f"{kind}s" for kind, count in counts.items()}
    words = set(re.findall(r"\w{3,}", goal.casefold()))

    def likeness(example: Mapping[str, Any]) -> float:
        same = wants & set(example["wants"])
        other = wants ^ set(example["wants"])
        near = len(words & set(re.findall(r"\w{3,}", example["goal"].casefold())))
        return 2 * len(same) - len(other) + 2 * len(kinds & set(example["kinds"])) + near / 10

    return sorted(examples, key=likeness, reverse=True)


def _kind(name: str) -> str:
    kind = kind_of_name(name)
    if kind is Kind.TABLE or name.lower().endswith((".json", ".jsonl")):
        return "table"
    if kind in (Kind.AUDIO, Kind.VIDEO):
        return "sound"
    return "picture" if kind is Kind.IMAGE else "text"


def _task(files: str, goal: str, needs: str) -> str:
    return f"Files:\n{files}\n\nGoal: {goal}\nAt the end: {needs}."


def _fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def _outcome(entry: LogEntry, whose: str) -> str:
    """Return what the LLM reads of a script that is to be mended."""
    if not entry.code:
        return entry.observation
    if entry.status is Status.PARTLY:
        printed, _, lacking = entry.observation.partition(LACKS)
        shown = marked_off(keep_ends(printed.strip(), PRINTED_TOKENS), whose)
        return f"It printed:\n{shown}\nBut {lacking}. Write the whole script again, complete."
    # Between quotation marks, which small LLMs do not copy into their scripts.
    told = json.dumps(keep_ends(entry.observation, ERROR_TOKENS), ensure_ascii=False)
    told = told.replace("\\n", "\n")
    return f"It failed: {told}\nWrite the whole script again, corrected."


def _lessons(rounds: Iterable[LogEntry]) -> Iterator[str]:
    """Yield what was wrong with scripts, so that another one does not repeat it: what it lacked, or
    the advice beneath its error. Its author sees none of the code."""
    told = set[str]()
    for each in rounds:
        if each.status is Status.PARTLY:
            found = each.observation.partition(LACKS)[2].split("; ")
        else:
            found = _advice.split(each.observation)[1:] if each.code else []
        for lesson in found:
            lesson = " ".join(lesson.split()).rstrip(".")
            if lesson and lesson not in told:
                told.add(lesson)
                yield lesson


_advice = re.compile(r"^\w*(?:Error|Exception)\b.*\n", re.MULTILINE)
_frame = re.compile(r'File "script[^"]*", line (\d+)[^\n]*\n\s+([^\n]+)')


def explain_error(traceback: str, work: _GoalWork, code: str) -> str:
    """Return an error as one or two lines: where it is, what it says, and what would help."""
    lines = traceback.strip().splitlines()
    last = one_line(lines[-1] if lines else "", limit=400)
    frames = _frame.findall(traceback)
    where = f"Line {frames[-1][0]}: {one_line(frames[-1][1], limit=160)}\n" if frames else ""
    return f"{where}{last}{_hint(last, work, code)}"


def _hint(error: str, work: _GoalWork, code: str) -> str:
    listed = ", ".join(map(one_line, work.names[:12])) or "none"
    if error.startswith("FileNotFoundError"):
        return f"\nThe files are: {listed}."
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return f"\n{NO_PACKAGES}"
    if "NoneType" in error:
        used = [name for name in _with_empty_cells.findall(work.brief) if f'"{name}"' in code]
        name = used[0] if used else "x"
        return f'\nEmpty cells of {name} are None. Skip these rows: if row["{name}"] is not None'
    if "is the name of a file: read it first" in error:
        return (
            "\nKeep the largest count in a variable: most = 0, then for each file: if words > most:"
            " most, best = words, name"
        )
    if "jarvis has no group" in error:
        return '\nUse a dict: groups.setdefault(row["x"], []).append(row["y"]) for each row.'
    if "jarvis has no" in error and "date" in error.partition(";")[0]:
        return "\nUse datetime.date.fromisoformat(text); the difference of two has .days."
    if "ANTIALIAS" in error:
        return "\nWrite picture.resize((width, height)) without it."
    if error.startswith("IndexError") and "split" in code:
        return "\nNot all lines have so many parts. Use re.findall or re.search instead."
    if error.startswith("NameError") and (name := re.search(r"'(\w+)'", error)):
        looped = re.search(rf"\bfor\b[^\n]*\b{name[1]}\b[^\n]*\bin\b", code)
        return (
            "\nIts loop found nothing: check the condition."
            if looped
            else "\nGive it a value in a line before."
        )
    if "got 'list'" in error:
        return (
            "\nThat is a list: go through it with for, or use jarvis.read_text for the whole text."
        )
    if "values()" in code and ("'int' and 'str'" in error or "invalid literal" in error):
        columns = ", ".join(_number_columns.findall(work.brief)) or "numbers"
        return f"\nSome values are text. Use only the columns of numbers: {columns}."
    if "could not convert string to float" in error or "invalid literal for int" in error:
        return "\njarvis.read_table returns numbers already; text cells are names or codes."
    if "values to unpack" in error or "no attribute 'items'" in error:
        column = next(iter(column_names(work.brief)), "column")
        return f'\nA row is a dict: write for row in rows, and row["{column}"] for the {column}.'
    if "'list' object has no attribute" in error or "list indices must be" in error:
        return '\nA table is a list of dicts: for row in rows, then row["column"].'
    if "'str'" in error and ("strftime" in error or "month" in error or "year" in error):
        return '\nDates are text such as "2024-01-31": the month is row["date"][:7].'
    return ""


def _is_known(rounds: Sequence[LogEntry], text: str) -> bool:
    """Return whether the script in a reply was written before."""
    code = repaired(parse_reply(text)[0])
    return any(_same_code(each.code, code) for each in rounds)


_number_columns = re.compile(r"^- (.+?): number", re.MULTILINE)
_with_empty_cells = re.compile(r"^- (.+?): number.*; \d+ cells are empty", re.MULTILINE)


def _same_code(one: str, two: str) -> bool:
    """Return whether two scripts do the same: comments and blanks do not count."""
    return bool(one) and _bare(one) == _bare(two)


def _bare(code: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"(?m)^\s*#.*$|\s+#\s.*$", "", code))
