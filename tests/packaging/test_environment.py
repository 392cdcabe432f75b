"""The set-up: what counts as ready, and what an interrupted or broken one leads to."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import environment
import installer
import pytest


class Pip:
    """Takes the place of running pip or uv: remembers its commands, and does as told."""

    def __init__(
        self, *, fails_with: str = "", dies: bool = False, without_uv: bool = False
    ) -> None:
        self.asked: list[list[str]] = []
        self.without_uv = without_uv
        self.fails_with = fails_with
        self.dies = dies

    def __call__(self, command: list[str], log: Path, headline: str) -> int:
        self.asked.append(command)
        if self.dies:
            raise KeyboardInterrupt
        log.write_text(self.fails_with, encoding="utf-8")
        if self.fails_with or (self.without_uv and command[0] == "uv"):
            return 1
        if "-e" in command:
            root = Path(command[command.index("-e") + 1].removesuffix("[dev]"))
            (environment.scripts(root) / "jarvis-desktop").touch()
        return 0


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with nothing in it but the requirements, and a quick way to make a venv."""
    monkeypatch.setattr(installer, "uv_command", lambda python, log, run: [])
    folder = tmp_path / "checkout"
    (folder / "packaging").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\n")
    (folder / "packaging" / "constraints.txt").write_text("# pins\ntorch==2.13.0\n")
    run = subprocess.run

    def without_pip(command: list[str], **options: object) -> object:
        if command[1:3] == ["-m", "venv"]:
            command = [*command[:3], "--without-pip", *command[3:]]
        return run(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", without_pip)
    return folder


def prepare(root: Path, pip: Pip, *, extra: str = "") -> list[str]:
    said: list[str] = []
    environment.prepare(root, extra, say=said.append, run=pip)
    return said


@pytest.mark.parametrize(
    ("extra", "steps"), [("", ["{root}"]), ("dev", ["torch==2.13.0", "{root}[dev]"])]
)
def test_installs_the_project_with_the_pins_and_torch_for_tests_alone(
    root: Path, extra: str, steps: list[str]
) -> None:
    pip = Pip()
    assert not environment.up_to_date(root, extra)
    prepare(root, pip, extra=extra)
    assert environment.up_to_date(root, extra)
    assert [command[-1] for command in pip.asked] == [step.format(root=root) for step in steps]
    for command in pip.asked:
        assert command[command.index("-c") + 1] == str(root / "packaging" / "constraints.txt")
        assert Path(command[0]).parent == environment.scripts(root)


def test_uv_installs_all_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "uv_command", lambda python, log, run: ["uv"])
    pip = Pip()
    prepare(root, pip, extra="dev")
    constraints = str(root / "packaging" / "constraints.txt")
    assert pip.asked == [["uv", "-c", constraints, "-e", f"{root}[dev]"]]
    assert environment.up_to_date(root, "dev")


def test_pip_begins_again_if_uv_fails(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "uv_command", lambda python, log, run: ["uv"])
    pip = Pip(without_uv=True)
    said = prepare(root, pip)
    assert [command[0] == "uv" for command in pip.asked] == [True, False]
    assert "Removing an incomplete .venv" in said
    assert environment.up_to_date(root, "")


def test_no_start_has_to_compile_the_application(root: Path) -> None:
    package = root / "jarvis_desktop"
    package.mkdir()
    (package / "part.py").write_text("x = 1\n")
    prepare(root, Pip())
    assert list(package.glob("__pycache__/part.*.pyc"))


def test_second_time_installs_nothing(root: Path) -> None:
    prepare(root, Pip())
    again = Pip()
    prepare(root, again)
    assert not again.asked


def test_what_the_tests_need_is_added_and_then_kept(root: Path) -> None:
    prepare(root, Pip())
    assert not environment.up_to_date(root, "dev")
    pip = Pip()
    prepare(root, pip, extra="dev")
    assert pip.asked[-1][-1] == f"{root}[dev]"
    assert environment.up_to_date(root, "dev")
    assert environment.up_to_date(root, "")
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    later = Pip()
    prepare(root, later)
    assert later.asked[-1][-1] == f"{root}[dev]"


@pytest.mark.parametrize("changed", ["pyproject.toml", "packaging/constraints.txt"])
def test_changed_requirements_are_installed_into_the_same_environment(
    root: Path, changed: str
) -> None:
    prepare(root, Pip())
    keepsake = root / ".venv" / "keepsake"
    keepsake.touch()
    with (root / changed).open("a") as file:
        file.write("# changed\n")
    assert not environment.up_to_date(root, "")
    pip = Pip()
    said = prepare(root, pip)
    assert pip.asked
    assert keepsake.exists()
    assert said == []


