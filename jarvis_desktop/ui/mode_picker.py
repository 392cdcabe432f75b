"""The four privacy modes, and the question before a change to one that sends more data away."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button, reword
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, hbox, vbox


@dataclass(frozen=True, slots=True)
class ModeDescription:
    """A mode in words, all of them marked for translation."""

    name: str
    icon: str
    means: str
    opens: str = ""
    """Which data it sends, and where to; shown in the question before the change."""


MEANINGS = {
    Mode.OFFLINE: ModeDescription(
        mark("Offline"),
        "mode-offline",
        mark("Nothing leaves this computer, and nothing is downloaded."),
    ),
    Mode.LOCAL: ModeDescription(
        mark("Local"),
        "mode-local",
        mark(
            "Your words and files stay on this computer. The network is used only for downloads "
            "that you ask for."
        ),
        mark(
            "From now on the network may be used for downloads that you ask for. Your words and "
            "files still stay on this computer."
        ),
    ),
    Mode.HYBRID: ModeDescription(
        mark("Hybrid"),
        "mode-hybrid",
        mark(
            "Work is done on this computer first. What it cannot do is sent to the Hugging Face "
            "API, with the words and files it needs."
        ),
        mark(
            "What this computer cannot do will be sent to the Hugging Face API from now on, with "
            "the words and files that it needs, and without asking each time."
        ),
    ),
    Mode.LITE: ModeDescription(
        mark("Lite"),
        "mode-lite",
        mark(
            "Your words and files are sent to the Hugging Face API; only speech is recognised on "
            "this computer."
        ),
        mark(
            "What you ask, and the files for it, will be sent to the Hugging Face API from now on, "
            "without asking each time. Only speech is recognised on this computer."
        ),
    ),
}
"""Ordered by how much data leaves this computer."""
ORDER = tuple(MEANINGS)


def opens_more(mode: Mode, now: Mode) -> bool:
    """Whether more data leaves this computer in a mode than in the current one."""
    return ORDER.index(mode) > ORDER.index(now)


class ModeChoice(QWidget):
    """The choice of a mode. A mode that sends more data than the current one needs a
    confirmation."""

    changed = Signal(object)
    """Carries the Mode's value."""

    def __init__(self) -> None:
        super().__init__()
        self.now = Mode.LOCAL
        self._wanted: Mode | None = None
        self.rows = {mode: ModeRow(mode) for mode in MEANINGS}
        column = vbox(parent=self, spacing=2)
        for mode, row in self.rows.items():
            row.clicked.connect(lambda _=False, mode=mode: self.pick(mode))
            column.addWidget(row)
        self.question = QFrame()
        self.question.setObjectName("modequestion")
        self.words = Label(wrap=True)
        self.yes, self.no = button(tr("Change"), kind="primary"), button(tr("Stay as it is"))
        self.yes.clicked.connect(self._agreed)
        self.no.clicked.connect(self.withdraw)
        answers = FlowLayout(gap=theme.space())
        answers.addWidget(self.yes)
        answers.addWidget(self.no)
        vbox(self.words, answers, parent=self.question, margins=(12, 10, 12, 10))
        self.question.hide()
        column.addWidget(self.question)
        self.setFocusProxy(self.rows[self.now])
        self.show_value(Mode.LOCAL)

    def show_value(self, value: str) -> None:
        """Show the current mode."""
        self.now = Mode(value)
        for mode, row in self.rows.items():
            row.show_chosen(mode is self.now)
        self.setFocusProxy(self.rows[self.now])

    def withdraw(self) -> None:
        """Cancel the question; the mode stays as it is."""
        if self._wanted:
            self.rows[self.now].setFocus()
        self._wanted = None
        self.question.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        here = next((mode for mode, row in self.rows.items() if row.hasFocus()), None)
        if step and here:
            self.rows[ORDER[(ORDER.index(here) + step) % len(ORDER)]].setFocus()
        elif event.key() == Qt.Key.Key_Escape and self._wanted:
            self.withdraw()
        else:
            super().keyPressEvent(event)

    def pick(self, mode: Mode) -> None:
        """Change to a mode, or ask first."""
        if not opens_more(mode, self.now):
            self.withdraw()
            self.changed.emit(mode.value)
            return
        self._wanted = mode
        name = tr(MEANINGS[mode].name)
        self.words.setText(tr(MEANINGS[mode].opens))
        reword(self.yes, tr("Change to {mode}", mode=name))
        self.yes.setAccessibleDescription(self.words.text())
        self.question.show()
        self.no.setFocus()

    def _agreed(self) -> None:
        wanted = self._wanted
        self.withdraw()
        if wanted:
            self.changed.emit(wanted.value)


