"""The window's side of the engine: the queue of requests, the running turn and the open
conversation. It lives on the main thread and runs its work on the engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import Event, Kept
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.task import Report
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.ui.engine import (
    EngineJob,
    EngineQuestion,
    EngineThread,
    Outcome,
    QtFrontend,
    Then,
    while_there,
)
from jarvis_desktop.ui.pending_turn import (
    ApplicationLifetime,
    OpenConversation,
    PendingTurn,
    Rerun,
    StopButtonState,
    StopScope,
    behind,
)

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.single_instance import CommandHandler

    AppWork = Callable[[Application], Coroutine[Any, Any, Any]]

__all__ = ["AppJobs", "OpenConversation", "PendingTurn", "WindowSession"]


class WindowSession(QObject):
    """The requests and conversations of a window."""

    ready = Signal(object)
    """Carries the Application once it runs."""
    added = Signal(object)
    """Carries a PendingTurn that is new in the open conversation."""
    changed = Signal(object)
    """Carries a PendingTurn whose turn has changed."""
    switched = Signal()
    """Another conversation is open."""
    sought = Signal(int)
    """Carries the position of the found turn in the conversation that was opened."""
    kept = Signal()
    """The history has changed."""
    forgotten = Signal(object)
    """Carries an OpenConversation that was deleted."""
    busy_changed = Signal(bool)
    stops_next = Signal(object)
    """Carries the StopScope of the next stop."""
    asked = Signal(object)
    """Carries a PendingTurn whose question is new or no longer needs an answer."""
    rang = Signal(object)
    """Carries a Timer that is due; may be emitted from any thread."""
    settled = Signal(object)
    """Carries the current Settings: at the start, and after every change."""
    failed = Signal(str)
    """Carries a message for the user."""

    def __init__(self, engine: EngineThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self.open = OpenConversation()
        self.private: OpenConversation | None = None
        """The private conversation, until it is forgotten."""
        self.quick = OpenConversation()
        """The conversation in the quick box."""
        self.commands: dict[str, CommandHandler] = {}
        """The commands that other processes may send to the window; they run on the engine."""
        self.app: Application | None = None
        """Set once it is ready."""
        self._lifetime = ApplicationLifetime()
        self._waiting: deque[PendingTurn] = deque()
        self._running: tuple[PendingTurn, EngineJob] | None = None
        self._frontend: QtFrontend | None = None
        self._brake = StopButtonState()
        self.broken = ""
        """Why the application could not start; "" if it has started or may still start."""

    def start(self, build: Callable[[], Application]) -> None:
        """Build the application on the engine; requests that were sent before wait for it."""
        self.engine.run(lambda: self._lifetime.begin(build, self.commands), self._started)

    def run(self, work: AppWork, then: Then) -> EngineJob | None:
        """Run `work(app)` on the engine and pass its outcome to `then`, on this thread. Return
        None and do nothing until the application is ready."""
        app = self.app
        return None if app is None else self.engine.run(lambda: work(app), then)

    def leave(self) -> bool:
        """Start nothing from now on, and return whether the application is still being built."""
        return self._lifetime.leave()

    async def close_app(self) -> None:
        """Close the application, even if its start has not finished; runs on the engine."""
        await self.engine.cancel_all()
        await self._lifetime.end()

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits."""
        return self._running is not None or bool(self._waiting)

    @property
    def running(self) -> PendingTurn | None:
        """The running turn."""
        return self._running[0] if self._running else None

    def send(self, request: Request, *, place: OpenConversation | None = None) -> PendingTurn:
        """Queue a request, by default in the open conversation."""
        return self._put_in_line(PendingTurn.of(request, place or self.open))

    def run_again(self, again: Rerun) -> None:
        """Run the plan of an earlier turn again, in the open conversation."""
        turn = Turn("", datetime.now().astimezone(), again.turn.text)
        self._put_in_line(PendingTurn(turn, self.open, again=again))

    def go_on(self, unfinished: Unfinished) -> None:
        """Resume an interrupted turn in its conversation, which is opened."""
        conversation_id = unfinished.conversation

        async def read(app: Application) -> Conversation | Turn:
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
                # Notes are reported again with the rest.
                turn = replace(unfinished.turn, notes=())
                self._put_in_line(PendingTurn(turn, self.open, unfinished=unfinished))

        self.run(read, put)

    def stop(self, place: OpenConversation | None = None) -> None:
        """Stop the turn that is running in `place`, by default the open conversation; if there
        is none, stop the running turn. The first call stops the step of a goal, which then asks
        the user. The next call, or the first if there is no such step, stops the turn and those
        waiting in its conversation."""
        here, running = place or self.open, self.running
        if running and running.place is not here and not self._waiting_in(here):
            here = running.place
        if running and running.place is here:
            if running.turn.agentic and self._brake.next is not StopScope.REST:
                self._interrupt(running)
            else:
                self._halt(running)
        else:
            self._drop(self._waiting_in(here) or list(self._waiting))

    def end(self) -> None:
        """Stop the running turn and drop the waiting ones."""
        self._drop(list(self._waiting))
        if self._running:
            self._running[1].cancel()

    def wake(self) -> None:
        """Restart idle helper processes when the user starts typing or talking."""
        if app := self.app:
            self.engine.call(app.wake)

    def silence(self) -> None:
        """Stop speaking; the turn goes on."""
        if app := self.app:
            # Not as a job: it is done as soon as the loop looks.
            self.engine.call(app.player.silence)
            self.engine.call(app.assistant.silence)

    def new_conversation(self, *, kept: bool = True) -> None:
        """Open an empty conversation. A private one exists until `forget_aside`."""
        if kept:
            self._switch(OpenConversation())
        else:
            self.private = self.private or OpenConversation(private=True)
            self._switch(self.private)

    def forget_aside(self) -> None:
        """Close the private conversation and delete everything of it."""
        place, self.private = self.private, None
        if place is None:
            return
        for pending in self._waiting_in(place):
            self._waiting.remove(pending)
        if self._running and self._running[0].place is place:
            self._running[1].cancel()  # it is forgotten once it has ended
        else:
            self._forget(place)
        if self.open is place:
            self.new_conversation()

    def open_conversation(self, conversation_id: str, turn_id: str = "") -> None:
        """Open an earlier conversation, at a turn."""
        if place := self._place_of(conversation_id):
            if place is not self.open:
                self._switch(place)
            self._seek(turn_id)
            return

        async def read(app: Application) -> Conversation | Turn:
            return app.history.show(conversation_id)

        def show(outcome: Outcome) -> None:
            self._read(outcome)
            self._seek(turn_id)

        self.run(read, show)

    def open_place(self, place: OpenConversation) -> None:
        """Open this conversation. If it is the quick box's, the box starts another one."""
        if place is self.quick:
            self.quick = OpenConversation()
        self._switch(place)

    def greet(self) -> None:
        """Report the current state to a new window if the application is already running."""
        self.switched.emit()
        self.busy_changed.emit(self.busy)
        if self.app:
            self.ready.emit(self.app)
            self.settled.emit(self.app.settings)
            self._show_brake()
            self.kept.emit()

    def _started(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return  # JARVIS ends
        if outcome.value is None:
            self.broken = tr("JARVIS could not start. {reason}", reason=outcome.error)
            self._refuse()
            return
        self.app = outcome.value
        self.ready.emit(self.app)
        self.settled.emit(self.app.settings)
        self._next()
        self.kept.emit()

    def _put_in_line(self, pending: PendingTurn) -> PendingTurn:
        pending.waiting = behind(self.running) if self.app else tr("Getting ready…")
        pending.place.entries.append(pending)
        self._waiting.append(pending)
        # First: the engine works while the turn gets its place in the window.
        self._refuse() if self.broken else self._next()
        if pending.place is self.open:
            self.added.emit(pending)
        self.busy_changed.emit(self.busy)
        return pending

    def _place_of(self, conversation_id: str) -> OpenConversation | None:
        """Return the conversation if it is open or has a running or waiting turn."""
        active = [*self._waiting, *([self._running[0]] if self._running else [])]
        private = [self.private] if self.private else []
        places = [self.open, self.quick, *private, *(pending.place for pending in active)]
        return next((place for place in places if place.id == conversation_id), None)

    def _refuse(self) -> None:
        self._drop(list(self._waiting), Status.FAILED)
        self.failed.emit(self.broken)

    def _report_error(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed.emit(str(outcome.error))

    def _next(self) -> None:
        app = self.app
        if app is None or self._running or not self._waiting:
            return
        pending = self._waiting.popleft()
        frontend = QtFrontend(self.engine, ask=app.settings.planner.ask, parent=self)
        if self._frontend:  # only now: events after a turn's end still arrive
            self._frontend.deleteLater()
        self._frontend = frontend
        queued = Qt.ConnectionType.QueuedConnection
        frontend.happened.connect(lambda event: self._happened(pending, event), queued)
        frontend.asked.connect(lambda question: self._asked(pending, question), queued)
        frontend.withdrawn.connect(lambda _: self._asked(pending, None), queued)

        async def work() -> Turn:
            if pending.unfinished:
                return await app.assistant.resume(pending.unfinished, frontend)
            place = pending.place.begin(app.history)
            if pending.again:
                return await pending.again.carry_out(app.assistant, frontend, place)
            return await app.assistant.handle(pending.request, frontend, conversation=place)

        job = self.engine.run(work, lambda outcome: self._ended(pending, outcome))
        self._running = pending, job
        self._brake = StopButtonState()
        self._show_brake()
        pending.waiting = ""
        self.changed.emit(pending)

    def _happened(self, pending: PendingTurn, event: Event) -> None:
        pending.take(event)
        self._brake.take(event)
        self._show_brake()
        self.changed.emit(pending)
        if isinstance(event, Kept):
            self.kept.emit()

    def _asked(self, pending: PendingTurn, question: EngineQuestion | None) -> None:
        pending.question = question
        self._brake.asked(waits=question is not None)
        self._show_brake()
        self.asked.emit(pending)
        for item in self._waiting:
            item.waiting = behind(pending)
            self.changed.emit(item)

    def _show_brake(self) -> None:
        self.stops_next.emit(self._brake.next)

    def _interrupt(self, pending: PendingTurn) -> None:
        self._brake.press()
        self._show_brake()

        async def interrupt(app: Application) -> bool:
            return app.assistant.interrupt()

        self.run(interrupt, lambda outcome: self._interrupted(pending, outcome))

    def _interrupted(self, pending: PendingTurn, outcome: Outcome) -> None:
        """Stop the turn itself if no step could be interrupted."""
        if not outcome.value and self.running is pending:
            self._halt(pending)
        self._report_error(outcome)

    def _halt(self, pending: PendingTurn) -> None:
        self._drop(self._waiting_in(pending.place))
        if self._running:
            self._running[1].cancel()

    def _waiting_in(self, place: OpenConversation) -> list[PendingTurn]:
        return [pending for pending in self._waiting if pending.place is place]

    def _drop(self, exchanges: Iterable[PendingTurn], status: Status = Status.CANCELLED) -> None:
        for pending in exchanges:
            self._waiting.remove(pending)
            pending.finish(status)
            self.changed.emit(pending)
            if not pending.unfinished:  # that one stays in the history
                self._keep(pending)
        self.busy_changed.emit(self.busy)

    def _keep(self, pending: PendingTurn) -> None:
        """Save the request in the history although it never started."""

        def kept(outcome: Outcome) -> None:
            if outcome.value:
                # The files as they were given, which may be on their way into the next request.
                pending.turn = replace(outcome.value, attachments=pending.turn.attachments)
                self.changed.emit(pending)
                self.kept.emit()
            if pending.place is self.private or not pending.place.private:  # else it was forgotten
                self._report_error(outcome)

        self.run(pending.set_aside, kept)

    def _ended(self, pending: PendingTurn, outcome: Outcome) -> None:
        self._running = None
        if isinstance(outcome.value, Turn):
            pending.turn = outcome.value
        if pending.turn.status is None:
            pending.finish(Status.CANCELLED if outcome.cancelled else Status.FAILED)
        self.changed.emit(pending)
        self._report_error(outcome)
        self._next()
        self.busy_changed.emit(self.busy)
        self.kept.emit()
        if pending.place.private and pending.place is not self.private:
            self._forget(pending.place)

    def _read(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, Conversation):
            place = OpenConversation(outcome.value.id)
            place.entries = [PendingTurn(turn, place) for turn in outcome.value.turns]
            self._switch(place)
        self._report_error(outcome)

    def _forget(self, place: OpenConversation) -> None:
        self.forgotten.emit(place)

        async def forget(app: Application) -> None:
            app.history.forget_private(place.id or "")

        self.run(forget, self._report_error)

    def _seek(self, turn_id: str) -> None:
        for number, entry in enumerate(self.open.entries):
            if turn_id and entry.turn.id == turn_id:
                self.sought.emit(number)

    def _switch(self, place: OpenConversation) -> None:
        self.open = place
        self.switched.emit()


class AppJobs(QObject):
    """The jobs of one controller on the engine, by name; only one of each name at a time.

    They continue when the controller is deleted, but their outcomes are dropped.
    """

    def __init__(self, session: WindowSession, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._running: dict[str, EngineJob] = {}

    def __contains__(self, name: object) -> bool:
        """Whether a job of that name is running."""
        return name in self._running

    @property
    def busy(self) -> bool:
        """Whether any job is running."""
        return bool(self._running)

    def start(self, name: str, work: AppWork, then: Then) -> bool:
        """Run `work(app)` on the engine and pass its outcome to `then`. Return False and do
        nothing while a job of that name is running or the application is not ready."""

        def ended(outcome: Outcome) -> None:
            del self._running[name]
            then(outcome)

        job = None if name in self._running else self._session.run(work, ended)
        if job:
            self._running[name] = job
        return job is not None

    def cancel(self, name: str) -> None:
        """Cancel a job; its outcome arrives when it has really stopped."""
        if job := self._running.get(name):
            job.cancel()

    def reporter(self, show: Callable[[float | None, str], object]) -> Report:
        """Return a progress callback for the engine that calls `show` on the main thread while
        the controller exists."""
        engine, guarded = self._session.engine, while_there(self, show)
        return lambda fraction, words: engine.post(guarded, fraction, words)
