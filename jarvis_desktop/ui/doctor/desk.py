"""Runs the checks of the doctor on the engine, all at once. It lives on the main thread."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.session import Session

if TYPE_CHECKING:
    from jarvis_desktop.doctor.checks import Check
    from jarvis_desktop.doctor.finding import Finding

_secret = re.compile(r"\b(hf|sk|pk|gsk|ghp|github_pat)[_-][\w-]{6,}|//[^/\s:@]+:[^/\s@]+@")


class DoctorDesk(QObject):
    """One round of checks at a time."""

    begun = Signal(int)
    """Carries how many checks there are."""
    found = Signal(int, object)
    """Carries which of the checks has ended, and its findings."""
    ended = Signal()
    startable = Signal(bool)
    """Carries whether Ollama could be started."""
    mended = Signal(str)
    """Carries why something could not be mended; "" where it was."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._left = 0

    @property
    def checks(self) -> Sequence[Check]:
        """What is looked at, in the order of a person's questions."""
        from jarvis_desktop.doctor.checks import CHECKS

        return CHECKS

    @property
    def busy(self) -> bool:
        """Whether a round goes on."""
        return self._left > 0

    def examine(self) -> None:
        """Look at everything anew."""
        app = self._session.app
        if app is None or self.busy:
            return
        checks = self.checks
        self._left = len(checks) + 1
        self.begun.emit(len(checks))
        for number, check in enumerate(checks):
            self._run(number, check, app)
        self._look_for_ollama(app)

    def start_ollama(self) -> None:
        """Start it, and look anew."""

        async def start(app: App) -> None:
            await app.shelf.start_ollama()

        self._do(start, lambda outcome: self.mended.emit(str(outcome.error or "")))

    def _run(self, number: int, check: Check, app: App) -> None:
        def tell(outcome: Outcome) -> None:
            self.found.emit(number, outcome.value or (_failed(check, outcome),))
            self._one_less()

        # The checks ask more of the application than the rest of the window does.
        self._session.engine.run(lambda: check.look(app), tell)  # type: ignore[arg-type, return-value]

    def _look_for_ollama(self, app: App) -> None:
        async def look(app: App) -> bool:
            from jarvis_desktop.llm import ollama_program

            llms = app.llms
            if llms.wanted.provider not in ("auto", "ollama") or llms.ollama.server.remote:
                return False
            if not await asyncio.to_thread(ollama_program.command):
                return False
            return not (await llms.of_ollama()).running

        def tell(outcome: Outcome) -> None:
            self.startable.emit(bool(outcome.value))
            self._one_less()

        self._do(look, tell)

    def _one_less(self) -> None:
        self._left -= 1
        if not self._left:
            self.ended.emit()

    def _do(
        self, work: Callable[[App], Coroutine[Any, Any, Any]], then: Callable[[Outcome], None]
    ) -> None:
        if app := self._session.app:
            self._session.engine.run(lambda: work(app), then)


def _failed(check: Check, outcome: Outcome) -> Finding:
    from jarvis_desktop.doctor.finding import Finding

    error = outcome.error or unexpected()
    return Finding(check.about, "limited", error.message, error.hint)


def report(findings: Iterable[Finding]) -> str:
    """The findings as a text that can be given to a stranger: without keys, without passwords, and
    without the name of the person, as far as it is that of their folder."""
    lines = []
    for item in findings:
        lines.append(f"{item.state:8} {item.what}: {one_line(item.detail, limit=600)}")
        if item.fix:
            lines.append(f"         → {one_line(item.fix, limit=600)}")
    text = _secret.sub("…", "\n".join(lines))
    home = Path.home()
    text = text.replace(str(home), "~")
    return re.sub(rf"\b{re.escape(home.name)}\b", "…", text) if len(home.name) > 2 else text
