import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError
from jarvis_desktop.storage.artifacts import GIB, FileStore
from tests.storage.samples import in_store, made_by_expert, mode, written


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def refused(store: FileStore, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        store.take_in(path)
    return caught.value.message


def test_the_same_content_is_kept_once(store: FileStore, tmp_path: Path):
    first = store.take_in(written(tmp_path / "a.txt"))
    second = store.take_in(written(tmp_path / "b.txt"))
    assert first.path == second.path
    assert (first.name, second.name) == ("a.txt", "b.txt")
    assert in_store(tmp_path) == [first.path]


def test_only_the_person_may_read_the_store(tmp_path: Path):
    mask = os.umask(0)
    try:
        store = FileStore(tmp_path / "data" / "store")
        kept = store.take_in(written(tmp_path / "a.txt")).path
    finally:
        os.umask(mask)
    assert kept is not None
    assert mode(kept) == 0o400
    folders = (kept.parent, kept.parent.parent, store.workdir())
    assert [mode(folder) for folder in folders] == [0o700] * 3


def test_a_store_that_was_open_to_others_is_closed(tmp_path: Path):
    (tmp_path / "store").mkdir(mode=0o755)
    FileStore(tmp_path / "store")
    assert mode(tmp_path / "store") == 0o700


def test_the_suffix_follows_the_content(store: FileStore, tmp_path: Path):
    pdf = store.take_in(written(tmp_path / "letter.docx", "%PDF-1.4"))
    assert pdf.path is not None
    assert (pdf.kind, pdf.path.suffix, pdf.name) == (Kind.DOCUMENT, ".pdf", "letter.docx")


def test_things_that_are_no_files_are_refused_without_waiting(store: FileStore, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "link.txt").symlink_to(written(tmp_path / "real.txt"))
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "circle.txt").symlink_to(tmp_path / "circle.txt")
    (tmp_path / "folder.png").mkdir()
    assert refused(store, tmp_path / "pipe.wav") == "pipe.wav is a pipe, not a file."
    for name in ("link.txt", "dangling.txt", "circle.txt"):
        assert refused(store, tmp_path / name) == f"{name} is a link; give the file itself."
    assert (
        refused(store, tmp_path / "folder.png") == "folder.png is a folder; give the files in it."
    )
    assert refused(store, Path("/dev/zero")) == "zero is a device, not a file."
    assert refused(store, tmp_path / "no.txt") == "There is no file no.txt."
    assert refused(store, tmp_path / "real.txt" / "x") == "x cannot be opened: not a directory."
    assert refused(store, Path("/")) == "/ is a folder; give the files in it."
    assert in_store(tmp_path) == []


