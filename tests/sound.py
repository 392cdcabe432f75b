"""A private PulseAudio as a real sound device: what is played is heard, what is fed is recorded.

One server per test module, in a separate folder; child processes reach it through the
environment. Its speaker is a null sink whose monitor tells what came out; its microphone is the
monitor of a second null sink, into which tests play.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import wave
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RATE = 48_000

ALSA = """
</usr/share/alsa/alsa.conf>
pcm.!default { type pulse hint.description "The test's sound server" }
ctl.!default { type pulse }
"""

START = """
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-null-sink sink_name=speaker rate={rate} channels=1
load-module module-null-sink sink_name=room rate={rate} channels=1
load-module module-remap-source source_name=microphone master=room.monitor
set-default-sink speaker
set-default-source microphone
"""


@dataclass
class SoundServer:
    """A running server, and what a test does with it."""

    folder: Path
    process: subprocess.Popen[bytes]
    players: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What makes PortAudio and the PulseAudio tools use this server and no other."""
        return {
            "PULSE_SERVER": f"unix:{self.folder / 'native'}",
            "PULSE_CONFIG_PATH": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder),
            "ALSA_CONFIG_PATH": str(self.folder / "asound.conf"),
        }

    def control(self, *words: str) -> str:
        """Run pactl."""
        return subprocess.run(
            ("pactl", *words),
            env={**os.environ, **self.environment},
            check=True,
            capture_output=True,
            text=True,
            timeout=30,
        ).stdout

    def say_into_microphone(self, audio: Path, room: str = "room") -> subprocess.Popen[bytes]:
        """Start to play a file where the microphone hears it."""
        player = subprocess.Popen(
            ("paplay", f"--device={room}", str(audio)), env={**os.environ, **self.environment}
        )
        self.players.append(player)
        return player

    def listening(self) -> Heard:
        """What comes out of the speaker from now on."""
        return Heard(self.folder / "heard.raw", (self.folder / "heard.raw").stat().st_size)

    def unplug(self) -> None:
        """Let there be no device any more; the server stays."""
        for line in self.control("list", "short", "modules").splitlines():
            if "null-sink" in line:
                self.control("unload-module", line.split()[0])

    def plug_in(self) -> None:
        """Let all of them be there again."""
        for line in START.splitlines()[2:]:
            command, *words = line.format(rate=RATE).split()
            self.control(command, *words)
        self.open_ear()

    def open_ear(self, *sinks: str) -> None:
        """Record what comes out of the speaker, for good.

        It must not stop: a null sink takes sound in portions of two seconds unless somebody who
        listens asks for less.
        """
        for sink in sinks or ("speaker", "room"):
            to = self.folder / ("heard.raw" if sink == "speaker" else "room.raw")
            with to.open("wb") as file:
                recorder = subprocess.Popen(
                    (
                        "parec",
                        f"--device={sink}.monitor",
                        f"--rate={RATE}",
                        "--channels=1",
                        "--format=s16le",
                        "--latency-msec=5",
                        "--process-time-msec=2",
                    ),
                    env={**os.environ, **self.environment},
                    stdout=file,
                )
            self.players.append(recorder)
        Heard(self.folder / "heard.raw", 0).wait_for(lambda samples: len(samples) > 0)

    def freeze(self) -> None:
        """Let the server hang."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """Start it again after it was killed."""
        self.process.wait(60)
        self.process = _launch(self.folder)
        self.open_ear()

    def stop(self) -> None:
        """End the server and what plays on it."""
        for process in (*self.players, self.process):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Heard:
    """What came out of the speaker since some moment."""

    file: Path
    start: int

    @property
    def samples(self) -> np.ndarray:
        """From -1 to 1, at RATE."""
        with self.file.open("rb") as file:  # which holds all that was heard before
            file.seek(self.start)
            data = file.read()
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / 32768

    def wait_for(self, condition, timeout: float = 60) -> np.ndarray:
        """The samples as soon as they meet a condition."""
        end = time.monotonic() + timeout
        while not condition(samples := self.samples):
            assert time.monotonic() < end, "the speaker never gave what was waited for"
            time.sleep(0.005)
        return samples


def start_server() -> SoundServer:
    """A server that has answered once."""
    assert shutil.which("pulseaudio"), "PulseAudio is needed for the sound tests"
    # Not tmp_path: the name of a Unix socket may not be longer than 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="jarvis-sound-"))
    (folder / "asound.conf").write_text(ALSA)
    (folder / "start.pa").write_text(START.format(socket=folder / "native", rate=RATE))
    server = SoundServer(folder, _launch(folder))
    server.open_ear()
    return server


def _launch(folder: Path) -> subprocess.Popen[bytes]:
    (folder / "native").unlink(missing_ok=True)
    process = subprocess.Popen(
        (
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
            "--disable-shm=yes",
            # It ends itself, or is ended, where it is thought to use too much of a busy computer.
            "--no-cpu-limit=yes",
            "--realtime=no",
            "--high-priority=no",
            f"--file={folder / 'start.pa'}",
        ),
        env=os.environ
        | {
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            # A server ends itself where another one is known to the same message bus.
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = SoundServer(folder, process)
    end = time.monotonic() + 60
    while True:
        try:
            if "microphone" in server.control("list", "short", "sources"):
                return process
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            pass
        assert process.poll() is None, "PulseAudio ended at once"
        assert time.monotonic() < end, "PulseAudio does not answer"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def _sound_server_of_the_module() -> Iterator[SoundServer]:
    """To start one takes 0.07 seconds of a processor; to let it run while nobody listens, as much
    each second."""
    server = start_server()
    yield server
    server.stop()


@pytest.fixture
def patient_microphone(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy computer the process of the microphone, which does not hang, answers late."""
    from jarvis_desktop.speech import microphone

    for name in ("START_TIMEOUT_S", "OPEN_TIMEOUT_S", "STALL_TIMEOUT_S"):
        monkeypatch.setattr(microphone, name, 60.0)


