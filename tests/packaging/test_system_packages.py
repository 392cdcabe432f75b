"""System packages, with an apt-get and a dpkg-query of the test's own on the PATH."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import system_packages

RUN = system_packages.SANDBOX + system_packages.SPEECH + system_packages.WINDOW
ALL = RUN + system_packages.TESTS

APT = """#!/bin/sh
echo "$DEBIAN_FRONTEND $*" >> {folder}/calls
[ "$1" = install ] || exit 0
test -e {folder}/broken && {{ rm -f {folder}/broken; echo "E: mirror sync in progress"; exit 100; }}
test -e {folder}/dead && {{ echo "E: no network"; exit 100; }}
shift 3
for name in "$@"; do printf 'installed\\t%s\\t\\n' "$name" >> {folder}/status; done
"""


class Debian:
    """A computer with apt-get; `status` is what dpkg knows, `calls` what apt-get was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = folder / "status"
        self.status.touch()
        self.add("apt-get", APT.format(folder=folder))
        self.add("dpkg-query", f"#!/bin/sh\ncat {self.status}\n")
        self.said: list[str] = []

    def add(self, name: str, text: str) -> None:
        program = self.folder / name
        program.write_text(text)
        program.chmod(0o755)

    def has(self, *names: str, provides: str = "") -> None:
        with self.status.open("a") as file:
            file.writelines(f"installed\t{name}\t{provides}\n" for name in names)

    @property
    def calls(self) -> list[str]:
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def ensure(self, *, testing: bool = False, install: bool = True) -> list[str]:
        return system_packages.ensure(testing=testing, install=install, say=self.said.append)


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Debian:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return Debian(folder)


def test_nothing_is_done_where_all_is_there(debian: Debian) -> None:
    debian.has(*ALL)
    assert debian.ensure(testing=True) == []
    assert debian.calls == []
    assert debian.said == []


def test_root_gets_what_is_missing_and_no_more(debian: Debian) -> None:
    debian.has(*(name for name in ALL if name not in ("espeak-ng", "xvfb")))
    assert debian.ensure(testing=True) == []
    assert debian.calls == [
        "noninteractive update",
        "noninteractive install -y --no-install-recommends espeak-ng xvfb",
    ]


def test_run_does_not_ask_for_what_only_the_tests_need(debian: Debian) -> None:
    debian.has(*RUN)
    assert debian.ensure() == []
    assert debian.calls == []


def test_package_under_a_new_name_counts(debian: Debian) -> None:
    debian.has(*(name for name in ALL if name != "libglib2.0-0"))
    debian.has("libglib2.0-0t64", provides="libglib2.0-0 (= 2.80.0-6), other")
    assert debian.ensure(testing=True) == []
    assert debian.calls == []


def test_removed_package_with_its_settings_left_is_missing(debian: Debian) -> None:
    debian.has(*(name for name in ALL if name != "espeak-ng"))
    with debian.status.open("a") as file:
        file.write("config-files\tespeak-ng\t\n")
    assert debian.ensure(install=False) == ["espeak-ng"]


def test_failure_is_tried_again(debian: Debian) -> None:
    debian.has(*(name for name in ALL if name != "espeak-ng"))
    (debian.folder / "broken").touch()
    assert debian.ensure() == []
    assert len(debian.calls) == 4


def test_lasting_failure_is_told_with_the_command(debian: Debian) -> None:
    debian.has(*(name for name in ALL if name != "espeak-ng"))
    (debian.folder / "dead").touch()
    assert debian.ensure() == ["espeak-ng"]
    assert "E: no network" in debian.said[1]
    assert debian.said[2].endswith("\n  apt-get install -y espeak-ng")


def test_ordinary_user_is_told_the_command(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    debian.has(*(name for name in ALL if name not in ("libportaudio2", "libegl1")))
    assert debian.ensure() == ["libportaudio2", "libegl1"]
    assert debian.calls == []
    assert debian.said == [
        "Missing for sound and speech and the window; install with:\n"
        "  sudo apt-get install -y libportaudio2 libegl1"
    ]


def test_without_the_sandbox_it_is_set_up_all_the_same(
    debian: Debian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    debian.has(*(name for name in ALL if name != "bubblewrap"))
    assert debian.ensure() == ["bubblewrap"]
    assert debian.said == [
        "Missing for the sandbox that code runs in; install with:\n"
        "  sudo apt-get install -y bubblewrap"
    ]


def test_quick_start_installs_nothing(debian: Debian) -> None:
    missing = debian.ensure(install=False)
    assert missing == list(RUN)
    assert debian.calls == []


def test_missing_venv_module_is_asked_for(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_packages, "has_ensurepip", lambda: False)
    debian.has(*ALL)
    assert debian.ensure() == []
    assert debian.calls[-1].endswith(" python3-venv")


def test_other_linux_is_told_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    assert system_packages.ensure(testing=True, install=True, say=said.append) == []
    assert said[0].startswith("Not found: bwrap, espeak-ng, Xvfb, openbox,")


def test_mac_and_windows_need_no_system_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "darwin")
    said: list[str] = []
    assert system_packages.ensure(testing=True, install=True, say=said.append) == []
    assert said == []
