"""Dictation on the screen: an overlay above all windows, and our own text fields.

The overlay takes neither clicks nor the keyboard, which stays with the program that is written
into; only a text that could not be inserted has buttons.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit

from jarvis_desktop.assistant.talk.dictation import ACTIVE, DictationState
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.quick.floating_window import (
    FloatingWindow,
    places_windows,
    screen_of_cursor,
    within,
)
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.live_transcript import SPEAK, PartialText
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.level_meter import LevelMeter
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.assistant.talk.dictation import DictationSession

PASSWORD = mark("This field takes a password; nothing is dictated into it.")
NO_FIELD = mark("Click into a text field first: no field of this window has the keyboard.")
NOTHING_KEPT = mark("There is no earlier dictation.")
STATES = {
    "waiting": mark("The microphone is getting ready…"),
    "recognising": mark("Writing down what you said… Esc discards it"),
    "tidying": mark("Tidying it up… Esc discards it"),
    "writing": mark("Inserting it…"),
    "written": mark("Inserted"),
    "failed": mark("Not inserted"),
}
HELD = mark("Dictating… Release to insert, Esc discards it")
FREE = mark("Dictating… Press the key again to insert, Esc discards it")
WIDTH, BOTTOM_GAP = 560, 56
"""In pixels."""
WRITTEN_MS, FAILED_MS = 900, 12_000
"""Milliseconds for which the end of a dictation is shown; a text that could not be inserted stays
until it is copied or closed."""
ANSWER_S = 2.0
"""Seconds in which the main thread must answer; its own text is not waited for longer."""
PASTE_DELAY_MS = 300
"""Milliseconds after which the program in front has the keyboard back from the tray's menu."""


class DictationOverlay(FloatingWindow):
    """The state, the loudness and the words of a dictation, at the bottom of the screen."""

    copied = Signal(str)
    """The user wants this text on the clipboard."""
    over = Signal()
    """The end of a dictation was shown for long enough."""

    def __init__(self) -> None:
        flags = (
            Qt.WindowType.ToolTip
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowTransparentForInput
            | Qt.WindowType.WindowDoesNotAcceptFocus
        )
        super().__init__("dictation", flags)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle("JARVIS")
        self._rest = ""
        self.symbol, self.turning = Symbol("mic", "danger"), StateIcon()
        self.message = Label(role="small", wrap=True)
        self.meter = LevelMeter()
        self.meter.setFixedSize(96, 26)
        self.copy = button(tr("Copy the text"), act=self._copy)
        self.close_button = IconButton("close", tr("Close this message"), kind="tiny")
        self.close_button.clicked.connect(self.over)
        self.words = PartialText()
        row = hbox(
            self.symbol,
            self.turning,
            (self.message, 1),
            self.meter,
            self.copy,
            self.close_button,
            spacing=theme.space(),
        )
        vbox(row, self.words, parent=self.plate, margins=(16, 10, 16, 10), spacing=4)
        self._over = new_timer(self, self.over.emit)

    def show_state(self, state: DictationState) -> None:
        """Show a state; the idle one hides it."""
        self._over.stop()
        if state.phase == "idle":
            self.hide()
            return
        failed, listens = state.phase == "failed", state.phase == "listening"
        icon = {"listening": "mic", "failed": "failed", "written": "done"}.get(state.phase, "")
        if icon:
            self.symbol.show_icon(icon, {"mic": "danger", "failed": "warning"}.get(icon, "done"))
        self.symbol.setVisible(bool(icon))
        self.turning.setVisible(not icon)
        self.turning.show_state("" if icon else "running")
        if listens and self.meter.isHidden():
            self.meter.clear()
        self.meter.setVisible(listens)
        words = tr(HELD if state.held else FREE) if listens else tr(STATES[state.phase])
        self.message.setText(one_line(state.message, limit=400) or words)
        self._rest = state.rest
        self.copy.setVisible(bool(state.rest))
        self.close_button.setVisible(failed)
        if listens and not state.words.text:
            self.words.clear(tr(SPEAK))
        else:
            heard = (state.words.settled, state.words.rest)
            settled, rest = (each.replace("\n", " ↵ ") for each in heard)
            self.words.show_partial(Partial(settled, rest))
        self.words.setVisible(bool(state.words.text) or listens)
        if (failed or state.phase == "written") and not state.rest:
            self._over.start(FAILED_MS if state.message else WRITTEN_MS)
        self._place(clickable=failed)

    def _place(self, *, clickable: bool) -> None:
        through = Qt.WindowType.WindowTransparentForInput
        if clickable == bool(self.windowFlags() & through):
            self.setWindowFlag(through, not clickable)  # hides it
        room = screen_of_cursor().availableGeometry()
        if not self.isVisible():
            self.look_at_desktop()
        scale = max(1.0, self.fontMetrics().height() / 20)
        wide = min(round(WIDTH * scale) + 2 * self.edge, room.width())
        self.setFixedWidth(wide)
        layout = self.layout()
        assert layout
        layout.activate()
        height = layout.heightForWidth(wide) if layout.hasHeightForWidth() else 0
        place = QRect(0, 0, wide, height or self.sizeHint().height())
        self.setFixedHeight(place.height())
        place.moveCenter(room.center())
        place.moveBottom(room.bottom() - BOTTOM_GAP + self.edge)
        self.move(within(place, room))
        self.show()

    def _copy(self) -> None:
        self.copied.emit(self._rest)
        self.over.emit()


