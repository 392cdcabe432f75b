"""Finds what shuts code in on this computer, by trying it.

That a program is installed, or a version is new enough, says little: distributions and containers
keep from it what it needs. So a script runs in it that tries to get out. What it gets, or whatever
else is not as it should be, rules the sandbox out; where none is left, there is none.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox.appcontainer import AppContainer
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.profile import Launcher, ProcessLimits, SandboxProfile, prefixes
from jarvis_desktop.sandbox.seatbelt import Seatbelt

PATIENCE = 10.0
"""Seconds for a trial, which takes a tenth of one; a computer may be busy."""

NAMES = 20
"""Of the home folder, to be looked for."""

RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
"""Where Ubuntu tells that it keeps user namespaces from programs."""

MIB = 1 << 20
LIMITS = ProcessLimits(cpu=10, file_size=MIB, open_files=64)

TRIAL = """
import json, os, socket, sys
at = json.loads(sys.argv[1])
got = []

def attempt(name, act):
    try:
        if act():
            got.append(name)
    except Exception:
        pass

def reads_environment():
    import hashlib
    with open("/proc/%d/environ" % at["host"], "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() == at["environment"]

def begins_namespace():
    import ctypes
    return ctypes.CDLL(None).unshare(0x10000000) == 0

def sends_signal():
    # In a namespace of its own small numbers are other processes.
    return at["host"] > 100 and os.kill(at["host"], 0) is None

attempt("a file outside", lambda: open(at["secret"]).read())
attempt("the home folder", lambda: set(os.listdir(at["home"])) & set(at["names"]))
attempt("writing outside", lambda: open(at["mark"], "w"))
attempt("the network", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("sockets of programs", lambda: socket.socket(socket.AF_UNIX).connect(at["socket"]) is None)
attempt("the environment", lambda: "JARVIS_TRIAL" in os.environ or reads_environment())
attempt("other processes", sends_signal)
if hasattr(os, "fork"):
    attempt("namespaces", begins_namespace)
with open("made", "w") as file:
    file.write(at["word"])
print(json.dumps([at["word"], got]), flush=True)

def stays():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time
            time.sleep(60)
        os._exit(0)

# It holds the pipe open for as long as it is there.
if hasattr(os, "fork"):
    attempt("", stays)
"""


def launchers() -> tuple[Launcher, ...]:
    """What there is for this system, the strongest first."""
    if sys.platform == "darwin":
        return (Seatbelt(),)
    if sys.platform == "win32":
        return (AppContainer(),)
    return (Bubblewrap(), Landlock())


def choose(python: Path, tried: Sequence[Launcher]) -> Protection:
    """The first launcher that holds with that interpreter, and what a stronger one would need;
    "none" and the reasons where none does. Not for a loop: takes a tenth of a second for each that
    is tried."""
    reasons: list[str] = []
    for launcher in tried:
        try:
            attempt(launcher, python)
        except JarvisError as error:
            reasons.append(" ".join(part for part in (error.message, error.hint) if part))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            told = one_line(str(error), limit=200)
            reasons.append(f"{launcher.name} could not be tried: {told}.")
        else:
            return Protection(launcher.name, launcher.sandboxed, " ".join(reasons))
    why = " ".join(dict.fromkeys(reasons)) or "There is none for this system."
    return Protection("none", False, f"No sandbox works on this computer. {why}")


def attempt(launcher: Launcher, python: Path) -> None:
    """Try a launcher. Raises UnavailableError where it does not hold, or does not work."""
    if not launcher.sandboxed:
        raise UnavailableError(
            tr("The launcher {name} does not restrict scripts.", name=launcher.name)
        )
    with tempfile.TemporaryDirectory(prefix="jarvis-trial-", ignore_cleanup_errors=True) as name:
        room = Path(name).resolve()
        (room / "work").mkdir(mode=0o700)
        (room / "secret").write_text("secret", "ascii")
        with _listening(room / "socket"):
            _attempt(launcher, python, room)


def _attempt(launcher: Launcher, python: Path, room: Path) -> None:
    word = secrets.token_hex(8)
    given = {
        "word": word,
        "secret": str(room / "secret"),
        "mark": str(room / "mark"),
        "socket": str(room / "socket"),
        "home": str(Path.home()),
        "names": _names_at_home(python),
        "host": os.getpid(),
        "environment": _environment(),
    }
    box = SandboxProfile(room / "work", python, limits=LIMITS)
    done = _run(launcher, box, (str(python), "-I", "-S", "-c", TRIAL, json.dumps(given)))
    expected = json.dumps([word, []])
    if done.returncode == 0 and done.stdout.strip() == expected.encode():
        made = room / "work" / "made"
        if made.is_file() and made.read_text("ascii") == word and not (room / "mark").exists():
            return
    raise _fault(launcher.name, done, word)


def _run(
    launcher: Launcher, box: SandboxProfile, argv: Sequence[str]
) -> subprocess.CompletedProcess[bytes]:
    launch = launcher.command(box, argv)
    try:
        with subprocess.Popen(
            launch.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.cwd,
            env=dict(launch.env),
            pass_fds=launch.pass_fds,
        ) as process:
            try:
                # To the end of the pipes: who stayed behind would hold them open.
                out, errors = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise UnavailableError(
                    tr("{name} did not end all processes of a script.", name=launcher.name)
                ) from error
        return subprocess.CompletedProcess(launch.argv, process.returncode, out, errors)
    finally:
        launch.close()


def _fault(name: str, done: subprocess.CompletedProcess[bytes], word: str) -> UnavailableError:
    """What there is to say of a trial that did not go well."""
    try:
        said, got = json.loads(done.stdout)
        if said == word and got:
            return UnavailableError(
                tr("{name} does not keep scripts from {got} here.", name=name, got=", ".join(got))
            )
    except (ValueError, TypeError):
        pass
    told = done.stderr.decode("utf-8", "replace")
    if any(each in told for each in ("namespace", "uid map", "RTM_NEWADDR", "loopback")):
        return UnavailableError(
            tr("{name} may not create namespaces on this computer.", name=name),
            hint=_namespaces_hint(),
        )
    lines = told.split("\n")
    reason = next((line for line in reversed(lines) if line.strip()), "it gave no answer")
    return UnavailableError(
        tr("{name} does not work here: {reason}.", name=name, reason=one_line(reason, limit=200))
    )


def _namespaces_hint() -> str:
    if RESTRICTED.exists() and RESTRICTED.read_text("ascii").strip() != "0":
        return (
            "Allow them to it: load AppArmor's profile bwrap-userns-restrict (apparmor-profiles)."
        )
    return "Allow user namespaces to unprivileged programs."


def _names_at_home(python: Path) -> list[str]:
    """Some of what is there, but for the folder in which the interpreter may be."""
    home = Path.home()
    needed = [path for _, path in prefixes(python)]
    try:
        found = (each for each in home.iterdir() if not any(p.is_relative_to(each) for p in needed))
        return [each.name for each in islice(found, NAMES)]
    except OSError:
        return []


def _environment() -> str:
    try:
        return hashlib.sha256(Path("/proc/self/environ").read_bytes()).hexdigest()
    except OSError:
        return ""


@contextmanager
def _listening(path: Path) -> Iterator[None]:
    """A program of the person's that listens, where the system has such sockets."""
    import socket

    if not hasattr(socket, "AF_UNIX"):
        yield
        return
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.bind(str(path))
            one.listen()
        except OSError:
            pass  # the path is too long: what is not there is not reached
        yield
