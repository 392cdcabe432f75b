"""Logging in to an MCP server with a browser, at an authorisation server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import threading
import time
import webbrowser
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from jarvis_desktop.backends.mcp import oauth
from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.mcp.servers import McpServer, McpServers, keep_login, login_of
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.task import Call
from jarvis_desktop.server.http_server import listen
from tests.backends.mcp.good_server import server as good_server
from tests.machines import keyring_in_memory


@dataclass
class Guarded:
    """An MCP server that wants a login, and the authorisation server that gives one."""

    base: str = ""
    refuses: bool = False
    lifetime: int = 3600
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    valid: set[str] = field(default_factory=set)
    renewals: set[str] = field(default_factory=set)
    grants: list[str] = field(default_factory=list)
    registered: list[dict[str, Any]] = field(default_factory=list)

    def app(self) -> Any:
        mcp = good_server.streamable_http_app()
        routes = [
            Route("/.well-known/oauth-protected-resource/mcp", self.resource),
            Route("/.well-known/oauth-authorization-server/as", self.metadata),
            Route("/as/register", self.register, methods=["POST"]),
            Route("/as/authorize", self.authorize),
            Route("/as/token", self.token, methods=["POST"]),
        ]
        others = Starlette(routes=routes)

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await mcp(scope, receive, send)
            elif scope["path"] != "/mcp":
                await others(scope, receive, send)
            else:
                key = dict(scope["headers"]).get(b"authorization", b"").decode()
                known = key.removeprefix("Bearer ") in self.valid
                place = f"{self.base}/.well-known/oauth-protected-resource/mcp"
                where = f'Bearer resource_metadata="{place}"'
                locked = Response(status_code=401, headers={"WWW-Authenticate": where})
                await (mcp if known else locked)(scope, receive, send)

        return guarded

    async def resource(self, request: Request) -> Response:
        server = self.issuer or f"{self.base}/as"
        return JSONResponse({"resource": f"{self.base}/mcp", "authorization_servers": [server]})

    async def metadata(self, request: Request) -> Response:
        place = f"{self.base}/as"
        return JSONResponse(
            {
                "issuer": place,
                "authorization_endpoint": f"{place}/authorize",
                "token_endpoint": f"{place}/token",
                "registration_endpoint": f"{place}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )

    async def register(self, request: Request) -> Response:
        body = await request.json()
        self.registered.append(body)
        return JSONResponse({**body, "client_id": f"client-{len(self.registered)}"}, 201)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = secrets.token_hex(8)
        self.codes[code] = asked
        given = {"error": "access_denied"} if self.refuses else {"code": code}
        back = urlencode({**given, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}")

    async def token(self, request: Request) -> Response:
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        self.grants.append(form["grant_type"])
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.renewals:
                return JSONResponse({"error": "invalid_grant", "secret": "s3cret"}, 400)
        else:
            asked = self.codes.pop(form["code"])
            digest = sha256(form["code_verifier"].encode()).digest()
            assert urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
            assert form["redirect_uri"] == asked["redirect_uri"]
            assert asked["resource"] == f"{self.base}/mcp"
        access, renewal = "access-" + "x" * 3000 + secrets.token_hex(4), secrets.token_hex(8)
        self.valid.add(access)
        self.renewals.add(renewal)
        document = {"access_token": access, "token_type": "Bearer", "expires_in": self.lifetime}
        return JSONResponse({**document, "refresh_token": renewal})


class Browser:
    """Follows the way of a login, after knocking at the page with a wrong state."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.pages: list[str] = []
        self.done = threading.Event()

    def open(self, url: str) -> bool:
        self.opened.append(url)
        threading.Thread(target=self.log_in, args=(url,)).start()
        return True

    def log_in(self, url: str) -> None:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        with httpx.Client(trust_env=False, timeout=60) as client:
            for path in ("?code=evil&state=wrong", "?code=evil"):
                assert client.get(f"{back}{path}").status_code == 404
            assert client.post(back).status_code == 404
            page = client.get(url, follow_redirects=True)
            assert page.headers["content-security-policy"] == "default-src 'none'"
            self.pages.append(page.text)
            self.done.set()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with keyring_in_memory(monkeypatch) as found:
        yield found


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    found = Browser()
    monkeypatch.setattr(webbrowser, "open", found.open)
    return found


