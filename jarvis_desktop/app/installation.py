"""How this copy was installed, which decides how it is updated.

uv keeps each tool in a separate environment, and some copies are a folder that runs wherever it is
put. A new version is installed or unpacked beside it and started there, and then the two change
places in one step of the file system. So whenever that is cut off, either the old version is in its
place or the new one, and each of them has started.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from jarvis_desktop.app.release import NAME, PackageKind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.experts.verification import is_inside
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform.desktop import in_flatpak, shell_line

DEB_PREFIX = Path("/usr/lib/jarvis-desktop")
RECEIPT = "uv-receipt.toml"
FOLDER_MARK = "onedir"
"""A file with the version, in the folder that runs wherever it is put."""
BUNDLE_MARK = "bundle"
"""A file with the version, in the AppDir, and in the folder that an installer puts somewhere."""
SBOM = "sbom.cdx.json"
STAGE = f".{NAME}-update"
INSTALL_TIMEOUT_S = 1800.0
START_TIMEOUT_S = 180.0
"""For libraries that were never read before, from a slow disk."""
START = ("ask", "--mode", "offline", "--json", "what time is it")
"""A request that needs the planner, the history and a child process, but no download."""
AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Of renameat2(2)."""
RENAME_SWAP = 2
"""Of macOS' renamex_np(2)."""

_pin = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class InstallKind(StrEnum):
    """How a copy was installed."""

    CHECKOUT = "checkout"
    FLATPAK = "flatpak"
    APPIMAGE = "appimage"
    BUNDLE = "bundle"
    FOLDER = "folder"
    DEB = "deb"
    UV = "uv"
    PIPX = "pipx"
    PIP = "pip"


_BY_OTHERS = (
    InstallKind.CHECKOUT,
    InstallKind.FLATPAK,
    InstallKind.APPIMAGE,
    InstallKind.BUNDLE,
)
"""What no file of a release updates."""


@dataclass(frozen=True, slots=True)
class Installation:
    """This copy of the program. `prefix` is the environment that it is in."""

    kind: InstallKind
    prefix: Path

    @property
    def package(self) -> PackageKind | None:
        """The kind of file that updates it; None if no file of a release does."""
        if self.kind in _BY_OTHERS:
            return None
        kinds = {InstallKind.DEB: PackageKind.DEB, InstallKind.FOLDER: PackageKind.FOLDER}
        return kinds.get(self.kind, PackageKind.WHEEL)

    @property
    def updates_itself(self) -> bool:
        """Whether `replace` updates it; otherwise the user runs a command."""
        # Windows does not rename the folder of a program that runs.
        return self.kind in (InstallKind.UV, InstallKind.FOLDER) and sys.platform != "win32"

    def advice(self, file: Path | None = None) -> str:
        """Return what the user can do to update it, with the downloaded file if there is one."""
        match self.kind:
            case InstallKind.CHECKOUT:
                return tr("It is a checkout: git pull brings it up to date.")
            case InstallKind.FLATPAK:
                return tr(
                    "Flatpak updates it: {command}",
                    command=shell_line(("flatpak", "update", APP_ID)),
                )
            case InstallKind.APPIMAGE:
                return tr(
                    "Put the AppImage of the new version in the place of {path}.", path=self.prefix
                )
            case InstallKind.BUNDLE:
                return tr("Get the new version where you got this one.")
        if file is None:
            return f"{NAME} update"
        commands: dict[InstallKind, Sequence[str]] = {
            InstallKind.DEB: ("sudo", "apt", "install", str(file)),
            InstallKind.UV: ("uv", "tool", "install", "--force", str(file)),
            InstallKind.FOLDER: ("tar", "-xf", str(file)),
            InstallKind.PIPX: ("pipx", "install", "--force", str(file)),
            InstallKind.PIP: (sys.executable, "-m", "pip", "install", str(file)),
        }
        return shell_line(commands[self.kind])


