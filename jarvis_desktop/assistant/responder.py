"""Writes the answer of a turn from its results, with no LLM: what came out, what failed and why."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn

SPEECH_TASK = "text-to-speech"
"""The task whose result is played rather than shown."""

_nouns = {
    Kind.IMAGE: "picture",
    Kind.AUDIO: "recording",
    Kind.VIDEO: "video",
    Kind.TABLE: "table",
    Kind.DOCUMENT: "document",
}


def outcome(turn: Turn) -> Status:
    """Done when every task was, partly when some were, failed when none was."""
    results = list(turn.results.values())
    done = sum(result.status is Status.DONE for result in results)
    if done == len(results):
        return Status.DONE
    asked = {task.id for task in turn.plan.answers} if turn.plan else set()
    answered = any(result.status is Status.DONE and result.task_id in asked for result in results)
    return Status.PARTLY if answered or done else Status.FAILED


def compose(turn: Turn) -> str:
    """The answer: each asked-for result, then what could not be done."""
    if turn.plan is None:
        return ""
    done = [
        (task, turn.results[task.id])
        for task in turn.plan.answers
        if _status(turn, task) is Status.DONE
    ]
    if not done:
        # Better the half that came out than nothing at all.
        done = [
            (task, turn.results[task.id])
            for task in turn.plan
            if _status(turn, task) is Status.DONE
        ][-1:]
    several = len(done) > 1
    parts = [_labelled(turn, task, result, several) for task, result in done]
    failed = [task for task in turn.plan if _status(turn, task) is Status.FAILED]
    skipped = [task for task in turn.plan if _status(turn, task) is Status.SKIPPED]
    for task in failed:
        parts.append(f"Not done: {task.type.title}. {turn.results[task.id].reason}")
    if skipped:
        titles = ", ".join(task.type.title for task in skipped)
        parts.append(f"Left out, because it needed that: {titles}.")
    return "\n\n".join(part for part in parts if part)


def _status(turn: Turn, task: Task) -> Status | None:
    result = turn.results.get(task.id)
    return result.status if result else None


def _labelled(turn: Turn, task: Task, result: TaskResult, several: bool) -> str:
    words = said(turn, task) if task.type.name == SPEECH_TASK else _describe(result.artifacts)
    return f"{_label(turn, task)}: {words}" if several else words


def _label(turn: Turn, task: Task) -> str:
    """The task's name, with the file it was done to where several tasks share the name."""
    title = task.type.title.capitalize()
    assert turn.plan is not None
    twins = [other for other in turn.plan.answers if other.type == task.type]
    names = [item.title for _, item in task.items() if isinstance(item, Artifact) and item.path]
    return f"{title} ({names[0]})" if len(twins) > 1 and names else title


def _describe(artifacts: tuple[Artifact, ...]) -> str:
    texts = [item.text for item in artifacts if item.text]
    if texts:
        return "\n".join(texts)
    names = [f"{_nouns.get(item.kind, 'result')} {item.title}" for item in artifacts]
    return f"Here is the {' and the '.join(names)}."


def said(turn: Turn, task: Task) -> str:
    """The text that a speech task spoke."""
    texts: list[str] = []
    for _, item in task.items():
        if isinstance(item, Ref):
            result = turn.results[item.task_id]
            texts += [made.text for made in result.of_kind((Kind.TEXT,)) if made.text]
        elif isinstance(item, Artifact):
            texts.append(item.text or "")
        else:
            texts.append(str(item))
    return "\n\n".join(texts)
