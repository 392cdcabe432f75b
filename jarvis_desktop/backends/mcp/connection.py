"""A running connection to one MCP server, over its pipes or over HTTP.

The library's own stdio transport reads a line of any length into memory, in steps that take longer
and longer; this one stops at `MAX_ANSWER` bytes, and knows what the server said when it ended.
Only this module imports `mcp`, and only when a server is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import anyio
import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    ToolListChangedNotification,
    jsonrpc_message_adapter,
)

from jarvis_desktop import __version__
from jarvis_desktop.backends.mcp.oauth import LOGIN_S, McpLogin
from jarvis_desktop.backends.mcp.servers import McpServer, McpTool
from jarvis_desktop.backends.mcp.tools import value_of
from jarvis_desktop.core.context import current_question
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report

T = TypeVar("T")

MAX_ANSWER = 32_000_000
"""Bytes of one message of a server."""
MAX_TOOLS = 500
CLOSING_S = 2.0
"""Seconds in which a server may end on its own, as the protocol wants."""


class McpConnection:
    """One server, running from the first call until `close`. For one event loop."""

    def __init__(
        self,
        server: McpServer,
        *,
        env: dict[str, str],
        headers: dict[str, str],
        limit: float,
        browser: bool = False,
    ) -> None:
        """`limit`: seconds for connecting, and for a call from each sign of progress on. `browser`
        says whether the user may be sent to a page to log in, which takes its own time."""
        self.server = server
        self._limit = limit
        self._env, self._headers = env, headers
        self._browser = browser
        self._login: McpLogin | None = None
        self._connecting: list[asyncio.Timeout] = []
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._tools: tuple[McpTool, ...] | None = None
        self._too_large = self._locked_out = False
        self._callers: list[_Caller] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with it
        self._life = asyncio.create_task(self._live())

    @property
    def alive(self) -> bool:
        """Whether calls may still be answered."""
        return not self._life.done()

    @property
    def protocol(self) -> str:
        """The version of the protocol that both speak."""
        return self._ready.result().protocol_version

    async def tools(self) -> tuple[McpTool, ...]:
        """Return what the server offers now. Raises JarvisError."""
        if self._tools is None:
            self._tools = tuple(await self._within(self._listed(await self._connected())))
        return self._tools

    async def _listed(self, client: Client) -> list[McpTool]:
        found: list[McpTool] = []
        cursor = None
        while len(found) < MAX_TOOLS:
            page = await client.list_tools(cursor=cursor)
            found += [
                McpTool(each.name, each.description or each.title or "", each.input_schema)
                for each in page.tools
            ]
            if not (cursor := page.next_cursor):
                break
        return found

    async def call(self, tool: str, given: dict[str, Any], report: Report) -> CallToolResult:
        """Return the answer of a tool. Raises ExpertError. Cancelling tells the server."""
        client = await self._connected()
        clock = asyncio.get_running_loop().time
        timeout = asyncio.timeout(self._limit)

        async def progress(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            timeout.reschedule(clock() + self._limit)
            report(min(1.0, progress / total) if total else None, one_line(message or ""))

        caller = _Caller(tool, current_question.get(), timeout, self._limit)
        self._callers.append(caller)
        try:
            return await self._within(
                client.call_tool(tool, given, progress_callback=progress), timeout
            )
        finally:
            self._callers.remove(caller)

    async def close(self) -> None:
        """End the server and what it started."""
        self._stop.set()
        if self._ready.cancel():  # nobody waits for it any longer
            self._life.cancel()
        await asyncio.wait([self._life])

    async def _connected(self) -> Client:
        try:
            async with asyncio.timeout(self._limit) as limit:
                self._connecting.append(limit)
                try:
                    return await asyncio.shield(self._ready)
                finally:
                    self._connecting.remove(limit)
        except TimeoutError as error:
            await self.close()
            raise ExpertError(
                tr(
                    "The MCP server {name} did not start within {seconds:.0f} seconds.",
                    name=self.server.name,
                    seconds=self._limit,
                ),
                fault=Fault.TIMEOUT,
            ) from error

    async def _within(self, work: Awaitable[T], timeout: asyncio.Timeout | None = None) -> T:
        """The outcome of `work`. A server that hangs is ended: it would hang the next call too."""
        limit = timeout or asyncio.timeout(self._limit)
        try:
            async with limit:
                return await work
        except TimeoutError as error:
            await self.close()
            raise ExpertError(
                tr(
                    "The MCP server {name} said nothing for {seconds:.0f} seconds, so it was "
                    "stopped.",
                    name=self.server.name,
                    seconds=self._limit,
                ),
                fault=Fault.TIMEOUT,
            ) from error
        except Exception as error:
            closed = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
            login_failed = self._login is not None and self._login.failure is not None
            ended = closed or self._too_large or self._locked_out or login_failed
            if isinstance(error, MCPError) and not ended:
                raise ExpertError(
                    tr(
                        "The MCP server {name} refused: {reason}.",
                        name=self.server.name,
                        reason=one_line(error.message, limit=300).rstrip("."),
                    )
                ) from error
            failure = self._failure(error)
            await self.close()
            raise failure from error

    async def _live(self) -> None:
        transport = self._over_http() if self.server.url else self._over_pipes()
        try:
            async with Client(
                transport,
                client_info=Implementation(name="jarvis-desktop", version=__version__),
                message_handler=self._heard,
                elicitation_callback=self._asked,
                cache=None,
            ) as client:
                self._ready.set_result(client)
                if self._login:
                    self._login.settled()
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - raised for those who wait
            if not self._ready.done():
                self._ready.set_exception(self._failure(error))
                self._ready.exception()  # maybe nobody waits
        finally:
            self._errors.close()

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._tools = None

    async def _asked(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        """Pass a question of the server on to the user who waits for its tool.

        Of two calls at once it is not known which one it is for, so nobody is asked.
        """
        if len(self._callers) != 1 or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline")
        return await self._callers[0].answer(self.server.name, params)

    def _over_http(self) -> AbstractAsyncContextManager[Any]:
        @asynccontextmanager
        async def run() -> AsyncIterator[Any]:
            timeout = httpx2.Timeout(30.0, read=self._limit)
            login = await asyncio.to_thread(McpLogin, self.server, browser=self._browser)
            login.on_page = self._wait_for_login
            own_key = any(name.lower() == "authorization" for name in self._headers)
            self._login = None if own_key else login
            async with (
                nullcontext() if own_key else login.provider() as auth,
                httpx2.AsyncClient(
                    headers=self._headers,
                    timeout=timeout,
                    auth=auth,
                    event_hooks={"request": [login.check], "response": [self._limit_of]},
                ) as client,
                streamable_http_client(
                    self.server.url, http_client=client, max_sse_event_size=MAX_ANSWER
                ) as streams,
            ):
                yield streams

        return run()

    def _wait_for_login(self) -> None:
        """The time that the user takes does not count."""
        ends = asyncio.get_running_loop().time() + self._limit + LOGIN_S
        for each in self._connecting:
            each.reschedule(ends)

    async def _limit_of(self, response: httpx2.Response) -> None:
        """Let a response end with an error if it is too long, and note whether it wants a key."""
        self._locked_out = response.status_code in (401, 403)
        stream, connection = response.stream, self

        class Limited(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                size = 0
                events = "event-stream" in response.headers.get("content-type", "")
                async for chunk in stream:  # type: ignore[union-attr]
                    size += 0 if events else len(chunk)  # events have their own limit
                    if size > MAX_ANSWER:
                        connection._too_large = True
                        raise httpx2.ReadError("the answer is too large")
                    yield chunk

            async def aclose(self) -> None:
                await stream.aclose()  # type: ignore[union-attr]

        response.stream = Limited()

    @asynccontextmanager
    async def _over_pipes(self) -> AsyncIterator[Any]:
        server, command = self.server, self.server.command
        if sys.platform == "win32":
            from mcp.os.win32.utilities import get_windows_executable_command

            command = await asyncio.to_thread(get_windows_executable_command, command)
        process = await asyncio.create_subprocess_exec(
            command,
            *server.args,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=get_default_environment() | self._env,
            cwd=server.cwd or None,
            limit=MAX_ANSWER,
            start_new_session=True,
        )
        assert process.stdin
        assert process.stdout
        answers, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, questions = anyio.create_memory_object_stream[SessionMessage](0)
        pumps = (
            asyncio.create_task(self._read(process.stdout, answers)),
            asyncio.create_task(_write(process.stdin, questions)),
        )
        try:
            yield incoming, outgoing
        finally:
            outgoing.close()
            ending = asyncio.create_task(_end(process, pumps))
            try:  # also if this task is cancelled again
                await asyncio.shield(ending)
            finally:
                incoming.close()

    async def _read(self, stdout: asyncio.StreamReader, answers: Any) -> None:
        async with answers:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                while line := await self._line(stdout):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        continue  # a greeting, or what a careless print wrote
                    await answers.send(SessionMessage(message))

    async def _line(self, stdout: asyncio.StreamReader) -> bytes:
        try:
            return await stdout.readline()
        except ValueError:
            self._too_large = True
            return b""

    def _failure(self, error: BaseException) -> JarvisError:
        """What happened, as a sentence."""
        name = self.server.name
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._too_large:
            return ExpertError(
                tr(
                    "The MCP server {name} answered with more than {size} MB, so it was stopped.",
                    name=name,
                    size=MAX_ANSWER // 1_000_000,
                ),
                fault=Fault.ANSWER,
            )
        if self.server.url:
            return self._http_failure(error)
        if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
            return UnavailableError(
                tr(
                    "The MCP server {name} did not start: {reason}: {command}.",
                    name=name,
                    reason=(error.strerror or "").lower(),
                    command=one_line(self.server.command),
                ),
                hint=tr("Install the program, or correct the command."),
            )
        said = one_line(self._last_words(), limit=300) or tr("it said nothing.")
        return ExpertError(
            tr("The MCP server {name} ended: {said}", name=name, said=said), fault=Fault.CRASH
        )

    def _http_failure(self, error: BaseException) -> JarvisError:
        name, host = self.server.name, httpx2.URL(self.server.url).host
        if self._login and self._login.failure:
            return self._login.failure
        if isinstance(error, JarvisError):
            return error
        if isinstance(error, OAuthFlowError) and self._login and self._login.offered:
            # The library's words may quote what the server answered.
            return UnavailableError(
                tr("The login at the MCP server {name} failed.", name=name),
                hint=tr("Log in: jarvis-desktop mcp login {name}", name=name),
                fault=Fault.KEY,
            )
        if self._locked_out or isinstance(error, OAuthFlowError):
            return UnavailableError(
                tr("The MCP server {name} wants a login.", name=name),
                hint=tr(
                    "Log in: jarvis-desktop mcp login {name}, or give it a key in a header: "
                    "jarvis-desktop mcp add.",
                    name=name,
                ),
                fault=Fault.KEY,
            )
        reason = one_line(str(error), limit=200).rstrip(".") or type(error).__name__
        return ExpertError(
            tr(
                "The MCP server {name} at {host} cannot be used: {reason}.",
                name=name,
                host=host,
                reason=reason,
            ),
            fault=Fault.NETWORK,
        )

    def _last_words(self) -> str:
        """The last line that a server wrote to its error output."""
        if self._errors.closed:
            return ""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 4000))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


@dataclass(eq=False, slots=True)
class _Caller:
    """Who waits for a tool, and how long yet."""

    tool: str
    ask: Callable[[str], Awaitable[str]]
    timeout: asyncio.Timeout
    limit: float

    async def answer(self, server: str, params: ElicitRequestFormParams) -> ElicitResult:
        """Ask for each value that the server wants. That time does not count."""
        told = tr(
            "The MCP server {server} asks, for its tool {tool}: {message}",
            server=server,
            tool=self.tool,
            message=one_line(params.message, limit=500),
        )
        self.timeout.reschedule(None)
        try:
            content = await answers(told, params.requested_schema, self.ask)
        finally:
            self.timeout.reschedule(asyncio.get_running_loop().time() + self.limit)
        if content is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=content)


async def _write(stdin: asyncio.StreamWriter, questions: Any) -> None:
    async with questions:
        with contextlib.suppress(ConnectionError):
            async for message in questions:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(text.encode() + b"\n")
                await stdin.drain()


async def _end(process: asyncio.subprocess.Process, pumps: tuple[asyncio.Task[None], ...]) -> None:
    """Close its input, wait a moment, and then kill it with all that it started."""
    assert process.stdin
    process.stdin.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), CLOSING_S)
    _kill(process)
    for pump in pumps:
        pump.cancel()
    await asyncio.wait(pumps)
    await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False)


Ask = Callable[[str], Awaitable[str]]
MAX_VALUES = 20
MAX_TRIES = 3


async def answers(told: str, schema: Mapping[str, Any], ask: Ask) -> dict[str, Any] | None:
    """Ask for the values of a schema. `told` says who asks, and why.

    A server asks in the middle of a call (elicitation), and describes what it wants as a flat JSON
    schema; the user is asked for one value after the other.

    Return None if the user does not answer, or not in the form that is wanted.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) > MAX_VALUES:
        return None
    if not properties:
        agreed = value_or_none("", {"type": "boolean"}, await ask(f"{told}\n{_yes_or_no()}"))
        return {} if agreed is True else None
    required = schema.get("required")
    found: dict[str, Any] = {}
    for name, prop in properties.items():
        described = prop if isinstance(prop, dict) else {}
        needed = isinstance(required, list) and name in required
        value = await _value(
            f"{told}\n{_wish(name, described, needed=needed)}", name, described, ask
        )
        if value is not None:
            found[name] = value
        elif needed:
            return None
    return found


