"""One command from a fresh checkout to a running or a tested JARVIS Desktop.

    python3 packaging/bootstrap.py setup            prepare everything, start nothing
    python3 packaging/bootstrap.py run [ARGS...]    prepare, then jarvis-desktop ARGS
    python3 packaging/bootstrap.py test [ARGS...]   prepare, then every check and test;
                                                    with ARGS: only pytest, with these arguments
    python3 packaging/bootstrap.py lock             rewrite constraints.txt from .venv

Standard library only. The syntax of this file and of those it imports is that of Python 3.9, so
that an old Python can say what is wrong with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import checks
import environment
import system_packages
from environment import SetupError

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
USAGE = "Usage: python3 packaging/bootstrap.py setup | run [ARGS...] | test [PYTEST ARGS...] | lock"


def python_complaint() -> str:
    """One sentence where this Python is too old, "" where it will do."""
    if sys.version_info[:2] >= OLDEST:
        return ""
    have = ".".join(str(part) for part in sys.version_info[:2])
    newer = next((n for n in ("3.14", "3.13", "3.12", "3.11") if shutil.which("python" + n)), None)
    advice = (
        "run this command with python" + newer + " instead of python3"
        if newer
        else "install it from python.org or your system's packages and run this again"
    )
    return f"JARVIS Desktop needs Python 3.11 or newer and this is {have}: {advice}."


def main(args: list[str]) -> int:
    """The exit code: 0 fine, 1 something is missing or failed, 2 wrong usage."""
    command, rest = (args[0], args[1:]) if args else ("", [])
    if command in ("-h", "--help"):
        print(__doc__)
        return 0
    if command not in ("setup", "run", "test", "lock") or (command in ("setup", "lock") and rest):
        print(USAGE, file=sys.stderr)
        return 2
    complaint = python_complaint()
    if complaint:
        print(complaint, file=sys.stderr)
        return 1
    try:
        return _obey(command, rest)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


def _obey(command: str, rest: list[str]) -> int:
    if command == "lock":
        python = environment.scripts(ROOT) / environment.executable("python")
        return subprocess.call([str(python), str(ROOT / "packaging" / "lock.py")])
    extra = "dev" if command == "test" else ""
    fresh = not environment.up_to_date(ROOT, extra)
    testing = command == "test"
    with ThreadPoolExecutor() as pool:  # the system's packages beside Python's
        ensured = pool.submit(
            system_packages.ensure, testing=testing, install=fresh or command != "run", say=print
        )
        if not system_packages.has_ensurepip():
            ensured.result()
        if fresh:
            environment.prepare(ROOT, extra, say=print)
        missing = ensured.result()
    if missing and testing:
        raise SetupError("The tests need these system packages.")
    if command == "test":
        return checks.run_all(ROOT, rest)
    if command == "setup":
        print("Ready: python3 packaging/bootstrap.py run")
        return 0
    return _hand_over(rest)


def _hand_over(rest: list[str]) -> int:
    program = str(environment.scripts(ROOT) / environment.executable("jarvis-desktop"))
    sys.stdout.flush()
    if os.name != "nt":  # Windows' exec returns to the shell at once
        os.execv(program, [program, *rest])  # noqa: S606
    return subprocess.call([program, *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
