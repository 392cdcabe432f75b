"""The window's side of the engine: the running turns and the open conversation. It lives on the
main thread and runs its work on the engine, where turns wait for each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
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
)
from jarvis_desktop.ui.pending_turn import (
    ApplicationLifetime,
    OpenConversation,
    PendingTurn,
    Rerun,
    StopScope,
)
from jarvis_desktop.ui.server_control import ServerControl

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
    timers_changed = Signal()
    """A timer was set, was cancelled or has rung; may be emitted from any thread."""
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
        self.server = ServerControl(self)
        self._lifetime = ApplicationLifetime()
        self._waiting: deque[PendingTurn] = deque()
        """The requests that were sent before the application is ready."""
        self._running: dict[PendingTurn, EngineJob] = {}
        """The running turns, in the order of asking."""
        self._ended_frontend: QtFrontend | None = None
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
        return bool(self._running or self._waiting)

    @property
    def active(self) -> Sequence[PendingTurn]:
        """The running turns of all conversations, in the order of asking."""
        return tuple(self._running)

    @property
    def running(self) -> PendingTurn | None:
        """The running turn that is shown and stopped first: the oldest of the open conversation, or
        else the newest."""
        return next(iter(self._stopped_first(self.open)), None)

    def running_in(self, place: OpenConversation) -> Sequence[PendingTurn]:
        """The running turns of a conversation, in the order of asking."""
        return [pending for pending in self._running if pending.place is place]

    def send(self, request: Request, *, place: OpenConversation | None = None) -> PendingTurn:
        """Send a request, by default in the open conversation."""
        return self._add(PendingTurn.of(request, place or self.open))

    def run_again(self, again: Rerun) -> None:
        """Run the plan of an earlier turn again, in the open conversation."""
        turn = Turn("", datetime.now().astimezone(), again.turn.text)
        self._add(PendingTurn(turn, self.open, again=again))

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
                self._add(PendingTurn(turn, self.open, unfinished=unfinished))

        self.run(read, put)

    def stop(self, place: OpenConversation | None = None) -> None:
        """Stop what runs in `place`, by default the open conversation; if nothing runs there, what
        was asked last in another one. The first call stops the step of a goal, which then asks the
        user. The next call, or the first if there is no such step, stops all turns of the
        conversation."""
        here = place or self.open
        if running := self._stopped_first(here):
            self._stop(running)
        else:
            waiting = [pending for pending in self._waiting if pending.place is here]
            self._drop(waiting or list(self._waiting))

    def stop_turn(self, turn: Turn) -> None:
        """Stop one turn, of a goal first its step. The others go on."""
        meant = [item for item in (*self._running, *self._waiting) if item.turn is turn]
        meant = meant or [item for item in self._running if item.turn.id == turn.id]
        self._drop([pending for pending in meant if pending in self._waiting])
        self._stop([pending for pending in meant if pending in self._running])

    def end(self) -> None:
        """Stop all turns."""
        self._drop(list(self._waiting))
        self._halt(self.active)

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

    def end_speech(self) -> None:
        """End what is being said; an answer that has not begun will be spoken."""
        if app := self.app:
            self.engine.call(app.assistant.end_speech)

    def new_conversation(self, *, kept: bool = True) -> None:
        """Open an empty conversation. A private one exists until `forget_aside`."""
        self.end_speech()
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
        self._waiting = deque(item for item in self._waiting if item.place is not place)
        if running := self.running_in(place):
            self._halt(running)  # it is forgotten once they have ended
        else:
            self._forget(place)
        self.busy_changed.emit(self.busy)
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
        self.app.timers.on_change = self.timers_changed.emit
        self.ready.emit(self.app)
        self.settled.emit(self.app.settings)
        self._start_waiting()
        self.kept.emit()

    def _add(self, pending: PendingTurn) -> PendingTurn:
        pending.waiting = "" if self.app else tr("Getting ready…")
        pending.place.entries.append(pending)
        self._waiting.append(pending)
        # First: the engine works while the turn gets its place in the window.
        self._refuse() if self.broken else self._start_waiting()
        if pending.place is self.open:
            self.added.emit(pending)
        self.busy_changed.emit(self.busy)
        return pending

    def _place_of(self, conversation_id: str) -> OpenConversation | None:
        """Return the conversation if it is open or has a running or waiting turn."""
        private = [self.private] if self.private else []
        active = (pending.place for pending in (*self._waiting, *self._running))
        places = [self.open, self.quick, *private, *active]
        return next((place for place in places if place.id == conversation_id), None)

    def _refuse(self) -> None:
        self._drop(list(self._waiting), Status.FAILED)
        self.failed.emit(self.broken)

    def _report_error(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed.emit(str(outcome.error))

    def _start_waiting(self) -> None:
        while self.app and self._waiting:
            self._start(self.app, self._waiting.popleft())

    def _start(self, app: Application, pending: PendingTurn) -> None:
        frontend = QtFrontend(self.engine, ask=app.settings.planner.ask, parent=self)
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

        self._running[pending] = self.engine.run(
            work, lambda outcome: self._ended(pending, frontend, outcome)
        )
        self._show_brake()
        pending.waiting = ""
        self.changed.emit(pending)

    def _happened(self, pending: PendingTurn, event: Event) -> None:
        pending.take(event)
        self._show_brake()
        self.changed.emit(pending)
        if isinstance(event, Kept):
            self.kept.emit()

    def _asked(self, pending: PendingTurn, question: EngineQuestion | None) -> None:
        pending.question = question
        pending.brake.asked(waits=question is not None)
        self._show_brake()
        self.asked.emit(pending)
        for behind in self.running_in(pending.place):
            behind.say_why()
            self.changed.emit(behind)

    def _show_brake(self) -> None:
        goal = _goal_among(self._stopped_first(self.open))
        self.stops_next.emit(goal.brake.next if goal else StopScope.TURN)

    def _stopped_first(self, here: OpenConversation) -> Sequence[PendingTurn]:
        """The turns that Stop means: those of this conversation, or else of the one that was used
        last."""
        return self.running_in(here) or [
            other for last in self.active[-1:] for other in self.running_in(last.place)
        ]

    def _stop(self, running: Sequence[PendingTurn]) -> None:
        goal = _goal_among(running)
        if goal is None or goal.brake.next is StopScope.REST:
            self._halt(running)
            return
        goal.brake.press()
        self._show_brake()

        async def interrupt(app: Application) -> bool:
            return app.assistant.interrupt(goal.turn.id)

        def interrupted(outcome: Outcome) -> None:
            if not outcome.value and goal in self._running:  # there was no step
                self._halt(running)
            self._report_error(outcome)

        self.run(interrupt, interrupted)

    def _halt(self, running: Sequence[PendingTurn]) -> None:
        # The last first: each would begin as soon as the one before it has ended.
        for pending in reversed(running):
            if job := self._running.get(pending):
                job.cancel()

    def _drop(self, unstarted: Iterable[PendingTurn], status: Status = Status.CANCELLED) -> None:
        for pending in unstarted:
            self._waiting.remove(pending)
            pending.finish(status)
            self.changed.emit(pending)
        self.busy_changed.emit(self.busy)

    def _ended(self, pending: PendingTurn, frontend: QtFrontend, outcome: Outcome) -> None:
        del self._running[pending]
        if self._ended_frontend:  # only now: events after a turn's end still arrive
            self._ended_frontend.deleteLater()
        self._ended_frontend = frontend
        if isinstance(outcome.value, Turn):
            pending.turn = outcome.value
        if pending.turn.status is None:
            pending.finish(Status.CANCELLED if outcome.cancelled else Status.FAILED)
        self._show_brake()
        self.changed.emit(pending)
        self._report_error(outcome)
        self.busy_changed.emit(self.busy)
        self.kept.emit()
        place = pending.place
        if place.private and place is not self.private and not self.running_in(place):
            self._forget(place)

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
        self._show_brake()
        self.switched.emit()


def _goal_among(running: Iterable[PendingTurn]) -> PendingTurn | None:
    return next((pending for pending in running if pending.turn.agentic), None)


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
        return self._session.engine.poster(self, show)
