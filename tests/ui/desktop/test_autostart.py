"""Whether JARVIS starts with the session, on each system."""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform import desktop
from jarvis_desktop.platform.desktop import command, exec_line, shell_line


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "autostart" / f"{APP_ID}.desktop"


def test_a_linux_desktop_finds_a_file(linux: Path) -> None:
    assert not desktop.is_autostarted()
    desktop.set_autostart(True)
    assert desktop.is_autostarted()
    assert f"Exec={exec_line(command('--hidden'))}" in linux.read_text().splitlines()
    desktop.set_autostart(False)
    assert not linux.exists()
    desktop.set_autostart(False)
    assert not desktop.is_autostarted()


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_what_a_desktop_switched_off_is_off(linux: Path, line: str) -> None:
    desktop.set_autostart(True)
    linux.write_text(linux.read_text().replace("X-GNOME-Autostart-enabled=true", line))
    assert not desktop.is_autostarted()
    desktop.set_autostart(True)
    assert desktop.is_autostarted()


def test_the_usual_folder_is_taken_where_none_is_given(
    linux: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    for given in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", given)
        desktop.set_autostart(True)
        assert (home / ".config" / "autostart" / f"{APP_ID}.desktop").is_file()


def test_macos_finds_a_launch_agent(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    desktop.set_autostart(True)
    path = home / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    agent = plistlib.loads(path.read_bytes())
    assert agent == {"Label": APP_ID, "ProgramArguments": command("--hidden"), "RunAtLoad": True}
    assert desktop.is_autostarted()
    desktop.set_autostart(False)
    assert not path.exists()


class Registry(SimpleNamespace):
    """The part of winreg that is used, with one key."""

    HKEY_CURRENT_USER, REG_SZ = 1, 1

    def __init__(self) -> None:
        super().__init__(values={}, exists=False)

    def OpenKey(self, root: int, path: str) -> Any:
        if not self.exists:
            raise FileNotFoundError
        return self._key(path)

    def CreateKey(self, root: int, path: str) -> Any:
        self.exists = True
        return self._key(path)

    def _key(self, path: str) -> Any:
        assert path == desktop.RUN_KEY
        return self

    def __enter__(self) -> Registry:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def QueryValueEx(self, key: object, name: str) -> str:
        if name not in self.values:
            raise FileNotFoundError
        return str(self.values[name])

    def SetValueEx(self, key: object, name: str, reserved: int, kind: int, value: str) -> None:
        self.values[name] = value

    def DeleteValue(self, key: object, name: str) -> None:
        if name not in self.values:
            raise FileNotFoundError
        del self.values[name]


def test_windows_finds_a_value_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert not desktop.is_autostarted()
    desktop.set_autostart(True)
    assert desktop.is_autostarted()
    assert registry.values == {APP_ID: shell_line(command("--hidden"))}
    for _ in range(2):
        desktop.set_autostart(False)
        assert not desktop.is_autostarted()


def test_why_it_cannot_be_changed_is_told(linux: Path) -> None:
    linux.parent.parent.write_text("in the way")
    with pytest.raises(StorageError, match="starts with the session"):
        desktop.set_autostart(True)
