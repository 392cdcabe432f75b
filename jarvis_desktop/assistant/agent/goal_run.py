"""What all that work on one goal share: its memory, its turn, the stack of controllers.

Stop: the branch that runs ends, and control goes to its caller with what the person says.

What a goal has to work with, by the names that controllers, planners and code share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
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
from jarvis_desktop.core.events import RoundProgress
from jarvis_desktop.core.goal import ControllerFrame, Goal, GoalLimits, GoalMemory, LogEntry
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Context, Resource

T = TypeVar("T")


class StoppedError(Exception):
    """The person stopped the branch that ran."""

    def __init__(self, result: Any = None) -> None:
        """`result` is what the branch gave, where it was done at that very moment."""
        super().__init__("stopped")
        self.result = result


class Interrupts:
    """The branches under way, the innermost last.

    An inner controller runs within the branch that called it: while it thinks, that branch is the
    innermost. What the outermost controller thinks counts as a branch of its own.
    """

    def __init__(self) -> None:
        self._branches: list[asyncio.Task[Any]] = []
        self._stopped: asyncio.Task[Any] | None = None

    def stop(self) -> bool:
        """End the innermost branch; False where none runs, or one was stopped and the person has
        not been heard yet: then the turn itself is to end. Called on the event loop."""
        if self._stopped or not self._branches:
            return False
        self._stopped = self._branches[-1]
        self._stopped.cancel()
        return True

    def heard(self) -> None:
        """The person was heard: the next stop is for the branch that runs then."""
        self._stopped = None

    async def branch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do a branch's work. Raises StoppedError where it was stopped and was innermost; then
        `heard` is to be called once the person was asked."""
        task = asyncio.create_task(work)
        self._branches.append(task)
        try:
            result = await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            # Where this task is cancelled as well, it is the turn that ends.
            if task is self._stopped and own and not own.cancelling():
                raise StoppedError from None
            raise
        except BaseException:
            if task is self._stopped:  # it failed at the very moment
                raise StoppedError from None
            raise
        finally:
            self._branches.remove(task)
        if task is self._stopped:
            raise StoppedError(result)
        return result


WORK_SECONDS_KEY = "seconds of work"
"""Where the outermost frame keeps how long the goal was worked on."""
ANSWERS_KEY = "what the person said"
"""Where it keeps what the person answered: the only words of a log that no one else can have
written."""
MAX_ANSWER_CHARS = 600
MAX_ANSWERS = 30


