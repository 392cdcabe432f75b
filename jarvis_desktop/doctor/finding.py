"""What the doctor says of one thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: "ok", "limited" (something else does the work) or "missing"."""

    what: str
    """In English, for `tr`."""
    state: str
    detail: str
    fix: str = ""
