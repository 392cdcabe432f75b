"""The search for experts to download, with its filters and the Hub's list."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFrame,
    QPushButton,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ExpertHit, ExpertQuery, FitLevel
from jarvis_desktop.experts.downloads import Download, DownloadState
from jarvis_desktop.text.languages import NAMES
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.controller import DownloadsMonitor, ExpertsController, why
from jarvis_desktop.ui.experts.downloads import offer_of
from jarvis_desktop.ui.experts.list_item import Empty, EntryList, ExpertListItem
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import SelectOption, Tick, button, progress_bar, reword
from jarvis_desktop.ui.widgets.icons import SearchEdit
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

LICENCES = (
    ("", mark("Any licence")),
    ("apache-2.0", "Apache 2.0"),
    ("mit", "MIT"),
    ("bsd*", "BSD"),
    ("cc-by-*", mark("Creative Commons")),
    ("*openrail*", "OpenRAIL"),
)
SIZES = (
    ("0", mark("Any size")),
    ("100", mark("Up to 100 MB")),
    ("500", mark("Up to 500 MB")),
    ("2000", mark("Up to 2 GB")),
    ("8000", mark("Up to 8 GB")),
)
LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "cs", "tr", "uk", "ru", "ar", "he",
    "hi", "ja", "ko", "zh",
)  # fmt: skip
SORTS = (
    ("", mark("Best match first")),
    ("small", mark("Smallest first")),
    ("downloads", mark("Most downloaded first")),
)

RANKS = {FitLevel.SLOWLY: 1, FitLevel.UNKNOWN: 2, FitLevel.SERVED: 3, FitLevel.NO: 4}
"""What is listed later if there are no search words."""


class ExpertFilters(QWidget):
    """A field and a few choices."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = SearchEdit(
            tr("Search for experts"), tr("What should it do? For example: describe pictures")
        )
        self.words.textChanged.connect(self.changed)
        column = vbox(self.words, parent=self, spacing=theme.space())
        held = QWidget()
        flow = FlowLayout(held, gap=theme.space())
        self.task = SelectOption(tr("Task"))
        self.task.offer([("", tr("Any task"))], "")
        self.language = SelectOption(tr("Language"))
        named = sorted((tr(NAMES[code]), code) for code in LANGUAGES)
        self.language.offer([("", tr("Any language")), *((code, said) for said, code in named)], "")
        self.licence = SelectOption(tr("Licence"))
        self.licence.offer([(key, tr(said)) for key, said in LICENCES], "")
        self.largest = SelectOption(tr("Size of the download"))
        self.largest.offer([(key, tr(said)) for key, said in SIZES], "0")
        self.sort = SelectOption(tr("Order of the list"))
        self.sort.offer([(key, tr(said)) for key, said in SORTS], "")
        for choice in (self.task, self.language, self.licence, self.largest, self.sort):
            choice.setMinimumContentsLength(14)
            choice.activated.connect(self.changed)
            flow.addWidget(choice)
        self.fits = Tick(
            tr("Fits this computer"), tr("Leaves out what would find no room in the memory.")
        )
        self.fits.setMinimumHeight(self.task.sizeHint().height())
        self.fits.toggled.connect(self.changed)
        flow.addWidget(self.fits)
        column.addWidget(held)

    def offer_tasks(self, tasks: Sequence[TaskType]) -> None:
        """Offer these tasks."""
        named = sorted((each.called, each.name) for each in tasks)
        chosen = self.task.value or ""
        self.task.offer([("", tr("Any task")), *((key, said) for said, key in named)], chosen)

    def sought(self, *, limit: int) -> ExpertQuery:
        """What is looked for now."""
        return ExpertQuery(
            words=self.words.text().strip(),
            task=self.task.value or "",
            licence=self.licence.value or "",
            max_mb=int(self.largest.value or 0),
            language=self.language.value or "",
            fits=self.fits.isChecked(),
            limit=limit,
        )

    @property
    def browses(self) -> bool:
        """Whether nothing is sought."""
        return not (self.words.text().strip() or self.task.value or self.sort.value)

    def sorted(self, hits: Sequence[ExpertHit]) -> list[ExpertHit]:
        """In the order that is wanted."""
        match self.sort.value:
            case "small":
                return sorted(hits, key=lambda hit: hit.expert.whole_mb or 1 << 40)
            case "downloads":
                return sorted(hits, key=lambda hit: -hit.expert.downloads)
        if self.browses:  # nothing matches better than anything else
            return sorted(hits, key=lambda hit: RANKS.get(hit.fit.level, 0))
        return list(hits)


