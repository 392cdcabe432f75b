"""Speech engines that go wrong, and child processes that do; loaded by name in child processes."""

import os
import time
import wave
from pathlib import Path


class Engine:
    """Like pyttsx3's engine, but it says nothing."""

    def getProperty(self, name):
        return []

    def setProperty(self, name, value):
        if name == "voice":
            raise ValueError(f"no voice {value}")

    def save_to_file(self, text, name):
        self.text, self.name = text, name

    def runAndWait(self):
        if self.text.startswith("hang"):
            time.sleep(60)
        if self.text.startswith("crash"):
            os.abort()
        if self.text.startswith("exit"):
            os._exit(0)
        if self.text.startswith("raise"):
            raise RuntimeError("engine\nis confused")
        if self.text.startswith("mute"):
            self._write(bytes(8000))
        if self.text.startswith("half"):
            self._write(b"\x00\x10" * 4000)
            os.truncate(self.name, 3000)
        if self.text.startswith("speak"):
            print("saved to a file")
            self._write(b"\x00\x10" * 4000)

    def _write(self, frames: bytes) -> None:
        with wave.open(self.name, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(22050)
            file.writeframes(frames)


def missing():
    """As pyttsx3 does where espeak-ng is not installed."""
    raise RuntimeError("This means you probably do not have eSpeak or eSpeak-ng installed!")


def aiff():
    """As on macOS, where the file is AIFF whatever its name."""
    import numpy as np
    import soundfile

    class Aiff(Engine):
        def runAndWait(self):
            soundfile.write(self.name, np.full(2000, 0.1), 22050, format="AIFF")

    return Aiff()


def aborting(*files):
    """A recogniser that cannot run on this processor."""
    return lambda report, what, *args: os.abort()


def stuck():
    """A player that never gets anywhere."""
    return lambda report, *args: time.sleep(60)


def confused():
    """A microphone that opens and then goes wrong."""

    def handle(report, what, *args):
        if what == "read":
            raise RuntimeError("no idea")

    return handle


def awake():
    """A microphone that always hears the wake word."""
    from jarvis_desktop.core.speech import Sound

    def handle(report, what, *args):
        return (Sound(bytes(1024)), time.monotonic(), True) if what == "read" else None

    return handle


def deaf(*files):
    """A recogniser that hangs, crashes or answers, as the file says."""

    def handle(report, what, *args):
        if what == "read":
            return Path(args[0]).read_bytes()
        _, _, given, _, folder, *_ = args
        text = given.decode()
        if text == "hang":
            time.sleep(60)
        if text.startswith("crash") and not (folder.name == "recogniser" and "own" in text):
            os.abort()
        from jarvis_desktop.core.speech import Transcript
        from jarvis_desktop.speech.streaming import StreamingResult

        return StreamingResult(transcript=Transcript("heard", engine="stand-in"))

    return handle


def patient_microphone(*args):
    """The microphone's process, for a sound service that works, on a busy computer."""
    from jarvis_desktop.speech import audio_input

    audio_input.DEAD_AFTER_S = audio_input.FIRST_SOUND_S = 60.0
    return audio_input.make_handler(*args)


def patient_output(*args):
    """The player's process, as above."""
    from jarvis_desktop.speech import audio_output, audio_output_worker

    for module in (audio_output, audio_output_worker):  # which has one of them by its name
        for name in ("STALLED_S", "OPEN_TIMEOUT_S", "START_TIMEOUT_S", "BEAT_TIMEOUT_S"):
            setattr(module, name, 60.0)
    return audio_output_worker.make_handler(*args)
