"""What is taken for a sandbox: only what holds when it is tried; in doubt, nothing."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox import self_test
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.launcher_native import AppContainer, Seatbelt
from jarvis_desktop.sandbox.profile import Launch, Launcher, SandboxProfile
from jarvis_desktop.sandbox.self_test import Unsandboxed, choose

PYTHON = Path(getattr(sys, "_base_executable", sys.executable))


@dataclass(frozen=True)
class Weak:
    """One that says that it holds."""

    script: str = ""
    """For a shell, in place of the command, which is its arguments."""
    add: tuple[tuple[str, str], ...] = ()

    name = "weak"
    sandboxed = True

    def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
        launch = Unsandboxed().command(box, argv)
        command = ("/bin/sh", "-c", self.script, "sh", *argv) if self.script else launch.argv
        return replace(launch, argv=command, env={**launch.env, **dict(self.add)})

    def inside(self, box: SandboxProfile, path: Path) -> str:
        return str(path)


@pytest.mark.parametrize(
    "launcher", [Bubblewrap(), Bubblewrap(known=()), Landlock(), Landlock(interface=4)]
)
def test_what_holds_is_taken(launcher):
    protection = choose(PYTHON, [launcher])
    assert (protection.name, protection.sandboxed, protection.why) == (launcher.name, True, "")


def test_the_first_that_holds_is_taken_and_what_a_stronger_one_needs_is_told():
    protection = choose(PYTHON, [Bubblewrap("nowhere-to-be-found"), Landlock()])
    assert protection.name == "Landlock"
    assert protection.sandboxed
    assert "sudo apt install bubblewrap" in protection.why


def test_what_lets_a_script_out_is_not_taken():
    protection = choose(PYTHON, [Weak()])
    assert (protection.name, protection.sandboxed) == ("none", False)
    for each in ("a file outside", "writing outside", "the network", "sockets of programs"):
        assert each in protection.why


def test_each_thing_that_gets_out_is_enough(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "letters").touch()
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    with pytest.raises(UnavailableError, match="the home folder"):
        self_test.attempt(Weak(), PYTHON)


def test_who_says_that_it_is_no_sandbox_is_none():
    with pytest.raises(UnavailableError, match="does not restrict"):
        self_test.attempt(Unsandboxed(), PYTHON)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 1", "gave no answer"),
        ("true", "gave no answer"),
        ("echo '[\"guessed\", []]'", "gave no answer"),
        ("echo 'not JSON'", "gave no answer"),
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "namespaces"),
        ("echo 'bwrap: loopback: Failed RTM_NEWADDR' >&2; exit 1", "namespaces"),
        ("echo something >&2; echo 'is broken' >&2; exit 3", "is broken"),
    ],
)
def test_whatever_is_not_as_it_should_be_rules_it_out(script, told):
    protection = choose(PYTHON, [Weak(script)])
    assert not protection.sandboxed
    assert told in protection.why


def test_an_answer_without_the_deed_is_not_believed():
    # It says the word, which it was given, but no file was written by it.
    script = """exec /usr/bin/env python3 -c 'import json, sys
print(json.dumps([json.loads(sys.argv[-1])["word"], []]))' "$@" """
    assert not choose(PYTHON, [Weak(script)]).sandboxed


def test_who_leaves_processes_behind_is_ruled_out(monkeypatch):
    monkeypatch.setattr(self_test, "TIMEOUT_S", 0.5)
    protection = choose(PYTHON, [Weak("sleep 3 & echo x")])
    assert "did not end all" in protection.why


def test_what_cannot_be_started_is_ruled_out():
    @dataclass(frozen=True)
    class Absent(Weak):
        def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
            return Launch(("/nowhere/program",), {}, box.folder, stop=signal.SIGTERM)

    assert "could not be tried" in choose(PYTHON, [Absent()]).why


def test_where_there_is_nothing_to_try_there_is_none():
    protection = choose(PYTHON, [])
    assert not protection.sandboxed
    assert protection.why == "No sandbox works on this computer. There is none for this system."


def test_reasons_are_told_once():
    missing = Bubblewrap("nowhere-to-be-found")
    why = choose(PYTHON, [missing, missing]).why
    assert why.count("not installed") == 1


def test_where_namespaces_are_restricted_it_is_told_how_to_allow_them(tmp_path, monkeypatch):
    setting = tmp_path / "setting"
    monkeypatch.setattr(self_test, "RESTRICTED", setting)
    assert "user namespaces" in self_test._namespaces_hint()
    setting.write_text("1\n")
    assert "AppArmor" in self_test._namespaces_hint()
    setting.write_text("0\n")
    assert "user namespaces" in self_test._namespaces_hint()


def test_a_home_that_cannot_be_looked_at_is_no_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nowhere")
    assert choose(PYTHON, [Bubblewrap()]).sandboxed


@pytest.mark.parametrize(
    ("platform", "kinds"),
    [("linux", [Bubblewrap, Landlock]), ("darwin", [Seatbelt]), ("win32", [AppContainer])],
)
def test_each_system_has_its_own(platform, kinds, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    found: Sequence[Launcher] = self_test.launchers()
    assert [type(each) for each in found] == kinds
    assert all(each.sandboxed for each in found)


def test_a_long_path_leaves_the_socket_out(tmp_path):
    with self_test._listening(tmp_path / ("x" * 200)):
        assert not (tmp_path / ("x" * 200)).exists()
