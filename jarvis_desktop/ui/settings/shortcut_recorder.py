"""Records a desktop-wide shortcut, and shows what the desktop did with it."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus, HotkeyWay
from jarvis_desktop.platform.shortcut import DICTATE, QUICK, TALK, parse
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow, fields
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button, reword
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox

WAYS: dict[HotkeyWay, str] = {
    "portal": mark("{key} works everywhere, through your desktop’s own service for shortcuts."),
    "x11": mark("{key} works everywhere, through X11."),
    "windows": mark("{key} works everywhere, through Windows."),
    "macos": mark("{key} works everywhere, through macOS."),
}
NOT_HELD = mark("It cannot be held there: press it to start and to stop.")
NONE = mark("No key works outside of this window yet.")
PRESS = mark("Press the keys…")
ALONE = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)
KEYS = {
    "speech.key": (TALK, mark("It is the talk key already.")),
    "dictation.key": (DICTATE, mark("It is the dictation key already.")),
    "window.quick_key": (QUICK, mark("It opens the quick box already.")),
}
"""The settings of keys, and why a key of one cannot be that of another."""


class KeyRecorder(SettingsPanel):
    """Shows the shortcut; click it to record another one. Esc cancels, the cross clears it."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._row = row
        self._settings = hands.settings
        self._key = ""
        self.field = _Catch(tr(row.title))
        self.field.pressed_keys.connect(self._pressed)
        self.field.gave_up.connect(lambda: self.complain(""))
        self.none = IconButton("close", tr("No key for: {name}", name=tr(row.title)))
        self.none.clicked.connect(lambda: self._take(""))
        self.column.addLayout(hbox(self.field, self.none, None, spacing=theme.space("half")))
        self.setFocusProxy(self.field)
        self.status = Label(role="small", wrap=True)
        self.column.addWidget(self.status)
        self.bind = Label(role="small", wrap=True)
        command = KEYS[row.key][0].command
        self.copy = button(tr("Copy the command"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(command))
        self.bind.setText(
            tr("Any desktop can bind a key to this command: {command}", command=command)
        )
        self.column.addWidget(self.bind)
        self.column.addWidget(self.copy, alignment=Qt.AlignmentFlag.AlignLeading)
        for widget in (self.status, self.bind, self.copy):
            widget.hide()
        hands.voice.bound.connect(self._bound)

    def show_value(self, key: str) -> None:
        """Show the chosen shortcut."""
        self._key = key
        self.none.setVisible(bool(key))
        self.field.show_key(key)

    def leave(self) -> None:
        """Stop recording."""
        self.field.give_up()

    def _bound(self, key: str, status: HotkeyStatus) -> None:
        if key != self._row.key:
            return
        live = status.way != "none"
        message = [tr(NONE)]
        if live:
            shown = one_line(status.key, limit=60) or self._key
            message = [tr(WAYS[status.way], key=shown)]
            if key != "window.quick_key" and not status.holds:
                message.append(tr(NOT_HELD))
        message.append(one_line(status.why, limit=600))
        self.status.setText(" ".join(filter(None, message)))
        self.status.show()
        for widget in (self.bind, self.copy):
            widget.setVisible(not live)

    def _pressed(self, text: str) -> None:
        try:
            key = str(parse(text))
        except JarvisError as error:
            self.complain(str(error))
            return
        now = self._settings.now
        others = (other for other in KEYS if other != self._row.key)
        if taken := [each for each in others if now and fields()[each].of(now) == key]:
            why = tr(KEYS[taken[0]][1])
            self.complain(tr("{key} cannot be used. {why}", key=key, why=why))
        elif key in _own_keys(self):
            self.complain(
                tr("{key} cannot be used: it does something else in this window.", key=key)
            )
        else:
            self._take(key)

    def _take(self, key: str) -> None:
        self.complain("")
        self.show_value(key)
        self.field.setFocus()
        self.changed.emit(key)


class _Catch(QPushButton):
    """Captures the next key combination, whatever it would do otherwise."""

    pressed_keys = Signal(str)
    gave_up = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._key = ""
        self._waits = False
        self.setProperty("kind", "keys")
        self.setAutoDefault(False)
        self.setMinimumWidth(200)
        self.clicked.connect(self._begin)
        self.show_key("")

    def show_key(self, key: str) -> None:
        """Show the chosen shortcut."""
        self._key = key
        if not self._waits:
            shown = key.replace("+", " + ") or tr("None")
            self.setText(shown)
            self.setAccessibleName(
                tr("{name}: {key}. Press to choose another one.", name=self._name, key=shown)
            )

    def give_up(self) -> None:
        """Keep the old shortcut."""
        if self._waits:
            self._end()
            self.gave_up.emit()

    def event(self, event: QEvent) -> bool:
        """While it waits, no shortcut takes the keys away."""
        if self._waits and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if self._waits and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            self._take(event)  # Tab too, which would go to the next widget
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.give_up()

    def _begin(self) -> None:
        self._waits = True
        theme.restyle(self, waits=True)
        reword(self, tr(PRESS), tr("Press the keys for {name}; Esc stops.", name=self._name))

    def _end(self) -> None:
        self._waits = False
        theme.restyle(self, waits=False)
        self.show_key(self._key)

    def _take(self, event: QKeyEvent) -> None:
        if event.key() in ALONE:
            return
        text = written(event)
        self._end()
        if text == "Esc":
            self.gave_up.emit()
        else:
            self.pressed_keys.emit(text)


def written(event: QKeyEvent) -> str:
    """The pressed keys in the usual notation: "Ctrl+Alt+Space"."""
    control, meta = ("Super", "Ctrl") if sys.platform == "darwin" else ("Ctrl", "Super")
    held = event.modifiers()
    names = {
        control: Qt.KeyboardModifier.ControlModifier,
        "Alt": Qt.KeyboardModifier.AltModifier,
        "Shift": Qt.KeyboardModifier.ShiftModifier,
        meta: Qt.KeyboardModifier.MetaModifier,
    }
    key = Qt.Key.Key_Tab if event.key() == Qt.Key.Key_Backtab else event.key()
    plain = QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)
    return "+".join((*(name for name, flag in names.items() if held & flag), plain))


def _own_keys(widget: SettingsPanel) -> set[str]:
    """What is a key of the window already."""
    portable = QKeySequence.SequenceFormat.PortableText
    return {each.key().toString(portable) for each in widget.window().findChildren(QShortcut)}
