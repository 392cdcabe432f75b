"""The MCP servers of the user, their tools as last seen, and what the user agreed to.

The servers are in the `mcpServers` form that Claude Desktop, LM Studio and Cursor share; VS Code's
`servers` is read as well. Their tools are kept in a second file, so that planning needs no running
server. Values of `env` and `headers` are usually secrets: they move into the keyring, and the file
says `${keyring}` in their place; `${NAME}` is a variable of the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.paths import save_json
from jarvis_desktop.platform import api_keys
from jarvis_desktop.process import safe_delete
from jarvis_desktop.process.network_guard import is_this_computer

KEPT = "${keyring}"
"""Replaces a value in the file that is in the keyring."""

_name = re.compile(r"[A-Za-z0-9][\w.-]{0,39}")
_variable = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)\}")
_input = re.compile(r"\$\{input:([^}]*)\}")


class Approval(StrEnum):
    """Whether a tool may be called."""

    ASK = "ask"
    """The user is asked before each call."""
    ALWAYS = "always"
    NEVER = "never"
    """It is not offered to planners."""


class _Entry(BaseModel):
    """A server as these files write it; what else they say is for other programs."""

    model_config = ConfigDict(extra="ignore")

    command: str = ""
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    type: str = ""
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class McpServer:
    """A program to start and to talk to over its pipes, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False

    @property
    def place(self) -> str:
        """The command line or the address, to show."""
        return self.url or shlex.join((self.command, *self.args))

    @property
    def outside(self) -> bool:
        """Whether it is on another computer."""
        return bool(self.url) and not is_this_computer(urlsplit(self.url).hostname or "")

    @property
    def digest(self) -> str:
        """Changes when anything does that decides which program answers."""
        values = self.command, self.args, self.cwd, self.url, *_sorted(self.env, self.headers)
        return _digest(values)

    def entry(self) -> dict[str, Any]:
        """The server as the file has it."""
        whole = {
            "command": self.command,
            "args": list(self.args),
            "env": dict(self.env),
            "cwd": self.cwd,
            "url": self.url,
            "headers": dict(self.headers),
            "disabled": self.disabled,
        }
        return {key: value for key, value in whole.items() if value}


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its server describes it, whether that is true or not."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(hash=False)

    @property
    def digest(self) -> str:
        """Changes when the server describes the tool in another way."""
        return _digest((self.name, self.description, self.schema))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _sorted(*tables: Mapping[str, str]) -> list[list[tuple[str, str]]]:
    return [sorted(table.items()) for table in tables]


NO_SERVERS = mark("{path} lists no MCP servers.")


def read_servers(text: str, source: str) -> list[McpServer]:
    """Read the servers of a file in a usual form. Raises InputError, which names `source`."""
    try:
        document = json.loads(_without_comments(text))
    except (ValueError, RecursionError) as error:
        raise InputError(tr("{path} is not JSON: {error}.", path=source, error=error)) from error
    top = document if isinstance(document, dict) else {}
    inner = top.get("mcp")  # in the settings of VS Code
    tables = (top, inner if isinstance(inner, dict) else {})
    listed = (each.get(name) for each in tables for name in ("mcpServers", "servers"))
    found = next((each for each in listed if isinstance(each, dict)), None)
    if found is None:
        raise InputError(
            tr(NO_SERVERS, path=source),
            hint=tr('The usual form is {"mcpServers": {"NAME": {"command": …}}}.'),
        )
    return [_server(str(name), entry) for name, entry in found.items()]


def servers_of_file(path: Path) -> list[McpServer]:
    """Read the servers of another program's file. Raises InputError."""
    try:
        text = path.read_text("utf-8-sig", errors="replace")  # what is no text is no JSON either
    except OSError as error:
        told = tr("{path} cannot be read: {error}.", path=path, error=error.strerror or error)
        raise InputError(told) from error
    return read_servers(text, str(path))


def _without_comments(text: str) -> str:
    """VS Code's files have comments and commas before a closing bracket."""
    parts = re.split(r'("(?:\\.|[^"\\])*")', text)
    for at in range(0, len(parts), 2):
        plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", parts[at], flags=re.DOTALL)
        parts[at] = re.sub(r",(\s*[}\]])", r"\1", plain)
    return "".join(parts)


