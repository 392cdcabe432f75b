"""Folders that strangers filled go with all that is in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jarvis_desktop.process import safe_delete
from jarvis_desktop.process.safe_delete import remove


def deep(folder: Path, count: int) -> None:
    """Folders within folders, beyond what a path can name."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(count):
            os.mkdir("dddd")
            os.chdir("dddd")
        Path("last.txt").write_text("x")
    finally:
        os.chdir(before)


def test_depth_links_and_closed_folders_are_no_hindrance(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "kept.txt").write_text("x")
    folder = tmp_path / "folder"
    (folder / "closed" / "within").mkdir(parents=True)
    (folder / "closed" / "within" / "a.txt").write_text("x")
    (folder / "closed" / "within").chmod(0)
    (folder / "closed").chmod(0o300)
    (folder / "away").symlink_to(private, target_is_directory=True)
    os.link(private / "kept.txt", folder / "hard.txt")
    os.mkfifo(folder / "pipe")
    deep(folder, 1200)
    remove(folder)
    assert not folder.exists()
    assert (private / "kept.txt").read_text() == "x"


def test_a_link_a_file_and_nothing_are_left_as_they_are(tmp_path: Path) -> None:
    tmp_path /= "here"
    tmp_path.mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder", target_is_directory=True)
    for name in ("file", "link", "none"):
        remove(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "link"]


def test_what_cannot_be_opened_is_left(tmp_path: Path) -> None:
    assert safe_delete.opened(tmp_path / "none") == []


def test_on_windows_the_system_bounds_how_deep_folders_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.process.safe_delete.sys.platform", "win32")
    (tmp_path / "folder" / "a").mkdir(parents=True)
    remove(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
