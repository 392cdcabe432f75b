"""The files that code finds in its folder: named as everybody names them, but fit for a disk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePath

from jarvis_desktop.assistant.agent.at_hand import at_hand
from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line

MOST_EARLIER = 10
"""Files of earlier turns that are given along, the newest."""
LONGEST = 80

_unwanted = re.compile(r"[^\w.\-() ]+")
_devices = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class GivenFiles:
    """The files that code of one goal was given: each once, so that what code made of it stays."""

    def __init__(self, texts: Path) -> None:
        """`texts` is where a text becomes a file; code does not see this folder."""
        self._texts = texts
        self._names: dict[Path | str, str] = {}
        self._given: set[Path | str] = set()
        self._own: set[Path | str] = set()
        self._taken: set[str] = set()

    def own(self, artifacts: Iterable[Artifact]) -> None:
        """These were made by code itself: they are in its folder already."""
        for item in artifacts:
            self._own.add(_key(item))
            self._taken.add(clean_name(item, item.title).casefold())

    def renamed(self, desk: Desk) -> Mapping[str, str]:
        """What has another name in code's folder than at hand: name at hand -> name there."""
        at = {item: name for name, item in at_hand(desk).items()}
        named = self._named(desk)
        return {at[item]: name for name, item in named.items() if at[item] != name}

    def new(self, desk: Desk) -> Mapping[str, Artifact]:
        """What is to be given now, by its name: attachments, and what rounds of experts made."""
        named = self._named(desk)
        found = {name: item for name, item in named.items() if _key(item) not in self._given}
        self._given |= {_key(item) for item in found.values()}
        return found

    def withdraw(self, files: Mapping[str, Artifact]) -> None:
        """These did not arrive: they are new again."""
        self._given -= {_key(item) for item in files.values()}

    def _named(self, desk: Desk) -> dict[str, Artifact]:
        before = [item.artifact for item in desk.context.resources]
        skipped = {item for item in before if item.path is None}
        skipped |= set([item for item in before if item.path][:-MOST_EARLIER])
        found = {}
        for name, item in at_hand(desk).items():
            key = _key(item)
            if key not in self._own and item not in skipped:
                if key not in self._names:
                    self._names[key] = _unlike(clean_name(item, name), self._taken)
                    self._taken.add(self._names[key].casefold())
                found[self._names[key]] = item
        return found

    def paths(self, files: Mapping[str, Artifact]) -> Mapping[str, Path]:
        """Where they lie; a text is written into a file first, which blocks."""
        return {name: item.path or self._written(name, item) for name, item in files.items()}

    def _written(self, name: str, item: Artifact) -> Path:
        self._texts.mkdir(parents=True, exist_ok=True)
        path = self._texts / name
        path.write_text(item.text or "", encoding="utf-8", errors="replace")
        return path


def clean_name(item: Artifact, called: str) -> str:
    """A file name that every system takes, with the suffix that tells what is in it."""
    usual = item.path.suffix if item.path else ".txt"
    suffix = PurePath(called).suffix or usual
    stem = _unwanted.sub("_", one_line(called.removesuffix(suffix), limit=LONGEST)).strip(" .")
    name = f"{stem or 'file'}{_unwanted.sub('', suffix)[:12]}"
    return f"_{name}" if _devices.match(name) else name


def _unlike(name: str, taken: Collection[str]) -> str:
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{suffix}"
    return name


def _key(item: Artifact) -> Path | str:
    return item.path or item.text or ""
