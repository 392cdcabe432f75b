"""What goes away, and when: files of deleted turns, and what dead runs left behind."""

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from jarvis_desktop.storage import artifacts
from jarvis_desktop.storage.artifacts import CLAIM_SECONDS, DAY, FileStore
from tests.storage.samples import in_store, made_by_expert, mode, within_turn, written


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def test_sweep_takes_what_dead_runs_left(store: FileStore, tmp_path: Path):
    old, new = store.workdir(), store.workdir()
    written(old / "half.wav")
    half = written(tmp_path / "store" / "incoming" / "half")
    used = store.take_in(written(tmp_path / "used.txt", "used")).path
    unused = store.take_in(written(tmp_path / "unused.txt", "unused")).path
    fresh = store.take_in(written(tmp_path / "fresh.txt", "fresh")).path
    assert used is not None
    assert unused is not None
    assert fresh is not None
    long_ago = time.time() - DAY - 60
    for path in (old, half, used, unused):
        os.utime(path, (long_ago, long_ago))
    assert store.sweep() == 2
    assert not old.exists()
    assert not half.exists()
    assert new.exists()
    assert store.sweep(keep={used}) == 1
    assert [path.exists() for path in (used, unused, fresh)] == [True, False, True]


def test_sweep_spares_an_old_file_that_was_given_again(store: FileStore, tmp_path: Path):
    kept = store.take_in(written(tmp_path / "a.txt")).path
    assert kept is not None
    os.utime(kept, (0, 0))
    store.take_in(tmp_path / "a.txt")
    assert store.sweep(keep=set()) == 0


def test_a_file_given_to_a_turn_under_way_stays_until_that_is_over(
    store: FileStore, tmp_path: Path
):
    path = written(tmp_path / "n.txt")
    with within_turn("a"):
        kept = store.take_in(path).path
    with within_turn("b"):
        store.take_in(path)
    assert kept is not None
    store.release("a")
    other = FileStore(tmp_path / "store")  # as another process would see it
    other.remove([kept])
    assert kept.read_text() == "words"
    other.release("b")
    other.remove([kept])
    assert in_store(tmp_path) == []


def test_a_result_of_a_turn_under_way_stays_as_well(store: FileStore, tmp_path: Path):
    with within_turn("a"):
        kept = store.keep(made_by_expert(store)).path
    assert kept is not None
    store.remove([kept])
    assert kept.exists()
    store.release("a")
    store.remove([kept])
    assert not kept.exists()


def test_the_claim_of_a_run_that_died_does_not_last(store: FileStore, tmp_path: Path):
    with within_turn("a"):
        kept = store.take_in(written(tmp_path / "n.txt")).path
    assert kept is not None
    (claim,) = (tmp_path / "store" / "claims").iterdir()
    hours_ago = time.time() - CLAIM_SECONDS - 1
    os.utime(claim, (hours_ago, hours_ago))
    store.remove([kept])
    assert not kept.exists()
    os.utime(claim, (0, 0))
    assert store.sweep() == 1
    assert in_store(tmp_path) == []


def test_a_file_claimed_while_it_is_removed_is_put_back(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(tmp_path / "n.txt")
    kept = store.take_in(path).path
    assert kept is not None
    rename = Path.rename

    def given_again(self: Path, target: Path) -> Path:
        with within_turn("b"):
            store.take_in(path)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", given_again)
    store.remove([kept])
    assert kept.read_text() == "words"


def test_tidy_sweeps_once_a_day(store: FileStore, tmp_path: Path):
    asked: list[int] = []

    def referred() -> frozenset[Path]:
        asked.append(1)
        return frozenset()

    stamp = tmp_path / "store" / "swept"
    unused = store.take_in(written(tmp_path / "a.txt")).path
    assert unused is not None
    os.utime(unused, (0, 0))
    assert store.tidy(referred) == 1
    assert store.tidy(referred) == 0
    assert len(asked) == 1
    assert mode(stamp) == 0o600
    for moment in (time.time() - DAY - 60, time.time() + 2 * DAY):
        os.utime(stamp, (moment, moment))
        store.tidy(referred)
    assert len(asked) == 3


def test_tidy_does_a_part_at_a_time(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(artifacts, "MAX_SWEPT", 2)
    for _ in range(5):
        os.utime(store.workdir(), (0, 0))
    assert [store.tidy(frozenset) for _ in range(4)] == [2, 2, 1, 0]


def test_tidy_leaves_a_store_alone_that_it_cannot_mark(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(self: Path, mode: int = 0) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    os.utime(store.workdir(), (0, 0))
    monkeypatch.setattr(Path, "touch", refused)
    assert store.tidy(frozenset) == 0
    monkeypatch.undo()
    assert store.tidy(frozenset) == 1


def test_a_sweep_outlives_folders_that_are_gone(store: FileStore, tmp_path: Path):
    shutil.rmtree(tmp_path / "store" / "incoming")
    os.utime(store.workdir(), (0, 0))
    assert store.sweep(keep=frozenset()) == 1
