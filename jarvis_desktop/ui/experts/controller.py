"""What the window knows of experts, LLMs and downloads. The work is done on the engine; results
arrive as signals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs, WindowSession
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.layout import vbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.experts import ExpertManager
    from jarvis_desktop.core.llm import LLM
    from jarvis_desktop.experts.catalogue import ExpertQuery
    from jarvis_desktop.experts.downloads import Download
    from jarvis_desktop.llm.catalogue import LLMOffer, NoLLM
    from jarvis_desktop.ui.session import AppWork
    from jarvis_desktop.ui.settings.controller import SettingsController


MEMORY_INTERVAL_MS = 2000
"""Between two measurements of the memory while the page is shown."""


class ExpertsController(QObject):
    """Lists, searches and changes experts and LLMs, on the engine. Results arrive as signals."""

    kept = Signal(object)
    """Carries the installed experts."""
    engine = Signal(object)
    """Carries the EngineStatus."""
    disk = Signal(object)
    """Carries the MemoryUse of the disk."""
    memory = Signal(object)
    """Carries the MemoryUse of each memory."""
    found = Signal(object, object, int)
    """Carries the query, its Hits, and how many experts of the Hub are known."""
    llms = Signal(object)
    """Carries what is known of the LLMs."""
    failed = Signal(str)
    """Carries a message for the user."""

    def __init__(self, settings: SettingsController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session = settings.session
        self.jobs = AppJobs(session, self)
        self._settings = settings
        self._sought: ExpertQuery | None = None
        self._timer = new_timer(self, self._measure, MEMORY_INTERVAL_MS, repeat=True)
        self._shown = False
        session.ready.connect(self._ready)
        settings.saved.connect(lambda waits: self.look_at_llms() if self._shown else None)
        settings.failed.connect(lambda reason: self.failed.emit(reason) if self._shown else None)

    def appear(self) -> None:
        """Refresh everything, and the memory every two seconds."""
        self._shown = True
        self.look()
        self.look_at_llms(refresh=True)
        self._measure()
        self._timer.start()

    def leave(self) -> None:
        """The page is hidden: stop measuring."""
        self._shown = False
        self._timer.stop()

    def look(self) -> None:
        """Refresh the installed experts, what runs them, and the disk."""
        self._ask("engine", lambda app: app.expert_manager.engine(), self.engine)
        self._ask("kept", lambda app: app.expert_manager.kept(), self.kept)
        self._ask("disk", lambda app: app.expert_manager.disk(), self.disk)

    def look_at_llms(self, *, refresh: bool = False) -> None:
        """Refresh the LLMs; `refresh` asks their providers again."""
        self._ask("llms", lambda app: app.expert_manager.llms(anew=refresh), self.llms)

    def search(self, sought: ExpertQuery) -> None:
        """Search; only the latest query is answered."""
        self._sought = sought

        async def work(app: Application) -> object:
            hits = await asyncio.to_thread(app.expert_manager.search, sought)
            return hits, await asyncio.to_thread(lambda: app.expert_manager.known_of_hub)

        def ended(outcome: Outcome) -> None:
            newest = self._sought
            if newest is not None and newest != sought:
                self.search(newest)
            elif outcome.value is not None:
                self.found.emit(sought, *outcome.value)
            else:
                self.tell(outcome)

        self.jobs.start("search", work, ended)

    def do(self, work: Callable[[ExpertManager], object]) -> None:
        """Do something short; if it fails, the reason is emitted."""

        async def called(app: Application) -> None:
            done = work(app.expert_manager)
            if asyncio.iscoroutine(done):
                await done

        self.session.run(called, self.tell)

    def use(self, name: str) -> None:
        """Use this LLM from now on; "auto" is the best one available."""

        def wished(outcome: Outcome) -> None:
            if outcome.value:
                self._choose(outcome.value)
            self.tell(outcome)

        self.jobs.start("use", lambda app: app.expert_manager.wish(name), wished)

    def use_service(self, address: str, name: str) -> None:
        """Use this LLM of a service from now on."""
        self._choose({"provider": "openai", "id": name, "address": address})

    def _choose(self, values: Mapping[str, str]) -> None:
        for key, value in values.items():
            self._settings.change(f"llm.{key}", value)
        self._settings.write()

    def tell(self, outcome: Outcome) -> None:
        """Emit why something failed."""
        if outcome.error:
            self.failed.emit(str(outcome.error))

    def _ask(self, name: str, work: AppWork, answer: SignalInstance) -> None:
        def ended(outcome: Outcome) -> None:
            if outcome.value is not None:
                answer.emit(outcome.value)
            else:
                self.tell(outcome)

        self.jobs.start(name, work, ended)

    def _measure(self) -> None:
        self._ask("memory", lambda app: app.expert_manager.memory(), self.memory)

    def _ready(self) -> None:
        if self._shown:
            self.appear()
        if self._sought:
            self.search(self._sought)


def why(outcome: Outcome) -> str:
    """Why something failed or was stopped."""
    if outcome.cancelled:
        return tr("It was stopped.")
    return str(outcome.error or unexpected()) if outcome.value is None else ""


SIZE, PEN = 16, 2.2
"""Pixels."""


class DownloadsMonitor(QObject):
    """Follows the download queue."""

    changed = Signal(object)
    """Carries the downloads, in their order."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.listed: Sequence[Download] = ()
        self._session = session
        self._watches = False
        session.ready.connect(self._ready)
        if session.app:
            self._ready(session.app)

    def _ready(self, app: Application) -> None:
        if self._watches:
            return  # a new window gets the signal again
        self._watches = True
        engine = self._session.engine

        async def watch() -> None:
            app.expert_manager.downloads.watch(lambda listed: engine.post(self._hear, listed))
            await app.expert_manager.downloads.restore()

        engine.run(watch, _ended)

    def _hear(self, listed: Sequence[Download]) -> None:
        self.listed = listed
        self.changed.emit(listed)


