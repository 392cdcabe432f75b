"""Files are hashed once, and again only after they changed."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.verification import finish
from jarvis_desktop.process import model_files
from jarvis_desktop.process.model_files import MARKER, RECORD, check, digests

FILES = {"config.json": b"{}", "parts/model.bin": b"weights" * 1000}


@pytest.fixture
def hashed(monkeypatch) -> list[str]:
    """The names of the files that were hashed; files just written count as settled."""
    names: list[str] = []
    original = hashlib.file_digest

    def count(file, digest):
        names.append(Path(file.name).name)
        return original(file, digest)

    monkeypatch.setattr(hashlib, "file_digest", count)
    monkeypatch.setattr(model_files, "SETTLED_NS", 0)
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    for name, body in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    files = {
        name: {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        for name, body in FILES.items()
    }
    (folder / MARKER).write_text(json.dumps({"files": files}))
    return folder


def test_unchanged_files_are_hashed_once(folder, hashed):
    check("small", folder)
    assert hashed == ["config.json", "model.bin"]
    check("small", folder)
    check("small", folder)
    assert len(hashed) == 2
    digests(folder, FILES, fresh=True)
    assert len(hashed) == 4


def test_a_finished_download_or_import_is_not_hashed_again(folder, hashed):
    (folder / RECORD).write_text('{"config.json": "of the repository"}')
    (folder / f"{RECORD}.77").write_text("left by a killed process")
    finish(Expert("small", "t", "s"), folder, revision="", report=lambda *_: None)
    assert set(json.loads((folder / MARKER).read_text())["files"]) == set(FILES)
    moved = folder.rename(folder.with_name("moved"))
    hashed.clear()
    check("small", moved)
    assert hashed == []


def test_the_record_survives_the_note_of_the_last_use(folder, hashed):
    check("small", folder)
    os.utime(folder / MARKER)
    check("small", folder)
    assert len(hashed) == 2


def replaced(path: Path) -> None:
    path.with_name("other").write_bytes(b"WEIGHTS" * 1000)
    path.with_name("other").replace(path)


def changed_with_its_old_time(path: Path) -> None:
    before = path.stat()
    time.sleep(0.05)  # longer than the steps of a file system's clock
    path.write_bytes(b"WEIGHTS" * 1000)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def lengthened(path: Path) -> None:
    path.write_bytes(b"weights" * 1001)


@pytest.mark.parametrize("tamper", [replaced, changed_with_its_old_time, lengthened])
def test_a_changed_file_is_hashed_again_and_refused(folder, hashed, tamper):
    check("small", folder)
    hashed.clear()
    tamper(folder / "parts" / "model.bin")
    for _ in range(2):
        with pytest.raises(ExpertError, match=r"small is damaged: parts/model\.bin"):
            check("small", folder)
    assert hashed[0] == "model.bin"


def test_a_touched_file_is_hashed_once_more(folder, hashed):
    check("small", folder)
    os.utime(folder / "config.json", (1, 1))
    check("small", folder)
    check("small", folder)
    assert hashed == ["config.json", "model.bin", "config.json"]


def test_a_known_digest_is_still_compared_with_the_marker(folder, hashed):
    check("small", folder)
    marker = (folder / MARKER).read_text()
    wanted = hashlib.sha256(FILES["config.json"]).hexdigest()
    (folder / MARKER).write_text(marker.replace(wanted, "0" * 64))
    with pytest.raises(ExpertError, match=r"config\.json"):
        check("small", folder)


@pytest.mark.parametrize(
    "record",
    ["", "[]", "{", "[" * 100_000, '{"config.json": 1}', '{"config.json": {"state": []}}', "\xff"],
)
def test_a_broken_record_counts_as_none(folder, hashed, record):
    (folder / RECORD).write_text(record, "latin-1")
    check("small", folder)
    assert len(hashed) == 2
    check("small", folder)
    assert len(hashed) == 2


def test_a_file_changed_a_moment_ago_is_not_recorded(folder, hashed, monkeypatch):
    monkeypatch.setattr(model_files, "SETTLED_NS", 10**12)
    check("small", folder)
    check("small", folder)
    assert len(hashed) == 4
    assert not (folder / RECORD).exists()


def test_a_folder_that_cannot_be_written_is_checked_all_the_same(folder, hashed, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    check("small", folder)
    check("small", folder)
    assert len(hashed) == 4
