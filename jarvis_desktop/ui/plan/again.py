"""A plan that takes the place of that of a turn, or is carried out once more."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_desktop.core.frontend import Frontend
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.ports import Assistant


@dataclass(frozen=True, slots=True)
class Again:
    """What is run, and what of it is to be done afresh."""

    turn: Turn
    plan: Plan
    afresh: frozenset[int] = frozenset()

    async def carry_out(
        self, assistant: Assistant, frontend: Frontend, conversation: str | None
    ) -> Turn:
        """Run it, on the engine; the new turn."""
        return await assistant.run_again(
            self.turn, self.plan, frontend, conversation=conversation, afresh=self.afresh
        )
