"""What the page of experts and LLMs asks of the engine. It lives on the main thread; everything is
answered by a signal, and nothing waits.

Which LLM is used, as the window knows it, and the fetching of one. It lives on the main thread
and gives its work to the engine.

The downloads as the window knows them, and the mark beside the way to their page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.ui.app_protocols import AppPort
from jarvis_desktop.ui.engine import EngineJob, Outcome, unexpected, while_there
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme

if TYPE_CHECKING:
    from jarvis_desktop.app.experts import ExpertManager
    from jarvis_desktop.core.llm import LLM
    from jarvis_desktop.experts.catalogue import ExpertQuery
    from jarvis_desktop.experts.downloads import Download
    from jarvis_desktop.llm.catalogue import LLMOffer, NoLLM
    from jarvis_desktop.ui.settings.controller import SettingsDesk


BEAT = 2000
"""Milliseconds between two looks at the memory."""

Work = Callable[["ExpertManager", Report], Coroutine[Any, Any, Any]]
Then = Callable[[Outcome], None]
News = Callable[[float | None, str], None]


def _unheard(fraction: float | None, words: str) -> None:
    pass


class ExpertsDesk(QObject):
    """Looks, searches and does what the page wants, on the engine."""

    kept = Signal(object)
    """Carries the experts of this computer."""
    disk = Signal(object)
    """Carries the Room on the disk."""
    memory = Signal(object)
    """Carries the Rooms in the memories."""
    found = Signal(object, object, int)
    """Carries what was Sought, the Hits, and how many experts of the Hub are known."""
    llms = Signal(object)
    """Carries what is Shelved of LLMs."""
    failed = Signal(str)
    """Carries what the person should know."""

    def __init__(self, settings: SettingsDesk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session = settings.session
        self._settings = settings
        self._engine = session.engine
        self._jobs: dict[str, EngineJob] = {}
        self._sought: ExpertQuery | None = None
        self._beat = QTimer(self, interval=BEAT)
        self._beat.timeout.connect(self._measure)
        self._shown = False
        session.ready.connect(self._ready)
        settings.saved.connect(lambda waits: self.look_at_llms() if self._shown else None)
        settings.failed.connect(lambda reason: self.failed.emit(reason) if self._shown else None)

    def appear(self) -> None:
        """Look at everything, and at the memory again and again."""
        self._shown = True
        self.look()
        self.look_at_llms(anew=True)
        self._measure()
        self._beat.start()

    def leave(self) -> None:
        """Nobody looks."""
        self._shown = False
        self._beat.stop()

    def look(self) -> None:
        """Look which experts there are, and at the disk."""
        self._ask("kept", lambda shelf, _: shelf.kept(), self.kept)
        self._ask("disk", lambda shelf, _: shelf.disk(), self.disk)

    def look_at_llms(self, *, anew: bool = False) -> None:
        """Look which LLMs there are."""
        self._ask("llms", lambda shelf, _: shelf.llms(anew=anew), self.llms)

    def search(self, sought: ExpertQuery) -> None:
        """Search; only what was sought last is answered."""
        self._sought = sought

        async def work(shelf: ExpertManager, _: Report) -> object:
            hits = await asyncio.to_thread(shelf.search, sought)
            return hits, await asyncio.to_thread(lambda: shelf.known_of_hub)

        def ended(outcome: Outcome) -> None:
            newest = self._sought
            if newest is not None and newest != sought:
                self.search(newest)
            elif outcome.value is not None:
                self.found.emit(sought, *outcome.value)
            else:
                self.tell(outcome)

        self.run("search", work, ended)

    def does(self, what: str) -> bool:
        """Whether that goes on."""
        return what in self._jobs

    def stop(self, what: str) -> None:
        """End it; its outcome is told once it has ended."""
        if job := self._jobs.get(what):
            job.cancel()

    def run(self, what: str, work: Work, then: Then, news: News = _unheard) -> None:
        """Do something, one of a kind at a time; `news` hears how far it is."""
        app: AppPort | None = self.session.app
        if app is None or what in self._jobs:
            return
        engine = self._engine

        def report(fraction: float | None, words: str) -> None:
            engine.post(news, fraction, words)

        def ended(outcome: Outcome) -> None:
            del self._jobs[what]
            then(outcome)

        self._jobs[what] = engine.run(lambda: work(app.shelf, report), ended)

    def do(self, work: Callable[[ExpertManager], object]) -> None:
        """Do something short; where it is refused the reason is told."""

        async def called(shelf: ExpertManager, _: Report) -> None:
            done = work(shelf)
            if asyncio.iscoroutine(done):
                await done

        app = self.session.app
        if app:
            self._engine.run(lambda: called(app.shelf, _unheard), self.tell)

    def use(self, name: str) -> None:
        """Use this LLM from now on; "auto" is the best that is there."""

        def wished(outcome: Outcome) -> None:
            for key, value in (outcome.value or {}).items():
                self._settings.change(f"llm.{key}", value)
            self._settings.write()
            self.tell(outcome)

        self.run("use", lambda shelf, _: shelf.wish(name), wished)

    def tell(self, outcome: Outcome) -> None:
        """Say why something failed."""
        if outcome.error:
            self.failed.emit(str(outcome.error))

    def _ask(self, what: str, work: Work, answer: Any) -> None:
        def ended(outcome: Outcome) -> None:
            if outcome.value is not None:
                answer.emit(outcome.value)
            else:
                self.tell(outcome)

        self.run(what, work, ended)

    def _measure(self) -> None:
        self._ask("memory", lambda shelf, _: shelf.memory(), self.memory)

    def _ready(self) -> None:
        if self._shown:
            self.appear()
        if self._sought:
            self.search(self._sought)


def why(outcome: Outcome) -> str:
    """Why something failed or ended."""
    if outcome.cancelled:
        return tr("It was stopped.")
    return str(outcome.error or unexpected()) if outcome.value is None else ""


SIZE, PEN = 16, 2.2
"""Pixels."""


class DownloadsWatch(QObject):
    """Hears from the engine of every change."""

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

    def _ready(self, app: AppPort) -> None:
        if self._watches:
            return  # a window that is made anew is greeted besides
        self._watches = True
        engine = self._session.engine

        async def watch() -> None:
            app.shelf.downloads.watch(lambda listed: engine.post(self._hear, listed))
            await app.shelf.downloads.restore()

        engine.run(watch, _ended)

    def _hear(self, listed: Sequence[Download]) -> None:
        self.listed = listed
        self.changed.emit(listed)


def _ended(outcome: Outcome) -> None:
    pass


class DownloadMark(QWidget):
    """A ring at the trailing edge of a button, filled as far as what is fetched is here."""

    def __init__(self, button: QPushButton, session: WindowSession) -> None:
        super().__init__(button)
        self.setFixedSize(SIZE, SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._fraction: float | None = None
        self._button = button
        self._described = button.accessibleDescription()
        row = QVBoxLayout(button)
        row.setContentsMargins(theme.space(), 0, theme.space(), 0)
        row.addWidget(self, 0, Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        self.hide()
        self._watch = DownloadsWatch(session, self)
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
        """Draw it."""
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


RUN_BY = {"ollama": "Ollama", "openai": mark("service"), "transformers": mark("on this computer")}
"""Who runs an LLM, by its provider."""


@dataclass(frozen=True, slots=True)
class LLMOverview:
    """What was found."""

    used: str
    """The LLM that is used, such as "qwen3.5:4b (Ollama)"; "" where there is none."""
    reason: str
    """Why this one, or why none, in whole sentences."""
    wanted: bool
    """Whether the person waits for what was found."""
    missing: NoLLM | None = None
    """What to offer, where there is none and the person should know."""


class LLMWatch(QObject):
    """Looks after each turn, and whenever it is told to; one look at a time."""

    looked = Signal(object)
    """Carries a Look."""
    progressed = Signal(object, str)
    """Carries how far the fetching is: a fraction or None, and a few words."""
    fetched = Signal(object)
    """Carries the Outcome of the fetching: the LLM that is used then, or None."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._looking: EngineJob | None = None
        self._wanted = False
        """Whether the person wants it told, and a look was under way then."""
        self._fetching: EngineJob | None = None
        session.ready.connect(self._first_look)
        session.busy_changed.connect(self._busy_changed)
        session.settled.connect(self._settled)
        self._downloads = DownloadsWatch(session, self)
        self._downloads.changed.connect(self._came)
        self._here: frozenset[str] = frozenset()

    def _busy_changed(self, busy: bool) -> None:
        if not busy:
            self.look()

    def _settled(self) -> None:
        self.look()

    @property
    def fetching(self) -> bool:
        """Whether an LLM is being fetched."""
        return self._fetching is not None

    def look(self, *, wanted: bool = False) -> None:
        """Look which LLM is used; `wanted` looks anew, and tells where there is none too."""
        if self._session.app and not self._looking:
            self._begin(self._session.app, wanted=wanted)
        else:
            self._wanted |= wanted

    def fetch(self, offer: LLMOffer) -> None:
        """Fetch an LLM; nothing happens while one is being fetched."""
        app = self._session.app
        if app is None or self._fetching:
            return
        engine = self._session.engine
        # The window may be made anew meanwhile, and the fetching goes on.
        progressed = while_there(self, self.progressed.emit)

        async def work() -> LLM | None:
            def report(fraction: float | None, words: str) -> None:
                engine.post(progressed, fraction, words)

            if offer.expert:
                await app.shelf.fetch_now(offer.expert, report)
            else:
                size = offer.download_mb * MB
                await app.shelf.downloads.fetch("llm", offer.name, report, size=size)
            app.llms.forget()
            return await app.llms.current()

        self._fetching = engine.run(work, self._fetched)

    def stop(self) -> None:
        """Stop the fetching."""
        if self._fetching:
            self._fetching.cancel()

    def _came(self, listed: Sequence[Download]) -> None:
        """Something has come: it may be an LLM."""
        here = frozenset(each.name for each in listed if each.over)
        if here - self._here:
            self.look()
        self._here = here

    def _first_look(self, app: AppPort) -> None:
        self._begin(app, first=True)

    def _begin(self, app: AppPort, *, wanted: bool = False, first: bool = False) -> None:
        async def work() -> LLMOverview:
            from jarvis_desktop.llm.catalogue import LLMOfferFinder

            offering = LLMOfferFinder(app)
            if wanted:
                app.llms.forget()
            llm = await app.llms.current()
            tell = wanted or (first and not offering.was_told)
            missing = await offering.missing() if tell else None
            if missing:
                offering.note_told()
            return LLMOverview(described(llm) if llm else "", app.llms.reason, wanted, missing)

        self._looking = self._session.engine.run(work, self._looked)

    def _looked(self, outcome: Outcome) -> None:
        self._looking = None
        if outcome.value:
            self.looked.emit(outcome.value)
        if self._wanted:  # while it was looked
            self._wanted = False
            self.look(wanted=True)

    def _fetched(self, outcome: Outcome) -> None:
        self._fetching = None
        self.fetched.emit(outcome)
        self.look()


def described(llm: LLM) -> str:
    """An LLM and who runs it, on one short line."""
    run_by = tr(RUN_BY.get(llm.provider, llm.provider))
    return tr("{name} ({run_by})", name=one_line(llm.name, limit=32), run_by=run_by)
