"""What the keys of the whole desktop are for."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_desktop.core.wording import mark


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One thing that a key does."""

    id: str
    """Desktops remember its key by this."""
    description: str
    """What a person reads of it in the desktop's settings; English, for `tr`."""
    command: str
    """Does the same, for a key that the person binds to it themselves."""


TALK = Shortcut("talk", mark("Talk to JARVIS"), "jarvis-desktop talk toggle")
QUICK = Shortcut("quick", mark("Ask JARVIS quickly"), "jarvis-desktop --quick")
