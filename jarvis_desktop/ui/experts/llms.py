"""The LLMs: which one is used and why, what is here, and what fits this computer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.listing import Known, Shelved
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.experts import words
from jarvis_desktop.ui.experts.desk import ExpertsDesk, why
from jarvis_desktop.ui.experts.downloads_watch import DownloadsWatch
from jarvis_desktop.ui.experts.entry import Entry, EntryList, small
from jarvis_desktop.ui.experts.llm_offers import LLMOffers
from jarvis_desktop.ui.experts.llm_state import LLMState, Need
from jarvis_desktop.ui.experts.llm_test import LLMTest
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label

if TYPE_CHECKING:
    from jarvis_desktop.catalogue.download import Download


class LLMPart(QWidget):
    """Chooses, fetches, tests and removes them."""

    downloads_wanted = Signal()
    """The person wants to see how far something is."""

    def __init__(self, desk: ExpertsDesk, watch: DownloadsWatch) -> None:
        super().__init__()
        self._desk, self._watch = desk, watch
        self._shelved: Shelved | None = None
        self._may_fetch = True
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.state = LLMState()
        self.state.need.connect(self._met)
        column.addWidget(self.state)
        self.here_title = Label(tr("Here"), role="heading")
        column.addWidget(self.here_title)
        self.here = EntryList(tr("LLMs that are here"))
        column.addWidget(self.here)
        self.more = LLMOffers(desk, watch)
        self.more.downloads_wanted.connect(self.downloads_wanted)
        column.addWidget(self.more)
        self.by_name = QWidget()
        row = QHBoxLayout(self.by_name)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space())
        self.name = QLineEdit()
        self.name.setProperty("role", "plain")
        self.name.setPlaceholderText(tr("Another one of Ollama’s library, such as gemma3:4b"))
        self.name.setAccessibleName(tr("Name of an LLM of Ollama’s library"))
        self.name.returnPressed.connect(self._pull_named)
        row.addWidget(self.name, 1)
        self.pull = button(tr("Fetch"), tr("Fetch the LLM of that name"))
        self.pull.setEnabled(False)
        self.name.textChanged.connect(lambda text: self.pull.setEnabled(bool(text.strip())))
        self.pull.clicked.connect(self._pull_named)
        row.addWidget(self.pull)
        column.addWidget(self.by_name)
        for widget in (self.here_title, self.here, self.by_name):
            widget.hide()
        desk.llms.connect(self._show)
        watch.changed.connect(self._coming)
        self._done: set[str] = set()

    def allow(self, may_fetch: bool) -> None:
        """Whether the mode lets anything be fetched."""
        self._may_fetch = may_fetch
        self._lay_out()

    def _show(self, shelved: Shelved) -> None:
        self._shelved = shelved
        names = [each.ollama for each in (known.listed for known in shelved.known) if each]
        completer = QCompleter(names, self.name)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.name.setCompleter(completer)
        self._lay_out()

    def _lay_out(self) -> None:
        shelved = self._shelved
        if shelved is None:
            return
        self.state.show_state(shelved, may_fetch=self._may_fetch)
        here = [each for each in shelved.known if each.where or each.used]
        here.sort(key=lambda each: (not each.used, each.name))
        with self.here.still():
            self.here.show_keys([(each.where, each.name) for each in here])
            for each in here:
                self._fill_here(self.here.entries[each.where, each.name], each)
        for widget in (self.here_title, self.here):
            widget.setVisible(bool(here))
        self.more.show_offers(shelved, may_fetch=self._may_fetch)
        self.by_name.setVisible(shelved.ollama.running and self._may_fetch)

    def _fill_here(self, entry: Entry, known: Known) -> None:
        tags = [(tr("Used"), "accent")] if known.used else []
        tags.append((_whose(known), "plain"))
        if known.loaded:
            size = phrases.size(known.loaded)
            tags.append((tr("In memory, {size}", size=size), "good"))
        entry.show_name(words.name(known.name), *tags)
        entry.show_words(tr(known.listed.good_at) if known.listed else "", _facts(known))
        key = (known.used, known.where, known.name)
        if entry.property("shown") != str(key):
            entry.setProperty("shown", str(key))
            entry.do(*self._buttons(entry, known))

    def _buttons(self, entry: Entry, known: Known) -> list[QPushButton]:
        name = words.name(known.name)
        made: list[QPushButton] = []
        if not known.used and known.where:
            use = button(tr("Use it"), tr("Use {name}", name=name))
            use.clicked.connect(lambda: self._desk.use(known.name))
            made.append(use)
        test = button(tr("Test"), tr("Test {name}", name=name))
        trial = LLMTest(self._desk, entry, test, known)
        test.clicked.connect(trial.press)
        made.append(test)
        if known.where in ("ollama", "transformers"):
            remove = small("trash", tr("Remove {name}", name=name), tr("Remove it"))
            remove.clicked.connect(lambda: self._ask(entry, known))
            made.append(remove)
        return made

    def _met(self, need: Need) -> None:
        """Do what the state above asks for."""
        match need:
            case Need.START:
                self._desk.run("start ollama", lambda shelf, _: shelf.start_ollama(), self._started)
                self.state.wait(tr("Ollama is started…"))
            case Need.FETCH:
                self.more.fetch_best()
            case Need.AUTO:
                self._desk.use("auto")
            case Need.LOOK:
                self._desk.look_at_llms(anew=True)

    def _started(self, outcome: Outcome) -> None:
        if outcome.error:
            self.state.complain(str(outcome.error))
        self._desk.look_at_llms(anew=True)

    def _pull_named(self) -> None:
        name = self.name.text().strip()
        if name and self._may_fetch:
            self._desk.do(lambda shelf: shelf.pull(name))
            self.name.clear()
            self.downloads_wanted.emit()

    def _ask(self, entry: Entry, known: Known) -> None:
        size = phrases.size(known.size)
        question = tr(
            "Remove {name}? {size} of the disk become free.", name=words.name(known.name), size=size
        )
        if known.used:
            question += " " + tr("It is the one in use; another one that is there is taken then.")

        def ended(outcome: Outcome) -> None:
            if outcome.error:
                entry.complain(why(outcome))
            self._desk.look_at_llms(anew=True)

        entry.ask(
            question,
            tr("Remove it"),
            lambda: self._desk.run(
                f"remove {known.name}", lambda shelf, _: shelf.remove_llm(known), ended
            ),
        )

    def _coming(self, listed: Sequence[Download]) -> None:
        """Look anew when one has come; show which of them are in line."""
        done = {each.name for each in listed if each.over}
        if done - self._done:
            self._desk.look_at_llms(anew=True)
            self._desk.look()
        self._done = done
        self._lay_out()


def _whose(known: Known) -> str:
    if known.in_cloud:
        return tr("Ollama’s cloud")
    return {"ollama": "Ollama", "transformers": tr("On the disk"), "openai": tr("Service")}.get(
        known.where, known.where
    )


def _facts(known: Known) -> str:
    facts = [phrases.size(known.size) if known.size else ""]
    if ollama := known.ollama:
        able = ollama.capabilities
        context = f"{ollama.context_length:,}" if ollama.context_length else ""
        facts += [
            one_line(ollama.parameters, limit=12),
            one_line(ollama.quantisation, limit=12),
            tr("context {count} tokens", count=context) if context else "",
            tr("sees pictures") if "vision" in able else "",
            tr("can reason first") if "thinking" in able else "",
        ]
    licence = known.listed.licence if known.listed else known.expert and known.expert.licence
    facts.append(words.licence(licence) if licence else "")
    return words.joined(*facts)
