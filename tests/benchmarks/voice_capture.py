"""How the microphone opens, closes and fails, on a PulseAudio of its own.

    python3 -m tests.benchmarks.voice_capture [--times 200] [--faults 10]

The room is filled with noise that never repeats, and what PulseAudio itself recorded there with a
latency of 5 ms is compared with what the microphone heard: so it is known to the sample when the
first one was from, and the last.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import time
import wave
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import PRE_ROLL, MicrophoneState
from jarvis_desktop.speech.microphone import SoundMicrophone
from tests.sound import RATE as ROOM_RATE
from tests.sound import SoundServer, start_server

RATE = 16_000
TOLD_SECONDS, BACK_SECONDS = 1.0, 3.0
MARKER = RATE // 50
"""Samples of the 20 ms that must not be lost."""

Row = tuple[str, str, str]


def _fill(server: SoundServer, seconds: float) -> None:
    """Let noise below 3 kHz sound in the room for so long."""
    random = np.random.default_rng(0)
    spectrum = np.fft.rfft(random.standard_normal(int(seconds * ROOM_RATE)))
    spectrum[int(3_000 * seconds) :] = 0
    noise = np.fft.irfft(spectrum)
    samples = (noise / np.abs(noise).max() * 20_000).astype("<i2")
    to = server.folder / "noise.wav"
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(ROOM_RATE)
        file.writeframes(samples.tobytes())
    server.say_into_microphone(to)


class Room:
    """What PulseAudio recorded in the room."""

    def __init__(self, server: SoundServer) -> None:
        self._file = server.folder / "room.raw"

    def now(self) -> float:
        """How many samples at RATE it has."""
        return self._file.stat().st_size / 2 / ROOM_RATE * RATE

    def between(self, start: float, end: float) -> np.ndarray:
        """Its samples at RATE."""
        step = ROOM_RATE // RATE
        with self._file.open("rb") as file:
            file.seek(int(start) * step * 2)
            samples = np.frombuffer(file.read(int(end - start) * step * 2), "<i2")
        return samples[: len(samples) // step * step : step].astype(float)

    def place(self, heard: np.ndarray, near: float) -> tuple[float, float]:
        """Where in the room a stretch was heard, and how like it is (1 the same)."""
        start = max(0.0, near - RATE)
        there = self.between(start, near + 2 * RATE)
        size = 1 << (len(there) + len(heard)).bit_length()
        likeness = np.fft.irfft(np.fft.rfft(there, size) * np.conj(np.fft.rfft(heard, size)), size)
        at = int(likeness[: len(there) - len(heard)].argmax())
        window = there[at : at + len(heard)]
        norm = float(np.linalg.norm(window) * np.linalg.norm(heard)) or 1.0
        return int(start) + at, float(window @ heard) / norm


async def _listen(
    microphone: SoundMicrophone, room: Room, seconds: float
) -> tuple[np.ndarray, float, float, float]:
    """What was heard; when in the room it began and was to end; ms from then to its end."""
    until, heard, closed = asyncio.Event(), bytearray(), 0.0
    ended: list[float] = []
    loop = asyncio.get_running_loop()

    def end() -> None:
        ended.extend((room.now(), time.monotonic()))
        until.set()

    begun = room.now()
    loop.call_later(seconds, end)
    async with aclosing(microphone.listen(until)) as sounds:
        async for sound in sounds:
            heard += sound.pcm
    while microphone.state not in ("closed", "open") or (
        microphone.state == "open" and not microphone._held
    ):
        await asyncio.sleep(0.0005)
    closed = (time.monotonic() - ended[1]) * 1000
    return np.frombuffer(bytes(heard), "<i2").astype(float), begun, ended[0], closed


async def _reach(room: Room, place: float) -> None:
    while room.now() < place:
        await asyncio.sleep(0.005)


async def measure_closing(server: SoundServer, times: int) -> list[Row]:
    """Key to first sound and release to closed, with the device closed before."""
    room, microphone = Room(server), SoundMicrophone()
    await microphone.warm()
    closing, lost, cut = [], [], []
    for number in range(times):
        heard, begun, ended, closed = await _listen(microphone, room, 0.2 + 0.001 * (number % 30))
        await _reach(room, ended + RATE // 10)
        first, _ = room.place(heard[:1600], begun)
        last, _ = room.place(heard[-1600:], ended)
        closing.append(closed)
        lost.append((first - begun) / RATE * 1000)
        cut.append((ended - last - 1600) / RATE * 1000)
    await microphone.close()
    return [
        (f"release to closed, {times}", _spread(closing), "max 50 ms"),
        ("device closed before: key to first sample", _spread(lost), ""),
        ("missing before the release", _spread([max(0.0, each) for each in cut]), "0 ms"),
    ]


async def measure_marker(server: SoundServer, times: int) -> list[Row]:
    """Whether the first 20 ms after the key are there, with the device held open."""
    room, microphone = Room(server), SoundMicrophone()
    microphone.hold(open=True)
    while microphone.state != "open":
        await asyncio.sleep(0.01)
    await asyncio.sleep(PRE_ROLL)
    present, before = 0, []
    for number in range(times):
        heard, begun, ended, _ = await _listen(microphone, room, 0.06 + 0.001 * (number % 30))
        await _reach(room, ended + RATE // 10)
        marker = room.between(begun, begun + MARKER)
        first, _ = room.place(heard[:1600], begun - PRE_ROLL * RATE)
        at = round(begun - first)
        there = [_like(heard[at + shift : at + shift + MARKER], marker) for shift in range(-8, 9)]
        present += max(there) > 0.95
        before.append((begun - first) / RATE * 1000)
    await microphone.close()
    return [
        ("held open: first 20 ms after the key present", f"{present} of {times}", f"{times}"),
        ("held open: sound from before the key", _spread(before), "500 ms"),
    ]


def _like(heard: np.ndarray, marker: np.ndarray) -> float:
    if len(heard) != len(marker):
        return 0.0
    return float(heard @ marker / (np.linalg.norm(heard) * np.linalg.norm(marker) + 1e-9))


async def measure_idle(server: SoundServer, seconds: float = 10.0) -> list[Row]:
    """What it costs to keep the device open while nobody listens."""
    microphone = SoundMicrophone()
    microphone.hold(open=True)
    while microphone.state != "open":
        await asyncio.sleep(0.01)
    await asyncio.sleep(1)
    child = microphone._child.pid
    assert child
    before, own = _cpu(child), time.process_time()
    await asyncio.sleep(seconds)
    there = (_cpu(child) - before) / seconds * 100
    here = (time.process_time() - own) / seconds * 100
    status = Path(f"/proc/{child}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) // 1024
    await microphone.close()
    return [
        ("held open, nobody listens: CPU", f"{there:.1f} % child, {here:.1f} % parent", ""),
        ("memory of the child", f"{resident} MB", ""),
    ]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


Faults = dict[str, tuple[Callable[[SoundServer, SoundMicrophone], object], ...]]


def _stop_child(_: SoundServer, microphone: SoundMicrophone) -> None:
    assert microphone._child.pid
    os.kill(microphone._child.pid, signal.SIGSTOP)


def _kill_child(_: SoundServer, microphone: SoundMicrophone) -> None:
    assert microphone._child.pid
    os.kill(microphone._child.pid, signal.SIGKILL)


FAULTS: Faults = {
    "sinks unloaded": (lambda server, _: server.unplug(), lambda server, _: server.plug_in()),
    "server killed": (lambda server, _: server.process.kill(), lambda server, _: server.restart()),
    "server stopped": (lambda server, _: server.freeze(), lambda server, _: server.thaw()),
    "process killed": (_kill_child, lambda *_: None),
    "process hung": (_stop_child, lambda *_: None),
}


async def measure_faults(times: int) -> list[Row]:
    """How soon each fault is told to who listens, and how soon after its end all is well."""
    rows = []
    for name, (begin, end) in FAULTS.items():
        server = start_server()
        os.environ.update(server.environment)
        microphone = SoundMicrophone()
        microphone.hold(open=True)
        told, back = [], []
        for _ in range(times):
            told.append(await _told(microphone, lambda: begin(server, microphone)))  # noqa: B023
            await asyncio.to_thread(end, server, microphone)
            back.append(await _well_again(microphone))
        await microphone.close()
        server.stop()
        rows += [
            (f"{name}: told", f"{_within(told, TOLD_SECONDS)}, {_spread(told)}", "1 s"),
            (f"{name}: usable again", f"{_within(back, BACK_SECONDS)}, {_spread(back)}", "3 s"),
        ]
    return rows


async def measure_switching(times: int) -> list[Row]:
    """How long nothing is heard when another device becomes the system's default."""
    server = start_server()
    os.environ.update(server.environment)
    server.control("load-module", "module-null-sink", "sink_name=other", "rate=48000")
    server.open_ear("other")
    microphone, gaps, moved = SoundMicrophone(), [], 0
    microphone.hold(open=True)
    for number in range(times):
        await _well_again(microphone)
        await asyncio.sleep(0.5)
        source = "microphone" if number % 2 else "other.monitor"
        begun = time.monotonic()
        await asyncio.to_thread(server.control, "set-default-source", source)
        gap, lost = await _longest_gap(microphone, begun)
        gaps.append(gap)
        moved += not lost
    await microphone.close()
    server.stop()
    return [
        ("default switched: nothing heard for", f"{_within(gaps, 3)}, {_spread(gaps)}", "3 s"),
        ("default switched: the stream went on", f"{moved} of {times}", ""),
    ]


