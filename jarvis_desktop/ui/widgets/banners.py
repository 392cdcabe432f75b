"""Messages across the window, and what covers it for a moment, such as the drop zone."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.motion import fade_in
from jarvis_desktop.ui.widgets.timers import new_timer

CALM_MS = 12_000
"""Milliseconds for which a calm message is shown."""


class Banner(QFrame):
    """One message across the window. An error stays until it is closed or replaced; a calm message
    is hidden after a while, unless the mouse is over it."""

    closed = Signal()
    """The user has closed it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._symbol = Symbol("failed", "danger")
        self.message = Label(wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = IconButton("close", tr("Close this message"), kind="tiny", act=self.hide)
        close.clicked.connect(self.closed)
        self._symbol.setFixedHeight(close.sizeHint().height())  # level with the first line
        hbox(
            (self._symbol, Qt.AlignmentFlag.AlignTop),
            (self.message, 1),
            (close, Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(12, theme.space(), theme.space(), theme.space()),
            spacing=10,
        )
        self._leaving = new_timer(self, self._leave, CALM_MS)
        self.hide()

    def say(self, message: str, *, calm: bool = False, stays: bool = False) -> None:
        """Show a message; `calm` if it is not an error, and `stays` if it should not leave."""
        theme.restyle(self, calm="true" if calm else "false")
        self._symbol.show_icon(*(("note", "muted") if calm else ("failed", "danger")))
        self.message.setText(message[:2000])
        self.setAccessibleName(message[:2000])
        if self.isHidden():
            self.show()
            fade_in(self)
        self._leaving.start() if calm and not stays else self._leaving.stop()

    def _leave(self) -> None:
        if self.underMouse():
            self._leaving.start()
        else:
            self.hide()


class BannerCard(QFrame):
    """A card above the conversation that stays until the user decides."""

    def __init__(self, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.title, self.words = Label(role="strong", wrap=True), Label(role="small", wrap=True)
        self._row = hbox(
            Symbol(icon, "accent", size=20),
            (vbox(self.title, self.words, spacing=0), 1),
            parent=self,
            margins=(theme.space("two"), 12, 12, 12),
            spacing=12,
        )
        self.hide()

    def offer(self, text: str, *, kind: str = "") -> QPushButton:
        """A button for something that can be done."""
        made = button(text, kind=kind)
        self._row.addWidget(made)
        return made

    def say(self, title: str, words: str) -> None:
        """Show it with these words."""
        self.title.setText(title)
        self.words.setText(words)
        self.setAccessibleName(f"{title} {words}")
        if self.isHidden():
            self.show()
            fade_in(self)


MARGIN = 12


class CoverParent(QObject):
    """Keeps a widget over all of its parent, whatever size that gets."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        parent = widget.parentWidget()
        assert parent is not None
        parent.installEventFilter(self)
        widget.setGeometry(parent.rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self._widget.setGeometry(watched.rect())
        return super().eventFilter(watched, event)


class DropZone(QFrame):
    """Says that what is held over the window may be dropped."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("dropzone")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(
            Symbol("attach", "on_soft", size=32), alignment=Qt.AlignmentFlag.AlignHCenter
        )
        layout.addWidget(Label(tr("Drop to add"), role="title"), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(
            Label(tr("Pictures, recordings, documents: they go with your next request")),
            alignment=Qt.AlignmentFlag.AlignHCenter,
        )
        layout.addStretch(1)
        self.hide()

    def appear(self) -> None:
        """Cover the parent."""
        parent = self.parentWidget()
        assert parent is not None
        self.setGeometry(parent.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.raise_()
        self.show()