def installation() -> Installation:
    """Return how this copy was installed."""
    prefix = Path(sys.prefix)
    package = Path(__file__).parents[1]
    if in_flatpak():
        return Installation(InstallKind.FLATPAK, prefix)
    if image := os.environ.get("APPIMAGE"):
        return Installation(InstallKind.APPIMAGE, Path(image))
    if getattr(sys, "frozen", False) or (prefix / BUNDLE_MARK).is_file():
        return Installation(InstallKind.BUNDLE, prefix)
    if (package.parent / "pyproject.toml").is_file():
        return Installation(InstallKind.CHECKOUT, package.parent)
    if DEB_PREFIX in package.parents:
        return Installation(InstallKind.DEB, DEB_PREFIX)
    for name, kind in (
        (RECEIPT, InstallKind.UV),
        ("pipx_metadata.json", InstallKind.PIPX),
        (FOLDER_MARK, InstallKind.FOLDER),
    ):
        if (prefix / name).is_file():
            return Installation(kind, prefix)
    return Installation(InstallKind.PIP, prefix)


def replace(
    own: Installation,
    file: Path,
    version: str,
    *,
    run: Run = subprocess.run,
    report: Callable[[str], None] = lambda words: None,
) -> None:
    """Replace the environment of uv's tool by one with this wheel, or a folder by the one in this
    archive. Blocks for long.

    Raises JarvisError if the new version cannot be installed or does not start; the old one is then
    in its place as it was.
    """
    prefix, stage = own.prefix, own.prefix.parent / STAGE
    _forget(stage)
    try:
        report(tr("installing it beside the version in use"))
        stage.mkdir()
        if own.kind is InstallKind.UV:
            fresh = _install_beside(stage, prefix, file, run)
            start = [str(fresh / "bin" / "python"), "-I", "-m", "jarvis_desktop"]
        else:
            fresh = _unpack_beside(stage, file, version)
            start = [str(fresh / "bin" / NAME)]
        report(tr("starting it for a test"))
        _check_start(start, version, run)
        if own.kind is InstallKind.UV:
            _move_paths(fresh, prefix, stage)
        report(tr("replacing the version in use"))
        _exchange(fresh, prefix)
        try:
            _check_start([str(prefix / "bin" / NAME)], version, run)
        except BaseException:
            _exchange(fresh, prefix)
            raise
    except OSError as error:
        raise StorageError(
            tr("The new version could not be installed: {reason}.",
               reason=(error.strerror or tr("unknown reason")).lower()),
            hint=tr("The version in use keeps working."),
        ) from error  # fmt: skip
    finally:
        _forget(stage)


def _install_beside(stage: Path, prefix: Path, wheel: Path, run: Run) -> Path:
    """Let uv install the wheel below `stage`, as the tool was installed; return the environment."""
    python = str(getattr(sys, "_base_executable", sys.executable))
    command = [_uv(), "tool", "install", "--no-progress", "--python", python]
    command += _arguments(prefix / RECEIPT, wheel)
    places = {"UV_TOOL_DIR": str(stage), "UV_TOOL_BIN_DIR": str(stage / "bin")}
    fresh, pins = stage / NAME, stage / "constraints.txt"
    pins.write_text("".join(f"{pin}\n" for pin in _pins(wheel)), "utf-8")
    # The index that is in use here may not have the versions with which the release was tested.
    for options in (["-c", str(pins)], []):
        done = _finished(run, [*command, *options], environment=places, timeout=INSTALL_TIMEOUT_S)
        if not done.returncode and fresh.is_dir():
            return fresh
    raise _not_updated(tr("it could not be installed ({reason})", reason=_last_line(done)))


def _unpack_beside(stage: Path, archive: Path, version: str) -> Path:
    """Unpack the folder of a version below `stage`, and return it."""
    try:
        with tarfile.open(archive) as packed:
            # Early versions of Python 3.11 have no filters; we need nothing but plain files.
            packed.extraction_filter = lambda member, path: member
            for member in packed:
                if not (member.isreg() or member.isdir()) or not is_inside(member.name):
                    raise ValueError(member.name)
                packed.extract(member, stage)
        named = (stage / NAME / FOLDER_MARK).read_text("utf-8").strip()
    except (tarfile.TarError, zlib.error, EOFError, ValueError, FileNotFoundError) as error:
        raise _not_updated(tr("its archive is damaged")) from error
    if named != version:
        raise _not_updated(tr("it is version {version}", version=named))
    return stage / NAME


