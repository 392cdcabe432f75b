"""What starts a sandboxed process: what it may use there, and that in doubt it does not start."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox import bubblewrap, landlock, linux_launcher, process_tree, profile
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.launcher_native import AppContainer, Seatbelt, start
from jarvis_desktop.sandbox.profile import (
    Launch,
    Launcher,
    ProcessLimits,
    SandboxProfile,
    path_inside,
    prefixes,
)
from jarvis_desktop.sandbox.self_test import Unsandboxed

PYTHON = Path(getattr(sys, "_base_executable", sys.executable))

HELD: dict[str, Launcher] = {
    "bubblewrap": Bubblewrap(),
    "older bubblewrap": Bubblewrap(known=()),
    "Landlock": Landlock(),
    "older Landlock": Landlock(interface=4),
}
ALL: dict[str, Launcher] = {**HELD, "none": Unsandboxed()}


@pytest.fixture
def box(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return SandboxProfile(folder, PYTHON)


def run(launcher: Launcher, box: SandboxProfile, *argv: str) -> subprocess.CompletedProcess[str]:
    launch = launcher.command(box, argv)
    try:
        return subprocess.run(
            launch.argv,
            env=dict(launch.env),
            cwd=launch.cwd,
            pass_fds=launch.pass_fds,
            capture_output=True,
            text=True,
            timeout=200,
        )
    finally:
        launch.close()


def python(launcher: Launcher, box: SandboxProfile, source: str) -> str:
    done = run(launcher, box, str(box.python), "-I", "-c", source)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(params=["bubblewrap", "Landlock", "none"])
def launcher(request):
    return ALL[request.param]


@pytest.fixture(params=sorted(HELD))
def held(request):
    return HELD[request.param]


def test_files_are_written_in_the_folder_and_stay(launcher, box):
    inside = launcher.inside(box, box.folder)
    assert (
        python(launcher, box, "import os; open('x', 'w').write('1'); print(os.getcwd())") == inside
    )
    assert (box.folder / "x").read_text() == "1"


def test_what_is_readable_is_where_it_is_told_and_not_written(held, box, tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "a.py").write_text("ONE = 1")
    (tmp_path / "file").write_text("text")
    box = replace(
        box,
        readable=((tmp_path / "library", "/jarvis/library"), (tmp_path / "file", "/jarvis/file")),
    )
    module = held.inside(box, tmp_path / "library" / "a.py")
    assert python(held, box, f"print(open({module!r}).read())") == "ONE = 1"
    file = held.inside(box, tmp_path / "file")
    assert python(held, box, f"print(open({file!r}).read())") == "text"
    done = run(held, box, str(PYTHON), "-I", "-c", f"open({module!r}, 'w')")
    assert "OSError" in done.stderr or "PermissionError" in done.stderr


def test_temporary_files_are_its_own_and_go(launcher, box):
    told = python(
        launcher,
        box,
        "import tempfile; f = tempfile.NamedTemporaryFile(delete=False); print(f.name)",
    )
    assert not Path(told).exists()


def test_variables_are_few_and_those_that_were_asked_for(launcher, box, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "secret")
    box = replace(box, environment=(("MPLBACKEND", "Agg"),))
    told = python(launcher, box, "import os; print(sorted(os.environ))")
    assert "API_TOKEN" not in told
    assert "MPLBACKEND" in told
    assert python(launcher, box, "import os; print(os.environ['HOME'])") == launcher.inside(
        box, box.folder
    )


def test_descriptors_are_inherited_under_their_numbers(launcher, box):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        box = replace(box, descriptors=(theirs.fileno(),))
        source = f"import socket; socket.socket(fileno={theirs.fileno()}).sendall(b'hello')"
        # On Linux 6.12 and newer, and in namespaces, its kind is found out without a new socket.
        python(launcher, box, source)
        assert ours.recv(10) == b"hello"


def test_limits_hold(launcher, box):
    limits = ProcessLimits(cpu=7, memory=1 << 30, file_size=1 << 20, open_files=64, processes=50)
    told = python(
        launcher,
        replace(box, limits=limits),
        "import resource as r; print([r.getrlimit(getattr(r, 'RLIMIT_' + name))[1] for name in "
        "('CPU', 'AS', 'FSIZE', 'NOFILE', 'CORE')])",
    )
    assert told == str([7, 1 << 30, 1 << 20, 64, 0])


def test_exit_codes_and_signals_are_told(launcher, box):
    assert run(launcher, box, str(PYTHON), "-I", "-c", "raise SystemExit(7)").returncode == 7
    killed = run(launcher, box, "/bin/sh", "-c", "kill -9 $$")
    assert killed.returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("name", ["bubblewrap", "older bubblewrap", "Landlock"])
def test_it_may_begin_processes_and_end_them(name, box):
    source = """
import asyncio, subprocess, multiprocessing
async def main():
    child = await asyncio.create_subprocess_exec("/bin/sleep", "60")
    child.kill()
    return await child.wait()
