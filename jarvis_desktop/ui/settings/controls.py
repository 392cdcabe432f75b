"""The rows of the settings and their controls, one for each kind of field.

A control has a signal `changed` that carries the new value, and `show_value`, which emits
nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QFrame,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QSlider,
    QStyle,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SelectOption, SettingsPanel, unmoved
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer


class Switch(QCheckBox):
    """A switch."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow) -> None:
        super().__init__()
        self.setAccessibleName(tr(row.title))
        self.setAccessibleDescription(tr(row.help))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._at = 0.0
        self._moving = QVariantAnimation(self)
        self._moving.valueChanged.connect(self._move)
        self.clicked.connect(lambda on: self.changed.emit(bool(on)))
        self.toggled.connect(self._slide)

    def show_value(self, value: bool) -> None:
        """Show a value."""
        self.setChecked(value)

    def sizeHint(self) -> QSize:
        height = max(22, round(self.fontMetrics().height() * 1.25))
        return QSize(round(height * 1.75), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: Any) -> bool:
        return self.rect().contains(pos)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = self.sizeHint()
        box = QRectF(1.5, (self.height() - size.height()) / 2 + 1.5, size.width() - 3,
                     size.height() - 3)  # fmt: skip
        on = self.isChecked()
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("text"), 1.5))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            box = box.adjusted(2.5, 2.5, -2.5, -2.5)
        painter.setPen(QPen(theme.colour("accent" if on else "control"), 1.2))
        painter.setBrush(theme.colour("accent" if on else "sunken"))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        radius = box.height() / 2 - 3
        way = box.width() - box.height()
        at = 1 - self._at if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else self._at
        middle = QPointF(box.left() + box.height() / 2 + way * at, box.center().y())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("on_accent" if on else "control"))
        painter.drawEllipse(middle, radius, radius)
        painter.end()

    def _slide(self, on: bool) -> None:
        self._moving.stop()
        duration = theme.duration("quick") if self.isVisible() else 0
        if not duration:
            self._move(float(on))
            return
        self._moving.setDuration(duration)
        self._moving.setStartValue(self._at)
        self._moving.setEndValue(float(on))
        self._moving.start()

    def _move(self, at: float) -> None:
        self._at = at
        self.update()


class Select(SelectOption):
    """One of several values."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow) -> None:
        super().__init__(tr(row.title))
        self.setAccessibleDescription(tr(row.help))
        self._own = [(each.value, tr(each.words)) for each in row.options]
        self.offer(self._own, "")
        self.activated.connect(lambda: self.changed.emit(self.value))

    def sizeHint(self) -> QSize:
        words = (self.itemText(index) for index in range(self.count()))
        widest = max((self.fontMetrics().horizontalAdvance(each) for each in words), default=0)
        most = 24 * self.fontMetrics().horizontalAdvance("m")
        return QSize(min(widest + 52, most), super().sizeHint().height())

    def show_value(self, value: str) -> None:
        """Show a value, also one that is not among those offered."""
        if self.findData(value) < 0:
            self.offer([*self._own, (value, value)], value)
        self.choose(value)


class Options(QWidget):
    """One of a few values, each with a sentence about it."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow) -> None:
        super().__init__()
        self.setAccessibleName(tr(row.title))
        column = vbox(parent=self, spacing=2)
        self._group = QButtonGroup(self)
        self._radios: dict[str, QRadioButton] = {}
        for option in row.options:
            radio = QRadioButton()
            radio.setAccessibleName(tr(option.words))
            radio.setAccessibleDescription(tr(option.description))
            radio.clicked.connect(lambda _=False, value=option.value: self.changed.emit(value))
            self._group.addButton(radio)
            self._radios[option.value] = radio
            words = vbox(spacing=0)
            for label in (
                _Pressing(radio, tr(option.words)),
                _Pressing(radio, tr(option.description)),
            ):
                if label.text():
                    words.addWidget(label)
            label.setProperty("role", "small")
            column.addLayout(
                hbox(
                    (radio, Qt.AlignmentFlag.AlignTop),
                    (words, 1),
                    margins=(0, 0, 0, theme.space()),
                    spacing=theme.space(),
                )
            )
        self.setFocusProxy(next(iter(self._radios.values())))

    def radio(self, value: str) -> QRadioButton:
        """The button of that value."""
        return self._radios[value]

    def show_value(self, value: str) -> None:
        """Show a value."""
        if radio := self._radios.get(value):
            radio.setChecked(True)


class _Pressing(Label):
    """The label of a radio button, which it clicks: the button's own label cannot wrap."""

    def __init__(self, radio: QRadioButton, text: str) -> None:
        super().__init__(text, wrap=True)
        self._radio = radio

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._radio.setFocus()
        self._radio.click()


