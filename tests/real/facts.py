"""What the catalogue says of an expert, against its real weights."""

from __future__ import annotations

import os
from pathlib import Path

import real_weights

from jarvis_desktop.app.application import Application
from jarvis_desktop.core.expert import Expert


def check_download(app: Application, expert: Expert, name: str) -> None:
    """Its size, within a twentieth, its licence and its repository."""
    folder, table = app.weights.folder(expert), real_weights.TABLE[name]
    assert folder
    size = sum((folder / file).stat().st_size for file in table.files if (folder / file).exists())
    assert abs(size / 1e6 / expert.download_mb - 1) < 0.05, size
    assert table.licence.startswith(expert.licence)
    assert expert.repo in table.source


def child_that_maps(library: str) -> int:
    """The process id of our youngest child that has loaded a library."""
    found: list[tuple[int, int]] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and library in (folder / "maps").read_text():
                found.append((int(fields[19]), int(folder.name)))  # when it started
        except OSError:  # it has ended
            continue
    assert found, f"no child has loaded {library}"
    return max(found)[1]


def peak_bytes(pid: int) -> int:
    """The most main memory that a process has taken."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
