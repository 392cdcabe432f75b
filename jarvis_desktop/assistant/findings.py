"""The results of a turn as material for an LLM: marked off, and as long as its prompt allows."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_desktop.assistant import responder
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.llm import estimated_tokens
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn

SHORTEST = 200
"""Bytes that every text gets, however little room there is."""


def told(turn: Turn, mark: str, *, budget: int) -> tuple[str, str]:
    """What every task of the turn's plan gave, in about `budget` tokens, between marks.

    Long texts are cut, the longest first. The second value says so for the trace; "" where
    nothing was cut.
    """
    assert turn.plan is not None
    asked = {task.id for task, _ in responder.shown(turn)}
    blocks = [(task, turn.results[task.id]) for task in turn.plan if task.id in turn.results]
    texts = [_text(result) if task.id in asked else "" for task, result in blocks]
    heads = [_head(task, result) for task, result in blocks]
    room = 3 * (budget - estimated_tokens("\n\n".join(heads)))
    sizes = [len(text.encode(errors="replace")) for text in texts]
    shares = _shares(sizes, room)
    parts = [
        head + (f"\ntext:\n{_cut(text, share)}" if text else "")
        for head, text, share in zip(heads, texts, shares, strict=True)
    ]
    cut = sum(share < size for share, size in zip(shares, sizes, strict=True))
    body = "\n\n".join(parts).replace(mark, "")
    left_out = f"Too long for the prompt, so cut: {cut} of the results." if cut else ""
    return f"<data-{mark}>\n{body}\n</data-{mark}>", left_out


def _head(task: Task, result: TaskResult) -> str:
    """A task and how it ended, without the texts it gave."""
    given = [item.title for _, item in task.items() if isinstance(item, Artifact) and item.path]
    lines = [f"{task.type.title}: {result.status.value}"]
    if given:
        lines.append(f"given: {_names(given)}")
    if result.status is Status.DONE:
        if result.attempts:
            lines.append(f"expert: {one_line(result.attempts[-1].candidate.label)}")
        if files := [item.title for item in result.artifacts if item.path]:
            lines.append(f"files: {_names(files)}")
    elif result.reason:
        lines.append(f"why: {one_line(result.reason, limit=400)}")
    return "\n".join(lines)


def _names(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - 20} more" if len(titles) > 20 else ""
    return ", ".join(one_line(title) for title in titles[:20]) + more


def _text(result: TaskResult) -> str:
    return "\n\n".join(item.text for item in result.artifacts if item.text)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """How many of its bytes each text may keep: short ones all, long ones equally many."""
    shares = [0] * len(sizes)
    texts = sorted((size, place) for place, size in enumerate(sizes) if size)
    for number, (size, place) in enumerate(texts):
        fair = max(room // (len(texts) - number), SHORTEST)
        shares[place] = min(size, fair)
        room -= shares[place]
    return shares


def _cut(text: str, size: int) -> str:
    whole = text.encode(errors="replace")
    if len(whole) <= size:
        return text
    kept = whole[:size].decode(errors="ignore")
    return f"{kept} … (the first {len(kept):,} of {len(text):,} characters)"