class Slide(QWidget):
    """A slider with its value in words."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow) -> None:
        super().__init__()
        field = row.field
        assert field
        assert field.low is not None
        assert field.high is not None
        self._row = row
        self._whole = field.kind == "whole"
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, round((field.high - field.low) / row.step))
        self.slider.setPageStep(max(1, self.slider.maximum() // 8))
        self.slider.setMinimumWidth(120)
        self.slider.setAccessibleDescription(tr(row.help))
        unmoved(self.slider)
        self.value = Label(role="small")
        self.value.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        hbox((self.slider, 1), self.value, parent=self, spacing=theme.space())
        self.setFocusProxy(self.slider)
        self._low = field.low
        self.slider.valueChanged.connect(self._moved)
        self._show_value()

    def show_value(self, value: float) -> None:
        """Show a value."""
        if self.slider.isSliderDown():
            return
        before = self.slider.blockSignals(True)
        self.slider.setValue(round((value - self._low) / self._row.step))
        self.slider.blockSignals(before)
        self._show_value()

    def chosen(self) -> float:
        """The value that is shown."""
        value = self._low + self.slider.value() * self._row.step
        return round(value) if self._whole else round(value, 3)

    def sizeHint(self) -> QSize:
        return QSize(280, super().sizeHint().height())

    def _moved(self) -> None:
        self._show_value()
        self.changed.emit(self.chosen())

    def _show_value(self) -> None:
        words = self._row.shown(self.chosen())
        widest = max(self._row.shown(self._low), self._row.shown(self._low + self._row.step),
                     words, key=len)  # fmt: skip
        self.value.setMinimumWidth(self.value.fontMetrics().horizontalAdvance(widest + "00"))
        self.value.setText(words)
        self.slider.setAccessibleName(f"{tr(self._row.title)}: {words}")


class TextControl(QLineEdit):
    """Typed text, accepted when the field loses focus or Enter is pressed."""

    changed = Signal(object)
    refused = Signal(str)
    """Carries why the text is invalid; "" once it is valid."""

    def __init__(self, row: SettingsRow) -> None:
        super().__init__()
        assert row.field
        self._row, self._field = row, row.field
        self._shown: Any = row.field.default
        self.setProperty("role", "plain")
        self.setAccessibleName(tr(row.title))
        self.setAccessibleDescription(tr(row.help))
        self.setPlaceholderText(tr(row.empty))
        self._unit = tr(row.unit, value="").strip() if row.unit else ""
        self.textChanged.connect(self._make_room)
        self.editingFinished.connect(self._entered)

    def show_value(self, value: Any) -> None:
        """Show a value, unless the user is typing another one."""
        self._shown = value
        if not self.hasFocus() or not self.isModified():
            self.setText(self._worded(value))

    def sizeHint(self) -> QSize:
        said = self.fontMetrics().horizontalAdvance(self.placeholderText()) + 28
        wide = 280 if self._field.kind in ("text", "words") else max(140, said)
        return QSize(wide, super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._unit and self.text():
            painter = QPainter(self)
            painter.setPen(theme.colour("muted"))
            trailing = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
            trailing = QStyle.visualAlignment(self.layoutDirection(), trailing)
            painter.drawText(self.rect().adjusted(10, 0, -10, 0), trailing, self._unit)
            painter.end()

    def _make_room(self) -> None:
        if not self._unit:
            return
        room = self.fontMetrics().horizontalAdvance(self._unit) + 8 if self.text() else 0
        rtl = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self.setTextMargins(*((room, 0, 0, 0) if rtl else (0, 0, room, 0)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down change a number; Esc restores the current value."""
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if step and self._field.kind in ("whole", "number"):
            value = self._read()
            if value is not None and self._field.takes(round(value + step, 3)):
                self.setText(self._worded(round(value + step, 3)))
                self.setModified(True)
        elif event.key() == Qt.Key.Key_Escape and self.isModified():
            self.setText(self._worded(self._shown))
            self.refused.emit("")
        else:
            super().keyPressEvent(event)

    def _worded(self, value: Any) -> str:
        if self._field.kind == "words":
            return ", ".join(value)
        if self._field.kind in ("whole", "number"):
            if self._row.empty and not value:
                return ""
            return f"{value * self._row.factor:.10g}"
        return str(value)

    def _read(self) -> Any:
        """The typed value, or None if it is invalid."""
        text = self.text().strip()
        match self._field.kind:
            case "words":
                parts = (" ".join(part.split()) for part in text.split(","))
                return [part for part in parts if part]
            case "whole" | "number":
                if not text and self._row.empty:
                    return 0
                try:
                    number = float(text.replace(",", "."))
                except ValueError:
                    return None
                number /= self._row.factor
                if self._field.kind == "number":
                    return number
                return int(number) if number.is_integer() else None
            case _:
                return text

    def _entered(self) -> None:
        if not self.isModified():
            return
        value = self._read()
        if value is None or not self._field.takes(value):
            self.refused.emit(self._refusal())
            return
        self.refused.emit("")
        self.setModified(False)
        same = list(self._shown) if isinstance(self._shown, tuple) else self._shown
        self.setText(self._worded(value))
        if value != same:
            self._shown = value
            self.changed.emit(value)

    def _refusal(self) -> str:
        low, high = self._field.low, self._field.high
        if low is None or self._row.invalid:
            return tr(self._row.invalid) if self._row.invalid else tr("That is not possible here.")
        factor = self._row.factor
        if high is None:
            return tr("This is a number, at least {low}.", low=f"{low * factor:,.10g}")
        return tr(
            "This is a number from {low} to {high}.",
            low=f"{low * factor:,.10g}",
            high=f"{high * factor:,.10g}",
        )


