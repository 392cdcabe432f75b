"""What the gate before recognition lets pass: 100 sounds without speech, 100 with it.

    python3 -m tests.benchmarks.voice_gate [FOLDER...]

The sounds without speech are those of sounds_without_speech.py. Speech is espeak-ng's: voices of
four languages, slow and fast, whole requests and single words, near and far from the microphone,
half of it in noise. FOLDER holds recordings of people, all of whom should pass.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.vad import find_speech
from tests.benchmarks import sounds_without_speech

RATE = 16_000
VOICES = (
    *("en-us", "en-gb", "en-us+f3", "en-gb+m7", "en-us+f4", "en-gb-scotland"),
    *("en-us+m3", "en-gb+f2", "de", "fr+f3"),
)
SPEEDS = (120, 160, 200, 240)
WORDS = ("yes", "no", "stop", "yes please", "repeat", "slower", "cancel", "hello")
REQUESTS = (
    "set a timer for ten seconds",
    "what time is it",
    "read me the letter",
    "please read the text in this picture and summarize it",
    "turn this photo into a pencil sketch and rotate it ninety degrees",
    "how many people are there in the picture",
    "make it louder",
    "who wrote this",
)

Row = tuple[str, str, str]


def spoken(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """What is said and how, and the sound."""
    random = np.random.default_rng(7)
    for number in range(100):
        text = (WORDS if number % 5 < 2 else REQUESTS)[number // 5 % 8]
        voice, speed = VOICES[number % len(VOICES)], SPEEDS[number // 3 % len(SPEEDS)]
        to = folder / "said.wav"
        subprocess.run(
            ("espeak-ng", "-v", voice, "-s", str(speed), "-w", str(to), text), check=True
        )
        samples = decode(to).astype(np.float64)
        lead = np.zeros(int(random.uniform(0, 0.6) * RATE))
        samples = np.concatenate((lead, samples, np.zeros(int(random.uniform(0, 0.5) * RATE))))
        loudness = float(10 ** random.uniform(-2.2, -0.1))
        samples *= loudness / np.abs(samples).max()
        how = f"{text!r} by {voice} at {speed}, peak {loudness:.3f}"
        if number % 2:
            ratio = random.uniform(10, 20)
            noise = sounds_without_speech.noise(
                random, len(samples), random.choice((0.0, 1.0, 2.0))
            )
            power = np.mean(samples[len(lead) :] ** 2) / 10 ** (ratio / 10)
            samples += noise * np.sqrt(power / np.mean(noise**2))
            how += f", {ratio:.0f} dB over noise"
        yield how, samples


def passes(samples: np.ndarray) -> bool:
    """Whether the gate finds speech in it."""
    try:
        find_speech(samples.astype(np.float32), "it")
    except InputError:
        return False
    return True


def wrong() -> tuple[list[str], list[str]]:
    """The sounds without speech that pass, and the speech that does not."""
    passed = [kind for kind, samples in sounds_without_speech.sounds() if passes(samples)]
    with tempfile.TemporaryDirectory() as folder:
        refused = [how for how, samples in spoken(Path(folder)) if not passes(samples)]
    return passed, refused


def table() -> list[Row]:
    """What was measured, the figure, and its limit."""
    passed, refused = wrong()
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(passed).items())
    return [
        ("passed of 100 sounds without speech", f"{len(passed)} {kinds}".strip(), "0"),
        ("refused of 100 recordings of speech", f"{len(refused)} {'; '.join(refused)}", "0"),
    ]


def people(folder: Path) -> Row:
    """The same for recordings of people."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".flac", ".wav")]
    refused = [file.name for file in files if not passes(decode(file))]
    return f"refused of {len(files)} in {folder.name}", f"{len(refused)} {refused}", "0"


def main() -> None:
    """Print the tables."""
    rows = [*table(), *(people(Path(name)) for name in sys.argv[1:])]
    for what, figure, limit in rows:
        print(f"{what:40} {figure}   (limit {limit})")


if __name__ == "__main__":
    main()
