"""What is held out is looked over within a second, and refused with a reason."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.file_inspection import (
    ACCEPTED,
    MAX_FILES,
    TIMEOUT_S,
    FileInspection,
    look_over,
)

Over = Callable[..., FileInspection]


@pytest.fixture
def over(tmp_path: Path) -> Over:
    store = FileStore(tmp_path / "store", max_bytes=1_000_000)
    return lambda *paths, **more: look_over(paths, store.look_at, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "some words\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_are_told_with_kind_and_size(over: Over, folder: Path) -> None:
    note, table = write(folder / "note.txt"), write(folder / "table.csv", "a,b\n1,2\n")
    offer = over(note, table, note)
    assert [(item.path, item.kind, item.size) for item in offer.files] == [
        (note, Kind.DOCUMENT, 11),
        (table, Kind.TABLE, 8),
    ]
    assert offer.refused == ()


def test_a_folder_stands_for_what_is_in_it(over: Over, folder: Path) -> None:
    files = [write(folder / name) for name in ("b.txt", "a.txt", "deep/er/c.txt")]
    write(folder / ".hidden.txt")
    write(folder / ".git" / "config.txt")
    (folder / "link.txt").symlink_to(files[0])
    (folder / "round").symlink_to(folder)
    offer = over(folder)
    assert {item.path for item in offer.files} == set(files)
    assert [item.path.name for item in offer.files][:2] == ["a.txt", "b.txt"]
    assert offer.refused == ()


def test_a_folder_without_files_is_told(over: Over, folder: Path) -> None:
    assert over(folder).refused == ("given has no files that can be read.",)


def test_a_link_stands_for_its_file(over: Over, folder: Path) -> None:
    note = write(folder / "note.txt")
    link = folder / "link"
    link.symlink_to(note)
    assert [item.path for item in over(link).files] == [note]
    link.unlink()
    link.symlink_to(folder / "nothing")
    assert over(link).refused == ("link is a link; give the file itself.",)


def test_what_is_no_file_is_refused(over: Over, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    served = socket.socket(socket.AF_UNIX)
    served.bind(str(folder / "socket"))
    odd: list[str | Path] = [
        "/dev/zero",
        "/dev/null",
        folder / "pipe",
        folder / "socket",
        folder / "gone.txt",
    ]
    odd += [write(folder / "empty.txt", ""), write(folder / "huge.txt", "x" * 1_000_001)]
    odd += ["a\0b", "x" * 5000]
    offer = over(*map(Path, odd))
    served.close()
    assert offer.files == ()
    assert len(offer.refused) == len(odd)
    for word in ("device", "pipe", "socket", "no file", "empty", "larger"):
        assert any(word in reason for reason in offer.refused), word


@pytest.mark.parametrize("name", ["'; rm -rf ~ #.txt", "\u202egnp.txt", "-rf", "new\nline.txt"])
def test_odd_names_are_names(over: Over, folder: Path, name: str) -> None:
    assert [item.path for item in over(write(folder / name)).files] == [folder / name]


def test_too_many_are_refused_with_their_number(over: Over, folder: Path) -> None:
    for number in range(MAX_FILES + 1):
        write(folder / f"{number}.txt")
    (reason,) = over(folder).refused
    assert (
        reason == f"Too many files: {MAX_FILES + 1}. At most {MAX_FILES} files go with one request."
    )
    (reason,) = over(folder / "0.txt", folder / "1.txt", room=1).refused
    assert reason.startswith("Too many files: 2 more.")
    assert len(over(folder / "0.txt", folder / "1.txt", room=2).files) == 2


def test_more_than_can_be_counted_are_not(
    over: Over, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.storage.file_inspection.MAX_ENTRIES", 30)
    for number in range(40):
        write(folder / f"{number}.txt")
    (reason,) = over(folder, room=10).refused
    assert "too many to count" in reason
    singles = [folder / f"{number}.txt" for number in range(40)]
    (reason,) = over(*singles, room=10).refused
    assert "too many to count" in reason


def test_a_slow_disk_ends_the_looking(over: Over, folder: Path) -> None:
    note, later = write(folder / "note.txt"), write(folder / "later.txt")
    times = iter([0.0, 0.1, TIMEOUT_S + 1])
    offer = over(note, later, clock=lambda: next(times))
    assert [item.path for item in offer.files] == [note]
    assert offer.refused == ("later.txt was not checked, because its disk is slow. Try again.",)


def test_a_folder_that_may_not_be_read_is_told(
    over: Over, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("jarvis_desktop.storage.file_inspection.os.scandir", refuse)
    assert over(folder).refused == ("given has no files that can be read.",)


def test_what_to_do_instead_is_said_once(over: Over, folder: Path) -> None:
    files = []
    for name in ("a.bin", "b.bin"):
        (folder / name).write_bytes(bytes(range(256)))
        files.append(folder / name)
    first, second = over(*files).refused
    assert first == f"a.bin is of no kind that can be read. {ACCEPTED}"
    assert second == "b.bin is of no kind that can be read."