PATIENT = {
    "jarvis_desktop.speech.audio_input:make_handler": "tests.speech.engines:patient_microphone",
    "jarvis_desktop.speech.audio_output_worker:make_handler": "tests.speech.engines:patient_output",
}


@pytest.fixture
def sound_server(
    _sound_server_of_the_module: SoundServer,
    patient_microphone: None,
    monkeypatch: pytest.MonkeyPatch,
) -> SoundServer:
    """A working sound device, shared by the tests of a module. It does not hang, so that
    whatever uses it may wait for it: the computer may be busy."""
    from jarvis_desktop.process.child import Child
    from jarvis_desktop.speech import microphone, player

    def child(factory: str, *args: object, **named: Any) -> Child:
        return Child(PATIENT[factory], *args, **named)

    for module in (microphone, player):
        monkeypatch.setattr(module, "Child", child)
    monkeypatch.setattr(player, "SILENCE_TIMEOUT_S", 60.0)
    for name, value in _sound_server_of_the_module.environment.items():
        monkeypatch.setenv(name, value)
    return _sound_server_of_the_module


@pytest.fixture
def own_sound_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundServer]:
    """A sound device that the test may break."""
    server = start_server()
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    yield server
    server.stop()


@pytest.fixture
def no_sound_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer with no sound device and no sound server."""
    config = tmp_path / "no-sound.conf"
    config.write_text(ALSA)
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(config))
    monkeypatch.setenv("PULSE_SERVER", str(tmp_path / "no-server"))


def write_tone(
    to: Path, *, seconds: float, frequency: float = 440, rate: int = 22_050, loudness: float = 0.5
) -> Path:
    """A WAV file with one tone."""
    times = np.arange(int(seconds * rate)) / rate
    samples = (loudness * 32767 * np.sin(2 * np.pi * frequency * times)).astype("<i2")
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return to


def strongest_frequency(samples: np.ndarray, rate: int) -> float:
    """The frequency with the most energy."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.fft.rfftfreq(len(samples), 1 / rate)[spectrum.argmax()])
