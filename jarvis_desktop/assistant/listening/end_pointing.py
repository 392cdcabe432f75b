"""Finds the end of what is said where no key tells it, from how likely somebody speaks."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.hearing import FRAME, RATE

SPEAKS = 0.5
STILL_SPEAKS = 0.35
"""Below this a frame is silence; the gap between the two is Silero's own hysteresis of 0.15."""
ENOUGH = 4
"""Frames of speech, 0.13 s, that a click or a cough does not have."""
FRAME_SECONDS = FRAME / RATE


class EndPointing:
    """`pause` seconds of silence after speech are its end; so are `patience` seconds in which
    nobody begins."""

    def __init__(self, *, pause: float, patience: float) -> None:
        self._pause = pause
        self._patience = patience
        self._spoken = 0
        self._silent = 0.0

    @property
    def begun(self) -> bool:
        """Whether somebody spoke."""
        return self._spoken >= ENOUGH

    def take(self, speech: Iterable[float]) -> bool:
        """Whether it has ended, after these frames."""
        for likely in speech:
            if likely >= SPEAKS:
                self._spoken += 1
                self._silent = 0.0
            elif likely < STILL_SPEAKS:
                self._silent += FRAME_SECONDS
                if not self.begun and self._silent >= self._pause:
                    self._spoken = 0  # what was loud for a moment was no word
        return self._silent >= (self._pause if self.begun else self._patience)
