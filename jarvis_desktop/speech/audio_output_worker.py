"""The child process of the player: plays files in sequence without a gap.

The parent makes one call at a time, and between calls the sound goes on. What cannot wait for
a call (silence, volume) comes through the SoundLine.
"""

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
from jarvis_desktop.speech.audio_output import BEAT_TIMEOUT_S, LOAD_TIMEOUT_S, Block, OutputStream
from jarvis_desktop.speech.devices import portaudio
from jarvis_desktop.speech.played_sound import SoundLine
from jarvis_desktop.tasks.audio.media import open_media

BLOCK_SECONDS = 0.25
LIBSNDFILE_SIGNATURES = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"FORM", b".snd")
"""The first bytes of files that libsndfile reads."""
TIME_TOLERANCE_S = 0.02  # how wrong the time stamps in a file may be
PRE_SEEK_S = 0.5  # decoded before the wanted place: MP3 and AAC refer back to earlier frames
MAX_GAP_S = 10.0  # silence in a film's track; time stamps further apart are damaged


@dataclass(frozen=True, slots=True)
class Playable:
    """An open file."""

    rate: int
    length: float  # seconds, by the file's header; 0 if it does not say
    blocks: Iterator[Block]  # its frames, with the file's channels, or two if it has more


@contextmanager
def open_sound(path: Path, start: float) -> Iterator[Playable]:
    """Open a file's sound from `start` seconds on. Raises InputError if it has none. libsndfile
    reads sound files, exactly to the sample; FFmpeg reads films, and MP3, which libsndfile reads as
    a whole and with warnings."""
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
            return soundfile.SoundFile(path) if head.read(4) in LIBSNDFILE_SIGNATURES else None
    except (soundfile.SoundFileError, OSError):
        return None


def _track(container: Any, stream: Any, start: float) -> Iterator[Block]:
    """The sound of a film in sync with its clock: gaps are filled with silence."""
    zero = (container.start_time or 0) / av.time_base
    if start:
        container.seek(int((zero + max(start - PRE_SEEK_S, 0.0)) * av.time_base))
    layout = "mono" if stream.channels == 1 else "stereo"
    resampler = av.AudioResampler(format="fltp", layout=layout, rate=stream.rate)
    sought, at = bool(start), start
    for frame in sound_frames(container, stream):
        late = 0.0 if frame.time is None else frame.time - zero - at
        # The resampler would refuse a frame after gaps and jumps in damaged time stamps.
        frame.pts = None
        for part in resampler.resample(frame):
            block: Block = np.asarray(part.to_ndarray().T, np.float32)
            if TIME_TOLERANCE_S < late < MAX_GAP_S:
                yield from _silence(late, stream.rate, block.shape[1])
                at += late
            elif sought and late < 0:  # a seek ends before the wanted place
                block = block[round(-late * stream.rate) :]
            late = 0.0
            if len(block):
                sought = False
                at += len(block) / stream.rate
                yield block


def sound_frames(container: Any, stream: Any) -> Iterator[Any]:
    """All frames that can be decoded; broken packets are skipped, as players do."""
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


AHEAD_S = 1.0  # decoded in advance
LEAD_S = 0.1  # before the end, when the next file must come so that there is no gap
BEAT_S = 0.05  # between two signs of life, at most
POLL_S = 1.0
REST_S = 10.0  # after which an unused device is closed


def make_handler(line: SoundLine, device: str | None) -> Handler:
    """The handler: the first argument names the method, the second is the number of requests for
    silence when it was called."""
    line.be_patient(LOAD_TIMEOUT_S)
    portaudio()
    stream = OutputStream(line, device)
    out = FilePlayback(line, stream)
    threading.Thread(target=out.obey, name="sound-line", daemon=True).start()
    line.be_patient(BEAT_TIMEOUT_S)

    def handle(report: Report, what: str, wish: int, *args: Any) -> None:
        line.beat()
        if what == "play":
            out.play(report, wish, *args)
        elif what == "drain":
            out.drain(wish)
        else:
            stream.renew()

    return handle


class FilePlayback:
    """The methods of the child process."""

    def __init__(self, line: SoundLine, stream: OutputStream) -> None:
        self._line = line
        self._stream = stream
        self._woken = threading.Event()
        self._first = 0, 0.0
        """A frame of the stream, and its position in the current file, in seconds."""

    def obey(self) -> None:
        """Serve the SoundLine for ever."""
        while True:
            self.attend()

    def attend(self) -> None:
        """Wait for a request on the SoundLine, and serve it."""
        if self._line.wait(POLL_S):
            wish = self._line.shared.silences
            self._stream.silence()
            self._line.shared.silent = wish
            self._woken.set()
        else:
            self._stream.rest(REST_S)

    def play(self, report: Report, wish: int, path: Path, more: bool, start: float) -> None:
        """Play a file from `start` seconds to its end, or with `more` until the next one must come.
        Reports once, with the number of seconds until it is heard."""
        stream = self._stream
        with open_sound(path, start) as file:
            if not stream.begin(wish):
                return
            first, told = stream.added, False
            self._first = first, start
            for block in _blocks(file, stream.rate, stream.channels):
                stream.add(block)
                if stream.ahead > AHEAD_S:
                    told = told or self._begun(report, first)
                    if not self._until(AHEAD_S):
                        return
            if not told:
                self._begun(report, first)
        if more:
            self._until(LEAD_S)
        else:
            self.drain(wish)

    def drain(self, wish: int) -> None:
        """Wait until everything was heard."""
        if self._line.shared.silences == wish and self._until(0.0):
            self._stream.stop()

    def _begun(self, report: Report, frame: int) -> bool:
        self._stream.run()
        self._update_position()
        report(self._stream.begins(frame), "")
        return True

    def _update_position(self) -> None:
        """Update the position, because the device's clock and the computer's differ."""
        frame, seconds = self._first
        self._line.shared.zero = time.monotonic() + self._stream.begins(frame) - seconds

    def _until(self, left: float) -> bool:
        """Wait until at most `left` seconds remain; False if silenced."""
        stream = self._stream
        while not stream.silenced:
            stream.check()
            if stream.heard or (left and stream.ahead <= left):
                return True
            self._line.beat()
            self._update_position()
            self._woken.clear()
            if not stream.silenced:
                wait = max(stream.ahead - left, 0.0) or stream.ends
                self._woken.wait(min(max(wait, 0.001), BEAT_S))
        return False


def _blocks(file: Playable, rate: int, channels: int) -> Iterator[Block]:
    """The file's frames in the stream's rate and channels, none lost between blocks."""
    blocks = resampled(file.blocks, file.rate, rate) if file.rate != rate else file.blocks
    for block in blocks:
        fits = block.shape[1] == channels
        yield block if fits else np.repeat(block.mean(axis=1, keepdims=True), channels, axis=1)


def resampled(blocks: Iterator[Block], rate: int, wanted: int) -> Iterator[Block]:
    """Resample blocks of frames."""
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
        yield from (made.to_ndarray().T for made in resampler.resample(frame))
    if resampler:
        yield from (made.to_ndarray().T for made in resampler.resample(None))
