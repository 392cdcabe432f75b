"""What one goal may take before the person is asked whether it is to go on."""

from __future__ import annotations

from jarvis_desktop.assistant.agent.desk import Desk

GRANTED = "times granted"
"""Where the outermost frame keeps how often the person said yes."""


def used_up(desk: Desk) -> str:
    """What of its limits the goal has taken, in words; "" where there is some of all left."""
    limits, times = desk.limits, 1 + _granted(desk)
    if desk.rounds >= limits.rounds * times:
        return f"its {_counted(limits.rounds * times, 'round')}"
    if desk.seconds >= limits.seconds * times:
        minutes = round(limits.seconds * times / 60)
        return f"its {_counted(minutes, 'minute')} of work" if minutes else "its time"
    if desk.tokens >= limits.tokens * times:
        return f"its {_counted(limits.tokens * times, 'token')} of the language model"
    return ""


async def may_go_on(desk: Desk, what: str) -> bool:
    """Whether the person grants the goal as much again. A No is not asked for a second time."""
    question = f"The goal has taken {what}. Go on with as much again?"
    agreed = await desk.live.confirm(question, by_voice=True)
    if agreed:
        desk.remember(0, **{GRANTED: str(_granted(desk) + 1)})
    return agreed


def _granted(desk: Desk) -> int:
    return int(desk.frames[0].kept.get(GRANTED, 0))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
