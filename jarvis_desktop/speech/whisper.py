"""Whisper: loads it, decodes a window of sound, and tells which words of live speech are settled.

WhisperModel.transcribe encodes a window a second time to detect its language, drops hotwords if a
prefix is given, and discards the encoded sound. Here a window is encoded once, and decoding
continues after known words. The encoder always gets Whisper's thirty seconds: CTranslate2 accepts
less, but weights trained on thirty then repeat themselves and mishear (CTranslate2 #2100, voxtype
#124).

Words are settled by LocalAgreement-2 of Macháček, Dabre, Bojar: "Turning Whisper into Real-Time
Transcription System" (2023). The last word of a pass may be cut off, so it is settled only when two
passes have heard one after it. Only imported in child processes.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from faster_whisper.audio import pad_or_trim
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import shipped
from jarvis_desktop.speech.decoding import RATE, Samples


@dataclass(frozen=True, slots=True)
class Word:
    """A word with the space before it, or a part of one, as the recogniser writes it."""

    text: str
    tokens: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What two passes must agree on; case and punctuation may still change."""
        letters = "".join(letter for letter in self.text if letter.isalnum())
        return letters.casefold() or self.text.strip()


@dataclass(slots=True)
class Agreement:
    """The words of the passes so far, from the first that is not complete."""

    settled: list[Word] = field(default_factory=list)
    """These no longer change; a pass continues after them."""
    rest: list[Word] = field(default_factory=list)  # the words of the last pass after them

    def add(self, heard: Sequence[Word]) -> None:
        """Add the words of the next pass after the settled ones."""
        most = min(len(heard), len(self.rest)) - 1
        agreed = 0
        while agreed < most and heard[agreed].key == self.rest[agreed].key:
            agreed += 1
        self.settled += heard[:agreed]
        self.rest = list(heard[agreed:])

    def settle(self) -> None:
        """Settle all words, because only silence came after them."""
        self.settled += self.rest
        self.rest = []

    def leave(self, count: int) -> list[Word]:
        """Remove the first settled words and return them."""
        gone, self.settled = self.settled[:count], self.settled[count:]
        return gone


def text(words: Sequence[Word]) -> str:
    """Join the words."""
    return " ".join("".join(word.text for word in words).split())


WINDOW_SECONDS = 30.0
FALLBACK_TEMPERATURES = (0.0, 0.2, 0.4)  # for a doubtful guess
MAX_HINT_TOKENS = 100  # for expected words: given many, Whisper writes some that were not said
MAX_TOKENS = 224  # that Whisper writes: half of its context
TOKENS_PER_SECOND, SPARE_TOKENS = 12, 24
"""More than anybody says, so that a pass in a loop ends there."""
ECHO_WORDS = 4  # as many expected words in their order are an echo, not speech
NO_SPEECH = 0.5
"""Whisper's own limit is 0.6, with which laughter becomes “Thank you.” (0.53). Of 118 recordings of
speech none is beyond both this limit and the next one."""
MIN_LOGPROB = -1.0
MAX_COMPRESSION = 2.4
"""The compression ratio above which text repeats itself. These two are Whisper's own."""


@dataclass(frozen=True, slots=True)
class WhisperGuess:
    """What one pass heard after the known words."""

    words: tuple[Word, ...]
    language: str
    logprob: float  # the mean log probability of its tokens
    no_speech: float
    window: Any  # the encoded sound
    frames: int  # frames of the window with sound: hundredths of a second

    @property
    def invented(self) -> bool:
        """Whether Whisper itself doubts that anybody said this."""
        unsaid = self.no_speech > NO_SPEECH or repeats(text(self.words))
        return unsaid and self.logprob < MIN_LOGPROB

    @property
    def doubtful(self) -> bool:
        """Whether it should be decoded in another way."""
        return self.logprob < MIN_LOGPROB or repeats(text(self.words))


def echoes(words: Sequence[Word], hints: Sequence[str]) -> bool:
    """Whether what was heard is only expected words in their order."""
    said = " ".join(word.key for word in words)
    listed = " ".join(Word(part).key for hint in hints for part in hint.split())
    return bool(words) and f" {said} " in f" {listed} "


