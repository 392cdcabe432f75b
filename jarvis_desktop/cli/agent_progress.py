"""What a terminal shows of agent mode: the plan as it changes, and round by round what is done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline, changes
from jarvis_desktop.core.turn import OUTERMOST

INDENT = " " * 8
MOST_PRINTED = 40
"""Lines that are shown of what one round prints."""
MOST_OBSERVED = 6
"""Lines that are shown of what came of it."""
LAST_OBSERVED = 4
"""How many of these are its last ones, where the end tells more than the beginning."""
WIDTH = 200
"""Characters of such a line."""
TOLD = {"ask_user", "intermediate_answer", "final_answer"}
"""Branches whose words stand in the terminal by themselves: questions and answers."""
PLAIN = TOLD | {"update_plan", "finish"}
"""Branches of which nothing is to be said when they are done: all of it was shown."""

RoundEvent = (
    events.GoalTaken
    | events.OutlineChanged
    | events.RoundStarted
    | events.RoundProgress
    | events.RoundEnded
)


class Rounds:
    """The lines for the events of one goal, in the order in which they come."""

    def __init__(self) -> None:
        self._outlines: dict[str, Outline] = {}
        self._open: dict[int, _Open] = {}
        self._files: set[Path] = set()
        """Those whose places were told."""

    def accepted(self, outline: Outline) -> None:
        """The person has just read this plan and accepted it."""
        self._outlines[OUTERMOST] = outline

    def heard(self, words: str) -> None:
        """The person has just typed this."""
        self._seen(words.strip())

    def lines(self, event: RoundEvent) -> str:
        """What to show of it; "" where that is nothing."""
        match event:
            case events.GoalTaken():
                return "goal    worked on step by step; Ctrl-C stops a step, and twice all of it"
            case events.OutlineChanged():
                return "\n".join(self._outline(event))
            case events.RoundStarted():
                return self._started(event)
            case events.RoundProgress():
                return "\n".join(self._progress(event.number, event.text))
            case events.RoundEnded():
                return "\n".join(self._ended(event))

    def _seen(self, *lines: str) -> None:
        """This stands in the terminal now: what ends later need not say it again."""
        for each in self._open.values():
            each.seen.update(lines)

    def _outline(self, event: events.OutlineChanged) -> list[str]:
        """The steps that are new or different since the plan was shown last."""
        if not event.accepted:  # it is shown where it is asked about
            return []
        before = self._outlines.get(event.path)
        self._outlines[event.path] = event.outline
        if before == event.outline:
            return []
        known = set(before) if before else set()
        told = [
            line
            for step, line in zip(event.outline, event.outline.markdown.split("\n"), strict=True)
            if step not in known
        ]
        who = "" if event.path == OUTERMOST else f"{event.path.rpartition('/')[2]}: "
        # Where the steps say all that is different, words for it are too many.
        if event.why and not (told and event.why == " ".join(changes(before, event.outline))):
            told.insert(0, one_line(event.why, limit=2 * WIDTH))
        return [f"plan    {who}{line}" for line in told]

    def _started(self, event: events.RoundStarted) -> str:
        what = one_line(event.what, limit=WIDTH)
        if (
            event.code
            and what
            and one_line(event.code, limit=WIDTH).startswith(what.removesuffix("…"))
        ):
            what = f"a script of {len(event.code.strip().splitlines())} lines"
        self._seen(what)
        self._open[event.number] = _Open(event.branch, event.path == OUTERMOST, {what})
        shown = "" if event.branch in TOLD else what
        who = event.path.rpartition("/")[2]
        return f"round   {event.number} {who}: {event.branch}  {shown}".rstrip()

    def _progress(self, number: int, text: str) -> list[str]:
        running = self._open.setdefault(number, _Open())
        *whole, rest = (running.begun + text).split("\n")
        while len(rest) > WIDTH:
            whole.append(rest[:WIDTH])
            rest = rest[WIDTH:]
        running.begun = rest
        return _printed(running, whole)

    def _ended(self, event: events.RoundEnded) -> list[str]:
        ended = self._open.pop(event.number, None) or _Open()
        lines = _printed(ended, [ended.begun])
        said = [] if ended.was_told(event.status) else _fresh(event.observation, ended.seen)
        self._seen(*said)
        if said or event.status is not Status.DONE or ended.branch not in PLAIN:
            first, *others = said or [ended.branch]
            lines.append(f"{event.status.value:7} {event.number} {first}".rstrip())
            at_its_end = event.status is Status.FAILED or len(ended.printed) > MOST_PRINTED
            lines += [INDENT + line for line in _shortened(others, at_its_end=at_its_end)]
        files = {item.path: item for item in event.artifacts if item.path}
        lines += [_file(item) for path, item in files.items() if path not in self._files]
        self._files.update(files)
        return lines


@dataclass
class _Open:
    """A round that is not over."""

    branch: str = ""
    outermost: bool = False
    seen: set[str] = field(default_factory=set)
    """The lines that were shown since it began."""
    printed: list[str] = field(default_factory=list)
    begun: str = ""
    """What it printed of a line that has no end yet."""

    def was_told(self, status: Status) -> bool:
        """Whether what came of it stands in the terminal by itself."""
        if self.branch == "give_up":  # the answer says it
            return self.outermost
        told = TOLD | {"update_plan"}
        return self.branch in told and status is not Status.FAILED


def _printed(running: _Open, lines: Sequence[str]) -> list[str]:
    """What is shown of lines that a round prints."""
    room = MOST_PRINTED - len(running.printed)
    fresh = [one_line(line, limit=WIDTH) for line in lines if line.strip()]
    running.printed += fresh[: max(room + 1, 0)]
    running.seen.update(fresh[: max(room, 0)])
    more = [f"{INDENT}…"] if room >= 0 and len(fresh) > room else []
    return [f"{INDENT}{line}" for line in fresh[: max(room, 0)]] + more


def _fresh(observation: str, seen: Collection[str]) -> list[str]:
    """The lines of it that do not stand there already, and no heading of those that do."""
    lines = [one_line(line, limit=WIDTH) for line in observation.split("\n")]
    lines = [line for line in lines if line]
    return [
        line
        for line, after in zip_longest(lines, lines[1:])
        if line not in seen and not (line.endswith(":") and after in seen)
    ]


def _shortened(lines: Sequence[str], *, at_its_end: bool) -> list[str]:
    room = MOST_OBSERVED - 1
    if len(lines) <= room:
        return list(lines)
    if not at_its_end:
        return [*lines[:room], "…"]
    return [*lines[: room - LAST_OBSERVED], "…", *lines[-LAST_OBSERVED:]]


def _file(artifact: Artifact) -> str:
    return f"{INDENT}{artifact.title}: {artifact.path}"
