"""Rewrites constraints.txt from what is installed: `python3 packaging/bootstrap.py lock`.

Runs in the project's environment. Pins the packages that the project asks for, and what these ask
for in turn; whatever else lies in the environment is left out.
"""

from __future__ import annotations

import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
UNPINNED = frozenset({"pip", "setuptools", "jarvis-desktop"})
HEAD = """\
# Every library at the version the tests ran with. pip reads it through packaging/bootstrap.py.
# To refresh it: upgrade what is to be upgraded in .venv, run `bootstrap.py test`, and when that
# passes `python3 packaging/bootstrap.py lock`, which rewrites this file.
"""


def main() -> int:
    """Write the file and say how many packages it pins."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = table["dependencies"] + table["optional-dependencies"]["dev"]
    pins = closure([Requirement(line) for line in asked])
    lines = [f"{name}=={version}" for name, version in sorted(pins.items())]
    (ROOT / "packaging" / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    print(f"packaging/constraints.txt pins {len(pins)} packages.")
    return 0


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
