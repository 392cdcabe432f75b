"""The one controller of all roles: it picks a branch each round, until one ends its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from jarvis_desktop.assistant.agent import stop_conditions
from jarvis_desktop.assistant.agent.action_parser import choose, describe_choice
from jarvis_desktop.assistant.agent.goal_run import GoalRun, OpenRound, StoppedError
from jarvis_desktop.assistant.agent.prompt import (
    GIVE_UP,
    TRUSTED_KEY,
    ControllerPrompt,
    PromptWriter,
    available_branches,
    format_answer,
    summarize_rounds,
)
from jarvis_desktop.assistant.agent.roles import AgentRole, BranchRunner, Observation, failure
from jarvis_desktop.assistant.agent.stop_conditions import THINK, given_up
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.code import Library
from jarvis_desktop.core.errors import JarvisError, PlanError, UnavailableError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, ControllerFrame, Outline
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import LLMs

ENDED_KEY = "ended"
"""Key in a frame: a branch ended its work, and its caller does not know yet."""
THINKING = mark("Thinking about the next step")
STALLED_TEMPERATURE = 0.5
"""The temperature once rounds make no progress, so that the same prompt gives another answer."""


class Controller:
    """Works for every role; what a role can do, and its prompts, are data."""

    def __init__(
        self,
        roles: Mapping[str, AgentRole],
        branches: Mapping[str, BranchRunner],
        *,
        llms: LLMs,
        prompts: Prompts,
        library: Library,
        first: Callable[[GoalRun], Awaitable[Outline | None]] | None = None,
        timeout: float = 600.0,
    ) -> None:
        """`branches` maps the branch names of roles to what runs them. `first` writes the first
        plan of an inner controller, the one at `run.inner`. `timeout`, in seconds, is for one
        answer of the LLM."""
        self._roles = roles
        self._branches = branches
        self._llms = llms
        self._prompts = prompts
        self._briefing = PromptWriter(prompts, library)
        self._first = first
        self._timeout = timeout

    async def run(self, run: GoalRun, depth: int) -> Observation:
        """Run the frame at `depth` until a branch ends it, and return that observation.

        The user has seen what the outermost one returns. Raises StorageError if the memory cannot
        be written.
        """
        run.inner = depth
        ended = _saved_ending(run, depth)
        frame = run.frames[depth]
        unplanned = not (frame.outline or frame.rounds) and self._roles[frame.role].writes
        if ended is None and depth and self._first and unplanned:
            await self._first(run)
        while ended is None:
            ended = await self._round(run, depth)
        return ended

    async def call(self, run: GoalRun, role: str, task: str) -> Observation:
        """Let an inner controller do a task, or resume one that was cut off. Its observation does
        not end the caller's work."""
        outer, number = run.inner, run.number
        depth = outer + 1
        there = [(frame.role, frame.task) for frame in run.frames[depth : depth + 1]]
        if there != [(role, task)]:
            tainted = run.frames[outer].tainted
            run.push(outer, ControllerFrame(role, task, summed=run.highest, tainted=tainted))
        try:
            observation = await self.run(run, depth)
        finally:
            run.inner, run.number = outer, number
        # From now on, the caller acts on what it read.
        tainted = run.frames[depth].tainted or run.frames[outer].tainted
        run.frames[outer] = replace(run.frames[outer], tainted=tainted)
        return replace(observation, ends=False, trusted=False)

    async def _round(self, run: GoalRun, depth: int) -> Observation | None:
        """Run one round. Return what ended the work, or None."""
        frame = run.frames[depth]
        role = self._roles[frame.role]
        if reason := await self._stop_reason(run, depth, role):
            return self._give_up(run, depth, reason)
        choice = frame.pending or await self._next(run, depth, available_branches(role, frame))
        return await self._carry_out(run, depth, choice) if choice else None

    async def _stop_reason(self, run: GoalRun, depth: int, role: AgentRole) -> str:
        """Return why there is no other round, in one sentence; "" if there is one."""
        frame = run.frames[depth]
        stall = stop_conditions.load_stall(frame.kept)
        if stall.over:
            return f"{stall.reason} {tr('Nobody said what to do instead.')}"
        if frame.rounds >= role.rounds:
            return tr(
                "The {role} has used its {rounds} rounds.", role=role.name, rounds=role.rounds
            )
        what = stop_conditions.exhausted_limit(run)
        if what and not await stop_conditions.ask_to_continue(run, what):
            return tr("The goal has used {what}.", what=what)
        return ""

    def _give_up(self, run: GoalRun, depth: int, reason: str) -> Observation:
        now = run.open_round(depth, GIVE_UP, reason)
        observation = given_up(run, depth, reason)
        if not depth:
            run.live.say_apart(observation.text)
        self._end(run, now, BranchChoice(GIVE_UP), observation)
        return observation

    async def _next(self, run: GoalRun, depth: int, role: AgentRole) -> BranchChoice | None:
        """Return the next choice, saved before it runs; None if there is none."""
        stall = stop_conditions.load_stall(run.frames[depth].kept)
        if stall.due:
            run.change(depth, pending=stall.forced)
            return stall.forced
        thinking = self._think(run, depth, role, warmer=stall.level > 0)
        try:
            # An inner controller thinks inside the branch that called it.
            thought = await (thinking if depth else run.interrupts.branch(thinking))
        except StoppedError:
            now = run.open_round(depth, THINK, tr(THINKING))
            self._end(run, now, BranchChoice(THINK), await self._ask_what_to_change(run, now))
        except JarvisError as error:
            unusable = isinstance(error, PlanError)
            what = "No usable answer" if unusable else "The language model failed"
            now = run.open_round(depth, THINK, tr(THINKING))
            failed = Observation(f"{what}: {error}", Status.FAILED)
            self._end(run, now, BranchChoice(THINK), failed)
        else:
            choice, brief = thought
            frame = run.frames[depth]
            run.change(
                depth,
                pending=choice,
                notices=frame.notices[brief.notices :],
                tainted=frame.tainted or brief.foreign,
            )
            return choice
        return None

    async def _think(
        self, run: GoalRun, depth: int, role: AgentRole, *, warmer: bool
    ) -> tuple[BranchChoice, ControllerPrompt]:
        llm = await self._llms.current()
        if llm is None:
            raise UnavailableError(
                tr("There is none now."), hint=tr("jarvis-desktop doctor says why.")
            )
        await summarize_rounds(run, depth, llm, self._prompts, timeout=self._timeout)
        brief = await self._briefing.brief(run, depth, role, llm)
        choice = await choose(
            llm,
            replace(brief.prompt, temperature=STALLED_TEMPERATURE) if warmer else brief.prompt,
            role,
            timeout=self._timeout,
            trace=run.live.trace,
            spend=partial(run.spend, depth),
        )
        return choice, brief

    async def _carry_out(
        self, run: GoalRun, depth: int, choice: BranchChoice
    ) -> Observation | None:
        """Run a choice. Return what ended the work, or None."""
        branch = self._roles[run.frames[depth].role].branch(choice.branch)
        what = describe_choice(branch, choice.args) if branch else ""
        code = choice.args.get("code", "")
        now = run.open_round(depth, choice.branch, what, code if isinstance(code, str) else "")
        try:
            observation = await run.interrupts.branch(self._done(run, choice))
        except StoppedError as stopped:
            run.number, run.inner = now.number, depth
            observation = await self._handle_stop(run, now, stopped.result)
        run.number, run.inner = now.number, depth
        self._end(run, now, choice, observation)
        return observation if observation.ends else None

    async def _done(self, run: GoalRun, choice: BranchChoice) -> Observation:
        running = self._branches.get(choice.branch)
        if running is None:
            return failure("There is no such branch here.")
        try:
            return await running(run, choice)
        except JarvisError as error:
            return Observation(str(error), Status.FAILED)

    async def _handle_stop(self, run: GoalRun, now: OpenRound, result: Any) -> Observation:
        """Return what a stopped branch gave, after hearing the user."""
        if isinstance(result, Observation) and result.ends:  # nothing is left to stop
            run.interrupts.heard()
            return result
        heard = await self._ask_what_to_change(run, now)
        return result if isinstance(result, Observation) else heard

    async def _ask_what_to_change(self, run: GoalRun, now: OpenRound) -> Observation:
        """Ask the user, who stopped something, what should be different."""
        before = run.frames[now.depth].notices
        doing = f"“{now.branch}”"
        # After a crash while the user thinks, what they stopped must not run again.
        run.drop_called(now.depth)
        run.change(now.depth, pending=None, notices=(*before, f"The person stopped {doing}."))
        said = await run.ask_what_to_change(now.what or now.branch)
        told = f"and said: {said}" if said else "and did not say why: go on in another way"
        run.change(now.depth, notices=(*before, f"The person stopped {doing} {told}"))
        return Observation(said or "The person stopped it.", Status.CANCELLED, trusted=True)

    def _end(
        self, run: GoalRun, now: OpenRound, choice: BranchChoice, observation: Observation
    ) -> None:
        """Save what a round did, and show it."""
        frame = run.frames[now.depth]
        entry = run.entry_of(
            now, observation.status, observation.text, observation.artifacts, observation.code
        )
        role = available_branches(self._roles[frame.role], frame)
        before = stop_conditions.load_stall(frame.kept)
        replans = role.branch("re_plan") is not None
        stall = stop_conditions.next_stall(
            before, [*run.done_by(now.depth), entry], replans=replans
        )
        kept = {
            **frame.kept,
            stop_conditions.STALL_KEY: stall.kept,
            ENDED_KEY: "yes" if observation.ends else "",
        }
        fields: dict[str, Any] = {}
        if choice.branch != THINK:  # keeps the last observation
            kept[TRUSTED_KEY] = "yes" if observation.trusted else ""
            fields["observation"] = entry.observation
            fields["last"] = format_answer(choice.why, choice.branch, choice.args)
            fields["tainted"] = frame.tainted or not observation.trusted
        if stall.level > before.level:
            fields["notices"] = (
                *frame.notices,
                f"{stall.reason} Take another branch, or other arguments; else the person is "
                "asked.",
            )
        fields["kept"] = {key: value for key, value in kept.items() if value}
        run.close_round(now, entry, observation.text, pending=None, **fields)


def _saved_ending(run: GoalRun, depth: int) -> Observation | None:
    """Return what ended the work before a crash, if its caller does not know yet."""
    frame, done = run.frames[depth], run.done_by(depth)
    if not (frame.kept.get(ENDED_KEY) and done):
        return None
    last = done[-1]
    if not depth:
        run.live.say_apart(frame.observation)
    trusted = bool(frame.kept.get(TRUSTED_KEY))
    return Observation(frame.observation, last.status, last.artifacts, trusted=trusted, ends=True)
