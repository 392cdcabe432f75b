"""A terminal as a front end: the answer on stdout as it comes, progress on stderr, questions
where someone can answer them."""

from __future__ import annotations

from jarvis_desktop.cli import code_review, outline_review, output
from jarvis_desktop.cli.keyboard import KEYBOARD, somebody_is_there
from jarvis_desktop.cli.rounds import Rounds
from jarvis_desktop.core import events
from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.frontend import Review
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.turn import Turn


class TerminalFrontend:
    """Shows a turn as it runs."""

    def __init__(
        self, *, quiet: bool = False, events_as_json: bool = False, consent: bool | None = None
    ) -> None:
        """`quiet` shows nothing but the finished turn, as JSON. `consent` answers every question
        with yes, where the command has a --yes for it; without it only a person at a terminal can.
        It is no word on a plan or on code: these only a person who has seen them accepts."""
        self._quiet = quiet
        self._events_as_json = events_as_json
        self._consent = consent
        self._in_advance = "" if consent is None else "; --yes agrees in advance"
        self._titles: dict[int, str] = {}
        self._percent: dict[int, int] = {}
        self._rounds = Rounds()
        self._in_answer = False
        """Whether the cursor stands behind a piece of the answer."""
        self._unshown: OSError | None = None

    def show(self, event: events.Event) -> None:
        """The answer piece by piece, and one line for what else a person would want to know."""
        try:
            self._show(event)
        except OSError as error:  # no reason to end the turn
            self._unshown = self._unshown or error

    def end(self, turn: Turn) -> None:
        """What is shown of a turn when it is over: where its files are, or all of it as JSON.

        Raises OSError where something could not be shown before.
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
            # A blank line parts it from what the answer said before; here a new line does.
            text = event.text if self._in_answer else event.text.lstrip("\n")
            self._in_answer = self._in_answer or bool(text)
            output.say_piece(text)
        elif isinstance(event, events.TurnFinished):
            self._end_answer()
        elif line := self._line(event):
            if self._in_answer and output.is_on_screen():
                if isinstance(event, events.Speaking):
                    return  # it was read already, and would tear apart what is being written
                self._end_answer()
            output.note(line)

    def _end_answer(self) -> None:
        if self._in_answer:
            self._in_answer = False
            output.say("")

    async def review(self, plan: Plan) -> Plan | None:
        """A command's plan runs as it is; `jarvis-desktop plan` shows it without running it."""
        return plan

    async def confirm(self, question: str) -> bool:
        """Ask on the terminal; No where nobody is there."""
        if self._consent:
            return True
        if not somebody_is_there():
            output.note(f"{question} [y/N] (nobody is there to answer{self._in_advance})")
            return False
        answer = await KEYBOARD.ask(f"{question} [y/N]")
        return answer.lower() in ("y", "yes")

    async def ask(self, question: str) -> str:
        """Ask on the terminal; "" where nobody is there."""
        if not somebody_is_there():
            output.note(f"{question} (nobody is there to answer)")
            return ""
        self._end_answer()
        said = await KEYBOARD.ask(question)
        self._rounds.heard(said)
        return said

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Show the plan of a goal and ask about it; None where nobody is there."""
        self._end_answer()
        review = await outline_review.review_outline(outline, why)
        if review is not None and not review.comment:
            self._rounds.accepted(review.outline)
        return review

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Show code and ask about it; No where nobody is there."""
        self._end_answer()
        return await code_review.review_code(code)

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
                self._titles = {task.id: task.type.title for task in event.plan}
                return "\n".join(_planned(event.plan))
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


def _planned(plan: Plan) -> list[str]:
    lines = []
    for task in plan:
        after = ", ".join(str(task_id) for task_id in task.depends_on)
        lines.append(f"plan    {task.id} {task.type.title}" + (f"  after {after}" if after else ""))
    return lines
