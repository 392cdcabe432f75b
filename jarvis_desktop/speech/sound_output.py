"""Plays a file on a PortAudio output. Only imported in child processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from jarvis_desktop.child import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.speech.portaudio import info, portaudio, refresh

BLOCK_SECONDS = 0.05
TAIL_SECONDS = 0.05

Block = np.ndarray[Any, Any]


def make() -> Handler:
    """The handler: play(report, path, device) returns how many seconds were played."""
    return play


def play(report: Report, path: Path, device: str | None) -> float:
    """Play to the end. Reports after every block, so that a hung sound server shows."""
    sounddevice = portaudio()
    try:
        file = soundfile.SoundFile(path)
    except (soundfile.SoundFileError, OSError) as error:
        raise InputError(f"{path.name} is not a sound file that can be played.") from error
    with file:
        if file.frames == 0:
            raise InputError(f"{path.name} holds no sound at all.")
        try:
            stream = _open(device, file.samplerate, file.channels)
        except sounddevice.PortAudioError:
            refresh()  # the device may have come after PortAudio listed them
            stream = _open_or_refuse(device, file.samplerate, file.channels)
        with stream:
            # Not before: opening may take longer than a block may.
            report(0.0, "")
            played = 0
            for block in _blocks(file, int(stream.samplerate), stream.channels):
                stream.write(block)
                played += len(block)
                if not stream.active:
                    raise UnavailableError("The sound output went away while playing.")
                report(min(1.0, played / stream.samplerate * file.samplerate / file.frames), "")
            # Closing drops what the sound server has not played yet.
            tail = int((stream.latency + TAIL_SECONDS) * stream.samplerate)
            stream.write(np.zeros((tail, stream.channels), np.float32))
        return float(file.frames / file.samplerate)


def _open_or_refuse(device: str | None, rate: int, channels: int) -> Any:
    try:
        return _open(device, rate, channels)
    except portaudio().PortAudioError as error:
        raise UnavailableError(
            f"There is no sound output{f' named {device}' if device else ''} that can be used.",
            hint="Check the loudspeaker or headset, and the sound settings of this computer.",
        ) from error


def _open(device: str | None, rate: int, channels: int) -> Any:
    """An output stream in the file's own form, or in the nearest one that the device takes."""
    sounddevice = portaudio()
    usual = int(info(device, "output")["default_samplerate"])
    refused: Exception | None = None
    for tried_rate, tried_channels in ((rate, channels), (usual, channels), (usual, 2)):
        try:
            return sounddevice.OutputStream(
                samplerate=tried_rate,
                channels=tried_channels,
                device=device,
                dtype="float32",
                latency="high",
            )
        except sounddevice.PortAudioError as error:
            refused = error
    assert refused is not None
    raise refused


def _blocks(file: Any, rate: int, channels: int) -> Iterator[Block]:
    """The file's frames in the stream's rate and number of channels."""
    frames = int(file.samplerate * BLOCK_SECONDS)
    for block in file.blocks(blocksize=frames, dtype="float32", always_2d=True):
        if channels != block.shape[1]:
            block = np.repeat(block.mean(axis=1, keepdims=True), channels, axis=1)
        if rate != file.samplerate:
            block = resampled(block, file.samplerate, rate)
        yield np.ascontiguousarray(block, dtype=np.float32)


def resampled(block: Block, rate: int, wanted: int) -> Block:
    """A block of frames at another rate, by straight lines between samples."""
    count = max(1, round(len(block) * wanted / rate))
    at = np.linspace(0, len(block) - 1, count)
    columns = [np.interp(at, np.arange(len(block)), column) for column in block.T]
    return np.stack(columns, axis=1).astype(np.float32)
