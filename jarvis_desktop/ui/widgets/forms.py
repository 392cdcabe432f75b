"""Parts of forms: cards with rows, combo boxes, a text field that grows with its text, foldable
sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QObject, QPointF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWindow,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionButton,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox

LABELS = 120
"""Pixels of the names before what is chosen."""
MAX_REASON = 600
"""Characters of a reason that are shown."""


class Section(QFrame):
    """One subject."""

    def __init__(self, title: str, description: str = "") -> None:
        super().__init__()
        self.setObjectName("card")
        self.column = vbox(
            Label(title, role="strong"),
            parent=self,
            margins=(theme.space("two"), 12, theme.space("two"), 14),
            spacing=theme.space(),
        )
        if description:
            self.column.addWidget(Label(description, role="small", wrap=True))
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.trouble.hide()

    def row(self, name: str, *widgets: QWidget) -> None:
        """Add a label with its widgets. The first widget stretches and gets the label's name."""
        row = hbox(spacing=theme.space())
        label = Label(name)
        label.setFixedWidth(LABELS)
        label.setBuddy(widgets[0])
        if not widgets[0].accessibleName():
            widgets[0].setAccessibleName(name)
        row.addWidget(label)
        for index, widget in enumerate(widgets):
            row.addWidget(widget, 0 if index else 1)
        self.column.addLayout(row)

    def end(self) -> None:
        """Nothing comes after this but what is wrong."""
        self.column.addWidget(self.trouble)

    def complain(self, trouble: str) -> None:
        """Show what is wrong; "" hides it."""
        self.trouble.show_or_hide(one_line(trouble, limit=MAX_REASON))


MAX_WIDTH = 340
"""Pixels that a choice takes for its longest words, if there is room."""
BESIDE = 60
"""Pixels of a choice beside its words."""


class SelectOption(QComboBox):
    """One of several values, each with words for it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setItemDelegate(QStyledItemDelegate(self))  # Qt's own ignores the style sheet
        unmoved(self)

    def offer(self, values: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer values with their words; tells nobody."""
        before = self.blockSignals(True)
        self.clear()
        for value, words in values:
            self.addItem(one_line(words, limit=90), value)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(before)

    def choose(self, value: str) -> None:
        """Show a value; tells nobody."""
        before = self.blockSignals(True)
        self.setCurrentIndex(max(0, self.findData(value)))
        self.blockSignals(before)

    @property
    def value(self) -> Any:
        """The value that is chosen."""
        return self.currentData()

    def sizeHint(self) -> QSize:
        """As wide as the longest words; in a narrow window it may shrink."""
        self.ensurePolished()  # with the letters of the style sheet
        hint, letters = super().sizeHint(), self.fontMetrics()
        words = (self.itemText(index) for index in range(self.count()))
        longest = max(map(letters.horizontalAdvance, words), default=0)
        return QSize(max(hint.width(), min(MAX_WIDTH, longest + BESIDE)), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        x, y = 16.0 if self.isRightToLeft() else self.width() - 16.0, self.height() / 2
        _draw(self, "muted", (x - 4, y - 2), (x, y + 2), (x + 4, y - 2))


class Tick(QCheckBox):
    """A switch."""

    def __init__(self, text: str, description: str) -> None:
        super().__init__(text)
        self.setAccessibleName(text)
        self.setAccessibleDescription(description)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            option = QStyleOptionButton()
            self.initStyleOption(option)
            part = QStyle.SubElement.SE_CheckBoxIndicator
            middle = self.style().subElementRect(part, option, self).toRectF().center()
            x, y = middle.x(), middle.y()
            _draw(self, "on_accent", (x - 3.5, y), (x - 1, y + 2.5), (x + 3.5, y - 2.5))


def button(
    text: str,
    name: str = "",
    *,
    kind: str = "",
    tip: str = "",
    act: Callable[..., object] | SignalInstance | None = None,
) -> QPushButton:
    """A button that does `act`; `name` is what a screen reader says where its words are few."""
    made = QPushButton(text)
    if act:
        made.clicked.connect(act)
    made.setAccessibleName(name or text)
    made.setProperty("kind", kind)
    made.setToolTip(tip)
    made.setAutoDefault(False)
    return made


def plain_field(words: str, name: str = "") -> QLineEdit:
    """A field that shows these words while it is empty; `name` is what a screen reader says."""
    field = QLineEdit()
    field.setProperty("role", "plain")
    field.setPlaceholderText(words)
    field.setAccessibleName(name or words)
    return field


def progress_bar(name: str) -> QProgressBar:
    """A bar that shows no words."""
    made = QProgressBar()
    made.setTextVisible(False)
    made.setAccessibleName(name)
    return made


def reword(widget: QAbstractButton | QLabel, text: str, name: str = "") -> None:
    """Show another text; `name` is what a screen reader says instead."""
    widget.setText(text)
    widget.setAccessibleName(name or text)


def _draw(widget: QWidget, colour: str, *corners: tuple[float, float]) -> None:
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour(colour), 1.8, c=Qt.PenCapStyle.RoundCap))
    painter.drawPolyline([QPointF(*corner) for corner in corners])
    painter.end()


