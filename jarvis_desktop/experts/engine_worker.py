"""Resolves, downloads and unpacks the wheels of an engine. Runs in a child process only.

uv chooses the wheels for this computer and unpacks them. Between the two they are downloaded here:
uv discards a wheel that was cut off, and that of torch may have half a gigabyte.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname
from zipfile import BadZipFile, ZipFile

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import Fault, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts import verification
from jarvis_desktop.experts.download_worker import (
    HubRepository,
    RemoteFile,
    RemoteListing,
    check_room,
    fetch_files,
)
from jarvis_desktop.experts.weights import lock_folder
from jarvis_desktop.process.child_main import ended_with_us

UNPACKED = 3
"""About how much larger the files in a wheel are than the wheel."""
RESOLVE_TIMEOUT_S = 120.0
UNPACK_TIMEOUT_S = 1800.0
ACCELERATORS = ("nvidia-", "cuda-", "triton")
"""The beginnings of the names of what torch needs for a graphics card; each build has its own."""
NO_NETWORK = re.compile(
    r"error sending request|dns error|timed out|tunnel|connection (refused|reset)|were disabled"
)
FAULT = re.compile(r"^(?:error|\s*cause): (.+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """What to install, and where."""

    folder: Path
    """Everything that is not ready yet is in there."""
    requirements: Path
    """The names, versions and digests of all packages."""
    build: str
    """The build of torch, as uv calls it, such as "cpu"; "" for that of the usual index."""
    source: Path | None
    """A folder with wheels, from which alone they are taken; None for the network."""
    patience: float
    reserve: int


@dataclass(frozen=True, slots=True)
class PinnedRequirement:
    """One entry of the requirements."""

    line: str
    """Without digests."""
    digests: frozenset[str]
    """SHA-256, of every wheel."""


def serve(plan: EnginePlan) -> Callable[[Report, str], Any]:
    """Return the child's handler: "resolve" returns the size of the download in bytes, "fetch"
    downloads it, and "unpack" returns the folder with the result.

    The first call locks the folder until the child ends.
    """
    index: WheelIndex | None = None
    hold: AbstractContextManager[object] | None = None

    def handle(report: Report, what: str) -> Any:
        nonlocal index, hold
        try:
            hold = hold or lock_folder(plan.folder, "torch")
            plan.folder.mkdir(parents=True, exist_ok=True)
            index = index or _resolved(plan)
            if what == "fetch":
                wheels, room = (
                    plan.folder / "wheels",
                    UNPACKED * index.listing().size + plan.reserve,
                )
                fetch_files(index, index.listing(), wheels, report=report, reserve=room)
            return _unpacked(plan, index) if what == "unpack" else index.listing().size
        except OSError as error:
            raise _not_written(error) from error

    return handle


class WheelIndex(HubRepository):
    """The wheels of one engine, in an index of packages or on this computer."""

    def __init__(
        self, pylock: str, pins: Mapping[str, PinnedRequirement], plan: EnginePlan
    ) -> None:
        super().__init__(Expert("torch", "", repo=tr("the package index")), "", plan.patience)
        self.local: dict[Path, RemoteFile] = {}
        """The wheels that need no download."""
        self._urls: dict[str, str] = {}
        remote = []
        for package in tomllib.loads(pylock)["packages"]:
            for wheel in package["wheels"]:
                parts = urlsplit(wheel["url"])
                name = unquote(parts.path).rpartition("/")[2]
                if not verification.is_inside(name):
                    raise _unreachable()
                digest = _digest(package, wheel.get("hashes", {}).get("sha256", ""), pins, plan)
                entry = RemoteFile(name, wheel.get("size", 0), digest, "")
                if parts.scheme == "file":
                    self.local[Path(url2pathname(parts.path))] = entry
                    continue
                self._urls[name] = wheel["url"]
                remote.append(entry)
        remote = [each if each.size else self._measured(each) for each in remote]
        remote.sort(key=lambda each: each.size)
        self._listing = RemoteListing("", tuple(remote))

    def listing(self) -> RemoteListing:
        """Return the wheels to download."""
        return self._listing

    def _measured(self, entry: RemoteFile) -> RemoteFile:
        """Ask for the size of a wheel, which not every index lists."""
        import httpx2
        from huggingface_hub import get_session

        url, patience = self._urls[entry.name], self._patience
        try:
            answer = get_session().head(url, timeout=patience, follow_redirects=True)
            size = int(answer.raise_for_status().headers["content-length"])
        except (httpx2.HTTPError, KeyError, ValueError) as error:
            raise _unreachable() from error
        return RemoteFile(entry.name, size, entry.sha256, "")

    def _address(self, entry: RemoteFile, revision: str) -> tuple[str, dict[str, str]]:
        return self._urls[entry.name], {}

    def _refuse(self, response: Any) -> None:
        raise UnavailableError(
            tr(
                "The package index refused {name} (status {status}).",
                name=response.url.path.rpartition("/")[2],
                status=response.status_code,
            ),
            hint=tr("Try again later."),
            retryable=True,
        )


def read_pins(requirements: str) -> Mapping[str, PinnedRequirement]:
    """Return the packages of a list with digests, as pip and uv read it, by name."""
    pins = {}
    for entry in requirements.replace("\\\n", " ").splitlines():
        if entry.strip() and not entry.startswith("#"):
            line, *digests = (part.strip() for part in entry.split("--hash=sha256:"))
            pins[line.partition("==")[0]] = PinnedRequirement(line, frozenset(digests))
    return pins


def _digest(
    package: Mapping[str, Any],
    listed: str,
    pins: Mapping[str, PinnedRequirement],
    plan: EnginePlan,
) -> str:
    """Return the digest that a wheel must have, which is in our list if the wheel is.

    Builds of torch for other accelerators, such as 2.13.0+cpu, are not in the usual index.
    """
    name, version = package["name"], package["version"]
    other = "+" in version or ((plan.build or plan.source) and name.startswith(ACCELERATORS))
    if name in pins and not other and listed not in pins[name].digests:
        raise UnavailableError(
            tr("The package index has another {name} {version} than it had when this version of "
               "JARVIS was made.", name=name, version=version),
            hint=tr("Use the usual index, or tell those who look after yours."),
        )  # fmt: skip
    if not listed:
        raise UnavailableError(
            tr("The package index has no digest for {name}.", name=name),
            hint=tr("Use the usual index, or tell those who look after yours."),
        )
    return listed


def _resolved(plan: EnginePlan) -> WheelIndex:
    pins = read_pins(plan.requirements.read_text("utf-8"))
    usual = not plan.build and not plan.source
    wanted = [pin.line for name, pin in pins.items() if usual or not name.startswith(ACCELERATORS)]
    listed, pylock = plan.folder / "wanted.txt", plan.folder / "pylock.toml"
    listed.write_text("\n".join(wanted), "utf-8")
    options = ["--torch-backend", plan.build] if plan.build and not plan.source else []
    if plan.source:
        options = ["--offline", "--no-index", "-f", str(plan.source)]
    _uv(
        *("compile", str(listed), "--format", "pylock.toml", "-o", str(pylock), "--quiet"),
        *("--only-binary", ":all:", *options),
        plan=plan,
        timeout=RESOLVE_TIMEOUT_S,
    )
    return WheelIndex(pylock.read_text("utf-8"), pins, plan)


def _unpacked(plan: EnginePlan, index: WheelIndex) -> Path:
    wheels = [plan.folder / "wheels" / entry.name for entry in index.listing().entries]
    for path, entry in index.local.items():
        if not verification.matches(path, entry.sha256, ""):
            raise UnavailableError(tr("{name} is damaged.", name=path.name))
    wheels += index.local
    check_room(plan.folder, sum(map(_size_unpacked, wheels)) + plan.reserve)
    for old in plan.folder.glob("site-*"):
        shutil.rmtree(old, ignore_errors=True)
    # A new name: a uv whose parent was killed may still be writing into the last one.
    site = plan.folder / f"site-{os.getpid()}"
    _uv(
        *("install", "--target", str(site), "--no-deps", "--offline", *map(str, wheels)),
        plan=plan,
        timeout=UNPACK_TIMEOUT_S,
    )
    return site


def _size_unpacked(wheel: Path) -> int:
    try:
        with ZipFile(wheel) as files:
            return sum(each.file_size for each in files.infolist())
    except BadZipFile as error:
        raise UnavailableError(tr("{name} is damaged.", name=wheel.name)) from error


def _uv(command: str, *arguments: str, plan: EnginePlan, timeout: float) -> None:
    """Run uv. Raises UnavailableError with the reason if it fails."""
    try:
        from uv import find_uv_bin

        program = find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise UnavailableError(
            tr("uv is missing, which installs torch."), hint="pip install uv"
        ) from error
    try:
        done = subprocess.run(
            [
                *(program, "pip", command, "--python", sys.executable, "--no-progress"),
                *("--color", "never", "--cache-dir", str(plan.folder / "cache"), *arguments),
            ],
            cwd=plan.folder,
            env={key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            preexec_fn=ended_with_us(),
        )
    except subprocess.TimeoutExpired as error:
        raise _unreachable() from error
    if done.returncode:
        raise _refusal(done.stderr, plan)


def _refusal(said: str, plan: EnginePlan) -> Exception:
    if "No space left" in said or "os error 112" in said:
        return OSError(28, "No space left on device")
    if "Permission denied" in said or "Read-only" in said:
        return OSError(13, "Permission denied")
    if plan.source and "No solution found" in said:
        missing = re.search(r"Because (?:there is no version of )?([\w-]+)", said)
        name = missing[1] if missing else "torch"
        return UnavailableError(
            tr("{folder} has no wheel of {name} for this computer.", folder=plan.source, name=name),
            hint=tr("Fill it on a computer with the same system and Python."),
        )
    if NO_NETWORK.search(said.lower()):
        return _unreachable()
    if "No solution found" in said:
        return UnavailableError(
            tr("The package index has no torch for this computer."),
            hint=tr("Try another build, for example: jarvis-desktop engine install --build cpu."),
            fault=Fault.GONE,
        )
    reasons = FAULT.findall(said) or [said.strip() or "uv"]
    return UnavailableError(
        tr(
            "torch was not installed: {reason}.",
            reason=one_line(reasons[-1], limit=200).rstrip("."),
        )
    )


def _unreachable() -> UnavailableError:
    return UnavailableError(
        tr("torch could not be downloaded: the package index cannot be reached."),
        hint=tr("The part already downloaded is kept. Check the network and try again."),
        retryable=True,
        fault=Fault.NETWORK,
    )


def _not_written(error: OSError) -> StorageError:
    return StorageError(
        tr(
            "torch could not be saved: {reason}.",
            reason=(error.strerror or "unknown reason").lower(),
        ),
        hint=tr("Make sure that the disk has room and the folder is writable."),
        retryable=True,
    )
