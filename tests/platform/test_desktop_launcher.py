"""How the desktop starts JARVIS."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform.desktop import command, exec_line, set_autostart, shell_line


@pytest.fixture(autouse=True)
def no_image(monkeypatch):
    monkeypatch.delenv("APPIMAGE", raising=False)


def test_the_program_beside_this_python_is_started():
    program, hidden = command("--hidden")
    assert Path(program).parent == Path(sys.executable).parent
    assert Path(program).stem == "jarvis-desktop"
    assert hidden == "--hidden"


def test_where_it_is_not_installed_the_module_is(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert command("x") == [str(tmp_path / "python"), "-m", "jarvis_desktop", "x"]


def test_a_frozen_program_and_an_image_start_themselves(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command() == [sys.executable]
    monkeypatch.setenv("APPIMAGE", "/opt/JARVIS.AppImage")
    assert command("--quick") == ["/opt/JARVIS.AppImage", "--quick"]


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (["/usr/bin/jarvis-desktop", "%F"], "/usr/bin/jarvis-desktop %F"),
        (["/home/a b/x", "--hidden"], '"/home/a b/x" --hidden'),
        (["/home/100%/x"], "/home/100%%/x"),
        (['/a"b/x'], r'"/a\\"b/x"'),
        (["/a$b`c/x"], r'"/a\\$b\\`c/x"'),
        (["/a\\b/x"], r'"/a\\\\b/x"'),
        ([""], '""'),
    ],
)
def test_an_exec_line_is_quoted_as_the_specification_wants(parts, line):
    assert exec_line(parts) == line


def test_a_shell_gets_what_was_meant(monkeypatch):
    parts = ["/home/a b/it's", "--hidden"]
    assert shlex.split(shell_line(parts)) == parts
    monkeypatch.setattr(sys, "platform", "win32")
    assert shell_line(parts) == subprocess.list2cmdline(parts)


def test_a_flatpak_says_that_it_cannot_start_with_the_session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FLATPAK_ID", APP_ID)
    with pytest.raises(StorageError, match="A Flatpak cannot change"):
        set_autostart(True)
    assert not (tmp_path / "autostart").exists()
