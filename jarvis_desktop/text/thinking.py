"""Thinking in the answers of language models, between marks of their own."""

from __future__ import annotations

from enum import Enum, auto

THINKING_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""The marks of thinking in LLMs of DeepSeek, Qwen and others, Mistral, and OpenAI."""


class _State(Enum):
    BEGINNING = auto()
    THINKING = auto()
    HELD = auto()
    """It may be thinking whose beginning was not marked."""
    SPEAKING = auto()
    OVER = auto()
    """No marks are expected any more."""


class ThinkingFilter:
    """Leaves the thinking out of one answer, piece by piece.

    With `hold`, nothing is returned before the end of thinking whose beginning was not marked.
    """

    def __init__(self, hold: bool = False) -> None:
        self._hold = hold
        self._state = _State.BEGINNING
        self._end = ""
        self._unread = ""
        self._said = ""
        self.opens_unmarked = False

    def feed(self, piece: str) -> str:
        """Add a piece; return what is certainly part of the answer by now."""
        self._unread += piece
        text, before = "", None
        while self._state is not before:
            before = self._state
            text += self._step()
        self._said += text
        return text

    def rest(self) -> str:
        """Return the rest after the last piece."""
        thinking = self._state is _State.THINKING
        return "" if thinking or not self._unread.strip() else self._unread

    def _step(self) -> str:
        match self._state:
            case _State.BEGINNING:
                self._begin()
            case _State.THINKING:
                self._think()
            case _State.HELD | _State.SPEAKING:
                return self._speak()
            case _:  # no marks are expected any more
                return self._take(len(self._unread))
        return ""

    def _begin(self) -> None:
        self._unread = self._unread.lstrip()
        for start, end in THINKING_MARKS:
            if self._unread.startswith(start):
                self._state, self._end = _State.THINKING, end
                self._take(len(start))
                return
        if not any(start.startswith(self._unread) for start, _ in THINKING_MARKS):
            self._state = _State.HELD if self._hold else _State.SPEAKING

    def _think(self) -> None:
        place = self._unread.find(self._end)
        if place >= 0:
            self._state = _State.BEGINNING
            self._take(place + len(self._end))
        else:
            self._take(max(0, len(self._unread) - len(self._end)))

    def _speak(self) -> str:
        found = [
            (place, *pair) for pair in THINKING_MARKS if (place := self._unread.find(pair[1])) >= 0
        ]
        if not found:
            return "" if self._state is _State.HELD else self._take(self._certain())
        place, start, end = min(found)
        so_far = self._said + self._unread[:place]
        # An answer about such marks names both, the first one first, or quotes them.
        if start in so_far or so_far.count("`") % 2:
            self._state = _State.OVER
            return ""
        before = self._take(place)
        self._take(len(end))
        # What was returned cannot be taken back; what was held is dropped.
        said = "" if self._state is _State.HELD else before
        self.opens_unmarked = self._state is _State.HELD or "`" not in so_far
        self._state, self._hold = _State.BEGINNING, False
        return said

    def _certain(self) -> int:
        """How much of the unread text cannot begin a mark."""
        longest = max(len(end) for _, end in THINKING_MARKS)
        for place in range(max(0, len(self._unread) - longest + 1), len(self._unread)):
            if any(end.startswith(self._unread[place:]) for _, end in THINKING_MARKS):
                return place
        return len(self._unread)

    def _take(self, count: int) -> str:
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken
