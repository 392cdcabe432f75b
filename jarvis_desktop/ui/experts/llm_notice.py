"""What the window says where there is no LLM: which one fits this computer, and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from jarvis_desktop.llm.catalogue import LLMOffer, NoLLM
    from jarvis_desktop.ui.experts.controller import LLMWatch

MEANWHILE = mark(
    "JARVIS plans and answers without one meanwhile. With one it understands harder requests and "
    "answers in words of its own."
)
OLLAMA = "https://ollama.com/download"
ICON, INDENT = 20, 32
"""Pixels."""


class LLMNotice(QFrame):
    """Offers an LLM, and shows how far its fetching is."""

    fetch_wanted = Signal(object)
    """Carries an Offer."""
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._name = self._words = ""
        self._missing: NoLLM | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.space("two"), theme.space(), 12, 12)
        layout.setSpacing(theme.space("half"))
        head = QHBoxLayout()
        head.setSpacing(INDENT - ICON)
        head.addWidget(Symbol("llm", "accent", size=ICON))
        self.title = Label(role="strong", wrap=True)
        head.addWidget(self.title, 1)
        self.later = _button(tr("Not now"), kind="quiet")
        self.later.clicked.connect(self.hide)
        self.stop = _button(tr("Cancel"))
        self.stop.clicked.connect(self.stop_wanted)
        for button in (self.later, self.stop):
            head.addWidget(button)
        layout.addLayout(head)
        column = QVBoxLayout()
        column.setContentsMargins(INDENT, 0, 0, 0)
        column.setSpacing(theme.space())
        layout.addLayout(column)
        self.words = Label(role="small", wrap=True)
        column.addWidget(self.words)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress of the download"))
        column.addWidget(self.progress)
        self._rows = QWidget()
        self._offers = QVBoxLayout(self._rows)
        self._offers.setContentsMargins(0, 0, 0, 0)
        self._offers.setSpacing(theme.space())
        column.addWidget(self._rows)
        self.trouble = Label(role="warning", wrap=True)
        column.addWidget(self.trouble)
        self.hide()

    def serve(self, watch: LLMWatch) -> None:
        """Have what is offered fetched, and show how that goes."""
        self.fetch_wanted.connect(watch.fetch)
        self.stop_wanted.connect(watch.stop)
        watch.progressed.connect(self.advance)
        watch.fetched.connect(self.end)

    def offer(self, missing: NoLLM) -> None:
        """Show what could be fetched, or why nothing can be."""
        if missing != self._missing:
            self._missing = missing
            self._lay_out(missing)
            self._ask("")
        elif self.isHidden():
            self._ask("")

    def leave(self) -> None:
        """Make room: the person has something else in mind. What is fetched stays in sight."""
        if self.stop.isHidden():
            self.hide()

    def advance(self, fraction: float | None, message: str) -> None:
        """Show how far the fetching is; `fraction` from 0 to 1."""
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * min(max(fraction or 0.0, 0.0), 1.0)))
        self.words.setText(message[:200])

    def end(self, outcome: Outcome) -> None:
        """Go away where it was fetched; otherwise say why not, and offer it again."""
        if outcome.error:
            self._ask(str(outcome.error))
        elif outcome.cancelled:
            self._ask(tr("The download was stopped. What arrived is kept for the next time."))
        elif outcome.value is None:
            self._ask(tr("{name} was fetched, but cannot be used.", name=self._name))
        else:
            self.hide()

    def _lay_out(self, missing: NoLLM) -> None:
        while item := self._offers.takeAt(0):
            if old := item.widget():
                old.hide()
                old.deleteLater()
        primary = True
        if wish := missing.with_ollama:
            said = tr("Get Ollama")
            page = IconButton("open", said, kind="", text=said, colour="text")
            page.setToolTip(tr("Open Ollama’s download page"))
            page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(OLLAMA)))
            self._offers.addWidget(_row(wish, page, needs=tr("needs Ollama")))
        for each in missing.offers:
            fetch = _button(tr("Fetch it"), kind="primary" if primary else "")
            primary = False
            fetch.setAccessibleName(tr("Fetch {name}, {size}", name=each.name, size=_size(each)))
            fetch.clicked.connect(lambda _=False, each=each: self._want(each))
            self._offers.addWidget(_row(each, fetch))
        before: QWidget = self.stop
        for button in self._rows.findChildren(QPushButton):
            self.setTabOrder(before, button)
            before = button
        possible = bool(missing.offers or missing.with_ollama)
        meanwhile = tr(MEANWHILE)
        self._words = meanwhile if possible else f"{meanwhile} {missing.reason} {missing.advice}"

    def _ask(self, trouble: str) -> None:
        self.title.setText(tr("There is no large language model yet"))
        self.words.setText(self._words)
        self._show_parts(fetching=False)
        self.trouble.setText(trouble[:600])
        self.trouble.setVisible(bool(trouble))
        self.show()

    def _want(self, offer: LLMOffer) -> None:
        self._name = offer.name
        self.title.setText(tr("Fetching {name}", name=offer.name))
        self._show_parts(fetching=True)
        self.advance(None, tr("The download begins…"))
        self.stop.setFocus()
        self.fetch_wanted.emit(offer)

    def _show_parts(self, *, fetching: bool) -> None:
        self.later.setVisible(not fetching)
        self.stop.setVisible(fetching)
        self.progress.setVisible(False)
        self.trouble.hide()
        self._rows.setVisible(not fetching and bool(self._offers.count()))


def _row(offer: LLMOffer, button: QPushButton, *, needs: str = "") -> QWidget:
    """One LLM with what a person wants to know before it is fetched, and the way to get it."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    words = QVBoxLayout()
    words.setSpacing(0)
    words.addWidget(Label(offer.name))
    facts = (_size(offer), tr("licence {licence}", licence=offer.licence), tr(offer.good_at), needs)
    words.addWidget(Label(" · ".join(fact for fact in facts if fact), role="small", wrap=True))
    layout.addLayout(words, 1)
    layout.addWidget(button, alignment=Qt.AlignmentFlag.AlignVCenter)
    return row


def _size(offer: LLMOffer) -> str:
    size = labels.size(offer.download_mb * MB)
    return size if offer.verified else tr("about {size}", size=size)


def _button(text: str, *, kind: str = "") -> QPushButton:
    button = QPushButton(text)
    button.setAccessibleName(text)
    button.setProperty("kind", kind)
    return button