@pytest.fixture
async def guarded() -> AsyncIterator[Guarded]:
    found = Guarded()
    with listen("127.0.0.1", 0) as listening:
        found.base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        host = uvicorn.Server(uvicorn.Config(found.app(), log_config=None, lifespan="on"))
        serving = asyncio.create_task(host.serve(sockets=[listening]))
        yield found
        host.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def backend(folder: Path) -> McpBackend:
    servers = McpServers(folder / "mcp.json", folder / "tools.json")
    return McpBackend(servers, taken=lambda name: False, online=lambda: True, limit=20)


async def greet(house: McpBackend, folder: Path) -> str:
    call = Call("good-greet", {"name": (text_artifact("Ada"),)}, {"times": 1}, folder)
    made = await house.run(house.candidates("good-greet")[0], call, lambda share, words: None)
    return made[0].text or ""


async def test_from_logging_in_to_removing(
    guarded: Guarded,
    browser: Browser,
    kept: dict[str, str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = backend(tmp_path)
    server = await house.add(McpServer("good", url=f"{guarded.base}/mcp"))
    with pytest.raises(UnavailableError, match="wants a login"):  # nobody has asked for a browser
        await (await house._connection(server)).tools()
    check = await house.test("good")
    assert [row.tool.name for row in check.rows] == ["greet", "draw", "paint"]
    await asyncio.to_thread(browser.done.wait)
    assert "You are logged in" in browser.pages[0]
    assert guarded.registered[0]["client_name"] == "JARVIS Desktop"
    assert await greet(house, tmp_path) == "Hello Ada!"
    await house.close()
    # Another process: the token is in the keyring, in pieces that every system takes.
    house = backend(tmp_path)
    house.refresh()
    assert await greet(house, tmp_path) == "Hello Ada!"
    await house.close()
    assert guarded.grants == ["authorization_code"]
    assert len(browser.opened) == 1
    assert max(map(len, kept.values())) <= 1000
    assert not any("access-" in file.read_text() for file in tmp_path.glob("*.json"))
    assert "access-" not in caplog.text
    # The token has ended: it is renewed silently.
    login = login_of(server)
    keep_login(server, json.dumps({**login, "ends": time.time() - 1}))
    house = backend(tmp_path)
    house.refresh()
    assert await greet(house, tmp_path) == "Hello Ada!"
    await house.close()
    assert guarded.grants == ["authorization_code", "refresh_token"]
    # Nor can it be renewed any longer: a plan opens no browser.
    guarded.renewals.clear()
    guarded.valid.clear()
    keep_login(server, json.dumps({**login_of(server), "ends": time.time() - 1}))
    house = backend(tmp_path)
    house.refresh()
    with pytest.raises(UnavailableError, match="Log in: jarvis-desktop mcp login"):
        await greet(house, tmp_path)
    assert len(browser.opened) == 1
    await house.test("good", log_in_again=True)
    assert len(browser.opened) == 2
    assert "s3cret" not in caplog.text
    # Tokens are for this address alone.
    assert not login_of(McpServer("good", url="https://other.example/mcp"))
    await house.remove("good")
    assert not kept
    await house.close()
    caplog.clear()  # the library warns when a token cannot be renewed


async def test_a_login_that_is_refused(
    guarded: Guarded, browser: Browser, kept: dict[str, str], tmp_path: Path
) -> None:
    guarded.refuses = True
    house = backend(tmp_path)
    await house.add(McpServer("good", url=f"{guarded.base}/mcp"))
    with pytest.raises(UnavailableError, match="good failed: it was refused"):
        await house.test("good")
    await asyncio.to_thread(browser.done.wait)
    assert "You are not logged in" in browser.pages[0]
    await house.close()


async def test_nobody_logs_in(
    guarded: Guarded,
    kept: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    monkeypatch.setattr(oauth, "LOGIN_S", 0.05)
    house = backend(tmp_path)
    await house.add(McpServer("good", url=f"{guarded.base}/mcp"))
    with pytest.raises(UnavailableError, match="nobody logged in"):
        await house.test("good")
    await house.close()


async def test_a_server_that_sends_us_elsewhere(
    guarded: Guarded, browser: Browser, kept: dict[str, str], tmp_path: Path
) -> None:
    guarded.issuer = "http://192.0.2.1/as"
    house = backend(tmp_path)
    await house.add(McpServer("good", url=f"{guarded.base}/mcp"))
    with pytest.raises(UnavailableError, match="names an address that must not be used"):
        await house.test("good")
    assert not browser.opened
    await house.close()
