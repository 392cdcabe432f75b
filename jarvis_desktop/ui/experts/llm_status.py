"""Which LLM is used and why; or what is missing, with the one thing to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.llm.catalogue import DOWNLOAD, LLMInventory
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.llm_notice import MEANWHILE
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.flow_layout import FlowLayout
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label


class Need(StrEnum):
    """What would help."""

    NOTHING = ""
    GET = "get"
    """Ollama is to be installed."""
    START = "start"
    """Ollama is there and does not run."""
    FETCH = "fetch"
    """It runs, and has no LLM."""
    AUTO = "auto"
    """Another one is wished for than is there, or none at all."""
    LOOK = "look"
    """Look again."""


LABELS = {
    Need.GET: mark("Get Ollama"),
    Need.START: mark("Start Ollama"),
    Need.FETCH: mark("Fetch the one that fits"),
    Need.AUTO: mark("Use the best that is there"),
    Need.LOOK: mark("Look again"),
}


RUN = {
    "ollama": mark("Ollama runs it."),
    "openai": mark("A service runs it."),
    "transformers": mark("JARVIS runs it itself, from the disk."),
}


@dataclass(frozen=True, slots=True)
class Said:
    """What is shown."""

    title: str
    told: str
    need: Need = Need.NOTHING
    good: bool = False


class LLMState(QFrame):
    """The card at the top."""

    need = Signal(object)
    """Carries the Need that the person wants to be met."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._need = Need.NOTHING
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space("two"), 14, theme.space("two"), 14)
        row.setSpacing(12)
        self._symbol = Symbol("llm", "muted", size=24)
        row.addWidget(self._symbol, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(theme.space("half"))
        self.title = Label(tr("Looking for LLMs…"), role="strong", wrap=True)
        self.told = Label(role="small", wrap=True)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        for label in (self.title, self.told, self.trouble):
            column.addWidget(label)
        self.held = QWidget()
        flow = FlowLayout(self.held, gap=theme.space())
        self.act = button("", kind="primary")
        self.act.clicked.connect(self._wanted)
        self.again = button(tr("Look again"))
        self.again.clicked.connect(lambda: self.need.emit(Need.LOOK))
        flow.addWidget(self.act)
        flow.addWidget(self.again)
        self.held.hide()
        column.addWidget(self.held)
        row.addLayout(column, 1)

    def show_state(self, shelved: LLMInventory, *, may_fetch: bool) -> None:
        """Say how it is."""
        said = said_of(shelved, may_fetch=may_fetch)
        self._need = said.need
        self._symbol.show_icon("llm", "done" if said.good else "muted")
        self.title.setText(said.title)
        self.told.setText(said.told)
        self.told.setVisible(bool(said.told))
        self.act.setVisible(said.need is not Need.NOTHING)
        self.act.setEnabled(True)
        self.act.setText(tr(LABELS.get(said.need, "")))
        self.act.setAccessibleName(self.act.text())
        self.again.setVisible(not said.good)
        self.held.setVisible(said.need is not Need.NOTHING or not said.good)
        self.setAccessibleName(said.title)

    def wait(self, told: str) -> None:
        """Something was begun."""
        self.complain("")
        self.told.setText(told)
        self.act.setEnabled(False)

    def complain(self, trouble: str) -> None:
        """Say what is wrong; "" takes it back."""
        self.trouble.setText(one_line(trouble, limit=600))
        self.trouble.setVisible(bool(trouble))

    def _wanted(self) -> None:
        if self._need is Need.GET:
            QDesktopServices.openUrl(QUrl(DOWNLOAD))
        else:
            self.need.emit(self._need)


def said_of(shelved: LLMInventory, *, may_fetch: bool) -> Said:
    """What to say of it."""
    wanted, reason = shelved.wanted, one_line(shelved.reason, limit=600)
    if shelved.used:
        title = tr("{name} is used", name=formatting.name(shelved.used.name))
        run = tr(RUN.get(shelved.used.provider, ""))
        if wanted.provider == "auto" and not wanted.id:
            best = tr("It is the best for this computer of those that are here.")
            return Said(title, f"{run} {best}", good=True)
        return Said(title, tr("{run} You chose it.", run=run), Need.AUTO, good=True)
    if wanted.provider == "none":
        return Said(tr("No LLM is used"), tr("The settings say so."), Need.AUTO)
    if wanted.provider in ("openai", "transformers") or wanted.id:
        return Said(tr("The LLM that you chose is not there"), reason, Need.AUTO)
    meanwhile = tr(MEANWHILE)
    if not shelved.installed:
        told = tr(
            "Ollama runs LLMs on this computer; install it, and choose one here. {meanwhile}",
            meanwhile=meanwhile,
        )
        return Said(tr("There is no LLM yet"), told, Need.GET)
    if not shelved.ollama.running:
        told = tr("Ollama is installed, but does not run. {meanwhile}", meanwhile=meanwhile)
        return Said(tr("Ollama does not run"), told, Need.START)
    told = f"{reason} {meanwhile}"
    return Said(
        tr("Ollama runs, but has no LLM that can be used"),
        told,
        Need.FETCH if may_fetch else Need.NOTHING,
    )
