"""Rewrites constraints.txt from what is installed: `python3 packaging/bootstrap.py lock`.

The list of an engine follows from it: what the extra "experts" needs on any system, at the same
versions, with the digest of every wheel in the index. elsewhere.txt has what other systems need
besides.

Runs in the project's environment. Pins the packages that the project asks for, and what these ask
for in turn; whatever else lies in the environment is left out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

from locked import CONSTRAINTS, ELSEWHERE, SYSTEMS, locked
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "resources" / "engine" / "requirements.txt"
ENGINE_HEAD = """\
# What an engine consists of, on any system: `jarvis-desktop engine install` reads it. Written by
# `python3 packaging/bootstrap.py lock`; each digest is that of a wheel.
"""
UNPINNED = frozenset({"pip", "setuptools", "jarvis-desktop"})
ELSEWHERE_HEAD = """\
# What the packages for Windows, macOS and Flatpak need besides constraints.txt, untested.
# Written by `python3 packaging/bootstrap.py lock`.
"""
HEAD = """\
# Every library at the version the tests ran with. pip reads it through packaging/bootstrap.py.
# To refresh it: upgrade what is to be upgraded in .venv, run `bootstrap.py test`, and when that
# passes `python3 packaging/bootstrap.py lock`, which rewrites this file.
"""


def main() -> int:
    """Write the file and say how many packages it pins."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = table["optional-dependencies"]
    asked = table["dependencies"] + extras["experts"] + extras["dev"]
    pins = closure([Requirement(line) for line in asked])
    lines = [f"{name}=={version}" for name, version in sorted(pins.items())]
    (ROOT / "packaging" / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    print(f"packaging/constraints.txt pins {len(pins)} packages.")
    lock_engine(extras["experts"], pins)
    lock_elsewhere(pins)
    return 0


def lock_elsewhere(pins: dict[str, str]) -> None:
    """Write the versions of what other systems need besides.

    Raises OSError if a system lacks a wheel.
    """
    from uv import find_uv_bin

    found = {
        each.name: each.version
        for system in SYSTEMS
        for each in locked(system, find_uv_bin(), CONSTRAINTS)
        if each.name not in pins
    }
    lines = [f"{name}=={version}\n" for name, version in sorted(found.items())]
    ELSEWHERE.write_text(ELSEWHERE_HEAD + "".join(lines), "utf-8")
    print(f"{ELSEWHERE.relative_to(ROOT)} pins {len(found)} packages.")


def lock_engine(asked: list[str], pins: dict[str, str]) -> None:
    """Write the list of an engine. Raises CalledProcessError if uv cannot."""
    from uv import find_uv_bin

    versions = "".join(f"{name}=={version}\n" for name, version in pins.items())
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text(versions, "utf-8")
        done = subprocess.run(
            [
                *(find_uv_bin(), "pip", "compile", "-", "--constraint", str(constraints)),
                *("--universal", "--python-version", "3.11", "--no-annotate", "--no-header"),
                *("--generate-hashes", "--only-binary", ":all:", "--quiet"),
            ],
            input="\n".join(asked),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    ENGINE.parent.mkdir(exist_ok=True)
    ENGINE.write_text(ENGINE_HEAD + done.stdout, "utf-8")
    print(f"{ENGINE.relative_to(ROOT)} is renewed.")


def closure(asked: list[Requirement]) -> dict[str, str]:
    """Name and version of each required package, and of those they require here."""
    pins: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(requirement, "") for requirement in asked]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if name in UNPINNED:
            continue
        installed = metadata.distribution(name)
        # A build for one accelerator (2.13.0+cpu) is a local matter.
        pins[name] = Version(installed.version).public
        if not requirement.specifier.contains(pins[name], prereleases=True):
            raise SystemExit(f"{name} {pins[name]} does not satisfy {requirement}.")
        for wanted in {"", *requirement.extras}:
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                waiting += [(Requirement(line), wanted) for line in installed.requires or ()]
    return pins


if __name__ == "__main__":
    sys.exit(main())
