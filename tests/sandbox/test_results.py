"""What a script may leave for whoever looks through its folder, and what is taken of it."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path, PurePosixPath

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.sandbox import results
from jarvis_desktop.sandbox.results import (
    CollectedFiles,
    CollectionLimits,
    collect_files,
    copy_in,
    remove_new_files,
    stamp_files,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "to"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the person's, which must never come out."""
    kept = tmp_path / "id_rsa"
    kept.write_text("a canary")
    return kept


def everything(to: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in to.iterdir())


def test_links_of_all_kinds_are_left_out(folder: Path, to: Path, secret: Path) -> None:
    (folder / "link.txt").symlink_to(secret)
    (folder / "dangling.txt").symlink_to("/no/such")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "away").symlink_to(secret.parent, target_is_directory=True)
    os.link(secret, folder / "hard.txt")
    taken = collect_files(folder, {}, to)
    assert taken.made == ()
    assert sorted(taken.left_out) == [
        "away was left out: it is a link.",
        "dangling.txt was left out: it is a link.",
        "hard.txt was left out: it is the same file as another one.",
        "link.txt was left out: it is a link.",
        "loop.txt was left out: it is a link.",
    ]


def test_what_would_block_or_be_run_is_left_out(folder: Path, to: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "tool.txt").write_text("x")
    (folder / "tool.txt").chmod(0o4755)
    near = socket.socket(socket.AF_UNIX)
    near.bind(str(folder / "socket.txt"))
    near.close()
    taken = collect_files(folder, {}, to)
    assert taken.made == ()
    assert sorted(taken.left_out) == [
        "pipe.txt was left out: it is no file, but a pipe, a socket or a device.",
        "socket.txt was left out: it is no file, but a pipe, a socket or a device.",
        "tool.txt was left out: it would run as another user.",
    ]


