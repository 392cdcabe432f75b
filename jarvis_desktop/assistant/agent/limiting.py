"""What one goal may take before the person is asked whether it is to go on."""

from __future__ import annotations

from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.core.wording import tr, trn

GRANTED = "times granted"
"""Where the outermost frame keeps how often the person said yes."""


def used_up(desk: Desk) -> str:
    """What of its limits the goal has taken, in words; "" where there is some of all left."""
    limits, times = desk.limits, 1 + _granted(desk)
    if desk.rounds >= limits.rounds * times:
        return trn("its {count} round", "its {count} rounds", limits.rounds * times)
    if desk.seconds >= limits.seconds * times:
        minutes = round(limits.seconds * times / 60)
        if not minutes:
            return tr("its time")
        return trn("its {count} minute of work", "its {count} minutes of work", minutes)
    if desk.tokens >= limits.tokens * times:
        return trn(
            "its {count} token of the language model",
            "its {count} tokens of the language model",
            limits.tokens * times,
        )
    return ""


async def may_go_on(desk: Desk, what: str) -> bool:
    """Whether the person grants the goal as much again. A No is not asked for a second time."""
    question = tr("The goal has taken {what}. Go on with as much again?", what=what)
    agreed = await desk.live.confirm(question, by_voice=True)
    if agreed:
        desk.remember(0, **{GRANTED: str(_granted(desk) + 1)})
    return agreed


def _granted(desk: Desk) -> int:
    return int(desk.frames[0].kept.get(GRANTED, 0))
