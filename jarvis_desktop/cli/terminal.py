"""The terminal as a front end: answers on stdout, progress on stderr, and questions.

It also shows the rounds of a goal, and reviews of plans and code.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import KEYBOARD, edited, editor, somebody_is_there, written
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.goal import Outline, changes, outline_from_markdown
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Review
from jarvis_desktop.core.turn import OUTERMOST, Turn

INDENT = " " * 8
MAX_PRINTED_LINES = 40
"""Lines shown of the output of one round."""
MAX_OBSERVED_LINES = 6
"""Lines shown of its observation."""
LAST_OBSERVED_LINES = 4
"""How many of these are the last ones, if the end is more telling."""
MAX_LINE_CHARS = 200
"""The most characters of such a line."""
SHOWN_BRANCHES = {"ask_user", "intermediate_answer", "final_answer"}
"""Branches whose words are shown by themselves: questions and answers."""
SILENT_BRANCHES = SHOWN_BRANCHES | {"update_plan", "finish"}
"""Branches that need no line when they are done, since all of it was shown."""

RoundEvent = (
    events.GoalTaken
    | events.OutlineChanged
    | events.RoundStarted
    | events.RoundProgress
    | events.RoundEnded
)


class GoalProgress:
    """Formats the events of one goal, in order."""

    def __init__(self) -> None:
        self._outlines: dict[str, Outline] = {}
        self._open: dict[int, _OpenRound] = {}
        self._files: set[Path] = set()
        """The files whose paths were shown."""

    def accepted(self, outline: Outline) -> None:
        """Record that the user has just read and accepted this plan."""
        self._outlines[OUTERMOST] = outline

    def heard(self, words: str) -> None:
        """Record that the user has just typed this."""
        self._seen(words.strip())

    def lines(self, event: RoundEvent) -> str:
        """The lines for an event; "" for none."""
        match event:
            case events.GoalTaken():
                return "goal    worked on step by step; Ctrl-C stops a step, and twice all of it"
            case events.OutlineChanged():
                return "\n".join(self._outline(event))
            case events.RoundStarted():
                return self._started(event)
            case events.RoundProgress():
                return "\n".join(self._progress(event.number, event.text))
            case events.RoundEnded():
                return "\n".join(self._ended(event))

    def _seen(self, *lines: str) -> None:
        """Record what is visible in the terminal, so that it is not repeated."""
        for each in self._open.values():
            each.seen.update(lines)

    def _outline(self, event: events.OutlineChanged) -> list[str]:
        """The steps that are new or different since the plan was last shown."""
        if not event.accepted:  # it is shown with the question
            return []
        before = self._outlines.get(event.path)
        self._outlines[event.path] = event.outline
        if before == event.outline:
            return []
        known = set(before) if before else set()
        told = [
            line
            for step, line in zip(event.outline, event.outline.markdown.split("\n"), strict=True)
            if step not in known
        ]
        who = "" if event.path == OUTERMOST else f"{event.path.rpartition('/')[2]}: "
        # No words are needed for changes that the steps show.
        if event.why and not (told and event.why == " ".join(changes(before, event.outline))):
            told.insert(0, one_line(event.why, limit=2 * MAX_LINE_CHARS))
        return [f"plan    {who}{line}" for line in told]

    def _started(self, event: events.RoundStarted) -> str:
        what = one_line(event.what, limit=MAX_LINE_CHARS)
        if (
            event.code
            and what
            and one_line(event.code, limit=MAX_LINE_CHARS).startswith(what.removesuffix("…"))
        ):
            what = f"a script of {len(event.code.strip().splitlines())} lines"
        self._seen(what)
        self._open[event.number] = _OpenRound(event.branch, event.path == OUTERMOST, {what})
        shown = "" if event.branch in SHOWN_BRANCHES else what
        who = event.path.rpartition("/")[2]
        return f"round   {event.number} {who}: {event.branch}  {shown}".rstrip()

    def _progress(self, number: int, text: str) -> list[str]:
        running = self._open.setdefault(number, _OpenRound())
        *whole, rest = (running.begun + text).split("\n")
        while len(rest) > MAX_LINE_CHARS:
            whole.append(rest[:MAX_LINE_CHARS])
            rest = rest[MAX_LINE_CHARS:]
        running.begun = rest
        return _format_printed(running, whole)

    def _ended(self, event: events.RoundEnded) -> list[str]:
        ended = self._open.pop(event.number, None) or _OpenRound()
        lines = _format_printed(ended, [ended.begun])
        said = (
            [] if ended.shows_outcome(event.status) else _new_lines(event.observation, ended.seen)
        )
        self._seen(*said)
        if said or event.status is not Status.DONE or ended.branch not in SILENT_BRANCHES:
            first, *others = said or [ended.branch]
            lines.append(f"{event.status.value:7} {event.number} {first}".rstrip())
            at_its_end = event.status is Status.FAILED or len(ended.printed) > MAX_PRINTED_LINES
            lines += [INDENT + line for line in _shorten(others, at_its_end=at_its_end)]
        files = {item.path: item for item in event.artifacts if item.path}
        lines += [_file(item) for path, item in files.items() if path not in self._files]
        self._files.update(files)
        return lines


@dataclass
class _OpenRound:
    """A round in progress."""

    branch: str = ""
    outermost: bool = False
    seen: set[str] = field(default_factory=set)
    """The lines shown since it began."""
    printed: list[str] = field(default_factory=list)
    begun: str = ""
    """The unfinished last line of its output."""

    def shows_outcome(self, status: Status) -> bool:
        """Whether the round itself has shown its outcome already."""
        if self.branch == "give_up":  # the answer says it
            return self.outermost
        return self.branch in SHOWN_BRANCHES | {"update_plan"} and status is not Status.FAILED


def _format_printed(running: _OpenRound, lines: Sequence[str]) -> list[str]:
    """The lines to show of a round's output."""
    room = MAX_PRINTED_LINES - len(running.printed)
    fresh = [one_line(line, limit=MAX_LINE_CHARS) for line in lines if line.strip()]
    running.printed += fresh[: max(room + 1, 0)]
    running.seen.update(fresh[: max(room, 0)])
    more = [f"{INDENT}…"] if room >= 0 and len(fresh) > room else []
    return [f"{INDENT}{line}" for line in fresh[: max(room, 0)]] + more


