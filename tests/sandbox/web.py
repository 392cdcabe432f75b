"""A web server of this computer, and a proxy for which a name leads to it."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox.proxy import Proxy, TrafficLimits


class Page(BaseHTTPRequestHandler):
    """A table at every path; what is posted comes back."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(b"day,price\n1,20\n2,30\n")

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Host", self.headers["Host"])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(trust: ssl.SSLContext | None = None) -> Iterator[int]:
    """A web server of this computer; gives its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    if trust:
        server.socket = trust.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def here(host: str) -> Sequence[str]:
    """A name server that knows one name: it leads to this computer."""
    if host == "prices.example":
        return ("127.0.0.1",)
    raise UnavailableError(f"{host} was not found on the network.")


def anywhere(host: str, addresses: Sequence[str]) -> str:
    return addresses[0]


def proxy(*hosts: str, network: bool = True, traffic: TrafficLimits | None = None) -> Proxy:
    """One for which the name leads here, and may."""
    traffic = traffic or TrafficLimits()
    return Proxy(hosts, find=here, check=anywhere, network=lambda: network, traffic=traffic)
