"""Running timers, counted down where the user looks: above the conversation, in the quick box and
in the tray's menu.

Nothing wakes up while no timer runs, or while all that shows one is hidden. The tray's tooltip
shows when a timer rings rather than how long that takes, so that it never has to be renewed.
"""

from __future__ import annotations

import math
import weakref
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QTime, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget
from shiboken6 import isValid

from jarvis_desktop.core.context import local_now
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.plan.list_view import menu_text, plain_menu
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

NAME_CHARS, TIP_TIMERS = 18, 4
_plain = str.maketrans({"<": "‹", ">": "›"})  # tooltips that look like HTML are drawn as HTML


def clock(seconds: float) -> str:
    """How long that is: "4:05", "1:00:00"."""
    left = max(0, math.ceil(seconds))
    hours, minutes = divmod(left // 60, 60)
    return f"{hours}:{minutes:02}:{left % 60:02}" if hours else f"{minutes}:{left % 60:02}"


def rings_at(timer: Timer) -> str:
    """Which timer rings when, in the words of a tooltip."""
    name, time = one_line(timer.label, limit=40).translate(_plain), _time(timer)
    if name:
        return tr("“{name}” rings at {time}", name=name, time=time)
    return tr("A timer rings at {time}", time=time)


def _time(timer: Timer) -> str:
    due = timer.due.astimezone()
    return QLocale().toString(QTime(due.hour, due.minute), QLocale.FormatType.ShortFormat)


class Countdown(QObject):
    """The timers that run, and the one that rang last until the user has seen it."""

    changed = Signal()
    """Other timers run, or a second has passed while somebody may look."""

    def __init__(self, session: WindowSession, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.now = local_now
        self.timers: tuple[Timer, ...] = ()
        """The next one first."""
        self.rung: Timer | None = None
        self._seen_in: list[weakref.ref[QWidget]] = []
        self._second = new_timer(self, self.look)
        session.ready.connect(self._read)
        session.timers_changed.connect(self._read)
        session.rang.connect(self._rang)

    @property
    def is_ticking(self) -> bool:
        """Whether it wakes up every second."""
        return self._second.isActive()

    @property
    def words(self) -> str:
        """The next timer in few words: "tea 4:05"; "" if there is none."""
        if self.rung:
            name = one_line(self.rung.label, limit=NAME_CHARS)
            return tr("Time is up: {name}", name=name) if name else tr("Time is up")
        if not self.timers:
            return ""
        first, *others = self.timers
        more = [f"+{len(others)}"] if others else []
        return " ".join([one_line(first.label, limit=NAME_CHARS), self.left(first), *more]).strip()

    @property
    def tip(self) -> str:
        """All timers with their times, a line for each."""
        up = [self.words.translate(_plain)] if self.rung else []
        return "\n".join([*up, *map(rings_at, self.timers[:TIP_TIMERS])])

    def left(self, timer: Timer) -> str:
        """How long it takes until a timer rings."""
        return clock((timer.due - self.now()).total_seconds())

    def show_in(self, widget: QWidget) -> None:
        """Count the seconds while this widget is visible; call `look` when it becomes so."""
        self._seen_in.append(weakref.ref(widget))
        self.look()

    def look(self) -> None:
        """Show how long it takes now, and go on counting if anybody can see it."""
        self.changed.emit()
        widgets = [widget for each in self._seen_in if (widget := each()) and isValid(widget)]
        seen = any(widget.isVisible() and not widget.isMinimized() for widget in widgets)
        if not (seen and self.timers):
            self._second.stop()
        elif not self._second.isActive():
            left = (self.timers[0].due - self.now()).total_seconds()
            # Just after the second is over, or else it would be shown twice.
            self._second.start(20 + round(1000 * (left % 1.0 or 1.0)))

    def acknowledge(self) -> None:
        """The user has seen that a timer rang."""
        if self.rung:
            self.rung = None
            self.changed.emit()

    def cancel(self, timer: Timer) -> None:
        """Cancel a timer."""

        async def cancel(app: Application) -> None:
            app.timers.cancel(timer.id)

        self._session.run(cancel, self._cancelled)

    def _cancelled(self, outcome: Outcome) -> None:
        if outcome.error:
            self._session.failed.emit(str(outcome.error))

    def _read(self) -> None:
        if app := self._session.app:
            self.timers = tuple(app.timers.pending())
            self.look()

    def _rang(self, timer: Timer) -> None:
        self.rung = timer
        self._read()


class TimerButton(IconButton):
    """Shows the next timer, and that one has rung until it is pressed."""

    def __init__(self, kind: str = "quiet") -> None:
        super().__init__("clock", tr("Timers"), kind=kind, text=" ")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._countdown: Countdown | None = None
        self.hide()

    def serve(self, countdown: Countdown) -> None:
        """Show these timers."""
        self._countdown = countdown
        countdown.changed.connect(self._show)
        self.clicked.connect(self._press)
        self._show()

    def _show(self) -> None:
        assert self._countdown is not None
        words, rung = self._countdown.words, self._countdown.rung is not None
        self.setText(words.replace("&", "&&"))
        self.setToolTip(self._countdown.tip)
        self.setAccessibleName(words or tr("Timers"))
        self.show_colour("warning" if rung else "muted")
        theme.restyle(self, rung="true" if rung else "false")
        self.setVisible(bool(words))

    def _press(self) -> None:
        countdown = self._countdown
        assert countdown is not None
        if countdown.rung:
            countdown.acknowledge()
            return
        menu = plain_menu(self, tr("Timers"))
        for timer in countdown.timers:
            name = one_line(timer.label, limit=40)
            unnamed = tr("Cancel the timer of {time}", time=_time(timer))
            action = menu.addAction(
                menu_text(tr("Cancel “{name}”", name=name) if name else unnamed)
            )
            action.triggered.connect(partial(countdown.cancel, timer))
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
