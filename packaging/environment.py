"""Makes and repairs .venv, the Python environment beside the checkout."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import installer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from installer import Run

    Say = Callable[[str], object]

STAMP = "jarvis-ready.json"
UNFINISHED = "jarvis-unfinished"
LOG = "jarvis-setup.log"


class SetupError(Exception):
    """A set-up that cannot go on; its text says why and what to do."""


def executable(name: str) -> str:
    """A program's file name on this system."""
    return name + ".exe" if os.name == "nt" else name


def scripts(root: Path) -> Path:
    """Where the environment's programs are."""
    return root / ".venv" / ("Scripts" if os.name == "nt" else "bin")


def up_to_date(root: Path, extra: str) -> bool:
    """Whether the environment is whole, works, and was made from today's requirements."""
    if not _usable(root) or not (scripts(root) / executable("jarvis-desktop")).is_file():
        return False
    try:
        stamp = json.loads((root / ".venv" / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return stamp.get("made_from") == fingerprint(root) and extra in ("", stamp.get("extra"))


def fingerprint(root: Path) -> str:
    """Changes when the requirements, the environment's Python or the checkout's place change."""
    seen = hashlib.sha256()
    for part in ("pyproject.toml", "packaging/constraints.txt", ".venv/pyvenv.cfg"):
        seen.update((root / part).read_bytes())
    seen.update(str(root).encode())
    return seen.hexdigest()


def prepare(root: Path, extra: str, *, say: Say, run: Run | None = None) -> None:
    """Make the environment, or bring it up to date. Raises SetupError."""
    run = run or logged
    with _one_at_a_time(root, say):
        if up_to_date(root, extra):
            return  # another set-up has just done it
        venv = root / ".venv"
        if not _usable(root):
            _make(venv, say)
        stamp = venv / STAMP
        if not extra and stamp.is_file():  # what the tests need is there and stays
            with contextlib.suppress(ValueError):
                extra = json.loads(stamp.read_text(encoding="utf-8")).get("extra", "")
        _install(root, extra, say, run)
        stamp.write_text(json.dumps({"made_from": fingerprint(root), "extra": extra}), "utf-8")


def _usable(root: Path) -> bool:
    """Whether there is an environment that no interrupted set-up left behind and that runs."""
    venv = root / ".venv"
    if (venv / UNFINISHED).exists() or not (venv / "pyvenv.cfg").is_file():
        return False
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        # The folder may have been moved, then the programs in it call a Python that is not there.
        code = "import sys; print(sys.prefix, sys.version_info >= (3, 11), sep='\\n')"
        python = scripts(root) / executable("python")
        told = subprocess.run(
            [str(python), "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
        ).stdout.splitlines()
        return told[1:] == ["True"] and Path(told[0]).resolve() == venv.resolve()
    return False


def _make(venv: Path, say: Say) -> None:
    if venv.is_symlink():
        venv.unlink()
    elif venv.exists():
        say("Removing an incomplete .venv")
        shutil.rmtree(venv)
    say("Making the Python environment .venv")
    venv.mkdir()
    (venv / UNFINISHED).touch()
    # From inside an environment, a new one must be made with the Python behind it.
    python = getattr(sys, "_base_executable", None) or sys.executable
    done = subprocess.run(
        [python, "-m", "venv", str(venv)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        words = (done.stdout + done.stderr).strip().splitlines()
        raise SetupError(
            "Python could not make an environment"
            + (
                ": its venv package is missing (on Debian: apt-get install python3-venv)."
                if "ensurepip" in done.stdout + done.stderr
                else f": {' '.join(words[-1:])}"
            )
        )


def _install(root: Path, extra: str, say: Say, run: Run) -> None:
    venv = root / ".venv"
    python = scripts(root) / executable("python")
    constraints = root / "packaging" / "constraints.txt"
    wanted = ["-c", str(constraints), "-e", f"{root}[{extra}]" if extra else str(root)]
    headline = "Installing JARVIS Desktop and its libraries"
    log = venv / LOG
    log.unlink(missing_ok=True)
    # An installer that is ended in the middle may leave packages that look whole: see _usable.
    (venv / UNFINISHED).touch()
    uv = installer.uv_command(python, log, run)
    if uv and not extra:
        uv.append("--compile-bytecode")  # while the tests write what they compile
    if uv and run([*uv, *wanted], log, headline):
        # It may have ended in the middle of a package: pip begins with an empty environment.
        _make(venv, say)
        uv = []
    if not uv:
        pip = installer.pip_command(python)
        steps = [("all else", wanted, headline)]
        if extra:  # what runs experts, for the tests; users get it when an expert first needs it
            torch = pin_of(constraints, "torch")
            line = f"Installing {torch.replace('==', ' ')}"
            steps.insert(0, ("torch", [*wanted[:2], torch], line))
        for what, asked, line in steps:
            if run([*pip, *asked], log, line) != 0:
                (venv / UNFINISHED).unlink()  # pip ended by itself and took back what it began
                raise SetupError(installer.explain(what, log))
    (venv / UNFINISHED).unlink()
    # Where Python may not write what it compiled, each start would compile all of it again.
    compiling = [str(python), "-m", "compileall", "-q", "-j", "0", str(root / "jarvis_desktop")]
    subprocess.run(compiling, stdout=subprocess.DEVNULL, check=False)


def pin_of(constraints: Path, name: str) -> str:
    """The line of constraints.txt that pins a package."""
    for line in constraints.read_text(encoding="utf-8").splitlines():
        if line.startswith(name + "=="):
            return line.strip()
    raise SetupError(f"{constraints} does not pin {name}.")


def logged(command: list[str], log: Path, headline: str) -> int:
    """Run a command with its output in `log`, and show how long it has been at it."""
    began = time.monotonic()
    tty = sys.stdout.isatty()
    told = 0.0
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            while True:
                spent = time.monotonic() - began
                if tty:
                    print(f"\r{headline} … {spent:.0f} s", end="", flush=True)
                elif spent >= told:
                    print(f"{headline} … {spent:.0f} s" if told else headline, flush=True)
                    told += 30
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(timeout=1)
                    break
        except BaseException:
            process.terminate()
            process.wait()
            raise
    spent = time.monotonic() - began
    print(f"\r{headline}: {'done' if code == 0 else 'failed'} in {spent:.0f} s", flush=True)
    return code


@contextlib.contextmanager
def _one_at_a_time(root: Path, say: Say) -> Iterator[None]:
    """Keep two set-ups of one checkout apart; the lock ends with the process that holds it."""
    name = hashlib.sha256(str(root).encode()).hexdigest()[:16]
    user = os.environ.get("USERNAME", "") if os.name == "nt" else str(os.getuid())
    path = Path(tempfile.gettempdir()) / f"jarvis-desktop-setup-{name}-{user}.lock"
    with path.open("a") as lock:
        if not _try_lock(lock.fileno()):
            say("Another set-up of this checkout is running; waiting for it to end")
            while not _try_lock(lock.fileno()):
                time.sleep(0.5)
        yield


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
