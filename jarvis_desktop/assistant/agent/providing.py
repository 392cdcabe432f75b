"""Sees to it that the packages that code imports are there: asks, and installs them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from jarvis_desktop.assistant.agent.code_text import from_library
from jarvis_desktop.assistant.agent.coding import Workshop
from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.code import Packages
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError
from jarvis_desktop.core.events import RoundProgress
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line, printable
from jarvis_desktop.core.wording import trn

MOST = 20
"""Packages that are installed for one piece of code."""


class Providing:
    """Installs packages for code, with the person's word."""

    def __init__(self, packages: Packages, workshop: Workshop) -> None:
        self._packages = packages
        self._library = workshop.library

    async def provide(self, desk: Desk, *sources: str) -> Observation | None:
        """Install what the sources need and is not there; why that could not be, or None."""
        names = await asyncio.to_thread(self._missing, sources)
        if not names:
            return None
        if len(names) > MOST:
            return _failed(f"The code needs {len(names)} more packages; at most {MOST} are added.")
        listed, them = _and(names), "it" if len(names) == 1 else "them"
        question = trn(
            "This code needs {packages}, which is not installed. Install it into the environment "
            "that only code of goals uses?",
            "This code needs {packages}, which are not installed. Install them into the "
            "environment that only code of goals uses?",
            len(names),
            packages=listed,
        )
        if not await desk.live.confirm(question):
            return _failed(
                f"The code needs {listed}, and the person did not agree to install {them}. "
                "Do without, or ask the person."
            )
        number = desk.number

        def report(text: str) -> None:
            desk.live.show(RoundProgress(number, printable(text)))

        try:
            await self._packages.install(names, report)
        except JarvisError as error:
            # The reason may quote the package index.
            reason = f"{listed} could not be installed: {error} Do without."
            return Observation(reason, Status.FAILED)
        return None

    def _missing(self, sources: Iterable[str]) -> Sequence[str]:
        """Also what is needed by the functions that the sources take from the library."""
        found: dict[str, None] = {}
        for source in sources:
            found |= dict.fromkeys(self._packages.missing(source))
            for name in from_library(source):
                try:
                    function = self._library.get(name)
                except (InputError, StorageError):  # importing it will tell
                    continue
                found |= dict.fromkeys(self._packages.missing(function.draft.source))
        return tuple(found)


def _failed(text: str) -> Observation:
    return Observation(text, Status.FAILED, trusted=True)


def _and(names: Sequence[str]) -> str:
    *others, last = [one_line(name, limit=60) for name in names]
    return f"{', '.join(others)} and {last}" if others else last
