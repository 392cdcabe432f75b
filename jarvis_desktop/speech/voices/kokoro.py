"""Kokoro (82 million parameters, Apache-2.0) on onnxruntime. Only imported in child processes.

The Python package around these weights is not used: it needs phonemizer, which is GPL.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.onnx import onnx_errors_as
from jarvis_desktop.speech.voices import engine
from jarvis_desktop.speech.voices.engine import (
    KOKORO_LANGUAGES,
    KOKORO_STYLES,
    KnownVoice,
    SpeechRequest,
    kokoro_weights,
    phoneme_parts,
    phonemes,
    trimmed,
)

RATE = 24_000
MAX_PHONEMES = 510  # of one run of the network
PROVIDERS = ["CPUExecutionProvider"]
DEFAULT_VOICE = "af_heart"
BROKEN = (RuntimeError, ValueError, KeyError, IndexError, OSError, EOFError, zipfile.BadZipFile)
"""What damaged weights raise, besides onnxruntime's errors."""

# The number of each phoneme in the vocabulary of version 1.0; some exports carry their own.
_SOUNDS = {
    1: ';:,.!?', 9: '—…"()“” ̃ʣʥʦʨᵝꭧ', 24: 'AI', 31: 'O', 33: 'Q', 35: 'ST', 39: 'W', 41: 'Yᵊabcdef',
    50: 'hijklmnopqrstuvwxyzɑɐɒæ', 75: 'βɔɕç', 80: 'ɖðʤə', 85: 'ɚɛɜ', 90: 'ɟ', 92: 'ɡ', 99: 'ɥ',
    101: 'ɨɪʝ', 110: 'ɯɰŋɳɲɴø', 118: 'ɸθœ', 123: 'ɹ', 125: 'ɾɻ', 128: 'ʁɽʂʃʈʧ', 135: 'ʊʋ',
    138: 'ʌɣɤ', 142: 'χʎ', 147: 'ʒʔ', 156: 'ˈˌː', 162: 'ʰ', 164: 'ʲ',
    169: '↓', 171: '→↗↘', 177: 'ᵻ',
}  # fmt: skip
VOCABULARY = {
    sound: first + at for first, sounds in _SOUNDS.items() for at, sound in enumerate(sounds)
}


class KokoroEngine:
    """An `VoiceEngine` of the files kokoro-v1.0.onnx and voices-v1.0.bin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._session: Any = None
        self._styles: dict[str, NDArray[np.float32]] = {}
        self.voices: list[KnownVoice] = []
        """The styles in the file, the default one first."""
        self._vocabulary = VOCABULARY

    def ready(self) -> None:
        """Load the weights, and speak a word, because the first run of a network takes longest."""
        import onnxruntime

        weights = kokoro_weights(self._folder)
        styles = self._folder / KOKORO_STYLES
        if weights is None or not styles.is_file():
            raise UnavailableError(tr("Kokoro's weights are not there any more."))
        unusable = UnavailableError(
            tr("The weights of Kokoro cannot be used."),
            hint=tr("Fetch them again into {folder}.", folder=self._folder),
        )
        with onnx_errors_as(unusable, *BROKEN):
            self._session = onnxruntime.InferenceSession(weights, providers=PROVIDERS)
            with styles.open("rb") as file:
                self._styles = dict(np.load(file))
            self.voices = _known(sorted(self._styles))
            own = self._session.get_modelmeta().custom_metadata_map.get("kokoro_config")
            self._vocabulary = json.loads(own)["vocab"] if own else VOCABULARY
            self._run("ə", self.voices[0].id, 1.0)

    def speak(self, order: SpeechRequest, voice: KnownVoice | None) -> None:
        """Speak a text to its file."""
        name = (voice or self.voices[0]).id
        sounds = phonemes(order.text, KOKORO_LANGUAGES[name[0]][1], timeout=order.seconds)
        pace = order.network_pace
        said = [
            trimmed(self._run(part, name, pace), RATE)
            for part in phoneme_parts(sounds, MAX_PHONEMES)
        ]
        samples = np.concatenate(said) if said else np.zeros(0, np.float32)
        engine.write(samples, RATE, order.to, order.volume)

    def _run(self, sounds: str, voice: str, pace: float) -> NDArray[np.float32]:
        numbers = [self._vocabulary[sound] for sound in sounds if sound in self._vocabulary]
        if not numbers:
            return np.zeros(0, np.float32)
        styles = self._styles[voice]
        given = [
            [[0, *numbers, 0]],
            styles[min(len(numbers), len(styles)) - 1].reshape(1, -1),
            [pace],
        ]
        wanted = self._session.get_inputs()  # tokens, or input_ids; style; speed
        fed = {
            each.name: np.asarray(value, _KINDS[each.type])
            for each, value in zip(wanted, given, strict=True)
        }
        return np.asarray(self._session.run(None, fed)[0], np.float32).ravel()


_KINDS = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
}


def _known(names: list[str]) -> list[KnownVoice]:
    spoken = [name for name in names if name[:1] in KOKORO_LANGUAGES]
    usual_first = sorted(spoken, key=lambda name: (name != DEFAULT_VOICE, name))
    return [KnownVoice(name, (KOKORO_LANGUAGES[name[0]][0],)) for name in usual_first]
