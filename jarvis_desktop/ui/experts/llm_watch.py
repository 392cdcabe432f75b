"""Which LLM is used, as the window knows it, and the fetching of one. It lives on the main thread
and gives its work to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Job, Outcome, while_there
from jarvis_desktop.ui.experts.downloads_watch import DownloadsWatch
from jarvis_desktop.ui.session import Session

if TYPE_CHECKING:
    from jarvis_desktop.catalogue.download import Download
    from jarvis_desktop.core.llm import LLM
    from jarvis_desktop.llm.offering import Missing, Offer

RUN_BY = {"ollama": "Ollama", "openai": mark("service"), "transformers": mark("on this computer")}
"""Who runs an LLM, by its provider."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was found."""

    used: str
    """The LLM that is used, such as "qwen3.5:4b (Ollama)"; "" where there is none."""
    reason: str
    """Why this one, or why none, in whole sentences."""
    wanted: bool
    """Whether the person waits for what was found."""
    missing: Missing | None = None
    """What to offer, where there is none and the person should know."""


class LLMWatch(QObject):
    """Looks after each turn, and whenever it is told to; one look at a time."""

    looked = Signal(object)
    """Carries a Look."""
    progressed = Signal(object, str)
    """Carries how far the fetching is: a fraction or None, and a few words."""
    fetched = Signal(object)
    """Carries the Outcome of the fetching: the LLM that is used then, or None."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._looking: Job | None = None
        self._wanted = False
        """Whether the person wants it told, and a look was under way then."""
        self._fetching: Job | None = None
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

    def fetch(self, offer: Offer) -> None:
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

    def _first_look(self, app: App) -> None:
        self._begin(app, first=True)

    def _begin(self, app: App, *, wanted: bool = False, first: bool = False) -> None:
        async def work() -> Look:
            from jarvis_desktop.llm.offering import Offering

            offering = Offering(app)
            if wanted:
                app.llms.forget()
            llm = await app.llms.current()
            tell = wanted or (first and not offering.was_told)
            missing = await offering.missing() if tell else None
            if missing:
                offering.note_told()
            return Look(described(llm) if llm else "", app.llms.reason, wanted, missing)

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
