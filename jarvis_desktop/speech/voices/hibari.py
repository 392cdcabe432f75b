"""Hibari (6 million parameters, English, Apache-2.0) on onnxruntime. Only imported in child
processes.

Of the words of 100 sentences, Whisper misheard 4.5 % from it, 24.9 % from eSpeak, and 3.2 % from
Kokoro in eight bits, which is too slow for a busy computer (`tests/benchmarks/voice_quality.py`).
Its package carries the weights of one voice, a distilled Kokoro, and finds the phonemes of a text
without espeak-ng. Its other voices would be downloads of the package's own, and are not offered.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.onnx import onnx_errors_as
from jarvis_desktop.speech.voices import engine
from jarvis_desktop.speech.voices.engine import KnownVoice, SpeechRequest, phoneme_parts, trimmed
from jarvis_desktop.text.sentences import spoken_sentences

MAX_PHONEMES = 400  # of one run of the network
PAUSE_S = 0.25  # after a sentence, of the 0.7 seconds that the network leaves between two
VOICE = "heart"
_CAPITALS = re.compile(r"\b(?=[A-Z]*[AEIOU])[A-Z]{5,}\b")
"""JARVIS, README: words that it does not know are spelled when they are in capitals."""


class HibariEngine:
    """A `VoiceEngine` of the package hibari-tts."""

    voices = (KnownVoice(VOICE, ("en",)),)

    def __init__(self) -> None:
        self._tts: Any = None
        self._rate = 0

    def ready(self) -> None:
        """Load the weights, and speak a word, because the first run of a network takes longest."""
        unusable = UnavailableError(
            tr("The weights of Hibari cannot be used."),
            hint=tr("Install JARVIS Desktop again, or at least its package hibari-tts."),
        )
        with onnx_errors_as(unusable, ImportError, OSError, EOFError, ValueError, KeyError):
            from hibari import Hibari
            from hibari.voices import VOICES, sha256_of, voice_path

            path = voice_path(VOICE, download_missing=False)
            if sha256_of(path) != VOICES[VOICE]["sha256"]:
                raise ValueError(path)
            self._tts = Hibari(VOICE, model=path)
            self._rate = self._tts.sample_rate
            self._run(self._tts.g2p("Ready."), 1.0)

    def speak(self, order: SpeechRequest, voice: KnownVoice | None) -> None:
        """Speak a text to its file."""
        pace = order.network_pace
        said: list[NDArray[np.float32]] = []
        text = _CAPITALS.sub(lambda word: word[0].capitalize(), order.text)
        for sentence in spoken_sentences(text):
            parts = phoneme_parts(self._tts.g2p(sentence), MAX_PHONEMES)
            said += [trimmed(self._run(part, pace), self._rate) for part in parts]
            said.append(np.zeros(round(PAUSE_S / pace * self._rate), np.float32))
        engine.write(np.concatenate(said), self._rate, order.to, order.volume)

    def _run(self, sounds: str, pace: float) -> NDArray[np.float32]:
        # A fixed seed of its noise: the same text sounds the same again.
        samples: NDArray[np.float32] = self._tts.from_phonemes(sounds, speed=pace, seed=0)
        return samples
