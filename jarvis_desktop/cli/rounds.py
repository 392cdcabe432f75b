"""What a terminal shows of agent mode: the plan as it changes, and round by round what is done."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import OUTERMOST

INDENT = " " * 8
MOST_PRINTED = 40
"""Lines that are shown of what one round prints."""
MOST_OBSERVED = 6
"""Lines that are shown of what came of it."""
WIDTH = 200
"""Characters of such a line."""
TOLD = {"ask_user", "intermediate_answer", "final_answer"}
"""Branches whose words stand in the terminal by themselves: questions and answers."""

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
        self._branches: dict[int, str] = {}
        self._begun: dict[int, str] = {}
        """By round, what it printed of a line that has no end yet."""
        self._printed: dict[int, list[str]] = {}

    def lines(self, event: RoundEvent) -> str:
        """What to show of it; "" where that is nothing."""
        match event:
            case events.GoalTaken():
                return "goal    worked on step by step; Ctrl-C stops a step, and twice all of it"
            case events.OutlineChanged():
                return "\n".join(self._outline(event))
            case events.RoundStarted():
                self._branches[event.number] = event.branch
                who = event.path.rpartition("/")[2]
                what = "" if event.branch in TOLD else one_line(event.what, limit=WIDTH)
                return f"round   {event.number} {who}: {event.branch}  {what}".rstrip()
            case events.RoundProgress():
                return "\n".join(self._progress(event.number, event.text))
            case events.RoundEnded():
                return "\n".join(self._ended(event))

    def _outline(self, event: events.OutlineChanged) -> list[str]:
        """The steps that are new or different since the plan was shown last."""
        if not event.accepted:  # it is shown where it is asked about
            return []
        before = self._outlines.get(event.path)
        self._outlines[event.path] = event.outline
        known = set(before) if before else set()
        told = [
            line
            for step, line in zip(event.outline, event.outline.markdown.split("\n"), strict=True)
            if step not in known
        ]
        who = "" if event.path == OUTERMOST else f"{event.path.rpartition('/')[2]}: "
        if event.why:
            told.insert(0, one_line(event.why, limit=2 * WIDTH))
        return [f"plan    {who}{line}" for line in told]

    def _progress(self, number: int, text: str) -> list[str]:
        *whole, rest = (self._begun.get(number, "") + text).split("\n")
        while len(rest) > WIDTH:
            whole.append(rest[:WIDTH])
            rest = rest[WIDTH:]
        self._begun[number] = rest
        return self._shown(number, whole)

    def _shown(self, number: int, lines: Sequence[str]) -> list[str]:
        printed = self._printed.setdefault(number, [])
        room = MOST_PRINTED - len(printed)
        fresh = [one_line(line, limit=WIDTH) for line in lines if line.strip()]
        printed += fresh[: max(room + 1, 0)]
        more = [f"{INDENT}…"] if room >= 0 and len(fresh) > room else []
        return [f"{INDENT}{line}" for line in fresh[: max(room, 0)]] + more

    def _ended(self, event: events.RoundEnded) -> list[str]:
        lines = self._shown(event.number, [self._begun.pop(event.number, "")])
        printed = set(self._printed.pop(event.number, ()))
        said = [one_line(line, limit=WIDTH) for line in event.observation.split("\n")]
        said = [line for line in said if line and line not in printed]
        if self._branches.pop(event.number, "") in TOLD:
            said = []
        first, *others = said or [""]
        lines.append(f"{event.status.value:7} {event.number} {first}".rstrip())
        lines += [INDENT + line for line in others[: MOST_OBSERVED - 1]]
        if len(others) >= MOST_OBSERVED:
            lines.append(f"{INDENT}…")
        return lines + [_file(item) for item in event.artifacts if item.path]


def _file(artifact: Artifact) -> str:
    return f"{INDENT}{artifact.title}: {artifact.path}"
