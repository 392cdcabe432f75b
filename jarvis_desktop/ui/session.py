"""What goes on between the window and the engine: requests in line, the turn that runs, the
conversation that is open. It lives on the main thread and gives its work to the engine."""

from __future__ import annotations

import asyncio
import shutil
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.events import Event, TurnFinished, TurnStarted
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import EngineThread, Job, Outcome, QtFrontend, Question
from jarvis_desktop.ui.chips import given
from jarvis_desktop.ui.sidebar import LONGEST_LIST, Listing
from jarvis_desktop.ui.stopping import Brake, Stopping


@dataclass(eq=False)
class Open:
    """A conversation in the window; it has no id before its first turn begins."""

    id: str | None = None
    entries: list[Exchange] = field(default_factory=list)
    goal: bool = False
    """Whether what is asked here is worked on in several steps."""


@dataclass(eq=False)
class Exchange:
    """A turn in the window: it waits, runs or is over."""

    turn: Turn
    place: Open
    request: Request = field(default_factory=Request)
    waiting: str = ""
    """Why it has not begun; "" once it has."""
    review_plan: bool = False
    unfinished: Unfinished | None = None
    """What it goes on with; None where it is a new request."""
    question: Question | None = None
    """What its turn waits to be told."""


def _silence(app: App) -> None:
    app.player.silence()
    app.assistant.silence()


