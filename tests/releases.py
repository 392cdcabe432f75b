"""A place of releases on loopback, with tiny programs, and a tool that uv has installed."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from uv import find_uv_bin

from jarvis_desktop.app.release import ReleaseChannel
from tests.wheel_index import wheel

PRIVATE = bytes(range(32))
PROGRAM = """
import sys
from jarvis_desktop import __version__
def main():
    print("jarvis-desktop", __version__) if "--version" in sys.argv else print("It is noon.")
if __name__ == "__main__":
    main()
"""
CHANGES = """\
## [Unreleased]

- Nothing yet.

## [0.3.0] - 2026-12-01

### Added

- Films with sound.

## [0.2.0] - 2026-11-01

- A second thing.

## [0.1.0] - 2026-10-01

- The first one.
"""


def public_key(private: bytes = PRIVATE) -> str:
    """The public key, as a channel has it."""
    key = Ed25519PrivateKey.from_private_bytes(private).public_key()
    return base64.b64encode(key.public_bytes_raw()).decode()


def program_wheel(version: str, program: str = PROGRAM, stated: str = "") -> bytes:
    """The wheel of a program that states its version and answers everything with a sentence."""
    about = f"jarvis_desktop-{version}.dist-info"
    script = "[console_scripts]\njarvis-desktop = jarvis_desktop.__main__:main\n"
    files: dict[str, str | bytes] = {
        "jarvis_desktop/__init__.py": f"__version__ = {stated or version!r}\n",
        "jarvis_desktop/__main__.py": program,
        f"{about}/entry_points.txt": script,
    }
    return wheel("jarvis_desktop", version, files)


def described(body: bytes, version: str = "0.3.0", **changed: Any) -> dict[str, Any]:
    """The text of a release with one wheel, as a document."""
    file = {
        "name": f"jarvis_desktop-{version}-py3-none-any.whl",
        "kind": "wheel",
        "system": "any",
        "size": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    file |= {key: changed.pop(key) for key in tuple(changed) if key in file}
    release = {
        "name": "jarvis-desktop",
        "version": version,
        "date": "2026-12-01",
        "changes": CHANGES,
        "files": [file],
    }
    return release | changed


def signed(release: dict[str, Any], private: bytes = PRIVATE) -> bytes:
    """The signed file of a release."""
    text = json.dumps(release)
    signature = Ed25519PrivateKey.from_private_bytes(private).sign(text.encode())
    told = {"release": text, "signature": base64.b64encode(signature).decode()}
    return json.dumps(told).encode()


@dataclass
class ReleaseServer:
    """What the server answers, by path, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    """After how many bytes a file breaks off."""
    stalls: set[str] = field(default_factory=set)
    """Which files break off by saying nothing more."""
    redirects: dict[str, str] = field(default_factory=dict)
    released: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """The paths, with the headers."""
    address: str = ""

    @property
    def channel(self) -> ReleaseChannel:
        """This server as a place of releases."""
        return ReleaseChannel(f"{self.address}/release.json", public_key())

    def offer(self, body: bytes, version: str = "0.3.0", **changed: Any) -> None:
        """Offer a release with this wheel."""
        release = described(body, version, **changed)
        self.files["/release.json"] = signed(release)
        for file in release["files"]:
            self.files[f"/{file['name']}"] = body


@contextmanager
def running_releases() -> Iterator[ReleaseServer]:
    """Serve releases until the block ends."""
    server = ReleaseServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            server.asked.append((self.path, dict(self.headers)))
            if target := server.redirects.get(self.path):
                self.send_response(302)
                self.send_header("Location", target)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = server.files.get(self.path)
            status = 404 if body is None else server.status
            begin = int(self.headers.get("Range", "bytes=0-")[6:].partition("-")[0])
            body = (body or b"")[begin:]
            self.send_response(206 if begin and status == 200 else status)
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            end = server.cut.get(self.path)
            self.wfile.write(body if end is None else body[: max(0, end - begin)])
            if self.path in server.stalls:
                self.wfile.flush()
                server.released.wait(60)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()


def installed_tool(folder: Path, *, version: str = "0.1.0") -> Path:
    """Let uv install a program as a tool; return its environment."""
    path = folder / f"jarvis_desktop-{version}-py3-none-any.whl"
    path.write_bytes(program_wheel(version))
    subprocess.run(
        [find_uv_bin(), "tool", "install", "--quiet", "--python", sys.executable, path],
        env=uv_places(folder),
        check=True,
        capture_output=True,
    )
    return folder / "tools" / "jarvis-desktop"


def uv_places(folder: Path) -> dict[str, str]:
    """The environment in which uv keeps everything in this folder."""
    return {
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_OFFLINE": "1",
    }
