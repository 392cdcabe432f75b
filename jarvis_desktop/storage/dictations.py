"""The last dictations, to be pasted or copied again. A file of its own: clearing it leaves no trace
in the database."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.context import local_now
from jarvis_desktop.paths import replace_text

log = logging.getLogger(__name__)

MAX_KEPT = 50


@dataclass(frozen=True, slots=True)
class KeptDictation:
    """A text that was dictated."""

    text: str
    at: str
    """When, in ISO 8601."""


@dataclass(eq=False)
class DictationLog:
    """`days` returns for how many days they are kept; 0 keeps them until newer ones replace them.

    A file that cannot be read or written only costs the list: dictation continues.
    """

    path: Path
    _: KW_ONLY
    days: Callable[[], int] = lambda: 0
    now: Callable[[], datetime] = local_now

    def add(self, text: str) -> None:
        """Keep a text."""
        fresh = KeptDictation(text, self.now().isoformat(timespec="seconds"))
        self._save([fresh, *self.kept()][:MAX_KEPT])

    def kept(self) -> list[KeptDictation]:
        """The texts, the newest first."""
        try:
            found = [KeptDictation(**each) for each in json.loads(self.path.read_text("utf-8"))]
            days = self.days()
            oldest = self.now() - timedelta(days=days)
            return [each for each in found if not days or datetime.fromisoformat(each.at) >= oldest]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            log.info("the last dictations cannot be read: %s", type(error).__name__)
            return []

    def clear(self) -> None:
        """Forget all of them."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the last dictations cannot be removed: %s", error.strerror)

    def _save(self, kept: list[KeptDictation]) -> None:
        try:
            replace_text(self.path, json.dumps([asdict(each) for each in kept]))
        except OSError as error:
            log.warning("a dictation cannot be kept: %s", error.strerror)
