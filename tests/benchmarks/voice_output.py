"""Sound out: how soon it begins, how soon it is silent, gaps, faults, and what it leaves behind.

    python -m tests.benchmarks.voice_output [--few]

On a PulseAudio of its own. What is heard is recorded from the monitor of its null sink in pieces of
some milliseconds, each with the time at which it came; a time here is from the call in this process
to that, the recorder's own delay included.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np

from jarvis_desktop.assistant.speaker import AnswerSpeaker, SpokenAnswer
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.speech.player import SoundPlayer
from tests.fakes import FakeStore
from tests.sound import RATE, SoundServer, start_server, write_tone

Row = tuple[str, str, str]
"""What, its figure, its limit."""

LOUD = 0.01
TOLD_SECONDS, OPENING_SECONDS = 1.0, 2.0
RATES = (22_050, 24_000, 16_000, 48_000)
NULL = "</usr/share/alsa/alsa.conf>\npcm.!default { type null }\nctl.!default { type null }\n"


class Ear:
    """Hears the speaker, with the time at which each piece of sound came."""

    def __init__(self, server: SoundServer) -> None:
        self._heard: list[tuple[float, np.ndarray]] = []
        self._recorder = subprocess.Popen(
            (
                "parec",
                "--device=speaker.monitor",
                f"--rate={RATE}",
                "--channels=1",
                "--format=s16le",
                "--latency-msec=5",
                "--process-time-msec=1",
            ),
            env={**os.environ, **server.environment},
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        server.players.append(self._recorder)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._recorder.stdout is not None
        while data := os.read(self._recorder.stdout.fileno(), 65536):
            came = time.monotonic()
            samples = np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / 32768
            self._heard.append((came, samples))

    def since(self, begin: float) -> list[tuple[float, np.ndarray]]:
        """What came since then; what is older is forgotten."""
        self._heard = [piece for piece in self._heard if piece[0] >= begin]
        return self._heard

    async def first(self, begin: float) -> float:
        """When the first sound came after that."""
        while True:
            for came, samples in self.since(begin):
                if np.any(np.abs(samples) > LOUD):
                    return came
            await asyncio.sleep(0.002)

    def last(self, begin: float) -> float:
        """When the last sound came; `begin` where none came since."""
        loud = [came for came, samples in self.since(begin) if np.any(np.abs(samples) > LOUD)]
        return max(loud, default=begin)

    def longest_gap(self, begin: float) -> float:
        """Seconds without sound between the first and the last sound."""
        sound = np.concatenate([samples for _, samples in self.since(begin)])
        loud = np.flatnonzero(np.abs(sound) > LOUD)
        return float(np.diff(loud).max() - 1) / RATE


class Tones:
    """A voice that has each sentence ready: a tone, at another rate each time."""

    def __init__(self) -> None:
        self._said = 0

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        self._said += 1
        return write_tone(to, seconds=0.35, frequency=400, rate=RATES[self._said % len(RATES)])

    async def close(self) -> None:
        """Nothing is open."""


def spread(seconds: Sequence[float], *shares: float) -> str:
    """Figures of a distribution in milliseconds: these shares, and the largest."""
    ordered = sorted(seconds)
    named = [f"p{share * 100:g} {ordered[int(share * len(ordered))] * 1e3:.1f}" for share in shares]
    return f"{', '.join(named)}, max {ordered[-1] * 1e3:.1f} ms"


async def begins(player: SoundPlayer, ear: Ear, folder: Path, count: int) -> Row:
    """From `play` to the first sample."""
    tone = write_tone(folder / "short.wav", seconds=0.2)
    took = []
    for _ in range(count):
        called = time.monotonic()
        playing = asyncio.create_task(player.play(tone))
        took.append(await ear.first(called) - called)
        await playing
    return f"play -> first sample, {count} times", spread(took, 0.5, 0.95), "p95 30 ms"


async def answers(player: SoundPlayer, ear: Ear, folder: Path, count: int) -> Row:
    """From the piece of an answer that makes its first sentence whole to the first sample."""
    speaker = AnswerSpeaker(Tones(), player, FakeStore(folder))
    took = []
    for _ in range(count):
        speech = SpokenAnswer(speaker, _unseen)
        for piece in ("It ", "is ", "noon", "."):
            speech.add(piece)
            await asyncio.sleep(0.01)
        written = time.monotonic()
        speech.add(" And")
        took.append(await ear.first(written) - written)
        speech.stop()
        await speech.stopped()
    what = f"first sentence written -> first sample, {count} times"
    return what, spread(took, 0.5, 0.95), "p95 30 ms"


async def falls_silent(player: SoundPlayer, ear: Ear, folder: Path, count: int) -> list[Row]:
    """From `silence` to the last sample, and to the stream's end in the other process."""
    tone = write_tone(folder / "long.wav", seconds=20)
    chance = random.Random(6)
    heard, stopped = [], []
    line = player._line
    for _ in range(count):
        called = time.monotonic()
        playing = asyncio.create_task(player.play(tone))
        await ear.first(called)
        await asyncio.sleep(chance.uniform(0.05, 0.25))
        called = time.monotonic()
        player.silence()
        while line.shared.silent < line.shared.silences:
            time.sleep(0.0001)  # the loop has no part in it
        stopped.append(time.monotonic() - called)
        await playing
        await asyncio.sleep(0.1)
        heard.append(ear.last(called) - called)
    return [
        (f"silence -> last sample, {count} times", spread(heard, 0.5, 0.99), "p99 10 ms"),
        ("silence -> stream ended", spread(stopped, 0.5, 0.99), "p99 10 ms"),
    ]


