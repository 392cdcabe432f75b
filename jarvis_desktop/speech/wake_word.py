"""Listens for the wake word with microWakeWord. Only imported in the microphone's process.

Its weights come with the package, and are small enough (50 kB) to listen all day on one percent of
a core.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import RATE, WIDTH

REST = 2.0
"""Seconds after the word in which it is not heard a second time."""


class WakeWord:
    """`name` is one of those that come with the package, such as "hey_jarvis", or the path of
    weights in the form of ESPHome (a JSON file beside a .tflite file).

    Raises UnavailableError where it cannot be listened for.
    """

    def __init__(self, name: str) -> None:
        try:
            from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model
        except (ImportError, OSError) as error:
            raise UnavailableError(
                tr("A wake word needs the package pymicro-wakeword, which is not installed."),
                hint=tr('Install it: pip install "jarvis-desktop[wake]".'),
            ) from error
        try:
            self._word: Any = (
                MicroWakeWord.from_config(Path(name))
                if name.endswith(".json")
                else MicroWakeWord.from_builtin(Model(name))
            )
        except (ValueError, KeyError, OSError) as error:
            names = ", ".join(model.value for model in Model)
            raise UnavailableError(
                tr("There is no wake word {name}.", name=name),
                hint=tr(
                    "Choose one of {names}, or the path of a JSON file with weights beside it.",
                    names=names,
                ),
            ) from error
        self._features: Any = MicroWakeWordFeatures()
        self._resting = 0.0

    def take(self, pcm: bytes) -> bool:
        """Whether the word came to its end in this sound: 16 kHz, mono, 16 bits."""
        if self._resting > 0:
            self._resting -= len(pcm) / (RATE * WIDTH)
            return False
        # All of them, because the features go on from one piece of sound to the next.
        heard = [
            self._word.process_streaming(each) for each in self._features.process_streaming(pcm)
        ]
        if any(heard):
            self._word.reset()  # what it heard until now must not count once more
            self._resting = REST
        return any(heard)