class DictationController(QObject):
    """Shows the application's dictation, and takes it into the fields of our own windows."""

    active_changed = Signal(bool)
    """Whether somebody dictates, so that the microphone is open."""
    phase_changed = Signal(str)
    """Carries the new DictationPhase."""
    failed = Signal(str)
    """Carries what cannot be shown above the windows of this desktop."""

    def __init__(self, session: WindowSession, parent: QObject) -> None:
        super().__init__(parent)
        self._window_session = session
        self._session: DictationSession | None = None
        self._active = False
        self.overlay = DictationOverlay()
        self.overlay.copied.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.overlay.over.connect(self._dismiss)
        self._front = _DictationFront(
            session.engine,
            session.engine.poster(self, self._show),
            session.engine.poster(self.overlay, self.overlay.meter.add),
        )
        self._pasting = new_timer(self, self._paste, PASTE_DELAY_MS)
        session.switched.connect(self._tell_private)

    def use(self, app: Application) -> None:
        """Show the dictation of this application from now on."""
        session = self._session = app.dictation.session
        self._window_session.engine.call(setattr, session, "front", self._front)
        self._tell_private()

    def paste_last(self) -> None:
        """Insert the last dictation again, into the program that had the keyboard before."""
        self._pasting.start()

    def cancel(self) -> None:
        """Forget what is being dictated."""
        if self._session:
            self._window_session.engine.call(self._session.cancel)

    def close(self) -> None:
        """Remove the overlay, with the window."""
        self._pasting.stop()
        discard(self.overlay)

    def _show(self, state: DictationState) -> None:
        if places_windows():
            self.overlay.show_state(state)
        elif state.phase == "failed":
            self.failed.emit(state.message)
        self.phase_changed.emit(state.phase)
        active = state.phase in ACTIVE
        if active != self._active:
            self._active = active
            self.active_changed.emit(active)

    def _dismiss(self) -> None:
        if self._session:
            self._window_session.engine.call(self._session.dismiss)

    def _tell_private(self) -> None:
        app = self._window_session.app
        if app:
            private = self._window_session.open.private
            self._window_session.engine.call(setattr, app.dictation, "private", private)

    def _paste(self) -> None:
        async def paste(app: Application) -> None:
            kept = await asyncio.to_thread(app.dictation.log.kept)
            if kept:
                await app.dictation.session.paste(kept[0].text)
            else:
                self._front.show(DictationState("failed", message=tr(NOTHING_KEPT)))

        self._window_session.run(paste, lambda outcome: None)


@dataclass(frozen=True, slots=True)
class _DictationFront:
    """Called on the engine's loop. Implements DictationFront."""

    engine: EngineThread
    show: Callable[[DictationState], None]
    level: Callable[[float], None]

    async def objection(self) -> str | None:
        """Return why the field that has the keyboard must not be written into."""
        return await self._on_main_thread(_objection)  # type: ignore[no-any-return]

    async def take(self, text: str) -> bool:
        """Write into the field that has the keyboard. Raises InputError if it takes no text."""
        result = await self._on_main_thread(_take, text)
        if isinstance(result, str):
            raise InputError(result)
        return bool(result)

    async def _on_main_thread(self, function: Callable[..., Any], *args: object) -> Any:
        """Return the function's result, or None if no answer comes: a window that hangs takes no
        text."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(result: object) -> None:
            if not done.done():
                done.set_result(result)

        self.engine.post(lambda: self.engine.call(settle, function(*args)))
        try:
            return await asyncio.wait_for(done, ANSWER_S)
        except TimeoutError:
            return None


def _objection() -> str | None:
    """Why the field in front takes no text; "" if it does, None if another program is in front."""
    if QApplication.activeWindow() is None:
        return None
    field = QApplication.focusWidget()
    if not isinstance(field, QLineEdit | QPlainTextEdit | QTextEdit) or field.isReadOnly():
        return tr(NO_FIELD)
    if isinstance(field, QLineEdit) and field.echoMode() != QLineEdit.EchoMode.Normal:
        return tr(PASSWORD)
    return ""


def _take(text: str) -> bool | str:
    """Write into the field in front. Return False if another program is in front, a reason if
    the field takes no text."""
    objection = _objection()
    field = QApplication.focusWidget()
    if objection == "" and isinstance(field, QLineEdit):
        field.insert(" ".join(text.splitlines()) if "\n" in text else text)
    elif objection == "" and isinstance(field, QPlainTextEdit | QTextEdit):
        field.insertPlainText(text)
    return objection or objection is not None
