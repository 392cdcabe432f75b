"""Experts that could be fetched: searched as one types, with what each takes of this computer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.catalogue.download import Download, State
from jarvis_desktop.catalogue.fits import Level
from jarvis_desktop.catalogue.searching import Hit, Sought
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.experts import words
from jarvis_desktop.ui.experts.desk import ExpertsDesk, why
from jarvis_desktop.ui.experts.downloads_watch import DownloadsWatch
from jarvis_desktop.ui.experts.empty import Empty
from jarvis_desktop.ui.experts.entry import Entry, EntryList
from jarvis_desktop.ui.experts.filters import Filters
from jarvis_desktop.ui.experts.hub_list import HubList
from jarvis_desktop.ui.look import phrases
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label

if TYPE_CHECKING:
    from jarvis_desktop.compose_shelf import Shelf
    from jarvis_desktop.core.call import Report

HUB = "https://huggingface.co/"
TYPING = 150
"""Milliseconds without a key after which is searched."""
SHOWN = 20
"""How many are shown at first, and with each "more"."""
MOST = 200
"""How many are looked for; who wants others says more words."""


class FindingPart(QWidget):
    """Searches, and puts what is wanted into the line of downloads."""

    downloads_wanted = Signal()
    """The person wants to see how far something is."""

    def __init__(self, desk: ExpertsDesk, watch: DownloadsWatch) -> None:
        super().__init__()
        self._desk, self._watch = desk, watch
        self._hits: Sequence[Hit] = ()
        self._count = SHOWN
        self._may_fetch = True
        self._inventory: Mapping[str, TaskType] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.offline = Label(
            tr(
                "In the mode “offline” nothing is fetched. What is found can be read about; to "
                "get it, choose another mode, or take the weights from a folder with "
                "`jarvis-desktop experts import`."
            ),
            role="warning",
            wrap=True,
        )
        self.offline.hide()
        column.addWidget(self.offline)
        self.filters = Filters()
        self.filters.changed.connect(self._typed)
        column.addWidget(self.filters)
        self.hub = HubList(desk)
        self.hub.renewed.connect(self.search)
        column.addWidget(self.hub)
        self.state = Label(tr("Searching…"), role="small", wrap=True)
        column.addWidget(self.state)
        self.list = EntryList(tr("Experts that were found"))
        self.list.hide()
        column.addWidget(self.list)
        self.more = button(tr("Show more"))
        self.more.clicked.connect(self._show_more)
        self.more.hide()
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignHCenter)
        self.nothing = Empty("search")
        self.nothing.hide()
        column.addWidget(self.nothing)
        self._pause = QTimer(self, singleShot=True, interval=TYPING)
        self._pause.timeout.connect(self.search)
        desk.found.connect(self._found)
        desk.kept.connect(lambda kept: self.search() if self._hits else None)
        watch.changed.connect(lambda listed: self._mark())

    def know(self, inventory: Mapping[str, TaskType], tasks: Sequence[TaskType]) -> None:
        """How tasks are called, and which ones experts are for."""
        self._inventory = inventory
        self.filters.offer_tasks(tasks)

    def allow(self, may_fetch: bool) -> None:
        """Whether the mode lets anything be fetched."""
        self._may_fetch = may_fetch
        self.offline.setVisible(not may_fetch)
        self.hub.allow(may_fetch)

    def search(self) -> None:
        """Search for what is asked for now."""
        self._pause.stop()
        self._desk.search(self.filters.sought(limit=MOST))

    def _typed(self) -> None:
        self._count = SHOWN
        self._pause.start()

    def _found(self, sought: Sought, hits: Sequence[Hit], of_hub: int) -> None:
        self._hits = self.filters.sorted(hits)
        self.hub.show_known(of_hub)
        found = trn("{count} expert", "{count} experts", len(hits))
        if len(hits) == MOST:
            found = tr("The best {count}; more words find others", count=len(hits))
        self.state.setText(found)
        self.state.setVisible(bool(hits))
        self.nothing.setVisible(not hits)
        self.nothing.show_words(
            tr("Nothing was found"),
            tr("Try fewer words, another task, or read the Hub’s list, which has far more.")
            if not of_hub
            else tr("Try fewer words, or fewer conditions."),
        )
        self._lay_out()

    def _lay_out(self) -> None:
        shown = self._hits[: self._count]
        with self.list.still():
            self.list.show_keys([each.expert.id for each in shown])
            for hit in shown:
                self._fill(self.list.entries[hit.expert.id], hit)
        self.list.setVisible(bool(shown))
        left = len(self._hits) - len(shown)
        self.more.setVisible(left > 0)
        self.more.setText(tr("Show more ({count} left)", count=f"{left:,}"))
        self.more.setAccessibleName(self.more.text())

    def _show_more(self) -> None:
        before = self._count
        self._count += SHOWN
        self._lay_out()
        entries = list(self.list.entries.values())
        if len(entries) > before:  # the keyboard goes on where the new ones begin
            entries[before].refuse()

    def _fill(self, entry: Entry, hit: Hit) -> None:
        expert = hit.expert
        entry.show_words(
            one_line(tr(expert.summary), limit=200),
            words.joined(
                words.download(expert),
                words.licence(expert.licence),
                words.languages(expert),
                trn("{count} download a month", "{count} downloads a month", expert.downloads)
                if expert.downloads
                else "",
                words.fits(hit.fit),
                tr("works with {name}", name=words.name(expert.base.id)) if expert.base else "",
            ),
        )
        self._mark_one(entry, hit)

    def _mark(self) -> None:
        """Show anew which of them are here or coming."""
        with self.list.still():
            for hit in self._hits[: self._count]:
                if entry := self.list.entries.get(hit.expert.id):
                    self._mark_one(entry, hit)

    def _mark_one(self, entry: Entry, hit: Hit) -> None:
        expert, coming = hit.expert, self._coming(hit.expert)
        name = words.name(expert.id if hit.shipped else expert.repo)
        state = self._state(hit, coming)
        if entry.property("state") == state and entry.title.full_text() == name:
            return
        entry.setProperty("state", state)
        tags = [(words.task(expert, self._inventory), "plain")]
        if state == "here":
            tags.append((tr("On this computer"), "good"))
        elif state == "unable":
            tags.append((tr("Cannot run here yet"), "plain"))
        else:
            tags.append((tr(words.SHORT[hit.fit.level]), words.TONES[hit.fit.level]))
        if expert.gated:
            tags.append((tr("Terms to accept"), "fair"))
        entry.show_name(name, *tags)
        entry.do(*self._buttons(entry, hit, state))

    def _coming(self, expert: Expert) -> Download | None:
        return next((each for each in self._watch.listed if each.name == expert.id), None)

    def _state(self, hit: Hit, coming: Download | None) -> str:
        if hit.installed or (coming and coming.state is State.DONE):
            return "here"
        if coming:
            return "coming"
        if "here" not in hit.runs:
            return "served" if hit.expert.only_served else "unable"
        return "open" if self._may_fetch else "offline"

    def _buttons(self, entry: Entry, hit: Hit, state: str) -> list[QPushButton]:
        name, size = words.name(hit.expert.id), words.download(hit.expert)
        if state == "coming":
            show = button(tr("In line"), tr("Show the download of {name}", name=name), kind="quiet")
            show.clicked.connect(self.downloads_wanted)
            return [show]
        if state not in ("open", "offline"):
            return []
        get = button(tr("Get"), words.joined(tr("Get {name}", name=name), size))
        get.setEnabled(state == "open")
        get.clicked.connect(lambda: self._wanted(entry, hit))
        return [get]

    def _wanted(self, entry: Entry, hit: Hit) -> None:
        """Ask, where there is something to know first; otherwise put it in line."""
        entry.complain("")
        expert = hit.expert

        async def work(shelf: Shelf, _: Report) -> Sequence[str]:
            return await asyncio.to_thread(shelf.displaced, expert)

        def ended(outcome: Outcome) -> None:
            if outcome.value is None:
                entry.complain(why(outcome))
            elif doubts := _doubts(hit, outcome.value):
                page = QUrl(HUB + expert.repo)
                terms = tr("Open its page"), partial(QDesktopServices.openUrl, page)
                entry.ask(
                    " ".join(doubts),
                    tr("Get it"),
                    lambda: self._get(expert),
                    risk=False,
                    first=terms if expert.gated else None,
                )
            else:
                self._get(expert)

        self._desk.run(f"get {expert.id}", work, ended)

    def _get(self, expert: Expert) -> None:
        self._desk.do(lambda shelf: shelf.fetch(expert))


def _doubts(hit: Hit, gone: Sequence[str]) -> list[str]:
    """What a person should know before it is fetched."""
    found = []
    if hit.expert.gated:
        found.append(
            tr(
                "{repo} is only given to people who accepted its terms: accept them on its page, "
                "and keep your key of the Hub in the settings.",
                repo=words.name(hit.expert.repo),
            )
        )
    if hit.fit.level is Level.NO:
        found.append(
            tr(
                "It is too large for this computer: it needs {need} of memory, and experts may "
                "have {room}.",
                need=phrases.size(hit.fit.need),
                room=phrases.size(hit.fit.room),
            )
        )
    if hit.expert.pickled:
        found.append(
            tr(
                "Its weights come as a pickle, a format that can carry code; they are read in a "
                "guarded way and kept in the safe format."
            )
        )
    if gone:
        found.append(
            tr(
                "To stay within the disk that experts may take, these are deleted: {names}.",
                names=", ".join(words.name(each) for each in gone),
            )
        )
    return found
