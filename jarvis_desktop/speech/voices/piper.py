"""Piper, which is GPL and therefore only run as a program. Only used in child processes.

There are two Pipers: the older one in C++ reads a JSON object per line, the newer one in Python a
line of text. Both keep running for the next line, and print the name of each WAV file.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.child_main import ended_with_us
from jarvis_desktop.speech.voices import engine
from jarvis_desktop.speech.voices.engine import (
    PIPER_PLACE,
    KnownVoice,
    SpeechRequest,
    piper_language,
    piper_weights,
)

START_SECONDS = 12.0
LOOK_SECONDS = 8.0
ENDING_SECONDS = 2.0


class PiperEngine:
    """Runs one process of Piper, with the last voice and pace."""

    def __init__(self, folder: Path, program: str) -> None:
        self._folder = folder
        self._program = program
        self._speaks_json = False
        self._running: _PiperProcess | None = None

    def ready(self) -> None:
        """Find out which Piper it is, and start it with the likely voice."""
        self._speaks_json = _speaks_json(self._program)
        if voices := self.voices:
            self._run(voices[0].id, 1.0)

    @property
    def voices(self) -> list[KnownVoice]:
        """The voices in the folder; English ones first."""
        files = sorted(piper_weights(self._folder), key=lambda file: piper_language(file) != "en")
        return [KnownVoice(file.stem, (piper_language(file),)) for file in files]

    def speak(self, order: SpeechRequest, voice: KnownVoice | None) -> None:
        """Speak a text to its file."""
        voice = voice or next(iter(self.voices), None)
        if voice is None:
            raise UnavailableError(tr("The Piper voice is no longer installed."))
        until = time.monotonic() + order.seconds
        try:
            part = self._run(voice.id, order.pace).say(order.text, until)
            if order.volume < 1:
                _louder(part, order.volume)
            engine.keep(part, order.to)
        except ExpertError:
            self._end()
            raise

    def _run(self, voice: str, pace: float) -> _PiperProcess:
        wanted = (voice, round(pace, 2))
        if self._running and (self._running.wanted != wanted or not self._running.lives):
            self._end()
        if self._running is None:
            self._running = _PiperProcess(
                self._program, self._folder, wanted, json_lines=self._speaks_json
            )
            try:  # loading the weights and the first run take longest
                self._running.say("a", time.monotonic() + START_SECONDS).unlink(missing_ok=True)
            except ExpertError:
                self._end()
                raise
        return self._running

    def _end(self) -> None:
        running, self._running = self._running, None
        if running:
            running.end()


class _PiperProcess:
    """Speaks with one voice and pace, the `wanted` ones. Raises ExpertError."""

    def __init__(
        self, program: str, folder: Path, wanted: tuple[str, float], *, json_lines: bool
    ) -> None:
        self.wanted = wanted
        self._json_lines = json_lines
        self._out = tempfile.TemporaryDirectory(prefix="jarvis-piper-")
        voice, pace = wanted
        command = [
            shutil.which(program) or program,
            *("--model", str(folder / f"{voice}.onnx")),
            *("--output_dir", self._out.name),
            *("--length_scale", f"{1 / pace:.3f}"),
            *(["--json-input"] if json_lines else []),
        ]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                preexec_fn=ended_with_us(),
            )
        except OSError as error:
            self._out.cleanup()
            raise ExpertError(tr("Piper could not be started."), retryable=True) from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def say(self, text: str, until: float) -> Path:
        """Return the file it wrote. Raises ExpertError if it has ended or is late."""
        line = " ".join(text.split())
        assert self._process.stdin is not None
        with suppress(OSError):  # the loop below notices that it has ended
            self._process.stdin.write(json.dumps({"text": line}) if self._json_lines else line)
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        last = ""
        while True:
            try:
                answer = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise ExpertError(
                    tr("Piper gave no answer in time."), retryable=True, fault=Fault.TIMEOUT
                ) from None
            if answer is None:
                reason = f": {one_line(last)}" if last else ""
                raise ExpertError(
                    tr("Piper stopped unexpectedly{reason}.", reason=reason),
                    retryable=True,
                    fault=Fault.CRASH,
                )
            if self._out.name in answer and answer.endswith(".wav"):
                return Path(self._out.name) / answer.replace("\\", "/").rpartition("/")[2]
            last = answer or last

    def end(self) -> None:
        self._process.kill()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_SECONDS)
        self._reader.join(ENDING_SECONDS)
        self._out.cleanup()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError), self._process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())
        self._lines.put(None)


def _speaks_json(program: str) -> bool:
    """Whether it is the Piper in C++. Raises UnavailableError if it is not Piper at all."""
    try:
        told = subprocess.run(
            [shutil.which(program) or program, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LOOK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(tr("Piper cannot be started.")) from error
    words = told.stdout + told.stderr
    if "--model" not in words:  # another program, for mice, has that name
        raise UnavailableError(
            tr("The program {program} on this computer is not the voice Piper.", program=program),
            hint=tr("Install it from {piper_place}.", piper_place=PIPER_PLACE),
        )
    return "--json-input" in words or "--json_input" in words


def _louder(part: Path, volume: float) -> None:
    with suppress(wave.Error, EOFError, OSError):  # `keep` reports a broken file
        with wave.open(str(part), "rb") as file:
            kind, samples = file.getparams(), file.readframes(file.getnframes())
        scaled = np.frombuffer(samples, "<i2").astype(np.float32) * volume
        with wave.open(str(part), "wb") as file:
            file.setparams(kind)
            file.writeframes(scaled.astype("<i2").tobytes())