def test_a_socket_is_refused(store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket may be no longer than about 100 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("talk.sock")
        assert refused(store, Path("talk.sock")) == "talk.sock is a socket, not a file."


def test_a_file_exchanged_for_a_pipe_while_it_is_opened_is_refused(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(tmp_path / "a.txt")
    look = Path.lstat

    def exchanged(self: Path) -> os.stat_result:
        status = look(self)
        if self == path:
            path.unlink()
            os.mkfifo(path)
        return status

    monkeypatch.setattr(Path, "lstat", exchanged)
    assert refused(store, path) == "a.txt is a pipe, not a file."


def test_a_file_exchanged_for_a_link_while_it_is_opened_is_refused(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    secret, path = written(tmp_path / "secret.txt"), written(tmp_path / "a.txt")
    look = Path.lstat

    def exchanged(self: Path) -> os.stat_result:
        status = look(self)
        if self == path:
            path.unlink()
            path.symlink_to(secret)
        return status

    monkeypatch.setattr(Path, "lstat", exchanged)
    assert refused(store, path).startswith("a.txt cannot be opened: too many levels")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything; take its right away for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_file_that_may_not_be_read_is_refused(store: FileStore, tmp_path: Path):
    written(tmp_path / "closed.txt").chmod(0)
    with as_nobody():
        message = refused(store, tmp_path / "closed.txt")
    assert message == "closed.txt may not be read."


def test_empty_and_huge_files_are_refused_at_once(store: FileStore, tmp_path: Path):
    written(tmp_path / "empty.txt", "")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(3000 * GIB)  # more than could be read while the test lasts
    assert refused(store, tmp_path / "empty.txt") == "empty.txt is empty."
    assert refused(store, tmp_path / "huge.txt") == "huge.txt is larger than 2 GiB."


def test_text_with_binary_behind_it_is_refused(store: FileStore, tmp_path: Path):
    written(tmp_path / "a.txt", b"words " * 50_000 + bytes(9))
    assert refused(store, tmp_path / "a.txt") == (
        "a.txt begins as text, but what follows is binary."
    )
    assert in_store(tmp_path) == []


def test_a_file_that_grows_past_the_limit_while_it_is_read(tmp_path: Path):
    class Growing(FileStore):
        def _chunks(self, file, name, content):
            with path.open("ab") as more:
                more.write(b"x" * 100)
            return super()._chunks(file, name, content)

    path = written(tmp_path / "a.log", "x" * 50)
    store = Growing(tmp_path / "store", max_bytes=100)
    assert refused(store, path).startswith("a.log is larger than")
    assert in_store(tmp_path) == []


def test_a_file_that_is_emptied_while_it_is_read(tmp_path: Path):
    class Emptied(FileStore):
        def _chunks(self, file, name, content):
            os.truncate(path, 0)
            return super()._chunks(file, name, content)

    path = written(tmp_path / "a.log")
    assert refused(Emptied(tmp_path / "store"), path) == "a.log is empty."


@pytest.mark.parametrize("name", ["a\nb\x1b[31m.txt", "x\u202egnp.txt", "\udcff.txt"])
def test_hostile_names_stay_on_one_line(store: FileStore, tmp_path: Path, name: str):
    written(tmp_path / name, "")
    message = refused(store, tmp_path / name)
    assert len(message.splitlines()) == 1
    assert not {"\x1b", "\u202e", "\udcff"} & set(message)
    written(tmp_path / name)
    kept = store.take_in(tmp_path / name)
    assert kept.name.encode()
    assert len(kept.name.splitlines()) == 1


@pytest.mark.parametrize("name", ["a" * 10_000, "a\0b"])
def test_names_that_no_file_can_have(store: FileStore, tmp_path: Path, name: str):
    message = refused(store, tmp_path / name)
    assert len(message) < 150


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path):
    written(tmp_path / "big.txt", "x" * 300_000)
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from jarvis_desktop.core.errors import StorageError\n"
        "from jarvis_desktop.storage.artifacts import FileStore\n"
        "store = FileStore(Path(sys.argv[1]) / 'store')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: store.take_in(Path(sys.argv[1]) / 'big.txt')\n"
        "except StorageError as error: print(error.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == "The disk is full: big.txt could not be saved.\n"
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


def test_a_store_that_cannot_be_made(tmp_path: Path):
    written(tmp_path / "store")
    with pytest.raises(
        StorageError, match=r"cannot be used: (not a directory|file exists)\."
    ) as caught:
        FileStore(tmp_path / "store")
    assert caught.value.hint


def test_a_result_is_kept_by_its_hash_and_the_same_one_twice_is_fine(store: FileStore):
    first, second = store.keep(made_by_expert(store)), store.keep(made_by_expert(store, "b.wav"))
    assert first.path == second.path
    assert mode(first.path) == 0o400
    assert store.keep(first) == first


def test_a_suffix_of_an_experts_file_is_not_trusted(store: FileStore):
    kept = store.keep(made_by_expert(store, "out.w a"))
    assert kept.path is not None
    assert kept.path.suffix == ""


def test_an_expert_cannot_hand_out_other_files(store: FileStore, tmp_path: Path):
    secret = written(tmp_path / "secret.wav")
    workdir = store.workdir()
    (workdir / "link.wav").symlink_to(secret)
    (workdir / "hard.wav").hardlink_to(secret)
    (workdir / "out").symlink_to(tmp_path)
    (workdir / "folder.wav").mkdir()
    os.mkfifo(workdir / "pipe.wav")
    paths = (
        secret,
        workdir / "link.wav",
        workdir / "hard.wav",
        workdir / "out" / "secret.wav",
        workdir / "folder.wav",
        workdir / "pipe.wav",
        workdir / "a\0b",
    )
    for path in paths:
        with pytest.raises(ExpertError, match="returned no usable file"):
            store.keep(Artifact(Kind.AUDIO, path=path))
    assert secret.read_text() == "words"


def test_a_result_exchanged_while_it_is_kept_is_refused(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    secret, artifact = written(tmp_path / "secret.wav"), made_by_expert(store)
    rename = Path.replace

    def exchanged(self: Path, target: Path) -> Path:
        self.unlink()
        self.symlink_to(secret)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", exchanged)
    with pytest.raises(ExpertError, match="was replaced"):
        store.keep(artifact)
    assert secret.read_text() == "words"
    assert list((tmp_path / "store").glob("??/*")) == []


def test_only_work_folders_are_discarded(store: FileStore, tmp_path: Path):
    written(tmp_path / "mine" / "a.txt")
    for path in (tmp_path / "mine", tmp_path, store.workdir().parent):
        with pytest.raises(StorageError):
            store.discard(path)
    assert (tmp_path / "mine" / "a.txt").exists()


def test_remove_touches_only_the_stores_files(store: FileStore, tmp_path: Path):
    kept = store.take_in(written(tmp_path / "a.txt")).path
    assert kept is not None
    mine = written(tmp_path / "ab" / "abc.txt")
    hidden = written(tmp_path / "..abc.txt")
    root = tmp_path / "store"
    beyond = [root / ".." / "ab" / "abc.txt", root / ".." / "..abc.txt", root / "ab" / ("ab" * 200)]
    assert not any(store.holds(path) for path in beyond)
    store.remove([kept, kept, mine, *beyond])
    assert not kept.exists()
    assert mine.exists()
    assert hidden.exists()
