"""The process that runs one script after another in the same variables, like notebook cells.

Scripts come over one pipe, its standard input, and answers go over another, its standard output;
scripts themselves get an empty input, and their output goes to standard error. Scripts share this
process and can say anything in its name, so the reader outside must not trust it. Open figures, and
tables and pictures that are a script's last value, are saved as files.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_file_location
from types import ModuleType
from weakref import WeakSet

from . import channel
from .channel import PIPES_LOST, Channel

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any, NoReturn


MAX_VALUE_CHARS = 20_000  # of the value of a last expression

Answer = dict[str, str]
FormatError = Callable[[BaseException], str]


class ScriptCells:
    """The variables, and how each script is run."""

    def __init__(self, tell: FormatError, keep: Callable[[object], None]) -> None:
        """`tell` formats the traceback of an error. `keep` gets the value of a last expression, to
        save it as a file if it is a table or a picture."""
        self._tell = tell
        self._keep = keep
        self._count = 0
        self._main = ModuleType("__main__")
        vars(self._main)["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        # What `site` would add if it were loaded.
        builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]
        builtins.input = _no_input
        threading.excepthook = self._tell_thread

    def run(self, source: str) -> Answer:
        """Run a script; return how it ended, its last value and its error."""
        self._count += 1
        name = "script.py" if self._count == 1 else f"script-{self._count}.py"
        # Tracebacks find its lines here. Without a modification time, no file is looked for.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        sys.argv[:] = [name]
        others = set(threading.enumerate())
        try:
            value = self._value(source, name)
            _join(others)
            text = "" if value is None else shortened(repr(value), MAX_VALUE_CHARS)
            self._keep(value)
        except SystemExit as ended:
            return self._ended(ended)
        except BaseException as error:  # noqa: BLE001 - whatever a script raises is its outcome
            return self._failed(error)
        return {"ending": "done", "value": text}

    def _value(self, source: str, name: str) -> Any:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        # dont_inherit: this module's __future__ does not apply to the script.
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
        return {"ending": "error", "error": shortened(f"SystemExit: {words}", MAX_VALUE_CHARS)}

    def _failed(self, error: BaseException) -> Answer:
        ending = "memory" if isinstance(error, MemoryError) else "error"
        told = self._tell(error)
        return {"ending": ending, "error": told, "missing": missing(error)}

    def _tell_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            print(self._tell(args.exc_value), file=sys.stderr)  # noqa: T201


def _join(others: set[threading.Thread]) -> None:
    """Wait for the threads that a script left running, as Python does at exit, except those of a
    pool, which do not end before it is closed."""
    pools = sys.modules.get("concurrent.futures.thread")
    kept = {*others, threading.current_thread(), *getattr(pools, "_threads_queues", ())}
    for thread in threading.enumerate():
        if thread not in kept and not thread.daemon:
            thread.join()


def _no_input(prompt: object = "") -> NoReturn:
    raise EOFError("A script gets no input: nobody is there to answer.")


def main() -> None:
    """Serve until the pipe is closed."""
    pipes = channel.current = Channel(os.dup(0), os.dup(1))  # child processes inherit neither
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    output = os.dup(2)
    begun = pipes.next()
    if begun is not None:
        try:
            _serve(pipes, output, begun)
        except OSError:  # the script has closed what this process needs
            os._exit(PIPES_LOST)
    os._exit(0)


def _serve(pipes: Channel, output: int, begun: dict[str, Any]) -> None:
    folder: str = begun["folder"]
    library: list[str] = begun["library"]
    packages: list[str] = begun["packages"]
    foreign = (*packages, os.path.dirname(os.__file__))  # noqa: PTH120 - pathlib is slow to load
    tell = partial(traceback_of, own=(folder, *library), foreign=foreign)
    # The folder comes last, so that its files do not replace other modules.
    sys.path += [begun["modules"], *library, *packages, folder]
    # After the installed ones, which may be newer.
    sys.meta_path.append(ShippedPackages(begun["shipped"]))
    os.chdir(folder)
    hooks = ImportHooks()
    rich_output = RichOutput(folder, hooks)
    cells = ScriptCells(tell, rich_output.keep)
    if begun["network"] is not None:
        from .sockets import Network

        hooks.after("socket", Network(begun["network"]).adapt)
    mine = os.getpid()
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams[1:]:
        # Line by line, so that both streams and the output of child processes stay in order.
        stream.reconfigure(errors="backslashreplace", line_buffering=True, write_through=False)
    pipes.send({"ready": True})
    while (order := pipes.next()) is not None:
        for number in (1, 2):
            os.dup2(output, number)
        sys.stdin, sys.stdout, sys.stderr = streams
        with pipes.calls(order["mark"], folder):
            answer = cells.run(order["source"])
        if os.getpid() != mine:  # a process that the script forked and did not end
            os._exit(0)
        answer = _with_figures(answer, rich_output, tell)
        for stream in streams[1:]:
            _flush(stream)
        os.write(output, order["mark"].encode())
        pipes.send({**answer, "mark": order["mark"]})


def _with_figures(answer: Answer, rich_output: RichOutput, tell: FormatError) -> Answer:
    try:
        rich_output.figures()
    except BaseException as error:  # noqa: BLE001 - plotting runs what the script put into it
        if answer["ending"] == "done":
            return {**answer, "ending": "error", "error": tell(error)}
    return answer


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except BaseException as error:  # noqa: BLE001 - the script may have closed or replaced it
        del error


MAX_TRACEBACK_CHARS = 16_000  # of a traceback
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to load


def traceback_of(error: BaseException, own: Sequence[str], foreign: Sequence[str]) -> str:
    """Format an error and its causes from the script's first line on, without the frames below it.
    Paths are shown relative to the folders `own` and `foreign`. Of frames in the foreign ones,
    Python's and its packages', only the last is shown."""
    try:
        told = traceback.TracebackException.from_exception(error)
        for part in _chained(told):
            part.stack[:] = _kept_frames(part.stack, foreign)
        text = "".join(told.format())
    except BaseException as failed:  # noqa: BLE001 - `__str__` and the like are the script's
        return f"{type(error).__name__}, which could not be told ({type(failed).__name__})."
    for folder in (*own, *foreign):
        text = text.replace(folder + os.sep, "")
    return shortened(text.rstrip("\n"), MAX_TRACEBACK_CHARS)


def missing(error: BaseException) -> str:
    """The module that an import did not find because it is not installed; "" for other errors."""
    seen: set[int] = set()
    found: BaseException | None = error if isinstance(error, ImportError) else None
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, ModuleNotFoundError) and isinstance(found.name, str):
            root = found.name.partition(".")[0]
            return root if root and not _is_there(root) else ""
        # Libraries wrap the error in a message about the package that they need.
        found = found.__cause__ or found.__context__
    return ""


def shortened(text: str, longest: int) -> str:
    """A text, without its middle if it is too long."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters are left out …\n{text[-half:]}"


