"""Agent mode for small LLMs: one script after the other, until the results that were asked for
are there.

A small LLM writes a good short script and a bad plan, and says "done" when nothing is. So the plan
is a checklist made from the goal's words, each round is a script or a question, and nothing is
believed. A goal ends in one of three ways: as *done* if the files and answers that it asks for
exist and a query, which is written apart from the script, comes to the same (pictures and simple
edits of texts are computed again from the goal's words, and what built-in methods clearly do of it
needs no script: see `built_in_steps`); as *made* if they exist and could not be confirmed so, with
a word that says it; or as not reached.
"""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import PurePath
from typing import Any

from jarvis_desktop.assistant.agent.agreement import QueryResult, Result
from jarvis_desktop.assistant.agent.branches.run_code import RunCode
from jarvis_desktop.assistant.agent.built_in_steps import BuiltInSteps
from jarvis_desktop.assistant.agent.code_session import RUNS_CODE, CodeWorkspaces, clean_code
from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    ResultKind,
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
from jarvis_desktop.assistant.agent.goal_checks import answer_in
from jarvis_desktop.assistant.agent.goal_run import GoalRun, OpenRound, StoppedError
from jarvis_desktop.assistant.agent.goal_work import (
    ASKS,
    BUILT_IN,
    LOOK,
    READING_QUERIES,
    SAME_SCRIPT,
    GoalWork,
    ScriptThread,
    file_kind,
    parts_of,
    purpose_of,
    threads,
)
from jarvis_desktop.assistant.agent.made_files import data_words
from jarvis_desktop.assistant.agent.queries import (
    FORM,
    NO_QUERY,
    QUERY,
    RESULT_FILE,
    SAME_QUERY,
    SHOWN_CHARS,
    WARM_TEMPERATURE,
    TableReader,
    describe_code,
    format_rows,
    parse_query,
    query_code,
    query_prompt,
    questions,
    wrong_rows,
)
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.agent.script_checks import slips
from jarvis_desktop.assistant.agent.script_repair import explain_error, repaired
from jarvis_desktop.assistant.agent.stop_conditions import THINK
from jarvis_desktop.assistant.planning.llm_output import strip_reasoning
from jarvis_desktop.assistant.prompts import Prompts, keep_ends, keep_start
from jarvis_desktop.core.artifact import Artifact, Kind
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
LOOK_TIMEOUT = 60.0
MAX_RESULTS = 3
"""Results that no query confirms, before it is given up."""
MAX_NAMED = 8
"""Files that an answer names."""
LACKS = "Still to do: "
"""Before what a script has not done, in the log."""
NOBODY = "Nobody answered. Decide it yourself."
NO_SCRIPT = "Write one ```python block and nothing else."

