"""Does something once, right after a module is imported for the first time, whoever imports it:
what is adapted for the sandbox need not be loaded for scripts that do not use it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

Adapt = Callable[[ModuleType], None]


class Hooks:
    """A finder of modules that finds only those which something is to be done to."""

    def __init__(self) -> None:
        self._adapt: dict[str, Adapt] = {}

    def after(self, name: str, adapt: Adapt) -> None:
        """Call `adapt` with the module of that name once it is imported, or now where it is."""
        if name in sys.modules:
            adapt(sys.modules[name])
            return
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self._adapt[name] = adapt

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the import system asks each finder."""
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