print(asyncio.run(main()), subprocess.run(["/bin/echo", "hi"], capture_output=True).stdout)
"""
    assert python(HELD[name], box, source) == "-9 b'hi\\n'"


@pytest.mark.parametrize("name", ["bubblewrap", "older bubblewrap"])
def test_processes_of_python_share_work_in_namespaces(name, box):
    source = "import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [1, -2]))"
    assert python(HELD[name], box, source) == "[1, 2]"


def test_copying_files_works_where_modes_are_not_changed(held, box):
    source = """
import shutil
open("a", "w").write("text")
shutil.copy2("a", "b"); shutil.copytree(".", "/tmp/x" if False else "c", ignore=lambda *a: {"c"})
print(open("c/b").read())
"""
    assert python(held, box, source) == "text"


def test_a_virtual_environment_and_what_it_was_made_from_are_read(held, box, tmp_path):
    environment = tmp_path / "venv"
    packages = environment / f"lib/python3.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    (packages / "mine.py").write_text("ONE = 1")
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(PYTHON)
    (environment / "pyvenv.cfg").write_text(f"home = {PYTHON.parent}\n")
    box = replace(box, python=environment / "bin/python")
    assert python(held, box, "import mine, sys; print(sys.prefix)") == str(environment)


def test_the_folder_does_not_hide_an_interpreter(monkeypatch):
    box = SandboxProfile(Path("/x"), Path("/x/venv/bin/python"))
    monkeypatch.setattr(bubblewrap, "prefixes", lambda python: ((Path("/usr"), Path("/usr")),))
    assert bubblewrap.folder(box) == "/work"
    there = Path("/work", "venv")
    monkeypatch.setattr(bubblewrap, "prefixes", lambda python: ((there, there),))
    assert bubblewrap.folder(box) == "/sandbox"


def test_prefixes_of_a_home_folder_are_only_what_is_pythons(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("bin", "lib", "documents"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/python").touch()
    found = {path for _, path in prefixes(tmp_path / "bin/python")}
    assert found == {tmp_path / "bin", tmp_path / "lib"}


def test_each_link_on_the_way_to_an_interpreter_is_followed(tmp_path):
    real = tmp_path / "versions/3.11.7"
    (real / "bin").mkdir(parents=True)
    (real / "bin/python3").touch()
    (tmp_path / "versions/3.11").symlink_to("3.11.7")
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").symlink_to(tmp_path / "versions/3.11/bin/python3")
    found = {path: source for source, path in prefixes(tmp_path / "venv/bin/python")}
    assert found[tmp_path / "versions/3.11"] == real
    assert found[real] == real
    assert tmp_path / "venv" in found


def test_places_are_found_within_folders_and_by_links(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = ((tmp_path / "real", "/inside"),)
    assert path_inside(tmp_path / "real/a/b", places) == "/inside/a/b"
    assert path_inside(tmp_path / "link/a", places) == "/inside/a"
    assert path_inside(Path("/elsewhere"), places) == "/elsewhere"


def test_what_was_opened_is_closed_and_removed(tmp_path):
    reading, writing = os.pipe()
    (tmp_path / "temporary").mkdir()
    launch = Launch(
        ("x",), {}, tmp_path, temporary=tmp_path / "temporary", opened=(reading, writing)
    )
    launch.close()
    assert not (tmp_path / "temporary").exists()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(reading)
    launch.close()


def test_what_is_missing_is_told(box, monkeypatch):
    with pytest.raises(UnavailableError, match="not installed") as told:
        Bubblewrap("nowhere-to-be-found").command(box, ["x"])
    assert "apt install bubblewrap" in told.value.hint
    with pytest.raises(UnavailableError, match="Landlock"):
        Landlock(interface=3).command(box, ["x"])
    with pytest.raises(UnavailableError, match="sandbox-exec"):
        Seatbelt(Path("/nowhere")).command(box, ["x"])
    with pytest.raises(UnavailableError, match="Windows"):
        AppContainer().command(box, ["x"])
    with pytest.raises(UnavailableError, match="does not run"):
        Bubblewrap("/bin/false").command(box, ["x"])
    monkeypatch.setattr(bubblewrap, "LIMITER", "/nowhere")
    with pytest.raises(UnavailableError, match="prlimit"):
        Bubblewrap().command(box, ["x"])


def test_elsewhere_there_is_no_landlock(monkeypatch):
    landlock.offered.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock.offered() == 0
    landlock.offered.cache_clear()


SECOND = ["--interface", "--seccomp"]


@pytest.mark.parametrize("lacking", SECOND)
def test_without_all_of_its_walls_it_does_not_begin(box, lacking):
    """The start program is given less than it needs, and ends without the command."""
    launch = Landlock().command(box, ["/bin/touch", str(box.folder / "began")])
    argv = list(launch.argv)
    at = argv.index(lacking)
    del argv[at : at + 2]
    done = subprocess.run(
        argv, env=dict(launch.env), cwd=launch.cwd, pass_fds=launch.pass_fds, capture_output=True
    )
    launch.close()
    assert done.returncode == linux_launcher.FAILED
    assert not (box.folder / "began").exists()
    assert b"could not be set up" in done.stderr


def test_a_folder_that_is_gone_is_told(held, box):
    box.folder.rmdir()
    launch = held.command(replace(box), ["/bin/true"])
    done = subprocess.run(
        launch.argv, env=dict(launch.env), cwd="/", pass_fds=launch.pass_fds, capture_output=True
    )
    launch.close()
    assert done.returncode != 0
    assert done.stderr


def test_it_does_not_begin_for_a_parent_that_is_gone(box):
    launch = Landlock().command(box, ["/bin/touch", str(box.folder / "began")])
    argv = list(launch.argv)
    argv[argv.index("--parent") + 1] = "1"
    done = subprocess.run(
        argv, env=dict(launch.env), cwd=launch.cwd, pass_fds=launch.pass_fds, capture_output=True
    )
    launch.close()
    assert done.returncode != 0
    assert not (box.folder / "began").exists()


def test_a_file_that_is_made_is_for_its_owner_only(box):
    python(Landlock(), box, "open('x', 'w')")
    assert stat.S_IMODE((box.folder / "x").stat().st_mode) == 0o600


def test_control_groups_are_roots_only(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert process_tree.group(5) is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    root = tmp_path / "root"
    left, used = (
        root / f"{process_tree.NAME}{2**22 + 1}-0",
        root / f"{process_tree.NAME}{os.getpid()}-0",
    )
    for each in (root, left, used):
        each.mkdir()
    monkeypatch.setattr(process_tree, "ROOTS", (tmp_path / "nowhere", root))
    assert process_tree.group(5) is None, "what is no control group is not taken for one"
    assert list(root.iterdir()) == [used], "what an application left that is gone goes"


def test_who_is_left_in_a_control_group_is_ended(tmp_path, monkeypatch):
    made = tmp_path / "group"
    made.mkdir()
    with subprocess.Popen(["/bin/sleep", "60"]) as left:
        (made / "cgroup.procs").write_text(f"{left.pid}\n")
        monkeypatch.setattr(process_tree, "TIMEOUT_S", 0.05)
        process_tree.end(made)  # a folder with a file in it is not removed: it gives up
        assert left.wait() == -signal.SIGKILL
    process_tree.end(tmp_path / "never there")


def test_profile_of_macos_names_paths_as_parameters(box, tmp_path):
    program = tmp_path / "sandbox-exec"
    program.touch()
    library = tmp_path / 'a "quoted") (allow default)'
    library.mkdir()
    box = replace(box, readable=((library, "/library"),))
    launch = Seatbelt(program).command(box, ["/usr/bin/python3", "-c", "pass"])
    text = launch.argv[2]
    assert "(deny default)" in text
    assert "(deny network*)" in text
    assert "fork" not in text
    assert str(library) not in text
    assert text.count("(") == text.count(")")
    given = [each.partition("=") for each in launch.argv if "=" in each]
    assert str(library) in {value for _, _, value in given}
    for name, _, _ in given:
        assert f'(param "{name}")' in text
    assert launch.argv[-3:] == ("/usr/bin/python3", "-c", "pass")
    assert Seatbelt().inside(box, library) == str(library)
    launch.close()


def test_limits_of_macos_are_set_by_a_shell_that_becomes_the_program(box, tmp_path):
    program = tmp_path / "sandbox-exec"
    program.touch()
    launch = Seatbelt(program).command(
        replace(box, limits=ProcessLimits(cpu=9)), ["/bin/sh", "-c", "ulimit -t"]
    )
    shell = launch.argv.index("/bin/sh")
    done = subprocess.run(launch.argv[shell:], capture_output=True, text=True)
    assert done.stdout == "9\n"
    launch.close()


def test_command_of_windows_names_all_that_is_granted(box, tmp_path):
    argv = list(start(box, ["python.exe", "-c", "pass"], tmp_path / "temporary"))
    assert argv[argv.index("--folder") + 1] == str(box.folder)
    grants = [argv[at + 1] for at, part in enumerate(argv) if part == "--write"]
    assert grants == [str(box.folder), str(tmp_path / "temporary")]
    assert argv[-3:] == ["python.exe", "-c", "pass"]
    cut = argv.index("--")
    assert (cut - 4) % 2 == 0, "options come in pairs after the program"
    assert AppContainer().inside(box, box.folder) == str(box.folder)
    assert profile.SYSTEM


def test_structures_of_windows_have_the_sizes_that_it_expects():
    import ctypes

    from jarvis_desktop.sandbox import windows_launcher

    assert ctypes.sizeof(windows_launcher._Limits) == 144
    assert ctypes.sizeof(windows_launcher._Startup) == 112
    assert ctypes.sizeof(windows_launcher._Process) == 24
    assert ctypes.sizeof(windows_launcher._Capabilities) == 24
