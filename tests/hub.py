"""A Hugging Face Hub on loopback, for tests: what of its protocol huggingface_hub 2 uses to fetch,
and its list of repositories, page by page.

It can also do what a network does: cut a body off, say nothing, lie about a size, ask for a login.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

COMMIT = "a" * 40


@dataclass
class Hub:
    """What the server holds and how it misbehaves; `address` is its endpoint."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    cut: dict[str, int] = field(default_factory=dict)
    """File name: after how many bytes its next body breaks off; then it is whole again."""
    cut_always: set[str] = field(default_factory=set)
    """Files whose bodies break off without a byte, every time."""
    hang: set[str] = field(default_factory=set)
    """Files, or "listing", for which no answer ever comes."""
    hold: dict[str, int] = field(default_factory=dict)
    """File name: after how many bytes its body comes to a halt."""
    damage: set[str] = field(default_factory=set)
    """Files in which one byte is not as it was listed."""
    short: set[str] = field(default_factory=set)
    """Files that are listed one byte longer than they are."""
    status: int = 0
    """Answer everything with this status, unless 0."""
    page: bool = False
    """Answer everything with a web page, as a hotel's network does."""
    no_ranges: bool = False
    listed: list[Any] = field(default_factory=list)
    """What the list of repositories holds; items without a `pipeline_tag` are on every list."""
    longest_page: int = 1000
    """A request for a longer page is refused with status 400."""
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """Statuses, headers and bodies with which the next requests for a list are answered."""
    cut_lists: int = 0
    """How many of the next pages break off in the middle."""
    hold_list: int = -1
    """From which page on, counted from 0, no page is answered."""
    moved: dict[str, str] = field(default_factory=dict)
    """Repositories that have another name now."""
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    """The parameters of each request for a list."""
    agents: set[str] = field(default_factory=set)
    """As whom those who asked for a list named themselves."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """(method, path, Range header), as they came."""
    held: threading.Event = field(default_factory=threading.Event)
    """Set when a body came to its halt."""
    closing: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    def ranges(self, name: str) -> list[str]:
        """The Range headers of the GETs of one file."""
        return [each[2] for each in self.requests if each[0] == "GET" and each[1].endswith(name)]


@contextmanager
def running_hub(**settings: object) -> Iterator[Hub]:
    """A Hub that listens on a free port of 127.0.0.1."""
    hub = Hub(**settings)  # type: ignore[arg-type]

    class Handler(_Handler):
        pass

    Handler.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path, self.headers.get("Range", "")))
        if self.hub.page:
            return self._send(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})
        if self.hub.status:
            return self._send(self.hub.status, b"{}", {})
        if path == "/api/models":
            return self._list(parse_qs(urlsplit(self.path).query))
        if path.startswith("/api/models/"):
            return self._listing(path.removeprefix("/api/models/"))
        parts = path.lstrip("/").split("/")
        return self._file("/".join(parts[:2]), "/".join(parts[4:]))

    def _list(self, asked: dict[str, list[str]]) -> None:
        self.hub.asked.append(asked)
        self.hub.agents.add(self.headers.get("User-Agent", ""))
        if 0 <= self.hub.hold_list < len(self.hub.asked):
            self.hub.held.set()
            self.hub.closing.wait()
            return None
        if self.hub.answers:
            status, headers, body = self.hub.answers.pop(0)
            return self._send(status, body, headers)
        task, sort = asked["pipeline_tag"][0], asked["sort"][0]
        limit, cursor = int(asked["limit"][0]), asked.get("cursor", ["0"])[0]
        start = int(cursor) if cursor.isdecimal() else -1
        if limit > self.hub.longest_page or start < 0:
            return self._send(400, b'{"error":"limit"}', {})
        found = [item for item in self.hub.listed if _task(item, task) == task]
        found.sort(key=lambda item: _sorted_by(item, sort), reverse=True)
        headers = {}
        if start + limit < len(found):
            query = {**{key: value[0] for key, value in asked.items()}, "cursor": start + limit}
            # The address is another's: whoever follows it instead of the cursor ends nowhere.
            headers["Link"] = f'<http://127.0.0.1:9/api/models?{urlencode(query)}>; rel="next"'
        kept = {"id", *asked["expand"]}
        page = [
            {key: value for key, value in item.items() if key in kept}
            if isinstance(item, dict) else item
            for item in found[start : start + limit]
        ]  # fmt: skip
        body = json.dumps(page).encode()
        if self.hub.cut_lists:
            self.hub.cut_lists -= 1
            self.hub.cut["list"] = len(body) // 2
        return self._send(200, body, headers, name="list")

    def _listing(self, rest: str) -> None:
        if "listing" in self.hub.hang:
            self.hub.closing.wait()
            return None
        repo = "/".join(rest.split("/")[:2])
        repo = self.hub.moved.get(repo, repo)
        if repo not in self.hub.repos:
            return self._send(401, b'{"error":"Repo not found"}', {"X-Error-Code": "RepoNotFound"})
        files = self.hub.repos[repo]
        if "/tree/" in rest:
            tree = [
                {"type": "file", "path": name, "size": len(body), "oid": _blob(body)} | _lfs(body)
                for name, body in files.items()
            ]
            return self._send(200, json.dumps(tree).encode(), {})
        siblings = []
        for name, body in files.items():
            size = len(body) + (name in self.hub.short)
            siblings.append({"rfilename": name, "size": size, "blobId": _blob(body)} | _lfs(body))
        info = {"id": repo, "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
        for item in self.hub.listed:
            if isinstance(item, dict) and item.get("id") == repo:
                info |= item
        return self._send(200, json.dumps(info).encode(), {})

    def _file(self, repo: str, name: str) -> None:
        if repo in self.hub.gated:
            return self._send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        body = self.hub.repos.get(repo, {}).get(name)
        if body is None:
            return self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        if name in self.hub.hang:
            self.hub.closing.wait()
            return None
        etag = hashlib.sha256(body).hexdigest() if _lfs(body) else _blob(body)
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if name in self.hub.damage:
            body = bytes([body[0] ^ 1]) + body[1:]
        wanted, status, start = self.headers.get("Range"), 200, 0
        if wanted and not self.hub.no_ranges:
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            if start >= len(body):
                return self._send(416, b"", {"Content-Range": f"bytes */{len(body)}"})
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self._send(status, body[start:], headers, name=name)

    def _send(self, status: int, body: bytes, headers: dict[str, str], *, name: str = "") -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        cut = 0 if name in self.hub.cut_always else self.hub.cut.pop(name, None)
        hold = self.hub.hold.pop(name, None)
        until = hold if cut is None else cut
        try:
            self.wfile.write(body[:until])
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            return
        if hold is not None:
            self.hub.held.set()
            self.hub.closing.wait()
        if until is not None:
            self.close_connection = True


def _task(item: object, task: str) -> object:
    return item.get("pipeline_tag", task) if isinstance(item, dict) else task


def _sorted_by(item: object, key: str) -> tuple[bool, object]:
    value = item.get(key) if isinstance(item, dict) else None
    if key == "downloads":
        return (isinstance(value, int), value if isinstance(value, int) else 0)
    return (isinstance(value, str), value if isinstance(value, str) else "")


def _blob(body: bytes) -> str:
    return hashlib.sha1(f"blob {len(body)}\0".encode() + body, usedforsecurity=False).hexdigest()


def _lfs(body: bytes) -> dict[str, object]:
    """As the Hub does, large files are kept by their SHA-256, small ones in git."""
    if len(body) < 1000:
        return {}
    digest = hashlib.sha256(body).hexdigest()
    # A model's listing says sha256, a tree's says oid.
    return {"lfs": {"sha256": digest, "oid": digest, "size": len(body), "pointerSize": 130}}
