"""Counts how often one piece of code was tried in vain, so that mending it comes to an end."""

from __future__ import annotations

import re

from jarvis_desktop.assistant.agent.desk import Desk

FAILURES = "failures"
GIVEN_UP = "given up"

ANOTHER_WAY = (
    "take another way: change the plan (re_plan), ask the person (ask_user), "
    "or finish with what there is"
)


class Mending:
    """The tries at one thing. They are kept in the frame: a crash gives no new ones."""

    def __init__(self, desk: Desk, subject: str) -> None:
        """`subject` says what is tried: the purpose of code, or the name of a function."""
        self._desk = desk
        self._depth = desk.inner
        self._subject = " ".join(re.findall(r"\w+", subject.casefold()))

    @property
    def is_over(self) -> bool:
        """Whether this very thing was given up before."""
        return bool(self._subject) and self._subject in self._kept(GIVEN_UP).split("\n")

    def failed(self) -> str:
        """Count one more failure in a row; what the LLM is to make of it."""
        failures = int(self._kept(FAILURES) or 0) + 1
        left = self._desk.limits.repairs + 1 - failures
        if left > 0:
            self._keep({FAILURES: str(failures)})
            tries = "once more" if left == 1 else f"{left} times more"
            return f"It may be mended and tried {tries}."
        given_up = f"{self._kept(GIVEN_UP)}\n{self._subject}".strip()
        self._keep({FAILURES: "", GIVEN_UP: given_up})
        times = "once" if failures == 1 else f"{failures} times in a row"
        return f"It failed {times}, and mending it is given up: {ANOTHER_WAY}."

    def worked(self) -> None:
        """It is well: what fails next is something else."""
        if self._kept(FAILURES):
            self._keep({FAILURES: ""})

    def _kept(self, key: str) -> str:
        return self._desk.frames[self._depth].kept.get(key, "")

    def _keep(self, changed: dict[str, str]) -> None:
        self._desk.remember(self._depth, **changed)
