"""A web server with a certificate of its own on loopback, for tests; it has bad days on demand."""

from __future__ import annotations

import datetime
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Site:
    """What the server gives: per path a status, headers and a body."""

    port: int = 0
    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    hang: set[str] = field(default_factory=set)
    drip: set[str] = field(default_factory=set)
    """Paths whose body comes a byte at a time, without end."""
    cut: set[str] = field(default_factory=set)
    """Paths whose body breaks off in the middle."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(Host header, path), as they came."""
    closing: threading.Event = field(default_factory=threading.Event)
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def url(self, path: str, host: str = "files.example") -> str:
        return f"https://{host}:{self.port}{path}"


@contextmanager
def running_site(folder: Path, *, names: tuple[str, ...] = ("files.example",)) -> Iterator[Site]:
    """A server on a free port of 127.0.0.1, with a certificate for `names`."""
    certificate, key = _certificate(folder, names)
    site = Site()
    site.trust = ssl.create_default_context(cafile=str(certificate))

    class Handler(_Handler):
        def setup(self) -> None:
            self.site = site
            super().setup()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.handle_error = lambda *args: None  # type: ignore[method-assign]
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.asked.append((self.headers["Host"], self.path))
        if self.path in site.hang:
            site.closing.wait(30)
            return
        status, headers, body = site.pages.get(self.path, (404, {}, b"not here"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path in site.drip:
            for _ in range(len(body)):
                self.wfile.write(b"x")
                self.wfile.flush()
                if site.closing.wait(0.02):
                    return
            return
        self.wfile.write(body[: len(body) // 2] if self.path in site.cut else body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _certificate(folder: Path, names: tuple[str, ...]) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server of the tests")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, private
