"""Whether the microphone takes the computer's own voice for the user's, and how soon it hears them.

    python3 -m tests.benchmarks.barge_in FOLDER [--minutes 30] [--people 100] [--levels 0 -6]

FOLDER holds recordings of people at 16 kHz and a manifest.jsonl with a line for each: "file" and
"transcript" ("" or none if nobody speaks). The voice in the box speaks the 100 sentences of
voice_sentences.txt without end, and the microphone hears it at several levels, 20 to 120 ms late,
as it is, from a small room, or from a loudspeaker that distorts, with faint noise. Both go
through the code of the microphone's process, 30 ms at a time as there, only faster:
`PlayedSound`, `EchoCanceller`, Silero, and the same without the canceller.

Own words taken for the user's are speech that begins while nobody but the voice speaks, as
`BargeIn` sees it. For interruptions each person begins to speak at -23 dB below full scale over
the voice, which by itself has -26 dB; the time is from the begin of the first speech in their
recording, where Silero is sure of three frames that follow each other, to the end of the stretch
in which speech has begun.

--real MINUTES measures the same in real time, with the real player, microphone and `BargeIn`,
each in its process, on a PulseAudio of its own: what comes out of the speaker goes into the
microphone at the levels, and people are played into it. The time is from the first speech until
the player was asked to be quieter.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from jarvis_desktop.assistant.talk.barge_in import (
    DUCKED_VOLUME,
    LIKELY_FRAMES,
    LIKELY_SPEECH,
    PAUSE_S,
    SPEECH_PROBABILITY,
    BargeIn,
    EndDetector,
)
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import FRAME, RATE
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.echo_canceller import EchoCanceller
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.played_sound import PlayedSound
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.vad import Silero
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import HibariVoice
from jarvis_desktop.text.speakable import speakable
from tests.benchmarks.voice_capture import Room
from tests.benchmarks.voice_quality import sentences
from tests.fake_voice import FakeRecogniser
from tests.sound import SoundServer, start_server

POLL = round(0.03 * RATE)
DEVICE_RATE = 48_000
START_S = 100.0
EARLY_S = 0.15  # how early a device takes sound
PERSON_DB, NOISE_DB = -23, -62
REST_S = 1.5  # between two interruptions
SENTENCES = 100  # each is played by itself, and starts who listens again if that was lost
LIMIT_S = 0.3
WAYS = ("plain", "room", "distorted")

Floats = np.ndarray[Any, np.dtype[np.float64]]
Person = tuple[Floats, int]
"""A recording, and the sample at which its first speech begins."""


async def own_voice() -> Floats:
    """The sentences at RATE, one after another."""
    voice = LocalVoice(engine=HibariVoice())
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "said.wav"
        said = [decode(await voice.synthesise(speakable(text), to)) for text, _ in sentences()]
    await voice.close()
    return np.concatenate(said).astype(np.float64)


def people(folder: Path, most: int) -> Iterator[Person]:
    """The recordings of a folder whose first speech is clear by itself."""
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if not row.get("transcript") or most == 0:
            continue
        samples = decode(folder / row["file"])[: 8 * RATE].astype(np.float64)
        likely = np.array(Silero().hear(np.pad(samples, (4 * FRAME, 0)).astype(np.float32)))
        sure = likely >= SPEECH_PROBABILITY
        runs = np.flatnonzero(sure[:-2] & sure[1:-1] & sure[2:])
        if len(runs):
            begin = max(0, (int(runs[0]) - 4) * FRAME)
            loudness = np.sqrt(np.mean(samples[begin : begin + 2 * RATE] ** 2))
            most -= 1
            scaled = np.clip(samples * 10 ** (PERSON_DB / 20) / loudness, -1, 1)
            yield scaled[: begin + 2 * RATE], begin


def heard_from_the_speaker(
    voice: Floats, way: str, level: float, delay: float, random: np.random.Generator
) -> Floats:
    """What the microphone hears of the voice."""
    sound = voice
    if way == "distorted":  # 3 % at the peaks of a loud voice
        sound = np.tanh(1.2 * sound) / 1.2
    if way != "plain":
        length = int(0.2 * RATE)
        room = random.standard_normal(length) * np.exp(-6.9 * np.arange(length) / (0.3 * RATE))
        room *= 1 / np.sqrt(np.sum(room**2))  # as loud as what comes directly
        room[0] = 1.0
        size = 1 << (len(sound) + length).bit_length()
        spectrum = np.fft.rfft(sound, size) * np.fft.rfft(room / np.sqrt(2), size)
        sound = np.fft.irfft(spectrum, size)[: len(sound)]
    late = round(delay * RATE)
    echo = np.concatenate((np.zeros(late), sound))[: len(voice)] * 10 ** (level / 20)
    return echo + random.standard_normal(len(echo)) * 10 ** (NOISE_DB / 20)


def as_heard(voice: Floats, microphone: Floats, *, cancel: bool) -> Iterator[tuple[float, ...]]:
    """The probabilities of speech in each stretch of POLL samples."""
    played, silero = PlayedSound(), Silero()
    canceller = EchoCanceller(played)
    step = POLL * DEVICE_RATE // RATE
    early = round(EARLY_S * RATE)
    ahead = np.repeat(voice, DEVICE_RATE // RATE)
    played.begin(DEVICE_RATE)
    played.add(ahead[: early * DEVICE_RATE // RATE, None], START_S)
    for at in range(0, len(microphone) - POLL + 1, POLL):
        start = (at + early) * DEVICE_RATE // RATE
        played.add(ahead[start : start + step, None], START_S + (at + early) / RATE)
        samples = np.clip(microphone[at : at + POLL] * 32767, -32767, 32767).astype(np.int16)
        clean = canceller(samples, START_S + (at + POLL) / RATE) if cancel else samples
        yield silero.hear(clean.astype(np.float32) / np.float32(32768))


def beginnings(likely: Iterator[tuple[float, ...]]) -> list[int]:
    """The samples up to which sound was heard each time that speech began."""
    found: list[int] = []
    end, count = EndDetector(pause=PAUSE_S, patience=PAUSE_S), 0
    for number, each in enumerate(likely, 1):
        over = end.take(each)
        before, count = count, count + sum(frame >= LIKELY_SPEECH for frame in each)
        if before < LIKELY_FRAMES <= count:
            found.append(number * POLL)
        if over:
            end, count = EndDetector(pause=PAUSE_S, patience=PAUSE_S), 0
    return found


def own_words(voice: Floats, way: str, level: float, seconds: float, *, cancel: bool) -> int:
    """How often the voice alone is taken for a user."""
    random = np.random.default_rng(round(-level))
    said = np.resize(np.roll(voice, random.integers(len(voice))), round(seconds * RATE))
    echo = heard_from_the_speaker(said, way, level, random.uniform(0.02, 0.12), random)
    return len(beginnings(as_heard(said, echo, cancel=cancel)))


def interruptions(
    voice: Floats, way: str, level: float, persons: list[Person], *, cancel: bool
) -> list[float]:
    """After how many seconds each was heard, infinite if not at all."""
    random = np.random.default_rng(round(-level))
    at, places = 5 * RATE, []
    for samples, begin in persons:
        places.append((at, at + begin, at + len(samples)))
        at += len(samples) + round(random.uniform(1, 1.3) * REST_S * RATE)
    said = np.resize(voice, at)
    heard = heard_from_the_speaker(said, way, level, random.uniform(0.02, 0.12), random)
    for (start, _, end), (samples, _) in zip(places, persons, strict=True):
        heard[start:end] += samples
    found = np.array(beginnings(as_heard(said, heard, cancel=cancel)))
    took = []
    for start, begin, end in places:
        within = found[(found > start) & (found <= end)] if len(found) else found
        took.append((within[0] - begin) / RATE if len(within) else np.inf)
    return took


class Loop:
    """The real parts, and what `BargeIn` does when."""

    def __init__(self, server: SoundServer) -> None:
        self.room = Room(server)
        self.began: list[float] = []
        """Where in the room the voice was to be quieter."""
        self.stopped = 0
        played = PlayedSound()
        self.player = SoundPlayer(played=played)
        self.microphone = SoundMicrophone(played=played)
        self.interruption = BargeIn(
            self.start, self.microphone, FakeRecogniser(), duck=self._duck, echo_free=lambda: True
        )  # fmt: skip

    def start(self, *, held: bool = False, said: bytes = b"", echo_free: bool = False) -> None:
        """Of the Talk: the user is heard; the voice speaks on, and is listened to again."""
        self.stopped += 1
        loop = asyncio.get_running_loop()
        loop.call_later(PAUSE_S, self.interruption.speaking, "It speaks.")

    def _duck(self, share: float) -> None:
        if share == DUCKED_VOLUME:
            self.began.append(self.room.now())

    async def speak(self, files: list[Path]) -> None:
        """Speak without end; each sentence restarts what listens."""
        for file in itertools.cycle(files):
            try:
                await self.player.play(
                    file, more=True, begun=lambda: self.interruption.speaking("It speaks.")
                )
            except UnavailableError as error:  # on a busy computer
                print(error, flush=True)


async def real_time(
    voice: list[Path], files: list[Path], persons: list[Person], level: float, seconds: float
) -> tuple[int, int, list[float]]:
    """How often the voice was taken for a user and stopped, and the times of the interruptions."""
    server = start_server()
    os.environ.update(server.environment)
    loop = ("module-loopback", "source=speaker.monitor", "sink=room", "latency_msec=40")
    server.control("load-module", *loop)
    (number, *_) = server.control("list", "short", "sink-inputs").split()
    server.control("set-sink-input-volume", number, f"{level:.0f}dB")
    parts = Loop(server)
    await parts.microphone.warm()
    speaking = asyncio.create_task(parts.speak(voice))
    await asyncio.sleep(seconds)
    own, stopped, took = len(parts.began), parts.stopped, list[float]()
    for file, (samples, begin) in zip(files, persons, strict=True):
        before, known = parts.room.now(), len(parts.began)
        await asyncio.to_thread(server.say_into_microphone(file).wait)
        await asyncio.sleep(PAUSE_S + REST_S)
        place, likeness = parts.room.place(samples[begin : begin + RATE], before + begin)
        soon = [at for at in parts.began[known:] if at > place - begin]
        took.append((soon[0] - place) / RATE if soon else np.inf)
        if took[-1] > LIMIT_S:
            print(f"late: {file.stem}, {took[-1]:.2f} s, {likeness:.2f} like itself in the room")
    speaking.cancel()
    await asyncio.gather(speaking, return_exceptions=True)
    await parts.interruption.close()
    await asyncio.gather(parts.player.close(), parts.microphone.close())
    server.stop()
    return own, stopped, took


def measure_real(voice: Floats, persons: list[Person], levels: list[float], minutes: float) -> None:
    """Print a row for each level."""
    with tempfile.TemporaryDirectory() as folder:
        for level in levels:
            said = [Path(folder) / f"said{number}.wav" for number in range(SENTENCES)]
            for file, part in zip(said, np.array_split(voice, SENTENCES), strict=True):
                soundfile.write(file, part, RATE)
            files = [Path(folder) / f"person{number}.wav" for number in range(len(persons))]
            for file, (samples, _) in zip(files, persons, strict=True):
                soundfile.write(file, samples, RATE)
            own, stopped, took = asyncio.run(
                real_time(said, files, persons, level, minutes * 60 / len(levels))
            )
            soon = sum(each <= LIMIT_S for each in took)
            print(
                f"real time, {level:.0f} dB: own words {own} times (stopped {stopped}) in "
                f"{minutes * 60 / len(levels):.0f} s; heard within {LIMIT_S} s: {soon} of "
                f"{len(took)}, p50 {np.median(took):.2f} s, max {max(took):.2f} s",
                flush=True,
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--levels", type=float, nargs="+", default=[0, -6, -12, -20])
    parser.add_argument("--ways", nargs="+", default=WAYS)
    parser.add_argument("--without", action="store_true", help="without echo cancellation too")
    parser.add_argument("--real", type=float, metavar="MINUTES")
    chosen = parser.parse_args()
    voice = asyncio.run(own_voice())
    persons = list(people(chosen.folder, chosen.people))
    if chosen.real:
        measure_real(voice, persons, chosen.levels, chosen.real)
        return
    seconds = chosen.minutes * 60 / len(chosen.levels) / len(chosen.ways)
    for cancel in (True, False) if chosen.without else (True,):
        name = "with echo cancellation" if cancel else "without it"
        taken, all_took = 0, list[float]()
        for way in chosen.ways:
            for level in chosen.levels:
                begun = time.process_time()
                own = own_words(voice, way, level, seconds, cancel=cancel)
                cost = (time.process_time() - begun) / seconds
                took = interruptions(voice, way, level, persons, cancel=cancel)
                taken += own
                all_took += took
                late = [each for each in took if each > LIMIT_S]
                print(
                    f"{name}, {way}, {level:.0f} dB: own words {own} times in {seconds:.0f} s; "
                    f"heard within {LIMIT_S} s: {len(took) - len(late)} of {len(took)}, p50 "
                    f"{np.median(took):.2f} s, never {np.isinf(took).sum()}; {cost:.1%} of a core",
                    flush=True,
                )
        soon = sum(each <= LIMIT_S for each in all_took)
        print(
            f"{name}, all: own words taken for the user's {taken} times in {chosen.minutes:.0f} "
            f"minutes; interruptions heard within {LIMIT_S} s: {soon} of {len(all_took)} "
            f"({soon / len(all_took):.1%})"
        )


if __name__ == "__main__":
    main()