def usual_control(row: SettingsRow) -> QWidget:
    """The control for a field of its kind."""
    assert row.field
    if row.options:
        return (Options if any(each.description for each in row.options) else Select)(row)
    if row.step:
        return Slide(row)
    makers: dict[str, Callable[[SettingsRow], QWidget]] = {"switch": Switch}
    return makers.get(row.field.kind, TextControl)(row)


MIN_WIDTH_IN_ONE_LINE = 34
"""Widths of the letter "m"; in a narrower row the control is below the text."""
HIGHLIGHT_MS = 1600
"""Milliseconds for which the requested row is highlighted."""


class SettingRow(QFrame):
    """One row: a title, a sentence, a control, and a button that restores the default."""

    changed = Signal(str, object)
    """Carries the key and the new value; None for the default."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__()
        self.row = row
        self.setObjectName("setting")
        self.title = HighlightedTitle(tr(row.title))
        self.back = IconButton("undo", "", kind="tiny", act=self._reset)
        self.back.setIconSize(self.back.iconSize() * 0.8)
        self.back.hide()
        self.help = Label(tr(row.help), role="small", wrap=True)
        if not row.help:
            self.help.hide()
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.control = row.make(row, hands) if row.make else usual_control(row)
        self._build()
        if row.field:
            self.control.changed.connect(self._changed)  # type: ignore[attr-defined]
        if isinstance(self.control, TextControl):
            self.control.refused.connect(self.complain)
        self._marked = new_timer(self, lambda: theme.restyle(self, marked=False), HIGHLIGHT_MS)

    def _build(self) -> None:
        words = vbox(
            hbox((self.title, 1), self.back, spacing=theme.space("half")),
            self.help,
            self.trouble,
            spacing=1,
        )
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(theme.space("two"))
        self._line.addLayout(words, 1)
        outer = vbox(
            self._line, parent=self, margins=(theme.space("two"), 11, theme.space("two"), 11)
        )
        if self.row.whole or isinstance(self.control, SettingsPanel):
            outer.addWidget(self.control)
        else:
            middle = Qt.AlignmentFlag.AlignVCenter
            self._line.addWidget(self.control, 0, middle)
            self.control.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_settings(self, settings: Any) -> None:
        """Show the settings in use."""
        field = self.row.field
        if field is None:
            return
        value = field.of(settings)
        self.control.show_value(value)  # type: ignore[attr-defined]
        if value == field.default:
            if self.back.hasFocus():
                self.control.setFocus()
            self.back.hide()
        else:
            usual = one_line(self.row.shown(field.default), limit=60)
            self.back.show_icon(
                "undo",
                tr("Reset {name}", name=tr(self.row.title))
                if not usual
                else tr("Reset {name} to: {value}", name=tr(self.row.title), value=usual),
            )
            self.back.show()

    def highlight(self, sought: str) -> None:
        """Highlight the search words in the title."""
        self.title.highlight(sought)

    def flash(self) -> None:
        """Highlight the row for a moment."""
        theme.restyle(self, marked=True)
        self._marked.start()

    def complain(self, trouble: str) -> None:
        """Show what is wrong; "" hides it."""
        self.trouble.show_or_hide(trouble)
        self.control.setAccessibleDescription(trouble or tr(self.row.help))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = isinstance(self.control, Switch) or (
            self.width() >= MIN_WIDTH_IN_ONE_LINE * self.fontMetrics().horizontalAdvance("m")
        )
        direction = QBoxLayout.Direction
        self._line.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
        self._line.setSpacing(theme.space("two") if wide else theme.space())

    def _changed(self, value: object) -> None:
        self.complain("")
        self.changed.emit(self.row.key, value)

    def _reset(self) -> None:
        self.complain("")
        self.changed.emit(self.row.key, None)


class HighlightedTitle(Label):
    """A title with highlighted search words."""

    def __init__(self, text: str) -> None:
        super().__init__(text, wrap=True)
        self._sought: tuple[str, ...] = ()

    def highlight(self, sought: str) -> None:
        """Highlight these words."""
        self._sought = tuple(sought.casefold().split())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the highlights below the text; a wrapped title has none."""
        metrics, text = self.fontMetrics(), self.text()
        if self._sought and metrics.horizontalAdvance(text) <= self.width():
            painter = QPainter(self)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("soft"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for word in self._sought:
                at = text.casefold().find(word)
                if at >= 0 and len(text.casefold()) == len(text):
                    left = metrics.horizontalAdvance(text[:at])
                    width = metrics.horizontalAdvance(text[at : at + len(word)])
                    if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
                        left = self.width() - left - width
                    top = (self.height() - metrics.height()) / 2
                    painter.drawRoundedRect(
                        QRectF(left - 2, top, width + 4, metrics.height()), 3, 3
                    )
            painter.end()
        super().paintEvent(event)
