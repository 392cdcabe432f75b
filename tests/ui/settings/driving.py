"""Changes a row as a person does: with its own control."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.mode_picker import ModeChoice
from jarvis_desktop.ui.settings.controls import (
    Options,
    Select,
    SettingRow,
    Slide,
    Switch,
    TextControl,
)
from jarvis_desktop.ui.settings.servers_panel import ServerModel
from jarvis_desktop.ui.settings.shortcut_recorder import KeyRecorder
from jarvis_desktop.ui.settings.speech_panels import DeviceChoice, ReplacementLines, WhichWhisper

LEFT = Qt.MouseButton.LeftButton
TYPED: dict[str, tuple[str, Any]] = {
    "speech.voice": ("anna", "anna"),
    "speech.words": (" Anna Meier,, Kraków ,", ("Anna Meier", "Kraków")),
    "llm.id": ("qwen3.5:4b", "qwen3.5:4b"),
    "llm.address": ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
    "experts.allowed_licences": ("MIT, Apache-*", ("MIT", "Apache-*")),
    "experts.denied_licences": ("CC-BY-NC-*", ("CC-BY-NC-*",)),
    "experts.disk_budget_gb": ("7,5", 7.5),
    "api.provider": ("groq", "groq"),
    "agent.tokens": ("20000", 20000),
    "llm.context": ("4096", 4096),
    "server.host": ("localhost", "localhost"),
    "server.port": ("9000", 9000),
    "servers.speech": ("box:8880", "box:8880"),
    "servers.speech_voice": ("af_heart", "af_heart"),
    "servers.images": ("box.local:8080", "box.local:8080"),
    "servers.transcription": ("192.168.1.5:8000", "192.168.1.5:8000"),
    "network.proxy": ("http://proxy:3128", "http://proxy:3128"),
}
"""What is typed into a field, and the value that it means; a number is 7 elsewhere."""


def write(entry: TextControl, text: str) -> None:
    """Type it, and go on."""
    entry.setFocus()
    entry.selectAll()
    entry.insert(text)
    entry.setModified(True)
    QTest.keyClick(entry, Qt.Key.Key_Return)


def drive(row: SettingRow) -> Any:
    """Choose another value; which one that is."""
    control: QWidget = row.control
    field = row.row.field
    assert field
    match control:
        case Switch():
            QTest.mouseClick(control, LEFT)
            return not field.default
        case Select() | WhichWhisper():
            others = (index for index in range(control.count()) if index != control.currentIndex())
            control.setCurrentIndex(max(others))
            control.activated.emit(control.currentIndex())
            return control.value
        case DeviceChoice():
            control.list.setCurrentIndex(1)
            control.list.activated.emit(1)
            return control.list.value
        case ServerModel():
            control._looked(Outcome(("whisper-large",)))
            control.list.setCurrentIndex(1)
            control.list.activated.emit(1)
            return control.list.value
        case Options():
            value = next(each for each in reversed(field.values) if each != field.default)
            control.radio(value).click()
            return value
        case Slide():
            control.slider.setValue(control.slider.value() - 1)
            return control.chosen()
        case KeyRecorder():
            QTest.mouseClick(control.field, LEFT)
            QTest.keyClick(control.field, Qt.Key.Key_F9)
            return "F9"
        case ReplacementLines():
            control.field.setPlainText("a = b")
            control.field.document().setModified(True)
            control.leave()
            return ("a = b",)
        case ModeChoice():
            QTest.mouseClick(control.rows[Mode.OFFLINE], LEFT)
            return Mode.OFFLINE
        case TextControl():
            text, value = TYPED.get(row.row.key, ("7", 7))
            write(control, text)
            return value
    raise AssertionError(control)
