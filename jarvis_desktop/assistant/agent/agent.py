"""The front of agent mode: works on a goal from its first words, or resumes it after a cut-off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.code_loop import outline_for
from jarvis_desktop.assistant.agent.goal_run import GoalRun, preview
from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.core.context import Urgency, urgency
from jarvis_desktop.core.errors import JarvisError, StorageError, UnavailableError
from jarvis_desktop.core.events import Event, GoalTaken, OutlineChanged, RoundEnded, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, GoalLimits, GoalMemory, LogEntry, Terms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Ability, LLMs
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.turn import OUTERMOST

if TYPE_CHECKING:
    from jarvis_desktop.assistant.agent.code_loop import CodeLoop
    from jarvis_desktop.assistant.agent.controller import Controller
    from jarvis_desktop.assistant.agent.outline_writer import OutlineWriter


@dataclass(eq=False, kw_only=True)
class Agent:
    """Works on goals, each as one turn.

    `code_loop` works with LLMs that do not write plans. `close` ends what runs for a goal by
    its id. `advice` names an LLM that would do.
    """

    llms: LLMs
    memory: GoalMemory
    writer: OutlineWriter
    controller: Controller
    code_loop: CodeLoop
    approvals: Approvals
    limits: GoalLimits
    close: Callable[[str], Awaitable[None]]
    advice: Callable[[], Awaitable[str]]
    now: Callable[[], datetime]

    def __post_init__(self) -> None:
        self._runs: dict[str, GoalRun] = {}

    async def take(
        self, text: str, terms: Terms, context: Context, live: LiveTurn, *, conversation: str
    ) -> Status:
        """Work on a new goal and return its status. Raises UnavailableError, naming an LLM that
        would do, if there is no LLM."""
        await self.check()
        live.show(GoalTaken())
        goal = Goal(live.turn.id, conversation, text, terms, live.turn.started)
        self.memory.begin(goal, [ControllerFrame(OUTERMOST, text)])
        return await self._reach(goal, (), context, live)

    async def go_on(self, context: Context, live: LiveTurn, *, conversation: str) -> Status:
        """Resume the goal of a turn that was cut off. Finished rounds are not repeated."""
        await self.check()
        turn = live.turn
        goal = self.memory.goal(turn.id)
        if goal is None:  # it was cut off before it was saved
            goal = Goal(turn.id, conversation, turn.text, Terms(), turn.started)
            self.memory.begin(goal, [ControllerFrame(OUTERMOST, turn.text)])
        return await self._reach(goal, self.memory.log(goal.id), context, live)

    def replay(self, goal_id: str) -> Iterator[Event]:
        """Yield what happened in the rounds of a goal, to show it from its beginning."""
        for entry in self.memory.log(goal_id):
            yield RoundStarted(entry.number, entry.path, entry.branch, entry.what, entry.code)
            yield RoundEnded(
                entry.number,
                entry.status,
                preview(entry.observation),
                entry.artifacts,
                entry.code,
                entry.seconds,
            )
        path: list[str] = []
        for frame in self.memory.frames(goal_id):
            path.append(frame.role)
            if frame.outline is not None:
                yield OutlineChanged(frame.outline, "/".join(path))

    def give_up(self, goal_id: str) -> None:
        """Cancel the goal of a turn that was cut off. Raises StorageError."""
        goal = self.memory.goal(goal_id)
        if goal is not None and goal.status is None:
            self.memory.end(goal_id, Status.CANCELLED, "")

    def stop(self, goal_id: str = "") -> bool:
        """Stop the running branch of a goal, by default of all, so that its caller hears what the
        user says. Return False if none runs, or the user was already asked: then the turn itself
        should end."""
        runs = [run for run in self._runs.values() if goal_id in ("", run.goal.id)]
        stopped = [run.interrupts.stop() for run in runs]
        return any(stopped)

    async def check(self) -> None:
        """Raise UnavailableError, naming an LLM that would do, if there is no LLM."""
        if await self.llms.current() is None:
            raise UnavailableError(
                tr("A goal in several steps needs a language model, and there is none now."),
                hint=await self.advice(),
            )

    async def _reach(
        self, goal: Goal, log: Sequence[LogEntry], context: Context, live: LiveTurn
    ) -> Status:
        run = GoalRun(
            goal,
            # Frames that cannot be read are replaced, and count as having read foreign text.
            self.memory.frames(goal.id) or [ControllerFrame(OUTERMOST, goal.text, tainted=True)],
            live=live,
            context=context,
            memory=self.memory,
            limits=self.limits,
            now=self.now,
            log=log,
        )
        self._runs[goal.id] = run
        status, answer = Status.FAILED, ""
        try:
            with urgency(Urgency.GOAL):
                status = await self._work(run)
            answer = live.turn.reply
        except asyncio.CancelledError:
            status = Status.CANCELLED
            raise
        except JarvisError as error:
            answer = str(error)
            raise
        finally:
            del self._runs[goal.id]
            self.approvals.forget(goal.id)
            with suppress(StorageError):  # saving the turn reports the reason
                self.memory.end(goal.id, status, answer)
            await self.close(goal.id)
        return status

    async def _work(self, run: GoalRun) -> Status:
        small = await self._is_small(run)
        if run.frames[0].outline is None:
            draft = outline_for(run.goal.text, self.code_loop.given(run)) if small else None
            if await self.writer.first(run, draft) is None:
                run.live.say(tr("The plan was not accepted, so nothing was done."))
                return Status.CANCELLED
        if small:
            observation = await self.code_loop.run(run)
        else:
            observation = await self.controller.run(run, 0)
        if not run.live.turn.reply:
            run.live.say(observation.text)
        return observation.status

    async def _is_small(self, run: GoalRun) -> bool:
        """Whether the LLM is too small for the controller. A goal that the controller has begun
        stays its own."""
        llm = await self.llms.current()
        started = len(run.frames) > 1 or any(entry.path != OUTERMOST for entry in run.log)
        small = llm is not None and llm.ability is not Ability.FULL_PLANS
        return small and not started
