"""The work on one goal: its memory, its turn, the stack of controllers, and its artifacts by name.

A stop ends the running branch, and control returns to its caller with what the user says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.assistant.planning.inputs import name_resources
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts
from jarvis_desktop.assistant.prompts import cut_middle
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import Function, Library
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import RoundEnded, RoundProgress, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, GoalLimits, GoalMemory, LogEntry
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Context, Resource

T = TypeVar("T")


class StoppedError(Exception):
    """The user stopped the running branch."""

    def __init__(self, result: Any = None) -> None:
        """`result` is what the branch returned, if it ended at that very moment."""
        super().__init__("stopped")
        self.result = result


class Interrupts:
    """The running branches, the innermost last.

    An inner controller runs inside the branch that called it; while it thinks, that branch is the
    innermost. The thinking of the outermost controller counts as a branch.
    """

    def __init__(self) -> None:
        self._branches: list[asyncio.Task[Any]] = []
        self._stopped: asyncio.Task[Any] | None = None

    def stop(self) -> bool:
        """Cancel the innermost branch. Called on the event loop. Return False if none runs, or one
        was stopped and the user was not heard yet: then the turn should end."""
        if self._stopped or not self._branches:
            return False
        self._stopped = self._branches[-1]
        self._stopped.cancel()
        return True

    def heard(self) -> None:
        """Note that the user was heard: the next stop is for the branch that runs then."""
        self._stopped = None

    async def branch(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a branch's work. Raises StoppedError if it was stopped as the innermost one. Then
        call `heard` once the user was asked."""
        task = asyncio.create_task(work)
        self._branches.append(task)
        try:
            result = await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            # If this task is cancelled as well, the turn ends.
            if task is self._stopped and own and not own.cancelling():
                raise StoppedError from None
            raise
        except BaseException:
            if task is self._stopped:  # it failed at that very moment
                raise StoppedError from None
            raise
        finally:
            self._branches.remove(task)
        if task is self._stopped:
            raise StoppedError(result)
        return result


WORK_SECONDS_KEY = "seconds of work"
"""Key in the outermost frame: how long the goal was worked on."""
ANSWERS_KEY = "what the person said"
"""Key in the outermost frame: the user's answers, the only words nobody else can write."""
MAX_ANSWER_CHARS = 600
MAX_ANSWERS = 30


MAX_OBSERVATION_CHARS = 20_000
"""Characters of an observation; the middle of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that is not over."""

    number: int
    depth: int
    branch: str
    what: str
    began: float
    """In seconds of work on the goal."""


