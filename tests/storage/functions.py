"""Functions for the code library that its tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.code import Function, FunctionDraft, Library
from jarvis_desktop.storage.code_library import CodeLibrary
from tests.storage.samples import START


def drafted(
    name: str = "double", says: str = "Twice the number.", factor: int = 2
) -> FunctionDraft:
    """A function that the library takes."""
    source = f'"""Sums."""\n\n\ndef {name}(x: int) -> int:\n    """{says}\n\n    Exact."""\n'
    tests = (
        f"from library import {name}\n\n\ndef test_it():\n    assert {name}(3) == {3 * factor}\n"
    )
    return FunctionDraft(name, f"{source}    return {factor} * x\n", tests, ("numpy",))


def saved(library: Library, draft: FunctionDraft) -> Function:
    """Keep it, as somebody who agreed to it."""
    return library.save(draft, approved=draft.sha256)


def opened(
    folder: Path, meaning: Callable[[Sequence[str]], list[list[float]]] | None = None
) -> CodeLibrary:
    """The library in a folder, with a clock that goes on by a minute each time."""
    minutes = iter(range(10_000))

    def now() -> datetime:
        return START + timedelta(minutes=next(minutes))

    return CodeLibrary(folder / "library", folder / "history.db", now=now, meaning=meaning)


def module(folder: Path, name: str) -> Path:
    """A file of its package."""
    return folder / "library" / "library" / name
