"""Which LLM is used and why, or what is missing and how to get it: the notice in the conversation
and the card on the page of experts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import button, progress_bar, reword
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, clear, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.llm.catalogue import LLMInventory, LLMOffer, NoLLM
    from jarvis_desktop.ui.experts.controller import LLMMonitor


MEANWHILE = mark(
    "JARVIS plans and answers without one. With one it understands harder requests "
    "and answers in its own words."
)
WITHOUT_IT = mark("JARVIS plans and answers without it for now.")
ICON, INDENT = 20, 32
"""Pixels."""


class LLMNotice(QFrame):
    """Offers an LLM and shows the progress of its download."""

    fetch_wanted = Signal(object)
    """Carries an Offer."""
    stop_wanted = Signal()
    choice_wanted = Signal()
    """The user wants to see which LLMs there are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._reason = self._declined = ""
        """Why the chosen LLM cannot be used, and the reason that the user has closed."""
        self._name = self._words = ""
        self._missing: NoLLM | None = None
        layout = vbox(
            parent=self,
            margins=(theme.space("two"), theme.space(), 12, 12),
            spacing=theme.space("half"),
        )
        self.title = Label(role="strong", wrap=True)
        head = hbox(Symbol("llm", "accent", size=ICON), (self.title, 1), spacing=INDENT - ICON)
        self.later = button(tr("Not now"), kind="quiet", act=self._decline)
        self.server = button(tr("Use a server…"), kind="quiet", act=self.choice_wanted)
        self.server.setToolTip(tr("Give the address of a server with an LLM"))
        self.choose = button(tr("Choose another"), kind="primary", act=self.choice_wanted)
        self.stop = button(tr("Cancel"), act=self.stop_wanted)
        for each in (self.server, self.later, self.choose, self.stop):
            head.addWidget(each)
        layout.addLayout(head)
        column = vbox(margins=(INDENT, 0, 0, 0), spacing=theme.space())
        layout.addLayout(column)
        self.words = Label(role="small", wrap=True)
        column.addWidget(self.words)
        self.progress = progress_bar(tr("Progress of the download"))
        column.addWidget(self.progress)
        self._rows = QWidget()
        self._offers = vbox(parent=self._rows, spacing=theme.space())
        column.addWidget(self._rows)
        self.trouble = Label(role="warning", wrap=True)
        column.addWidget(self.trouble)
        self.hide()

    def serve(self, watch: LLMMonitor) -> None:
        """Download with `watch`, and show its progress."""
        self.fetch_wanted.connect(watch.fetch)
        self.stop_wanted.connect(watch.stop)
        watch.progressed.connect(self.advance)
        watch.fetched.connect(self.end)

    def offer(self, missing: NoLLM) -> None:
        """Show which LLMs can be downloaded, or why none can."""
        if missing != self._missing:
            self._missing = missing
            self._lay_out(missing)
            self._ask("")
        elif self.isHidden():
            self._ask("")

    def warn(self, reason: str, *, wanted: bool = False) -> None:
        """Show that the chosen LLM cannot be used, and why; `wanted` if the user asked."""
        if reason == self._declined and not wanted:
            return
        self._missing, self._reason = None, reason
        self._words = f"{reason} {tr(WITHOUT_IT)}"
        clear(self._offers)
        self._ask("")
        self.title.setText(tr("The LLM that you chose does not answer"))
        self.server.hide()
        self.choose.show()

    def _decline(self) -> None:
        self._declined = self._reason
        self.hide()

    def leave(self) -> None:
        """Hide the offer; a running download stays visible."""
        if self.stop.isHidden():
            self.hide()

    def advance(self, fraction: float | None, message: str) -> None:
        """Show the progress; `fraction` from 0 to 1."""
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * min(max(fraction or 0.0, 0.0), 1.0)))
        self.words.setText(message[:200])

    def end(self, outcome: Outcome) -> None:
        """Hide if the download succeeded; otherwise show why not and offer it again."""
        if outcome.error:
            self._ask(str(outcome.error))
        elif outcome.cancelled:
            self._ask(tr("The download was stopped. What arrived is kept for the next time."))
        elif outcome.value is None:
            self._ask(tr("{name} was fetched, but cannot be used.", name=self._name))
        else:
            self.hide()

    def _lay_out(self, missing: NoLLM) -> None:
        clear(self._offers)
        primary = True
        if wish := missing.with_ollama:
            said = tr("Get Ollama")
            page = IconButton("open", said, kind="", text=said, colour="text")
            page.setToolTip(tr("Open Ollama’s download page"))
            page.clicked.connect(_open_download_page)
            self._offers.addWidget(_row(wish, page, needs=tr("needs Ollama")))
        for offer in missing.offers:
            said = tr("Download {name}, {size}", name=offer.name, size=_size(offer))
            fetch = button(tr("Download"), said, kind="primary" if primary else "")
            primary = False
            fetch.clicked.connect(lambda _=False, offer=offer: self._want(offer))
            self._offers.addWidget(_row(offer, fetch))
        before: QWidget = self.stop
        for each in self._rows.findChildren(QPushButton):
            self.setTabOrder(before, each)
            before = each
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
        self.title.setText(tr("Downloading {name}", name=offer.name))
        self._show_parts(fetching=True)
        self.advance(None, tr("The download begins…"))
        self.stop.setFocus()
        self.fetch_wanted.emit(offer)

    def _show_parts(self, *, fetching: bool) -> None:
        self.later.setVisible(not fetching)
        self.server.setVisible(not fetching)
        self.choose.hide()
        self.stop.setVisible(fetching)
        self.progress.setVisible(False)
        self.trouble.hide()
        self._rows.setVisible(not fetching and bool(self._offers.count()))


