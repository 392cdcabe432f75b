"""Which file of each library a system gets, as uv finds it in the index.

The versions are those of constraints.txt. What only Windows or macOS need is in elsewhere.txt,
which `bootstrap.py lock` writes as well. Standard library only.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
ELSEWHERE = ROOT / "packaging" / "elsewhere.txt"
PYTHON = "3.13"
"""Of the runtime of Flatpak, and of the packages for Windows and macOS."""
MACOS = "14.0"
"""The oldest that onnxruntime has wheels for; it has none for the processors of Intel."""
SOURCES = frozenset({"xcffib", "pyseccomp"})
"""Libraries in plain Python that have no wheels."""


@dataclass(frozen=True, slots=True)
class TargetSystem:
    """A system that packages are made for, by uv's name of its platform."""

    name: str
    platform: str


LINUX = TargetSystem("x86_64", "x86_64-manylinux_2_39")
LINUX_ARM = TargetSystem("aarch64", "aarch64-manylinux_2_39")
WINDOWS = TargetSystem("windows", "x86_64-pc-windows-msvc")
MAC = TargetSystem("macos", "aarch64-apple-darwin")
SYSTEMS = (LINUX, LINUX_ARM, WINDOWS, MAC)


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file of a library. `size` is in bytes."""

    name: str
    version: str
    url: str
    size: int
    sha256: str

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.url.rpartition("/")[2]


def dependencies() -> list[str]:
    """What pyproject.toml asks for, without extras."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed: list[str] = table["project"]["dependencies"]
    return listed


def locked(
    system: TargetSystem, uv: str, *constraints: Path, asked: Sequence[str] = ()
) -> list[LockedFile]:
    """Return a file for each library that the program needs on a system.

    Raises OSError if a library has no wheel for it, with what uv says.
    """
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "pylock.toml"
        command = [uv, "pip", "compile", "-", "--quiet", "--output-file", str(lock)]
        command += ["--format", "pylock.toml"]
        command += ["--python-platform", system.platform, "--python-version", PYTHON]
        command += ["--index-strategy", "unsafe-best-match", "--only-binary", ":all:"]
        for name in sorted(SOURCES):
            command += ["--no-binary", name]
        for path in constraints or (CONSTRAINTS, ELSEWHERE):
            command += ["--constraint", str(path)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command,
            input="\n".join(asked or dependencies()),
            env=environment | {"MACOSX_DEPLOYMENT_TARGET": MACOS},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise OSError(f"the libraries for {system.name} cannot be had: {done.stderr.strip()}")
        return read_lock(lock.read_text("utf-8"))


def read_lock(text: str) -> list[LockedFile]:
    """Return the best file of each library in a file of PEP 751 that was made for one system.

    Raises ValueError if a library has none, or one without a digest.
    """
    chosen = []
    for each in tomllib.loads(text)["packages"]:
        name, wheels = each["name"], each.get("wheels", [])
        if wheels:
            best = max(wheels, key=lambda wheel: _rank(wheel["url"].rpartition("/")[2]))
        elif name in SOURCES and "sdist" in each:
            best = each["sdist"]
        else:
            raise ValueError(f"{name} has no wheel")
        digest = best["hashes"].get("sha256", "")
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise ValueError(f"{name} has no digest")
        chosen.append(LockedFile(name, each["version"], best["url"], best["size"], digest))
    return chosen


def _rank(wheel: str) -> tuple[bool, int, tuple[int, ...]]:
    """All wheels here fit the system: compiled ones come first, then those for a newer Python, then
    those for a newer system."""
    python, _, platform = wheel.removesuffix(".whl").split("-")[-3:]
    newest = max(int(number) for number in re.findall(r"\d+", python))
    systems = re.findall(r"(?:linux|macosx)_(\d+)_(\d+)", platform)
    return platform != "any", newest, max((tuple(map(int, each)) for each in systems), default=())


def as_requirements(files: Sequence[LockedFile]) -> str:
    """Return them as pip and uv read them, with the only digest of each that is allowed."""
    return "".join(f"{each.name}=={each.version} --hash=sha256:{each.sha256}\n" for each in files)
