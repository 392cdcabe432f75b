"""The quick box: a small window, one key away, to ask and get answers without the main window."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QCursor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.speech import HotkeyStatus, Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import shortcuts
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.countdown import TimerButton
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.mode_picker import MEANINGS
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.quick.floating_window import (
    FloatingWindow,
    places_windows,
    screen_of_cursor,
    within,
)
from jarvis_desktop.ui.quick.overlay import Overlay, PhaseTracker
from jarvis_desktop.ui.request.attachments import accepts
from jarvis_desktop.ui.request.composer import QuickInput
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.shortcuts import AS_BEFORE, LEFT_TO_RIGHT
from jarvis_desktop.ui.voice.controller import TalkKeys
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.platform.hotkey import DesktopHotkey
    from jarvis_desktop.settings import Settings


BOX_WIDTH = 660  # pixels of the plate at the usual text size
MAX_SCREEN_SHARE = 0.62  # the largest share of the screen's height that the box takes
CONTINUE_S = 300.0  # seconds after its last answer for which the box continues its conversation
SEPARATOR_PX = 1  # pixels of the line above the answer
REDRAW_MS = 33  # milliseconds between two redraws of an answer that is streaming in


class QuickBox(FloatingWindow):
    """Shows `session.quick`."""

    sent = Signal(object)  # a Request for the conversation of the box, without its `speak`
    window_wanted = Signal()
    """The conversation, with everything typed and attached, should move to the window."""
    shown = Signal(bool)  # whether the box is visible

    def __init__(self, session: WindowSession, talker: TalkController, actions: Actions) -> None:
        flags = Qt.WindowType.Tool | Qt.WindowType.WindowStaysOnTopHint
        super().__init__("quick", flags)
        self.setWindowTitle(tr("Ask JARVIS"))
        self.setAccessibleName(tr("Ask JARVIS"))
        self.setAttribute(Qt.WidgetAttribute.WA_MacAlwaysShowToolWindow)
        # Heavy, and the box is only built when it first appears.
        from jarvis_desktop.ui.quick.reply import QuickReply

        self.setAcceptDrops(True)
        self._session = session
        self._talker = talker
        self._left_at = 0.0
        self._showing: OpenConversation | None = None
        self.line = QuickInput(session, talker)
        self.reply = QuickReply(actions)
        self._build()
        self.keys = TalkKeys(self, talker)
        self._later = new_timer(self, self._draw, REDRAW_MS)
        self._fitting = new_timer(self, self._fit)
        self.line.installEventFilter(self)
        self.reply.installEventFilter(self)
        self.line.sent.connect(self._send)
        self.line.stop_wanted.connect(lambda: session.stop(session.quick))
        self.reply.window_wanted.connect(self.window_wanted)
        session.changed.connect(self._changed)
        session.asked.connect(self._asked)
        session.switched.connect(self._switched)
        session.busy_changed.connect(self.line.show_busy)
        talker.talked.connect(self._talked)
        goes = self.window_wanted.emit
        shortcuts.bind(self, shortcuts.QUICK, escape=self._escape, window=goes, begin=self.begin)
        self._show_conversation()

    def _build(self) -> None:
        column = vbox(self.line, parent=self.plate, margins=1, spacing=0)
        self.scroller = QScrollArea()
        self.scroller.setObjectName("quickscroll")
        self.scroller.setWidgetResizable(True)
        self.scroller.setFrameShape(QFrame.Shape.NoFrame)
        self.scroller.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroller.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroller.setWidget(self.reply)
        column.addWidget(self.scroller)
        foot = QFrame()
        foot.setObjectName("quickfoot")
        self.symbol = Symbol("mode-local", size=16)
        row = hbox(
            self.symbol, parent=foot, margins=(theme.space("two"), 6, theme.space(), 6), spacing=2
        )
        row.addSpacing(4)
        self.mode = ElidedLabel(role="small")
        row.addWidget(self.mode, 1)
        self.timers = TimerButton("hint")
        row.addWidget(self.timers)
        self.fresh = _hint(tr("New"), "Ctrl+N", self.begin)
        self.open = _hint(tr("Open in the window"), "Ctrl+↵", self.window_wanted.emit)
        self.away = _hint(tr("Close"), "Esc", self.leave)
        for button in (self.fresh, self.open, self.away):
            row.addWidget(button)
        column.addWidget(foot)
        self._bar = self.scroller.verticalScrollBar()
        self._bar.rangeChanged.connect(self._follow)
        self._at_end = True
        self._bar.valueChanged.connect(self._scrolled)

    @property
    def listens(self) -> bool:
        """Whether speech belongs here."""
        return self.isVisible() and self.isActiveWindow()

    def appear(self, files: Sequence[Path] = ()) -> None:
        """Open near the cursor, or come to the front; optionally attach files."""
        if not self.isVisible():
            self._place()
        self.show()
        self.raise_()
        self.activateWindow()
        self.line.field.setFocus()
        if files:
            self.line.offer(files)
        self.shown.emit(True)

    def toggle(self) -> None:
        """Open or close, as the hotkey does."""
        if self.isVisible() and self.isActiveWindow():
            self.leave()
        else:
            self.appear()

    def leave(self) -> None:
        """Close the box; a running request continues."""
        self._left_at = time.monotonic()
        self.keys.let_go()
        self.hide()
        self.shown.emit(False)

    def begin(self) -> None:
        """Start another conversation."""
        self._session.end_speech()
        self._session.quick = OpenConversation()
        self._show_conversation()
        self.line.field.setFocus()

    def show_mode(self, mode: Mode) -> None:
        """Show in the footer what the mode allows."""
        meaning = MEANINGS[mode]
        self.symbol.show_icon(meaning.icon, "muted")
        self.mode.show_text(tr(meaning.name))
        self.mode.setToolTip(tr(meaning.means))
        self.mode.setAccessibleDescription(tr(meaning.means))

    def take(self, heard: Transcript) -> None:
        """Take speech: the answer to the open question, or a new request."""
        panel = self.reply.panel
        if panel and panel.dictation and not panel.answered:
            panel.dictation.take(heard)
            panel.take_focus()
        elif heard.text.strip():
            self.line.send_spoken(heard)

    def fail(self, reason: str) -> None:
        """Show why the speech was not understood."""
        panel = self.reply.panel
        if panel and panel.dictation and not panel.answered:
            panel.dictation.fail(reason)
        else:
            self.line.unheard.say(reason)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The desktop closes it just as Esc does; refusing would keep JARVIS from quitting."""
        self.leave()
        super().closeEvent(event)

    # User input

    def _send(self, request: object) -> None:
        self.sent.emit(request)
        self._show_conversation()

    def _escape(self) -> None:
        panel = self.reply.panel
        if self._talker.now.state != "idle":
            self._talker.cancel()
        elif not (panel and panel.refuse()):
            self._session.silence()
            self.leave()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if accepts(event.mimeData()):
            self._invite(True)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._invite(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._invite(False)
        if self.line.take(event.mimeData()):
            event.acceptProposedAction()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Let the box be moved by any empty place."""
        handle = self.windowHandle()
        if handle and event.button() == Qt.MouseButton.LeftButton:
            handle.startSystemMove()

    # Session events

    def _changed(self, pending: PendingTurn) -> None:
        if pending.place is self._session.quick and not self._later.isActive():
            self._later.start()

    def _asked(self, pending: PendingTurn) -> None:
        if pending.place is not self._session.quick:
            return
        self._draw()
        if self.reply.panel and self.listens and self.line.is_empty() and not self._talker.held:
            self.reply.panel.take_focus()
        elif pending.question is None and self.listens:
            self.line.field.setFocus()

    def _switched(self) -> None:
        """The window may have taken over this conversation, and the box would only cover it."""
        if self._showing is self._session.quick:
            return
        self._show_conversation()
        if self.isVisible() and self.line.is_empty():
            self.leave()

    def _talked(self, talking: Talking) -> None:
        """Speech that answers a question goes into its field, to be read before it is sent."""
        dictation = self.reply.panel.dictation if self.reply.panel else None
        self.line.strip.answers = dictation is not None
        if dictation is None or not self.listens:
            return
        if talking.state in ("waiting", "listening"):
            dictation.listen()
        elif talking.state == "recognising":
            dictation.await_words()
        else:
            dictation.leave()

    def _show_conversation(self) -> None:
        self._showing = self._session.quick
        more = bool(self._showing.entries)
        self._at_end = True
        self.line.show_more(more)
        for widget in (self.scroller, self.fresh):
            widget.setVisible(more)
        self._draw()

    def _draw(self) -> None:
        entries = self._session.quick.entries
        if entries:
            self.reply.draw(entries[-1])
        else:
            self.reply.leave()
        self._fitting.start()

    # Geometry

    def _place(self) -> None:
        entries = self._session.quick.entries
        old = time.monotonic() - self._left_at > CONTINUE_S
        if entries and old and entries[-1].turn.status is not None:
            self._session.quick = OpenConversation()
        self.look_at_desktop()
        self._show_conversation()
        self._fit()
        if not places_windows():
            return
        room = screen_of_cursor().availableGeometry()
        at = QCursor.pos()
        size = QSize(self.width(), round(room.height() * MAX_SCREEN_SHARE))
        wanted = QRect(at.x() - size.width() // 2, at.y() - size.height() // 4, 0, 0)
        wanted.setSize(size)
        self.move(within(wanted, room))

    def _fit(self) -> None:
        """Be as high as the content, up to a share of the screen."""
        room = (self.screen() or screen_of_cursor()).availableGeometry()
        scale = max(1.0, self.fontMetrics().height() / 20)
        wide = min(round(BOX_WIDTH * scale) + 2 * self.edge, room.width())
        if not self.scroller.isHidden():
            inner = wide - 2 * self.edge - 2
            layout = self.reply.layout()
            assert layout is not None
            if layout.hasHeightForWidth():
                wanted = layout.heightForWidth(inner)
            else:
                wanted = layout.sizeHint().height()
            other = self.line.sizeHint().height() + 48
            most = round(room.height() * MAX_SCREEN_SHARE) - other - 2 * self.edge
            self.scroller.setFixedHeight(min(wanted + SEPARATOR_PX, max(most, 120)))
        self.setFixedWidth(wide)
        layout = self.layout()
        if layout:
            layout.activate()
        self.resize(wide, self.sizeHint().height())

    def _follow(self) -> None:
        if self._at_end:
            self._bar.setValue(self._bar.maximum())

    def _scrolled(self, value: int) -> None:
        self._at_end = value >= self._bar.maximum() - 24

    def _invite(self, invites: bool) -> None:
        theme.restyle(self.plate, invites="true" if invites else "false")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fitting.start()
        return super().eventFilter(watched, event)


def _hint(text: str, keys: str, act: object) -> QPushButton:
    """A button that shows its shortcut."""
    button = QPushButton(f"{text}   {LEFT_TO_RIGHT}{keys}{AS_BEFORE}")
    button.setProperty("kind", "hint")
    button.setAccessibleName(text)
    button.setToolTip(f"{text} ({keys})")
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button


PREBUILD_MS = 2000
"""Milliseconds after the start when the box is built, so that the hotkey opens it at once."""


class QuickBoxController(QObject):
    """Runs the quick box and the overlay: their hotkey, and the way into the window."""

    window_wanted = Signal(str)
    """The window should be shown; carries an activation token of the desktop."""
    key_changed = Signal(str)  # the hotkey of the box as the desktop names it, or ""

    def __init__(self, window: MainWindow, phases: PhaseTracker, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._session = window.session
        self._box: QuickBox | None = None
        self._key: DesktopHotkey | None = None
        self._wanted_key: str | None = None  # the hotkey in the settings, which it was created with
        self._mode = Mode.LOCAL
        self.overlay = Overlay(self._session, window.talker, phases)
        self._warming = new_timer(self, lambda: self.box, PREBUILD_MS)

    @property
    def box(self) -> QuickBox:
        """The box; built on first use."""
        if self._box is None:
            window = self._window
            box = self._box = QuickBox(self._session, window.talker, window.user_actions)
            box.sent.connect(self._send)
            box.window_wanted.connect(self._move)
            box.shown.connect(lambda: self.see(self._window.isActiveWindow()))
            box.show_mode(self._mode)
            window.countdown.show_in(box)
            box.timers.serve(window.countdown)
            box.shown.connect(window.countdown.look)
            box.line.show_busy(self._session.busy)
            box.winId()  # the desktop's part of it takes the longest
            window.spoken.elsewhere = box
        return self._box

    @property
    def is_looked_at(self) -> bool:
        """Whether the box is in front."""
        return self._box is not None and self._box.listens

    @property
    def is_open(self) -> bool:
        """Whether the box is visible."""
        return self._box is not None and self._box.isVisible()

    def take_over(self, other: QuickBoxController) -> None:
        """Adopt what was being written in another box."""
        if other._box:
            self.box.line.take_over(other._box.line)

    def appear(self, token: str = "") -> None:
        """Open the box."""
        _use(token)
        self.box.appear()

    def talk(self) -> None:
        """Start or stop listening."""
        talker = self._window.talker
        talker.stop() if talker.active else talker.start()

    def bind(self, key: DesktopHotkey) -> None:
        """Let a global hotkey open the box."""
        self._key, engine = key, self._session.engine

        async def bind() -> HotkeyStatus:
            await key.close()  # the previous window may have held it
            key.watch(engine.poster(self, self._show_key))
            return await key.bind(engine.poster(self, self._pressed), lambda: None)

        engine.run(bind, self._bound)
        self._warming.start()

    def adopt(self, settings: Settings) -> None:
        """Apply the settings."""
        self._mode = settings.mode
        if self._box:
            self._box.show_mode(self._mode)
        self.overlay.want(settings.window.overlay)
        before, self._wanted_key = self._wanted_key, settings.window.quick_key
        key = self._key
        if key and before not in (None, self._wanted_key):
            wanted = settings.window.quick_key
            self._session.engine.run(lambda: key.choose(wanted), lambda outcome: None)

    def see(self, seen: bool) -> None:
        """Report whether the window is in front: then the overlay is not needed."""
        self.overlay.see(seen or self.is_looked_at)

    def close(self) -> None:
        """Close the box and the overlay, with the window."""
        self._warming.stop()
        for widget in (self.overlay, self._box):
            if widget:
                discard(widget)
        self._window.spoken.elsewhere = None

    def _send(self, request: Request) -> None:
        self._window.send(request, self._session.quick)

    def _move(self) -> None:
        """Move the conversation, and what is not sent yet, to the window."""
        line, composer = self.box.line, self._window.composer
        text, files = line.field.toPlainText(), line.attached.files()
        self.box.leave()
        self.window_wanted.emit("")
        if self._session.quick.entries:
            self._session.open_place(self._session.quick)
        line.clear()
        if text.strip():
            composer.field.insertPlainText(text)
        if files:
            self._window.add_files(files)
        self.box.begin()

    def _pressed(self) -> None:
        if self._key:
            _use(self._key.token)
        self.box.toggle()

    def _bound(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, HotkeyStatus):
            self._show_key(outcome.value)

    def _show_key(self, status: HotkeyStatus) -> None:
        self.key_changed.emit("" if status.way == "none" else status.key)


def _use(token: str) -> None:
    """Put the token where Qt looks for it on Wayland when it activates a window."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token
