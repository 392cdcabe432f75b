"""Lists on the page of experts: a row with facts, buttons, progress and questions, and a
placeholder for an empty list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QProgressBar,
    QPushButton,
    QWidget,
)

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button, reword
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label, TextView
from jarvis_desktop.ui.widgets.layout import FlowLayout, discard, hbox, vbox

MAX_TITLE_WIDTH = 360
"""Pixels of a name; a longer one is cut."""
MIN_WIDTH_IN_ONE_LINE = 520
"""Pixels; in a narrower line what can be done stands under the words."""


Made = TypeVar("Made", bound=QWidget)


class Tag(Label):
    """A word with a ground; `tone` colours it: plain, good, fair, bad, accent."""

    def __init__(self, text: str = "", tone: str = "plain") -> None:
        super().__init__(text, role="tone")
        self.setProperty("tone", tone)
        self.setSizePolicy(self.sizePolicy().Policy.Maximum, self.sizePolicy().Policy.Fixed)

    def show_tag(self, text: str, tone: str) -> None:
        """Show another word, "" none."""
        self.show_or_hide(text)
        theme.restyle(self, tone=tone)


class ExpertListItem(QFrame):
    """One row; empty parts take no room."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("entry")
        self.setProperty("first", False)
        column = vbox(
            parent=self,
            margins=(theme.space("two"), 12, theme.space("two"), 12),
            spacing=theme.space(),
        )
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        head = QWidget()
        self._head = FlowLayout(head, gap=6)
        self.title = ElidedLabel(role="strong", widest=MAX_TITLE_WIDTH)
        self._head.addWidget(self.title)
        self._tags: list[Tag] = []
        words = vbox(head, spacing=2)
        self.about = Label(wrap=True)
        self.facts = Label(role="small", wrap=True)
        for label in (self.about, self.facts):
            label.hide()
            words.addWidget(label)
        self._row.addLayout(words, 1)
        self.doings = QWidget()
        self._doings = hbox(parent=self.doings, spacing=theme.space("half"))
        self._row.addWidget(self.doings, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(self._row)
        self._question: _Question | None = None
        self._column = column

    # These few lines ever have: made when they first do.

    @cached_property
    def progress(self) -> QProgressBar:
        """How far something is."""
        made = QProgressBar()
        made.setTextVisible(False)
        return self._below(made)

    @cached_property
    def trouble(self) -> Label:
        """What is wrong."""
        return self._below(Label(role="warning", wrap=True))

    @cached_property
    def answer(self) -> TextView:
        """The result of a test."""
        return self._below(TextView(tr("Result of the test"), role="answer"))

    def _below(self, widget: Made) -> Made:
        widget.hide()
        self._column.addWidget(widget)
        return widget

    def reset(self) -> None:
        """Reset the row for another entry."""
        self.withdraw()
        self.do()
        for name in ("progress", "trouble", "answer"):
            if name in self.__dict__:
                getattr(self, name).hide()
        for name in ("state", "shown"):
            self.setProperty(name, None)

    def show_name(self, name: str, *tags: tuple[str, str]) -> None:
        """Show what it is called, and words about it with their tones."""
        self.title.show_text(name)
        self.setAccessibleName(name)
        while len(self._tags) < len(tags):
            self._tags.append(Tag())
            self._head.addWidget(self._tags[-1])
        for index, tag in enumerate(self._tags):
            tag.show_tag(*(tags[index] if index < len(tags) else ("", "plain")))

    def show_words(self, about: str, facts: str) -> None:
        """Show what it is for, and its facts."""
        for label, text in ((self.about, about), (self.facts, facts)):
            label.show_or_hide(text)

    def do(self, *buttons: QPushButton) -> None:
        """Set the buttons of the row."""
        while item := self._doings.takeAt(0):
            if (old := item.widget()) and old not in buttons:
                discard(old)
        for each in buttons:
            self._doings.addWidget(each)
            each.show()  # the layout would only do so later, and what is hidden takes no keyboard
        self.doings.setVisible(bool(buttons))

    def show_progress(self, fraction: float | None, name: str, *, rests: bool = False) -> None:
        """Show progress; None is indeterminate."""
        self.progress.setAccessibleName(name)
        theme.restyle(self.progress, rests=rests)
        if fraction is None:
            self.progress.setRange(0, 0)
        else:
            self.progress.setRange(0, 1000)
            self.progress.setValue(round(1000 * min(max(fraction, 0.0), 1.0)))
        self.progress.show()

    def complain(self, trouble: str) -> None:
        """Show what is wrong; "" hides it."""
        if trouble or "trouble" in self.__dict__:
            self.trouble.setText(trouble[:600])
            self.trouble.setVisible(bool(trouble))

    def say(self, text: str) -> None:
        """Show a result; "" hides it."""
        if text or "answer" in self.__dict__:
            self.answer.show_text(text)
            self.answer.setVisible(bool(text))

    def done(self) -> None:
        """Hide the progress."""
        if "progress" in self.__dict__:
            self.progress.hide()

    def ask(
        self,
        text: str,
        doing: str,
        then: Callable[[], None],
        *,
        risk: bool = True,
        first: tuple[str, Callable[[], object]] | None = None,
    ) -> None:
        """Ask before calling `then`; `first` is a button for something to do before answering."""
        self.withdraw()
        self._question = question = _Question(text, doing, risk=risk)

        def agreed() -> None:
            self.withdraw()
            then()

        question.yes.clicked.connect(agreed)
        question.no.clicked.connect(self.refuse)
        if first:
            words, act = first
            before = button(words, act=act)
            question.row.addWidget(before)
        self._column.addWidget(question)
        question.no.setFocus()

    @property
    def asks(self) -> bool:
        """Whether a question waits."""
        return self._question is not None

    def refuse(self) -> None:
        """Answer the question with no."""
        self.withdraw()
        for each in self.doings.findChildren(QPushButton):
            if each.isEnabled() and not each.isHidden():
                return each.setFocus()
        return None

    def withdraw(self) -> None:
        """Take the question back."""
        if self._question:
            discard(self._question)
            self._question = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < MIN_WIDTH_IN_ONE_LINE * max(
            1.0, self.fontMetrics().height() / 20
        )
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._row.direction() != way:
            self._row.setDirection(way)
            where = Qt.AlignmentFlag.AlignLeading if narrow else Qt.AlignmentFlag.AlignTop
            self._row.setAlignment(self.doings, where)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().minimumSizeHint().height())


