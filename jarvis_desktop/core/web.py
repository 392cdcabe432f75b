"""The seam to files that lie on the network."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Web(Protocol):
    """Fetches a file that the person named by its address."""

    async def fetch(self, url: str, folder: Path) -> Path:
        """The file at `url`, written into `folder` under a name that fits it.

        Raises InputError where this is no address to be fetched from or holds too much,
        UnavailableError where it gives nothing, and StorageError where it cannot be written.
        """
        ...
