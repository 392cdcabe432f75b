"""How well speech is recognised: word error rates, what the gate refuses, and how long it takes.

    python3 -m tests.benchmarks.recognition [FOLDER] [--whisper WEIGHTS...] [--language en]

FOLDER holds recordings and a manifest.jsonl with a line for each: "file", "transcript" ("" where
nobody speaks), and "style" if tables by style are wanted. Without FOLDER only the requests below
are measured, spoken by espeak-ng in four voices at three speeds. Word error rates are jiwer's,
after lower-casing, removing punctuation (apostrophes too) and writing numbers in digits on both
sides. The shipped recogniser is measured, and others whose weights are named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jiwer
from transformers.models.whisper.english_normalizer import EnglishNumberNormalizer

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech import streaming_whisper as whisper
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.vad import find_speech
from jarvis_desktop.speech.whisper import WhisperDecoder, load

VOICES = ("en-us", "en-gb", "en-us+f3", "en-gb+m7")
SPEEDS = (140, 160, 175)
LONGEST_SECONDS = 30
REQUESTS = """
please read me the letter in this scan
what does this sign say
read the text in this picture summarize it and say the summary out loud
turn this photo into a pencil sketch and rotate it ninety degrees
summarize the report in three sentences and read it to me
what is the total on this receipt
transcribe the meeting and give me the key words
blur the first picture and make the second one black and white
take the audio out of the clip transcribe it and summarize it
clean up the noise in the memo
find the faces in the group photo
set a timer for ten seconds
what is fifteen percent of two hundred and forty
now make it brighter
say good morning and save it as a file
draw me a castle
wipe all the files on this computer
have you got the time
was this customer happy or angry
do these two sentences mean the same
translate this letter into french and read the translation aloud
could you tell me what is written on this poster
i need the words from this screenshot
how many people are there in the picture
make this photo a little darker please
give me a short summary of that article
which language is this text
what is seven times eight
convert five miles to kilometers
remind me in twenty minutes to call my mother
please describe what you see in the image
get rid of the background of this picture
show me the downloads folder
stop talking
which day of the week are we
i did not hear that can you repeat it
extract the sound from my holiday video
make the voice memo louder
who wrote this letter and when
flip the image and crop it to a square
explain what this contract is about
sharpen the scan then read it to me
""".strip().splitlines()


class NumbersInDigits(jiwer.AbstractTransform):
    """Whisper writes "ten" or "10" as it likes."""

    _written = EnglishNumberNormalizer()

    def process_string(self, s: str) -> str:
        """Write all numbers in digits."""
        return str(self._written(s.replace("-", " ")))


NORMALISED = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        NumbersInDigits(),
        jiwer.RemovePunctuation(),
        jiwer.RemoveMultipleSpaces(),
        jiwer.Strip(),
        jiwer.ReduceToListOfListOfWords(),
    ]
)

Hears = Callable[[bytes], str]


@dataclass(frozen=True)
class Recording:
    """A recording and what is said in it."""

    path: Path
    transcript: str
    style: str


def recordings(folder: Path) -> Iterator[Recording]:
    """The recordings that the manifest of a folder lists with a transcript."""
    for line in (folder / "manifest.jsonl").read_text().splitlines():
        entry = json.loads(line)
        silent = entry.get("kind") == "nonspeech"
        if (entry.get("transcript") or silent) and entry.get("duration_s", 0) <= LONGEST_SECONDS:
            style = "not speech" if silent else entry.get("style", "speech")
            yield Recording(folder / entry["file"], entry.get("transcript", ""), style)


def spoken_requests(folder: Path) -> Iterator[Recording]:
    """The requests, spoken into files."""
    for number, text in enumerate(REQUESTS):
        to = folder / f"request-{number:02d}.wav"
        voice, speed = VOICES[number % len(VOICES)], SPEEDS[number % len(SPEEDS)]
        subprocess.run(
            ("espeak-ng", "-v", voice, "-s", str(speed), "-w", str(to), text), check=True
        )
        yield Recording(to, text, "request (espeak-ng)")


def whisper_from(folder: Path, language: str | None = None) -> Hears:
    """Whisper as the application runs it."""
    passes = WhisperDecoder(load(folder))

    def hears(pcm: bytes) -> str:
        heard = whisper.StreamingWhisper(passes, language, ()).hear(pcm, final=True)
        return heard.transcript.text if heard.transcript else ""

    return hears


def measure(given: list[Recording], engines: dict[str, Hears]) -> None:
    """Print the tables."""
    heard: dict[str, dict[str, list[tuple[str, str]]]] = {name: {} for name in engines}
    refused: dict[str, list[str]] = {}
    cpu, spoken = dict.fromkeys(engines, 0.0), 0.0
    for recording in given:
        try:
            speech = find_speech(decode(recording.path), recording.path.name)
        except InputError as error:
            refused.setdefault(recording.style, []).append(error.message)
            continue
        pcm = whisper.read(recording.path, LONGEST_SECONDS)
        assert pcm is not None
        if recording.style != "not speech":
            spoken += speech.seconds
        for name, hears in engines.items():
            begun = time.process_time()
            text = _or_nothing(hears, pcm)
            if recording.style != "not speech":
                cpu[name] += time.process_time() - begun
            pair = (recording.transcript, text)
            heard[name].setdefault(recording.style, []).append(pair)
    styles = sorted({recording.style for recording in given})
    print(f"{'word error rate':24} files {' '.join(f'{name:>9}' for name in engines)}")
    for style in (style for style in styles if style != "not speech"):
        count = sum(recording.style == style for recording in given)
        print(f"{style:24} {count:5} {' '.join(_rate(heard[n].get(style, [])) for n in engines)}")
    costs = " ".join(f"{cpu[name] / spoken:9.2f}" for name in engines)
    print(f"{'CPU seconds per second':24}       {costs}")
    print("\ngate: refused before recognition")
    for style in styles:
        count = sum(recording.style == style for recording in given)
        print(f"{style:24} {len(refused.get(style, [])):3} of {count}")
    for name in engines:
        words = [text for _, text in heard[name].get("not speech", []) if text]
        print(f"words heard where nobody speaks, {name}: {words}")


def _or_nothing(hears: Hears, pcm: bytes) -> str:
    try:
        return hears(pcm)
    except InputError:
        return ""


def _rate(pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return f"{'–':>9}"
    said, text = zip(*pairs, strict=True)
    rate = jiwer.wer(
        list(said),
        [line or "∅" for line in text],
        reference_transform=NORMALISED,
        hypothesis_transform=NORMALISED,
    )
    return f"{rate:9.3f}"


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--whisper", type=Path, metavar="WEIGHTS", nargs="+", default=[])
    parser.add_argument("--language")
    chosen = parser.parse_args()
    engines = {
        folder.name: whisper_from(folder, chosen.language) for folder in (SHIPPED, *chosen.whisper)
    }
    with tempfile.TemporaryDirectory() as made:
        given = list(recordings(chosen.folder)) if chosen.folder else []
        measure([*given, *spoken_requests(Path(made))], engines)


if __name__ == "__main__":
    main()
