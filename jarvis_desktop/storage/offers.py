"""Looks over the files and folders that a person holds out, before anything is taken: what they
are, how large, and in a sentence why one cannot be used."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr, trn

MOST = 100
"""Files that go with one request."""
MOST_ENTRIES = 20_000
"""Things in folders that are counted; beyond them it is enough to know that they are many."""
TIME = 0.7
"""Seconds after which no further file is looked at: the answer is due within one."""

Look = Callable[[Path], tuple[Kind, int]]
"""Tells the kind and the bytes of a file. Raises InputError that names it."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A file that can be used."""

    path: Path
    kind: Kind
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What came of looking."""

    files: tuple[Offered, ...] = ()
    refused: tuple[str, ...] = ()
    """Why something is not among the files; a sentence each."""


def look_over(
    paths: Sequence[Path],
    look: Look,
    *,
    room: int = MOST,
    clock: Callable[[], float] = time.monotonic,
) -> Offer:
    """What of these can go with a request that has room for so many files.

    Folders stand for the files in them, hidden ones and links left out. May block for as long as
    a disk does not answer; give it a thread.
    """
    latest = clock() + TIME
    listed = list(islice(_files(paths, latest, clock), MOST_ENTRIES))
    found = dict.fromkeys(listed)
    if len(found) > room:
        count = f"{len(found):,}" if len(listed) < MOST_ENTRIES else tr("too many to count")
        few = trn("{count} file goes", "{count} files go", MOST)
        if room < MOST:
            words = tr("Too many files: {found} more. At most {few} with one request.",
                       found=count, few=few)  # fmt: skip
        else:
            words = tr("Too many files: {found}. At most {few} with one request.",
                       found=count, few=few)  # fmt: skip
        return Offer(refused=(words,))
    files, refused = [], []
    for path in found:
        if clock() > latest:
            refused.append(tr("{name} was not looked at: its disk is slow. Try again.",
                              name=one_line(path.name)))  # fmt: skip
            continue
        try:
            kind, size = look(path)
        except InputError as error:
            refused.append(str(error))
        else:
            files.append(Offered(path, kind, size))
    refused += [
        tr("{name} has no files that can be read.", name=one_line(folder.name or str(folder)))
        for folder in paths
        if not any(path.is_relative_to(folder) for path in found) and _is_folder(folder)
    ]
    return Offer(tuple(files), tuple(refused))


def _files(paths: Sequence[Path], latest: float, clock: Callable[[], float]) -> Iterator[Path]:
    for path in paths:
        if _is_folder(path):
            yield from _inside(path, latest, clock)
        else:
            yield _pointed_at(path)


def _inside(folder: Path, latest: float, clock: Callable[[], float]) -> Iterator[Path]:
    """The files in a folder and in those within it, in order."""
    waiting = [folder]
    while waiting and clock() <= latest:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:  # it may not be looked into, or is gone
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir():
                waiting.append(Path(entry.path))
            elif entry.is_file():
                yield Path(entry.path)


def _pointed_at(path: Path) -> Path:
    """The file that a link names; anything else as it is."""
    try:
        return path.resolve(strict=True) if path.is_symlink() else path
    except (OSError, RuntimeError, ValueError):
        return path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink()
    except (OSError, ValueError):
        return False
