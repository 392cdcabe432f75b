"""How well the voices are understood, how soon they are heard, and whether joints click.

    python3 -m tests.benchmarks.voice_quality WHISPER [--kokoro FOLDER] [--only VOICE] [--wrong]

WHISPER holds the weights of a Whisper for CTranslate2, FOLDER those of Kokoro. The sentences are
those of voice_sentences.txt: as answers are written, with numbers, names, dates, units and
abbreviations, and as a person says them. Each is made speakable and synthesised as an answer is,
and Whisper writes down what it hears. Word error rates are jiwer's, after Whisper's own English
normalisation on both sides (numbers become digits, "Mr." becomes "mister"), and without what
sounds alike (7.45 and 7 45, "p m" and "pm"); of several ways to say a sentence the nearest counts.
--wrong prints the sentences with errors.

First audio is from the call to the file of a sentence that is ready to be played, plus the silence
in it before the voice; the process is started before. The real-time factor is seconds of sound per
second of work. For joints the sentences are laid one after another as the player plays them: a
joint clicks if the step between its two samples is larger than 0.003 and four times larger than
any other within 5 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soundfile

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import HibariVoice, KokoroVoice
from jarvis_desktop.text.speakable import speakable

LOUD = 1e-3
STEP = 0.003
STEEPER = 4.0
NEAR_S = 0.005

Pair = tuple[str, tuple[str, ...]]
"""A sentence as it is written, and the ways to say it."""


def sentences() -> list[Pair]:
    """The 100 sentences."""
    text = Path(__file__).with_name("voice_sentences.txt").read_text("utf-8")
    rows = (line.split("|") for line in text.splitlines() if not line.startswith("#"))
    return [(row[0].strip(), tuple(way.strip() for way in row[1:])) for row in rows]


@dataclass
class Measurement:
    """What was measured of one voice."""

    heard: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    """Seconds until each sentence is heard."""
    work: float = 0.0
    sound: float = 0.0
    joints: int = 0
    clicks: int = 0
    pauses: list[float] = field(default_factory=list)


async def measure(voice: LocalVoice, whisper: Any, pairs: Sequence[Pair]) -> Measurement:
    """Speak and hear all sentences."""
    result = Measurement()
    before: tuple[Any, int] | None = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            await voice.warm()
            for number, (written, _) in enumerate(pairs):
                to = Path(folder) / f"{number}.wav"
                begun = time.perf_counter()
                await voice.synthesise(speakable(written), to)
                taken = time.perf_counter() - begun
                samples, rate = soundfile.read(to, dtype="float32")
                loud = np.flatnonzero(np.abs(samples) > LOUD)
                result.first.append(taken + loud[0] / rate)
                result.work += taken
                result.sound += len(samples) / rate
                if before and before[1] == rate:
                    _joint(before[0], samples, rate, result)
                before = samples, rate
        finally:
            await voice.close()
        result.heard = [_hear(whisper, Path(folder) / f"{at}.wav") for at in range(len(pairs))]
    return result


def _joint(before: Any, after: Any, rate: int, result: Measurement) -> None:
    near = round(NEAR_S * rate)
    step = abs(float(after[0]) - float(before[-1]))
    others = np.concatenate([np.diff(before[-near:]), np.diff(after[:near])])
    result.joints += 1
    result.clicks += step > STEP and step > STEEPER * float(np.abs(others).max())
    tail = len(before) - int(np.flatnonzero(np.abs(before) > LOUD)[-1])
    head = int(np.flatnonzero(np.abs(after) > LOUD)[0])
    result.pauses.append((tail + head) / rate)


def _hear(whisper: Any, audio: Path) -> str:
    parts, _ = whisper.transcribe(decode(audio), language="en", beam_size=1)
    return " ".join(part.text.strip() for part in parts)


def _failed(error: JarvisError) -> None:
    """Another voice would be measured instead."""
    raise error


def errors(ways: Sequence[str], heard: str, plain: Any) -> tuple[int, int, str, str]:
    """Wrong words, words, and both texts in their plain form, by the nearest way to say it."""
    got = plain(heard)
    rated = []
    for way in ways:
        wanted = plain(way)
        out = jiwer.process_words(wanted, got or "-")
        wrong = out.substitutions + out.deletions + out.insertions
        rated.append((wrong, len(wanted.split()), wanted, got))
    return min(rated)


def _sum(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(wrong for wrong, _ in counts), sum(words for _, words in counts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("whisper", type=Path)
    parser.add_argument("--kokoro", type=Path, help="a folder with Kokoro's weights")
    parser.add_argument("--only", choices=["Hibari", "system", "Kokoro"], help="this voice")
    parser.add_argument("--wrong", action="store_true", help="print what was misheard")
    args = parser.parse_args()
    from faster_whisper import WhisperModel
    from transformers.models.whisper.english_normalizer import EnglishTextNormalizer

    whisper = WhisperModel(str(args.whisper), device="cpu", compute_type="int8")
    normalize = EnglishTextNormalizer({})

    def plain(text: str) -> str:
        """Also without the differences that nobody hears."""
        found = re.sub(r"\bone\b", "1", normalize(text))
        found = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", found)
        found = re.sub(r"(?<=\d)[. ](?=\d)", "", found)  # 7.45 and 7 45
        return re.sub(r"\b([a-z]) (?=[a-z]\b)", r"\1", found)  # p m

    voices = {
        "Hibari": LocalVoice(engine=HibariVoice(), tell=_failed),
        "system": LocalVoice(tell=_failed),
    }
    if args.kokoro:
        voices["Kokoro"] = slow = LocalVoice(engine=KokoroVoice(args.kokoro), tell=_failed)
        assert slow._neural
        slow._neural._speed = 1.0  # on a busy computer it counts as hung, and another would speak
    pairs = sentences()
    signs = [any(not (c.isalpha() or c in " ,.'?") for c in written) for written, _ in pairs]
    for name, voice in voices.items():
        if args.only not in (None, name):
            continue
        found = asyncio.run(measure(voice, whisper, pairs))
        rated = [
            errors(ways, heard, plain) for (_, ways), heard in zip(pairs, found.heard, strict=True)
        ]
        first = sorted(found.first)
        counts = [each[:2] for each in rated]
        words = _sum(counts)
        signed = _sum([each for each, has in zip(counts, signs, strict=True) if has])
        print(
            f"{name:13} word errors {words[0] / words[1]:6.1%} ({words[0]} of {words[1]}), with "
            f"digits or signs {signed[0] / signed[1]:6.1%}, without "
            f"{(words[0] - signed[0]) / (words[1] - signed[1]):6.1%}; first audio p50 / p95 "
            f"{first[len(first) // 2] * 1000:.0f} / {first[len(first) * 95 // 100] * 1000:.0f} ms; "
            f"{found.sound / found.work:.0f} times real time; clicks {found.clicks} of "
            f"{found.joints} joints; pause between sentences "
            f"{float(np.median(found.pauses)) * 1000:.0f} ms"
        )
        for (written, _), (wrong, _, wanted, got) in zip(pairs, rated, strict=True):
            if wrong and args.wrong:
                print(f"    {wrong}  {written}\n       {wanted}\n       {got}")


if __name__ == "__main__":
    main()
