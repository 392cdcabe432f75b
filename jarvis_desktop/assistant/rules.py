"""A rule by which something written is read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Rule:
    """Where `pattern` is found, `spoken` is said."""

    needs: frozenset[str]
    """One of these letters is in each text where it is found: quick to see."""
    pattern: re.Pattern[str]
    spoken: str | Callable[[re.Match[str]], str]


def rule(needs: str, pattern: str, spoken: str | Callable[[re.Match[str]], str]) -> Rule:
    """One rule; `needs` as a string of letters."""
    return Rule(frozenset(needs), re.compile(pattern), spoken)
