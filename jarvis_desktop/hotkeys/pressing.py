"""What every way to have a key shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jarvis_desktop.core.hearing import HotkeyStatus

Changed = Callable[[HotkeyStatus], None]
"""Is told on the loop how the key is had from now on."""


class Way(Protocol):
    """One way to have the key."""

    async def bind(self, keys: Pressing) -> HotkeyStatus:
        """Tell `keys`, on the loop, what happens with it. Raises UnavailableError that says why
        it cannot be had in this way."""
        ...

    async def close(self) -> None:
        """Give it back."""
        ...


class Pressing:
    """Whether the key is down; tells presses and releases in turns. Belongs to the loop."""

    def __init__(self, press: Callable[[], None], release: Callable[[], None]) -> None:
        self.press, self.release = press, release
        self.is_down = False
        self.token = ""
        """By which the desktop lets a window come to the front for the last press."""

    def down(self, token: str = "") -> None:
        """It was pressed, or repeats itself."""
        if not self.is_down:
            self.is_down = True
            self.token = token
            self.press()

    def up(self) -> None:
        """It was let go, or nobody can tell any more."""
        if self.is_down:
            self.is_down = False
            self.release()
