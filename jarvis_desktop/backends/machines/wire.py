"""How a call travels to another machine and its results come back.

Both directions are lines of JSON, followed by the bytes of the files that the last line lists. The
payloads of inference providers would not do: they know half of the tasks, and shrink pictures. What
arrives is checked here, whichever side it comes from; paths never travel.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import (
    ExpertError,
    Fault,
    InputError,
    JarvisError,
    UnavailableError,
)
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Call, Value

PORT = 8766
"""At which a machine serves its experts."""
PAIRING, STATE, RUN = "/pairing", "/experts", "/experts/run"
HEARTBEAT_S = 5.0
"""Seconds after which a machine that is still working sends a line, so that one that went away is
noticed."""
MAX_LINE = 16_000_000
"""Bytes of a line; long texts are in it."""
MAX_BYTES = 4_000_000_000
"""Of all files of one call, or of its results."""
MAX_FILES = 200
CHUNK = 1 << 18
_suffix = re.compile(r"\.[a-z0-9]{1,8}")

Words = Annotated[str, StringConstraints(max_length=400)]
Name = Annotated[str, StringConstraints(pattern=r"^[\w./-]{1,120}$")]
_Model = TypeVar("_Model", bound=BaseModel)


class WireArtifact(BaseModel):
    """A text, or a file of `size` bytes that follows."""

    model_config = ConfigDict(strict=True, extra="ignore")

    kind: Annotated[Kind, Field(strict=False)]
    name: Words = ""
    text: str | None = None
    size: int = Field(default=0, ge=0, le=MAX_BYTES)
    suffix: str = Field(default="", pattern=r"^(\.[a-z0-9]{1,8})?$")


class WireCall(BaseModel):
    """A call of an expert."""

    model_config = ConfigDict(strict=True, extra="ignore")

    expert: Name
    task: Name
    options: dict[str, bool | int | float | str] = Field(default_factory=dict)
    inputs: dict[str, list[WireArtifact]] = Field(default_factory=dict)


class WireError(BaseModel):
    """Why a call failed."""

    model_config = ConfigDict(extra="ignore")

    kind: str = ""
    message: str = ""
    hint: str = ""
    fault: str = ""
    retryable: bool = False
    wait: float = Field(default=0.0, ge=0.0, le=3600.0)


class WireExpert(BaseModel):
    """An expert that a machine offers for a task."""

    model_config = ConfigDict(extra="ignore")

    id: Name
    task: Name
    summary: Words = ""
    licence: Words = ""
    languages: list[Annotated[str, StringConstraints(pattern=r"^[\w*-]{1,12}$")]] = Field(
        default_factory=list, max_length=200
    )
    download_mb: int = Field(default=0, ge=0, le=10_000_000)

    def expert(self) -> Expert:
        """Return it as an entry of the catalogue."""
        return Expert(
            self.id,
            self.task,
            one_line(self.summary, limit=400),
            download_mb=self.download_mb,
            licence=one_line(self.licence),
            languages=tuple(self.languages),
        )


class WireState(BaseModel):
    """What a machine says of itself."""

    model_config = ConfigDict(extra="ignore")

    experts: list[WireExpert] = Field(max_length=5000)
    busy: int = Field(default=0, ge=0)
    """Calls that run or wait there."""
    width: int = Field(default=1, ge=1, le=16)
    """Calls that run there at once."""


def wire_expert(expert: Expert) -> dict[str, Any]:
    """Return an expert for JSON."""
    return {
        "id": expert.id,
        "task": expert.task,
        "summary": expert.summary[:400],
        "licence": expert.licence,
        "languages": list(expert.languages),
        "download_mb": expert.download_mb,
    }


def read(model: type[_Model], line: bytes) -> _Model:
    """Check a document that arrived. Raises ValueError."""
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{first['msg']} ({one_line(where)})") from error


def line(**document: object) -> bytes:
    """Return a document as a line."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def wire_error(error: JarvisError) -> dict[str, Any]:
    """Return an error for JSON."""
    return {
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "fault": error.fault.value,
        "retryable": error.retryable,
        "wait": error.wait,
    }


