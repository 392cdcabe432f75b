"""Describes a release and signs it, for `jarvis-desktop update` to find.

    .venv/bin/python packaging/release.py key KEYFILE     make a key, and print its public half
    .venv/bin/python packaging/release.py sign KEYFILE    dist/release.json for what is in dist/

The public half and the later address of release.json belong into resources/release/channel.json
before the packages are built; release.json and the packages go to the same folder of a web server.
The key file stays with whoever makes releases.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from build import DIST, ROOT, version
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from jarvis_desktop.app.release import (
    MAX_RELEASE_BYTES,
    NAME,
    PackageKind,
    Release,
    ReleaseFile,
    sign_release,
    wheel_name,
)

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Debian's names of processors, and those of Linux."""
MAX_CHANGES = MAX_RELEASE_BYTES // 4
SECTION = re.compile(r"^(?=## )", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """The exit code: 0 done, 1 not possible and why, 2 wrong usage."""
    match arguments:
        case ["key", path]:
            return make_key(Path(path))
        case ["sign", path]:
            return sign(Path(path))
    print(__doc__, file=sys.stderr)
    return 2


def make_key(path: Path) -> int:
    """Write a new key that only this user can read; never over another one."""
    key = Ed25519PrivateKey.generate()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        print(f"No key was made: {error.strerror}: {path}", file=sys.stderr)
        return 1
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(key.private_bytes_raw()) + b"\n")
    print(base64.b64encode(key.public_key().public_bytes_raw()).decode())
    return 0


def sign(path: Path) -> int:
    """Write release.json for the packages of this version."""
    try:
        release = described(DIST, (ROOT / "CHANGELOG.md").read_text("utf-8"))
        signed = sign_release(release, base64.b64decode(path.read_bytes().strip(), validate=True))
        (DIST / "release.json").write_bytes(signed)
    except (OSError, ValueError) as error:
        print(f"Not signed: {error}", file=sys.stderr)
        return 1
    for file in release.files:
        print(f"{file.sha256}  {file.name}")
    print(f"dist/release.json: version {release.version}, {len(release.files)} files")
    return 0


def described(folder: Path, changelog: str) -> Release:
    """The release of what is in a folder. Raises ValueError if that is nothing of this version."""
    files = []
    for path in sorted(folder.glob("*")):
        if path.name == wheel_name(version()):
            files.append(_file(path, PackageKind.WHEEL, "any"))
        elif found := re.fullmatch(rf"{NAME}_{re.escape(version())}_(\w+)\.deb", path.name):
            machine = MACHINES.get(found[1], found[1])
            files.append(_file(path, PackageKind.DEB, f"linux-{machine}"))
        elif found := re.fullmatch(
            rf"{NAME}-{re.escape(version())}-(linux-\w+)\.tar\.gz", path.name
        ):
            files.append(_file(path, PackageKind.FOLDER, found[1]))
    if not files:
        raise ValueError(f"dist/ has no package of version {version()}")
    day = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")) or _now(), UTC)
    return Release(
        name="jarvis-desktop",
        version=version(),
        date=f"{day:%Y-%m-%d}",
        changes=changes(changelog),
        files=tuple(files),
    )


def changes(changelog: str) -> str:
    """The sections of the released versions, the newest first, as many as fit into a release."""
    kept = ""
    for section in SECTION.split(changelog):
        if not re.match(r"## \[\d", section):
            continue
        if len((kept + section).encode()) > MAX_CHANGES:
            break
        kept += section
    return kept.strip() + "\n"


def _file(path: Path, kind: PackageKind, system: str) -> ReleaseFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ReleaseFile(
        name=path.name, kind=kind.value, system=system, size=path.stat().st_size, sha256=digest
    )


def _now() -> int:
    return int(datetime.now(UTC).timestamp())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
