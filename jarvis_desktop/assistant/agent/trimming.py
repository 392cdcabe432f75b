"""Makes texts fit into the tokens that a prompt has for them, and shares these out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from jarvis_desktop.core.llm import estimated_tokens

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


def allotted(wants: Sequence[tuple[float, int]], room: int) -> list[int]:
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