REFRESH = "refresh"


class HubList(QFrame):
    """A line with a button, and the progress while it is read."""

    renewed = Signal()

    def __init__(self, controller: ExpertsController) -> None:
        super().__init__()
        self.setObjectName("strip")
        self._controller = controller
        self._allowed = True
        self.said = Label(role="small", wrap=True)
        self.act = button(tr("Read the list"), act=self._act)
        row = hbox((self.said, 1), self.act, spacing=12)
        self.progress = progress_bar(tr("Progress of reading the list"))
        self.progress.hide()
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        vbox(
            row,
            self.progress,
            self.trouble,
            parent=self,
            margins=(12, theme.space(), theme.space(), theme.space()),
            spacing=theme.space(),
        )
        self._known = 0
        self.show_known(0)

    def allow(self, may_fetch: bool) -> None:
        """Whether the mode lets the Hub be asked."""
        self._allowed = may_fetch
        self.act.setEnabled(may_fetch or REFRESH in self._controller.jobs)

    def show_known(self, known: int) -> None:
        """Show how many experts of the Hub are known."""
        self._known = known
        if REFRESH in self._controller.jobs:
            return
        if known:
            self.said.setText(
                trn(
                    "The shipped list and {count} expert of the Hugging Face Hub are searched.",
                    "The shipped list and {count} experts of the Hugging Face Hub are searched.",
                    known,
                )
            )
            self.act.setText(tr("Refresh the list"))
        else:
            self.said.setText(
                tr(
                    "The shipped list is searched. The Hugging Face Hub has far more; reading its "
                    "list takes some minutes, once."
                )
            )
            self.act.setText(tr("Read the list"))
        self.act.setAccessibleName(self.act.text())

    def _act(self) -> None:
        if REFRESH in self._controller.jobs:
            self._controller.jobs.cancel(REFRESH)
            return
        self.trouble.hide()
        report = self._controller.jobs.reporter(self._far)
        if self._controller.jobs.start(
            REFRESH, lambda app: app.expert_manager.refresh(report), self._ended
        ):
            reword(self.act, tr("Cancel"), tr("Stop reading the list"))
            self._far(None, tr("Asking the Hub…"))

    def _far(self, fraction: float | None, words: str) -> None:
        self.said.setText(one_line(words, limit=200))
        self.progress.setRange(0, 0 if fraction is None else 1000)
        self.progress.setValue(round(1000 * (fraction or 0.0)))
        self.progress.show()

    def _ended(self, outcome: Outcome) -> None:
        self.progress.hide()
        self.show_known(self._known)
        if outcome.value is None:
            kept = tr("What was read is kept.") if outcome.cancelled else ""
            self.trouble.setText(one_line(f"{why(outcome)} {kept}", limit=600))
            self.trouble.show()
        self.renewed.emit()


AIMS = {
    mark("Hear and speak"): ("automatic-speech-recognition", "text-to-speech"),
    mark("Translate and summarise"): ("translation", "summarization"),
    mark("Look at pictures and videos"): (
        "image-to-text", "visual-question-answering", "object-detection", "image-classification",
        "zero-shot-object-detection", "zero-shot-image-classification", "depth-estimation",
        "video-classification",
    ),
    mark("Paint and change pictures"): (
        "image-segmentation", "text-to-image", "image-editing", "inpainting", "image-to-image",
        "mask-generation",
    ),
    mark("Make videos"): ("text-to-video", "image-to-video"),
    mark("Sounds and music"): ("text-to-audio", "audio-to-audio", "audio-classification"),
    mark("Write and answer"): (
        "text-generation", "question-answering", "document-question-answering",
        "table-question-answering", "fill-mask",
    ),
    mark("Sort and compare texts"): (
        "text-classification", "zero-shot-classification", "token-classification",
        "sentence-similarity", "feature-extraction",
    ),
}  # fmt: skip
"""What people want to do, and the tasks for it, those that most people want first."""
STEERED = mark("Paint after a template")
FEW = 3
"""How many of each aim are shown if nothing is sought."""


