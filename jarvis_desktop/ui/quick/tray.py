"""The tray icon: what JARVIS is doing, and a menu for use without the window.

Not every desktop has a tray, and one may come and go: check before hiding the window. Panels are
light or dark regardless of our theme, so the icon has its own background.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from string import Template

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from jarvis_desktop import paths
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.countdown import Countdown
from jarvis_desktop.ui.mode_picker import MEANINGS
from jarvis_desktop.ui.quick.overlay import MICROPHONE_OPEN, PHASE_NAMES, Phase, PhaseTracker
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.timers import new_timer

ICON_SIZES = (16, 20, 22, 24, 32, 44, 48, 64)
_backgrounds = {
    Phase.IDLE: "accent",
    Phase.LISTENING: "danger",
    Phase.THINKING: "accent",
    Phase.WORKING: "accent",
    Phase.ASKING: "warning",
    Phase.SPEAKING: "done",
}
"""Tokens of the light theme: white stands out on each."""
HIGHLIGHT_PERCENT = 128  # the lightest part of the background, in percent of the token's lightness


@cache
def tray_icon(phase: Phase, *, microphone_open: bool = False) -> QIcon:
    """The icon of a phase, marked if the microphone is open as well."""
    renderer = QSvgRenderer(QByteArray(_svg(phase, microphone_open).encode()))
    icon = QIcon()
    for pixels in ICON_SIZES:
        picture = QPixmap(pixels, pixels)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter, QRectF(0, 0, pixels, pixels))
        painter.end()
        icon.addPixmap(picture)
    return icon


def _svg(phase: Phase, microphone_open: bool) -> str:
    colours = theme.tokens().light
    ground = QColor(colours[_backgrounds[phase]])
    shown = {each.value: "inline" if each is phase else "none" for each in Phase}
    source = paths.shipped("resources", "icons", "tray.svg").read_text("utf-8")
    return Template(source).substitute(
        shown,
        open="inline" if microphone_open else "none",
        deep=ground.name(),
        light=ground.lighter(HIGHLIGHT_PERCENT).name(),
        signal=colours["danger"],
    )


NO_TRAY = mark(
    "This desktop has no tray: the window is never hidden, and closing it ends JARVIS. On GNOME "
    "the extension “AppIndicator” adds one."
)
"""Shown in the settings if `is_available` is false."""
TRAY_CHECK_MS = 5000  # milliseconds between two checks for a tray; there is no signal for it

_clicks = (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick)


def is_available() -> bool:
    """Whether the desktop has a tray now."""
    return QSystemTrayIcon.isSystemTrayAvailable()


class TrayIcon(QObject):
    """The icon, present while it is wanted and the desktop can show it."""

    show_wanted = Signal()
    hide_wanted = Signal()
    quick_wanted = Signal()
    talk_wanted = Signal()
    paste_wanted = Signal()
    """The last dictation should be inserted again."""
    stop_wanted = Signal()
    speak_wanted = Signal(bool)  # whether answers should be spoken
    mode_wanted = Signal(str)
    """Carries the value of a Mode; the current one stays checked until the change is confirmed."""
    settings_wanted = Signal()
    quit_wanted = Signal()
    came = Signal()
    went = Signal()  # the desktop has no tray any more
    clicked_note = Signal()  # a message shown by the tray was clicked

    def __init__(self, phases: PhaseTracker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._phases = phases
        self._wanted = False
        self._icon: QSystemTrayIcon | None = None
        self._is_shown = True
        self.menu = QMenu()
        self.menu.setAccessibleName("JARVIS")
        self.timers = self._action(tr("Timers"), self._see_timers)
        self.timers.setVisible(False)
        self._countdown: Countdown | None = None
        self.show_window = self._action(tr("Show JARVIS"), self._show_or_hide)
        self.menu.setDefaultAction(self.show_window)
        self.quick = self._action(tr("Ask quickly"), self.quick_wanted.emit)
        self.menu.addSeparator()
        self.talk = self._action(tr("Talk"), self.talk_wanted.emit)
        self.paste = self._action(tr("Paste last dictation"), self.paste_wanted.emit)
        self.stop = self._action(tr("Stop"), self.stop_wanted.emit)
        self.speak = self._action(tr("Speak answers"))
        self.speak.setCheckable(True)
        self.speak.triggered.connect(self.speak_wanted)
        self.menu.addSeparator()
        self.modes = self.menu.addMenu(tr("Mode"))
        self._modes = {mode: self._mode_action(mode) for mode in MEANINGS}
        self.show_mode(Mode.LOCAL)
        self.modes.setEnabled(False)
        self.settings = self._action(tr("Settings"), self.settings_wanted.emit)
        self.quit = self._action(tr("Quit JARVIS"), self.quit_wanted.emit)
        self._looking = new_timer(
            self, self.look, TRAY_CHECK_MS, repeat=True, precision=Qt.TimerType.VeryCoarseTimer
        )
        phases.changed.connect(self._draw)
        self._draw()

    def serve(self, countdown: Countdown) -> None:
        """Show these timers in the menu and the tooltip."""
        self._countdown = countdown
        countdown.show_in(self.menu)
        countdown.changed.connect(self._show_timers)
        self.menu.aboutToShow.connect(countdown.look)

    @property
    def is_there(self) -> bool:
        """Whether the user can reach JARVIS by the icon now."""
        return self._icon is not None and is_available()

    def want(self, wanted: bool) -> None:
        """Show the icon whenever there is a tray, as the settings say."""
        self._wanted = wanted
        self._looking.start() if wanted else self._looking.stop()
        self.look()

    def look(self) -> None:
        """Check whether the desktop has a tray."""
        there = self._wanted and is_available()
        if there and self._icon is None:
            self._appear()
            self.came.emit()
        elif not there and self._icon is not None:
            self._vanish()
            self.went.emit()

    def show_keys(self, quick: str) -> None:
        """Show the hotkey of the quick box; "" for none."""
        self.quick.setText(f"{tr('Ask quickly')}\t{quick}" if quick else tr("Ask quickly"))

    def show_window_shown(self, shown: bool) -> None:
        """Show whether the window is visible."""
        self._is_shown = shown
        self.show_window.setText(tr("Hide the window") if shown else tr("Show JARVIS"))

    def show_speaks(self, speaks: bool) -> None:
        """Show whether answers are spoken."""
        self.speak.setChecked(speaks)

    def show_mode(self, mode: Mode) -> None:
        """Show the current mode."""
        self.mode = mode
        self.modes.setEnabled(True)
        for each, action in self._modes.items():
            action.setChecked(each is mode)

    def show_busy(self, busy: bool) -> None:
        """Show whether there is anything to stop."""
        self.stop.setEnabled(busy)

    def tell(self, title: str, text: str) -> None:
        """Show a message through the tray."""
        if self._icon:
            self._icon.showMessage(title, text, tray_icon(Phase.IDLE))

    def close(self) -> None:
        """Remove the icon."""
        self._looking.stop()
        self._vanish()

    def _appear(self) -> None:
        icon = self._icon = QSystemTrayIcon(self)
        icon.setContextMenu(self.menu)
        icon.activated.connect(self._activated)
        icon.messageClicked.connect(self.clicked_note)
        self._draw()  # some trays never show one that had no icon at first
        icon.show()

    def _vanish(self) -> None:
        icon, self._icon = self._icon, None
        if icon:
            icon.hide()
            icon.deleteLater()

    def _draw(self) -> None:
        phase, is_open = self._phases.now, self._phases.microphone_open
        self.talk.setText(tr("Stop listening") if phase is Phase.LISTENING else tr("Talk"))
        if self._icon:
            self._icon.setIcon(tray_icon(phase, microphone_open=is_open))
            self._show_tip()

    def _show_timers(self) -> None:
        assert self._countdown is not None
        words = self._countdown.words
        self.timers.setText(words.replace("&", "&&"))
        self.timers.setVisible(bool(words))
        self._show_tip()

    def _show_tip(self) -> None:
        phase, is_open = self._phases.now, self._phases.microphone_open
        words = [tr(PHASE_NAMES[phase])] + [tr(MICROPHONE_OPEN)] * is_open
        timers = self._countdown.tip if self._countdown else ""
        tip = " · ".join(words) + (f"\n{timers}" if timers else "")
        if self._icon and tip != self._icon.toolTip():
            self._icon.setToolTip(tip)

    def _see_timers(self) -> None:
        if self._countdown:
            self._countdown.acknowledge()
        self.show_wanted.emit()

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in _clicks:
            self.show_wanted.emit()
        elif reason == QSystemTrayIcon.ActivationReason.MiddleClick:
            self.quick_wanted.emit()

    def _show_or_hide(self) -> None:
        (self.hide_wanted if self._is_shown else self.show_wanted).emit()

    def _mode_action(self, mode: Mode) -> QAction:
        action = self.modes.addAction(tr(MEANINGS[mode].name))
        action.setCheckable(True)
        action.triggered.connect(lambda: self._choose_mode(mode))
        return action

    def _choose_mode(self, mode: Mode) -> None:
        self.show_mode(self.mode)  # Qt has checked it, but the change may be refused
        if mode is not self.mode:
            self.mode_wanted.emit(mode.value)

    def _action(self, text: str, act: Callable[[], object] | None = None) -> QAction:
        action = QAction(text, self)
        if act:
            action.triggered.connect(lambda: act())
        self.menu.addAction(action)
        return action
