"""Examples for the test recogniser, each made anew: cut, joined, mixed with noise, and padded."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from phrases import bare, capital, number, plain
from recordings import FLOOR, Mel, Recording, Store
from tokenizers import Tokenizer
from torch import Tensor

FRAMES = 3_000
MARGIN = 8
"""Frames of padding after the longest of a batch, so that the convolutions meet their value."""
WHOLE, PREFIX, SUFFIX, SPLICED, JOINED, NOTHING = range(6)
SHARES = (48, 22, 5, 12, 7, 6)
IGNORED = -100
Span = tuple[int, int]
Answer = list[tuple[int, Span]]
"""Tokens, and where the word is heard that begins with each."""
NOWHERE = (-1, -1)
LATEST_BEGIN = 1.0
"""faster-whisper takes no later time stamp for the first."""


@dataclass
class Piece:
    """A stretch of sound, and the words in it."""

    mel: Mel
    words: list[str]
    spans: list[Span]
    """The frames of each word, first and last."""


@dataclass
class Sentence:
    """Words, and where they are in the sound."""

    first: int
    last: int
    words: list[str]
    spans: list[Span]


@dataclass
class Example:
    """What is heard and what is to be written."""

    mel: Mel
    sentences: list[Sentence]


@dataclass
class Batch:
    """Examples side by side."""

    mel: Tensor
    lengths: Tensor
    inputs: Tensor
    targets: Tensor
    sounds: Tensor
    sound_lengths: Tensor
    spans: Tensor
    """Where the encoder hears the word that begins with each target token; -1 for other tokens."""


class Examples:
    """Makes them from a store."""

    def __init__(self, store: Store, words: Tokenizer, sounds: dict[str, str], seed: int) -> None:
        self._store = store
        self._words = words
        letters = sorted({letter for sound in sounds.values() for letter in sound})
        numbers = {letter: at + 1 for at, letter in enumerate(letters)}
        self._sounds = {word: [numbers[x] for x in sound] for word, sound in sounds.items()}
        self.letters = len(letters) + 1
        self._dice = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        self._by_voice: dict[str, list[Recording]] = defaultdict(list)
        for recording in store.spoken:
            self._by_voice[recording.voice].append(recording)
        self.begin = number(words, "<|startoftranscript|>")
        self.end = number(words, "<|endoftext|>")
        self.previous = number(words, "<|startofprev|>")
        self.untimed = number(words, "<|notimestamps|>")
        self.silent = number(words, "<|nospeech|>")

    def reseed(self, seed: int) -> None:
        """Other examples than at the beginning, for a run that goes on."""
        self._dice.seed(seed)

    def batches(self, count: int, positions: int, longest: float) -> list[Batch]:
        """Examples in batches of alike length, none of which has more encoder positions."""
        pool = sorted((self.example(longest) for _ in range(count)), key=lambda one: len(one.mel))
        made: list[list[Example]] = [[]]
        for example in pool:
            if (len(made[-1]) + 1) * (len(example.mel) + MARGIN) > 2 * positions and made[-1]:
                made.append([])
            made[-1].append(example)
        self._dice.shuffle(made)
        return [self.batch(examples) for examples in made]

    def example(self, longest: float) -> Example:
        """One of the kinds; where `longest` is many seconds, sentences one after the other."""
        kind = self._dice.choices(range(len(SHARES)), SHARES)[0]
        if kind == NOTHING:
            return Example(self._finish(self._nothing(), silent=True), [])
        first = self._dice.choice(self._store.spoken)
        pieces = [self._piece(first, kind)]
        wanted = longest if longest > 10 else self._dice.uniform(1, longest)
        while kind == JOINED or longest > 10:
            other = self._piece(self._alike(first), WHOLE)
            if sum(len(piece.mel) + 40 for piece in (*pieces, other)) > wanted * 100:
                break
            pieces.append(other)
        parts, sentences, at = [], [], 0
        for place, piece in enumerate(pieces):
            gap = self._gap() if place == 0 else self._dice.randint(15, 70)
            parts += [np.full((gap, 80), FLOOR, np.float32), piece.mel]
            at += gap
            if piece.words:
                spans = [(at + first, at + last) for first, last in piece.spans]
                sentences.append(Sentence(at, at + len(piece.mel), piece.words, spans))
            at += len(piece.mel)
        if kind not in (PREFIX, SPLICED) or self._dice.random() < 0.3:
            parts.append(np.full((self._gap(), 80), FLOOR, np.float32))
        return Example(self._finish(np.concatenate(parts)), sentences)

    def _alike(self, recording: Recording) -> Recording:
        """Of the same voice."""
        return self._dice.choice(self._by_voice[recording.voice])

    def _gap(self) -> int:
        """How long nothing is said before or after."""
        roll = self._dice.random()
        if roll < 0.15:
            return 0
        return self._dice.randint(1, 30) if roll < 0.9 else self._dice.randint(30, 120)

    def _piece(self, recording: Recording, kind: int) -> Piece:
        borders = [at for at, start in enumerate(recording.starts) if start is not None and at]
        first, last = 0, len(recording.phrase)
        if kind in (PREFIX, SPLICED) and borders:
            last = self._dice.choice(borders)
        if kind == SUFFIX and borders:
            first = self._dice.choice(borders)
        piece = self._cut(recording, first, last, hard=kind == PREFIX)
        if kind == SPLICED and borders:
            other = self._alike(recording)
            inner = [at for at, start in enumerate(other.starts) if start is not None and at]
            if inner:
                rest = self._cut(other, self._dice.choice(inner), len(other.phrase), hard=False)
                offset = len(piece.mel)
                spans = [(offset + one, offset + other) for one, other in rest.spans]
                piece = Piece(
                    np.concatenate((piece.mel, rest.mel)),
                    [*piece.words, *rest.words],
                    [*piece.spans, *spans],
                )
        if piece.words:
            piece.words[0] = capital(piece.words[0])
        return piece

    def _cut(self, recording: Recording, first: int, last: int, *, hard: bool) -> Piece:
        """The words from first to last; where it is hard, some of the next word is heard too."""
        words = list(recording.phrase[first:last])
        begin = recording.starts[first] or 0
        end = recording.length
        if last < len(recording.phrase):
            end = recording.starts[last] or end
            words[-1] = bare(words[-1])
            following = next(
                (at for at in recording.starts[last + 1 :] if at is not None), recording.length
            )
            if hard:
                end += int((following - end) * self._dice.choice((0, 0, self._dice.random() * 0.4)))
        starts = [*recording.starts[first:last], end]
        spans: list[Span] = []
        for place in range(len(words)):
            start = starts[place]
            after = next(at for at in starts[place + 1 :] if at is not None)
            # A word without a beginning of its own is spoken together with the one before it.
            spans.append(
                spans[-1] if start is None and spans else ((start or begin) - begin, after - begin)
            )
        return Piece(self._store.mel(recording.at + begin, end - begin), words, spans)

    def _nothing(self) -> Mel:
        """Digital silence or noise."""
        length = self._dice.randint(20, 600)
        if self._dice.random() < 0.35:
            return np.full((length, 80), FLOOR, np.float32)
        return self._some_noise(length) + np.float32(self._dice.uniform(-6, 0.5))

    def _some_noise(self, length: int) -> Mel:
        at, count = self._dice.choice(self._store.noises)
        mel = self._store.mel(at, count)
        mel = np.roll(mel, self._dice.randrange(count), axis=0)
        return np.tile(mel, (length // count + 1, 1))[:length]

    def _finish(self, mel: Mel, *, silent: bool = False) -> Mel:
        """Change voice, loudness and surroundings, then do what faster-whisper does."""
        roll = self._dice.random
        mel = mel[: FRAMES - MARGIN]
        if not silent:
            if roll() < 0.4:
                mel = _warped(mel, self._dice.uniform(0.92, 1.09))
            if roll() < 0.4:
                tilt = np.linspace(-0.5, 0.5, 80, dtype=np.float32) * self._dice.uniform(-1, 1)
                mel = mel + tilt
            mel = mel + np.float32(self._dice.uniform(-3, 0.6))
            if roll() < 0.3:
                added = self._some_noise(len(mel))
                below = self._dice.uniform(2.5, 7.5)
                added = added - np.percentile(added, 99) + (mel.max() - below)
                mel = np.logaddexp(mel * 2.302585, added * 2.302585) / np.float32(2.302585)
        mel = np.maximum(mel, FLOOR)
        mel = (np.maximum(mel, mel.max() - 8) + 4) / 4
        if not silent:
            if roll() < 0.25:
                low, width = self._dice.randint(0, 70), self._dice.randint(1, 10)
                mel[:, low : low + width] = mel.mean()
            if roll() < 0.2 and len(mel) > 40:
                at, width = self._dice.randint(0, len(mel) - 12), self._dice.randint(1, 8)
                mel[at : at + width] = mel.mean()
        return np.asarray(mel, np.float32)

    def batch(self, examples: list[Example]) -> Batch:
        """Padded with zeros, as faster-whisper pads the spectrum."""
        frames = max(len(example.mel) for example in examples) + MARGIN
        frames += frames % 2
        mel = np.zeros((len(examples), 80, frames), np.float32)
        for row, example in enumerate(examples):
            mel[row, :, : len(example.mel)] = example.mel.T
        hints = 0
        if self._dice.random() < 0.12:
            hints = self._dice.choice((10, 20, 20, 40, 100))
        written = [self._written(example, hints) for example in examples]
        longest = max(len(inputs) for inputs, _ in written)
        inputs = torch.full((len(examples), longest), self.end)
        targets = torch.full((len(examples), longest), IGNORED)
        spans = torch.full((len(examples), longest, 2), -1)
        for row, (before, after) in enumerate(written):
            inputs[row, : len(before)] = torch.tensor(before)
            targets[row, : len(after)] = torch.tensor([token for token, _ in after])
            spans[row, : len(after)] = torch.tensor([span for _, span in after])
        sounds = [
            [sound for said in one.sentences for w in said.words for sound in self._sound(w)]
            for one in examples
        ]
        return Batch(
            torch.from_numpy(mel),
            torch.tensor([len(example.mel) // 2 for example in examples]),
            inputs,
            targets,
            torch.tensor([sound for some in sounds for sound in some], dtype=torch.long),
            torch.tensor([len(some) for some in sounds]),
            spans,
        )

    def _sound(self, word: str) -> list[int]:
        return self._sounds[plain(word)]

    def _written(self, example: Example, hints: int) -> tuple[list[int], Answer]:
        """The decoder's tokens, and what should follow each; before them up to so many of hints."""
        inputs, targets = self._answered(example)
        if hints and self._dice.random() < 0.7:
            before = [self.previous, *self._hinted(example, self._dice.randint(1, hints))]
            return [*before, *inputs], [*[(IGNORED, NOWHERE)] * len(before), *targets]
        return inputs, targets

    def _hinted(self, example: Example, count: int) -> list[int]:
        """Words to expect, of which some are said, most are not, and some are not words at all."""
        hints: list[str] = []
        for _ in range(count // 2 + 1):
            roll = self._dice.random()
            if roll < 0.15 and example.sentences:
                hints.append(bare(self._dice.choice(example.sentences[0].words)))
            elif roll < 0.8:
                hints.append(
                    capital(self._dice.choice(self._dice.choice(self._store.spoken).phrase))
                )
            else:
                letters = self._dice.choices("abcdefghijklmnopqrstuvwxyz-_.", k=6)
                hints.append(capital("".join(letters)))
        return self._words.encode(" " + ", ".join(hints)).ids[:count]

    def _answered(self, example: Example) -> tuple[list[int], Answer]:
        """After the beginning of the transcript."""
        timed = self._dice.random() < (0.6 if len(example.sentences) > 1 else 0.15)
        answer: Answer = [(self.begin, NOWHERE)]
        if not timed or not example.sentences:
            answer.append((self.untimed, NOWHERE))
        if not example.sentences:
            # Whisper writes something where its end is forbidden: a word it does not believe in.
            if self._dice.random() < 0.5:
                answer.append((self._dice.randrange(256, self.end), NOWHERE))
            answer.append((self.end, NOWHERE))
            inputs = [token for token, _ in answer[:-1]]
            return inputs, [(self.silent, NOWHERE), *answer[2:]]
        for place, said in enumerate(example.sentences):
            start = min(said.first / 100, LATEST_BEGIN) if place == 0 else said.first / 100
            if timed:
                answer.append((self._time(start), NOWHERE))
            for word, (first, last) in zip(said.words, said.spans, strict=True):
                # Half as many positions as frames; a word may be felt a little around its place.
                span = (max(0, first // 2 - 1), last // 2 + 1)
                token, *rest = self._words.encode(" " + word).ids
                answer += [(token, span), *((token, NOWHERE) for token in rest)]
            if timed:
                answer.append((self._time(said.last / 100), NOWHERE))
        answer.append((self.end, NOWHERE))
        inputs = [
            self._dice.randrange(256, self.end)
            if token < self.end and self._dice.random() < 0.08
            else token
            for token, _ in answer[:-1]
        ]
        return inputs, answer[1:]

    def _time(self, seconds: float) -> int:
        return int(self.untimed + 1 + min(1500, round(seconds * 50)))


def _warped(mel: Mel, factor: float) -> Mel:
    """As of a longer or shorter throat."""
    places = np.clip(np.arange(80) * factor, 0, 79)
    low = np.minimum(places.astype(int), 78)
    part = (places - low).astype(np.float32)
    made: Mel = mel[:, low] * (1 - part) + mel[:, low + 1] * part
    return made
