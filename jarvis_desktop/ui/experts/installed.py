"""The installed experts, and the card of the engine: whether torch is there, and for which
computer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import FitLevel
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.controller import ExpertsController, why
from jarvis_desktop.ui.experts.list_item import Empty, EntryList, ExpertListItem, small
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import SelectOption, button
from jarvis_desktop.ui.widgets.icons import SearchEdit
from jarvis_desktop.ui.widgets.layout import hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.experts import EngineStatus, InstalledExpert
    from jarvis_desktop.backends.local.backend import SmokeTestResult


SORTS = (
    ("name", mark("By name")),
    ("size", mark("Largest first")),
    ("used", mark("Unused the longest first")),
    ("task", mark("By task")),
)


class InstalledPart(QWidget):
    """Sorts, searches, tests and removes them."""

    more_wanted = Signal()
    """None is installed and the user wants to search for some."""
    removed = Signal(str)
    """Carries what was removed, in a sentence."""

    def __init__(self, controller: ExpertsController, actions: Actions) -> None:
        super().__init__()
        self._controller, self._actions = controller, actions
        self._kept: Sequence[InstalledExpert] = ()
        self._inventory: Mapping[str, TaskType] = {}
        self.tools = QWidget()
        self.search = SearchEdit(tr("Search the experts on this computer"), tr("Search"))
        self.search.textChanged.connect(self._lay_out)
        self.sort = SelectOption(tr("Order of the list"))
        self.sort.offer([(key, tr(said)) for key, said in SORTS], "name")
        self.sort.activated.connect(self._lay_out)
        hbox((self.search, 1), self.sort, parent=self.tools, spacing=theme.space())
        self.list = EntryList(tr("Experts on this computer"))
        self.empty = Empty("download")
        self.empty.act.clicked.connect(self.more_wanted)
        self.nothing = Empty("search")
        self.engine = EngineCard(controller)
        parts = (self.engine, self.tools, self.list, self.empty, self.nothing)
        vbox(*parts, parent=self, spacing=12)
        self.list.hide()
        self.empty.hide()
        self.nothing.hide()
        controller.kept.connect(self._show)

    def know(self, inventory: Mapping[str, TaskType]) -> None:
        """Set the names of the tasks."""
        self._inventory = inventory

    def _show(self, kept: Sequence[InstalledExpert]) -> None:
        self._kept = kept
        self._lay_out()

    def _lay_out(self) -> None:
        sought = self.search.text().casefold().split()
        shown = [each for each in self._kept if all(word in self._text(each) for word in sought)]
        shown.sort(key=self._order)
        with self.list.still():
            self.list.show_keys([each.expert.id for each in shown])
            for each in shown:
                self._fill(self.list.entries[each.expert.id], each)
        self.tools.setVisible(bool(self._kept))
        self.empty.setVisible(not self._kept)
        self.empty.show_words(
            tr("No expert is on this computer yet"),
            tr(
                "JARVIS does a lot without any. Experts do the rest: they recognise speech, "
                "describe and draw pictures, translate. They stay on this computer, and are "
                "asked for when a request needs one."
            ),
            tr("Look for experts"),
        )
        self.nothing.setVisible(bool(self._kept) and not shown)
        self.nothing.show_words(tr("No expert here matches that"), "")

    def _text(self, kept: InstalledExpert) -> str:
        expert = kept.expert
        task = formatting.task(expert, self._inventory)
        return f"{expert.id} {expert.repo} {task} {tr(expert.summary)} {expert.licence}".casefold()

    def _order(self, kept: InstalledExpert) -> tuple[object, ...]:
        match self.sort.value:
            case "size":
                return -kept.size, kept.expert.id
            case "used":
                return kept.used, kept.expert.id
            case "task":
                return formatting.task(kept.expert, self._inventory), kept.expert.id
        return (kept.expert.id,)

    def _fill(self, entry: ExpertListItem, kept: InstalledExpert) -> None:
        expert, name = kept.expert, formatting.name(kept.expert.id)
        tags = [(formatting.task(expert, self._inventory), "plain")]
        if kept.at_work:
            tags.append((tr("At work"), "accent"))
        if kept.fit.level in (FitLevel.NO, FitLevel.SLOWLY):
            tags.append((tr(formatting.SHORT[kept.fit.level]), formatting.TONES[kept.fit.level]))
        entry.show_name(name, *tags)
        needs = tr("works with {name}", name=formatting.name(expert.base.id)) if expert.base else ""
        entry.show_words(
            "",
            formatting.joined(
                labels.size(kept.size),
                formatting.used(kept.used),
                formatting.licence(expert.licence),
                formatting.languages(expert),
                formatting.fits(kept.fit),
                needs,
            ),
        )
        if not entry.doings.findChildren(QPushButton):
            entry.do(*self._buttons(entry, expert.id))
        test, _, remove = entry.doings.findChildren(QPushButton)
        test.setVisible(kept.can_be_tried)
        remove.setEnabled(not kept.at_work)
        remove.setToolTip(
            tr("It is at work now") if kept.at_work else tr("Remove it from this computer")
        )

    def _buttons(self, entry: ExpertListItem, key: str) -> tuple[QPushButton, ...]:
        """The buttons of a row. They look the expert up when clicked: rows are reused."""
        name = formatting.name(key)
        test = button(tr("Test"), tr("Test {name}", name=name), tip=tr("Run something small"))
        test.clicked.connect(lambda: self._test(entry, key))
        folder = small("folder", tr("Open the folder of {name}", name=name), tr("Open its folder"))
        folder.clicked.connect(lambda: self._open(key))
        remove = small("trash", tr("Remove {name}", name=name), tr("Remove it"))
        remove.clicked.connect(lambda: self._ask(entry, key))
        return test, folder, remove

    def _find(self, key: str) -> InstalledExpert | None:
        return next((each for each in self._kept if each.expert.id == key), None)

    def _open(self, key: str) -> None:
        if kept := self._find(key):
            self._actions.open_file.emit(kept.folder)

    def _ask(self, entry: ExpertListItem, key: str) -> None:
        kept = self._find(key)
        if kept is None:
            return
        question = tr(
            "Remove {name}? This frees {size} on the disk. To use it again, it must be "
            "fetched again.",
            name=formatting.name(key),
            size=labels.size(kept.size),
        )
        if kept.needed_by:
            names = ", ".join(formatting.name(each) for each in kept.needed_by[:3])
            question += " " + trn(
                "{names} does not work without it.",
                "{names} do not work without it.",
                len(kept.needed_by),
                names=names,
            )
        entry.ask(question, tr("Remove it"), lambda: self._remove(entry, kept))

    def _remove(self, entry: ExpertListItem, kept: InstalledExpert) -> None:
        key = kept.expert.id

        def ended(outcome: Outcome) -> None:
            if outcome.value is None:
                entry.complain(why(outcome))
            else:
                self.removed.emit(
                    tr(
                        "{name} is removed; {size} are free again.",
                        name=formatting.name(key),
                        size=labels.size(outcome.value),
                    )
                )
            self._controller.look()

        entry.complain("")
        self._controller.jobs.start(
            f"remove {key}", lambda app: app.expert_manager.remove(key), ended
        )

    def _test(self, entry: ExpertListItem, key: str) -> None:
        what = f"try {key}"
        test = entry.doings.findChildren(QPushButton)[0]
        if what in self._controller.jobs:
            self._controller.jobs.cancel(what)
            return
        entry.complain("")
        entry.say(tr("Working… The first time its weights are loaded, which takes longer."))
        entry.show_progress(None, tr("Progress of the test"))
        test.setText(tr("Stop"))

        def ended(outcome: Outcome) -> None:
            entry.done()
            test.setText(tr("Test"))
            entry.say(_found(outcome.value) if outcome.value else "")
            if outcome.value is None:
                entry.complain(why(outcome))
            self._controller.look()

        self._controller.jobs.start(
            what, lambda app: app.expert_manager.try_expert(key, _ignore), ended
        )


def _ignore(fraction: float | None, words: str) -> None:
    """Progress of a test, which is too short to show."""


def _found(tried: SmokeTestResult) -> str:
    took = tr("It works. It took {time}.", time=labels.seconds(tried.seconds))
    return f"{took}\n{tried.found}" if tried.found else took


KEY = "torch"


class EngineCard(EntryList):
    """Shows the engine in use, or offers it. Downloads appear in the list of downloads."""

    def __init__(self, controller: ExpertsController) -> None:
        super().__init__(tr("What runs experts"))
        self._controller = controller
        self.hide()
        controller.engine.connect(self.show_status)

    def show_status(self, status: EngineStatus) -> None:
        """Show it; nothing if torch is installed beside JARVIS."""
        self.show_keys([] if status.in_environment else [KEY])
        if status.in_environment:
            return
        entry, used = self.entries[KEY], status.used
        size = tr("about {size} to download", size=labels.size(status.download_mb * MB))
        if used is None:
            entry.show_name(KEY, (tr("Not installed"), "fair"))
            entry.show_words(
                tr("Runs experts on this computer. The first expert asks for it."), size
            )
        else:
            tags = [] if status.newest else [(tr("There is a newer one"), "fair")]
            entry.show_name(f"{KEY} {used.torch}", *tags)
            update = "" if status.newest else size
            facts = formatting.joined(labels.size(used.size), update)
            entry.show_words(tr("Runs experts on this computer."), facts)
        buttons = []
        if not status.newest:
            get = button(tr("Download"), tr("Download {name}", name=KEY), kind="primary")
            get.clicked.connect(
                lambda: self._controller.do(
                    lambda manager: manager.downloads.add(
                        "engine", KEY, size=status.download_mb * MB
                    )
                )
            )
            buttons.append(get)
        if used is not None:
            remove = button(tr("Remove"), tr("Remove {name}", name=KEY), kind="quiet")
            remove.clicked.connect(
                lambda: entry.ask(
                    tr(
                        "Remove {name}? This frees {size} on the disk. Experts cannot run here "
                        "without it.",
                        name=KEY,
                        size=labels.size(used.size),
                    ),
                    tr("Remove it"),
                    lambda: self._remove(used.name),
                )
            )
            buttons.append(remove)
        entry.do(*buttons)

    def _remove(self, name: str) -> None:
        def ended(outcome: Outcome) -> None:
            self.entries[KEY].complain(why(outcome))
            self._controller.look()

        self._controller.jobs.start(
            "remove engine", lambda app: app.expert_manager.remove_engine(name), ended
        )