async def _value(question: str, name: str, prop: Mapping[str, Any], ask: Ask) -> Any:
    """Ask until the answer has the right form; None without one."""
    for _ in range(MAX_TRIES):
        words = (await ask(question)).strip()
        if not words:
            return None
        if (value := value_or_none(name, prop, words)) is not None:
            return value
    return None


def value_or_none(name: str, prop: Mapping[str, Any], words: str) -> Any:
    """Return words as a value of this form, or None if they are not one."""
    if titles := _titles(prop):
        known = {title.casefold(): value for value, title in titles.items()}
        return known.get(words.casefold(), words if words in titles else None)
    if prop.get("type") == "boolean":
        own = {tr("yes").casefold(): True, tr("no").casefold(): False}
        if words.casefold() in own:
            return own[words.casefold()]
    texts = [part.strip() for part in words.split(",")] if prop.get("type") == "array" else [words]
    try:
        value = value_of("", name, {"type": "string", **prop}, texts)
    except InputError:
        return None
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else words


def _titles(prop: Mapping[str, Any]) -> dict[str, str]:
    """The values of a choice whose values have titles."""
    choices = prop.get("oneOf")
    listed = (
        [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    )
    return {str(each["const"]): str(each.get("title") or each["const"])
            for each in listed if "const" in each}  # fmt: skip


def _wish(name: str, prop: Mapping[str, Any], *, needed: bool) -> str:
    """What is to be answered, on a line."""
    title = one_line(str(prop.get("title") or name), limit=100)
    about = one_line(str(prop.get("description") or ""), limit=300)
    listed = prop.get("enum")
    choices = list(_titles(prop).values()) or (listed if isinstance(listed, list) else [])
    form = one_line(", ".join(map(str, choices)), limit=300)
    if prop.get("type") == "boolean":
        form = _yes_or_no()
    words = ": ".join(filter(None, [title, about]))
    shown = f"{words} ({form})" if form else words
    return shown if needed else tr("{wish} (may be left out)", wish=shown)


def _yes_or_no() -> str:
    return tr("yes or no")
