"""The LLMs that could be fetched and run on this computer, the one to recommend first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.listing import Known, Shelved
from jarvis_desktop.llm.shipped import ShippedLLM
from jarvis_desktop.ui.experts import words
from jarvis_desktop.ui.experts.desk import ExpertsDesk
from jarvis_desktop.ui.experts.downloads_watch import DownloadsWatch
from jarvis_desktop.ui.experts.entry import Entry, EntryList
from jarvis_desktop.ui.look import phrases
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label

BITS = 3
"""How many times the memory an LLM takes without Ollama: it has 16 bits a number, or more."""


class LLMOffers(QWidget):
    """Those that Ollama would fetch; where it does not run, those that JARVIS can run itself."""

    downloads_wanted = Signal()
    """The person wants to see how far something is."""

    def __init__(self, desk: ExpertsDesk, watch: DownloadsWatch) -> None:
        super().__init__()
        self._desk, self._watch = desk, watch
        self._shelved: Shelved | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(Label(tr("Fit this computer"), role="heading"))
        self.list = EntryList(tr("LLMs that could be fetched"))
        column.addWidget(self.list)
        self.hide()

    def show_offers(self, shelved: Shelved, *, may_fetch: bool) -> None:
        """Show what could be fetched."""
        self._shelved = shelved
        able = self._able(shelved)
        best = self._best(shelved, able)
        able.sort(key=lambda each: each is not best)
        with self.list.still():
            self.list.show_keys([each.id for each in able])
            for each in able:
                entry = self.list.entries[each.id]
                self._fill(entry, each, shelved, best=each is best)
                self._give(entry, each, shelved, may_fetch=may_fetch, best=each is best)
        self.setVisible(bool(able))

    def fetch_best(self) -> None:
        """Fetch the one that is recommended."""
        if self._shelved and (best := self._best(self._shelved, self._able(self._shelved))):
            self._fetch(best, self._shelved)

    def _able(self, shelved: Shelved) -> list[Known]:
        """Those that are not here, run here, and can be got."""
        running = shelved.ollama.running
        return [
            each
            for each in shelved.known
            if each.listed and not each.where and not each.used
            if running or each.without_ollama
            if shelved.computer.holds(_need(each.listed, shelved))
        ]

    def _best(self, shelved: Shelved, able: Sequence[Known]) -> Known | None:
        """The largest that is quick enough, else the smallest that runs; without Ollama the
        largest, for those are small."""
        if not shelved.ollama.running:
            return able[-1] if able else None
        quick = [
            each
            for each in able
            if each.listed and shelved.computer.suits(_need(each.listed, shelved))
        ]
        return quick[-1] if quick else next(iter(able), None)

    def _fill(self, entry: Entry, known: Known, shelved: Shelved, *, best: bool) -> None:
        listed, expert = known.listed, _expert(known, shelved)
        if listed is None:
            return
        need = _need(listed, shelved)
        tags = [(tr("Recommended"), "accent")] if best else []
        quick = shelved.computer.suits(need)
        tags.append((tr("Fits"), "good") if quick else (tr("Slow here"), "fair"))
        entry.show_name(_name(known, shelved), *tags)
        entry.show_words(
            tr(listed.good_at),
            words.joined(
                _size(known, shelved),
                tr("needs {size} of memory", size=phrases.size(need)),
                words.licence(listed.licence),
                tr("sees pictures") if listed.sees and not expert else "",
            ),
        )

    def _give(
        self, entry: Entry, known: Known, shelved: Shelved, *, may_fetch: bool, best: bool
    ) -> None:
        """Its button: to fetch it, or to see how far it is."""
        name = _name(known, shelved)
        coming = any(each.name == name and not each.over for each in self._watch.listed)
        state = f"{name} {coming} {may_fetch} {best}"
        if entry.property("shown") == state:
            return
        entry.setProperty("shown", state)
        if coming:
            show = button(tr("In line"), tr("Show the download of {name}", name=name), kind="quiet")
            show.clicked.connect(self.downloads_wanted)
            entry.do(show)
            return
        said = tr("Fetch {name}, {size}", name=name, size=_size(known, shelved))
        fetch = button(tr("Fetch"), said, kind="primary" if best else "")
        fetch.setEnabled(may_fetch)
        fetch.clicked.connect(lambda: self._fetch(known, shelved))
        entry.do(fetch)

    def _fetch(self, known: Known, shelved: Shelved) -> None:
        listed, expert = known.listed, _expert(known, shelved)
        if expert:
            self._desk.do(lambda shelf: shelf.fetch(expert))
        elif listed:
            self._desk.do(lambda shelf: shelf.pull(listed.ollama, size=known.size))


def _need(listed: ShippedLLM, shelved: Shelved) -> int:
    return listed.need * (1 if shelved.ollama.running else BITS)


def _expert(known: Known, shelved: Shelved) -> Expert | None:
    return None if shelved.ollama.running else known.without_ollama


def _name(known: Known, shelved: Shelved) -> str:
    expert = _expert(known, shelved)
    return words.name(expert.id if expert else known.name)


def _size(known: Known, shelved: Shelved) -> str:
    if expert := _expert(known, shelved):
        return words.download(expert)
    size = phrases.size(known.size)
    verified = known.listed and known.listed.verified
    return size if verified else tr("about {size}", size=size)
