"""PortAudio and its devices, by names that stay the same when others come and go.

PortAudio is only imported in child processes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.child_main import Handler

KINDS = ("input", "output")


@dataclass(frozen=True, slots=True)
class Device:
    """An input, an output or both."""

    name: str  # the name for SoundPlayer and SoundMicrophone: device and host interface
    inputs: int
    outputs: int
    default_input: bool
    default_output: bool


async def devices() -> tuple[Device, ...]:
    """List the sound devices without opening one. Raises UnavailableError."""
    child = Child(
        "jarvis_desktop.speech.devices:make_handler", name="list of sound devices", services=True
    )
    try:
        found: tuple[Device, ...] = await child.call(timeout=15)
    except ExpertError as error:
        raise UnavailableError(
            tr("The sound devices of this computer cannot be listed."),
            hint=tr("The sound service of this computer may hang; restart it or log in again."),
        ) from error
    finally:
        await child.close()
    return found


def make_handler() -> Handler:
    """The handler of the child process."""

    def handle(report: Report) -> tuple[Device, ...]:
        found = portaudio().query_devices()
        inputs, outputs = ([each[f"max_{kind}_channels"] for each in found] for kind in KINDS)
        default_input, default_output = portaudio().default.device
        return tuple(
            Device(name, inputs[at], outputs[at], at == default_input, at == default_output)
            for at, name in enumerate(names())
        )

    return handle


_PLACE = re.compile(r" ?\(hw:\d+,\d+\)")
"""Where ALSA put a device this time; it changes as others come and go."""


def portaudio() -> Any:
    """The sounddevice module. Raises UnavailableError if PortAudio is not installed."""
    try:
        import sounddevice
    except OSError as error:
        raise UnavailableError(
            tr("Sound needs the PortAudio library, which is not installed."),
            hint=tr(
                "Install it: sudo apt install libportaudio2 (Debian, Ubuntu) or "
                "brew install portaudio (macOS)."
            ),
        ) from error
    return sounddevice


def refresh() -> None:
    """Let PortAudio list the devices again; no stream may be open."""
    sounddevice = portaudio()
    sounddevice._terminate()
    sounddevice._initialize()


def open_stream(
    device: str | None,
    kind: str,
    ways: Callable[[Any], Iterable[dict[str, Any]]],
    begin: Callable[..., Any],
    missing: UnavailableError,
) -> Any:
    """Return what `begin` returns for the first of the settings that the device allows: `ways` gets
    its description. If it allows none, the devices are listed again. Raises `missing`."""
    refused: Exception | None = None
    for attempt in range(2):
        if attempt:
            refresh()
        try:
            found = info(device, kind)
        except portaudio().PortAudioError as error:
            refused = error
            continue
        for settings in ways(found):
            try:
                return begin(device=found["index"], **settings)
            except portaudio().PortAudioError as error:
                refused = error
    raise missing from refused


def names() -> tuple[str, ...]:
    """The names of the devices in PortAudio's order: device and host interface."""
    sounddevice = portaudio()
    hosts = sounddevice.query_hostapis()
    found = sounddevice.query_devices()
    return tuple(f"{device['name']}, {hosts[device['hostapi']]['name']}" for device in found)


def info(device: str | None, kind: str) -> Any:
    """PortAudio's description of a device ("input" or "output"), or of the system's default. A
    device is found by its name even if ALSA has moved it, and by a part of its name if only one
    device fits. Raises PortAudioError."""
    sounddevice = portaudio()
    try:
        return sounddevice.query_devices(_number(device, kind), kind)
    except ValueError as error:
        raise sounddevice.PortAudioError(str(error)) from error


def _number(device: str | None, kind: str) -> int | str | None:
    if device is None:
        return None
    wanted = _PLACE.sub("", device)
    found = portaudio().query_devices()
    able = [
        (number, name)
        for number, name in enumerate(names())
        if found[number][f"max_{kind}_channels"] > 0
    ]
    same = [number for number, name in able if name == device]
    alike = same or [number for number, name in able if _PLACE.sub("", name) == wanted]
    return alike[0] if alike else device
