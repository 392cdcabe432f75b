"""Scripts that are written without spaces, and signs that are no letters, as the index takes them.

FTS5 cuts a text into words at its spaces. A Chinese sentence would be one word, and an emoji none.
"""

from __future__ import annotations

import re

from jarvis_desktop.storage.filters import SIGN

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, kana
    "\u20a0-\u20cf\u2190-\u2bff\U0001f000-\U0001faff"  # currencies, arrows, symbols, emoji
)
RUN = re.compile(f"[{_UNSPACED}]+")
"""A run of such signs."""


def spelt(text: str) -> str:
    """All runs of a text, each sign a word of its own; "" where there are none.

    Between two runs stands a word of no meaning, so that no phrase reaches over both.
    """
    if text.isascii():
        return ""
    return f" {SIGN} ".join(spelt_run(run) for run in RUN.findall(text))


def spelt_run(run: str) -> str:
    """One run, sign by sign. What FTS5 would take for a space is written as its number."""
    return " ".join(sign if sign.isalpha() else f"{SIGN}{ord(sign):x}" for sign in run)