def _pins(wheel: Path) -> list[str]:
    """Return the libraries with which a release was tested, each with its version."""
    try:
        with ZipFile(wheel) as packed:
            told = json.loads(packed.read(f"jarvis_desktop/_data/resources/release/{SBOM}"))
        named = (str(each["purl"]) for each in told["components"] if "purl" in each)
        pins = [name.removeprefix("pkg:pypi/").replace("@", "==", 1) for name in named]
    except (OSError, ValueError, KeyError, TypeError, BadZipFile):
        return []
    return [pin for pin in pins if _pin.fullmatch(pin)]


def _arguments(receipt: Path, wheel: Path) -> list[str]:
    """Return the arguments with which uv installs the wheel as the tool was installed before."""
    try:
        told = tomllib.loads(receipt.read_text("utf-8"))["tool"]
        extras, others = "", []
        for each in told["requirements"]:
            own = f"[{','.join(each['extras'])}]" if each.get("extras") else ""
            if each["name"] == NAME:
                extras = own
            elif place := each.get("url") or each.get("path") or each.get("directory"):
                others.append(f"{each['name']}{own} @ {place}")
            else:
                others.append(f"{each['name']}{own}{each.get('specifier', '')}")
        options = [
            (f"--{name}", value)
            for name, value in told.get("options", {}).items()
            if isinstance(value, str)
        ]
        for each in told.get("options", {}).get("index", ()):
            options.append(("--default-index" if each.get("default") else "--index", each["url"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _not_updated(tr("uv's record of it cannot be read")) from error
    options += [("--with", each) for each in others]
    given = [part for option in options for part in option]
    return [*given, f"{NAME}{extras} @ {wheel.absolute().as_uri()}"]


def _uv() -> str:
    """The user's own uv, which keeps its tools, or else the one that comes with us."""
    if found := shutil.which("uv"):
        return found
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise _not_updated(tr("uv is missing")) from error


def _move_paths(fresh: Path, prefix: Path, stage: Path) -> None:
    """Write the paths that an environment has at its final place into its scripts."""
    changes = {str(fresh): str(prefix), str(stage / "bin"): str(_commands(prefix))}
    for path in (*(fresh / "bin").iterdir(), fresh / RECEIPT):
        if path.is_symlink() or not path.is_file():
            continue
        with suppress(UnicodeDecodeError):  # a program
            text = before = path.read_bytes().decode()
            for old, new in changes.items():
                text = text.replace(old, new)
            if text != before:
                path.write_bytes(text.encode())


def _commands(prefix: Path) -> Path:
    """The folder with the command that the user calls."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        entries: list[Mapping[str, Any]] = tomllib.loads((prefix / RECEIPT).read_text("utf-8"))[
            "tool"
        ]["entrypoints"]
        return Path(str(entries[0]["install-path"])).parent
    return Path.home() / ".local" / "bin"


def _check_start(command: list[str], version: str, run: Run) -> None:
    """Raise UnavailableError unless the program starts, is this version and answers."""
    with tempfile.TemporaryDirectory(prefix=NAME) as home:
        # Away from the user's data, which only a version that works may change.
        places = {"JARVIS_DESKTOP_HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
        for arguments in (("--version",), START):
            done = _finished(
                run, [*command, *arguments], environment=places, timeout=START_TIMEOUT_S
            )
            named = arguments != ("--version",) or done.stdout.strip() == f"{NAME} {version}"
            if done.returncode or not named:
                raise _not_updated(tr("it does not start here ({reason})", reason=_last_line(done)))


def _finished(
    run: Run, command: Sequence[str], *, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    try:
        return run(
            command,
            env={
                **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_updated(tr("it did not answer in time")) from error


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout or "").strip().splitlines()
    return one_line(lines[-1], limit=160).rstrip(".") if lines else str(done.returncode)


def _not_updated(reason: str) -> JarvisError:
    return UnavailableError(
        tr("The new version was not installed: {reason}.", reason=reason),
        hint=tr("The version in use keeps working."),
    )


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change places, at once where the system can. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = libc.renamex_np(*names, RENAME_SWAP)
    else:
        failed = libc.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE)
    if not failed:
        return
    aside = one.with_name(f"{one.name}.aside")  # a file system that has no such step
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)


def _forget(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