def _new_lines(observation: str, seen: Collection[str]) -> list[str]:
    """The lines not shown yet, without headings of lines that were."""
    lines = [one_line(line, limit=MAX_LINE_CHARS) for line in observation.split("\n")]
    lines = [line for line in lines if line]
    return [
        line
        for line, after in zip_longest(lines, lines[1:])
        if line not in seen and not (line.endswith(":") and after in seen)
    ]


def _shorten(lines: Sequence[str], *, at_its_end: bool) -> list[str]:
    room = MAX_OBSERVED_LINES - 1
    if len(lines) <= room:
        return list(lines)
    if not at_its_end:
        return [*lines[:room], "…"]
    return [*lines[: room - LAST_OBSERVED_LINES], "…", *lines[-LAST_OBSERVED_LINES:]]


def _file(artifact: Artifact) -> str:
    return f"{INDENT}{artifact.title}: {artifact.path}"


QUESTION = "Enter accepts the plan, e edits it, q stops; or say what should be different:"


async def review_outline(outline: Outline, why: str) -> Review | None:
    """The user's verdict on the plan; None to stop, or if nobody can answer."""
    shown = outline
    if why:
        output.note(f"plan    {why}")
    output.note(shown.markdown)
    if not somebody_is_there():
        output.note(
            "note    Nobody is there to accept the plan; jarvis-desktop agent --yes-plan accepts "
            "the first one in advance."
        )
        return None
    while True:
        said = await KEYBOARD.answer(QUESTION)
        if said is None or said.lower() in ("q", "quit"):
            return None
        if said.lower() in ("", "y", "yes"):
            return Review(shown)
        if said.lower() not in ("e", "edit"):
            return Review(shown, said)
        shown = await edit_outline(shown)
        output.note(shown.markdown)


async def edit_outline(outline: Outline) -> Outline:
    """The outline after the user edited it, or unchanged if the result is invalid."""
    try:
        if editor():
            text = await edited(outline.markdown + "\n", "plan.md")
        else:
            text = await written("the steps, one to a line; a number keeps a step what it is")
        return outline_from_markdown(text, outline)
    except JarvisError as error:
        output.note(f"note    {error} The plan is as it was.")
        return outline


INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that terminals do not show: controls, direction marks, surrogates, gaps."""
NOBODY_THERE = "Nobody is there to allow it."


async def review_code(code: CodeRequest) -> Verdict:
    """The user's verdict, with the code that they were shown last."""
    if not somebody_is_there():
        output.note(f"note    {_in_advance(code)}")
        return Verdict(Allow.NO, code.source, NOBODY_THERE)
    _show(code)
    while True:
        said = await KEYBOARD.answer(_question(code))
        match (said or "").lower():
            case "y" | "yes":
                return Verdict(Allow.ONCE, code.source)
            case "g" if _may_be_for_the_goal(code):
                return Verdict(Allow.GOAL, code.source)
            case "e" if editor():
                code = replace(code, source=await _changed(code.source))
                _show(code)
            case "g" | "e" as letter:
                output.note(f"note    “{letter}” is not possible here.")
            case "" | "n" | "no":
                return Verdict(Allow.NO, code.source)
            case _:
                return Verdict(Allow.NO, code.source, said or "")


