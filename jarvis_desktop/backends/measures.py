"""What experts were seen to take of the memory, place by place, also in earlier runs."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from jarvis_desktop.core.hardware import Memory
from jarvis_desktop.core.placing import Measured, Place

log = logging.getLogger(__name__)

CLOSE = 0.05
"""A change by less than this share is not worth writing down."""


class Measures:
    """Remembers the most that each expert took. A file that is lost or broken is begun anew."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file, what was measured is forgotten with this process."""
        self._file = file
        self._known: dict[tuple[str, Place], Memory] | None = None
        self._lock = Lock()

    def known(self) -> Measured:
        """What is known by now. The first call reads the file."""
        with self._lock:
            return MappingProxyType(dict(self._read()))

    def note(self, expert_id: str, place: Place, most: Memory) -> None:
        """Remember what an expert took at most. It may write the file; it never raises."""
        if most == Memory():  # a system that says nothing: that is not to need nothing
            return
        with self._lock:
            known = self._read()
            before = known.get((expert_id, place), Memory())
            after = before.most(most)
            known[expert_id, place] = after
            if self._file and not after.within(_a_little_more(before)):
                self._write(self._file, known)

    def _read(self) -> dict[tuple[str, Place], Memory]:
        if self._known is None:
            self._known = {}
            if self._file:
                self._known = _parsed(self._file)
        return self._known

    @staticmethod
    def _write(file: Path, known: Mapping[tuple[str, Place], Memory]) -> None:
        rows = [
            {"expert": expert, "place": asdict(place), "memory": asdict(memory)}
            for (expert, place), memory in known.items()
        ]
        fresh = file.with_name(f"{file.name}.new")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(rows), "utf-8")
            fresh.replace(file)
        except OSError as error:
            log.info("What experts take of the memory was not kept: %s", error)


def _parsed(file: Path) -> dict[tuple[str, Place], Memory]:
    try:
        rows = json.loads(file.read_text("utf-8"))
        return {(row["expert"], Place(**row["place"])): Memory(**row["memory"]) for row in rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.info("What experts take of the memory cannot be read: %s", error)
        return {}


def _a_little_more(memory: Memory) -> Memory:
    return Memory(int(memory.main * (1 + CLOSE)), int(memory.graphics * (1 + CLOSE)))
