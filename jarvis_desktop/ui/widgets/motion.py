"""Lets what appears fade in: for a moment, once, and only where the user can see it.

A widget that is built out of sight, as those of a conversation that is scrolled, appears at once:
it costs no frame. So does everything where the settings or the desktop want no motion.
"""

from __future__ import annotations

from PySide6.QtCore import QAbstractAnimation, QEasingCurve, QPropertyAnimation, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGraphicsOpacityEffect, QWidget

from jarvis_desktop.ui.widgets import theme

NO_SCREEN = ("offscreen", "minimal")


def fade_in(widget: QWidget) -> None:
    """Fade a widget in that was just shown."""
    if not (milliseconds := theme.duration("quick")):
        return
    if not widget.isVisible() or QGuiApplication.platformName() in NO_SCREEN:
        return
    effect = QGraphicsOpacityEffect(widget)
    effect.setOpacity(0.0)
    widget.setGraphicsEffect(effect)
    fading = QPropertyAnimation(effect, b"opacity", effect)
    fading.setDuration(milliseconds)
    fading.setStartValue(0.0)
    fading.setEndValue(1.0)
    fading.setEasingCurve(QEasingCurve.Type.OutCubic)
    # An effect draws its widget into a picture first, which costs: none stays. It goes once the
    # animation, which belongs to it, has returned.
    fading.finished.connect(lambda: QTimer.singleShot(0, widget, lambda: _end(widget)))
    fading.start(QAbstractAnimation.DeletionPolicy.KeepWhenStopped)


def _end(widget: QWidget) -> None:
    widget.setGraphicsEffect(None)  # type: ignore[arg-type]