def _open_download_page() -> None:
    from jarvis_desktop.llm.catalogue import OLLAMA_URL

    QDesktopServices.openUrl(QUrl(OLLAMA_URL))


def _row(offer: LLMOffer, act: QPushButton, *, needs: str = "") -> QWidget:
    """One LLM with its facts and the button to get it."""
    row = QWidget()
    facts = (_size(offer), tr("licence {licence}", licence=offer.licence), tr(offer.good_at), needs)
    hbox(
        (
            vbox(
                Label(offer.name),
                Label(" · ".join((fact for fact in facts if fact)), role="small", wrap=True),
                spacing=0,
            ),
            1,
        ),
        (act, Qt.AlignmentFlag.AlignVCenter),
        parent=row,
        spacing=12,
    )
    return row


def _size(offer: LLMOffer) -> str:
    size = labels.size(offer.download_mb * MB)
    return size if offer.verified else tr("about {size}", size=size)


class Need(StrEnum):
    """What would help."""

    NOTHING = ""
    GET = "get"
    """Install Ollama."""
    START = "start"
    """Start the installed Ollama."""
    FETCH = "fetch"
    """Download an LLM for the running Ollama."""
    AUTO = "auto"
    """Stop asking for an LLM that is missing."""
    LOOK = "look"
    """Check again."""


LABELS = {
    Need.GET: mark("Get Ollama"),
    Need.START: mark("Start Ollama"),
    Need.FETCH: mark("Download the one that fits"),
    Need.AUTO: mark("Choose automatically"),
    Need.LOOK: mark("Look again"),
}


RUN = {
    "ollama": mark("Ollama runs it."),
    "openai": mark("It runs on a server."),
    "transformers": mark("JARVIS runs it."),
}


@dataclass(frozen=True, slots=True)
class LLMStateText:
    """What is shown."""

    title: str
    message: str
    need: Need = Need.NOTHING
    good: bool = False