def numbered(source: str) -> str:
    """The source with line numbers."""
    lines = _lines(source)
    width = max(4, len(str(len(lines))))
    return "\n".join(f"{number:{width}} │ {line}" for number, line in enumerate(lines, 1))


def _show(code: CodeRequest) -> None:
    protection = code.protection
    if not protection.sandboxed:
        output.warn("NOT SANDBOXED: this code can do all that you can do on this computer.")
        output.note(f"        {protection.why}")
    what = f"keep    {one_line(code.saves)} in the code library: " if code.saves else "code    "
    output.note(f"{what}{one_line(code.purpose, limit=300)}")
    if protection.sandboxed:
        output.note(f"        in the sandbox ({protection.name}), {_reach(code)}")
    elif code.hosts:
        output.note(f"        {_reach(code)}")
    output.note(_difference(code) if code.replaces else numbered(code.source))
    if hidden := _hidden(code.source):
        output.warn(f"It holds characters that cannot be seen: {', '.join(hidden)}.")
    if code.tests:
        output.note("tests   " + code.tests.strip().replace("\n", "\n        "))


def _reach(code: CodeRequest) -> str:
    return (
        f"it reaches {one_line(', '.join(code.hosts), limit=300)}"
        if code.hosts
        else "without network"
    )


def _difference(code: CodeRequest) -> str:
    before, after = _lines(code.replaces), _lines(code.source)
    names = ("as it is kept", "as it would be kept")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm="")) or "no difference"


def _lines(source: str) -> list[str]:
    """Lines as Python counts them; `splitlines` splits at more characters."""
    return source.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _hidden(source: str) -> list[str]:
    """The characters, as code points, that a terminal hides or changes."""
    odd = {
        letter
        for letter in source.replace("\r\n", "\n")
        if letter not in "\n\t" and unicodedata.category(letter) in INVISIBLE_CATEGORIES
    }
    return [f"U+{ord(letter):04X}" for letter in sorted(odd)]


def _may_be_for_the_goal(code: CodeRequest) -> bool:
    return code.protection.sandboxed and not code.saves


def _question(code: CodeRequest) -> str:
    ways = ["y keeps it" if code.saves else "y runs it"]
    if _may_be_for_the_goal(code):
        ways.append("g runs it and all that follows for this goal")
    if editor():
        ways.append("e edits it")
    return f"{', '.join(ways)}, n does not; or say what should be different:"


def _in_advance(code: CodeRequest) -> str:
    """Why the code does not run without a user, and how to allow it in advance."""
    if not code.protection.sandboxed:
        return (
            f"{NOBODY_THERE} Without a sandbox code runs only when somebody says so, each time. "
            f"{code.protection.why}"
        ).rstrip()
    if code.saves:
        return (
            f"Nobody is there to let {one_line(code.saves)} into the code library; with "
            "--allow-code sandboxed it gets there unasked, but not once files or pages were read."
        )
    hosts = "".join(f" --allow-host {one_line(host)}" for host in code.hosts)
    return f"{NOBODY_THERE} jarvis-desktop agent --allow-code sandboxed{hosts} does so in advance."


async def _changed(source: str) -> str:
    try:
        return await edited(source, "code.py")
    except JarvisError as error:
        output.note(f"note    {error} The code is as it was.")
        return source


