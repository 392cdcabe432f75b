"""Releases: the signed file that describes the newest version, and its place on the web.

The file is a JSON object with the text of the release, which is JSON itself, and an Ed25519
signature of exactly that text. So whoever can change what a server sends, or the line to it, can
keep an update away but cannot make one. It is read in a child process.
"""

from __future__ import annotations

import base64
import json
import platform
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import Paths, shipped
from jarvis_desktop.process.network_guard import is_this_computer

NAME = "jarvis-desktop"
MAX_RELEASE_BYTES = 256 * 1024
MAX_FILE_BYTES = 4 * 10**9
CHANNEL = "channel.json"

_section = re.compile(r"^## \[?(\d+(?:\.\d+)+)\]?.*$", re.MULTILINE)


class PackageKind(StrEnum):
    """The kinds of files of a release."""

    WHEEL = "wheel"
    DEB = "deb"
    FOLDER = "folder"
    """An archive of the folder that runs wherever it is put."""


class ReleaseFile(BaseModel):
    """One file of a release, beside the release itself."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]{0,199}$")
    kind: str = Field(max_length=40)
    """A PackageKind, or one that later versions know."""
    system: str = Field(max_length=40)
    """Such as "linux-x86_64", or "any"."""
    size: int = Field(gt=0, le=MAX_FILE_BYTES)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Release(BaseModel):
    """The newest version, as its makers have signed it."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: Literal["jarvis-desktop"]
    version: str = Field(pattern=r"^\d{1,4}(\.\d{1,4}){1,3}$")
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    changes: str = ""
    """The sections of the CHANGELOG of the last versions, as Markdown."""
    files: tuple[ReleaseFile, ...] = Field(max_length=50, strict=False)

    def file_for(self, kind: PackageKind, system: str) -> ReleaseFile:
        """Return the file of this kind for a system. Raises UnavailableError if it has none."""
        for file in self.files:
            if file.kind == kind.value and file.system in ("any", system):
                return file
        raise UnavailableError(
            tr("Version {version} has nothing for this computer ({system}).",
               version=self.version, system=system),
            hint=tr("The version in use keeps working."),
        )  # fmt: skip

    def news(self, version: str) -> str:
        """Return what is new since this version, as Markdown."""
        parts = _section.split(self.changes)  # text, version, text, version, ...
        found = [
            f"## {number}\n\n{text.strip()}"
            for number, text in zip(parts[1::2], parts[2::2], strict=True)
            if order(version) < order(number) <= order(self.version)
        ]
        return "\n\n".join(found)


@dataclass(frozen=True, slots=True)
class ReleaseChannel:
    """Where releases come from. Without an address, there is no such place yet."""

    address: str = ""
    """Of the signed file; the others are beside it."""
    key: str = ""
    """The Ed25519 public key of the makers, in base64."""

    @property
    def usable(self) -> bool:
        """Whether there is an address that may be asked, and a key."""
        parts = urlsplit(self.address)
        return bool(self.key) and (parts.scheme == "https" or self.is_local)

    @property
    def is_local(self) -> bool:
        """Whether the place is on this computer, which needs no encryption."""
        parts = urlsplit(self.address)
        return parts.scheme == "http" and is_this_computer(parts.hostname or "")


def release_channel(paths: Paths) -> ReleaseChannel:
    """Return the place of releases that this build was made with.

    A file in the folder of the settings replaces it, for those who give out their own builds.
    """
    for path in (paths.config / CHANNEL, shipped("resources", "release", CHANNEL)):
        try:
            told = json.loads(path.read_text("utf-8"))
            return ReleaseChannel(str(told["address"]), str(told["key"]))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError):
            break  # half a file must not lead to another place than the one it names
    return ReleaseChannel()


def order(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare as it does."""
    numbers = tuple(int(number) for number in version.split("."))
    return numbers + (0,) * (4 - len(numbers))


def this_system() -> str:
    """Return the name of this system and its processor, such as "linux-x86_64"."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}
    name = platform.machine().lower()
    return f"{sys.platform}-{machine.get(name, name)}"


def read_release(body: bytes, key: str) -> Release:
    """Return the release that a signed file describes. Raises UnavailableError."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        told = json.loads(body)
        text, signature = str(told["release"]), base64.b64decode(told["signature"], validate=True)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _refused(tr("The place of releases did not answer with a release.")) from error
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(signature, text.encode())
    except (InvalidSignature, ValueError) as error:
        raise _refused(
            tr("The release is not signed by those who make this program, so it is not used.")
        ) from error
    try:
        return Release.model_validate_json(text)
    except ValidationError as error:
        raise _refused(tr("The release is in a form that this version cannot read.")) from error


def sign_release(release: Release, private_key: bytes) -> bytes:
    """Return the signed file; `private_key` is the 32 bytes of an Ed25519 key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text = release.model_dump_json()
    signature = Ed25519PrivateKey.from_private_bytes(private_key).sign(text.encode())
    return json.dumps({"release": text, "signature": base64.b64encode(signature).decode()}).encode()


def wheel_name(version: str) -> str:
    """Return the file name that the wheel of a version must have."""
    return f"jarvis_desktop-{version}-py3-none-any.whl"


def check_wheel(path: Path, version: str) -> None:
    """Raise UnavailableError unless a file is the wheel of this version."""
    from zipfile import BadZipFile, ZipFile

    from jarvis_desktop.experts.verification import is_inside

    refused = _refused(tr("{name} is not the version that it should be.", name=path.name))
    try:
        with ZipFile(path) as packed:
            if not all(is_inside(name) for name in packed.namelist()):
                raise refused
            about = packed.read(f"jarvis_desktop-{version}.dist-info/METADATA").decode()
    except (BadZipFile, KeyError, ValueError, OSError, NotImplementedError) as error:
        raise refused from error
    if f"Version: {version}" not in about.splitlines() or path.name != wheel_name(version):
        raise refused


def not_saved(error: OSError) -> StorageError:
    """Return the error for a file of a release that cannot be written."""
    return StorageError(
        tr("The new version could not be saved: {reason}.",
           reason=(error.strerror or tr("unknown reason")).lower()),
        hint=tr("Make sure that the disk has room and the folder is writable."),
    )  # fmt: skip


def _refused(message: str) -> UnavailableError:
    return UnavailableError(message, hint=tr("The version in use keeps working."))
