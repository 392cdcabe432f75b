"""Recognises the wake word. Only imported in child processes.

microWakeWord rather than openWakeWord: its weights come with the package and may be used by
anybody, while openWakeWord's are for non-commercial use and need a runtime without a wheel for new
Pythons. On a few recordings of people it heard each "Hey Jarvis", and none in 13 minutes of other
speech.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import RATE, WIDTH

WAKE_WORD_REST_S = 2.0  # after the wake word, in which it is not recognised again


class WakeWordDetector:
    """Recognises a wake word with microWakeWord. `name` is one of those that come with the package,
    such as "hey_jarvis", or the path of weights in ESPHome's format (a JSON file beside a .tflite
    file). They are small enough (50 kB) to run all day on one percent of a core. Raises
    UnavailableError if it cannot be used."""

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
        """Whether the word ended in this sound (16 kHz, mono, 16 bits)."""
        if self._resting > 0:
            self._resting -= len(pcm) / (RATE * WIDTH)
            return False
        # All of them, because the features continue from one block to the next.
        heard = [
            self._word.process_streaming(each) for each in self._features.process_streaming(pcm)
        ]
        if any(heard):
            self._word.reset()  # it must not recognise the same word again
            self._resting = WAKE_WORD_REST_S
        return any(heard)
