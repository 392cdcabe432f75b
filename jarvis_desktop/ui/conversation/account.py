"""Who did what for an answer: experts, where they ran, how long, what it cost, and what failed on
the way. Only what the turn knows is told."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.result import Attempt, Status, TaskResult
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.conversation.markdown import Grid
from jarvis_desktop.ui.conversation.round_view import branch_words, who
from jarvis_desktop.ui.look import phrases

LONGEST = 300
"""Characters of a reason that are shown."""

OUTCOMES = {
    Status.DONE: mark("done"),
    Status.PARTLY: mark("partly done"),
    Status.FAILED: mark("failed"),
    Status.SKIPPED: mark("left out"),
    Status.CANCELLED: mark("stopped"),
}

Line = tuple[str, str, str, str, str, str]
"""Step, expert, outcome, where, time, cost."""


def account(turn: Turn) -> Grid | None:
    """A table with a line for each try; None where nothing was done yet."""
    lines = [*_of_tasks(turn), *_of_rounds(turn)]
    if not lines:
        return None
    head = (tr("Step"), tr("Expert"), tr("Outcome"), tr("Where"), tr("Time"), tr("Cost"))
    return Grid((head, *lines), ("", "", "", "", "right", "right"), plain=True)


def where(candidate: Candidate) -> str:
    """On which computer it ran, and by whose hands."""
    if candidate.remote:
        if candidate.provider:
            return tr("API of {provider}", provider=one_line(candidate.provider, limit=40))
        return tr("another computer")
    return tr("built in") if candidate.built_in else tr("this computer")


def _of_tasks(turn: Turn) -> Iterator[Line]:
    titles = {task.id: phrases.upper_first(task.type.called) for task in turn.plan or ()}
    for task_id in sorted({*turn.results, *turn.failed_attempts}):
        title = one_line(titles.get(task_id, tr("Step {number}", number=task_id + 1)), limit=60)
        result = turn.results.get(task_id)
        attempts = (result.attempts if result else ()) or turn.failed_attempts.get(task_id, ())
        for number, attempt in enumerate(attempts):
            last = number == len(attempts) - 1
            yield _tried("" if number else title, attempt, result if last else None)
        if result and not attempts:
            yield title, "–", _outcome(result), "–", "–", "–"


def _tried(title: str, attempt: Attempt, result: TaskResult | None) -> Line:
    candidate = attempt.candidate
    if attempt.error:
        failed = tr("failed: {reason}", reason=one_line(attempt.error, limit=LONGEST))
        outcome = failed if result else tr("{failed} Then the next was tried.", failed=failed)
    else:
        outcome = _outcome(result) if result else tr("done")
    return (
        title,
        one_line(candidate.expert.id, limit=60),
        outcome,
        where(candidate),
        phrases.seconds(attempt.seconds),
        tr("unknown") if candidate.remote else tr("none"),
    )


def _outcome(result: TaskResult) -> str:
    word = tr(OUTCOMES[result.status])
    if not result.reason or result.status is Status.DONE:
        return word
    return tr("{state}: {reason}", state=word, reason=one_line(result.reason, limit=LONGEST))


def _of_rounds(turn: Turn) -> Iterator[Line]:
    for item in turn.rounds.values():
        spent = phrases.seconds(item.seconds) if item.seconds else "–"
        yield branch_words(item), who(item.path), _ended(item), "–", spent, "–"


def _ended(item: Round) -> str:
    return tr(OUTCOMES[item.status]) if item.status else "–"
