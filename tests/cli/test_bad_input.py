"""Files that cannot be used: one clear sentence that names the file, exit code 1, no traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Jarvis
from tests.scenarios import files


def missing(folder: Path) -> Path:
    return folder / "missing.png"


def directory(folder: Path) -> Path:
    (folder / "folder.png").mkdir()
    return folder / "folder.png"


def empty(folder: Path) -> Path:
    (folder / "empty.png").touch()
    return folder / "empty.png"


def truncated(folder: Path) -> Path:
    whole = files.photo(folder / "cut.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    return folder / "cut.png"


def words_as_picture(folder: Path) -> Path:
    (folder / "words.png").write_text("These are only words.")
    return folder / "words.png"


def binary_as_text(folder: Path) -> Path:
    (folder / "notes.txt").write_bytes(bytes(range(256)) * 8)
    return folder / "notes.txt"


def bomb(folder: Path) -> Path:
    from PIL import Image

    Image.new("1", (20_000, 20_000)).save(folder / "bomb.png")
    return folder / "bomb.png"


def link_out(folder: Path) -> Path:
    (folder / "link.txt").symlink_to("/etc/passwd")
    return folder / "link.txt"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.txt")
    return folder / "pipe.txt"


def device(folder: Path) -> Path:
    return Path("/dev/zero")


@pytest.mark.parametrize(
    "make",
    [
        missing, directory, empty, truncated, words_as_picture, binary_as_text, bomb, link_out,
        pipe, device,
    ],
)  # fmt: skip
def test_a_bad_file(jarvis: Jarvis, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    shown = jarvis("ask", "Read the text in this", "--file", path, "--json")
    assert shown.code == 1
    turn = shown.json
    assert turn["status"] == "failed"
    assert path.name in turn["reply"]
    assert "root:" not in turn["reply"]
    kept = jarvis("history", "show", "last", "--json").json["turns"][0]
    assert kept["reply"] == turn["reply"]


def test_a_wrong_extension_is_no_obstacle(jarvis: Jarvis, tmp_path: Path) -> None:
    files.page(tmp_path / "page.png", "NO ENTRY", size=40).rename(tmp_path / "page.txt")
    shown = jarvis("ask", "What does this sign say?", "--file", "page.txt")
    assert shown.code == 0
    assert "NO ENTRY" in shown.out


def test_the_good_file_is_done_beside_the_bad_one(jarvis: Jarvis, tmp_path: Path) -> None:
    files.photo(tmp_path / "a.png")
    truncated(tmp_path)
    shown = jarvis("ask", "blur a.png and blur cut.png")
    assert shown.code == 3
    assert "a-blur" in shown.out
    assert "cut.png is damaged" in shown.out
