"""A goal of a plan and one run of code, for a terminal of its own; what an LLM would say and the
sandbox would do is played."""

from __future__ import annotations

import sys

from jarvis_desktop.assistant.agent.goal_run import Interrupts, StoppedError
from jarvis_desktop.cli import session
from jarvis_desktop.core.code import CodeRequest
from jarvis_desktop.core.events import GoalTaken, OutlineChanged, RoundEnded, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import outline_from_markdown
from jarvis_desktop.core.ports import Frontend
from jarvis_desktop.core.turn import Turn
from tests.cli.house import NONE, House, turn


def main() -> int:
    """The command line over it."""
    house, interrupts = House(), Interrupts()

    async def play(frontend: Frontend) -> Turn:
        frontend.show(GoalTaken())
        review = await frontend.review_outline(outline_from_markdown("1. Fetch\n2. Plot"), "")
        if review is None:
            return turn(status=Status.CANCELLED)
        frontend.show(OutlineChanged(review.outline))
        frontend.show(RoundStarted(1, "assistant/coder", "run_code", "plot"))
        code = CodeRequest("plot()\n", "Plot the prices.", NONE)
        try:
            verdict = await interrupts.branch(frontend.review_code(code))
            said = f"{verdict.allow.value} {verdict.comment}".strip()
        except StoppedError:
            said = await frontend.ask("What should be different?")
            interrupts.heard()
        frontend.show(RoundEnded(1, Status.DONE, f"They said: {said}"))
        return turn()

    house.assistant.play, house.assistant.stop = play, interrupts.stop
    session.run = house.run
    return house(*sys.argv[1:])