class Session(QObject):
    """The window's side of the engine."""

    ready = Signal(object)
    """Carries the App, once it runs."""
    added = Signal(object)
    """Carries an Exchange that is new in the open conversation."""
    changed = Signal(object)
    """Carries an Exchange whose turn is another one now."""
    switched = Signal()
    """Another conversation is open."""
    listed = Signal(object)
    """Carries the conversations for the side list."""
    busy_changed = Signal(bool)
    stops_next = Signal(object)
    """Carries the Stopping that the next stop is."""
    asked = Signal(object)
    """Carries an Exchange whose question is new, or needs no answer any more."""
    playing = Signal(object)
    """Carries the path of the sound that plays, or None."""
    rang = Signal(object)
    """Carries a Timer that is due; may be emitted from any thread."""
    failed = Signal(str)
    """Carries what the person should know."""

    def __init__(self, engine: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self.open = Open()
        self.app: App | None = None
        """Set once it is ready."""
        self._built: list[App] = []
        self._waiting: deque[Exchange] = deque()
        self._running: tuple[Exchange, Job] | None = None
        self._brake = Brake()
        self._sound: tuple[Path, Job] | None = None
        self._sought = ""
        self._broken = False

    def start(self, build: Callable[[], App]) -> None:
        """Build the application on the engine; what was sent before then waits for it."""

        async def begin() -> App:
            app = build()
            self._built.append(app)
            await app.start()
            app.be_reached()
            return app

        self.engine.run(begin, self._started)

    async def close_app(self) -> None:
        """Close the application; runs on the engine, even where the start has not ended."""
        await self.engine.cancel_all()
        while self._built:
            await self._built.pop().close()

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits."""
        return self._running is not None or bool(self._waiting)

    @property
    def running(self) -> Exchange | None:
        """What is worked on now."""
        return self._running[0] if self._running else None

    def send(self, request: Request, *, review_plan: bool = False) -> Exchange:
        """Put a request in line."""
        attachments = tuple(given(path) for path in request.files)
        words = request.heard.text if request.heard else request.text
        turn = Turn("", datetime.now().astimezone(), words, attachments=attachments)
        exchange = Exchange(turn, self.open, request, review_plan=review_plan)
        self._put_in_line(exchange)
        return exchange

    def go_on(self, unfinished: Unfinished) -> None:
        """Go on with a turn that was cut off, in its conversation, which is opened for it."""
        conversation_id = unfinished.conversation

        async def read(app: App) -> Conversation | Turn:
            try:
                return app.history.show(conversation_id)
            except InputError:  # its first turn was the one that was cut off
                return Conversation(conversation_id)

        def put(outcome: Outcome) -> None:
            if place := self._place_of(conversation_id):
                self._switch(place)
            else:
                self._read(outcome)
            if not outcome.error:
                # What was noted is told again with the rest.
                turn = replace(unfinished.turn, notes=())
                self._put_in_line(Exchange(turn, self.open, unfinished=unfinished))

        self._ask_app(read, put)

    def stop(self) -> None:
        """Stop what a goal's controller does now, which asks the person then; a second time, or
        where there is no such step, stop the turn and drop those that wait."""
        if self._running is None or self._brake.next is Stopping.REST:
            self.end()
            return
        exchange, _ = self._running
        if not exchange.turn.agentic:
            self.end()
            return
        self._brake.press()
        self._show_brake()

        async def interrupt(app: App) -> bool:
            return app.assistant.interrupt()

        self._ask_app(interrupt, lambda outcome: self._interrupted(exchange, outcome))

    def end(self) -> None:
        """Stop the turn that runs and drop those that wait."""
        while self._waiting:
            self._finish(self._waiting.popleft(), Status.CANCELLED)
        if self._running:
            self._running[1].cancel()
        self.busy_changed.emit(self.busy)

    def silence(self) -> None:
        """Let nothing be heard any more; what runs goes on."""
        if app := self.app:
            # Not as a job: it is done as soon as the loop looks.
            self.engine.call(_silence, app)

    def new_conversation(self) -> None:
        """Open an empty conversation."""
        self.open = Open()
        self.switched.emit()
        self.refresh_list()

    def open_conversation(self, conversation_id: str) -> None:
        """Open an earlier conversation."""
        if conversation_id == self.open.id:
            return
        if place := self._place_of(conversation_id):
            self._switch(place)
            return

        async def read(app: App) -> Conversation | Turn:
            return app.history.show(conversation_id)

        self._ask_app(read, self._read)

    def refresh_list(self, sought: str | None = None) -> None:
        """Read the side list anew, for what is sought."""
        self._sought = self._sought if sought is None else sought
        words = self._sought

        async def read(app: App) -> list[Listing]:
            if not words:
                listed = app.history.list(LONGEST_LIST)
                return [Listing(item.id, item.title, item.last) for item in listed]
            found = app.history.search(words, LONGEST_LIST)
            return [Listing(item.conversation_id, item.snippet, item.started) for item in found]

        def show(outcome: Outcome) -> None:
            if outcome.value is not None and words == self._sought:
                # Of several finds in one conversation the newest stands for it.
                first = {item.id: item for item in reversed(outcome.value)}
                self.listed.emit([item for item in outcome.value if first[item.id] is item])
            self._tell(outcome)

        self._ask_app(read, show)

    def play(self, path: Path) -> None:
        """Play a sound file, or stop it where it is the one that plays."""
        before, self._sound = self._sound, None
        if before:
            before[1].cancel()
        if before and before[0] == path:
            self.playing.emit(None)
            return

        async def work(app: App) -> None:
            await app.player.play(path)

        def ended(outcome: Outcome) -> None:
            if self._sound and self._sound[1] is job:
                self._sound = None
                self.playing.emit(None)
            self._tell(outcome)

        job = self._ask_app(work, ended)
        if job:
            self._sound = path, job
            self.playing.emit(path)

    def save_copy(self, source: Path, to: Path) -> None:
        """Copy a result to where the person wants it."""

        async def work() -> None:
            try:
                await asyncio.to_thread(shutil.copyfile, source, to)
            except OSError as error:
                raise StorageError(
                    f"{to.name} could not be saved: {error.strerror or error}.",
                    hint="Choose another folder.",
                ) from error

        self.engine.run(work, self._tell)

    def _started(self, outcome: Outcome) -> None:
        if outcome.value is None:
            if outcome.error:
                self.failed.emit(f"JARVIS could not start. {outcome.error}")
            self._broken = True
            self._refuse()
            return
        self.app = outcome.value
        self.ready.emit(self.app)
        self._next()
        self.refresh_list()

    def _put_in_line(self, exchange: Exchange) -> None:
        exchange.waiting = "Waiting for the request before it…" if self.app else "Getting ready…"
        exchange.place.entries.append(exchange)
        self._waiting.append(exchange)
        # First: the engine works while the turn gets its place in the window.
        self._refuse() if self._broken else self._next()
        self.added.emit(exchange)
        self.busy_changed.emit(self.busy)

    def _place_of(self, conversation_id: str) -> Open | None:
        """The conversation, where it is open or a turn of it runs or waits."""
        active = [*self._waiting, *([self._running[0]] if self._running else [])]
        places = [self.open, *(exchange.place for exchange in active)]
        return next((place for place in places if place.id == conversation_id), None)

    def _refuse(self) -> None:
        while self._waiting:
            self._finish(self._waiting.popleft(), Status.FAILED)
        self.busy_changed.emit(self.busy)

    def _ask_app(self, work: Callable[[App], Any], then: Callable[[Outcome], None]) -> Job | None:
        app = self.app
        return None if app is None else self.engine.run(lambda: work(app), then)

    def _tell(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed.emit(str(outcome.error))

    def _next(self) -> None:
        app = self.app
        if app is None or self._running or not self._waiting:
            return
        exchange = self._waiting.popleft()
        frontend = QtFrontend(self.engine, review_plans=exchange.review_plan, parent=self)
        queued = Qt.ConnectionType.QueuedConnection
        frontend.happened.connect(lambda event: self._happened(exchange, event), queued)
        frontend.asked.connect(lambda question: self._asked(exchange, question), queued)
        frontend.withdrawn.connect(lambda _: self._asked(exchange, None), queued)

        async def work() -> Turn:
            if exchange.unfinished:
                return await app.assistant.resume(exchange.unfinished, frontend)
            if exchange.place.id is None:
                exchange.place.id = app.history.open_conversation().id
            return await app.assistant.handle(
                exchange.request, frontend, conversation=exchange.place.id
            )

        job = self.engine.run(work, lambda outcome: self._ended(exchange, outcome))
        self._running = exchange, job
        self._brake = Brake()
        self._show_brake()
        exchange.waiting = ""
        self.changed.emit(exchange)

    def _happened(self, exchange: Exchange, event: Event) -> None:
        turn = exchange.turn
        if isinstance(event, TurnStarted):
            turn = replace(turn, id=event.turn_id)
            if not event.attachments:  # they are looked at later; until then show what was given
                event = replace(event, attachments=turn.attachments)
            if exchange.request.heard:  # it is told a moment later
                event = replace(event, text=turn.text)
        exchange.turn = turn.apply(event)
        self._brake.take(event)
        self._show_brake()
        self.changed.emit(exchange)

    def _asked(self, exchange: Exchange, question: Question | None) -> None:
        exchange.question = question
        self._brake.asked(waits=question is not None)
        self._show_brake()
        self.asked.emit(exchange)

    def _show_brake(self) -> None:
        self.stops_next.emit(self._brake.next)

    def _interrupted(self, exchange: Exchange, outcome: Outcome) -> None:
        """Nothing was there to interrupt, or the engine failed: then the turn itself is to end."""
        if not outcome.value and self._running and self._running[0] is exchange:
            self.end()
        self._tell(outcome)

    def _ended(self, exchange: Exchange, outcome: Outcome) -> None:
        self._running = None
        if isinstance(outcome.value, Turn):
            exchange.turn = outcome.value
        if exchange.turn.status is None:
            status = Status.CANCELLED if outcome.cancelled else Status.FAILED
            self._finish(exchange, status)
        self.changed.emit(exchange)
        self._tell(outcome)
        self._next()
        self.busy_changed.emit(self.busy)
        self.refresh_list()

    def _finish(self, exchange: Exchange, status: Status) -> None:
        exchange.waiting = ""
        exchange.turn = exchange.turn.apply(TurnFinished(status, datetime.now().astimezone()))
        self.changed.emit(exchange)

    def _read(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, Conversation):
            place = Open(outcome.value.id)
            place.entries = [Exchange(turn, place) for turn in outcome.value.turns]
            self._switch(place)
        self._tell(outcome)

    def _switch(self, place: Open) -> None:
        self.open = place
        self.switched.emit()
