"""A release as it is made, and read again by the program that is to find it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import release

from jarvis_desktop import __version__
from jarvis_desktop.app.release import PackageKind, read_release, wheel_name
from jarvis_desktop.core.errors import UnavailableError
from tests.releases import CHANGES


def test_what_is_signed_is_read_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path)
    key = tmp_path / "key"
    assert release.main(["key", str(key)]) == 0
    public = capsys.readouterr().out.strip()
    assert key.stat().st_mode & 0o777 == 0o600
    assert release.main(["key", str(key)]) == 1  # it is never written over
    assert release.main(["sign", str(key)]) == 1
    assert "no package of version" in capsys.readouterr().err
    for name in (
        wheel_name(__version__), wheel_name("9.9"), f"jarvis-desktop_{__version__}_amd64.deb",
    ):  # fmt: skip
        (tmp_path / name).write_bytes(b"x")
    assert release.main(["sign", str(key)]) == 0
    made = read_release((tmp_path / "release.json").read_bytes(), public)
    assert made.version == __version__
    deb = made.file_for(PackageKind.DEB, "linux-x86_64")
    assert deb.name == f"jarvis-desktop_{__version__}_amd64.deb"
    assert len(made.files) == 2
    other = base64.b64encode(bytes(32)).decode()
    with pytest.raises(UnavailableError, match="not signed"):
        read_release((tmp_path / "release.json").read_bytes(), other)
    assert release.main(["sign", str(tmp_path / "none")]) == 1
    assert release.main([]) == 2


def test_the_news_are_those_of_released_versions() -> None:
    kept = release.changes(CHANGES)
    assert kept.startswith("## [0.3.0]")
    assert "Nothing yet" not in kept
    long = release.changes(f"# Changelog\n\n## [2.0]\n\n- New.\n\n## [1.0]\n\n{'x' * 200_000}\n")
    assert long == "## [2.0]\n\n- New.\n"