def _ended(outcome: Outcome) -> None:
    pass


class DownloadMark(QWidget):
    """A progress ring at the trailing edge of a button."""

    def __init__(self, button: QPushButton, session: WindowSession) -> None:
        super().__init__(button)
        self.setFixedSize(SIZE, SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._fraction: float | None = None
        self._button = button
        self._described = button.accessibleDescription()
        vbox(
            (self, Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter),
            parent=button,
            margins=(theme.space(), 0, theme.space(), 0),
        )
        self.hide()
        self._watch = DownloadsMonitor(session, self)
        self._watch.changed.connect(self._show)

    def _show(self, listed: Sequence[Download]) -> None:
        coming = [each for each in listed if each.under_way]
        size = sum(each.size for each in coming)
        self._fraction = sum(each.have for each in coming) / size if size else None
        said = trn("{count} download under way", "{count} downloads under way", len(coming))
        self.setToolTip(said)
        self._button.setAccessibleDescription(said if coming else self._described)
        self.setVisible(bool(coming))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(PEN / 2, PEN / 2, SIZE - PEN, SIZE - PEN)
        painter.setPen(QPen(theme.colour("control"), PEN))
        painter.drawEllipse(box)
        pen = QPen(theme.colour("accent"), PEN)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(box, 90 * 16, -round(360 * 16 * (self._fraction or 0.05)))
        painter.end()


RUN_BY = {"ollama": "Ollama", "openai": mark("server"), "transformers": mark("on this computer")}
"""Who runs an LLM, by its provider."""


@dataclass(frozen=True, slots=True)
class LLMOverview:
    """Which LLM is used, or why none is."""

    used: str
    """The LLM in use, such as "qwen3.5:4b (Ollama)"; "" if there is none."""
    reason: str
    """Why this one or none is used, in whole sentences."""
    wanted: bool
    """Whether the user asked for this check."""
    missing: NoLLM | None = None
    """What to offer if there is none and the user should know."""
    lost: bool = False
    """Whether the one that the user chose cannot be used."""


class LLMMonitor(QObject):
    """Checks which LLM is used after each turn and on demand; one check at a time."""

    looked = Signal(object)
    """Carries an LLMOverview."""
    progressed = Signal(object, str)
    """Carries the progress of the download: a fraction or None, and a few words."""
    fetched = Signal(object)
    """Carries the Outcome of the download: the LLM that is used now, or None."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._jobs = AppJobs(session, self)
        self._wanted = False
        """Whether the user asked for an answer while a check was running."""
        # Methods, not lambdas: the session outlives the window, and would keep it alive.
        session.ready.connect(self._ready)
        session.busy_changed.connect(self._busy_changed)
        session.settled.connect(self._settled)
        self._downloads = DownloadsMonitor(session, self)
        self._downloads.changed.connect(self._came)
        self._here: frozenset[str] = frozenset()

    @property
    def fetching(self) -> bool:
        """Whether an LLM is being downloaded."""
        return "fetch" in self._jobs

    def look(self, *, wanted: bool = False) -> None:
        """Check which LLM is used. `wanted` asks the providers again, and reports a missing one."""
        if not self._check(wanted=wanted):
            self._wanted |= wanted

    def fetch(self, offer: LLMOffer) -> None:
        """Download an LLM; nothing happens while one is being downloaded."""
        report = self._jobs.reporter(self.progressed.emit)

        async def work(app: Application) -> LLM | None:
            if offer.expert:
                await app.expert_manager.fetch_now(offer.expert, report)
            else:
                size = offer.download_mb * MB
                await app.expert_manager.downloads.fetch("llm", offer.name, report, size=size)
            app.llms.forget()
            return await app.llms.current()

        self._jobs.start("fetch", work, self._fetched)

    def stop(self) -> None:
        """Stop the download."""
        self._jobs.cancel("fetch")

    def _ready(self) -> None:
        self._check(first=True)

    def _busy_changed(self, busy: bool) -> None:
        if not busy:
            self.look()

    def _settled(self) -> None:
        self.look()

    def _came(self, listed: Sequence[Download]) -> None:
        here = frozenset(each.name for each in listed if each.over)
        if here - self._here:  # what has arrived may be an LLM
            self.look()
        self._here = here

    def _check(self, *, wanted: bool = False, first: bool = False) -> bool:
        async def work(app: Application) -> LLMOverview:
            from jarvis_desktop.llm.catalogue import LLMOfferFinder

            offering = LLMOfferFinder(app)
            if wanted:
                app.llms.forget()
            llm = await app.llms.current()
            tell = wanted or (first and not offering.informed)
            missing = await offering.missing() if tell else None
            if missing:
                offering.note_informed()
            lost = not llm and (app.llms.wanted.provider in ("ollama", "openai", "transformers"))
            used = described(llm) if llm else ""
            return LLMOverview(used, app.llms.reason, wanted, missing, lost)

        return self._jobs.start("check", work, self._looked)

    def _looked(self, outcome: Outcome) -> None:
        if outcome.value:
            self.looked.emit(outcome.value)
        if self._wanted:
            self._wanted = False
            self.look(wanted=True)

    def _fetched(self, outcome: Outcome) -> None:
        self.fetched.emit(outcome)
        self.look()


def described(llm: LLM) -> str:
    """An LLM and its provider, on one short line."""
    run_by = tr(RUN_BY.get(llm.provider, llm.provider))
    return tr("{name} ({run_by})", name=one_line(llm.name, limit=32), run_by=run_by)