_fence = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_question = re.compile(r"^\W*ASK:?\s*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_code_line = re.compile(r"^(?:import|from|for|with|def|print|\w+\s*=|jarvis\.)", re.MULTILINE)


def outline_for(goal: str, given: Sequence[str]) -> Outline:
    """Return the checklist for a goal: look at the files, its clauses, a check."""
    texts = [text[:1].upper() + text[1:] for text in clauses(goal)] or [goal]
    if given:
        names = ", ".join(one_line(name, limit=40) for name in given[:4])
        more = f" (+{len(given) - 4})" if len(given) > 4 else ""
        texts.insert(0, tr("Look at {names}", names=f"{names}{more}"))
    texts.append(tr("Check the result"))
    return Outline(tuple(OutlineStep(number, text) for number, text in enumerate(texts, 1)))


@dataclass(eq=False)
class CodeLoop:
    """Works on goals with an LLM that does not write plans.

    `timeout`, in seconds, is for one answer of the LLM.
    """

    run_code: RunCode
    workshop: CodeWorkspaces
    store: ArtifactStore
    _: KW_ONLY
    llms: LLMs
    prompts: Prompts
    read_tables: TableReader
    built_in: BuiltInSteps
    timeout: float = 300.0

    def given(self, run: GoalRun) -> Sequence[str]:
        """Return the names of the files that the goal's code has."""
        return list(self.workshop.bench(run).files.named(run))

    async def run(self, run: GoalRun) -> Observation:
        """Work on the goal and answer the user. Rounds that were done before a crash count. Raises
        StorageError if the memory cannot be written."""
        run.inner = 0
        files = self.workshop.bench(run).files.named(run)
        words = await asyncio.to_thread(data_words, files)
        expected = expected_results(run.goal.text, list(files))
        work = GoalWork(run, list(files), expected, list(files.values()), words)
        await self._look(work)
        await self._use_built_in_methods(work)
        await self._read(work)
        await self._query_again(work)
        await self._confirm_reading(work)
        if not work.expected:
            return self._finish(work, ScriptThread())
        while True:
            results = work.results
            await asyncio.to_thread(work.see_reading_confirmed)
            left = [await asyncio.to_thread(work.unconfirmed, each) for each in results]
            if [] in left:
                return self._finish(work, results[left.index([])])
            own = results and calls_only(results[-1].rounds[-1].code, ())  # no experts' answers
            if own and (part := work.next_query(left[-1])):
                await self._query(work, part)
            elif reason := self._stop_reason(work):
                stuck = results or THINK in {each.branch for each in work.rounds[-1:]}
                return self._give_up(work, reason, None if stuck else await self._by_queries(work))
            else:
                await self._round(work)

    async def _look(self, work: GoalWork) -> None:
        """Note what the files are. The script is ours and changes nothing, so nobody is asked."""
        run = work.run
        before = [entry for entry in run.done_by(0) if entry.branch == LOOK]
        if before or not work.names:
            work.brief = before[-1].observation if before else ""
            return
        code = f"import jarvis\njarvis.describe({json.dumps(work.names, ensure_ascii=False)})"
        now = _begin(run, LOOK, tr("Look at the files"), code)
        status = Status.DONE
        try:
            work.brief = printable((await self._run_own(run, code))[0].strip())
        except JarvisError as error:  # the first script will say the same
            work.brief, status = f"(The files could not be read: {error})", Status.FAILED
        _end(run, now, Observation(work.brief, status, code=code))
        self._mark(work, StepState.DONE, lambda step: step.id == 1)

    async def _use_built_in_methods(self, work: GoalWork) -> None:
        """Have the built-in methods make the files that the goal clearly asks for. Nothing leaves
        the artifact store, so nobody is asked."""
        run = work.run
        before = [entry for entry in run.done_by(0) if entry.branch == BUILT_IN]
        if before:
            await self._take_built(work, before[-1].artifacts)
        if before or work.rounds:
            return
        # Two files of the same content are one for code.
        files = list(dict.fromkeys((*run.context.attachments, *work.files)))
        plan = await self.built_in.plan(run, files)
        asks = all(each.kind is ResultKind.ANSWER for each in work.expected)
        if plan is None or plan.answers != asks:
            return
        now = _begin(run, BUILT_IN, tr("Do it with the built-in methods"), "")
        made = await self.built_in.carry_out(run, plan)
        await self._take_built(work, made)
        status = Status.DONE if work.built else Status.FAILED
        other = tr("This is not what the goal asks for, so it is done in another way.")
        words = _sentences(work.built) if work.built else other
        _end(run, now, Observation(words, status, tuple(work.built)))

    async def _take_built(self, work: GoalWork, made: Sequence[Artifact]) -> None:
        await asyncio.to_thread(work.take_built, made)
        left = {each.clause for each in work.expected}
        done = {each.clause.casefold() for each in work.asked if each.clause not in left}
        self._mark(work, StepState.DONE, lambda step: step.text.casefold() in done)

    async def _run_own(self, run: GoalRun, code: str) -> tuple[str, str]:
        """Run a script that only reads; return what it printed, and the text of its `RESULT_FILE`.
        Raises JarvisError."""
        script = Script(code)
        to = await asyncio.to_thread(self.store.workdir)
        try:
            ran = await self.workshop.bench(run).run(
                script,
                approved=script.sha256,
                to=to,
                timeout=LOOK_TIMEOUT,
                report=lambda text: None,
            )
            made = [item.path for item in ran.outcome.made if item.title == RESULT_FILE]
            text = await asyncio.to_thread(made[0].read_text, "utf-8") if made and made[0] else ""
            return ran.outcome.printed, text
        finally:
            await asyncio.to_thread(self.store.discard, to)

    async def _read(self, work: GoalWork) -> None:
        """Have the reader of tables answer what the goal asks. It changes nothing and takes less
        than a second, so it is not a round."""
        asked = [each.clause for each in work.expected if each.kind is ResultKind.ANSWER]
        made = {item.title for item in work.built}
        files = [item for item in work.files if item.title not in made]
        if not asked or not files or any(item.kind is not Kind.TABLE for item in files):
            return
        answers = []
        for question in (each for clause in asked for each in questions(clause)):
            try:
                answers.append(await self.read_tables(question, files))
            except JarvisError as error:
                work.run.live.trace(f"The tables could not be read for “{question}”: {error}")
                return
        if all(answers):
            work.reading = answers

    async def _confirm_reading(self, work: GoalWork) -> None:
        """Have queries written for what the reader of tables answers. If they say the same, no
        script is needed for it."""
        for part, said in work.read_parts():
            while not await asyncio.to_thread(work.confirms_reading, part, said):
                if len(work.queries(part)) >= READING_QUERIES:
                    return
                await self._query(work, part)
        if work.reading:
            work.take_reading()

    async def _query(self, work: GoalWork, expected: ExpectedResult) -> None:
        """Let the LLM write a query for a part of the goal, and run it."""
        run, before = work.run, work.queries(expected)
        now = _begin(run, QUERY, purpose_of(expected), "")
        query = ""
        try:
            if not work.tables:
                work.tables, _ = await self._run_own(run, describe_code(work.queried))
            query = await run.interrupts.branch(self._write_query(work, expected, before))
            found = await self._found(work, query, before)
        except StoppedError:
            await _ask_what_to_change(run, now)
            return
        except JarvisError as error:
            found = str(error)
        wrong = found if isinstance(found, str) else wrong_rows(expected, found[1])
        if not wrong:
            work.rows[now.number] = QueryResult(*found)
        told = wrong or json.dumps(found[1], ensure_ascii=False)[:SHOWN_CHARS]
        _end(run, now, Observation(told, Status.FAILED if wrong else Status.DONE, code=query))

    async def _found(self, work: GoalWork, query: str, before: Sequence[LogEntry]) -> Any:
        """Return the columns and rows of a query, or a text that says why it has none. Raises
        JarvisError."""
        if not query:
            return NO_QUERY
        if any(_same_code(query, each.code) for each in before):
            return SAME_QUERY
        return (await self._rows(work, [query]))[0]

    async def _write_query(
        self, work: GoalWork, expected: ExpectedResult, before: Sequence[LogEntry]
    ) -> str:
        """Return the LLM's query, if possible another one than `before`. Raises what `_answer`
        raises."""
        kinds = {file_kind(name) for name in work.queried}
        examples = [
            each
            for each in json.loads(self.prompts.read("query_examples.json")[0])
            if each["kind"] in kinds
        ]
        system = self.prompts.template("code_query").text
        query = ""
        for warmer in (False, True):
            prompt = query_prompt(
                system,
                examples,
                work.tables,
                expected,
                before,
                work.run.goal.id,
                form=work.form_of(expected) if before else "",
                warmer=warmer,
            )
            query = parse_query(await self._answer(work, await self._llm(), prompt))
            if not any(_same_code(query, each.code) for each in before):
                break
        return query

    async def _rows(self, work: GoalWork, queries: Sequence[str]) -> list[Any]:
        """Return what queries return: rows, or an error as text. Raises JarvisError."""
        printed, text = await self._run_own(work.run, query_code(work.queried, queries))
        return json.loads(text) if text else [one_line(printed, limit=300)] * len(queries)

    async def _query_again(self, work: GoalWork) -> None:
        """Run the queries again that ran before a crash: the log has only their beginnings."""
        before = [
            each
            for each in work.run.done_by(0)
            if (each.branch, each.status) == (QUERY, Status.DONE)
        ]
        if before:
            try:
                rows = await self._rows(work, [each.code for each in before])
            except JarvisError:  # others will be written
                return
            work.rows |= {
                each.number: QueryResult(*found)
                for each, found in zip(before, rows, strict=True)
                if isinstance(found, list)
            }

    def _stop_reason(self, work: GoalWork) -> str:
        """Return why there is no other round, as a sentence; "" if there is one."""
        rounds = work.rounds
        if len(rounds) >= MAX_ROUNDS or len(work.results) >= MAX_RESULTS:
            return tr("I tried it {count} times.", count=len(rounds))
        if work.run.seconds >= MAX_SECONDS:
            return tr("It took too long.")
        if len(rounds) > 1 and {each.branch for each in rounds[-2:]} == {THINK}:
            return one_line(rounds[-1].observation, limit=300)
        return ""

    async def _round(self, work: GoalWork) -> None:
        """Let the LLM write a script or a question, and take it on."""
        run = work.run
        try:
            code, question = await run.interrupts.branch(self._write(work))
            if code and any(_same_code(each.code, code) for each in work.rounds):
                code, question = await run.interrupts.branch(self._write(work, warmer=True))
        except StoppedError:
            await _ask_what_to_change(run, _begin(run, THINK, tr("Write a script"), ""))
            return
        except JarvisError as error:
            now = _begin(run, THINK, tr("Write a script"), "")
            _end(run, now, Observation(str(error), Status.FAILED, trusted=True))
            return
        if code:
            await self._run_script(work, code)
        elif question and sum(each.branch == ASKS for each in work.rounds) < MAX_QUESTIONS:
            now = _begin(run, ASKS, question, "")
            reply = (await run.live.ask(question)).strip()
            if reply:
                run.record_answer(question, reply)
            _end(run, now, Observation(reply or NOBODY, trusted=True))
        else:
            now = _begin(run, THINK, tr("Write a script"), "")
            _end(run, now, Observation(NO_SCRIPT, Status.FAILED, trusted=True))

    async def _write(self, work: GoalWork, *, warmer: bool = False) -> tuple[str, str]:
        """Return the LLM's script and question; `warmer` is for another script than before. Raises
        what `_answer` raises."""
        llm = await self._llm()
        prompt = self._prompt(work, llm)
        if warmer:
            prompt = replace(prompt, temperature=WARM_TEMPERATURE)
        code, question = parse_reply(await self._answer(work, llm, prompt))
        return repaired(code), question

    async def _llm(self) -> LLM:
        """Return the chosen LLM. Raises UnavailableError if there is none."""
        if llm := await self.llms.current():
            return llm
        raise UnavailableError(tr("There is none now."), hint=tr("jarvis-desktop doctor says why."))

    async def _answer(self, work: GoalWork, llm: LLM, prompt: Prompt) -> str:
        """Return the LLM's reply. Raises what it raises, and ExpertError if it is too slow."""
        try:
            async with asyncio.timeout(self.timeout):
                text = await answer(llm, prompt)
        except TimeoutError as error:
            raise ExpertError(tr("The language model took too long.")) from error
        work.run.spend(0, prompt.tokens + estimated_tokens(text))
        work.run.live.trace(f"{llm.name} wrote {len(text)} characters.")
        return strip_reasoning(text)

    def _prompt(self, work: GoalWork, llm: LLM) -> Prompt:
        """Build the prompt. Its beginning stays the same from round to round, for the cache of the
        server."""
        run, thread = work.run, work.open
        system = self.prompts.template("code_loop").text
        if functions := needed_functions(run.goal.text, work.names):
            experts = self.prompts.template("code_experts").text
            system = f"{system}\n\n{experts_prompt(experts, functions)}"
        examples = [
            each
            for each in json.loads(self.prompts.read("code_examples.json")[0])
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
        task = _task(brief or "(none)", work.left, instructions(work.expected))
        if lessons := list(
            _lessons(work.rounds[: len(work.rounds) - len(thread.rounds)], run.goal.text)
        ):
            task += "\nMind: " + "; ".join(lessons[:MAX_LESSONS]) + "."
        if work.read_parts() and work.results:
            task += f"\n{FORM}{work.form}"
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

    async def _run_script(self, work: GoalWork, code: str) -> None:
        """Run a script, unless it is known already, and note what is missing."""
        run, thread = work.run, work.open
        purpose = one_line(run.goal.text, limit=200)
        if work.results:
            purpose = tr("Do it again, in another way.")
        now = _begin(run, RUNS_CODE, purpose, code)
        if any(_same_code(each.code, code) for each in thread.rounds):
            _end(run, now, Observation(SAME_SCRIPT, Status.FAILED, code=code, trusted=True))
            return
        if not thread.rounds and work.rounds:
            await self.workshop.bench(run).start_over()
        try:
            found = await run.interrupts.branch(self.run_code.run(run, code, purpose))
        except StoppedError:
            await _ask_what_to_change(run, now)
            return
        if found.status is not Status.DONE:
            failed = (
                explain_error(found.error, code, work.names, work.brief)
                if found.error
                else found.text
            )
            slipped = slips(code, run.goal.text)
            _end(run, now, replace(found, text="\n".join([failed, *slipped])))
            return
        so_far = ScriptThread((*thread.rounds, _entry(run, now, found)))
        lacking = await asyncio.to_thread(work.problems, code, found.printed, so_far.made)
        if lacking:
            told = f"{found.printed}\n{LACKS}{'; '.join(lacking)}".strip()
            _end(run, now, replace(found, text=told, status=Status.PARTLY))
        else:
            _end(run, now, replace(found, text=found.printed))

    def _finish(self, work: GoalWork, best: ScriptThread) -> Observation:
        """Answer with what was computed."""
        self._mark(work, StepState.DONE)
        printed, made = best.result
        return _answer(work, [_told(work, printed, made, work.told)], Status.DONE, made)

    async def _by_queries(self, work: GoalWork) -> Result | None:
        """Return what queries give if every script failed, None if not all that is expected. A
        small LLM writes a right query more often than a right script."""
        tables = [each for each in work.expected if each.kind is ResultKind.TABLE]
        parts = [part for each in work.expected for part in parts_of(each)]
        kinds = {ResultKind.TABLE, ResultKind.ANSWER}
        if not work.queried or any(each.kind not in kinds for each in parts):
            return None
        found = []
        for part in parts:
            if not work.returned(part):
                await self._query(work, part)
            found += [(part, each) for each in work.returned(part)[:1] if each.rows]
        if len(found) < len(parts):
            return None
        told = [format_rows(each) for part, each in found if part not in tables]
        files = [(part.name or "answer.csv", each) for part, each in found if part in tables]
        return "\n\n".join(told), await asyncio.to_thread(self._written, files)

    def _written(self, tables: Iterable[tuple[str, QueryResult]]) -> Sequence[Artifact]:
        """Return the tables with these rows, as CSV, in the store."""
        folder = self.store.workdir()
        try:
            made = []
            for number, (name, found) in enumerate(tables):
                path = folder / f"{number}.csv"
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows([found.columns, *found.rows])
                name = str(PurePath(name).with_suffix(".csv"))
                made.append(self.store.keep(Artifact(Kind.TABLE, path=path, name=name)))
            return made
        finally:
            self.store.discard(folder)

    def _give_up(self, work: GoalWork, reason: str, instead: Result | None) -> Observation:
        """Say honestly what there is, `instead` if no script came to a result."""
        result = work.results[0].result if work.results else instead
        # A script that says something else than the reader of tables is not to be believed.
        known = "\n\n".join(work.reading)
        partly = [each for each in threads(work.rounds) if each.rounds[-1].status is Status.PARTLY]
        if result:
            self._mark(work, StepState.DONE, lambda step: step.id < _last(work))
            self._mark(work, StepState.FAILED)
            told = [
                tr(
                    "I made this, but could not confirm it by computing it in a second way. "
                    "Please look at it before you use it."
                ),
                _told(work, *result, known),
            ]
            return _answer(work, told, Status.PARTLY, result[1])
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
                _told(work, printed, made, known),
            ]
            return _answer(work, told, Status.PARTLY, made)
        text = tr("I did not reach this goal. {reason}", reason=reason)
        if last := work.rounds[-1].observation if work.rounds else "":
            text += " " + tr("The last problem was: {problem}", problem=one_line(last, limit=300))
        if not (known or work.built):
            return _answer(work, [text], Status.FAILED, ())
        told = [text, tr("This is what there is:"), _told(work, "", (), known)]
        return _answer(work, told, Status.PARTLY, ())

    def _mark(
        self,
        work: GoalWork,
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


def _last(work: GoalWork) -> int:
    outline = work.run.frames[0].outline
    return outline.steps[-1].id if outline else 0


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


def _answer(
    work: GoalWork, told: Sequence[str], status: Status, made: Sequence[Artifact]
) -> Observation:
    """Answer the user with paragraphs and files, and note it as the last round."""
    run, text = work.run, "\n\n".join(told)
    run.live.say_apart(text)
    found = Observation(text, status, tuple(work.with_built(made)), ends=True)
    _end(run, _begin(run, "final_answer", text, ""), found)
    return found


def _told(work: GoalWork, printed: str, made: Sequence[Artifact], confirmed: str) -> str:
    """Return a result as the user reads it: what the built-in methods tell, a `confirmed` answer or
    what was printed, and the names of the files."""
    files = work.with_built(made)
    names = ", ".join(f"“{one_line(item.title)}”" for item in files[:MAX_NAMED])
    more = f" (+{len(files) - MAX_NAMED})" if len(files) > MAX_NAMED else ""
    parts = [
        _sentences(work.built),
        confirmed or printable(answer_in(printed)),
        tr("Made: {names}.", names=f"{names}{more}") if files else "",
    ]
    return "\n\n".join(filter(None, parts)) or tr("Done.")


def _sentences(made: Sequence[Artifact]) -> str:
    return "\n".join(item.text for item in made if item.text)


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


def nearest_examples(
    examples: Sequence[Mapping[str, Any]], goal: str, work: GoalWork
) -> Sequence[Mapping[str, Any]]:
    """Return the examples, those that are most like a goal first: by what is wanted, the kinds of
    its files, and its words."""
    wants = {each.kind.value for each in work.expected}
    counts = Counter(map(file_kind, work.names))
    kinds = {kind if count == 1 else f"{kind}s" for kind, count in counts.items()}
    words = set(re.findall(r"\w{3,}", goal.casefold()))

    def likeness(example: Mapping[str, Any]) -> float:
        same = wants & set(example["wants"])
        other = wants ^ set(example["wants"])
        near = len(words & set(re.findall(r"\w{3,}", example["goal"].casefold())))
        return 2 * len(same) - len(other) + 2 * len(kinds & set(example["kinds"])) + near / 10

    return sorted(examples, key=likeness, reverse=True)


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


def _lessons(rounds: Iterable[LogEntry], goal: str) -> Iterator[str]:
    """Yield what was wrong with scripts, so that another one does not repeat it: what they lacked,
    the advice beneath their errors, or their slips. Its author sees none of the code."""
    told = set[str]()
    for each in rounds:
        if each.status is Status.PARTLY:
            found = each.observation.partition(LACKS)[2].split("; ")
        elif each.status is Status.DONE:
            found = [*slips(each.code, goal)]
        else:
            found = _advice.split(each.observation)[1:] if each.code else []
        for lesson in found:
            lesson = " ".join(lesson.split()).rstrip(".")
            if lesson and lesson not in told:
                told.add(lesson)
                yield lesson


_advice = re.compile(r"^\w*(?:Error|Exception)\b.*\n", re.MULTILINE)


def _same_code(one: str, two: str) -> bool:
    """Return whether two scripts do the same: comments and blanks do not count."""
    return bool(one) and _bare(one) == _bare(two)


def _bare(code: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"(?m)^\s*#.*$|\s+#\s.*$", "", code))
