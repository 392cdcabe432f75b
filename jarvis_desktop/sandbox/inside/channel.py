"""The pipes between the kernel and the application: orders come in, answers and calls go out.

A message is its length in four bytes and JSON. While a script runs, it can call experts: a call
goes out among the answers, and its result comes in before the next order.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any

MAX_ORDER_BYTES = 8 << 20
MAX_CALL_BYTES = 1 << 19  # what the application accepts
PIPES_LOST = 70  # the exit code if the pipes are gone


class ExpertCallError(RuntimeError):
    """An expert could not do what a script wants. The message says why."""

    __module__ = "jarvis"  # under whose name scripts know it


class Channel:
    """Both pipes. Threads take turns: the application serves one call at a time."""

    def __init__(self, orders: int, answers: int) -> None:
        """Two file descriptors."""
        self._orders = orders
        self._answers = answers
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._mark = ""  # of the running script
        self._called = 0
        self._waiting = False
        self._folder = ""

    def next(self) -> dict[str, Any] | None:
        """The next order; None at the end."""
        while (message := self._read()) is not None:
            if "number" not in message:  # else the result of a call that nobody waits for any more
                return message
        return None

    def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        self._write(json.dumps(message).encode())

    @contextmanager
    def calls(self, mark: str, folder: str) -> Iterator[None]:
        """While this lasts, the script of that mark may call experts, with files of the folder. At
        the end, a call of one of its threads is waited for."""
        self._mark, self._folder = mark, folder
        try:
            yield
        finally:
            if os.getpid() == self._process:  # not in a fork, to which the lock means nothing
                with self._lock:
                    self._mark = ""

    def call(self, task: str, inputs: dict[str, list[Any]]) -> list[str | list[str]]:
        """Have an expert do a task. An input is a list of texts and numbers, and of paths of files,
        each in a list of its own, as they are in the result. Raises ExpertCallError."""
        if os.getpid() != self._process:
            raise ExpertCallError("Experts work only for the script's first process.")
        with self._lock:
            if self._waiting:
                raise ExpertCallError("An expert cannot be called while another one is waited for.")
            if not self._mark:
                raise ExpertCallError("The script that called this expert has ended.")
            self._called += 1
            call = {"call": self._called, "mark": self._mark, "task": task, "inputs": inputs}
            body = json.dumps(call, ensure_ascii=False).encode("utf-8", "replace")
            if len(body) > MAX_CALL_BYTES:
                raise ExpertCallError(
                    "That is too long for an expert: write it to a file, and give the name of the "
                    "file."
                )
            self._waiting = True
            try:
                self._write(body)
                answer = self._result(self._called)
            finally:
                self._waiting = False
        if "error" in answer:
            raise ExpertCallError(answer["error"])
        found: list[str | list[str]] = answer["results"]
        return found

    def relative(self, path: str) -> str:
        """A path as seen from the script's folder, with slashes."""
        return os.path.relpath(path, self._folder).replace(os.sep, "/")

    def _result(self, number: int) -> dict[str, Any]:
        while (message := self._read()) is not None:
            if message.get("number") == number:
                return message
        os._exit(PIPES_LOST)

    def _read(self) -> dict[str, Any] | None:
        head = self._exactly(4)
        if head is None or not 0 < (length := int.from_bytes(head)) <= MAX_ORDER_BYTES:
            return None
        body = self._exactly(length)
        return None if body is None else json.loads(body)

    def _exactly(self, count: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < count:
            part = os.read(self._orders, min(count - len(parts), 1 << 16))
            if not part:
                return None
            parts += part
        return bytes(parts)

    def _write(self, body: bytes) -> None:
        data = memoryview(len(body).to_bytes(4) + body)
        while data:
            data = data[os.write(self._answers, data) :]


current: Channel | None = None
"""The channel of this process."""