def _server(name: str, entry: object) -> McpServer:
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise InputError(
            tr(
                "The MCP server {name} is wrong: {where}: {error}.",
                name=name,
                where=where,
                error=first["msg"].lower(),
            )
        ) from error
    return checked(
        McpServer(
            name.strip().replace(" ", "-"),
            read.command,
            tuple(read.args),
            read.cwd,
            read.url,
            read.env,
            read.headers,
            read.disabled,
        ),
        kind=read.type,
    )


def checked(server: McpServer, *, kind: str = "") -> McpServer:
    """Return the server. Raises InputError if it cannot be used."""
    if not _name.fullmatch(server.name):
        raise InputError(
            tr("“{name}” is not a name for an MCP server.", name=server.name),
            hint=tr("A name is up to 40 letters, digits, dots, dashes and underscores."),
        )
    if bool(server.command) == bool(server.url):
        raise InputError(tr("The MCP server {name} needs a command or a URL.", name=server.name))
    if server.url and not _is_address(server):
        raise InputError(
            tr("{url} is not an address for an MCP server.", url=server.url),
            hint=tr("It begins with https://, or with http:// on this computer."),
        )
    if kind == "sse":
        raise InputError(
            tr(
                "The MCP server {name} speaks the old HTTP+SSE, which JARVIS does not.",
                name=server.name,
            ),
            hint=tr("Use its address for streamable HTTP, if it has one."),
        )
    if match := _input.search("\n".join((*server.env.values(), *server.headers.values()))):
        raise InputError(
            tr(
                "The MCP server {name} asks for “{input}”, which its file does not hold.",
                name=server.name,
                input=match[1],
            ),
            hint=tr("Write the value in its place, or ${NAME} for a variable of the environment."),
        )
    return server


def _is_address(server: McpServer) -> bool:
    try:
        parts = urlsplit(server.url)
    except ValueError:
        return False
    scheme = parts.scheme == "https" or (parts.scheme == "http" and not server.outside)
    return scheme and bool(parts.hostname) and parts.username is None