def test_set_up_that_was_killed_starts_over(root: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        prepare(root, Pip(dies=True))
    keepsake = root / ".venv" / "keepsake"
    keepsake.touch()
    assert not environment.up_to_date(root, "")
    said = prepare(root, Pip())
    assert said[0] == "Removing an incomplete .venv"
    assert not keepsake.exists()
    assert environment.up_to_date(root, "")


@pytest.mark.parametrize("damage", ["no python", "no settings", "moved", "a link", "empty"])
def test_broken_environment_is_made_anew(root: Path, damage: str) -> None:
    prepare(root, Pip())
    venv = root / ".venv"
    python = environment.scripts(root) / "python"
    if damage == "no python":
        python.unlink()
        python.symlink_to(root / "gone")
    elif damage == "no settings":
        (venv / "pyvenv.cfg").unlink()
    elif damage == "moved":  # the whole checkout; the programs' first lines name the old place
        moved = root.with_name("elsewhere")
        root.rename(moved)
        root = moved
    elif damage == "a link":
        venv.rename(root / "other")
        venv.symlink_to(root / "gone")
    else:
        venv.rename(root / "other")
        venv.mkdir()
    assert not environment.up_to_date(root, "")
    pip = Pip()
    prepare(root, pip)
    assert pip.asked
    assert environment.up_to_date(root, "")


def test_damaged_stamp_means_installing_again(root: Path) -> None:
    prepare(root, Pip(), extra="dev")
    (root / ".venv" / environment.STAMP).write_text("{")
    assert not environment.up_to_date(root, "dev")
    prepare(root, Pip())
    stamp = json.loads((root / ".venv" / environment.STAMP).read_text())
    assert stamp["made_from"] == environment.fingerprint(root)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Failed: Temporary failure in name resolution", "cannot be reached"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: something odd", "ERROR: something odd"),
    ],
)
def test_failure_says_why_and_where_the_rest_is(root: Path, words: str, told: str) -> None:
    with pytest.raises(environment.SetupError) as caught:
        prepare(root, Pip(fails_with=words))
    assert told in str(caught.value)
    assert str(root / ".venv" / environment.LOG) in str(caught.value)
    # pip had ended by itself: what is there is whole, and the next try goes on with it
    said = prepare(root, Pip())
    assert said == []


def test_constraints_without_torch_are_refused(root: Path) -> None:
    (root / "packaging" / "constraints.txt").write_text("numpy==2.0\n")
    with pytest.raises(environment.SetupError, match="does not pin torch"):
        prepare(root, Pip(), extra="dev")


def test_output_goes_into_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    code = "import sys; print('noise'); sys.exit(3)"
    assert environment.logged([sys.executable, "-c", code], log, "Working") == 3
    assert "noise" in log.read_text()
    assert "noise" not in (shown := capsys.readouterr().out)
    assert shown.startswith("Working")
    assert "failed in" in shown


def test_second_set_up_waits_for_the_first_and_finds_its_work_done(root: Path) -> None:
    waiting, inside = threading.Event(), threading.Event()
    second = Pip()

    def say(text: str) -> None:
        if text.startswith("Another set-up"):
            waiting.set()

    def slow(command: list[str], log: Path, headline: str) -> int:
        inside.set()
        assert waiting.wait(60)
        return first(command, log, headline)

    first = Pip()
    one = threading.Thread(
        target=environment.prepare, args=(root, ""), kwargs={"say": say, "run": slow}
    )
    one.start()
    assert inside.wait(60)
    environment.prepare(root, "", say=say, run=second)
    one.join()
    assert first.asked
    assert not second.asked


def test_kill_in_the_middle_of_pip_leaves_a_set_up_that_starts_over(root: Path) -> None:
    """A real process, really killed while its pip runs."""
    prepare(root, Pip())
    (root / "pyproject.toml").write_text("# changed\n")
    code = (
        "import sys, os, pathlib; sys.path.insert(0, sys.argv[2]); import environment\n"
        "def hang(*args):\n"
        "    print('in pip', flush=True)\n"
        "    sys.stdin.read()\n"
        "environment.prepare(pathlib.Path(sys.argv[1]), '', say=print, run=hang)\n"
    )
    folder = str(Path(environment.__file__).parent)
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(root), folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "in pip\n"
    child.kill()
    child.wait()
    child.stdout.close()
    child.stdin.close()
    said = prepare(root, Pip())
    assert said[0] == "Removing an incomplete .venv"
    assert environment.up_to_date(root, "")


def test_looking_whether_all_is_ready_starts_one_process(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(root, Pip())
    started = []
    run = subprocess.run

    def count(command: list[str], **options: object) -> object:
        started.append(command)
        return run(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", count)
    assert environment.up_to_date(root, "")
    assert len(started) == 1
