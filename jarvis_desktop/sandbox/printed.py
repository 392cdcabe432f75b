"""What a script prints: told as it comes, kept up to a size, free of what steers a terminal."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Callable

from jarvis_desktop.core.shown import encodable, printable

KEPT = 1 << 20
"""Bytes of a script's output that are kept: half of them its beginning, half its end."""

MOST = 64 << 20
"""Bytes of it after which somebody should end the script."""

_STEERING = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
"""Colours, cursor movements and titles (ECMA-48)."""


class Printed:
    """The output of one run, which ends at `mark`."""

    def __init__(
        self, mark: bytes, report: Callable[[str], None], *, kept: int = KEPT, most: int = MOST
    ) -> None:
        self._most = most
        self._mark = mark
        self._report = report
        self._half = kept // 2
        self._told = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._total = 0
        self.flooded = asyncio.Event()
        """More than `most` bytes have come."""
        self.ended = asyncio.Event()
        """The mark has come."""

    def feed(self, data: bytes) -> None:
        """What was read. After the mark, nothing more is of this run."""
        if self.ended.is_set():
            return
        text, mark, _ = (self._held + data).partition(self._mark)
        if mark:
            self._held = b""
            self._add(text)
            self.ended.set()
            return
        held = _beginning(text, self._mark)
        self._held = text[len(text) - held :]
        self._add(text[: len(text) - held])

    def text(self) -> str:
        """All of it, without the middle where it was much."""
        left_out = self._total - len(self._head) - len(self._tail)
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        if left_out <= 0:
            return plain(bytes(self._head + self._tail).decode("utf-8", "replace"))
        return f"{plain(head)}\n… {left_out} bytes are left out …\n{plain(tail)}"

    def _add(self, data: bytes) -> None:
        if not data:
            return
        self._total += len(data)
        if self._total > self._most:
            self.flooded.set()
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: -self._half]
        if self._told < self._half:  # whoever looks on need not see all of a flood either
            text = plain(self._decoder.decode(data[: self._half - self._told]))
            self._told += len(data)
            if text:
                self._report(text)


def plain(text: str) -> str:
    """A script's text without what steers a terminal; a line that is written over ends there."""
    lines = _STEERING.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return encodable(printable(lines))


def _beginning(text: bytes, mark: bytes) -> int:
    """How many bytes at the end of the text may be the beginning of the mark."""
    longest = min(len(mark) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(mark[:n])), 0)
