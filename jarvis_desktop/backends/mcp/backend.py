"""The backend of MCP tools: keeps servers running while they are used, and asks before each call.

What the user agreed to holds for a command or an address, and for a tool as it was described then:
before a call the server is asked again what it offers, and what has changed is not called.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jarvis_desktop.backends.mcp import tools as mcp_tools
from jarvis_desktop.backends.mcp.servers import (
    Approval,
    McpServer,
    McpServers,
    McpTool,
    forget_login,
)
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskType

if TYPE_CHECKING:
    from jarvis_desktop.backends.mcp.connection import McpConnection

IDLE_S = 300.0
"""Seconds without a call after which a server is ended."""
LIMIT_S = 120.0
"""Seconds to start, or to show some progress; the first start of an npx command downloads."""
MAX_SHOWN = 300
"""Characters of an argument in the question before a call."""


@dataclass(frozen=True, slots=True)
class McpRow:
    """A tool as a list shows it."""

    tool: McpTool
    task: TaskType
    approval: Approval


@dataclass(frozen=True, slots=True)
class McpCheck:
    """The outcome of a test: what a server offers, and how long it took to say so."""

    rows: tuple[McpRow, ...]
    seconds: float
    protocol: str


class McpBackend:
    """The "mcp" backend. Without a server it starts and imports nothing."""

    name = "mcp"
    lane = "network"

    def __init__(
        self,
        servers: McpServers,
        *,
        taken: Callable[[str], bool],
        online: Callable[[], bool],
        limit: float = LIMIT_S,
    ) -> None:
        """`taken` says whether a task of the application has this name, `online` whether other
        computers may be reached."""
        self.servers = servers
        self.on_change: Callable[[Sequence[TaskType]], None] = lambda types: None
        """Called with the task types of all tools when they may have changed."""
        self._taken = taken
        self._online = online
        self._limit = limit
        self._idle = IDLE_S
        self._offered: dict[str, tuple[McpServer, McpTool, TaskType]] = {}
        self._running: dict[str, McpConnection] = {}
        self._used: dict[str, int] = {}
        """The calls of each server that run now."""
        self._ending: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._locks: dict[str, asyncio.Lock] = {}

    def refresh(self) -> Sequence[TaskType]:
        """Read the files again, and return the task types of the tools that may be called.

        A file that cannot be read counts as empty; `jarvis-desktop mcp list` says what is wrong.
        """
        self._offered = {}
        try:
            servers = [each for each in self.servers.all() if not each.disabled]
        except JarvisError:
            servers = []
        for server in servers:
            for row in self.rows(server):
                if row.approval is not Approval.NEVER:
                    self._offered.setdefault(row.task.name, (server, row.tool, row.task))
        types = [task_type for _, _, task_type in self._offered.values()]
        self.on_change(types)
        return types

    def rows(self, server: McpServer) -> tuple[McpRow, ...]:
        """Return the tools of a server as last seen."""
        tools = self.servers.tools(server)
        return tuple(
            McpRow(tool, self._type(server, tool), approval)
            for tool, approval in zip(tools, self.servers.approvals(server, tools), strict=True)
        )

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Return the tool that does this task, if it is one."""
        if task not in self._offered:
            return ()
        server, tool, _ = self._offered[task]
        about = one_line(tool.description, limit=200)
        return (Candidate(Expert(f"{server.name}/{tool.name}", task, about), "mcp"),)

    def question(self, call: Call) -> str:
        """Return the question before a call, with its arguments; "" if the user waived it."""
        server, tool, _ = self._find(call.task)
        if self.servers.approval(server, tool) is Approval.ALWAYS:
            return ""
        given = "\n".join(
            f"  {name}: {_shown(value)}" for name, value in mcp_tools.arguments(tool, call).items()
        )
        told = tr(
            "Call the tool {tool} of the MCP server {server} ({place})?",
            tool=tool.name,
            server=server.name,
            place=one_line(server.place, limit=200),
        )
        return f"{told}\n{given}".rstrip()

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the tool's results. Raises JarvisError; cancelling tells the server."""
        server, tool, _ = self._find(call.task)
        self._check_reachable(server)
        given = mcp_tools.arguments(tool, call)
        self._used[server.name] = self._used.get(server.name, 0) + 1
        try:
            connection = await self._connection(server)
            if tool not in (found := await connection.tools()):
                self.servers.keep_tools(server, found)
                self.refresh()
                raise UnavailableError(
                    tr(
                        "The tool {tool} of the MCP server {server} has changed, so it was not "
                        "called.",
                        tool=tool.name,
                        server=server.name,
                    ),
                    hint=tr("Ask once more: you are asked before it is called as it is now."),
                )
            answer = await connection.call(tool.name, given, report)
        finally:
            self._used[server.name] -= 1
            self._end_later(server.name)
        return await asyncio.to_thread(mcp_tools.results, tool.name, answer, call.workdir)

    async def test(self, name: str, *, log_in_again: bool = False) -> McpCheck:
        """Restart a server, and save what it offers. One that wants a login opens a browser, if
        there is no valid login yet, or if `log_in_again`. Raises JarvisError."""
        server = self.servers.find(name)
        self._check_reachable(server)
        await self._close(server.name)
        if log_in_again:
            await asyncio.to_thread(forget_login, server.name)
        started = time.monotonic()
        try:
            connection = await self._connection(server, browser=True)
            found = await connection.tools()
            protocol = connection.protocol
        finally:
            self._end_later(server.name)
        seconds = time.monotonic() - started
        self.servers.keep_tools(server, found)
        self.refresh()
        return McpCheck(self.rows(server), seconds, protocol)

    async def add(self, server: McpServer) -> McpServer:
        """Save a server; a running one of that name is ended. Raises JarvisError."""
        await self._close(server.name)
        return await asyncio.to_thread(self.servers.add, server)

    async def remove(self, name: str) -> McpServer:
        """End and delete a server. Raises InputError."""
        removed = await asyncio.to_thread(self.servers.remove, name)
        await self._close(removed.name)
        self.refresh()
        return removed

    def approve(self, server: McpServer, tools: Sequence[McpTool], approval: Approval) -> None:
        """Save what the user wants of some tools."""
        self.servers.approve(server, tools, approval)
        self.refresh()

    def withdraw(self) -> None:
        """End the connections to other computers, because the mode changed."""
        for name, connection in list(self._running.items()):
            if connection.server.outside:
                self._close_soon(name)

    async def close(self) -> None:
        """End all servers."""
        await asyncio.gather(*map(self._close, list(self._running)), *self._closing)

    def _find(self, task: str) -> tuple[McpServer, McpTool, TaskType]:
        if found := self._offered.get(task):
            return found
        raise UnavailableError(tr("There is no tool for {task} any longer.", task=task))

    def _type(self, server: McpServer, tool: McpTool) -> TaskType:
        found = mcp_tools.task_type(server.name, tool)
        return replace(found, name=f"{found.name}-tool") if self._taken(found.name) else found

    def _check_reachable(self, server: McpServer) -> None:
        if server.outside and not self._online():
            raise UnavailableError(
                tr(
                    "The mode is offline, and the MCP server {name} is at {host}.",
                    name=server.name,
                    host=urlsplit(server.url).hostname or "",
                ),
                hint=tr("Change the mode."),
            )

    async def _connection(self, server: McpServer, *, browser: bool = False) -> McpConnection:
        async with self._locks.setdefault(server.name, asyncio.Lock()):
            known = self._running.get(server.name)
            if known and known.alive and known.server == server:
                return known
            await self._close(server.name)
            env, headers = await asyncio.to_thread(self.servers.values, server)
            connect = await asyncio.to_thread(_library)
            made = connect(server, env=env, headers=headers, limit=self._limit, browser=browser)
            self._running[server.name] = made
            return made

    def _end_later(self, name: str) -> None:
        if handle := self._ending.pop(name, None):
            handle.cancel()
        if not self._used.get(name):
            loop = asyncio.get_running_loop()
            self._ending[name] = loop.call_later(self._idle, self._close_soon, name)

    def _close_soon(self, name: str) -> None:
        if not self._used.get(name) or not self._online():
            task = asyncio.create_task(self._close(name))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close(self, name: str) -> None:
        if handle := self._ending.pop(name, None):
            handle.cancel()
        if connection := self._running.pop(name, None):
            await connection.close()


def _library() -> type[McpConnection]:
    """Import the library, which takes a second, in a thread."""
    from jarvis_desktop.backends.mcp.connection import McpConnection

    return McpConnection


def _shown(value: object) -> str:
    text = printable(str(value))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text):,})"