class LLMState(QFrame):
    """The card at the top."""

    need = Signal(object)
    """Carries the Need that the user clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._need = Need.NOTHING
        self._symbol = Symbol("llm", "muted", size=24)
        row = hbox(
            (self._symbol, Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(theme.space("two"), 14, theme.space("two"), 14),
            spacing=12,
        )
        column = vbox(spacing=theme.space("half"))
        self.title = Label(tr("Looking for LLMs…"), role="strong", wrap=True)
        self.message = Label(role="small", wrap=True)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        for label in (self.title, self.message, self.trouble):
            column.addWidget(label)
        self.held = QWidget()
        flow = FlowLayout(self.held, gap=theme.space())
        self.act = button("", kind="primary", act=self._wanted)
        self.again = button(tr("Look again"), act=lambda: self.need.emit(Need.LOOK))
        flow.addWidget(self.act)
        flow.addWidget(self.again)
        self.held.hide()
        column.addWidget(self.held)
        row.addLayout(column, 1)

    def show_state(self, shelved: LLMInventory, *, may_fetch: bool) -> None:
        """Show the state."""
        said = said_of(shelved, may_fetch=may_fetch)
        self._need = said.need
        self._symbol.show_icon("llm", "done" if said.good else "muted")
        self.title.setText(said.title)
        self.message.show_or_hide(said.message)
        self.act.setVisible(said.need is not Need.NOTHING)
        self.act.setEnabled(True)
        theme.restyle(self.act, kind="" if said.good else "primary")
        reword(self.act, tr(LABELS.get(said.need, "")))
        self.again.setVisible(not said.good)
        self.held.setVisible(said.need is not Need.NOTHING or not said.good)
        self.setAccessibleName(said.title)

    def wait(self, message: str) -> None:
        """Show that something was started."""
        self.complain("")
        self.message.setText(message)
        self.act.setEnabled(False)

    def complain(self, trouble: str) -> None:
        """Show what is wrong; "" hides it."""
        self.trouble.setText(one_line(trouble, limit=600))
        self.trouble.setVisible(bool(trouble))

    def _wanted(self) -> None:
        if self._need is Need.GET:
            _open_download_page()
        else:
            self.need.emit(self._need)


def said_of(shelved: LLMInventory, *, may_fetch: bool) -> LLMStateText:
    """The texts for this state."""
    wanted, reason = shelved.wanted, one_line(shelved.reason, limit=600)
    if shelved.used:
        title = tr("{name} is used", name=one_line(shelved.used.name, limit=70))
        run = tr(RUN.get(shelved.used.provider, ""))
        if shelved.used.provider == "openai" and wanted.address:
            run = tr("It runs at {address}.", address=one_line(wanted.address, limit=200))
        if wanted.provider == "auto" and not wanted.id:
            best = tr("It is the best for this computer of those that are here.")
            return LLMStateText(title, f"{run} {best}", good=True)
        return LLMStateText(title, tr("{run} You chose it.", run=run), Need.AUTO, good=True)
    if wanted.provider == "none":
        return LLMStateText(tr("No LLM is used"), tr("The settings say so."), Need.AUTO)
    if wanted.provider in ("openai", "transformers") or wanted.id:
        chosen = one_line(wanted.id, limit=70) or tr("The LLM that you chose")
        return LLMStateText(tr("{name} cannot be used", name=chosen), reason, Need.AUTO)
    meanwhile = tr(MEANWHILE)
    if not shelved.installed:
        message = tr(
            "Ollama runs LLMs on this computer; install it, and choose one here. {meanwhile}",
            meanwhile=meanwhile,
        )
        return LLMStateText(tr("There is no LLM yet"), message, Need.GET)
    if not shelved.ollama.running:
        message = tr("Ollama is installed, but does not run. {meanwhile}", meanwhile=meanwhile)
        return LLMStateText(tr("Ollama does not run"), message, Need.START)
    message = f"{reason} {meanwhile}"
    return LLMStateText(
        tr("Ollama runs, but has no LLM that can be used"),
        message,
        Need.FETCH if may_fetch else Need.NOTHING,
    )