def _is_there(module: str) -> bool:
    try:
        return module in sys.modules or find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _chained(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    seen: set[int] = set()
    waiting = [told]
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            members = getattr(part, "exceptions", None) or ()
            waiting += [each for each in (part.__cause__, part.__context__, *members) if each]


def _kept_frames(
    stack: list[traceback.FrameSummary], foreign: Sequence[str]
) -> list[traceback.FrameSummary]:
    ours = (_HERE + os.sep, "<frozen importlib")
    frames = [frame for frame in stack if not frame.filename.startswith(ours)]
    places = tuple(folder + os.sep for folder in foreign)
    last = len(frames) - 1
    return [
        frame
        for number, frame in enumerate(frames)
        if number == last or not frame.filename.startswith((*places, "<frozen "))
    ]


Adapt = Callable[[ModuleType], None]


class ImportHooks:
    """Calls a function after the first import of a module, so that modules which a script does not
    use need not be loaded for being adapted."""

    def __init__(self) -> None:
        self._adapt: dict[str, Adapt] = {}

    def after(self, name: str, adapt: Adapt) -> None:
        """Call `adapt` with the module after it is imported, or now if it already is."""
        if name in sys.modules:
            adapt(sys.modules[name])
            return
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self._adapt[name] = adapt

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the import system calls each finder."""
        if name not in self._adapt:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        adapt, load = self._adapt.pop(name), spec.loader.exec_module

        def load_and_adapt(module: ModuleType) -> None:
            load(module)
            adapt(module)

        spec.loader.exec_module = load_and_adapt  # type: ignore[method-assign]
        return spec


class ShippedPackages:
    """Finds the application's packages, of whose folder nothing else can be read."""

    def __init__(self, folders: dict[str, str]) -> None:
        """`folders` maps the names of packages to their folders."""
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the import system calls each finder."""
        folder = self._folders.get(name)
        if folder is None:
            return None
        return spec_from_file_location(
            name, f"{folder}{os.sep}__init__.py", submodule_search_locations=[folder]
        )


DOTS_PER_INCH = 150


class RichOutput:
    """Numbered files in a folder."""

    def __init__(self, folder: str, hooks: ImportHooks) -> None:
        self._folder = folder
        self._saved: WeakSet[Any] = WeakSet()  # figures that the script has saved itself
        hooks.after("matplotlib", _quieten_fonts)
        hooks.after("matplotlib.figure", self._watch_saving)

    def keep(self, value: object) -> None:
        """Save a table as CSV or a picture as PNG; ignore other values."""
        pandas, picture = sys.modules.get("pandas"), sys.modules.get("PIL.Image")
        if pandas is not None and isinstance(value, pandas.DataFrame | pandas.Series):
            plain = isinstance(value.index, pandas.RangeIndex)
            value.to_csv(self._free("table", "csv"), index=not plain)
        elif picture is not None and isinstance(value, picture.Image):
            value.save(self._free("picture", "png"))

    def figures(self) -> None:
        """Save open figures that the script did not save itself."""
        plotting = sys.modules.get("matplotlib.pyplot")
        if plotting is None or not hasattr(plotting, "get_fignums"):
            return
        try:
            for number in plotting.get_fignums():
                figure = plotting.figure(number)
                if figure not in self._saved and figure.get_axes():
                    figure.savefig(self._free("figure", "png"), dpi=DOTS_PER_INCH)
        finally:
            plotting.close("all")

    def _free(self, stem: str, suffix: str) -> str:
        number = 1
        while os.path.lexists(path := f"{self._folder}{os.sep}{stem}-{number}.{suffix}"):
            number += 1
        return path

    def _watch_saving(self, module: ModuleType) -> None:
        figure, saved = module.Figure, self._saved
        save = figure.savefig

        # The library inspects the names of its functions.
        @functools.wraps(save)
        def savefig(self: Any, fname: Any, *args: Any, **options: Any) -> Any:
            done = save(self, fname, *args, **options)
            if isinstance(fname, str | os.PathLike):
                saved.add(self)
            return done

        figure.savefig = savefig


def _quieten_fonts(module: ModuleType) -> None:
    """Fonts are searched in each new sandbox, and the library's warning about that on slow
    computers would be among the script's output."""
    logging = module.logging
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
