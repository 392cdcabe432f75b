"""The process that runs scripts: takes them over one pipe, tells over another how each ended.

The two pipes are its standard input and output when it starts; scripts get an empty input, and
what they write goes where the errors go. A message is its length in four bytes and JSON. Scripts
share this process and may say anything in its name: who reads it outside takes it for their word.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial

from .cell import Answer, Cells, Tell
from .faults import traceback_of
from .hooks import Hooks
from .making import Making

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any

MOST = 8 << 20
"""Bytes of a message."""
LOST = 70
"""The exit code where the pipes are gone."""


def main() -> None:
    """Serve until the pipe ends, which is when nobody is left to serve."""
    orders, answers = os.dup(0), os.dup(1)  # neither is passed on to programs that are started
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    output = os.dup(2)
    begun = _read(orders)
    if begun is not None:
        try:
            _serve(orders, answers, output, begun)
        except OSError:  # the script has closed what this process needs
            os._exit(LOST)
    os._exit(0)


def _serve(orders: int, answers: int, output: int, begun: dict[str, Any]) -> None:
    folder: str = begun["folder"]
    library: list[str] = begun["library"]
    packages: list[str] = begun["packages"]
    foreign = (*packages, os.path.dirname(os.__file__))  # noqa: PTH120 - pathlib is slow to load
    tell = partial(traceback_of, own=(folder, *library), foreign=foreign)
    # What lies in the folder takes the place of nothing else.
    sys.path += [*library, *packages, folder]
    os.chdir(folder)
    hooks = Hooks()
    making = Making(folder, hooks)
    cells = Cells(tell, making.keep)
    if begun["network"] is not None:
        from .sockets import Network

        hooks.after("socket", Network(begun["network"]).adapt)
    mine = os.getpid()
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams[1:]:
        # A line at a time, so that both streams and what child processes write stay in order.
        stream.reconfigure(errors="backslashreplace", line_buffering=True, write_through=False)
    _write(answers, {"ready": True})
    while (order := _read(orders)) is not None:
        for number in (1, 2):
            os.dup2(output, number)
        sys.stdin, sys.stdout, sys.stderr = streams
        answer = cells.run(order["source"])
        if os.getpid() != mine:  # a process that the script forked and did not end
            os._exit(0)
        answer = _with_figures(answer, making, tell)
        for stream in streams[1:]:
            _flush(stream)
        os.write(output, order["mark"].encode())
        _write(answers, {**answer, "mark": order["mark"]})


def _with_figures(answer: Answer, making: Making, tell: Tell) -> Answer:
    try:
        making.figures()
    except BaseException as error:  # noqa: BLE001 - plotting runs what the script put into it
        if answer["ending"] == "done":
            return {**answer, "ending": "error", "error": tell(error)}
    return answer


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except BaseException as error:  # noqa: BLE001 - the script may have closed or replaced it
        del error


def _read(source: int) -> dict[str, Any] | None:
    head = _exactly(source, 4)
    if head is None or not 0 < (length := int.from_bytes(head)) <= MOST:
        return None
    body = _exactly(source, length)
    return None if body is None else json.loads(body)


def _exactly(source: int, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = os.read(source, min(count - len(parts), 1 << 16))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _write(target: int, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    data = memoryview(len(body).to_bytes(4) + body)
    while data:
        data = data[os.write(target, data) :]
