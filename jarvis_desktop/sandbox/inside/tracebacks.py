"""Tells what a script raised as Python does, from the script's first line on: neither the frames
beneath it nor the folders of this computer are its business."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

LONGEST = 16_000
"""Characters of a traceback."""

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to load


def traceback_of(error: BaseException, own: Sequence[str], foreign: Sequence[str]) -> str:
    """The traceback of an error, its causes included.

    Files are told as seen from the folders `own` and `foreign`. Of what happened in the foreign
    ones, Python's and its packages', only the last place is told.
    """
    try:
        told = traceback.TracebackException.from_exception(error)
        for part in _parts(told):
            part.stack[:] = _kept(part.stack, foreign)
        text = "".join(told.format())
    except BaseException as failed:  # noqa: BLE001 - `__str__` and the like are the script's
        return f"{type(error).__name__}, which could not be told ({type(failed).__name__})."
    for folder in (*own, *foreign):
        text = text.replace(folder + os.sep, "")
    return shortened(text.rstrip("\n"), LONGEST)


def missing(error: BaseException) -> str:
    """The module that an import did not find because it is not installed; "" for other errors."""
    seen: set[int] = set()
    found: BaseException | None = error if isinstance(error, ImportError) else None
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, ModuleNotFoundError) and isinstance(found.name, str):
            root = found.name.partition(".")[0]
            return root if root and not _is_there(root) else ""
        # Libraries say in words of their own which other one they would need.
        found = found.__cause__ or found.__context__
    return ""


def shortened(text: str, longest: int) -> str:
    """A text, without its middle where it is too long."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters are left out …\n{text[-half:]}"


def _is_there(module: str) -> bool:
    try:
        return module in sys.modules or find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _parts(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    seen: set[int] = set()
    waiting = [told]
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            members = getattr(part, "exceptions", None) or ()
            waiting += [each for each in (part.__cause__, part.__context__, *members) if each]


def _kept(
    stack: list[traceback.FrameSummary], foreign: Sequence[str]
) -> list[traceback.FrameSummary]:
    frames = [frame for frame in stack if not _is_ours(frame.filename)]
    places = tuple(folder + os.sep for folder in foreign)
    last = len(frames) - 1
    return [
        frame
        for number, frame in enumerate(frames)
        if number == last or not frame.filename.startswith((*places, "<frozen "))
    ]


def _is_ours(file: str) -> bool:
    """Whether a frame is of these modules, or of the import system."""
    return file.startswith((_HERE + os.sep, "<frozen importlib"))
