"""Who may use the server: the token, the limits, encryption, and the page that needs none of it."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace

import httpx
import keyring
import keyring.errors
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jarvis_desktop.app.build import build
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.paths import user_paths
from jarvis_desktop.platform import api_keys
from jarvis_desktop.platform.api_keys import SERVER_VARIABLE as VARIABLE
from jarvis_desktop.server import access, http_server
from jarvis_desktop.server.access import Access, ServerTerms, token_from
from jarvis_desktop.server.http_server import encryption, listen
from jarvis_desktop.settings import Settings
from tests.server.serving import Served, running


def test_where_the_token_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda service, place: kept.get(place))
    monkeypatch.setattr(keyring, "set_password", lambda service, place, key: kept.update(a=key))
    file = tmp_path / "token"
    file.write_text("of-a-file-that-is-long\n")
    assert token_from(file, "of-the-environment") == "of-a-file-that-is-long"
    assert token_from(None, "of-the-environment") == "of-the-environment"
    made = token_from(None, "")
    assert kept == {"a": made}
    kept["api-server"] = made
    assert token_from(None, "") == made
    with pytest.raises(InputError, match="shorter than 16"):
        token_from(None, "short")
    with pytest.raises(InputError, match="cannot be read"):
        token_from(tmp_path / "none", "")


def test_without_a_keyring_a_token_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*names: str) -> None:
        raise keyring.errors.NoKeyringError

    monkeypatch.setattr(keyring, "get_password", locked)
    monkeypatch.setattr(keyring, "set_password", locked)
    with pytest.raises(UnavailableError, match="could not be kept"):
        token_from(None, "")


def test_the_command_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "_hidden", {})
    monkeypatch.setenv(VARIABLE, "long-enough-for-a-token")
    assert main(["serve", "--show-token"]) == 0
    assert capsys.readouterr().out == "long-enough-for-a-token\n"
    assert VARIABLE not in os.environ  # no program that is started inherits it
    for wrong, reason in (
        (["--port", "70000"], "There is no port 70000."),
        (["--key", "k.pem"], "A certificate and its key belong together"),
        (["--key", "k.pem", "--certificate", "c.pem"], "cannot be used: no such file"),
    ):
        assert main(["serve", *wrong]) == 1
        assert reason in capsys.readouterr().err


def test_a_port_in_use_is_said_in_a_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UnavailableError, match="another program uses it already"):
            listen("127.0.0.1", other.getsockname()[1])


async def test_small_pieces_of_an_answer_are_sent_at_once() -> None:
    accepted: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    with listen("127.0.0.1", 0) as listening:
        server = await asyncio.start_server(lambda _, out: accepted.put_nowait(out), sock=listening)
        async with server:
            _, ours = await asyncio.open_connection(*listening.getsockname())
            theirs = await accepted.get()
            connected = theirs.get_extra_info("socket")
            assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            theirs.close()
            ours.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of its own for this computer, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "box.example")])
    names = x509.SubjectAlternativeName(
        [x509.DNSName("box.example"), x509.IPAddress(ip_address("127.0.0.1"))]
    )
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2200, 1, 1, tzinfo=UTC))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "c.pem", folder / "k.pem"
    paths[0].write_bytes(built.public_bytes(Encoding.PEM))
    form = PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, form, NoEncryption()))
    return paths


async def test_with_a_certificate_it_is_encrypted(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    terms = ServerTerms("a-token-that-is-long-enough", "127.0.0.1", names=("Box.example",))
    app = build(Settings(processes=1), user_paths())
    headers = {"Authorization": f"Bearer {terms.token}"}
    async with running(app, terms, encrypted=encryption(cert, key)) as (host, port):
        trusted = ssl.create_default_context(cafile=str(cert))
        base = f"https://{host}:{port}"
        async with httpx.AsyncClient(
            base_url=base, headers=headers, verify=trusted, timeout=60
        ) as client:
            assert (await client.get("/v1/models")).status_code == 200
            known = await client.get("/v1/models", headers={"Host": "box.example"})
            assert known.status_code == 200
        async with httpx.AsyncClient(headers=headers, timeout=60) as plain:
            with pytest.raises(httpx.TransportError):
                await plain.get(f"http://{host}:{port}/v1/models")
    await app.close()


async def test_too_many_requests_are_told_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "WRONG_PER_MINUTE", 1)
    now = [0.0]
    monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: now[0]))
    terms = ServerTerms("a-token-that-is-long-enough", "127.0.0.1", per_minute=2)

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        await Response("here")(scope, receive, send)

    guarded = httpx.ASGITransport(Access(answered, terms))
    async with httpx.AsyncClient(transport=guarded, base_url="http://127.0.0.1") as client:
        right = {"Authorization": f"Bearer {terms.token}"}
        seen = [(await client.get("/x", headers=right)).status_code for _ in range(3)]
        assert seen == [200, 200, 429]
        refused = await client.get("/x", headers=right)
        assert refused.headers["retry-after"] == "30"
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert [(await client.get("/x")).status_code for _ in range(2)] == [401, 429]
        now[0] = 30.0
        assert (await client.get("/x", headers=right)).status_code == 200


async def test_who_never_finishes_a_request_is_cut_off(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEADERS_S", 0.05)
    address = httpx.URL(served.base)
    for before in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(before)
        if before:
            assert b"200 OK" in await reader.readuntil(b"</html>")
        writer.write(b"GET / HT")
        await reader.read()  # until it is closed
        writer.close()


async def test_the_page_of_a_browser_needs_no_token_and_loads_nothing_foreign(
    served: Served,
) -> None:
    async with httpx.AsyncClient(base_url=served.base, timeout=60) as client:
        for path in http_server.PAGE_FILES:
            answer = await client.get(path)
            assert answer.status_code == 200
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert not re.search(r"https?://|innerHTML|eval\(|style=| on\w+=", answer.text)
        html = (await client.get("/")).text
        loaded = {f"/{name}" for name in re.findall(r'(?:href|src)="([\w.]+)"', html)}
        assert loaded == set(http_server.PAGE_FILES) - {"/"}
        assert (await client.post("/")).status_code == 401
        assert (await client.get("/", headers={"Host": "evil.example"})).status_code == 403
        assert (await client.get("/v1/models")).status_code == 401
