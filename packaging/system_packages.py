"""Finds and installs the system packages that no Python wheel carries.

The lists follow from `readelf -d` of Qt's xcb plugin and libraries, and from what the tests start.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Say = Callable[[str], object]

SANDBOX = ("bubblewrap", "libseccomp2")
SPEECH = ("libportaudio2", "libasound2-plugins", "espeak-ng")
WINDOW = (
    "libegl1",
    "libgl1",
    "libglib2.0-0",
    "libgssapi-krb5-2",
    "libfontconfig1",
    "libdbus-1-3",
    "libwayland-cursor0",
    "libx11-xcb1",
    "libxkbcommon-x11-0",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-image0",
    "libxcb-keysyms1",
    "libxcb-randr0",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-sync1",
    "libxcb-xfixes0",
    "libxcb-xkb1",
)
TESTS = (
    "pulseaudio",
    "pulseaudio-utils",
    "xvfb",
    "openbox",
    "trayer",
    "xdotool",
    "dbus",
    "at-spi2-core",
    "strace",
    "desktop-file-utils",
    "appstream",
)
VENV = "python3-venv"


def ensure(*, testing: bool, install: bool, say: Say) -> list[str]:
    """Install what is missing where that is possible; returns what is missing still.

    With `install` false nothing is installed: a start that has all else ready must stay quick.
    """
    wanted = SANDBOX + SPEECH + WINDOW + (TESTS if testing else ())
    if not has_ensurepip():
        wanted += (VENV,)
    if not (shutil.which("apt-get") and shutil.which("dpkg-query")):
        _advise_elsewhere(wanted, testing, say)
        return []
    missing = missing_of(wanted)
    if missing and install and os.geteuid() == 0:
        _apt_install(missing, say)
        missing = missing_of(wanted)
    if missing:
        say(_sentence(missing))
    return missing


def missing_of(wanted: Iterable[str]) -> list[str]:
    """Those that dpkg does not list as installed, neither by name nor as provided by another."""
    listing = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}\t${Package}\t${Provides}\n"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    have = set()
    for line in listing.splitlines():
        status, _, names = line.partition("\t")
        if status == "installed":  # a provided name may carry a version: libx1 (= 1.2)
            have.update(re.split(r"[\t, ]+", re.sub(r"\([^)]*\)", "", names)))
    return [name for name in wanted if name not in have]


def has_ensurepip() -> bool:
    """Whether Python can make environments."""
    try:
        import ensurepip  # noqa: F401 - Debian leaves it out of python3
    except ImportError:
        return False
    return True


def _apt_install(packages: list[str], say: Say) -> None:
    say("Installing system packages: " + " ".join(packages))
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    output = ""
    for _ in range(2):  # a mirror that is just being updated fails once
        for command in (["apt-get", "update"], install):
            done = subprocess.run(
                command,
                env=quiet,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            output = done.stdout
        if done.returncode == 0:
            return
    last = output.strip().splitlines()[-5:]
    say("apt-get could not install them. Its last words:\n  " + "\n  ".join(last))


def _sentence(missing: list[str]) -> str:
    lost = []
    if set(missing) & set(SANDBOX):
        lost.append("the sandbox that code runs in")
    if set(missing) & set(SPEECH):
        lost.append("sound and speech")
    if set(missing) & set(WINDOW):
        lost.append("the window")
    if set(missing) & set(TESTS):
        lost.append("the tests")
    if VENV in missing:
        lost.append("the set-up")
    command = "apt-get install -y " + " ".join(missing)
    if os.geteuid() != 0:
        command = "sudo " + command
    return f"Missing for {' and '.join(lost)}; install with:\n  {command}"


def _advise_elsewhere(wanted: Iterable[str], testing: bool, say: Say) -> None:
    if not sys.platform.startswith("linux"):
        return  # macOS and Windows: PortAudio comes in the wheel, voices with the system
    lacking = [name for name in ("bwrap", "espeak-ng") if not shutil.which(name)]
    if testing:
        programs = ("Xvfb", "openbox", "trayer", "xdotool", "pulseaudio", "pactl", "dbus-daemon")
        lacking += [name for name in programs if not shutil.which(name)]
    if lacking:
        say(
            "Not found: "
            + ", ".join(lacking)
            + ". Please install them with your system's package manager (on Debian the packages "
            + "are: "
            + " ".join(wanted)
            + ")."
        )
