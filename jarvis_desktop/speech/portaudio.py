"""The one door to PortAudio. Only imported in child processes."""

from __future__ import annotations

from typing import Any

from jarvis_desktop.core.errors import UnavailableError


def portaudio() -> Any:
    """The sounddevice module. Raises UnavailableError where PortAudio is not installed."""
    try:
        import sounddevice
    except OSError as error:
        raise UnavailableError(
            "Sound needs the PortAudio library, which is not installed.",
            hint="Install it: sudo apt install libportaudio2 (Debian, Ubuntu) or "
            "brew install portaudio (macOS).",
        ) from error
    return sounddevice


def refresh() -> None:
    """Let PortAudio look for devices again, which it lists once; no stream may be open."""
    sounddevice = portaudio()
    sounddevice._terminate()
    sounddevice._initialize()


def info(device: str | None, kind: str) -> Any:
    """What PortAudio knows of a device ("input" or "output"). Raises PortAudioError."""
    sounddevice = portaudio()
    try:
        return sounddevice.query_devices(device, kind)
    except ValueError as error:
        raise sounddevice.PortAudioError(str(error)) from error
