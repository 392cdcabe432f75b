"""Saves figures that a script leaves open, and tables and pictures that are its last value.

The libraries are found among the modules that a script has imported; none is imported here.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from weakref import WeakSet

TYPE_CHECKING = False  # of `typing`, which takes a fifth of the start to load
if TYPE_CHECKING:
    from typing import Any


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
