"""What a press of Stop does: in agent mode it first ends what is being done, and only then all."""

from __future__ import annotations

from enum import StrEnum

from jarvis_desktop.core.events import Event, RoundStarted


class Stopping(StrEnum):
    """What the next press ends."""

    TURN = "turn"
    """The request, at once."""
    STEP = "step"
    """What a goal's controller does now; the person is asked what should be different."""
    REST = "rest"
    """The request, as its step was stopped already."""


class Brake:
    """Follows a turn, to know what the next press ends."""

    def __init__(self) -> None:
        self.next = Stopping.TURN
        self._heard = False

    def press(self) -> None:
        """A step is to end."""
        self.next, self._heard = Stopping.REST, False

    def take(self, event: Event) -> None:
        """Something happened in the turn."""
        if isinstance(event, RoundStarted):
            self.next = Stopping.STEP

    def asked(self, *, waits: bool) -> None:
        """A question came, or went; the one that comes after a press goes with its answer."""
        if self.next is Stopping.REST:
            if self._heard and not waits:
                self.next = Stopping.STEP
            self._heard = self._heard or waits