async def _longest_gap(microphone: SoundMicrophone, begun: float) -> tuple[float, bool]:
    """Milliseconds within the next two seconds, and whether the device was lost."""
    gap, last, lost = 0.0, begun, False
    while time.monotonic() < begun + 2:
        try:
            async with aclosing(microphone.listen(asyncio.Event())) as sounds:
                async for sound in sounds:
                    if not sound.before:
                        gap, last = max(gap, time.monotonic() - last), time.monotonic()
                    if last > begun + 2:
                        break
        except UnavailableError:
            lost = True
            await _well_again(microphone)
    return gap * 1000, lost


async def _told(microphone: SoundMicrophone, begin: Callable[[], object]) -> float:
    """Milliseconds until who listens is told."""
    begun = 0.0
    try:
        async with aclosing(microphone.listen(asyncio.Event())) as sounds:
            async for _ in sounds:
                if not begun:
                    await asyncio.sleep(0.1)
                    begun = time.monotonic()
                    begin()
    except UnavailableError:
        return (time.monotonic() - begun) * 1000
    raise AssertionError("the microphone went on")


async def _well_again(microphone: SoundMicrophone) -> float:
    """Milliseconds until the device gives sound again."""
    begun = time.monotonic()
    seen: asyncio.Queue[MicrophoneState] = asyncio.Queue()
    microphone.watch(seen.put_nowait)
    while microphone.state != "open":
        await seen.get()
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        await anext(sounds)
    return (time.monotonic() - begun) * 1000