class McpServers:
    """The two files. Reads what another process wrote."""

    def __init__(self, servers: Path, tools: Path, bundles: Path | None = None) -> None:
        """`bundles` is the folder of unpacked servers, if there are any."""
        self.path = servers
        self.bundles = bundles
        self._tools = tools

    def all(self) -> list[McpServer]:
        """Return the servers. Raises StorageError, InputError."""
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(
                tr("{path} cannot be read: {error}.", path=self.path, error=error)
            ) from error
        return read_servers(text, str(self.path))

    def find(self, name: str) -> McpServer:
        """Return the server of that name. Raises InputError with the others' names."""
        servers = self.all()
        for server in servers:
            if server.name.casefold() == name.casefold():
                return server
        known = ", ".join(server.name for server in servers)
        raise InputError(
            tr("There is no MCP server {name}.", name=name),
            hint=tr("There are: {names}.", names=known)
            if known
            else tr("Add one: jarvis-desktop mcp add."),
        )

    def add(self, server: McpServer) -> McpServer:
        """Add or replace a server; its secrets move into the keyring. Raises UnavailableError."""
        kept = replace(
            checked(server),
            env=self._keep(server.name, "env", server.env),
            headers=self._keep(server.name, "headers", server.headers),
        )
        self._write([each for each in self.all() if each.name != kept.name] + [kept])
        return kept

    def remove(self, name: str) -> McpServer:
        """Delete a server with its secrets and what was agreed to. Raises InputError."""
        server = self.find(name)
        self._write([each for each in self.all() if each.name != server.name])
        self._save_record(server.name, None)
        for kind, table in (("env", server.env), ("headers", server.headers)):
            for key, value in table.items():
                if value == KEPT:
                    api_keys.forget_secret(_place(server.name, kind, key))
        if server.url:
            forget_login(server.name)
        if self.bundles is not None:
            safe_delete.remove(self.bundles / server.name)
        return server

    def values(self, server: McpServer) -> tuple[dict[str, str], dict[str, str]]:
        """Return `env` and `headers` with their secrets. May wait for the keyring.

        Raises UnavailableError, which names the one that is missing.
        """
        env, headers = (
            {key: self._value(server.name, kind, key, value) for key, value in table.items()}
            for kind, table in (("env", server.env), ("headers", server.headers))
        )
        return env, headers

    def tools(self, server: McpServer) -> tuple[McpTool, ...]:
        """Return its tools as last seen; none if the server was changed since."""
        record = self._record(server)
        return tuple(McpTool(**each) for each in record.get("tools", ()))

    def keep_tools(self, server: McpServer, tools: Sequence[McpTool]) -> bool:
        """Save what the server offers now; return whether that is new."""
        listed = [
            {"name": each.name, "description": each.description, "schema": dict(each.schema)}
            for each in tools
        ]
        record = self._record(server)
        if record.get("tools") == listed:
            return False
        self._save_record(server.name, {**record, "server": server.digest, "tools": listed})
        return True

    def approval(self, server: McpServer, tool: McpTool) -> Approval:
        """Return what the user wants of a tool. *Always* ends when server or tool change."""
        return self.approvals(server, (tool,))[0]

    def approvals(self, server: McpServer, tools: Sequence[McpTool]) -> list[Approval]:
        """Return what the user wants of each of some tools."""
        agreed = self._record(server).get("approvals", {})
        return [_approval(agreed.get(tool.name, {}), tool) for tool in tools]

    def approve(self, server: McpServer, tools: Sequence[McpTool], approval: Approval) -> None:
        """Save what the user wants of some tools as they are described now."""
        record = self._record(server)
        agreed = {it.name: {"approval": approval.value, "tool": it.digest} for it in tools}
        approvals = {**record.get("approvals", {}), **agreed}
        self._save_record(server.name, {**record, "server": server.digest, "approvals": approvals})

    def _record(self, server: McpServer) -> dict[str, Any]:
        found = self._records().get(server.name)
        fits = isinstance(found, dict) and found.get("server") == server.digest
        return found if fits and found else {}

    def _records(self) -> dict[str, Any]:
        """What is unreadable is as if nothing had been seen or agreed to yet."""
        try:
            found = json.loads(self._tools.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _save_record(self, name: str, record: dict[str, Any] | None) -> None:
        others = {key: each for key, each in self._records().items() if key != name}
        save_json(self._tools, others | ({name: record} if record else {}))

    def _write(self, servers: Iterable[McpServer]) -> None:
        save_json(self.path, {"mcpServers": {each.name: each.entry() for each in servers}})

    def _keep(self, server: str, kind: str, table: Mapping[str, str]) -> dict[str, str]:
        kept = {}
        for key, value in table.items():
            if value and value != KEPT and not _variable.search(value):
                api_keys.keep_secret(_place(server, kind, key), value)
                value = KEPT
            kept[key] = value
        return kept

    def _value(self, server: str, kind: str, key: str, value: str) -> str:
        def variable(match: re.Match[str]) -> str:
            if (found := os.environ.get(match[1])) is None:
                raise UnavailableError(
                    tr(
                        "The MCP server {name} needs the variable {variable}, which is not set.",
                        name=server,
                        variable=match[1],
                    )
                )
            return found

        if value != KEPT:
            return _variable.sub(variable, value)
        if secret := api_keys.secret(_place(server, kind, key)):
            return secret
        raise UnavailableError(
            tr(
                "The value of {key} for the MCP server {name} is not in the keyring.",
                key=key,
                name=server,
            ),
            hint=tr("Unlock the keyring, or add the server again."),
        )


def _approval(agreed: Mapping[str, str], tool: McpTool) -> Approval:
    kind = Approval(agreed.get("approval", Approval.ASK))
    same = agreed.get("tool") == tool.digest
    return kind if same or kind is Approval.NEVER else Approval.ASK


def _place(server: str, kind: str, key: str) -> str:
    return f"mcp:{server}:{kind}:{key}"


LOGIN_PIECE = 1000
"""Characters of an entry of the keyring: Windows allows some more, and tokens can be longer."""


def login_of(server: McpServer) -> dict[str, Any]:
    """Return what was saved when the user logged in at this address; {} if nothing was. May wait
    for the keyring."""
    pieces: list[str] = []
    while piece := api_keys.secret(_place(server.name, "login", str(len(pieces)))):
        pieces.append(piece)
    try:
        found = json.loads("".join(pieces) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.get("url") == server.url else {}


def keep_login(server: McpServer, text: str) -> None:
    """Save a login, a JSON object, for the address of this server. Raises UnavailableError."""
    text = json.dumps({**json.loads(text), "url": server.url})
    forget_login(server.name)
    for number, at in enumerate(range(0, len(text), LOGIN_PIECE)):
        place = _place(server.name, "login", str(number))
        api_keys.keep_secret(place, text[at : at + LOGIN_PIECE])


def forget_login(name: str) -> None:
    """Delete the login at a server."""
    number = 0
    while api_keys.secret(place := _place(name, "login", str(number))):
        api_keys.forget_secret(place)
        number += 1