def unmoved(widget: QWidget) -> None:
    """Leave the wheel to the page, which it scrolls: nothing is changed by passing over it."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_Wheel(widget))


class _Wheel(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)


MAX_LINES = 8
FRAME = 6
"""Pixels that the outline of the style sheet takes, above and below."""
PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
"""The pictures that are taken as they are given, the best first, and their suffixes."""

_never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def holds_more_than_text(held: QMimeData) -> bool:
    """Whether it holds files, or a picture that is not only an extra to its words."""
    files = any(url.isLocalFile() for url in held.urls())
    return files or (holds_picture(held) and not held.text().strip())


def holds_picture(held: QMimeData) -> bool:
    """Whether it holds a picture that is not a file."""
    return held.hasImage() or any(held.hasFormat(name) for name in PICTURES)


class GrowingTextField(QPlainTextEdit):
    """As tall as its text, up to a few lines. Enter enters, Shift+Enter begins a new line."""

    entered = Signal()
    focused = Signal(bool)
    pasted = Signal(object)
    """Carries the QMimeData of what is pasted and no mere text."""

    def __init__(self, name: str, inviting: str = "", *, role: str = "") -> None:
        """`name` is for screen readers, `inviting` is shown while the field is empty."""
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(inviting)
        self.setProperty("role", role)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)  # the window takes what is dropped, wherever it is dropped
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def invite(self, words: str) -> None:
        """Show words while nothing is typed."""
        if words != self.placeholderText():
            self.setPlaceholderText(words)
            self.viewport().update()  # Qt repaints only the beginning of the changed line

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter enters, Shift+Enter begins a new line."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return holds_more_than_text(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if holds_more_than_text(source):
            self.pasted.emit(source)
        else:
            super().insertFromMimeData(source)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follow the width: Qt tells nothing where only the breaks of lines change."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = round(self.document().size().height())  # counted in lines by this kind of editor
        line = self.fontMetrics().lineSpacing()
        scrolls = lines > MAX_LINES
        bar = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else _never
        self.setVerticalScrollBarPolicy(bar)
        frame = FRAME if self.property("role") else 0
        self.setFixedHeight(min(max(lines, 1), MAX_LINES) * line + 10 + frame)


class Fold(QWidget):
    """A heading that shows and hides what is in `column`."""

    def __init__(self, name: str, *, unfolded: bool = True) -> None:
        """`name` says what it holds, as in "Show the rounds"."""
        super().__init__()
        self._name = name
        self._body = QWidget()
        self.column = vbox(parent=self._body, spacing=6)
        self.heading = IconButton(
            "down", tr("Hide {name}", name=name), kind="fold", text=" ", tip=tr("Hide")
        )
        self.heading.setIconSize(QSize(14, 14))
        self.heading.clicked.connect(lambda: self.unfold(self._body.isHidden()))
        vbox(self.heading, self._body, parent=self, spacing=theme.space("half"))
        self.unfold(unfolded)

    @property
    def unfolded(self) -> bool:
        """Whether it shows what is in it."""
        return not self._body.isHidden()

    def unfold(self, unfolded: bool) -> None:
        """Show what is in it, or only the heading."""
        self._body.setVisible(unfolded)
        if unfolded:
            self.heading.show_icon("down", tr("Hide {name}", name=self._name), tip=tr("Hide"))
        else:
            self.heading.show_icon("right", tr("Show {name}", name=self._name), tip=tr("Show"))

    def say(self, heading: str) -> None:
        """Write another heading."""
        self.heading.setText(heading.replace("&", "&&"))
        self.heading.setAccessibleDescription(heading)


class ReturnPresses(QObject):
    """Does so in every window of the application while it lives."""

    def __init__(self, application: QGuiApplication) -> None:
        super().__init__(application)
        application.focusWindowChanged.connect(self._watch)

    def _watch(self, window: QWindow | None) -> None:
        if window:
            window.installEventFilter(self)  # for the second time it only comes first again

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        button = QApplication.focusWidget()
        if (
            event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            or not isinstance(button, QAbstractButton)
            or QApplication.activePopupWidget()
        ):
            return False
        if not event.isAutoRepeat():
            button.click()
        return True


"""Characters of a reason that are shown."""


class SettingsPanel(QWidget):
    """Fill `column`."""

    def __init__(self, name: str) -> None:
        """`name` is what a screen reader says of it."""
        super().__init__()
        self.setAccessibleName(name)
        self.column = vbox(spacing=theme.space())
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.trouble.hide()
        vbox(
            self.column,
            self.trouble,
            parent=self,
            margins=(0, theme.space("half"), 0, 0),
            spacing=theme.space(),
        )

    def complain(self, trouble: str) -> None:
        """Show what is wrong; "" hides it."""
        self.trouble.show_or_hide(one_line(trouble, limit=MAX_REASON))

    def leave(self) -> None:
        """It is hidden."""
