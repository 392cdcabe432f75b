"""The seam to the person: window, quick box or terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.plan import Plan


@dataclass(frozen=True, slots=True)
class Review:
    """What a person says to the plan of a goal: takes it as it stands here, or wants it revised."""

    outline: Outline
    """As it was shown, or as the person edited it."""
    comment: str = ""
    """What should be different, in words; where there is any, the plan is written anew."""


class Frontend(Protocol):
    """Where a person sees and answers."""

    def show(self, event: Event) -> None:
        """Show that something happened. Must return at once."""
        ...

    async def review(self, plan: Plan) -> Plan | None:
        """Let the person change the plan; None when they refuse it."""
        ...

    async def confirm(self, question: str) -> bool:
        """A yes-or-no question; anything but a clear yes is False."""
        ...

    async def ask(self, question: str) -> str:
        """An open question; "" where there is no answer."""
        ...

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Let the person accept, edit or comment on the plan of a goal; None when they want none,
        or nobody is there.

        `why` is what they should know about it: what changed since they saw it last.
        """
        ...

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Let the person read, edit, allow or refuse code; a No where nobody is there.

        Where its protection is "none", that stands above it in red, and there is no GOAL.
        """
        ...
