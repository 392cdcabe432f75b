"""The calls by which a script has experts do a part of its work.

A call comes over the pipe of the kernel's answers, so it may be anything: its shape, its size and
its files are checked here, its task and what that may take by whoever does it. A script waits for
its call, and its processes are stopped until then, so that no time passes for it.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import CallExpert, ExpertCall
from jarvis_desktop.core.display import encodable, one_line, unused_name
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Arg, Item
from jarvis_desktop.sandbox.results import ProtocolError, copy_in, copy_out

MAX_INPUTS = 12
"""Inputs of a call."""
MAX_ITEMS = 50
"""Texts, numbers and files of an input."""
MAX_NUMBER = 1e12
MAX_RESULT_CHARS = 500_000
"""Characters of all results of a call; even if each is escaped, a message has room for them."""
MAX_RESULTS = 200

Given = str | int | float | PurePosixPath
"""A text, a number, or the path of a file in the script's folder."""

_name = re.compile(r"[a-z][a-z0-9_-]{0,59}")
_unwanted = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What the calls of one script may take."""

    calls: int = 40
    seconds: float = 1800.0
    """For all of them together, with the time that the user takes for an answer."""
    bytes: int = 1 << 30
    """Of all files that are given to experts."""


@dataclass
class ExpertCalls:
    """The calls of one script."""

    call: CallExpert | None
    """Does them; None if this script may not call experts."""
    folder: Path
    """Where the script works."""
    to: Path
    """A folder for copies of its files, outside of the sandbox."""
    limits: CallLimits = field(default_factory=CallLimits)
    _count: int = 0
    _seconds: float = 0.0
    _bytes: int = 0

    async def answer(self, message: dict[str, object], mark: str) -> dict[str, object]:
        """Do what a message of the kernel asks for, and return the message to answer it with.
        Raises ProtocolError if it is not a call of the script of that mark."""
        number, task, inputs = _parse(message, mark)
        try:
            found = await self._done(task, inputs)
            results = await asyncio.to_thread(self._handed_in, found[:MAX_RESULTS])
        except JarvisError as error:
            return {"number": number, "error": one_line(str(error), limit=1000)}
        return {"number": number, "results": results}

    async def _done(self, task: str, inputs: Mapping[str, Sequence[Given]]) -> Sequence[Artifact]:
        if self.call is None:
            raise UnavailableError(tr("Experts cannot be called here."))
        self._count += 1
        if self._count > self.limits.calls:
            raise UnavailableError(
                tr("A script can call experts {count} times at most.", count=self.limits.calls)
            )
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, self.limits.seconds - self._seconds)):
                args = await asyncio.to_thread(self._args, inputs)
                return await self.call(ExpertCall(task, args))
        except TimeoutError as error:
            raise UnavailableError(
                tr(
                    "The experts of a script can take {minutes:g} minutes at most.",
                    minutes=self.limits.seconds / 60,
                )
            ) from error
        finally:
            self._seconds += loop.time() - began

    def _args(self, inputs: Mapping[str, Sequence[Given]]) -> dict[str, Arg]:
        args: dict[str, Arg] = {}
        for name, given in inputs.items():
            items = tuple(self._item(each) for each in given)
            args[name] = items[0] if len(items) == 1 else items
        return args

    def _item(self, given: Given) -> Item:
        """Return a text or a number, and of a file a copy. Raises InputError, StorageError."""
        if not isinstance(given, PurePosixPath):
            return given
        place = self.to / f"call-{secrets.token_hex(8)}"
        copy = place / (_unwanted.sub("_", given.name)[-80:] or "file")
        self._bytes += copy_out(self.folder, given, copy, self.limits.bytes - self._bytes)
        kind = kind_of_name(given) or Kind.DOCUMENT
        return Artifact(kind, path=copy, name=one_line(encodable(given.name), limit=255))

    def _handed_in(self, found: Sequence[Artifact]) -> list[str | list[str]]:
        """Return each result as its text, or as the name of its file in the script's folder, in a
        list. Raises InputError, StorageError."""
        results: list[str | list[str]] = []
        room = MAX_RESULT_CHARS
        for item in found:
            if item.path is None:
                text = encodable(item.text or "")[:room]
                results.append(text)
                room -= len(text)
                continue
            stem = _unwanted.sub("_", Path(item.title).stem).strip("._")[:50] or "result"
            name = unused_name(
                stem, item.path.suffix, taken=lambda name: os.path.lexists(self.folder / name)
            )
            copy_in(item.path, self.folder, name)
            results.append([name])
        return results


def _parse(message: dict[str, object], mark: str) -> tuple[int, str, dict[str, list[Given]]]:
    """The number, the task and the inputs of a call. Raises ProtocolError."""
    number, task, inputs = message.get("call"), message.get("task"), message.get("inputs")
    if (
        message.get("mark") != mark
        or type(number) is not int
        or not isinstance(task, str)
        or not isinstance(inputs, dict)
        or len(inputs) > MAX_INPUTS
    ):
        raise ProtocolError
    return number, task, {name: _items(name, given) for name, given in inputs.items()}


def _items(name: str, given: object) -> list[Given]:
    if not _name.fullmatch(name) or not isinstance(given, list) or len(given) > MAX_ITEMS:
        raise ProtocolError
    return [_given(each) for each in given]


def _given(value: object) -> Given:
    match value:
        case str():
            return encodable(value)
        case int() | float() if math.isfinite(value) and abs(value) <= MAX_NUMBER:
            return value
        case [str(path)]:
            return PurePosixPath(path)
        case _:
            raise ProtocolError
