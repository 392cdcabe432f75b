"""Histories begin as copies of an empty one: to make all tables takes most of a short test."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jarvis_desktop.storage import database
from tests import hidden


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        database.connect(path)[0].close()
        return path.read_bytes()


@pytest.fixture(autouse=True)
def as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that a test starts imports what users have."""
    monkeypatch.setenv("PYTHONPATH", hidden.PATH)


@pytest.fixture(autouse=True)
def copied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where the database itself is tested."""
    if request.path.name.startswith("test_database"):
        return
    content, real = _empty(), database._open

    def opened(path: Path) -> database.Database:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(content)
        return real(path)

    monkeypatch.setattr(database, "_open", opened)
