"""A server on loopback that streams scripted answers line by line, and has bad days, for tests.

It runs in threads, so that what is tested may have an event loop of its own or none.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


@dataclass(frozen=True)
class Answer:
    """One answer to a prompt."""

    pieces: Sequence[str] = ()
    lines: Sequence[str] = ()
    """Sent before all else, as they are."""
    thinking: Sequence[str] = ()
    """Reasoning that is sent apart from the answer."""
    ends: str = "done"
    """Or "cut": the body ends in good order, but early. "killed": the connection breaks.
    "error": an error object follows. "silent": nothing follows, until the other side leaves."""
    status: int = 200
    error: str = ""
    """What the error says: that of `ends`, or of a status that is not 200."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is instead of all this, with `status`."""
    seconds_a_piece: float = 0.0
    """How long it thinks before each piece, for what is measured."""


@dataclass
class LineServer:
    """What the server says and what it was asked."""

    answers: list[Answer] = field(default_factory=lambda: [Answer(("Yes", "."))])
    """One after the other; the last one is repeated."""
    ends_by: str = "stop"
    """Why answers that are "done" end; "length" where they may be no longer."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the requests for answers."""
    began: list[float] = field(default_factory=list)
    """When each answer began, of time.monotonic()."""
    sent: list[tuple[float, str]] = field(default_factory=list)
    """When each piece was sent."""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """(method and path, headers in lower case) of all requests."""
    left: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released each time that the other side leaves a silent answer."""
    silent: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released each time that an answer falls silent."""
    address: str = ""
    connections: list[socket.socket] = field(default_factory=list)
    listener: ThreadingHTTPServer | None = None

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def die(self) -> None:
        """What the end of the server's process does to those who listen, and to who comes later."""
        if self.listener:
            self.listener.shutdown()
            self.listener.server_close()
            self.listener = None
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


AnyServer = TypeVar("AnyServer", bound=LineServer)


@contextmanager
def running(server: AnyServer, handler: type[LineHandler]) -> Iterator[AnyServer]:
    """Let it listen on a free port of 127.0.0.1."""
    bound = type("Bound", (handler,), {"served": server})
    server.listener = http = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    server.address = f"http://127.0.0.1:{http.server_address[1]}"
    try:
        yield server
    finally:
        server.die()
        thread.join()


class LineHandler(BaseHTTPRequestHandler):
    """Speaks HTTP; what a line is, its children know."""

    served: LineServer
    protocol_version = "HTTP/1.1"
    content_type = "application/x-ndjson"

    def setup(self) -> None:
        super().setup()
        self.served.connections.append(self.connection)

    def handle(self) -> None:
        # The other side may leave at any time, and so may the test.
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def take(self) -> Any:
        """The body of the request, which is noted."""
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.served.requests.append((f"{self.command} {self.path}", headers))
        body = self.rfile.read(int(headers.get("content-length", 0)))
        return json.loads(body) if body else None

    def stream(self, answer: Answer) -> None:
        """Send one scripted answer."""
        if answer.body is not None or answer.status != 200:
            body = answer.body
            if body is None:
                body = json.dumps({"error": answer.error}).encode()
            return self.send(body, answer.status, answer.headers)
        self.send_response(200)
        self.send_header("Content-Type", self.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.write_answer(answer)
        except ConnectionError:
            self.close_connection = True
        return None

    def write_answer(self, answer: Answer) -> None:
        self.served.began.append(time.monotonic())
        for text in answer.lines:
            self.line(text)
        for text in answer.thinking:
            self.line(self.thought(text))
        for text in answer.pieces:
            time.sleep(answer.seconds_a_piece)
            self.line(self.piece(text))
            self.served.sent.append((time.monotonic(), text))
        match answer.ends:
            case "done":
                for line in self.last_lines():
                    self.line(line)
            case "error":
                self.line(self.error_line(answer.error))
            case "silent":
                self.served.silent.release()
                with suppress(ConnectionError):
                    self.rfile.read(1)
                self.served.left.release()
                self.close_connection = True
                return
            case "killed":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
        self.wfile.write(b"0\r\n\r\n")

    def line(self, text: str) -> None:
        data = text.encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def send(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Send a whole body."""
        self.send_response(status)
        for key, value in (headers or {"Content-Type": "application/json"}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def piece(self, text: str) -> str:
        raise NotImplementedError

    def thought(self, text: str) -> str:
        raise NotImplementedError

    def error_line(self, text: str) -> str:
        return json.dumps({"error": text})

    def last_lines(self) -> Sequence[str]:
        raise NotImplementedError
