"""Makes texts fit into the tokens that a prompt has for them, and shares these out.

Sums up the older rounds of a controller, so that its prompts do not grow with their number."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Sequence

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.memory import QUOTATION_MARKS, marked_off
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.goal import LogEntry
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer, estimated_tokens

CUT = "[…]"
_CUT_TOKENS = 6


def beginning(text: str, tokens: int) -> str:
    """The text, without its end where it is longer than so many tokens."""
    if fits(text, tokens):
        return text
    kept = text[: _length(text, tokens - _CUT_TOKENS)].rstrip()
    return f"{kept} {CUT}" if tokens > _CUT_TOKENS else ""


def both_ends(text: str, tokens: int) -> str:
    """The text, without its middle where it is longer than so many tokens: the end of what a
    program printed often says most."""
    if fits(text, tokens):
        return text
    room = tokens - 2 * _CUT_TOKENS
    head = text[: _length(text, room * 2 // 5)].rstrip()
    tail = text[::-1][: _length(text[::-1], room - room * 2 // 5)][::-1].lstrip()
    return f"{head}\n{CUT}\n{tail}" if room > 0 else beginning(text, tokens)


def first_lines(lines: Sequence[str], tokens: int) -> list[str]:
    """As many of the lines from the first on as there is room for; then how many more there are."""
    if fits("\n".join(lines), tokens):
        return list(lines)
    kept: list[str] = []
    room = tokens - 2 * _CUT_TOKENS
    for line in lines:
        room -= estimated_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return [*kept, f"{CUT} {len(lines) - len(kept)} more"] if tokens > 2 * _CUT_TOKENS else []


def last_lines(lines: Sequence[str], tokens: int) -> list[str]:
    """The same from the last line on, in their order."""
    return first_lines(lines[::-1], tokens)[::-1]


def fits(text: str, tokens: int) -> bool:
    """Whether it is no longer than so many tokens."""
    return len(text) <= 3 * max(0, tokens) and estimated_tokens(text) <= tokens


def share_tokens(wants: Sequence[tuple[float, int]], room: int) -> list[int]:
    """How many tokens each gets, of share and wish: what it wants, at least by its share of the
    room; what nobody takes goes to those that want more, the first of them first."""
    whole = sum(share for share, _ in wants)
    room = max(0, room)
    given = [min(want, int(room * share / whole)) for share, want in wants]
    left = room - sum(given)
    for at, (_, want) in enumerate(wants):
        more = min(left, want - given[at])
        given[at] += more
        left -= more
    return given


def _length(text: str, tokens: int) -> int:
    """How many of its first characters so many tokens are, at the most."""
    start = text[: 3 * max(0, tokens) + 3]  # each is at least a third of a token
    lengths = range(len(start) + 1)
    return max(0, bisect_right(lengths, tokens, key=lambda n: estimated_tokens(start[:n])) - 1)


log = logging.getLogger(__name__)

TEMPLATE = "agent_log"
MAX_SUMMARY_TOKENS = 400
"""Of a summary; of a small window a twentieth."""
ENTRY_TOKENS = 90
"""Of a round in a prompt."""
SUMMARIZED_ENTRY_TOKENS = 250
"""Of a round when it is summed up, where there is room."""


def summary_tokens(window: int) -> int:
    """How long a summary may be, for an LLM with such a window."""
    return min(MAX_SUMMARY_TOKENS, window // 20)


def log_tokens(window: int) -> int:
    """How long the rounds may be that are told one by one; when they are longer, the older half of
    them is summed up."""
    return window // 10


def format_round(entry: LogEntry, tokens: int = ENTRY_TOKENS) -> str:
    """A round in a line."""
    # A token is at least three letters here; what is longer is not read to its end.
    came = one_line(entry.observation[: 4 * tokens], limit=3 * tokens)
    line = f"{entry.number}. {entry.branch}: {entry.what} → {entry.status.value}: {came}"
    return beginning(line, tokens)


def recent_rounds(run: GoalRun, depth: int) -> Sequence[LogEntry]:
    """The rounds of a controller that no summary covers, oldest first."""
    summed = run.frames[depth].summed
    return [entry for entry in run.done_by(depth) if entry.number > summed]


async def summarize_rounds(
    run: GoalRun, depth: int, llm: LLM, prompts: Prompts, *, timeout: float
) -> None:
    """Take rounds that have become too many into the summary of the frame.

    Where the LLM fails, or takes longer than `timeout` seconds, each of them becomes a line.
    Raises StorageError where the memory cannot be written.
    """
    entries = recent_rounds(run, depth)
    sizes = [estimated_tokens(format_round(entry)) for entry in entries]
    if sum(sizes) <= log_tokens(llm.window):
        return
    kept = 0
    while sum(sizes[kept:]) > log_tokens(llm.window) // 2:
        kept += 1
    older = entries[:kept]
    text = await _retold(run, depth, older, llm, prompts, timeout)
    run.change(depth, summary=text, summed=older[-1].number)


async def _retold(
    run: GoalRun, depth: int, older: Sequence[LogEntry], llm: LLM, prompts: Prompts, timeout: float
) -> str:
    most, before = summary_tokens(llm.window), run.frames[depth].summary
    try:
        prompt = _prompt(run, depth, older, llm, prompts)
        async with asyncio.timeout(timeout):
            written = (await answer(llm, prompt)).strip()
        run.spend(depth, prompt.tokens + estimated_tokens(written))
        if written:
            return beginning(written, most)
    except (JarvisError, TimeoutError) as error:  # its message may quote what was said
        log.info("An LLM summed up no rounds: %s.", type(error).__name__)
    kept = beginning(before, most // 2)
    lines = last_lines(list(map(format_round, older)), most - estimated_tokens(kept))
    return "\n".join([kept, *lines]).strip()


def _prompt(
    run: GoalRun, depth: int, older: Sequence[LogEntry], llm: LLM, prompts: Prompts
) -> Prompt:
    template, frame = prompts.template(TEMPLATE), run.frames[depth]
    run.live.trace(f"Older rounds are summed up by the prompt {template.label}.")
    most = summary_tokens(llm.window)
    room = llm.window // 2
    each = min(SUMMARIZED_ENTRY_TOKENS, room // len(older))
    lines = "\n".join(format_round(entry, each) for entry in older)
    text = template.filled(
        task=beginning(frame.task, room // 8),
        marks=QUOTATION_MARKS,
        before=marked_off(beginning(frame.summary, most) or "(none)", run.goal.id),
        rounds=marked_off(lines, run.goal.id),
        words=str(most // 2),
    )
    return Prompt((Message(MessageRole.USER, text),), longest=most)
