"""Timers that call a function later or again and again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer


def new_timer(
    parent: QObject,
    action: Callable[[], object],
    interval: int = 0,
    *,
    repeat: bool = False,
    precision: Qt.TimerType = Qt.TimerType.CoarseTimer,
) -> QTimer:
    """Return a timer, not yet started, that calls `action` after `interval` milliseconds."""
    timer = QTimer(parent, singleShot=not repeat, interval=interval, timerType=precision)
    timer.timeout.connect(action)
    return timer
