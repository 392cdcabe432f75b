"""How an answer was made: who did what, where, for how long, at what cost, and what failed.

Only what the turn recorded is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Attempt, Candidate, Spent, Status, TaskResult
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.goal_view import branch_name, role_name
from jarvis_desktop.ui.conversation.markdown import MarkdownTable
from jarvis_desktop.ui.widgets import icons, labels
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, clear

MAX_REASON_CHARS = 300

OUTCOMES = {
    Status.DONE: mark("done"),
    Status.PARTLY: mark("partly done"),
    Status.FAILED: mark("failed"),
    Status.SKIPPED: mark("left out"),
    Status.CANCELLED: mark("stopped"),
}

Line = tuple[str, str, str, str, str, str]  # step, expert, outcome, where, time, cost


def attempts_table(turn: Turn) -> MarkdownTable | None:
    """A table with a row for each attempt; None if nothing was done yet."""
    lines = [*_of_tasks(turn), *_of_rounds(turn)]
    if not lines:
        return None
    head = (tr("Step"), tr("Expert"), tr("Outcome"), tr("Where"), tr("Time"), tr("Cost"))
    return MarkdownTable((head, *lines), ("", "", "", "", "right", "right"), plain=True)


def format_place(candidate: Candidate) -> str:
    """The place an attempt ran at, for display."""
    if candidate.own:
        return one_line(candidate.provider, limit=40)
    if candidate.remote:
        if candidate.provider:
            return tr("API of {provider}", provider=one_line(candidate.provider, limit=40))
        return tr("another computer")
    return tr("built in") if candidate.built_in else tr("this computer")


def _of_tasks(turn: Turn) -> Iterator[Line]:
    titles = {task.id: task.type.called for task in turn.plan or ()}
    for task_id in sorted({*turn.results, *turn.failed_attempts}):
        title = one_line(titles.get(task_id, tr("Step {number}", number=task_id + 1)), limit=60)
        result = turn.results.get(task_id)
        attempts = _attempts(turn, task_id)
        for number, attempt in enumerate(attempts):
            last = number == len(attempts) - 1
            yield _tried("" if number else title, attempt, result if last else None)
        if result and not attempts:
            yield title, "–", _outcome(result), "–", "–", "–"


def _tried(title: str, attempt: Attempt, result: TaskResult | None) -> Line:
    candidate = attempt.candidate
    if attempt.error:
        failed = tr("failed: {reason}", reason=one_line(attempt.error, limit=MAX_REASON_CHARS))
        outcome = failed if result else tr("{failed} Then the next one was tried.", failed=failed)
    else:
        outcome = _outcome(result) if result else tr("done")
    return (
        title,
        one_line(candidate.expert.id, limit=60),
        outcome,
        format_place(candidate),
        labels.seconds(attempt.seconds),
        _cost(attempt),
    )


def _cost(attempt: Attempt) -> str:
    candidate, spent = attempt.candidate, attempt.spent
    if candidate.own or not candidate.remote:
        return tr("free")
    costs = _costs(spent)
    if spent.dollars is None and not attempt.error:
        provider = one_line(candidate.provider, limit=40)
        known = provider and provider != "auto"
        costs.append(
            tr("price not reported by {provider}", provider=provider) if known else _unknown_price()
        )
    return ", ".join(costs) or "–"


def _unknown_price() -> str:
    return tr("price unknown")


def _costs(spent: Spent) -> list[str]:
    costs = []
    if spent.dollars is not None:
        costs.append(tr("${price}", price=_price(spent.dollars)))
    if spent.tokens:
        costs.append(trn("{count} token", "{count} tokens", spent.tokens))
    return costs


def _price(dollars: float) -> str:
    """Format a price with two significant digits: a call may cost a hundredth of a cent."""
    if not dollars or dollars >= 0.1:
        return f"{dollars:.2f}"
    return f"{dollars:.{1 - math.floor(math.log10(max(dollars, 1e-9)))}f}"


def format_api_calls(turn: Turn) -> str:
    """The number of API calls in a turn and their total cost, as far as known, or ""."""
    tries = [
        attempt
        for task_id in {*turn.results, *turn.failed_attempts}
        for attempt in _attempts(turn, task_id)
        if attempt.candidate.remote and attempt.candidate.backend == "api"
    ]
    if not tries:
        return ""
    spent = sum((attempt.spent for attempt in tries), Spent())
    # failed attempts do not report their number of calls
    calls = sum(attempt.spent.calls or 1 for attempt in tries)
    words = trn("{count} call of an API", "{count} calls of an API", calls)
    costs = _costs(spent)
    if not any(attempt.spent.dollars is not None for attempt in tries):
        costs.append(_unknown_price())
    elif any(attempt.spent.dollars is None and not attempt.error for attempt in tries):
        costs.append(tr("not all prices are known"))
    return tr("{calls}: {costs}.", calls=words, costs=", ".join(costs))


def _attempts(turn: Turn, task_id: int) -> tuple[Attempt, ...]:
    result = turn.results.get(task_id)
    return (result.attempts if result else ()) or turn.failed_attempts.get(task_id, ())


def _outcome(result: TaskResult) -> str:
    word = tr(OUTCOMES[result.status])
    if not result.reason or result.status is Status.DONE:
        return word
    return tr(
        "{state}: {reason}", state=word, reason=one_line(result.reason, limit=MAX_REASON_CHARS)
    )


def _of_rounds(turn: Turn) -> Iterator[Line]:
    for item in turn.rounds.values():
        spent = labels.seconds(item.seconds) if item.seconds else "–"
        yield branch_name(item), role_name(item.path), _ended(item), "–", spent, "–"


def _ended(item: Round) -> str:
    return tr(OUTCOMES[item.status]) if item.status else "–"


MAX_SOURCES = 12


def sources(turn: Turn) -> tuple[Artifact, ...]:
    """The files given to successful steps, each once."""
    found: dict[Path, Artifact] = {}
    for task in turn.plan or ():
        result = turn.results.get(task.id)
        if result and result.status is Status.DONE:
            for _, item in task.items():
                if isinstance(item, Artifact) and item.path and item.made_by is None:
                    found.setdefault(item.path, item)
    return tuple(found.values())


class SourceChips(QWidget):
    """The sources of an answer as chips that open them."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._drawn: tuple[Artifact, ...] = ()
        self._flow = FlowLayout(self, gap=6)
        self.hide()

    def draw(self, turn: Turn) -> None:
        """Show the sources of a finished answer."""
        known = sources(turn) if turn.reply and turn.status else ()
        if known == self._drawn:
            return
        self._drawn = known
        clear(self._flow)
        chips = [self._chip(artifact) for artifact in known[:MAX_SOURCES]]
        heading = Label(tr("Based on"), role="small")
        heading.setFixedHeight(
            chips[0].sizeHint().height() if chips else 0
        )  # in line with the chips
        for widget in (heading, *chips):
            self._flow.addWidget(widget)
        if len(known) > MAX_SOURCES:
            more = tr("and {count} more", count=len(known) - MAX_SOURCES)
            self._flow.addWidget(Label(more, role="small"))
        self.setVisible(bool(known))

    def _chip(self, artifact: Artifact) -> IconButton:
        name = one_line(artifact.title, limit=40)
        chip = IconButton(
            icons.FOR_KIND[artifact.kind],
            tr("Open {name}, on which the answer is based", name=name),
            kind="source",
            text=name.replace("&", "&&"),
            tip=tr("Open"),
        )
        chip.setIconSize(QSize(14, 14))
        chip.clicked.connect(lambda: self._actions.open(self, artifact))
        return chip