class GoalRun:
    """The work on one goal. Every change is saved before anything builds on it."""

    def __init__(
        self,
        goal: Goal,
        frames: Sequence[ControllerFrame],
        *,
        live: LiveTurn,
        context: Context,
        memory: GoalMemory,
        limits: GoalLimits,
        now: Callable[[], datetime],
        log: Sequence[LogEntry] = (),
    ) -> None:
        """`frames` and `log` are as in the memory, which already knows the goal."""
        self.goal = goal
        self.live = live
        self.context = context
        """What the user gave and said; what was made later is in `made`."""
        self.memory = memory
        self.limits = limits
        self.now = now
        self.interrupts = Interrupts()
        self.frames = list(frames)
        self.log = sorted(log, key=lambda entry: entry.number)
        """Every round of all controllers."""
        # A round ends after those of the controllers it called, whatever their numbers.
        ended = sorted(self.log, key=lambda entry: entry.at)
        self.made: list[Artifact] = [item for entry in ended for item in entry.artifacts]
        """What rounds made, oldest first."""
        self.number = self._highest = max((entry.number for entry in self.log), default=0)
        """Number of the running or last round."""
        self.earlier: tuple[str, ...] | None = None
        """Similar goals in words, once they were looked up."""
        self.inner = 0
        """The depth of the innermost controller at work, the one of the running branch. After a
        crash, the frames of the controllers that it called exist as well."""
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time() - live.waited
        self._before = float(frames[0].kept.get(WORK_SECONDS_KEY, 0)) if frames else 0.0

    def path(self, depth: int) -> str:
        """Return whose round it is at a depth of the stack: "assistant/coder"."""
        return "/".join(frame.role for frame in self.frames[: depth + 1])

    def change(self, depth: int, **fields: Any) -> ControllerFrame:
        """Change the frame at a depth, and save it."""
        self.frames[depth] = replace(self.frames[depth], **fields)
        self._keep()
        return self.frames[depth]

    def remember(self, depth: int, **values: str) -> ControllerFrame:
        """Save values for a branch across rounds in the frame; "" removes one."""
        kept = {**self.frames[depth].kept, **values}
        return self.change(depth, kept={key: value for key, value in kept.items() if value})

    def add_notices(self, depth: int, *sentences: str) -> ControllerFrame:
        """Add sentences to the next prompt of the controller at a depth. Trusted text only."""
        return self.change(depth, notices=(*self.frames[depth].notices, *sentences))

    def record_answer(self, question: str, answer: str) -> None:
        """Save what the user answered, for all prompts of this goal."""
        line = f"- On “{one_line(question, limit=120)}”: {one_line(answer, limit=MAX_ANSWER_CHARS)}"
        self.remember(0, **{ANSWERS_KEY: "\n".join([*self.answers, line][-MAX_ANSWERS:])})

    @property
    def answers(self) -> Sequence[str]:
        """What the user answered so far, one line each, oldest first."""
        return self.frames[0].kept.get(ANSWERS_KEY, "").splitlines()

    def spend(self, depth: int, tokens: int) -> None:
        """Count the tokens of a prompt or an answer; saved with the next change."""
        frame = self.frames[depth]
        self.frames[depth] = replace(frame, tokens=frame.tokens + tokens)

    def begin_round(self) -> int:
        """Return the number of a new round."""
        self._highest += 1
        self.number = self._highest
        return self.number

    def open_round(self, depth: int, branch: str, what: str, code: str = "") -> OpenRound:
        """Begin a round, and show it."""
        number = self.begin_round()
        self.live.show(RoundStarted(number, self.path(depth), branch, what, code))
        return OpenRound(number, depth, branch, what, self.seconds)

    def entry_of(
        self, now: OpenRound, status: Status, text: str, artifacts: tuple[Artifact, ...], code: str
    ) -> LogEntry:
        """Return what the log says of a round that ends now."""
        return LogEntry(
            now.number,
            self.path(now.depth),
            now.branch,
            now.what,
            status,
            cut_middle(text, MAX_OBSERVATION_CHARS),
            self.now(),
            artifacts,
            code,
            round(max(self.seconds - now.began, 0.0), 3),
        )

    def close_round(self, now: OpenRound, entry: LogEntry, text: str, **fields: Any) -> None:
        """Save what a round did, together with its frame, and show it; `text` is not cut yet."""
        self.end_round(now.depth, entry, **fields)
        self.live.show(
            RoundEnded(
                now.number,
                entry.status,
                preview(text),
                entry.artifacts,
                entry.code,
                entry.seconds,
            )
        )

    async def ask_what_to_change(self, what: str) -> str:
        """Ask the user, who stopped something, what should be different; "" if they do not say."""
        question = tr("Stopped: {what}. What should change?", what=one_line(what).rstrip(" .?!"))
        said = printable(await self.live.ask(question)).strip()
        self.interrupts.heard()
        if said:
            self.record_answer(question, said)
        return said

    def push(self, depth: int, frame: ControllerFrame) -> None:
        """Start a controller that the one at a depth calls, in place of any other."""
        self.drop_called(depth)
        self.frames.append(frame)
        self._keep()

    def drop_called(self, depth: int) -> None:
        """Remove the controllers that the one at a depth called, saved with the next change. What
        they spent and read counts for it."""
        frame, *called = self.frames[depth:]
        tokens = sum(each.tokens for each in (frame, *called))
        tainted = any(each.tainted for each in (frame, *called))
        self.frames[depth:] = [replace(frame, tokens=tokens, tainted=tainted)]

    def end_round(self, depth: int, entry: LogEntry, **fields: Any) -> None:
        """Save what a round did, together with its frame, and remove the controllers it called."""
        self.drop_called(depth)
        frame = replace(self.frames[depth], **fields)
        tainted = frame.tainted or self.frames[depth].tainted
        self.frames[depth] = replace(frame, rounds=frame.rounds + 1, tainted=tainted)
        self.log.append(entry)
        self.made += entry.artifacts
        self._keep(entry)

    def done_by(self, depth: int) -> Sequence[LogEntry]:
        """Return what the controller at a depth did since it was called, oldest first."""
        path, rounds = self.path(depth), self.frames[depth].rounds
        own = [entry for entry in self.log if entry.path == path]
        return sorted(own, key=lambda entry: entry.number)[len(own) - min(rounds, len(own)) :]

    def progress_reporter(self) -> Callable[[str], None]:
        """Return a function that shows the progress of the current round."""
        number = self.number
        return lambda text: self.live.show(RoundProgress(number, printable(text)))

    @property
    def rounds(self) -> int:
        """How many rounds there were, of all controllers."""
        return len(self.log)

    @property
    def tokens(self) -> int:
        """How many tokens everything took."""
        return sum(frame.tokens for frame in self.frames)

    @property
    def seconds(self) -> float:
        """How long the goal was worked on, without waiting for the user."""
        return self._before + self._loop.time() - self._since - self.live.waited

    @property
    def highest(self) -> int:
        """The highest round number so far."""
        return self._highest

    def _keep(self, *entries: LogEntry) -> None:
        kept = {**self.frames[0].kept, WORK_SECONDS_KEY: f"{self.seconds:.1f}"}
        self.frames[0] = replace(self.frames[0], kept=kept)
        self.memory.keep(self.goal.id, self.frames, entries)