async def gap(player: SoundPlayer, ear: Ear, folder: Path, count: int) -> Row:
    """The longest silence between sentences whose files differ in rate."""
    speaker = AnswerSpeaker(Tones(), player, FakeStore(folder))
    begun = time.monotonic()
    await speaker.say(" ".join(f"This is number {number}." for number in range(count)), _unseen)
    return (
        f"longest gap in {count} sentences",
        f"{ear.longest_gap(begun) * 1e3:.1f} ms",
        "5 ms",
    )


async def under_load(player: SoundPlayer, ear: Ear, folder: Path, seconds: float) -> Row:
    """The longest gap in a tone while the processors are busy."""
    tone = write_tone(folder / "load.wav", seconds=seconds, frequency=400)
    count = 2 * (os.cpu_count() or 1)
    busy = [
        subprocess.Popen((sys.executable, "-c", "while True: sum(range(10000))"))
        for _ in range(count)
    ]
    try:
        begun = time.monotonic()
        await player.play(tone)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    what = f"longest gap in {seconds:.0f} s, {count} busy processes on {os.cpu_count()} cores"
    return what, f"{ear.longest_gap(begun) * 1e3:.1f} ms", "5 ms"


def footprint(pid: int) -> tuple[int, int]:
    """KiB of memory and the number of threads of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return int(found["VmRSS"].split()[0]), int(found["Threads"])


async def leaves_nothing(player: SoundPlayer, ear: Ear, folder: Path, count: int) -> list[Row]:
    """Memory and threads of both processes over many plays, a fifth of them silenced."""
    tone = write_tone(folder / "blip.wav", seconds=0.03)
    pids = {"this process": os.getpid(), "sound output": player._child.pid or 0}
    before: dict[str, tuple[int, int]] = {}
    for number in range(count):
        ear.since(time.monotonic())  # what it remembers is no part of the figure
        if number == count // 10:
            before = {name: footprint(pid) for name, pid in pids.items()}
        playing = asyncio.create_task(player.play(tone, more=number % 3 == 0))
        if number % 5 == 0:
            await asyncio.sleep(0.02)
            player.silence()
        await playing
    rows = []
    for name, pid in pids.items():
        (memory, threads), (memory_then, threads_then) = footprint(pid), before[name]
        growth = f"{(memory - memory_then) / 1024:+.1f} MiB, {threads - threads_then:+d} threads"
        rows.append((f"{name} over {count} plays", growth, "+2 MiB, +0"))
    return rows


Break = Callable[[SoundServer, SoundPlayer], Awaitable[None]]


async def unload(server: SoundServer, player: SoundPlayer) -> None:
    """All loudspeakers are unplugged."""
    server.control("unload-module", "module-null-sink")


async def kill_server(server: SoundServer, player: SoundPlayer) -> None:
    """The sound service ends."""
    server.process.kill()


async def freeze_server(server: SoundServer, player: SoundPlayer) -> None:
    """The sound service hangs."""
    server.freeze()


async def kill_child(server: SoundServer, player: SoundPlayer) -> None:
    """The process of the sound output ends."""
    os.kill(player._child.pid or 0, signal.SIGKILL)


async def freeze_child(server: SoundServer, player: SoundPlayer) -> None:
    """The process of the sound output hangs."""
    os.kill(player._child.pid or 0, signal.SIGSTOP)


def repair(server: SoundServer) -> None:
    """A sound service that works."""
    server.thaw()
    server.process.kill()
    for player in server.players:
        player.kill()
        player.wait()
    server.players.clear()
    server.restart()


@asynccontextmanager
async def a_player() -> AsyncIterator[SoundPlayer]:
    """A player that is ready."""
    player = SoundPlayer()
    try:
        await player.warm()
        yield player
    finally:
        await player.close()


async def told(playing: Awaitable[None]) -> float | None:
    """Seconds until it was told that nothing is heard; None where it never was."""
    begun = time.monotonic()
    try:
        await asyncio.wait_for(playing, 15)
    except UnavailableError:
        return time.monotonic() - begun
    except TimeoutError:
        return None
    return None


async def faults(server: SoundServer, folder: Path, count: int) -> list[Row]:
    """Each fault while something plays, and again before something is played."""
    tone = write_tone(folder / "tone.wav", seconds=30)
    short = write_tone(folder / "after.wav", seconds=0.1)
    rows = []
    for breaks in (unload, kill_server, freeze_server, kill_child, freeze_child):
        for plays in (True, False):
            times: list[float] = []
            worked = 0
            for _ in range(count):
                async with a_player() as player:
                    playing = asyncio.create_task(player.play(tone))
                    await asyncio.sleep(0.3)
                    if not plays:
                        player.silence()
                        await playing
                    await breaks(server, player)
                    if not plays:
                        playing = asyncio.create_task(player.play(tone))
                    if (seconds := await told(playing)) is not None:
                        times.append(seconds)
                    repair(server)
                    await player.play(short)
                    worked += 1
            rows.append(_fault(breaks, plays, times, worked, count))
    return rows


def _fault(breaks: Break, plays: bool, times: list[float], worked: int, count: int) -> Row:
    what = f"{(breaks.__doc__ or '')[:-1]}, {'playing' if plays else 'at rest'}"
    longest = f"{max(times):.2f} s" if times else "-"
    limit = TOLD_SECONDS if plays else OPENING_SECONDS
    needed = f"{count}/{count} in {limit:.0f} s"
    return what, f"{len(times)}/{count} in {longest}, next {worked}/{count}", needed


async def silent_success(folder: Path, count: int) -> Row:
    """A device that takes all sound at once and plays none of it."""
    (folder / "null.conf").write_text(NULL)
    os.environ["ALSA_CONFIG_PATH"] = str(folder / "null.conf")
    os.environ["PULSE_SERVER"] = str(folder / "nowhere")
    tone = write_tone(folder / "unheard.wav", seconds=0.5)
    times = []
    async with a_player() as player:
        for _ in range(count):
            if (seconds := await told(player.play(tone))) is not None:
                times.append(seconds)
    longest = f"{max(times):.2f} s" if times else "-"
    return (
        "A device that plays nothing",
        f"{len(times)}/{count} in {longest}",
        f"{count}/{count} in 2 s",
    )


async def table(*, few: bool = False) -> list[Row]:
    """All figures, beside their limits; `few` of them for a first look."""
    server = start_server()
    os.environ.update(server.environment)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ear = Ear(server)
            async with a_player() as player:
                rows = [
                    await begins(player, ear, folder, 20 if few else 100),
                    await answers(player, ear, folder, 20 if few else 100),
                    *await falls_silent(player, ear, folder, 40 if few else 200),
                    await gap(player, ear, folder, 10 if few else 40),
                    await under_load(player, ear, folder, 5 if few else 20),
                    *await leaves_nothing(player, ear, folder, 100 if few else 500),
                ]
            rows += await faults(server, folder, 1 if few else 10)
            return [*rows, await silent_success(folder, 1 if few else 10)]
    finally:
        server.stop()


def _unseen(event: object) -> None:
    """Nobody looks."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="only a first look")
    rows = asyncio.run(table(few=parser.parse_args().few))
    for what, figure, limit in rows:
        print(f"{what:58}{figure:>44}{limit:>18}")


if __name__ == "__main__":
    main()
