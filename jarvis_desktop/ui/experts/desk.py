"""What the page of experts and LLMs asks of the engine. It lives on the main thread; everything is
answered by a signal, and nothing waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Job, Outcome, unexpected

if TYPE_CHECKING:
    from jarvis_desktop.catalogue.searching import Sought
    from jarvis_desktop.compose_shelf import Shelf
    from jarvis_desktop.ui.settings.desk import SettingsDesk

BEAT = 2000
"""Milliseconds between two looks at the memory."""

Work = Callable[["Shelf", Report], Coroutine[Any, Any, Any]]
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
        self._jobs: dict[str, Job] = {}
        self._sought: Sought | None = None
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

    def search(self, sought: Sought) -> None:
        """Search; only what was sought last is answered."""
        self._sought = sought

        async def work(shelf: Shelf, _: Report) -> object:
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
        app: App | None = self.session.app
        if app is None or what in self._jobs:
            return
        engine = self._engine

        def report(fraction: float | None, words: str) -> None:
            engine.post(news, fraction, words)

        def ended(outcome: Outcome) -> None:
            del self._jobs[what]
            then(outcome)

        self._jobs[what] = engine.run(lambda: work(app.shelf, report), ended)

    def do(self, work: Callable[[Shelf], object]) -> None:
        """Do something short; where it is refused the reason is told."""

        async def called(shelf: Shelf, _: Report) -> None:
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
