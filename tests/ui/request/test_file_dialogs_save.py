"""What is written to where a person wants it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.ui.request.file_dialogs import write_atomically


def test_the_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    write_atomically(path, lambda part: part.write_text("after"))
    assert path.read_text() == "after"
    assert not list(tmp_path.glob(".*"))


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fill(part: Path) -> None:
        part.write_text("aft")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match=r"a\.txt could not be saved: No space left on device"):
        write_atomically(path, fill)
    assert path.read_text() == "before"
    assert not list(tmp_path.glob(".*"))
