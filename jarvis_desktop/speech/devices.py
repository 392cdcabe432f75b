"""Which sound devices there are, by names that stay the same when others come and go."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_desktop.child import Child
from jarvis_desktop.child_main import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.wording import tr


@dataclass(frozen=True, slots=True)
class Device:
    """An input, an output or both."""

    name: str
    """What SoundPlayer and SoundMicrophone take: the name and the host interface."""
    inputs: int
    outputs: int
    default_input: bool
    default_output: bool


async def devices() -> tuple[Device, ...]:
    """The sound devices of this computer now; none is opened. Raises UnavailableError."""
    child = Child("jarvis_desktop.speech.devices:make", name="list of sound devices", services=True)
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


def make() -> Handler:
    """The handler in the child process."""
    return _list


def _list(report: Report) -> tuple[Device, ...]:
    from jarvis_desktop.speech.portaudio import names, portaudio

    sounddevice = portaudio()
    first_input, first_output = sounddevice.default.device
    return tuple(
        Device(
            name,
            found["max_input_channels"],
            found["max_output_channels"],
            index == first_input,
            index == first_output,
        )
        for index, (name, found) in enumerate(
            zip(names(), sounddevice.query_devices(), strict=True)
        )
    )
