"""Of the voice page: the choice of a sound device, by names that stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jarvis_desktop.ui.voice_desk import VoiceDesk
from jarvis_desktop.ui.voice_section import Choice

if TYPE_CHECKING:
    from jarvis_desktop.speech.devices import Device


class DeviceChoice(Choice):
    """The microphones, or the loudspeakers; what is picked is written."""

    def __init__(self, name: str, desk: VoiceDesk, setting: str, *, inputs: bool) -> None:
        super().__init__(name)
        self._desk = desk
        self._setting = setting
        self._inputs = inputs
        self._chosen = ""
        self._devices: Sequence[Device] = ()
        self.activated.connect(self._picked)
        self._offer()

    def show_chosen(self, name: str) -> None:
        """Show which is chosen; "" is the system's default."""
        self._chosen = name
        self._offer()

    def show_devices(self, devices: Sequence[Device]) -> int:
        """Show which there are; gives how many of them fit."""
        self._devices = [item for item in devices if self._fits(item)]
        self._offer()
        return len(self._devices)

    def _offer(self) -> None:
        """The default first; one that is chosen and away is kept, and said to be."""
        usual = next((item.name for item in self._devices if self._is_default(item)), "")
        first = f"The system’s default ({usual})" if usual else "The system’s default"
        choices = [("", first), *((item.name, item.name) for item in self._devices)]
        if self._chosen and self._chosen not in {name for name, _ in choices}:
            choices.append((self._chosen, f"{self._chosen} (not there now)"))
        self.offer(choices, self._chosen)

    def _fits(self, device: Device) -> bool:
        return bool(device.inputs if self._inputs else device.outputs)

    def _is_default(self, device: Device) -> bool:
        return device.default_input if self._inputs else device.default_output

    def _picked(self) -> None:
        self._chosen = self.value
        self._desk.change(self._setting, self._chosen)
        self._desk.write()