class ModeRow(QPushButton):
    """One of the four modes, with its icon and meaning."""

    def __init__(self, mode: Mode) -> None:
        super().__init__()
        meaning = MEANINGS[mode]
        self.mode = mode
        self.setProperty("kind", "mode")
        self.setCheckable(True)
        self.setAutoDefault(False)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleDescription(tr(meaning.means))
        self._name = tr(meaning.name)
        self._symbol = Symbol(meaning.icon, "muted", size=22)
        words = vbox(
            Label(self._name, role="strong"),
            Label(tr(meaning.means), role="small", wrap=True),
            spacing=0,
        )
        self._tick = Symbol("done", "accent", size=18)
        keep = self._tick.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self._tick.setSizePolicy(keep)
        hbox(
            (self._symbol, Qt.AlignmentFlag.AlignTop),
            (words, 1),
            (self._tick, Qt.AlignmentFlag.AlignVCenter),
            parent=self,
            margins=(10, 8, 10, 8),
            spacing=12,
        )
        self._icon = meaning.icon
        for inner in self.findChildren(QWidget):
            inner.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_chosen(self, chosen: bool) -> None:
        """Show whether this is the current mode."""
        self.setChecked(chosen)
        self._tick.setVisible(chosen)
        self._symbol.show_icon(self._icon, "accent" if chosen else "muted")
        name = tr("{mode}, which holds now", mode=self._name) if chosen else self._name
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def nextCheckState(self) -> None:
        """Not checked by a press: the mode is chosen once the change is confirmed."""

    def sizeHint(self) -> QSize:
        layout = self.layout()
        assert layout
        return layout.sizeHint()

    def minimumSizeHint(self) -> QSize:
        layout = self.layout()
        assert layout
        return layout.minimumSize()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        assert layout
        return layout.totalHeightForWidth(width)


class ModeMenu(QFrame):
    """The modes, below the button in the header."""

    changed = Signal(object)
    more_wanted = Signal()
    """The user wants to see all settings of privacy."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("modemenu")
        self.setAccessibleName(tr("How far a request may travel"))
        self.choice = ModeChoice()
        vbox(self.choice, parent=self, margins=theme.space(), spacing=theme.space())
        self.choice.changed.connect(self._chosen)
        self.choice.installEventFilter(self)

    def open_below(self, anchor: QWidget, now: Mode) -> None:
        """Show it at the trailing end of a widget, within the screen."""
        self.choice.withdraw()
        self.choice.show_value(now.value)
        screen = (anchor.screen() or QGuiApplication.primaryScreen()).availableGeometry()
        self.setFixedWidth(min(round(26 * self.fontMetrics().averageCharWidth()) + 190,
                               screen.width() - 16, 520))  # fmt: skip
        self.adjustSize()
        rtl = anchor.layoutDirection() == Qt.LayoutDirection.RightToLeft
        corner = anchor.mapToGlobal(QPoint(0 if rtl else anchor.width(), anchor.height() + 4))
        left = corner.x() if rtl else corner.x() - self.width()
        left = max(screen.left() + 8, min(left, screen.right() - self.width() - 8))
        top = max(screen.top() + 8, min(corner.y(), screen.bottom() - self.height() - 8))
        self.move(left, top)
        self.show()
        self.choice.rows[now].setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.adjustSize()
        return False

    def _chosen(self, value: str) -> None:
        self.hide()
        self.changed.emit(value)