def test_a_file_that_turns_into_something_else_is_not_taken(
    folder: Path, to: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names are exchanged after they were looked at and before they are opened."""
    for name in ("link.txt", "pipe.txt", "hard.txt", "gone.txt"):
        (folder / name).write_text("harmless")
    look = results._Collector.look

    def exchange(*args: object) -> None:
        path = args[1]
        assert isinstance(path, PurePosixPath)
        place = folder / path
        place.unlink()
        if path.name == "link.txt":
            place.symlink_to(secret)
        elif path.name == "pipe.txt":
            os.mkfifo(place)
        elif path.name == "hard.txt":
            os.link(secret, place)
        look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(results._Collector, "look", exchange)
    taken = collect_files(folder, {}, to)
    assert taken.made == ()
    assert len(taken.left_out) == 4
    assert everything(to) == ""


def test_a_folder_that_turns_into_a_link_leads_nowhere(
    tmp_path: Path, folder: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is opened, and while it is: what is open stays the folder that it was."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "a.txt").write_text("a canary")
    for name in ("early", "late"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("harmless")
    look = results._Collector.look

    def exchange(*args: object) -> None:
        path = str(args[1])
        if path in ("early", "late/a.txt"):
            name = path.partition("/")[0]
            (folder / name).rename(folder / f".{name}")
            (folder / name).symlink_to(private, target_is_directory=True)
        look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(results._Collector, "look", exchange)
    taken = collect_files(folder, {}, to)
    assert [item.name for item in taken.made] == ["a.txt"]
    assert everything(to) == "harmless"


def test_a_folder_exchanged_all_the_time_never_gives_what_is_behind(
    tmp_path: Path, folder: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "a.txt").write_text("a canary")
    (folder / "plain").mkdir()
    (folder / "plain" / "a.txt").write_text("harmless")
    (folder / ".link").symlink_to(private, target_is_directory=True)
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for source, target in (("plain", ".kept"), (".link", "plain"), ("plain", ".link")):
                os.rename(folder / source, folder / target)
            os.rename(folder / ".kept", folder / "plain")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for number in range(200):
            to = tmp_path / "copies" / str(number)
            collect_files(folder, {}, to)
            assert "canary" not in everything(to)
    finally:
        stop.set()
        thread.join()


def test_sizes_and_numbers_are_held_to(folder: Path, to: Path) -> None:
    for name, size in (("a.txt", 10), ("b.txt", 11), ("c.txt", 9), ("d.txt", 5), ("e.txt", 1)):
        (folder / name).write_bytes(b"x" * size)
    (folder / "holes").touch()
    os.truncate(folder / "holes", 1 << 40)
    taken = collect_files(folder, {}, to, CollectionLimits(file=10, bytes=20, files=3))
    assert [item.name for item in taken.made] == ["a.txt", "c.txt", "e.txt"]
    assert list(taken.left_out) == [
        "b.txt was left out: it is larger than 0 kB.",
        "d.txt was left out: all files together are larger than 0 kB.",
        "holes was left out: it is larger than 0 kB.",
    ]
    assert collect_files(folder, {}, to, CollectionLimits(files=1)).left_out[0] == (
        "b.txt was left out: more than 1 files were made."
    )


def test_a_file_that_grows_while_it_is_read_is_left_out(
    folder: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("x")
    refusal = results._Collector._refusal
    looks: list[str] = []

    def grow(taking: results._Collector, status: os.stat_result) -> str:
        looks.append(refusal(taking, status))
        if len(looks) == 2:
            (folder / "a.txt").write_text("x" * 100)
        return looks[-1]

    monkeypatch.setattr(results._Collector, "_refusal", grow)
    taken = collect_files(folder, {}, to, CollectionLimits(file=50))
    assert looks == ["", ""]
    assert taken == CollectedFiles((), ("a.txt was left out: it grew while it was read.",))
    assert everything(to) == ""


def test_only_what_is_new_or_changed_is_taken_and_caches_are_not(folder: Path, to: Path) -> None:
    (folder / "old.csv").write_text("a")
    (folder / "changed.csv").write_text("a")
    before = stamp_files(folder)
    os.utime(folder / "changed.csv", (1, 1))
    (folder / "new.py").write_text("a")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "a.txt").write_text("a")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_text("a")
    taken = collect_files(folder, before, to)
    assert [(item.name, item.kind) for item in taken.made] == [
        ("changed.csv", Kind.TABLE),
        ("new.py", Kind.DOCUMENT),
    ]
    assert taken.left_out == ()


def test_names_are_shown_on_a_line_and_kept_where_they_can_be(folder: Path, to: Path) -> None:
    os.mkdir(folder / "one")
    os.mkdir(folder / "two")
    names = [b"a\nb\x1b[2J.png", b"\xff\xfe.txt", b"  .. ", "ж".encode() * 100 + b".csv", b"no"]
    for name in names:
        with open(os.path.join(os.fsencode(folder), name), "w") as file:
            file.write("x")
    for within in ("one", "two"):
        (folder / within / "same.TXT").write_text(within)
    taken = collect_files(folder, {}, to)
    copies = {item.name: item.path.name for item in taken.made if item.path}
    assert len(taken.made) == len(copies) == 7
    assert (copies["same.TXT"], copies["same-2.TXT"]) == ("same.TXT", "same-2.TXT")
    assert {"a b�[2J.png", "??.txt", "file", "no"} <= copies.keys()
    assert all(sign.isalnum() or sign in "-_.() " for name in copies.values() for sign in name)
    assert all(len(name.encode()) < 255 for name in copies.values())


def test_too_many_and_too_deep_folders_end_the_search(
    folder: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = folder
    for _ in range(40):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "a.txt").write_text("x")
    (folder / "z.txt").write_text("x")
    assert [item.name for item in collect_files(folder, {}, to).made] == ["z.txt"]
    monkeypatch.setattr(results, "MAX_ENTRIES", 3)
    assert len(stamp_files(folder)) <= 3
    for number in range(100):
        (folder / f"link{number}").symlink_to("x")
    monkeypatch.setattr(results, "MAX_ENTRIES", 1000)
    assert len(collect_files(folder, stamp_files(folder), to).left_out) == results.MAX_LEFT_OUT


def test_a_working_folder_that_became_a_link_gives_nothing(
    tmp_path: Path, folder: Path, to: Path, secret: Path
) -> None:
    folder.rmdir()
    folder.symlink_to(secret.parent, target_is_directory=True)
    assert collect_files(folder, {}, to) == CollectedFiles((), ())
    assert stamp_files(folder) == {}
    with pytest.raises(StorageError, match="cannot be copied"):
        copy_in(secret, folder, "x.txt")


def test_copies_that_cannot_be_kept_are_told(folder: Path, tmp_path: Path) -> None:
    (folder / "a.txt").write_text("x")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be saved"):
        collect_files(folder, {}, tmp_path / "file")
    taking = results._Collector({}, tmp_path / "gone", CollectionLimits())
    with (
        results._open_folder(folder) as spot,
        pytest.raises(results._UnwritableError),
    ):
        taking.look(PurePosixPath("a.txt"), spot, (folder / "a.txt").stat())


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\\b", "../x"])
def test_a_file_is_given_under_a_plain_name_only(folder: Path, secret: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file"):
        copy_in(secret, folder, name)
    assert list(folder.iterdir()) == []


def test_a_file_that_is_given_takes_the_place_of_what_is_there(
    folder: Path, tmp_path: Path, secret: Path
) -> None:
    source = tmp_path / "source.txt"
    source.write_text("given")
    (folder / "x.txt").symlink_to(secret)
    copy_in(source, folder, "x.txt")
    assert (folder / "x.txt").read_text() == "given"
    assert not (folder / "x.txt").is_symlink()
    assert secret.read_text() == "a canary"


def test_only_files_are_given(folder: Path, tmp_path: Path, secret: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(secret)
    with pytest.raises(InputError, match="is not a file"):
        copy_in(tmp_path / "pipe", folder, "x.txt")
    with pytest.raises(InputError, match="cannot be read"):
        copy_in(tmp_path / "link", folder, "x.txt")
    assert list(folder.iterdir()) == []


def test_without_descriptors_of_folders_links_are_left_out_too(
    folder: Path, to: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way that Windows is looked through."""
    monkeypatch.setattr(results, "BY_DESCRIPTOR", False)
    copy_in(secret, folder, "x.txt")
    copy_in(secret, folder, "x.txt")
    (folder / "deep").mkdir()
    (folder / "deep" / "a.txt").write_text("harmless")
    (folder / "away").symlink_to(secret.parent, target_is_directory=True)
    taken = collect_files(folder, stamp_files(folder), to)
    assert (taken.made, taken.left_out) == ((), ("away was left out: it is a link.",))
    assert [item.name for item in collect_files(folder, {}, to).made] == ["a.txt", "x.txt"]
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(secret.parent, target_is_directory=True)
    assert collect_files(folder, {}, to) == CollectedFiles((), ())


def test_a_folder_in_the_place_of_a_given_file_is_moved_out_of_sight(
    folder: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for by_descriptor in (True, False):
        monkeypatch.setattr(results, "BY_DESCRIPTOR", by_descriptor)
        (folder / "x.txt").mkdir()
        copy_in(secret, folder, "x.txt")
        assert (folder / "x.txt").read_text() == "a canary"
        assert list(stamp_files(folder)) == [PurePosixPath("x.txt")]
        (folder / "x.txt").unlink()


def test_what_is_new_or_changed_can_be_taken_back(folder: Path, secret: Path) -> None:
    (folder / "kept" / "new").mkdir(parents=True)
    for name in ("same.txt", "changed.txt", "kept/same.txt"):
        (folder / name).write_text("x")
    before = stamp_files(folder)
    (folder / "kept" / "new" / "closed").mkdir(mode=0)
    (folder / "kept").chmod(0)
    (folder / "changed.txt").write_text("more")
    (folder / ".hidden").mkdir()
    (folder / "new.txt").write_text("x")
    (folder / "link").symlink_to(secret.parent, target_is_directory=True)
    remove_new_files(folder, before)
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    assert left == ["kept", "kept/same.txt", "same.txt"]
    assert secret.read_text() == "a canary"
