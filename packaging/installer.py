"""Installs the libraries into .venv: with uv, which takes a third of pip's time, or with pip.

uv is fetched by pip into a folder of its own, and asks where pip would ask: the indexes, folders
and constraints of `pip config` are passed on. If uv cannot be had, has no word for a setting or
fails, pip installs.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    # Runs a command, its output into a file, under a headline; returns its exit code.
    Run = Callable[[list[str], Path, str], int]

UV = "uv==0.13.9"

# Settings of pip that do not say what is installed.
PIPS_OWN = {
    "cache-dir", "default-timeout", "disable-pip-version-check", "no-cache-dir", "no-color",
    "no-input", "no-python-version-warning", "progress-bar", "quiet", "require-virtualenv",
    "retries", "root-user-action", "timeout", "verbose",
}  # fmt: skip

NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname"
    r"|Network is unreachable|NewConnectionError|ConnectTimeoutError|No route to host"
    r"|getaddrinfo failed|Connection refused"
)


def uv_command(python: Path, log: Path, run: Run) -> list[str]:
    """The beginning of a command by which uv installs what pip would; empty without uv.

    `python` is that of the environment. uv stays there, for the next time.
    """
    settings = subprocess.run(
        [str(python), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    options = uv_options(settings.stdout)
    if settings.returncode or options is None:
        return []
    folder = python.parent.parent / UV
    program = folder / "bin" / ("uv.exe" if os.name == "nt" else "uv")
    if not program.is_file():
        fetch = [*pip_command(python), "--no-deps", "--target", str(folder), UV]
        if run(fetch, log, "Fetching uv, the installer"):
            return []
    return [str(program), "pip", "install", "--python", str(python), "--no-progress", *options]


def pip_command(python: Path) -> list[str]:
    """The beginning of a command by which pip installs."""
    quiet = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
    return [str(python), "-m", "pip", "install", *quiet]


def uv_options(settings: str) -> list[str] | None:
    """uv's options for what `pip config list` printed; None if uv cannot do the same.

    uv's options have the names of pip's, and it ends with an error at one it does not know.
    """
    values: dict[str, str] = {}
    for line in settings.splitlines():  # global.constraint='/…', :env:.timeout='60'
        section, _, rest = line.partition(".")
        name, _, value = rest.partition("=")
        # As for pip, "install" goes before "global", and the environment before both.
        if (section == "global" and name not in values) or section in ("install", ":env:"):
            values[name] = str(ast.literal_eval(value))
    # pip takes the best of all indexes; uv would take the first that knows the name.
    options = ["--index-strategy", "unsafe-best-match"]
    for name, value in values.items():
        if name == "cert":  # uv reads the variable
            if os.environ.get("SSL_CERT_FILE") != value:
                return None
        elif name not in PIPS_OWN:
            options += [f"--{name}={word}" for word in value.split()]
    return options


def explain(what: str, log: Path) -> str:
    """Why an installation failed: one sentence for the common reasons, else its last lines."""
    text = log.read_text(encoding="utf-8", errors="replace")
    if NETWORK.search(text):
        reason = "the package index cannot be reached; check the network and run this again."
    elif "No space left on device" in text:
        reason = "the disk is full; about 1 GB is needed."
    else:
        reason = "pip's last lines:\n  " + "\n  ".join(text.strip().splitlines()[-15:])
    return f"Could not install {what}: {reason}\nAll of pip's output: {log}"