def repeats(text: str) -> bool:
    """Whether a text repeats itself."""
    data = text.encode()
    return len(data) > MAX_COMPRESSION * len(zlib.compress(data))


class WhisperDecoder:
    """Decodes windows of sound with a loaded Whisper."""

    def __init__(self, whisper: Any) -> None:
        self.whisper = whisper
        self._tokenizers: dict[str, Tokenizer] = {}
        self.took = 0.0
        """Seconds of the last pass."""

    def hear(
        self,
        sound: Samples,
        *,
        language: str | None,
        hints: Sequence[str] = (),
        known: Sequence[Word] = (),
        beam: int = 1,
        temperatures: Sequence[float] = (0.0,),
    ) -> WhisperGuess:
        """The words of up to thirty seconds, after those that are `known`. It is decoded at one
        temperature after the other until the result is not doubtful."""
        begun = time.monotonic()
        features = self.whisper.feature_extractor(sound)
        window = self.whisper.encode(pad_or_trim(features))
        frames = min(features.shape[-1], int(WINDOW_SECONDS * 100))
        if not self.whisper.model.is_multilingual:
            language = "en"
        elif language is None:
            # A list for each window, the most likely first, of pairs such as ("<|en|>", 0.9).
            language = self.whisper.model.detect_language(window)[0][0][0][2:-2]
        guesses: list[WhisperGuess] = []
        for temperature in temperatures:
            words, logprob, no_speech = self._write(
                window, len(sound) / RATE, language, hints, known, beam, temperature
            )
            guesses.append(WhisperGuess(words, language, logprob, no_speech, window, frames))
            if not guesses[-1].doubtful:
                break
        self.took = time.monotonic() - begun
        return max(guesses, key=lambda guess: (not repeats(text(guess.words)), guess.logprob))

    def again(
        self, sound: Samples, before: WhisperGuess, language: str | None, known: Sequence[Word]
    ) -> WhisperGuess | None:
        """A better guess than a doubtful one, if any: without expected words, and with Whisper's
        own fallback temperatures."""
        guess = self.hear(
            sound,
            language=language,
            known=known,
            beam=5,
            temperatures=FALLBACK_TEMPERATURES,
        )
        better = not guess.doubtful or guess.logprob > before.logprob
        return guess if guess.words and better else None

    def times(self, guess: WhisperGuess, words: Sequence[Word]) -> list[tuple[float, float]]:
        """When each word begins and ends in the window of a guess; seconds."""
        tokenizer = self._tokenizer(guess.language)
        tokens = [token for word in words for token in word.tokens]
        if not tokens:
            return []
        found = self.whisper.model.align(
            guess.window, tokenizer.sot_sequence, [tokens], max(2, guess.frames)
        )[0]
        # The first step of each token; the last one ends with the sound.
        first: dict[int, int] = {}
        for token, step in found.alignments:
            first.setdefault(token, step)
        steps = [first.get(at, guess.frames // 2) for at in range(len(tokens) + 1)]
        ends = np.cumsum([len(word.tokens) for word in words]).tolist()
        return [
            (steps[begin] / 50, steps[end] / 50)
            for begin, end in zip([0, *ends[:-1]], ends, strict=True)
        ]

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self.whisper.hf_tokenizer,
                self.whisper.model.is_multilingual,
                task="transcribe",
                language=language,
            )
        return self._tokenizers[language]

    def _write(
        self,
        window: Any,
        seconds: float,
        language: str,
        hints: Sequence[str],
        known: Sequence[Word],
        beam: int,
        temperature: float,
    ) -> tuple[tuple[Word, ...], float, float]:
        tokenizer = self._tokenizer(language)
        before = [token for word in known for token in word.tokens]
        prompt = [*_hint_tokens(tokenizer, hints), *tokenizer.sot_sequence]
        prompt += [tokenizer.no_timestamps, *before]
        most = min(MAX_TOKENS, len(before) + SPARE_TOKENS + int(TOKENS_PER_SECOND * seconds))
        sampled = {"sampling_topk": 0, "sampling_temperature": temperature, "num_hypotheses": 5}
        result = self.whisper.model.generate(
            window,
            [prompt],
            beam_size=1 if temperature else beam,
            # CTranslate2 writes at most half of this, including the prompt.
            max_length=max(2 * most, most + len(prompt)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
            **(sampled if temperature else {}),
        )[0]
        written = result.sequences_ids[0]
        new = [token for token in written[len(before) :] if token < tokenizer.eot]
        # The score is a mean over all tokens, although the known ones do not count.
        logprob = result.scores[0] * len(written) / (len(new) + 1)
        return _words(tokenizer, new), logprob, result.no_speech_prob


def _hint_tokens(tokenizer: Tokenizer, hints: Sequence[str]) -> list[int]:
    """The expected words as if they had just been written, as many as there is room for."""
    tokens: list[int] = []
    for hint in hints:
        more = tokenizer.encode(f"{',' if tokens else ''} {hint.strip()}")
        if len(tokens) + len(more) > MAX_HINT_TOKENS:
            break
        tokens += more
    # As a sentence: after a mere list Whisper leaves out half of the full stops (59 of 118
    # recordings ended with one; 117 after a sentence).
    return [tokenizer.sot_prev, *tokens, *tokenizer.encode(".")] if tokens else []


def _words(tokenizer: Tokenizer, tokens: list[int]) -> tuple[Word, ...]:
    words: list[Word] = []
    texts, parts = tokenizer.split_to_word_tokens(tokens)
    for written, own in zip(texts, parts, strict=True):
        if words and not any(letter.isalnum() for letter in written):
            words[-1] = Word(words[-1].text + written, (*words[-1].tokens, *own))
        else:
            words.append(Word(written, tuple(own)))
    return tuple(words)


def check_language(known: Sequence[str], language: str | None) -> None:
    """Raises UnavailableError if the weights understand English only, InputError if Whisper does
    not know the language."""
    if not language or language in known:
        return
    if len(known) == 1:
        raise UnavailableError(
            tr("The recogniser on this computer understands English only."),
            hint=tr("jarvis-desktop experts pull whisper-base fetches one for about 99 languages."),
        )
    raise InputError(
        tr(
            "The recogniser on this computer knows no language “{language}”.",
            language=one_line(language),
        ),
        hint=tr("Give its two letters, such as en, de or fr."),
    )


THREADS = min(4, os.cpu_count() or 4)  # more hardly help
NEEDED = ("model.bin", "config.json", "tokenizer.json")


def load(folder: Path, *, device: str = "cpu", compute_type: str = "int8") -> Any:
    """Load Whisper from a folder. Raises UnavailableError if it is incomplete. `device` and
    `compute_type` are what `cuda_probe` found: on a graphics card whose libraries are missing, the
    whole process ends."""
    broken = UnavailableError(
        tr("The Whisper weights in {name} cannot be used.", name=folder.name),
        hint=tr("Install this application again.")
        if folder == shipped("models", "recogniser")
        else tr("Remove them with `jarvis-desktop experts remove` and fetch them again."),
    )
    # faster-whisper would download a missing tokenizer from the Hub.
    if not all((folder / name).is_file() for name in NEEDED):
        raise broken
    if device == "cuda":
        offer_libraries()
    import ctranslate2
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import tqdm

    # What is decoded again at a temperature is the same each time.
    ctranslate2.set_random_seed(0)
    # The default is a system semaphore, which would be left over when this process is killed.
    tqdm.set_lock(threading.RLock())
    try:
        return WhisperModel(
            str(folder),
            device=device,
            compute_type=compute_type,
            cpu_threads=THREADS,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise broken from error


def offer_libraries() -> None:
    """Let CTranslate2 find CUDA's libraries where pip installs them."""
    spec = find_spec("nvidia")
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        if sys.platform == "win32":
            if (binaries := folder / "cublas" / "bin").is_dir():
                os.add_dll_directory(str(binaries))
            continue
        for name in ("libcublasLt.so.12", "libcublas.so.12"):
            with suppress(OSError):  # not there; a library that is loaded is found by its name
                ctypes.CDLL(str(folder / "cublas" / "lib" / name), mode=ctypes.RTLD_GLOBAL)
