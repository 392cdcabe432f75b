"""The child's side of live speech: goes on with what it knows, or asks for all of it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jarvis_desktop.speech.live import Heard


class Listener(Protocol):
    """An engine that hears speech which goes on."""

    def hear(self, pcm: bytes, *, final: bool) -> Heard:
        """Go on with this sound; `final` is the last one and gives the transcript.

        Raises InputError where nothing was said.
        """
        ...


class OneHearing:
    """The speech that is being heard in this process; another one takes its place."""

    def __init__(self) -> None:
        self._number = 0
        self._told = 0
        self._listener: Listener | None = None

    def listen(
        self, begin: Callable[[], Listener], number: int, told: int, pcm: bytes, final: bool
    ) -> Heard | None:
        """Go on with this sound; None where this process lacks the `told` bytes before it."""
        if told == 0:
            self._listener, self._number, self._told = begin(), number, 0
        if self._listener is None or (number, told) != (self._number, self._told):
            return None
        listener = self._listener
        if final:
            self._listener = None
        self._told += len(pcm)
        return listener.hear(pcm, final=final)
