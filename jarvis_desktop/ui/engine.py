"""The border between Qt's main thread and the engine thread; the only module that knows both.

Work is sent over as coroutines. Results come back as calls that Qt queues on the main thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from types import MethodType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.events import Event, RoundProgress
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Ask, Plan, is_asked_about
from jarvis_desktop.core.ports import Review
from jarvis_desktop.core.turn import MAX_PRINTED_CHARS

BUNDLED = 0.05
"""Seconds for which the output of a script is collected before it is sent to the window."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a piece of engine work ended: with a value, with an error, or cancelled."""

    value: Any = None
    error: JarvisError | None = None
    cancelled: bool = False


Then = Callable[[Outcome], None]


def unexpected() -> JarvisError:
    """Return the error that is shown for a bug in JARVIS."""
    return UnavailableError(
        tr("Something went wrong inside JARVIS itself."), hint=tr("The log has the details.")
    )


class EngineJob:
    """A running piece of engine work."""

    def __init__(self, engine: EngineThread) -> None:
        self._engine = engine
        self.task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """Cancel the work. Its outcome still arrives, when it has really stopped."""
        self._engine.call(self._cancel)

    def _cancel(self) -> None:
        if self.task:
            self.task.cancel()


class EngineThread(QObject):
    """An asyncio loop in its own thread."""

    _posted = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop = asyncio.new_event_loop()
        self._pool = ThreadPoolExecutor(thread_name_prefix="engine-pool")
        self._loop.set_default_executor(self._pool)
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        """Whether the loop was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the loop; work that was submitted before runs now."""
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine on the engine, and return its result as a future for another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call a function on the engine soon; nothing happens once the engine has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *args)

    def run(self, work: Callable[[], Coroutine[Any, Any, Any]], then: Then) -> EngineJob:
        """Run the coroutine that `work` makes, and call `then` with its outcome on this thread."""
        job = EngineJob(self)
        self.call(self._begin, work, then, job)
        return job

    def post(self, function: Callable[..., object], *args: object) -> None:
        """Call a function on the main thread soon; may be used from any thread."""
        self._posted.emit(function, args)

    def poster(self, owner: QObject, tell: Callable[..., object]) -> Callable[..., None]:
        """Wrap `tell` so that it is called on the main thread, in order, while `owner` exists. A
        method does not keep its object alive: what the engine watches outlives windows."""
        there = weakref.ref(owner)
        method = weakref.WeakMethod(tell) if isinstance(tell, MethodType) else lambda: tell

        def call(*args: object) -> None:
            told, existing = method(), there()
            if told and existing is not None and isValid(existing):
                told(*args)

        return partial(self.post, call)

    async def cancel_all(self) -> None:
        """Cancel all jobs and wait until they have ended; runs on the engine."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self, timeout: float) -> bool:
        """Cancel all work, stop the loop and join its threads. Return False if a thread did not
        end within `timeout` seconds."""
        latest = time.monotonic() + timeout
        if self._thread.is_alive():
            self.call(self._loop.stop)
            self._thread.join(timeout)
        elif not self._loop.is_closed():
            self._loop.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        helpers = [item for item in threading.enumerate() if item.name.startswith("engine-pool")]
        for helper in helpers:
            helper.join(max(0.0, latest - time.monotonic()))
        return not any(item.is_alive() for item in (self._thread, *helpers))

    def _begin(
        self, work: Callable[[], Coroutine[Any, Any, Any]], then: Then, job: EngineJob
    ) -> None:
        job.task = self._loop.create_task(work())
        self._tasks.add(job.task)
        job.task.add_done_callback(partial(self._settled, then))

    def _settled(self, then: Then, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            self.post(then, Outcome(cancelled=True))
            return
        error = task.exception()
        if error is None:
            self.post(then, Outcome(task.result()))
        elif isinstance(error, JarvisError):
            self.post(then, Outcome(error=error))
        else:
            log.error("Something on the engine thread failed unexpectedly", exc_info=error)
            self.post(then, Outcome(error=unexpected()))

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            pending = asyncio.all_tasks(self._loop)
            for task in pending:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    @Slot(object, object)
    def _deliver(self, function: Callable[..., object], args: tuple[object, ...]) -> None:
        if not _is_gone(function):
            function(*args)


def _is_gone(function: Callable[..., object]) -> bool:
    """Whether a call would touch a deleted QObject: the one whose method it is, or one in its
    closure."""
    held = [getattr(function, "__self__", None)]
    held += [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return any(isinstance(item, QObject) and not isValid(item) for item in held)


def while_there(owner: QObject, tell: Callable[..., object]) -> Callable[..., None]:
    """Wrap `tell` so that it does nothing once `owner` is deleted. Work on the engine outlives
    windows."""

    def call(*args: object) -> None:
        if isValid(owner):
            with suppress(RuntimeError):  # it went at this moment
                tell(*args)

    return call


@dataclass(eq=False)
class EngineQuestion:
    """A question of the engine to the user.

    The subject of the question besides its text: a plan to run, the plan of a goal and
    `why` it was made, or code. `open_ended` asks for words instead of yes or no, and `yes` names
    what a Yes does.
    """

    engine: EngineThread
    text: str
    _: KW_ONLY
    plan: Plan | None = None
    outline: Outline | None = None
    why: str = ""
    code: CodeRequest | None = None
    open_ended: bool = False
    yes: str = ""

    def __post_init__(self) -> None:
        self._answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def answer(self, value: bool | str | Plan | Review | Verdict | None) -> None:
        """Answer from the main thread. Only the first answer counts; None is ignored."""
        self.engine.call(self._settle, value)

    async def answered(self) -> Any:
        """Wait for the answer; called on the engine."""
        return await self._answer

    def _settle(self, value: object) -> None:
        if not self._answer.done():
            self._answer.set_result(value)


class QtFrontend(QObject):
    """Shows one turn in the window: its events and questions arrive there as signals."""

    happened = Signal(object)
    """Carries an Event."""
    asked = Signal(object)
    """Carries a Question."""
    withdrawn = Signal(object)
    """Carries the Question that needs no answer any more."""

    def __init__(
        self, engine: EngineThread, *, ask: Ask = "never", parent: QObject | None = None
    ) -> None:
        """`ask` says which plans are shown before they run."""
        super().__init__(parent)
        self._engine = engine
        self._ask = ask
        self._printed: list[str] = []
        self._printing = 0
        self._later: asyncio.TimerHandle | None = None

    def show(self, event: Event) -> None:
        """Pass an event to the main thread; called on the engine's loop.

        The output of a script is collected: folding thousands of lines a second into the turn one
        by one would be slow.
        """
        if not isinstance(event, RoundProgress):
            self._hand_over()
            self._emit(event)
            return
        if event.number != self._printing:
            self._hand_over()
        self._printing = event.number
        self._printed.append(event.text)
        if self._later is None:
            loop = asyncio.get_running_loop()
            self._later = loop.call_later(BUNDLED, self._hand_over)

    def _hand_over(self) -> None:
        """Emit the output collected so far."""
        if self._later:
            self._later.cancel()
            self._later = None
        if self._printed:
            text = "".join(self._printed)[-MAX_PRINTED_CHARS:]
            self._printed = []
            self._emit(RoundProgress(self._printing, text))

    def _emit(self, event: Event) -> None:
        while_there(self, lambda: self.happened.emit(event))()

    async def review(self, plan: Plan) -> Plan | None:
        """Return the plan at once, or as the user left it if they want to see it first."""
        if not is_asked_about(plan, self._ask):
            return plan
        answer = await self._put(tr("Run this plan?"), plan=plan)
        return answer if isinstance(answer, Plan) else plan if answer else None

    async def confirm(self, question: str, *, yes: str = "") -> bool:
        """Ask for yes or no. A closed window means no."""
        return bool(await self._put(question, yes=yes))

    async def ask(self, question: str) -> str:
        """Ask for words."""
        return str(await self._put(question, open_ended=True) or "")

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Show the plan of a goal. A closed window means that no plan is accepted."""
        answer = await self._put(tr("Run this plan?"), outline=outline, why=why)
        return answer if isinstance(answer, Review) else None

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Show code. A closed window means no."""
        keep, run = tr("Keep this function in the code library?"), tr("Run this code?")
        text = keep if code.saves else run
        answer = await self._put(text, code=code)
        return answer if isinstance(answer, Verdict) else Verdict(Allow.NO, code.source)

    async def _put(self, text: str, **about: Any) -> Any:
        question = EngineQuestion(self._engine, text, **about)
        self._hand_over()
        self.asked.emit(question)
        try:
            return await question.answered()
        finally:
            self.withdrawn.emit(question)
