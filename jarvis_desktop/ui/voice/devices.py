"""The choice of a sound device, by names that stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.section import Choice
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel

if TYPE_CHECKING:
    from jarvis_desktop.speech.devices import Device

NONE = {
    "speech.input": mark(
        "There is no microphone. Plug one in, or start your system’s sound service."
    ),
    "speech.output": mark(
        "There is no loudspeaker. Plug one in, or start your system’s sound service."
    ),
}


class DeviceChoice(Panel):
    """The microphones, or the loudspeakers."""

    changed = Signal(object)

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._key = row.key
        self._hands = hands
        self._chosen = ""
        self._devices: Sequence[Device] = ()
        self.list = Choice(tr(row.title))
        self.list.setAccessibleDescription(tr(row.help))
        self.list.activated.connect(self._picked)
        again = tr("List the microphones anew") if self._hears else tr("List the loudspeakers anew")
        self.again = IconButton("refresh", again)
        self.again.clicked.connect(hands.voice.list_devices)
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        line.addWidget(self.list, 1)
        line.addWidget(self.again)
        self.column.addLayout(line)
        self.setFocusProxy(self.list)
        hands.voice.listed.connect(self.show_devices)
        self._offer()

    @property
    def _hears(self) -> bool:
        return self._key == "speech.input"

    def show_value(self, name: str) -> None:
        """Show which is chosen; "" is the system's default."""
        self._chosen = name
        self._offer()

    def show_devices(self, devices: Sequence[Device], trouble: str) -> None:
        """Show which there are."""
        self._devices = [item for item in devices if (item.inputs if self._hears else item.outputs)]
        self._offer()
        self.complain(trouble or ("" if self._devices else tr(NONE[self._key])))

    def _offer(self) -> None:
        """The default first; one that is chosen and away is kept, and said to be."""
        usual = next((item.name for item in self._devices if self._is_default(item)), "")
        first = (
            tr("The system’s default ({name})", name=usual) if usual else tr("The system’s default")
        )
        choices = [("", first), *((item.name, item.name) for item in self._devices)]
        if self._chosen and self._chosen not in {name for name, _ in choices}:
            choices.append((self._chosen, tr("{name} (not there now)", name=self._chosen)))
        self.list.offer(choices, self._chosen)

    def _is_default(self, device: Device) -> bool:
        return device.default_input if self._hears else device.default_output

    def _picked(self) -> None:
        self._chosen = self.list.value
        self.complain("")
        self._hands.voice.stop("level")
        self.changed.emit(self._chosen)
        self._hands.settings.write()
