"""Speaks by espeak-ng in this process, which tells when each word begins, unlike its command."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import av
import numpy as np
from phrases import Phrase

RATE = 16_000
"""The library knows the British voice as "en"."""
ACCENTS = ("en-us", "en-us", "en-us", "en", "en", "en-gb-scotland", "en-gb-x-rp", "en-us-nyc")
VARIANTS = (
    *("", "", "f1", "f2", "f3", "f5", "m1", "m2", "m3", "m4", "m6", "m7"),
    *("Annie", "Andy", "linda", "Denis", "Michael"),
)
HELD_OUT_VOICES = ("en-us+f4", "en+m5", "en-gb-scotland+m8", "en-us+Alex", "en-gb-x-gbclan")

Samples = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Manner:
    """How something is said."""

    voice: str
    speed: int
    pitch: int
    range: int


def manner(dice: random.Random) -> Manner:
    """Some voice to learn from."""
    variant = dice.choice(VARIANTS)
    voice = dice.choice(ACCENTS) + (f"+{variant}" if variant else "")
    usual = dice.random() < 0.3
    return Manner(
        voice,
        dice.choice((140, 145, 150, 160, 175)) if usual else dice.randint(120, 200),
        50 if usual else dice.randint(25, 75),
        50 if usual else dice.randint(30, 70),
    )


def unheard(dice: random.Random) -> Manner:
    """Some voice that is never learnt from."""
    return Manner(dice.choice(HELD_OUT_VOICES), dice.choice((140, 150, 160, 175)), 50, 50)


@dataclass(frozen=True)
class Spoken:
    """Sound at RATE; for each word the sample at which it begins, or None within another's."""

    samples: Samples
    starts: tuple[int | None, ...]


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)
_SYNCHRONOUS, _UTF8, _WORD = 2, 1, 1
_SPEED, _PITCH, _RANGE = 1, 3, 4
_IPA = 2


class Espeak:
    """The library; one per process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libespeak-ng.so.1")
        self._rate: int = self._library.espeak_Initialize(_SYNCHRONOUS, 0, None, 0)
        self._chunks: list[bytes] = []
        self._words: list[tuple[int, float]] = []
        self._callback = _Callback(self._take)
        self._library.espeak_SetSynthCallback(self._callback)
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p

    def _take(self, wave: Any, count: int, events: Any) -> int:
        if count and wave:
            self._chunks.append(ctypes.string_at(wave, count * 2))
        at = 0
        while events[at].type:
            if events[at].type == _WORD:
                self._words.append((events[at].text_position - 1, events[at].audio_position / 1000))
            at += 1
        return 0

    def say(self, phrase: Phrase, how: Manner) -> Spoken:
        """What the command espeak-ng would write into a file, at 16 kHz."""
        text = " ".join(phrase).encode()
        if self._library.espeak_SetVoiceByName(how.voice.encode()):
            raise SystemExit(f"espeak-ng has no voice {how.voice}.")
        for parameter, value in ((_SPEED, how.speed), (_PITCH, how.pitch), (_RANGE, how.range)):
            self._library.espeak_SetParameter(parameter, value, 0)
        self._chunks, self._words = [], []
        self._library.espeak_Synth(text, len(text) + 1, 0, 1, 0, _UTF8, None, None)
        starts: list[int | None] = []
        begun, offset = dict(self._words), 0
        for word in phrase:
            seconds = begun.get(offset)
            starts.append(None if seconds is None else int(seconds * RATE))
            offset += len(word) + 1
        return Spoken(_resampled(b"".join(self._chunks), self._rate), tuple(starts))

    def sounds(self, word: str) -> str:
        """A word's phonemes in IPA, without stress and length."""
        self._library.espeak_SetVoiceByName(b"en-us")
        text = ctypes.c_char_p(word.encode())
        found = self._library.espeak_TextToPhonemes(ctypes.byref(text), _UTF8, _IPA)
        return "".join(letter for letter in found.decode() if letter not in "ˈˌː _-")


@cache
def espeak() -> Espeak:
    """This process's."""
    return Espeak()


def _resampled(sound: bytes, rate: int) -> Samples:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    frame = av.AudioFrame.from_ndarray(
        np.frombuffer(sound, "<i2").reshape(1, -1), format="s16", layout="mono"
    )
    frame.sample_rate = rate
    parts = [*resampler.resample(frame), *resampler.resample(None)]
    joined = np.concatenate([part.to_ndarray().reshape(-1) for part in parts])
    return joined.astype(np.float32) / np.float32(32768)
