"""Runs one script after the other in the same variables, as a notebook does its cells."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
import threading
from collections.abc import Callable
from types import ModuleType

from .faults import missing, shortened

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any, NoReturn

LONGEST_VALUE = 20_000
"""Characters of the value of a last expression."""

Answer = dict[str, str]
Tell = Callable[[BaseException], str]


class Cells:
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