def aim_of(task: str) -> str:
    """The aim of a task, or the title for the others."""
    return next((aim for aim, tasks in AIMS.items() if task in tasks), STEERED)


def by_aim(hits: Sequence[ExpertHit]) -> dict[str, list[ExpertHit]]:
    """The experts by their aims, each with one of every task before the
    second of one, and those last that do not run here."""
    groups: dict[str, list[ExpertHit]] = {aim: [] for aim in (*AIMS, STEERED)}
    for hit in hits:
        groups[aim_of(hit.expert.task)].append(hit)
    counts: Counter[str] = Counter()
    order: dict[str, tuple[bool, int, int]] = {}
    for hit in hits:
        task = hit.expert.task
        tasks = AIMS.get(aim_of(task), (task,))
        away = RANKS.get(hit.fit.level, 0) >= RANKS[FitLevel.SERVED]
        order[hit.expert.id] = (
            away, counts[task], tasks.index(task) if task in tasks else len(tasks),
        )  # fmt: skip
        counts[task] += 1
    for group in groups.values():
        group.sort(key=lambda hit: order[hit.expert.id])
    return {aim: group for aim, group in groups.items() if group}


class ExpertGroup(QWidget):
    """One aim: a heading, experts, and a button for the rest."""

    more_wanted = Signal(str)
    """The user wants to see all experts of this aim."""

    def __init__(self, aim: str) -> None:
        super().__init__()
        self.heading = Label(tr(aim), role="heading")
        self.list = EntryList(tr(aim))
        self.more = button("", kind="quiet", act=lambda: self.more_wanted.emit(aim))
        vbox(
            self.heading, self.list, (self.more, Qt.AlignmentFlag.AlignLeading), parent=self,
            spacing=theme.space(),
        )  # fmt: skip

    def show_left(self, left: int) -> None:
        """Show how many more there are."""
        self.more.setText(tr("Show {count} more", count=left))
        self.more.setAccessibleName(f"{self.heading.text()}: {self.more.text()}")
        self.more.setVisible(left > 0)


HUB = "https://huggingface.co/"
TYPING_PAUSE_MS = 150
"""The search starts after a pause in typing."""
SHOWN = 20
"""How many are shown at first, and with each "more"."""
MAX_RESULTS = 200
"""The number of results; more words narrow the search."""