class GoalRun:
    """The work on one goal. Every change of it is durable before anything builds on it."""

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
        """`frames` and `log` as the memory has them; the goal is begun there already."""
        self.goal = goal
        self.live = live
        self.context = context
        """What the person gave and said; what was made besides is `made`."""
        self.memory = memory
        self.limits = limits
        self.now = now
        self.interrupts = Interrupts()
        self.frames = list(frames)
        self.log = sorted(log, key=lambda entry: entry.number)
        """All that was done, of all controllers."""
        # A round ends after those of the controller that it called, whatever their numbers.
        ended = sorted(self.log, key=lambda entry: entry.at)
        self.made: list[Artifact] = [item for entry in ended for item in entry.artifacts]
        """What rounds made, oldest first."""
        self.number = self._highest = max((entry.number for entry in self.log), default=0)
        """Of the round that runs, or ran last."""
        self.earlier: tuple[str, ...] | None = None
        """Goals like this one, in words, once they were looked for."""
        self.inner = 0
        """The depth of the innermost controller at work: that of the branch that runs. After a
        crash the frames of those that were called by it are there as well."""
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time() - live.waited
        self._before = float(frames[0].kept.get(WORK_SECONDS_KEY, 0)) if frames else 0.0

    def path(self, depth: int) -> str:
        """Whose round it is at a depth of the stack: "assistant/coder"."""
        return "/".join(frame.role for frame in self.frames[: depth + 1])

    def change(self, depth: int, **fields: Any) -> ControllerFrame:
        """Change the frame at a depth, durably."""
        self.frames[depth] = replace(self.frames[depth], **fields)
        self._keep()
        return self.frames[depth]

    def remember(self, depth: int, **values: str) -> ControllerFrame:
        """Keep values for a branch across rounds, beside what else is kept in the frame; ""
        forgets one."""
        kept = {**self.frames[depth].kept, **values}
        return self.change(depth, kept={key: value for key, value in kept.items() if value})

    def tell(self, depth: int, *sentences: str) -> ControllerFrame:
        """What the controller at a depth must be told in its next prompt. Trusted text only."""
        return self.change(depth, notices=(*self.frames[depth].notices, *sentences))

    def heard(self, question: str, answer: str) -> None:
        """Keep what the person answered, for all prompts of this goal."""
        line = f"- On “{one_line(question, limit=120)}”: {one_line(answer, limit=MAX_ANSWER_CHARS)}"
        self.remember(0, **{ANSWERS_KEY: "\n".join([*self.said, line][-MAX_ANSWERS:])})

    @property
    def said(self) -> Sequence[str]:
        """What the person answered so far, a line each, oldest first."""
        return self.frames[0].kept.get(ANSWERS_KEY, "").splitlines()

    def spend(self, depth: int, tokens: int) -> None:
        """Count tokens of an LLM, of a prompt or of an answer; durable with the next change."""
        frame = self.frames[depth]
        self.frames[depth] = replace(frame, tokens=frame.tokens + tokens)

    def begin_round(self) -> int:
        """The number of a new round."""
        self._highest += 1
        self.number = self._highest
        return self.number

    def push(self, depth: int, frame: ControllerFrame) -> None:
        """Begin a controller that the one at a depth calls, in the place of any other."""
        self.drop_called(depth)
        self.frames.append(frame)
        self._keep()

    def drop_called(self, depth: int) -> None:
        """The controllers that the one at a depth called are gone, durably with the next change;
        what they spent and read counts for it."""
        frame, *called = self.frames[depth:]
        tokens = sum(each.tokens for each in (frame, *called))
        tainted = any(each.tainted for each in (frame, *called))
        self.frames[depth:] = [replace(frame, tokens=tokens, tainted=tainted)]

    def end_round(self, depth: int, entry: LogEntry, **fields: Any) -> None:
        """Write down what a round did, with its frame, in one go; whom it called is gone."""
        self.drop_called(depth)
        frame = replace(self.frames[depth], **fields)
        tainted = frame.tainted or self.frames[depth].tainted
        self.frames[depth] = replace(frame, rounds=frame.rounds + 1, tainted=tainted)
        self.log.append(entry)
        self.made += entry.artifacts
        self._keep(entry)

    def done_by(self, depth: int) -> Sequence[LogEntry]:
        """What the controller at a depth did since it was called, oldest first."""
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
        """How many tokens all of it took."""
        return sum(frame.tokens for frame in self.frames)

    @property
    def seconds(self) -> float:
        """How long the goal was worked on, without waiting for the person."""
        return self._before + self._loop.time() - self._since - self.live.waited

    @property
    def highest(self) -> int:
        """The highest number that a round was given so far."""
        return self._highest

    def _keep(self, *entries: LogEntry) -> None:
        kept = {**self.frames[0].kept, WORK_SECONDS_KEY: f"{self.seconds:.1f}"}
        self.frames[0] = replace(self.frames[0], kept=kept)
        self.memory.keep(self.goal.id, self.frames, entries)


_plain = re.compile(r"[\w.()-]{1,32}(?: \(?\d{1,4}\)?)?")
"""What does not read as words: "prices_2025.csv", "cat.png (2)", "text 3"."""

MAX_PREVIEW_CHARS = 2_000
"""Characters of an observation that the user sees."""
MAX_LISTED = 20
"""Names in the sentence that says which there are; the newest."""


def available_artifacts(run: GoalRun, also: Iterable[Artifact] = ()) -> Mapping[str, Artifact]:
    """All files and results by name, `also` what is being made: first the person's files, then
    those that were made, then what there was before the goal, and texts; each the oldest first.

    A file has its own name, a text is "text 2". What got a name keeps it for the whole goal.
    """
    return dict(_named(run, also))


def is_foreign_name(name: str, words: str) -> bool:
    """Whether a name may be an instruction of somebody else's: it is more than a plain one, and
    does not stand in the person's `words`."""
    return name not in words and not _plain.fullmatch(name)


async def search_functions(
    run: GoalRun, library: Library, words: str, most: int
) -> Sequence[Function]:
    """The functions of the library that are nearest to the words; () where it cannot be searched,
    and the trace says why."""
    try:
        return await asyncio.to_thread(library.search, words, most)
    except JarvisError as error:
        run.live.trace(f"The code library could not be searched: {error.message}")
        return ()


def resolve_names(run: GoalRun, names: Sequence[str]) -> dict[str, Artifact]:
    """What these names mean, by the names of `available_artifacts`; each thing once.

    Raises InputError, which says what there is, where one of them means nothing.
    """
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
    """What a planner may know: what is to be used, or else what the person gave, is attached; all
    the rest of the run can be spoken of by its name.

    What was said before the goal is left out: whoever asks speaks of the goal alone.
    """
    everything = available_artifacts(run)
    given, made = set(run.context.attachments), set(run.made)
    wanted = uses or {name: item for name, item in everything.items() if item in given}
    # A plan names what is attached by its own name: a text gets one, and a file that shares its
    # name with another is spoken of instead.
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