class TerminalFrontend:
    """Shows a turn while it runs."""

    def __init__(
        self, *, quiet: bool = False, events_as_json: bool = False, consent: bool | None = None
    ) -> None:
        """`quiet` shows only the finished turn, as JSON. `consent` answers every question with
        yes, if the command has --yes; otherwise a user at a terminal must answer. It never
        accepts a plan or code."""
        self._quiet = quiet
        self._events_as_json = events_as_json
        self._consent = consent
        self._in_advance = "" if consent is None else "; --yes agrees in advance"
        self._titles: dict[int, str] = {}
        self._percent: dict[int, int] = {}
        self._rounds = GoalProgress()
        self._in_answer = False
        """Whether the cursor is behind a piece of the answer."""
        self._unshown: OSError | None = None

    def show(self, event: events.Event) -> None:
        """Show the answer piece by piece, and other events of interest as lines."""
        try:
            self._show(event)
        except OSError as error:  # not a reason to end the turn
            self._unshown = self._unshown or error

    def end(self, turn: Turn) -> None:
        """Show the files of a finished turn, or all of it as JSON.

        Raises OSError if something could not be shown before.
        """
        if self._unshown:
            raise self._unshown
        if self._events_as_json:
            return
        if self._quiet:
            output.write_json(turn)
            return
        for artifact in turn.artifacts:
            if artifact.path is not None:
                output.say(f"  {artifact.title}: {artifact.path}")

    def _show(self, event: events.Event) -> None:
        if self._events_as_json:
            output.write_line_of_json(event)
        elif self._quiet:
            return
        elif isinstance(event, events.ReplyChunk):
            # A blank line separates it from the answer so far; here it starts a new line.
            text = event.text if self._in_answer else event.text.lstrip("\n")
            self._in_answer = self._in_answer or bool(text)
            output.say_piece(text)
        elif isinstance(event, events.TurnFinished):
            self._end_answer()
        elif line := self._line(event):
            if self._in_answer and output.is_on_screen():
                if isinstance(event, events.Speaking):
                    return  # it was shown already, and would interrupt the text being written
                self._end_answer()
            output.note(line)

    def _end_answer(self) -> None:
        if self._in_answer:
            self._in_answer = False
            output.say("")

    async def review(self, plan: Plan) -> Plan | None:
        """Accept the plan: commands run it unseen, and `jarvis-desktop plan` shows it."""
        return plan

    async def confirm(self, question: str, *, yes: str = "") -> bool:
        """Ask on the terminal. Returns False without one."""
        if self._consent:
            return True
        if not somebody_is_there():
            output.note(f"{question} [y/N] (nobody is there to answer{self._in_advance})")
            return False
        answer = await KEYBOARD.ask(f"{question} [y/N]")
        return answer.lower() in ("y", "yes")

    async def ask(self, question: str) -> str:
        """Ask on the terminal. Without one the answer is ""."""
        if not somebody_is_there():
            output.note(f"{question} (nobody is there to answer)")
            return ""
        self._end_answer()
        said = await KEYBOARD.ask(question)
        self._rounds.heard(said)
        return said

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Show the plan of a goal and ask about it; None without a terminal."""
        self._end_answer()
        review = await review_outline(outline, why)
        if review is not None and not review.comment:
            self._rounds.accepted(review.outline)
        return review

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Show code and ask about it; No without a terminal."""
        self._end_answer()
        return await review_code(code)

    def _line(self, event: events.Event) -> str:
        match event:
            case events.ExpertsSelected():
                return "\n".join(
                    f"expert  {item.task_id}  {item.reason}" for item in event.selections
                )
            case events.Transcribed():
                return f"heard   “{event.text}”  ({event.engine})"
            case events.Noted():
                return f"note    {event.text}"
            case events.PlanAccepted() | events.Replanned() | events.PlanChanged():
                self._titles = {task.id: task.type.called for task in event.plan}
                return "\n".join(_format_plan(event.plan))
            case events.TaskStarted():
                title = self._titles.get(event.task_id, "")
                return f"start   {event.task_id} {title}  ({event.candidate.label})"
            case events.TaskProgress():
                return self._progress(event)
            case events.AttemptFailed():
                title = self._titles.get(event.task_id, "")
                return f"failed  {event.task_id} {title}: {event.attempt.error}"
            case events.Retrying():
                return f"again   {event.task_id} {event.words}"
            case events.TaskFinished():
                return self._finished(event.result)
            case events.Speaking():
                return f"speak   {event.text}" if event.text else ""
            case (
                events.GoalTaken()
                | events.OutlineChanged()
                | events.RoundStarted()
                | events.RoundProgress()
                | events.RoundEnded()
            ):
                return self._rounds.lines(event)
            case _:
                return ""

    def _progress(self, event: events.TaskProgress) -> str:
        if event.fraction is None:
            return f"        {event.task_id} {event.message}" if event.message else ""
        percent = int(event.fraction * 10) * 10
        if self._percent.get(event.task_id) == percent:
            return ""
        self._percent[event.task_id] = percent
        return f"        {event.task_id} {percent} % {event.message}".rstrip()

    def _finished(self, result: TaskResult) -> str:
        title = self._titles.get(result.task_id, "")
        if result.status is Status.DONE:
            seconds = sum(attempt.seconds for attempt in result.attempts)
            return f"done    {result.task_id} {title}  ({seconds:.2f} s)"
        if result.status is Status.FAILED and result.attempts:
            return ""
        return f"{result.status.value:7} {result.task_id} {title}: {result.reason}"


def _format_plan(plan: Plan) -> list[str]:
    lines = []
    for task in plan:
        after = ", ".join(str(task_id) for task_id in task.depends_on)
        lines.append(
            f"plan    {task.id} {task.type.called}" + (f"  after {after}" if after else "")
        )
    return lines
