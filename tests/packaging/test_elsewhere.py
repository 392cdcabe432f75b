"""The folders for Windows and macOS, and what makes installers of them there."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import elsewhere
import pytest
from locked import MACOS as OLDEST_MACOS
from locked import LockedFile, TargetSystem

from jarvis_desktop import __version__
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform.desktop import RUN_KEY

PACKAGING = Path(__file__).parents[2] / "packaging"
MACOS = PACKAGING / "macos"
SETUP = (PACKAGING / "windows" / "jarvis-desktop.iss").read_text("utf-8-sig")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were run; an interpreter and distlib are made up."""
    asked: list[list[str]] = []

    def interpreter(system: TargetSystem, folder: Path, uv: str) -> None:
        (folder / "bin").mkdir(parents=True)

    def run(*command: str | Path) -> None:
        asked.append([str(word) for word in command])
        if elsewhere.DISTLIB in command:
            folder = Path(command[command.index("--target") + 1]) / "distlib"
            folder.mkdir()
            for starter, _ in elsewhere.COMMANDS.values():
                (folder / starter).write_bytes(b"MZ " + starter.encode())

    wheel = LockedFile("a", "1.0", "https://files.example/a.whl", 7, "b" * 64)
    monkeypatch.setattr(elsewhere, "interpreter", interpreter)
    monkeypatch.setattr(elsewhere, "locked", lambda system, uv: [wheel])
    monkeypatch.setattr(elsewhere, "_run", run)
    return asked


def test_the_folder_for_windows_starts_its_own_python_wherever_it_is(
    asked: list[list[str]], tmp_path: Path
) -> None:
    made = elsewhere.windows(tmp_path / "made", tmp_path / "own.whl", "0.1.0", "uv")
    assert (made / "bundle").read_text() == "0.1.0\n"
    body = (made / "jarvis-desktop.exe").read_bytes()
    assert body.startswith(b"MZ t64.exe#!<launcher_dir>\\python.exe -I\r\n")
    assert b"<launcher_dir>\\pythonw.exe -I\r\n" in (made / "JARVIS.exe").read_bytes()
    with zipfile.ZipFile(made / "jarvis-desktop.exe") as packed:
        compile(packed.read("__main__.py"), "__main__.py", "exec")
    libraries = next(words for words in asked if "--require-hashes" in words)
    assert libraries[libraries.index("--python-platform") + 1] == "x86_64-pc-windows-msvc"
    assert ":all:" in libraries  # nothing is compiled for this system


def test_the_bundle_for_macos_is_started_as_itself(asked: list[list[str]], tmp_path: Path) -> None:
    made = elsewhere.macos(tmp_path / elsewhere.BUNDLE, tmp_path / "own.whl", "0.1.0", "uv")
    told = plistlib.loads((made / "Contents" / "Info.plist").read_bytes())
    assert told["CFBundleIdentifier"] == APP_ID
    assert told["CFBundleShortVersionString"] == told["CFBundleVersion"] == "0.1.0"
    assert told["LSMinimumSystemVersion"] == OLDEST_MACOS
    assert told["NSMicrophoneUsageDescription"]
    resources = made / "Contents" / "Resources"
    for code in told["CFBundleLocalizations"]:
        if code != told["CFBundleDevelopmentRegion"]:
            words = (resources / f"{code}.lproj" / "InfoPlist.strings").read_text("utf-8")
            assert re.fullmatch(r'NSMicrophoneUsageDescription = ".+";\n', words)
    assert (resources / "python" / "bundle").is_file()
    command = resources / "python" / "bin" / "jarvis-desktop"
    started = made / "Contents" / "MacOS" / told["CFBundleExecutable"]
    assert os.path.normpath(command.parent / command.readlink()) == str(started)
    assert any("aarch64-apple-darwin" in words for words in asked)


def test_the_rights_on_macos_are_the_microphone_and_the_engine_of_the_user() -> None:
    told = plistlib.loads((MACOS / "entitlements.plist").read_bytes())
    assert told == {
        "com.apple.security.device.audio-input": True,
        "com.apple.security.cs.disable-library-validation": True,
    }


def test_the_steps_on_a_mac_sign_before_they_notarise() -> None:
    script = (MACOS / "build.sh").read_text("utf-8")
    subprocess.run(["sh", "-n", MACOS / "build.sh"], check=True)
    steps = ("launcher.c", "codesign --force", '"$app"\n', "codesign --verify", "hdiutil create",
             "notarytool submit", "stapler staple")  # fmt: skip
    places = [script.index(step) for step in steps]
    assert places == sorted(places)


def section(name: str) -> list[str]:
    """The lines of a section of the script for Inno Setup."""
    text = SETUP.partition(f"[{name}]\n")[2].partition("\n[")[0]
    return [line for line in text.splitlines() if line and not line.startswith((";", "#"))]


def test_the_installer_packs_the_folder_and_names_what_is_in_it() -> None:
    setup = dict(line.split("=", 1) for line in section("Setup"))
    assert setup["AppId"] == "{{7B0E5B6C-41C8-4C1F-9B7E-2F6D0A6B8E53}"  # never another
    assert setup["AppVersion"] == "{#Version}"
    assert __version__ not in SETUP.partition("[Setup]")[2]
    assert section("Files") == [
        'Source: "{#Folder}\\*"; DestDir: "{app}"; '
        "Flags: ignoreversion recursesubdirs createallsubdirs"
    ]
    named = set(re.findall(r"\{(?:app|#Folder)\}\\([\w.-]+)", SETUP)) - {"Lib", "DLLs"}
    assert named == {*elsewhere.COMMANDS, "jarvis.ico", "LICENSE"}


def test_removing_it_on_windows_leaves_the_user_s_data_and_no_start_of_what_is_gone() -> None:
    for name in ("InstallDelete", "UninstallDelete"):
        for line in section(name):
            assert re.fullmatch(r'Type: filesandordirs; Name: "\{app\}\\(Lib|DLLs)"', line)
    assert not re.search(r"\{(local|user|common)appdata\}|\{userdocs\}|\{home\}", SETUP)
    start = next(line for line in section("Registry") if APP_ID in line)
    assert f'"{RUN_KEY}"' in start
    assert "uninsdeletevalue" in start


@pytest.mark.exhaustive
def test_the_starter_of_the_bundle_starts_the_python_of_the_bundle(tmp_path: Path) -> None:
    """Compiled for this system, with the Python of these tests."""
    contents = tmp_path / "JARVIS Desktop.app" / "Contents"
    version = sysconfig.get_python_version()
    base = Path(sys.base_prefix)
    (contents / "MacOS").mkdir(parents=True)
    (contents / "Resources" / "python" / "bin").mkdir(parents=True)
    python = contents / "Resources" / "python" / "bin" / f"python{version}"
    python.symlink_to(base / "bin" / f"python{version}")
    started = contents / "MacOS" / "jarvis-desktop"
    compiler = shutil.which("cc")
    assert compiler, "a compiler for C is missing"
    subprocess.run(
        [compiler, "-Wall", "-Wextra", "-Werror", f'-DPYTHON_VERSION="{version}"',
         "-I", sysconfig.get_path("include", vars={"installed_base": str(base)}),
         "-o", started, MACOS / "launcher.c",
         "-L", base / "lib", f"-lpython{version}", f"-Wl,-rpath,{base / 'lib'}"],
        check=True,
    )  # fmt: skip
    done = subprocess.run([started, "ask"], capture_output=True, text=True, check=False)
    assert done.stderr == f"{python}: No module named jarvis_desktop\n"
