"""Chooses the sandbox of this computer by trying to escape from it.

An installed program or a recent version proves little: distributions and containers may block what
it needs. So a script inside tries to get out. Any success, or anything else unexpected, rules the
sandbox out; if none is left, there is none.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock, open_command
from jarvis_desktop.sandbox.launcher_native import AppContainer, Seatbelt
from jarvis_desktop.sandbox.profile import (
    InPlaceLauncher,
    Launch,
    Launcher,
    ProcessLimits,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

TIMEOUT_S = 10.0  # for a trial, which takes a tenth of a second; a computer may be busy
MAX_HOME_NAMES = 20  # names in the home folder that the trial looks for
RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
"""Where Ubuntu shows that it forbids user namespaces to programs."""

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

# It keeps the pipe open for as long as it runs.
if hasattr(os, "fork"):
    attempt("", stays)
"""


def launchers() -> tuple[Launcher, ...]:
    """The launchers for this system, the strongest first."""
    if sys.platform == "darwin":
        return (Seatbelt(),)
    if sys.platform == "win32":
        return (AppContainer(),)
    return (Bubblewrap(), Landlock())


def choose(python: Path, tried: Sequence[Launcher]) -> Protection:
    """The first launcher that works with that interpreter, and what a stronger one would need;
    "none" and the reasons if none does. Takes a tenth of a second per launcher: do not call it on a
    loop."""
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
    """Try a launcher. Raises UnavailableError if it can be escaped from, or does not work."""
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
    profile = SandboxProfile(room / "work", python, limits=LIMITS)
    done = _run(launcher, profile, (str(python), "-I", "-S", "-c", TRIAL, json.dumps(given)))
    expected = json.dumps([word, []])
    if done.returncode == 0 and done.stdout.strip() == expected.encode():
        made = room / "work" / "made"
        if made.is_file() and made.read_text("ascii") == word and not (room / "mark").exists():
            return
    raise _fault(launcher.name, done, word)


def _run(
    launcher: Launcher, profile: SandboxProfile, argv: Sequence[str]
) -> subprocess.CompletedProcess[bytes]:
    launch = launcher.command(profile, argv)
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
                # Read to the end of the pipes: a process left behind would keep them open.
                out, errors = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise UnavailableError(
                    tr("{name} did not end all processes of a script.", name=launcher.name)
                ) from error
        return subprocess.CompletedProcess(launch.argv, process.returncode, out, errors)
    finally:
        launch.close()


def _fault(name: str, done: subprocess.CompletedProcess[bytes], word: str) -> UnavailableError:
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
    """Some names in the home folder, except the folder that contains the interpreter."""
    home = Path.home()
    needed = [path for _, path in prefixes(python)]
    try:
        found = (each for each in home.iterdir() if not any(p.is_relative_to(each) for p in needed))
        return [each.name for each in islice(found, MAX_HOME_NAMES)]
    except OSError:
        return []


def _environment() -> str:
    try:
        return hashlib.sha256(Path("/proc/self/environ").read_bytes()).hexdigest()
    except OSError:
        return ""


@contextmanager
def _listening(path: Path) -> Iterator[None]:
    """A listening socket of another program, if the system supports them."""
    import socket

    if not hasattr(socket, "AF_UNIX"):
        yield
        return
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.bind(str(path))
            one.listen()
        except OSError:
            pass  # the path is too long; without a socket nothing can be reached
        yield


@dataclass(frozen=True, slots=True)
class Unsandboxed(InPlaceLauncher):
    """No sandbox: an ordinary process, except for its environment. Only if the user agreed to it.

    On Linux its descendants still end with it.
    """

    name = "none"
    sandboxed = False

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`."""
        temporary = temporary_folder()
        linux = sys.platform == "linux"
        return Launch(
            argv=open_command(profile, argv) if linux else tuple(argv),
            env=environment(profile, home=str(profile.folder), temporary=str(temporary)),
            cwd=profile.folder,
            pass_fds=profile.descriptors,
            stop=signal.SIGTERM if linux else getattr(signal, "SIGKILL", signal.SIGTERM),
            temporary=temporary,
        )
