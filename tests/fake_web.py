"""A web for tests that are not about the network."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError


@dataclass
class FakeWeb:
    """A web of a few files; anything else is not found."""

    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    """URL: name and content."""
    asked: list[str] = field(default_factory=list)

    async def fetch(self, url: str, folder: Path) -> Path:
        self.asked.append(url)
        if url not in self.pages:
            raise UnavailableError("It was not found on the network.")
        name, content = self.pages[url]
        (folder / name).write_text(content)
        return folder / name
