"""What a press of the talk key means: pure, on times in seconds that the caller gives."""

from __future__ import annotations

from typing import Literal

from jarvis_desktop.core.hearing import TalkWay

TAP = 0.4
"""Seconds; a shorter press is a tap, which begins what the next press ends."""

Meaning = Literal["begin", "end", "let go"]
"""Begin to listen; what was said is whole; go on listening although nothing is held any more."""


class TalkKey:
    """The key, and whether what it began goes on.

    A key that is told as pressed while it is down is one that repeats itself; where its release
    was lost, the next press and release end what goes on.
    """

    def __init__(self, way: TalkWay) -> None:
        self.way = way
        """What it does, from its next press on."""
        self._since: float | None = None
        """When it went down; None while it is up."""
        self._on = False
        self._began = False
        """Whether the press that goes on is the one that began it."""

    @property
    def held(self) -> bool:
        """Whether listening ends with the release of a key that is down."""
        return self._on and self.way != "toggle" and self._since is not None and self._began

    def down(self, at: float) -> Meaning | None:
        """It went down."""
        if self._since is not None:
            return None
        self._since = at
        if self._on:
            self._on = self._began = False
            return "end"
        self._on = self._began = True
        return "begin"

    def up(self, at: float) -> Meaning | None:
        """It went up."""
        since, self._since = self._since, None
        if since is None or not (self._on and self._began) or self.way == "toggle":
            return None
        self._began = False
        if self.way == "auto" and at - since < TAP:
            return "let go"
        self._on = False
        return "end"

    def lost(self) -> None:
        """Nobody can tell any more whether it is down."""
        self._since = None

    def off(self) -> None:
        """It ended in another way: by a silence, a button, Esc."""
        self._on = self._began = False

    def on(self) -> None:
        """It was begun in another way; the next press ends it."""
        self._on, self._began = True, False
