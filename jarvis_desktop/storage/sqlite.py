"""sqlite-utils without pandas and numpy. It imports both wherever they are installed, for types of
theirs that nobody stores here: half a second of every start, and 90 MB."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

HEAVY = ("numpy", "pandas")


def _light() -> None:
    """Import it, and let nothing else miss anything meanwhile, also in other threads."""
    usual = importlib.import_module

    def import_module(name: str, package: str | None = None) -> ModuleType:
        asks = sys._getframe(1).f_globals.get("__name__")
        if name in HEAVY and asks == "sqlite_utils.db":
            raise ImportError(name)
        return usual(name, package)

    importlib.import_module = import_module
    try:
        usual("sqlite_utils")
    finally:
        importlib.import_module = usual


_light()

from sqlite_utils import Database, Migrations  # noqa: E402

__all__ = ["Database", "Migrations"]
