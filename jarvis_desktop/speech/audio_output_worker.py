"""Plays files on a PortAudio output, one after the other without a gap. Only imported in child
processes.

The parent calls one thing after the other; between its calls the sound goes on, and what cannot
wait for a call (silence, the volume) comes by the SoundLine.

Opens what is to be played: sound files, and the sound of films. Only imported in child
processes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import soundfile

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.audio_output import TO_BEAT, TO_LOAD, Block, OutputStream
from jarvis_desktop.speech.devices import portaudio
from jarvis_desktop.speech.playback_line import SoundLine
from jarvis_desktop.tasks.audio.media import open_media

BLOCK_SECONDS = 0.25
HEADS = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"FORM", b".snd")
"""How files begin that are read by libsndfile."""
NEAR = 0.02
"""Seconds by which the times in a file may be wrong."""
BEFORE = 0.5
"""Seconds that are decoded before the wanted place: MP3 and AAC refer back to what came before."""
LONGEST_GAP = 10.0
"""Seconds without sound in a film's track; times that tell of more are damaged."""


@dataclass(frozen=True, slots=True)
class Playable:
    """An open file."""

    rate: int
    length: float
    """Seconds, as the file says; 0 where it says nothing."""
    blocks: Iterator[Block]
    """Its frames, as many channels as it has or two of more."""


@contextmanager
def opened(path: Path, start: float) -> Iterator[Playable]:
    """A file's sound from `start` seconds on. Raises InputError where there is none.

    Sound files are read by libsndfile, to the sample; films, and MP3, of which libsndfile reads
    all and complains, by FFmpeg.
    """
    with ExitStack() as files:
        if file := _sound_file(path):
            files.enter_context(file)
            if file.frames == 0:
                raise InputError(tr("{name} contains no sound at all.", name=path.name))
            file.seek(min(int(start * file.samplerate), file.frames))
            frames = int(file.samplerate * BLOCK_SECONDS)
            length = file.frames / file.samplerate
            blocks = file.blocks(frames, dtype="float32", always_2d=True)
            yield Playable(file.samplerate, length, blocks)
            return
        container = files.enter_context(open_media(path, longest=math.inf))
        if not container.streams.audio:
            raise InputError(tr("{name} has no sound.", name=path.name))
        stream = container.streams.audio[0]
        if not stream.rate:
            raise InputError(tr("{name} is damaged and cannot be played.", name=path.name))
        length = (container.duration or 0) / av.time_base
        yield Playable(stream.rate, length, _track(container, stream, start))


def _sound_file(path: Path) -> Any:
    try:
        with path.open("rb") as head:
            return soundfile.SoundFile(path) if head.read(4) in HEADS else None
    except (soundfile.SoundFileError, OSError):
        return None


def _track(container: Any, stream: Any, start: float) -> Iterator[Block]:
    """The sound of a film, where it belongs by the film's clock: silence stands for what lacks."""
    zero = (container.start_time or 0) / av.time_base
    if start:
        container.seek(int((zero + max(start - BEFORE, 0.0)) * av.time_base))
    layout = "mono" if stream.channels == 1 else "stereo"
    resampler = av.AudioResampler(format="fltp", layout=layout, rate=stream.rate)
    sought, at = bool(start), start
    for frame in sound_frames(container, stream):
        late = 0.0 if frame.time is None else frame.time - zero - at
        # Gaps and jumps in damaged time stamps would make the resampler refuse the frame.
        frame.pts = None
        for part in resampler.resample(frame):
            block: Block = np.asarray(part.to_ndarray().T, np.float32)
            if NEAR < late < LONGEST_GAP:
                yield from _silence(late, stream.rate, block.shape[1])
                at += late
            elif sought and late < 0:  # a seek leads to a place before the wanted one
                block = block[round(-late * stream.rate) :]
            late = 0.0
            if len(block):
                sought = False
                at += len(block) / stream.rate
                yield block


def sound_frames(container: Any, stream: Any) -> Iterator[Any]:
    """What can be decoded; as every player does, broken parts are passed over."""
    for packet in container.demux(stream):
        try:
            yield from packet.decode()
        except av.FFmpegError:
            continue


def _silence(seconds: float, rate: int, channels: int) -> Iterator[Block]:
    left = round(seconds * rate)
    while left > 0:
        length = min(left, int(rate * BLOCK_SECONDS))
        yield np.zeros((length, channels), np.float32)
        left -= length


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
