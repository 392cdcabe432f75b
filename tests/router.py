"""The Hub, its router and the providers behind it on loopback, for tests, with their bad days.

It speaks what huggingface_hub 2 asks: which providers run an expert, and the wire forms of
hf-inference, fal-ai (which queues), replicate (which gives addresses of results) and together.
Requests come here whatever their host: the Host header says whom they were meant for. Answers are
made from what was sent, so that a wrong request gives a wrong answer.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests import router_answers as answers

GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Day:
    """What becomes of one request instead of a good answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    kind: str = "application/json"
    how: str = "whole"
    """Or "cut": half of the body comes. "drip": a byte now and then. "hang": nothing comes.
    "reset": the connection breaks before the answer. "endless": a gigabyte, length unsaid."""


@dataclass
class Router:
    """Who runs what, what was asked, and what goes wrong next."""

    served: dict[str, dict[str, str]] = field(default_factory=dict)
    """Repository: provider: what it calls the task."""
    tags: dict[str, str] = field(default_factory=dict)
    """Repository: its task at the Hub, where that is not what hf-inference calls it."""
    days: list[Day] = field(default_factory=list)
    """Of the next requests to a provider, one each; after them all is well."""
    hub_days: list[Day] = field(default_factory=list)
    """The same for the Hub."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What lies at the addresses that providers name, by host and path."""
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """(method, host and path, headers in lower case)."""
    bodies: list[Any] = field(default_factory=list)
    """Of the POSTs: JSON where it is that, else bytes."""
    account: dict[str, Any] = field(default_factory=lambda: {
        "name": "ada", "auth": {"accessToken": {"role": "fineGrained", "fineGrained": {
            "global": ["inference.serverless.write"], "scoped": []}}}})  # fmt: skip
    closing: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Event = field(default_factory=threading.Event)
    """Set when a request is left without an answer."""
    address: str = ""

    def hosts(self, *, with_key: bool) -> set[str]:
        """The hosts that were asked with, or without, a key."""
        return {
            place.partition("/")[0]
            for _, place, headers in self.requests
            if ("authorization" in headers) is with_key
        }


@contextmanager
def running_router(**settings: Any) -> Iterator[Router]:
    """A router that listens on a free port of 127.0.0.1."""
    router = Router(**settings)
    handler = type("Bound", (_Handler,), {"router": router})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    router.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield router
    finally:
        router.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    router: Router
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        with suppress(ConnectionError):  # the other side may leave at any time
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        host, path = self._noted()
        if host == "huggingface.co":
            if self.router.hub_days:
                return self._live(self.router.hub_days.pop(0))
            return self._hub(path)
        if host == "router.huggingface.co":
            return self._json(answers.polled(path, self.router.files))
        if f"{host}{path}" not in self.router.files:
            return self._send(404, b"<h1>Not found</h1>", "text/html")
        return self._send(200, self.router.files[f"{host}{path}"], "application/octet-stream")

    def do_POST(self) -> None:
        host, path = self._noted()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with suppress(ValueError):
            body = json.loads(body)
        self.router.bodies.append(body)
        assert host == "router.huggingface.co", f"a question was sent to {host}"
        if not self.headers.get("Authorization", "").startswith("Bearer hf_"):
            return self._send(401, b'{"error":"Invalid username or password."}')
        if self.router.days:
            return self._live(self.router.days.pop(0))
        provider, _, rest = path.lstrip("/").partition("/")
        answer = answers.answered(provider, rest, body, self.router.served, self.router.files)
        if isinstance(answer, bytes):
            return self._send(200, answer, answers.type_of(answer))
        return self._json(answer)

    def _noted(self) -> tuple[str, str]:
        host, path = self.headers["Host"], unquote(urlsplit(self.path).path)
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.router.requests.append((self.command, host + path, headers))
        return host, path

    def _hub(self, path: str) -> None:
        if path == "/api/whoami-v2":
            return self._json(self.router.account)
        repo = path.removeprefix("/api/models/")
        if repo not in self.router.served:
            return self._send(401, b'{"error":"Invalid username or password."}')
        providers = self.router.served[repo]
        tag = self.router.tags.get(repo) or next(iter(providers.values()), "")
        info: dict[str, Any] = {"id": repo, "pipeline_tag": tag, "tags": [tag]}
        if "expand" in urlsplit(self.path).query:
            info = {"id": repo, "inferenceProviderMapping": {
                provider: {"status": "live", "providerId": f"{provider}/{repo}", "task": service}
                for provider, service in providers.items()}}  # fmt: skip
        return self._json(info)

    def _live(self, day: Day) -> None:
        if day.how == "hang":
            self.router.waiting.set()
            self.router.closing.wait()
        elif day.how == "reset":
            linger = struct.pack("ii", 1, 0)  # close() then sends RST
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
        elif day.how == "endless":
            self.send_response(200)
            self.send_header("Content-Type", day.kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            block = b"[" * (1 << 20)
            for _ in range(GIGABYTE // len(block)):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
        else:
            self._send(day.status, day.body, day.kind, day.headers, how=day.how)

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(
        self,
        status: int,
        body: bytes,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
        *,
        how: str = "whole",
    ) -> None:
        self.send_response_only(status)
        for key, value in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(key, value)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if how == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif how == "drip":
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.router.closing.wait(0.1):
                    return
        else:
            self.wfile.write(body)