class _Question(QFrame):
    """A question within a line."""

    def __init__(self, text: str, doing: str, *, risk: bool) -> None:
        super().__init__()
        self.setObjectName("asks")
        held = QWidget()
        self.row = FlowLayout(held, gap=theme.space())
        self.yes = button(doing, kind="risk" if risk else "primary")
        self.no = button(tr("Not now"))
        self.row.addWidget(self.yes)
        self.row.addWidget(self.no)
        vbox(
            Label(text, wrap=True),
            held,
            parent=self,
            margins=(12, 10, 12, 10),
            spacing=theme.space(),
        )
        self.setAccessibleName(text)


class EntryList(QFrame):
    """Rows in one card, by their keys; rows that stay keep their widgets."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(name)
        self._column = vbox(parent=self, margins=1, spacing=0)
        self.entries: dict[object, ExpertListItem] = {}

    @contextmanager
    def still(self) -> Iterator[None]:
        """Suspend the layout: Qt would lay out the whole page for each row that is shown."""
        self._column.setEnabled(False)
        try:
            yield
        finally:
            self._column.setEnabled(True)
            self._column.invalidate()
            self._column.activate()

    def show_keys(self, keys: Sequence[object]) -> None:
        """Have a line for each key, in this order."""
        if list(self.entries) == list(keys):
            return
        spare = [self.entries.pop(key) for key in [*self.entries] if key not in keys]
        for gone in spare:
            gone.reset()
        self.entries = {
            key: self.entries.get(key) or (spare.pop() if spare else ExpertListItem())
            for key in keys
        }
        for gone in spare:
            self._column.removeWidget(gone)
            discard(gone)
        for index, entry in enumerate(self.entries.values()):
            self._column.insertWidget(index, entry)
            entry.show()
            theme.restyle(entry, first=index == 0)
        self.setVisible(bool(self.entries))


def small(icon: str, name: str, tip: str) -> IconButton:
    """A button with an icon alone; `name` is for screen readers, and may hold foreign words."""
    return IconButton(icon, name, tip=tip)


class Empty(QFrame):
    """A picture, a few words and perhaps a button."""

    def __init__(self, icon: str) -> None:
        super().__init__()
        self.setObjectName("empty")
        self.title = Label(role="strong", wrap=True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.message = Label(role="small", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.act = button("", kind="primary")
        vbox(
            (Symbol(icon, "muted", size=28), Qt.AlignmentFlag.AlignHCenter),
            self.title,
            self.message,
            hbox(None, self.act, None),
            parent=self,
            margins=theme.space("three"),
            spacing=theme.space(),
        )

    def show_words(self, title: str, message: str, doing: str = "") -> None:
        """Say what is missing, and what to do."""
        self.title.setText(title)
        self.message.show_or_hide(message)
        reword(self.act, doing)
        self.act.setVisible(bool(doing))
