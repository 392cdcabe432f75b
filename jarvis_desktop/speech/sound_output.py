"""Plays files on a PortAudio output, one after the other without a gap. Only imported in child
processes.

The parent calls one thing after the other; between its calls the sound goes on, and what cannot
wait for a call (silence, the volume) comes by the SoundLine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np

from jarvis_desktop.child_main import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.speech.output_stream import TO_BEAT, TO_LOAD, Block, OutputStream
from jarvis_desktop.speech.playable import Playable, opened
from jarvis_desktop.speech.portaudio import portaudio
from jarvis_desktop.speech.sound_line import SoundLine

AHEAD = 1.0
"""Seconds that are decoded in advance."""
LEAD = 0.1
"""Seconds before the end in which the next file must come, for there to be no gap."""
BEAT = 0.05
"""Seconds between signs of life, at most."""
TICK = 1.0
REST = 10.0
"""Seconds after which a device that is not used is closed."""


def make(line: SoundLine, device: str | None) -> Handler:
    """The handler: the first argument names what to do, the second is how often silence had been
    asked for when it was."""
    line.be_patient(TO_LOAD)
    portaudio()
    stream = OutputStream(line, device)
    out = Output(line, stream)
    threading.Thread(target=out.obey, name="sound-line", daemon=True).start()
    line.be_patient(TO_BEAT)

    def handle(report: Report, what: str, wish: int, *args: Any) -> None:
        line.beat()
        if what == "play":
            out.play(report, wish, *args)
        elif what == "drain":
            out.drain(wish)
        else:
            stream.renew()

    return handle


class Output:
    """The calls."""

    def __init__(self, line: SoundLine, stream: OutputStream) -> None:
        self._line = line
        self._stream = stream
        self._woken = threading.Event()
        self._first = 0, 0.0
        """A frame of the stream, and its place in the file that plays, in seconds."""

    def obey(self) -> None:
        """Do what the line asks for, for good."""
        while True:
            self.attend()

    def attend(self) -> None:
        """Wait a while for what the line asks for, and do it."""
        if self._line.wait(TICK):
            wish = self._line.silences
            self._stream.silence()
            self._line.silent = wish
            self._woken.set()
        else:
            self._stream.rest(REST)

    def play(self, report: Report, wish: int, path: Path, more: bool, start: float) -> None:
        """Play from `start` seconds to the end, or where `more` is to follow until it has to come.

        Reports once, in how many seconds it begins to be heard.
        """
        stream = self._stream
        with opened(path, start) as file:
            if not stream.begin(wish):
                return
            first, told = stream.added, False
            self._first = first, start
            for block in _blocks(file, stream.rate, stream.channels):
                stream.add(block)
                if stream.ahead > AHEAD:
                    told = told or self._begun(report, first)
                    if not self._until(AHEAD):
                        return
            if not told:
                self._begun(report, first)
        if more:
            self._until(LEAD)
        else:
            self.drain(wish)

    def drain(self, wish: int) -> None:
        """Wait until all was heard."""
        if self._line.silences == wish and self._until(0.0):
            self._stream.stop()

    def _begun(self, report: Report, frame: int) -> bool:
        self._stream.run()
        self._tell_place()
        report(self._stream.begins(frame), "")
        return True

    def _tell_place(self) -> None:
        """The device's clock and the computer's differ: it is told again and again."""
        frame, seconds = self._first
        self._line.zero = time.monotonic() + self._stream.begins(frame) - seconds

    def _until(self, left: float) -> bool:
        """Wait until no more than this is to be played; False where it was silenced."""
        stream = self._stream
        while not stream.silenced:
            stream.check()
            if stream.heard or (left and stream.ahead <= left):
                return True
            self._line.beat()
            self._tell_place()
            self._woken.clear()
            if not stream.silenced:
                wait = max(stream.ahead - left, 0.0) or stream.ends
                self._woken.wait(min(max(wait, 0.001), BEAT))
        return False


def _blocks(file: Playable, rate: int, channels: int) -> Iterator[Block]:
    """The file's frames in the stream's rate and number of channels, none lost at the borders."""
    blocks = resampled(file.blocks, file.rate, rate) if file.rate != rate else file.blocks
    for block in blocks:
        fits = block.shape[1] == channels
        yield block if fits else np.repeat(block.mean(axis=1, keepdims=True), channels, axis=1)


def resampled(blocks: Iterator[Block], rate: int, wanted: int) -> Iterator[Block]:
    """Blocks of frames at another rate."""
    layouts = {1: "mono", 2: "stereo"}
    resampler: Any = None
    for block in blocks:
        if block.shape[1] not in layouts:
            block = block.mean(axis=1, keepdims=True)
        layout = layouts[block.shape[1]]
        resampler = resampler or av.AudioResampler(format="fltp", layout=layout, rate=wanted)
        planes = np.ascontiguousarray(block.T)
        frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=layout)
        frame.sample_rate = rate
        yield from _frames(resampler, frame)
    if resampler:
        yield from _frames(resampler, None)


def _frames(resampler: Any, frame: Any) -> Iterator[Block]:
    for made in resampler.resample(frame):
        yield made.to_ndarray().T