_plain = re.compile(r"[\w.()-]{1,32}(?: \(?\d{1,4}\)?)?")
"""Names that do not read as words: "prices_2025.csv", "cat.png (2)", "text 3"."""

MAX_PREVIEW_CHARS = 2_000
"""Characters of an observation that the user sees."""
MAX_LISTED = 20
"""Names that an error lists, the newest ones."""


def available_artifacts(run: GoalRun, also: Iterable[Artifact] = ()) -> Mapping[str, Artifact]:
    """Return all files and results by name, including those in `also`.

    The user's files come first, then those that were made, those from before the goal, and texts;
    each oldest first. A file keeps its own name, a text is "text 2". Names never change within a
    goal.
    """
    return dict(_named(run, also))


def is_foreign_name(name: str, words: str) -> bool:
    """Return whether a name may be somebody else's instruction. That is a name that is more than a
    plain one and not in the user's `words`."""
    return name not in words and not _plain.fullmatch(name)


async def search_functions(
    run: GoalRun, library: Library, words: str, most: int
) -> Sequence[Function]:
    """Return the library functions closest to the words; () with a trace if that fails."""
    try:
        return await asyncio.to_thread(library.search, words, most)
    except JarvisError as error:
        run.live.trace(f"The code library could not be searched: {error.message}")
        return ()


def resolve_names(run: GoalRun, names: Sequence[str]) -> dict[str, Artifact]:
    """Return what these names of `available_artifacts` mean, each artifact once. Raises InputError,
    listing what there is, if a name means nothing."""
    everything = _named(run)
    by_artifact = {artifact: name for name, artifact in everything}
    found: dict[str, Artifact] = {}
    for name in names:
        artifact = everything.find(name, Kind)
        if artifact is None:
            there = [f"“{one_line(item)}”" for item in by_artifact.values()][-MAX_LISTED:]
            raise InputError(
                tr("There is nothing called “{name}”.", name=one_line(name)),
                hint=tr("There is: {there}.", there=", ".join(there))
                if there
                else tr("There is nothing at hand yet."),
            )
        found[by_artifact[artifact]] = artifact
    return found


def planner_context(run: GoalRun, uses: Mapping[str, Artifact]) -> Context:
    """Return what a planner may know about a goal.

    What should be used, or else what the user gave, is attached; everything else can be mentioned
    by name. What was said before the goal is left out.
    """
    everything = available_artifacts(run)
    given, made = set(run.context.attachments), set(run.made)
    wanted = uses or {name: item for name, item in everything.items() if item in given}
    # A plan uses the own name of what is attached: so a text gets one, and a file that shares
    # its name with another is mentioned instead.
    attached = {
        name: item if item.path else replace(item, name=name)
        for name, item in wanted.items()
        if item.path is None or name == one_line(item.title)
    }
    rest = [
        Resource(name, item, given=item not in made)
        for name, item in everything.items()
        if name not in attached
    ]
    return replace(
        run.context,
        attachments=tuple(attached.values()),
        resources=tuple(rest),
        conversation=None,
        summary="",
    )


def _named(run: GoalRun, also: Iterable[Artifact] = ()) -> NamedArtifacts:
    made = (*run.made, *also)
    before = [replace(item, name="") for item in run.context.resources]
    numbered = name_resources([*before, *(Resource("", item, given=False) for item in made)])
    files = (*run.context.attachments, *(item for item in made if item.path))
    return NamedArtifacts(replace(run.context, attachments=files, resources=numbered))


def preview(observation: str) -> str:
    """Return what the user sees of an observation."""
    return printable(cut_middle(observation, MAX_PREVIEW_CHARS))
