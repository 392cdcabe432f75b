"""The process that runs scripts: takes them over one pipe, tells over another how each ended.

The two pipes are its standard input and output when it starts; scripts get an empty input, and
what they write goes where the errors go. A message is its length in four bytes and JSON. Scripts
share this process and may say anything in its name: who reads it outside takes it for their word.

Runs one script after the other in the same variables, as a notebook does its cells."""

from __future__ import annotations

import ast
import builtins
import json
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from types import ModuleType

from .rich_output import Hooks, Making

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any, NoReturn


LONGEST_VALUE = 20_000
"""Characters of the value of a last expression."""

Answer = dict[str, str]
Tell = Callable[[BaseException], str]


class ScriptCells:
    """The variables, and what is done with each script."""

    def __init__(self, tell: Tell, keep: Callable[[object], None]) -> None:
        """`tell` gives the traceback of an error. `keep` is given the value of a last expression,
        to make a file of it where it is a table or a picture."""
        self._tell = tell
        self._keep = keep
        self._count = 0
        self._main = ModuleType("__main__")
        vars(self._main)["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        # What `site` would add, had it been loaded.
        builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]
        builtins.input = _no_input
        threading.excepthook = self._tell_thread

    def run(self, source: str) -> Answer:
        """Run a script: how it ended, its last value, its error."""
        self._count += 1
        name = "script.py" if self._count == 1 else f"script-{self._count}.py"
        # Where tracebacks find its lines. No time of change means: never look for a file.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        sys.argv[:] = [name]
        others = set(threading.enumerate())
        try:
            value = self._value(source, name)
            _join(others)
            text = "" if value is None else shortened(repr(value), LONGEST_VALUE)
            self._keep(value)
        except SystemExit as ended:
            return self._ended(ended)
        except BaseException as error:  # noqa: BLE001 - whatever a script raises is its outcome
            return self._failed(error)
        return {"ending": "done", "value": text}

    def _value(self, source: str, name: str) -> Any:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        # dont_inherit: the __future__ of this module is not the script's.
        code = compile(tree, name, "exec", dont_inherit=True)
        final = None
        if isinstance(last, ast.Expr):
            final = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
        exec(code, vars(self._main))  # noqa: S102 - this is what the sandbox is for
        return eval(final, vars(self._main)) if final else None  # noqa: S307

    def _ended(self, ended: SystemExit) -> Answer:
        if ended.code in (None, 0):
            return {"ending": "done"}
        try:
            words = str(ended.code)
        except BaseException:  # noqa: BLE001 - `__str__` is the script's
            words = type(ended.code).__name__
        return {"ending": "error", "error": shortened(f"SystemExit: {words}", LONGEST_VALUE)}

    def _failed(self, error: BaseException) -> Answer:
        ending = "memory" if isinstance(error, MemoryError) else "error"
        told = self._tell(error)
        return {"ending": ending, "error": told, "missing": missing(error)}

    def _tell_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            print(self._tell(args.exc_value), file=sys.stderr)  # noqa: T201


def _join(others: set[threading.Thread]) -> None:
    """Wait for the threads that a script began and left, as Python does at the end of one. Those
    of a pool do not end before it is closed."""
    pools = sys.modules.get("concurrent.futures.thread")
    kept = {*others, threading.current_thread(), *getattr(pools, "_threads_queues", ())}
    for thread in threading.enumerate():
        if thread not in kept and not thread.daemon:
            thread.join()


def _no_input(prompt: object = "") -> NoReturn:
    raise EOFError("A script gets no input: nobody is there to answer.")


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
    cells = ScriptCells(tell, making.keep)
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