def error_from(told: WireError, machine: str) -> JarvisError:
    """Return the error that a machine reports. Errors of experts say which machine it was."""
    message = one_line(told.message, limit=600)
    if told.kind == InputError.kind:
        return InputError(message, hint=one_line(told.hint, limit=400))
    faults = {each.value: each for each in Fault}
    kind = UnavailableError if told.kind == UnavailableError.kind else ExpertError
    return kind(
        f"{machine}: {message}",
        retryable=told.retryable,
        fault=faults.get(told.fault, Fault.OTHER),
        wait=told.wait,
    )


def packed(artifacts: Iterable[Artifact]) -> tuple[list[dict[str, Any]], list[Path]]:
    """Return artifacts for JSON, and the files that follow, in order. Reads their sizes."""
    documents: list[dict[str, Any]] = []
    files = []
    for each in artifacts:
        document: dict[str, Any] = {"kind": each.kind.value, "name": each.name[:200]}
        if each.path is None:
            document["text"] = each.text
        else:
            suffix = each.path.suffix.lower()
            document["suffix"] = suffix if _suffix.fullmatch(suffix) else ""
            document["size"] = each.path.stat().st_size
            document["name"] = document["name"] or each.path.name[:200]
            files.append(each.path)
        documents.append(document)
    return documents, files


def packed_call(expert: str, call: Call) -> tuple[bytes, list[Path]]:
    """Return the line of a call, and the files that follow it."""
    inputs, files = {}, []
    for port, items in call.inputs.items():
        inputs[port], more = packed(items)
        files += more
    return line(expert=expert, task=call.task, options=dict(call.options), inputs=inputs), files


async def contents(files: Sequence[Path], sizes: Sequence[int]) -> AsyncIterator[bytes]:
    """Yield exactly the promised number of bytes of each file. Raises EOFError if one shrank."""
    for path, size in zip(files, sizes, strict=True):
        with await asyncio.to_thread(path.open, "rb") as file:
            while size:
                piece = await asyncio.to_thread(file.read, min(CHUNK, size))
                if not piece:
                    raise EOFError(f"{path.name} became shorter")
                size -= len(piece)
                yield piece


class Inflow:
    """Reads lines and files out of a stream of bytes. Raises EOFError if it ends too early."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()

    async def line(self) -> bytes:
        """Return the next line. Raises ValueError if it is too long."""
        start = 0
        while (end := self._buffer.find(b"\n", start)) < 0:
            start = len(self._buffer)
            if start > MAX_LINE:
                raise ValueError("a line is too long")
            await self._more()
        found = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return found

    async def save(self, path: Path, size: int) -> None:
        """Write the next bytes to a file."""
        with await asyncio.to_thread(path.open, "xb") as file:
            while size:
                if not self._buffer:
                    await self._more()
                piece = bytes(self._buffer[:size])
                del self._buffer[: len(piece)]
                size -= len(piece)
                await asyncio.to_thread(file.write, piece)

    async def _more(self) -> None:
        try:
            self._buffer += await anext(self._chunks)
        except StopAsyncIteration:
            raise EOFError("the stream ended too early") from None


async def unpacked(
    ports: Mapping[str, Sequence[WireArtifact]], inflow: Inflow, folder: Path
) -> dict[str, tuple[Artifact, ...]]:
    """Read artifacts by port, with the files that follow, into `folder`. Raises ValueError if they
    are too many or too large, EOFError if they do not arrive."""
    listed = [each for items in ports.values() for each in items]
    if len(listed) > MAX_FILES or sum(each.size for each in listed) > MAX_BYTES:
        raise ValueError("these are too many files, or too large ones")
    found: dict[str, tuple[Artifact, ...]] = {}
    number = 0
    for port, items in ports.items():
        artifacts = []
        for each in items:
            name = one_line(each.name, limit=200)
            if each.text is not None:
                artifacts.append(Artifact(each.kind, text=each.text, name=name))
                continue
            number += 1
            path = folder / f"{number}{each.suffix}"
            await inflow.save(path, each.size)
            artifacts.append(Artifact(each.kind, path=path, name=name))
        found[port] = tuple(artifacts)
    return found


def plain_options(given: Mapping[str, Value], wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Return the options of a task, each of the type of its default. Raises ValueError."""
    options = dict(wanted)
    for name, value in given.items():
        if name not in wanted:
            continue  # of a newer version
        default = wanted[name]
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(default):
            raise ValueError(f"the option {one_line(name)} has another type")
        options[name] = value
    return options
