"""What is said of a turn besides its own texts: what is being done, and how it ended."""

from __future__ import annotations

from jarvis_desktop.assistant.responder import compose
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import phrases

LLM = "llm"
"""The backend whose texts are Markdown."""

_endings = {
    Status.DONE: mark("Done"),
    Status.PARTLY: mark("Partly done"),
    Status.FAILED: mark("Not done"),
    Status.SKIPPED: mark("Left out"),
    Status.CANCELLED: mark("Stopped"),
}
_timed = {
    Status.DONE: mark("Done in {time}"),
    Status.PARTLY: mark("Partly done in {time}"),
    Status.FAILED: mark("Not done in {time}"),
    Status.SKIPPED: mark("Left out in {time}"),
    Status.CANCELLED: mark("Stopped after {time}"),
}


def ending(turn: Turn) -> str:
    """How the turn ended, how long it took and who heard it."""
    if turn.status is None:
        return ""
    parts = [tr(_endings[turn.status])]
    if turn.finished:
        spent = (turn.finished - turn.started).total_seconds()
        if spent >= 0.05:
            parts = [tr(_timed[turn.status], time=phrases.seconds(spent))]
    if turn.heard_by:
        parts.append(tr("heard by {name}", name=one_line(turn.heard_by, limit=40)))
    return " · ".join(parts)


def doing(turn: Turn, *, asked: bool) -> str:
    """What is being done before it can be seen; `asked` where the person is to answer first."""
    if turn.agentic:
        return "" if asked else _thinking(turn)
    if turn.status is not None or turn.reply:
        return ""
    if turn.plan is None:
        return tr("Planning…") if turn.text else tr("Listening to the recording…")
    return tr("Writing the answer…") if all_ended(turn) else ""


def _thinking(turn: Turn) -> str:
    """What agent mode does between two rounds; "" where what it does can be seen."""
    if turn.status is not None or any(item.status is None for item in turn.rounds.values()):
        return ""
    return tr("Thinking about the next step…") if turn.outline else tr("Writing a plan…")


def all_ended(turn: Turn) -> bool:
    """Whether nothing of the plan is left to be done."""
    return not turn.running and all(task.id in turn.results for task in turn.plan or ())


def said(artifact: Artifact, reply: str) -> bool:
    """Whether a text is in the answer already, so that it need not be shown twice.

    The answer with single spaces for every run of them.
    """
    return artifact.text is not None and " ".join(artifact.text.split()) in reply


def is_plain(turn: Turn) -> bool:
    """Whether no LLM had a hand in the answer: then its stars and lines are no Markdown."""
    if turn.plan is None or not len(turn.plan) or turn.agentic or not turn.results:
        return False
    doers = [item.attempts[-1].candidate for item in turn.results.values() if item.attempts]
    if any(doer.backend == LLM for doer in doers) or not all_ended(turn):
        return False
    return compose(turn) == turn.reply


def spoken_name(turn: Turn) -> str:
    """What a screen reader says when it comes to the turn."""
    request = one_line(turn.text, limit=200) or tr("a request without words")
    if not turn.reply:
        return tr("You: {request}", request=request)
    answer = one_line(turn.reply, limit=400)
    return tr("You: {request} Answer: {answer}", request=request, answer=answer)
