"""The page of experts and LLMs: installed ones, the search, and the downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.experts.downloads import Download
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.experts.controller import DownloadsMonitor, ExpertsController
from jarvis_desktop.ui.experts.downloads import DownloadsPart
from jarvis_desktop.ui.experts.gauges import Gauges
from jarvis_desktop.ui.experts.installed import InstalledPart
from jarvis_desktop.ui.experts.llms import LLMPart
from jarvis_desktop.ui.experts.search import ExpertSearchSection
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button, reword
from jarvis_desktop.ui.widgets.layout import FlowLayout, go_on
from jarvis_desktop.ui.widgets.page import WindowPage

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

PARTS = {
    "llms": mark("LLMs"),
    "installed": mark("On this computer"),
    "more": mark("Get more"),
    "downloads": mark("Downloads"),
}
"""What `appear` may be asked for, and what each is called."""


class ExpertsPage(WindowPage):
    """Four parts, of which one is shown; the figures above them stay."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(
            tr("Experts and LLMs"),
            tr(
                "An LLM plans and answers in words. Experts do the work, each one kind of it: they "
                "hear, see, draw, translate."
            ),
        )
        session = context.session
        self.controller = ExpertsController(context.settings, self)
        self.watch = DownloadsMonitor(session, self)
        self.gauges = Gauges()
        self.column.addWidget(self.gauges)
        self.llms = LLMPart(self.controller, self.watch)
        self.installed = InstalledPart(self.controller, context.actions)
        self.finding = ExpertSearchSection(self.controller, self.watch)
        self.downloads = DownloadsPart(self.controller, self.watch)
        self._parts: dict[str, QWidget] = {
            "llms": self.llms,
            "installed": self.installed,
            "more": self.finding,
            "downloads": self.downloads,
        }
        self.tabs = {name: button(tr(title), kind="tab") for name, title in PARTS.items()}
        self._add_tabs()
        for part in self._parts.values():
            self.column.addWidget(part)
        self.column.addStretch(1)
        self._session = session
        self._over = 0
        """How many downloads in the list are done."""
        self._connect()
        self.show_part("llms")

    def _add_tabs(self) -> None:
        held = QWidget()
        held.setAccessibleName(tr("Parts of this page"))
        flow = FlowLayout(held, gap=theme.space("half"))
        for name, tab in self.tabs.items():
            tab.setCheckable(True)
            tab.clicked.connect(lambda _=False, name=name: self._choose(name))
            flow.addWidget(tab)
        self.column.addWidget(held)

    def _connect(self) -> None:
        controller = self.controller
        controller.disk.connect(self.gauges.show_disk)
        controller.memory.connect(self.gauges.show_memory)
        controller.kept.connect(self._count_kept)
        controller.failed.connect(lambda reason: self.message.emit(reason, False))
        self.installed.removed.connect(lambda said: self.message.emit(said, True))
        self.installed.more_wanted.connect(lambda: self.show_part("more"))
        self.downloads.more_wanted.connect(lambda: self.show_part("more"))
        self.finding.downloads_wanted.connect(lambda: self.show_part("downloads"))
        self.llms.downloads_wanted.connect(lambda: self.show_part("downloads"))
        self.watch.changed.connect(self._count_downloads)
        self._session.ready.connect(self._ready)
        if self._session.app:
            self._ready(self._session.app)

    def appear(self, part: str = "") -> None:
        """Look at everything; `part` is one of `PARTS`."""
        if part in self._parts:
            self.show_part(part)
        if app := self._session.app:
            self._allow(app)
        self.controller.appear()
        self.finding.search()

    def leave(self) -> None:
        """Look no more; what was begun goes on."""
        self.controller.leave()

    def show_part(self, name: str) -> None:
        """Show one part."""
        for each, part in self._parts.items():
            part.setVisible(each == name)
            self.tabs[each].setChecked(each == name)
        # Where one searches, the results are what matters.
        self.gauges.setVisible(name != "more")
        self.scroller.verticalScrollBar().setValue(0)

    def _choose(self, name: str) -> None:
        self.show_part(name)
        if name == "more":
            self.finding.take_focus()

    def focusNextPrevChild(self, forwards: bool) -> bool:
        if not go_on(self, forwards=forwards):
            return super().focusNextPrevChild(forwards)
        if (focused := self.focusWidget()) and self.scroller.isAncestorOf(focused):
            self.scroller.ensureWidgetVisible(focused)
        return True

    def _ready(self, app: Application) -> None:
        self.installed.know(app.expert_manager.inventory)
        self.finding.know(app.expert_manager.inventory, app.expert_manager.tasks)
        self._allow(app)

    def _allow(self, app: Application) -> None:
        self.finding.allow(app.policy.allows_downloads)
        self.llms.allow(app.policy.allows_downloads)

    def _count_kept(self, kept: Sequence[object]) -> None:
        self._count("installed", len(kept))

    def _count_downloads(self, listed: Sequence[Download]) -> None:
        coming = sum(not each.over for each in listed)
        self._count("downloads", coming)
        if (over := len(listed) - coming) > self._over and self.isVisible():
            self.controller.look()  # what has come is on this computer now
        self._over = over

    def _count(self, name: str, count: int) -> None:
        title = tr(PARTS[name])
        said = tr("{title} ({count})", title=title, count=count) if count else title
        reword(self.tabs[name], said)
