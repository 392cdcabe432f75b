"""The voices: how long a sentence takes to be a file, and what becomes of engines that fail.

    python -m tests.benchmarks.voice_voices [--few]

Times are from the call to the file, in this process, the way to the engine's own included; beside
them stands the command line of espeak-ng, which is the same engine without all that. Kokoro's are
of the tiny one of the tests, so they are what is added to the network's own time: finding the
sounds, cutting, and writing. Faults are those of a stand-in engine that crashes, ends, hangs, says
nothing or raises, and of an engine that is killed while it speaks; each must be told in time, and
the next sentence must be spoken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, JarvisError
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import KokoroVoice, PiperVoice
from jarvis_desktop.text.speakable import speakable
from tests.speech.neural import piper_program, piper_voices, tiny_kokoro

Row = tuple[str, str, str]
"""What, its figure, its limit."""

SENTENCES = (
    "It is late.",
    "The timer is set for ten minutes.",
    "The summary says that the meeting was moved to Tuesday.",
    "Three files were found, and the newest of them was written this morning by somebody else.",
    "The report has four parts: what was done, what it cost, what went wrong on the way, and what "
    "is to be done next year, for which there is no plan so far.",
)
FAULTS = ("crash", "exit", "hang", "mute", "nothing is written", "raise")
TOLD_SECONDS = 2.0
SLACK_SECONDS = 0.15
"""That a busy computer may take to notice."""


def table(*, few: bool = False) -> list[Row]:
    """All measurements, as rows of what, figure and limit."""
    return asyncio.run(_table(rounds=4 if few else 40, faults=2 if few else 50))


async def _table(rounds: int, faults: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = piper_program(folder / "piper-program")
        rows = [*await _times("system voice", LocalVoice(), folder, rounds, "15 ms")]
        rows += [*await asyncio.to_thread(_command_line, folder, rounds)]
        kokoro = LocalVoice(engine=KokoroVoice(tiny_kokoro(folder / "kokoro")))
        rows += [*await _times("Kokoro, tiny", kokoro, folder, rounds, "")]
        piper = LocalVoice(engine=PiperVoice(piper_voices(folder / "piper"), program))
        rows += [*await _times("Piper, stand-in", piper, folder, rounds, "")]
        rows += [await _faults(fault, folder, faults) for fault in FAULTS]
        rows.append(await _killed(folder, faults))
        return [*rows, *_reading()]


async def _times(
    name: str, voice: LocalVoice, folder: Path, rounds: int, limit: str
) -> Sequence[Row]:
    begun = time.perf_counter()
    await voice.warm()
    started = time.perf_counter() - begun
    taken = []
    try:
        for number in range(rounds * len(SENTENCES)):
            begun = time.perf_counter()
            await voice.synthesise(SENTENCES[number % len(SENTENCES)], folder / "said.wav")
            taken.append(time.perf_counter() - begun)
            await asyncio.sleep(0.02)  # sentences do not come at once
    finally:
        await voice.close()
    return (
        (f"{name}: start of its process", f"{started * 1000:.0f} ms", ""),
        (f"{name}: a sentence, p50 / p95", _milliseconds(taken), limit and f"{limit} p95"),
    )


def _command_line(folder: Path, rounds: int) -> Sequence[Row]:
    taken = []
    for number in range(rounds * len(SENTENCES)):
        text = SENTENCES[number % len(SENTENCES)]
        begun = time.perf_counter()
        command = ["espeak-ng", "-v", "en-us", "-w", str(folder / "plain.wav"), text]
        subprocess.run(command, check=True)
        taken.append(time.perf_counter() - begun)
    return (("espeak-ng's command line: a sentence, p50 / p95", _milliseconds(taken), "peer"),)


async def _faults(fault: str, folder: Path, times: int) -> Row:
    voice = LocalVoice(system_args=("tests.speech.engines:Engine",))
    to = folder / "after.wav"
    told, slowest, after = 0, 0.0, 0
    try:
        for _ in range(times):
            await voice.warm()
            begun = time.perf_counter()
            try:
                await voice.synthesise(f"{fault} now", to)
            except ExpertError:
                taken = time.perf_counter() - begun
                slowest = max(slowest, taken)
                told += taken < TOLD_SECONDS + SLACK_SECONDS and not to.exists()
            after += await _speaks(lambda: voice.synthesise("speak", to), to)
    finally:
        await voice.close()
    return _counted(f"engine: {fault}", told, after, times, slowest)


async def _killed(folder: Path, times: int) -> Row:
    voice = LocalVoice()
    to = folder / "after.wav"
    told, slowest, after = 0, 0.0, 0
    try:
        for _ in range(times):
            await voice.warm()
            pid = voice._system._child.pid
            assert pid is not None
            speaking = asyncio.create_task(voice.synthesise(SENTENCES[-1] * 20, to))
            await asyncio.sleep(0.005)
            os.kill(pid, signal.SIGKILL)
            begun = time.perf_counter()
            try:
                await speaking
            except JarvisError:
                slowest = max(slowest, time.perf_counter() - begun)
                told += not to.exists()
            after += await _speaks(lambda: voice.synthesise("hello", to), to)
    finally:
        await voice.close()
    return _counted("engine: killed while it speaks", told, after, times, slowest)


async def _speaks(say: Callable[[], Awaitable[Path]], to: Path) -> bool:
    try:
        await say()
    except JarvisError:
        return False
    spoken = to.stat().st_size > 1000
    to.unlink()
    return spoken


def _counted(what: str, told: int, after: int, times: int, slowest: float) -> Row:
    figure = f"{told}/{times} told, {after}/{times} next spoken, slowest {slowest * 1000:.0f} ms"
    return what, figure, f"{times}/{times} in {TOLD_SECONDS:.0f} s"


def _reading() -> Sequence[Row]:
    line = "The meeting is on 2026-11-22 at 14:30, costs €5 & is in **room** `3`, see [it](x.org). "
    plain = "The summary says that the meeting was moved to Tuesday, and nobody minds it much. "
    rows = []
    for name, text in (("prose", plain), ("numbers and markup", line)):
        text = (text * 2000)[:100_000]
        begun = time.process_time()
        speakable(text)
        taken = time.process_time() - begun
        rows.append(
            (f"made speakable: 100 kB of {name}", f"{taken * 1000:.0f} ms of processor", "100 ms")
        )
    return rows


def _milliseconds(taken: list[float]) -> str:
    ordered = sorted(taken)
    late = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
    return f"{ordered[len(ordered) // 2] * 1000:.1f} / {late * 1000:.1f} ms"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", action="store_true", help="only a few of each")
    for what, figure, limit in table(few=parser.parse_args().few):
        print(f"{what:55} {figure:60} {limit}")


if __name__ == "__main__":
    main()
