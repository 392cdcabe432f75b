"""The AppDir, out of which an AppImage is made: it starts wherever it is, also read-only."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import build
import checks
import pytest

from jarvis_desktop import __version__
from jarvis_desktop.paths import APP_ID

ROOT = Path(__file__).parents[2]


def test_it_is_laid_out_as_the_runtime_of_appimage_expects(tmp_path: Path) -> None:
    bundle = tmp_path / "a folder" / "JARVIS.AppDir"
    build.lay_out_bundle(bundle)
    program = bundle / build.HOME / "bin" / build.NAME
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    program.chmod(0o755)
    link = tmp_path / "jarvis"
    link.symlink_to(bundle / "AppRun")
    for start in (bundle / "AppRun", link):
        done = subprocess.run([start, "ask", "two words"], cwd="/", capture_output=True, text=True)
        assert done.stdout == "ask|two words|"
    entry = (bundle / f"{APP_ID}.desktop").read_text("utf-8")
    icon = re.search(r"^Icon=(.+)$", entry, re.MULTILINE)
    assert icon
    assert (bundle / f"{icon[1]}.png").read_bytes() == (bundle / ".DirIcon").read_bytes()
    share = bundle / "usr" / "share"
    assert (share / "applications" / f"{APP_ID}.desktop").is_file()
    assert (share / "metainfo" / f"{APP_ID}.metainfo.xml").is_file()
    assert (share / "icons/hicolor/256x256/apps" / f"{APP_ID}.png").is_file()


def test_a_package_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["snap"], ["deb", "onedir"]):
        assert build.main(arguments) == 2
    assert "wheel|deb|onedir|appdir|flatpak|windows|macos|all" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
def test_an_image_of_it_is_used_where_nothing_can_be_written(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "packaging/build.py", "appdir"], check=True)
    (image,) = (ROOT / "dist").glob(f"jarvis-desktop-{__version__}-appdir-*.squashfs")
    bundle = tmp_path / "a folder" / "AppDir"
    bundle.parent.mkdir()
    subprocess.run(["unsquashfs", "-quiet", "-no-progress", "-d", bundle, image], check=True)
    home = str(tmp_path / "home")

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        plain = {"PATH": "/usr/bin:/bin", "JARVIS_DESKTOP_HOME": home, "HOME": home, **variables}
        locked = ("bwrap", "--dev-bind", "/", "/", "--ro-bind", bundle, bundle)
        return subprocess.run(
            [*locked, bundle / "AppRun", *arguments],
            env=plain, cwd="/", capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert re.search(r"It is \d\d?:\d\d", run("ask", "what time is it").stdout)
    assert "Get the new version where you got this one." in run("update").stderr
    told = run("update", APPIMAGE="/home/anna/JARVIS.AppImage").stderr
    assert "in the place of /home/anna/JARVIS.AppImage" in told
    with checks.private_session() as screen:
        start = {**screen, "JARVIS_DESKTOP_HOME": home}
        window = subprocess.Popen(
            [bundle / "AppRun"], env=start, cwd="/", text=True, start_new_session=True
        )
        with checks.ended_after(window):
            look = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "JARVIS"]
            subprocess.run(look, env=screen, check=True, timeout=120)
