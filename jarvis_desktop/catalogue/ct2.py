"""Reads what a file of CTranslate2, in which recognisers come, says of itself.

Only its table of contents is read: a damaged file would otherwise be found out by a library that
is written in C++, and only when it is first used.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr

OLDEST, NEWEST = 4, 6
"""Versions of the format: all that libraries of the last years wrote."""
EMBEDDINGS = ("decoder/embeddings/weight", "decoder/embeddings_0/weight")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds."""

    kind: str
    """Such as WhisperSpec."""
    width: int
    """Of its decoder: how many numbers stand for a token; 0 where it has none."""


def contents(path: Path) -> Contents:
    """What the file holds. Raises InputError where it is cut off, damaged or none of these."""
    try:
        with path.open("rb") as file:
            return _contents(file, os.fstat(file.fileno()).st_size)
    except (EOFError, UnicodeDecodeError, struct.error) as error:
        raise InputError(
            tr("The weights {name} are damaged or cut off.", name=path.name),
            hint=tr("Look for a whole copy, and compare its size with that of the original."),
        ) from error
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            tr("{name} cannot be read: {reason}.", name=path.name, reason=reason)
        ) from error


def _contents(file: BinaryIO, size: int) -> Contents:
    (version,) = _numbers(file, "<I")
    if not OLDEST <= version <= NEWEST:
        raise InputError(
            tr(
                "{name} holds no weights in the format of CTranslate2.",
                name=Path(file.name).name,
            ),
            hint=tr("Weights of PyTorch must be converted first: ct2-transformers-converter."),
        )
    kind = _word(file)
    _, count = _numbers(file, "<II")
    width = 0
    for _ in range(count):
        name = _word(file)
        (rank,) = _numbers(file, "<B")
        shape = _numbers(file, f"<{rank}I")
        _, length = _numbers(file, "<BI")
        if file.seek(length, os.SEEK_CUR) > size:
            raise EOFError
        if name in EMBEDDINGS and len(shape) == 2:
            width = shape[1]
    (others,) = _numbers(file, "<I")
    for _ in range(2 * others):
        _word(file)
    return Contents(kind, width)


def _word(file: BinaryIO) -> str:
    (length,) = _numbers(file, "<H")
    return _bytes(file, length).rstrip(b"\0").decode("utf-8")


def _numbers(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, _bytes(file, struct.calcsize(form)))


def _bytes(file: BinaryIO, length: int) -> bytes:
    read = file.read(length)
    if len(read) < length:
        raise EOFError
    return read