class ExpertSearchSection(QWidget):
    """Searches as the user types, and queues downloads."""

    downloads_wanted = Signal()
    """The user wants to see the downloads."""

    def __init__(self, controller: ExpertsController, watch: DownloadsMonitor) -> None:
        super().__init__()
        self._controller, self._watch = controller, watch
        self._hits: Sequence[ExpertHit] = ()
        self._count = SHOWN
        self._may_fetch = True
        self._inventory: Mapping[str, TaskType] = {}
        self.offline = Label(
            tr(
                "In the mode “offline” nothing is downloaded. What is found can be read about; to "
                "get it, choose another mode, or take the weights from a folder with "
                "`jarvis-desktop experts import`."
            ),
            role="warning",
            wrap=True,
        )
        self.offline.hide()
        self.filters = ExpertFilters()
        self.filters.changed.connect(self._typed)
        self.hub = HubList(controller)
        self.hub.renewed.connect(self.search)
        self.state = Label(tr("Searching…"), role="small", wrap=True)
        self.groups = {aim: ExpertGroup(aim) for aim in (*AIMS, STEERED)}
        self._opened: Counter[str] = Counter()
        """How many experts of an aim are shown besides the few."""
        for group in self.groups.values():
            group.more_wanted.connect(self._open)
            group.hide()
        self._results = vbox(*self.groups.values(), spacing=theme.space("two"))
        self.more = button(tr("Show more"), act=self._show_more)
        self.more.hide()
        self.nothing = Empty("search")
        self.nothing.hide()
        vbox(
            self.offline,
            self.filters,
            self.state,
            self._results,
            (self.more, Qt.AlignmentFlag.AlignHCenter),
            self.nothing,
            self.hub,
            parent=self,
            spacing=12,
        )
        self._pause = new_timer(self, self.search, TYPING_PAUSE_MS)
        controller.found.connect(self._found)
        controller.kept.connect(lambda kept: self.search() if self._hits else None)
        watch.changed.connect(lambda listed: self._mark())

    def take_focus(self) -> None:
        """Let the user type what is looked for."""
        self.filters.words.setFocus()

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
        self._controller.search(self.filters.sought(limit=MAX_RESULTS))

    def _typed(self) -> None:
        self._count = SHOWN
        self._pause.start()

    def _found(self, sought: ExpertQuery, hits: Sequence[ExpertHit], of_hub: int) -> None:
        self._hits = self.filters.sorted(hits)
        self.hub.show_known(of_hub)
        found = trn("{count} expert", "{count} experts", len(hits))
        if len(hits) == MAX_RESULTS:
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

    @property
    def entries(self) -> Iterator[tuple[ExpertHit, ExpertListItem]]:
        """The experts that are shown, with their rows."""
        for hit in self._hits:
            if entry := self._group(hit).list.entries.get(hit.expert.id):
                yield hit, entry

    def _group(self, hit: ExpertHit) -> ExpertGroup:
        return self.groups[aim_of(hit.expert.task)]

    def _lay_out(self) -> None:
        """Show a few experts of each aim, or the best of what is sought, its aim first."""
        if self.filters.browses:
            groups, left = by_aim(self._hits), 0
        else:
            groups, left = {}, max(0, len(self._hits) - self._count)
            for hit in self._hits[: self._count]:
                groups.setdefault(aim_of(hit.expert.task), []).append(hit)
        with self._still():
            for place, aim in enumerate(
                (*groups, *(aim for aim in self.groups if aim not in groups))
            ):
                group, hits = self.groups[aim], groups.get(aim, [])
                few = FEW + self._opened[aim] if self.filters.browses else len(hits)
                self._results.insertWidget(place, group)
                group.list.show_keys([hit.expert.id for hit in hits[:few]])
                group.show_left(len(hits) - few)
                group.setVisible(bool(hits))
            for hit, entry in self.entries:
                self._fill(entry, hit)
        self.more.setVisible(left > 0)
        reword(self.more, tr("Show more ({count} left)", count=f"{left:,}"))

    @contextmanager
    def _still(self) -> Iterator[None]:
        with ExitStack() as stack:
            for group in self.groups.values():
                stack.enter_context(group.list.still())
            yield

    def _show_more(self) -> None:
        self._reveal(lambda: setattr(self, "_count", self._count + SHOWN))

    def _open(self, aim: str) -> None:
        self._reveal(lambda: self._opened.update({aim: SHOWN}))

    def _reveal(self, more: Callable[[], object]) -> None:
        """Show more, and move the keyboard to the first row that is new."""
        before = {id(entry) for _, entry in self.entries}
        more()
        self._lay_out()
        if new := next((entry for _, entry in self.entries if id(entry) not in before), None):
            new.refuse()

    def _fill(self, entry: ExpertListItem, hit: ExpertHit) -> None:
        expert = hit.expert
        entry.show_words(
            one_line(tr(expert.summary), limit=200),
            formatting.joined(
                formatting.download(expert),
                formatting.licence(expert.licence),
                formatting.languages(expert),
                trn("{count} download a month", "{count} downloads a month", expert.downloads)
                if expert.downloads
                else "",
                formatting.fits(hit.fit),
                tr("works with {name}", name=formatting.name(expert.base.id))
                if expert.base
                else "",
            ),
        )
        self._mark_one(entry, hit)

    def _mark(self) -> None:
        """Update which experts are installed or queued."""
        with self._still():
            for hit, entry in self.entries:
                self._mark_one(entry, hit)

    def _mark_one(self, entry: ExpertListItem, hit: ExpertHit) -> None:
        expert, coming = hit.expert, self._coming(hit.expert)
        name = formatting.name(expert.id if hit.shipped else expert.repo)
        state = self._state(hit, coming)
        if entry.property("state") == state and entry.title.full_text() == name:
            return
        entry.setProperty("state", state)
        tags = [(formatting.task(expert, self._inventory), "plain")]
        if state == "here":
            tags.append((tr("On this computer"), "good"))
        elif state == "unable":
            tags.append((tr("Cannot run here yet"), "plain"))
        else:
            tags.append((tr(formatting.SHORT[hit.fit.level]), formatting.TONES[hit.fit.level]))
        if expert.gated:
            tags.append((tr("Terms to accept"), "fair"))
        entry.show_name(name, *tags)
        entry.do(*self._buttons(entry, hit, state))

    def _coming(self, expert: Expert) -> Download | None:
        return next((each for each in self._watch.listed if each.name == expert.id), None)

    def _state(self, hit: ExpertHit, coming: Download | None) -> str:
        if hit.installed or (coming and coming.state is DownloadState.DONE):
            return "here"
        if coming:
            return f"coming {coming.state}"
        if "here" not in hit.runs:
            return "served" if hit.expert.only_served else "unable"
        return "open" if self._may_fetch else "offline"

    def _buttons(self, entry: ExpertListItem, hit: ExpertHit, state: str) -> list[QPushButton]:
        name, size = formatting.name(hit.expert.id), formatting.download(hit.expert)
        if coming := self._coming(hit.expert) if state.startswith("coming") else None:
            return [offer_of(entry, coming, self._controller, self.downloads_wanted.emit)]
        entry.complain("")
        if state not in ("open", "offline"):
            return []
        get = button(tr("Download"), formatting.joined(tr("Download {name}", name=name), size))
        get.setEnabled(state == "open")
        get.clicked.connect(lambda: self._wanted(entry, hit))
        return [get]

    def _wanted(self, entry: ExpertListItem, hit: ExpertHit) -> None:
        """Queue the download, after a question if there is something to know first."""
        entry.complain("")
        expert = hit.expert

        def ended(outcome: Outcome) -> None:
            if outcome.value is None:
                entry.complain(why(outcome))
            elif doubts := _doubts(hit, outcome.value):
                page = QUrl(HUB + expert.repo)
                terms = tr("Open its page"), partial(QDesktopServices.openUrl, page)
                entry.ask(
                    " ".join(doubts),
                    tr("Download anyway"),
                    lambda: self._get(expert),
                    risk=False,
                    first=terms if expert.gated else None,
                )
            else:
                self._get(expert)

        self._controller.jobs.start(
            f"get {expert.id}",
            lambda app: asyncio.to_thread(app.expert_manager.displaced, expert),
            ended,
        )

    def _get(self, expert: Expert) -> None:
        self._controller.do(lambda manager: manager.fetch(expert))


def _doubts(hit: ExpertHit, gone: Sequence[str]) -> list[str]:
    """What the user should know before the download."""
    found = []
    if hit.expert.gated:
        found.append(
            tr(
                "{repo} is only available after you accept its terms: accept them on its page, "
                "and save your Hub key in the settings.",
                repo=formatting.name(hit.expert.repo),
            )
        )
    if hit.fit.level is FitLevel.NO:
        found.append(
            tr(
                "It is too large for this computer: it needs {need} of memory, and experts may "
                "have {room}.",
                need=labels.size(hit.fit.need),
                room=labels.size(hit.fit.room),
            )
        )
    if hit.expert.pickled:
        found.append(
            tr(
                "Its weights come as a pickle, a format that can contain code; they are read "
                "safely and stored in the safe format."
            )
        )
    if gone:
        found.append(
            tr(
                "To stay within the disk that experts may take, these are deleted: {names}.",
                names=", ".join(formatting.name(each) for each in gone),
            )
        )
    return found
