"""What PySide6 does to Python's imports is undone."""

from __future__ import annotations

import builtins
import linecache

import jarvis_desktop.ui  # noqa: F401


def test_imports_are_pythons_own() -> None:
    assert builtins.__import__ is vars(builtins)["__orig_import__"]


def test_the_source_of_a_module_is_not_kept() -> None:
    import this as unusual

    assert unusual.__file__ not in linecache.cache