def _within(figures: list[float], limit: float) -> str:
    return f"{sum(figure <= limit * 1000 for figure in figures)} of {len(figures)}"


def _spread(figures: list[float]) -> str:
    ordered = sorted(figures)
    at_95 = ordered[round(0.95 * (len(ordered) - 1))]
    return f"p50 {statistics.median(ordered):.0f} ms, p95 {at_95:.0f} ms, max {ordered[-1]:.0f} ms"


def table(times: int = 200, faults: int = 10) -> list[Row]:
    """What was measured, the figure, and its limit."""
    server = start_server()
    os.environ.update(server.environment)
    _fill(server, 0.6 * times + 60)
    parts: tuple[Callable[[], Awaitable[list[Row]]], ...] = (
        lambda: measure_closing(server, times),
        lambda: measure_marker(server, times),
        lambda: measure_idle(server),
    )
    rows = []
    try:
        for part in parts:
            rows += asyncio.run(_run(part))
    finally:
        server.stop()
    return [*rows, *asyncio.run(measure_faults(faults)), *asyncio.run(measure_switching(faults))]


async def _run(part: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
    return await part()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--faults", type=int, default=10)
    chosen = parser.parse_args()
    for what, figure, limit in table(chosen.times, chosen.faults):
        print(f"{what:48} {figure:48} {limit}")


if __name__ == "__main__":
    main()
