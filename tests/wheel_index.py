"""A package index on loopback with tiny wheels: a torch and its companions that compute nothing."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from zipfile import ZipFile

from jarvis_desktop.process.engine import LIBRARIES

TORCH = """
__version__ = {version!r}
class ones:
    def __init__(self, count): self.count = count
    def sum(self): return float(self.count)
"""
PADDING = bytes(range(256)) * 1000
"""What makes the wheel of torch large enough to be cut in the middle."""


def wheel(name: str, version: str, files: dict[str, str | bytes], *requires: str) -> bytes:
    """The bytes of a wheel."""
    about = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    contents: dict[str, str | bytes] = {
        **files,
        f"{about}/METADATA": "\n".join([*metadata, *(f"Requires-Dist: {x}" for x in requires)]),
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*contents, f"{about}/RECORD"))
    file = BytesIO()
    with ZipFile(file, "w") as packed:
        for path, content in {**contents, f"{about}/RECORD": record}.items():
            packed.writestr(path, content)
    return file.getvalue()


def metadata(body: bytes) -> bytes:
    """What a wheel says of itself."""
    with ZipFile(BytesIO(body)) as packed:
        path = next(name for name in packed.namelist() if name.endswith("/METADATA"))
        return packed.read(path)


def wheels(version: str = "2.13.0", torch: str = TORCH) -> dict[str, bytes]:
    """All wheels of an engine, by file name."""
    others = {
        f"{name}-1.0-py3-none-any.whl": wheel(name, "1.0", {f"{name}.py": ""}, "torch")
        for name in LIBRARIES
        if name != "torch"
    }
    files: dict[str, str | bytes] = {"torch/weights.bin": PADDING}
    files["torch/__init__.py"] = torch.format(version=version)
    name = f"torch-{version}-py3-none-any.whl"
    return {**others, name: wheel("torch", version, files)}


def requirements(made: dict[str, bytes]) -> str:
    """The list of these wheels with their digests."""
    lines = []
    for name, body in made.items():
        package, version = name.split("-")[:2]
        digest = hashlib.sha256(body).hexdigest()
        lines.append(f"{package}=={version.partition('+')[0]} \\\n    --hash=sha256:{digest}\n")
    return "# The list\n" + "".join(lines)


@dataclass
class WheelServer:
    """An index that may fail."""

    wheels: dict[str, bytes]
    address: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """The paths, with the ranges."""
    cut_after: int = 0
    """After how many bytes the file of torch breaks off; 0 for never."""
    waits: bool = False
    """Whether it then says nothing until it is `released`."""
    released: threading.Event = field(default_factory=threading.Event)
    sizes: bool = True
    """Whether the list has the sizes."""
    status: int = 200
    altered: dict[str, bytes] = field(default_factory=dict)
    """What arrives in place of a wheel, by file name."""

    def page(self, package: str) -> dict[str, object]:
        files = [
            {
                "filename": name,
                "url": f"{self.address}/files/{name}",
                "hashes": {"sha256": hashlib.sha256(body).hexdigest()},
                "core-metadata": True,
                **({"size": len(body)} if self.sizes else {}),
            }
            for name, body in self.wheels.items()
            if name.split("-")[0] == package
        ]
        return {"meta": {"api-version": "1.0"}, "name": package, "files": files}


@contextmanager
def running_index(made: dict[str, bytes]) -> Iterator[WheelServer]:
    """Serve an index until the block ends."""
    server = WheelServer(made)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            wanted = self.headers.get("Range", "")
            server.asked.append((self.path, wanted))
            folder, name = self.path.strip("/").split("/")
            if folder == "simple":
                content = json.dumps(server.page(name)).encode()
                self._send(200 if server.page(name)["files"] else 404, content, body=body)
            elif name.endswith(".metadata"):
                self._send(200, metadata(server.wheels[name.removesuffix(".metadata")]), body=body)
            elif server.status != 200:
                self._send(server.status, b"no", body=body)
            else:
                content = server.altered.get(name) or server.wheels[name]
                begin = int(wanted.removeprefix("bytes=").partition("-")[0] or 0)
                status = 206 if wanted else 200
                self._send(status, content[begin:], body=body, cut=name.startswith("torch-"))

        def _send(self, status: int, content: bytes, *, body: bool, cut: bool = False) -> None:
            kind = "application/vnd.pypi.simple.v1+json"
            self.send_response(status)
            self.send_header("Content-Type", "application/octet-stream" if cut else kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content[: server.cut_after or None] if cut else content)
            if body and cut and server.waits:
                self.wfile.flush()
                server.released.wait(60)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
