"""`mcp` adds, lists, tests and removes MCP servers, says which of their tools may be called, and
makes JARVIS one."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.mcp.servers import Approval, McpServer, servers_of_file
from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import Keyboard, somebody_is_there
from jarvis_desktop.cli.session import (
    Subparsers,
    add_action,
    add_mode,
    add_yes,
    app_command,
    run,
)
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.backends.mcp.backend import McpRow
    from jarvis_desktop.backends.mcp.bundles import BundleSetting, SettingValue
    from jarvis_desktop.backends.mcp.servers import McpServer


class _ActionParser(argparse.ArgumentParser):
    """Takes what follows "--" as the program, which argparse refuses if an option precedes it."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        given = list(args or ())
        at = given.index("--") if self.get_default("command") is _add and "--" in given else None
        found, rest = super().parse_known_args(given[:at], namespace)
        if at is not None:
            found.program = [*found.program, *given[at + 1 :]]
        return found, rest


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    mcp = subparsers.add_parser("mcp", help="use the tools of MCP servers in plans, or be one")
    actions = mcp.add_subparsers(
        title="actions", metavar="ACTION", required=True, parser_class=_ActionParser
    )

    action = partial(add_action, actions)
    new = action("add", "add a server and look what it offers", _add)
    new.add_argument("name", metavar="NAME", nargs="?", help="or a bundle: FILE.mcpb")
    new.add_argument(
        "program", metavar="COMMAND", nargs="*", help="the program and its arguments, after --"
    )
    new.add_argument("--url", help="the address of a server that speaks streamable HTTP")
    new.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="kept in the keyring"
    )
    new.add_argument(
        "--header", metavar="NAME=VALUE", action="append", default=[], help="kept in the keyring"
    )
    new.add_argument("--cwd", metavar="FOLDER", default="", help="where the program runs")
    new.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="take the servers of Claude Desktop's, LM Studio's or VS Code's JSON file; with NAME "
        "that one alone",
    )
    new.add_argument(
        "--set",
        dest="values",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of a bundle; those that are secret are asked for",
    )
    add_yes(new)
    action("list", "the servers, their tools, and which may be called", _list)
    action("test", "start a server and look what it offers", _test).add_argument(
        "name", metavar="NAME"
    )
    action("login", "log in again to a server that wants it, in a browser", _login).add_argument(
        "name", metavar="NAME"
    )
    action("remove", "delete a server, its secrets and what you agreed to", _remove).add_argument(
        "name", metavar="NAME"
    )
    allow = action("allow", "say whether a tool may be called", _allow)
    allow.add_argument("name", metavar="SERVER")
    allow.add_argument("tool", metavar="TOOL", help="the name of a tool, or “all”")
    allow.add_argument("approval", choices=("ask", "always", "never"))
    serve = actions.add_parser(
        "serve",
        help="be an MCP server for the program that starts this one",
        description="Speaks MCP over stdin and stdout. Other programs start it; for them it is a "
        "server with the command “jarvis-desktop” and the arguments “mcp serve”.",
    )
    add_mode(serve)
    serve.set_defaults(command=_serve)


@app_command
async def _add(args: argparse.Namespace, app: Application) -> int:
    wanted = [await _bundled(args, app)] if _is_bundle(args) else _wanted(args)
    added = [await app.mcp.add(server) for server in wanted]
    code, records = output.DONE, []
    for server in added:
        try:
            check = await app.mcp.test(server.name)
            _say_rows(args, server, check.rows)
            records.append(_record(server, check.rows))
        except JarvisError as error:
            code = output.PARTLY
            records.append({**_record(server, ()), "error": str(error)})
            if not args.json:
                output.note(f"{server.name} is added, but: {error}")
    if args.json:
        output.write_json({"servers": records})
    return code


def _is_bundle(args: argparse.Namespace) -> bool:
    return bool(args.name) and Path(args.name).suffix.lower() in (".mcpb", ".dxt")


async def _bundled(args: argparse.Namespace, app: Application) -> McpServer:
    """Unpack a bundle after its settings were asked for and its command was agreed to."""
    from jarvis_desktop.backends.mcp.bundles import read_bundle, unpack

    root, keyboard = app.paths.mcp_bundles, Keyboard()
    bundle = await asyncio.to_thread(read_bundle, Path(args.name))
    given = _pairs(args.values)
    if unknown := given.keys() - bundle.settings.keys():
        raise InputError(f"{bundle.name} has no setting {one_line(min(unknown))}.")
    if secret := [key for key in given if bundle.settings[key].sensitive]:
        raise InputError(
            f"{secret[0]} is secret, and all programs can see arguments: you are asked for it."
        )
    output.note(bundle.about)
    values: dict[str, SettingValue] = {}
    for key, setting in bundle.settings.items():
        typed = given.get(key) or await _setting(args, keyboard, key, setting)
        values[key] = _listed(typed) if setting.multiple and typed else typed
    server = bundle.server(root, values)
    output.note(f"It runs with your rights: {one_line(server.place, limit=500)}")
    if any(each.name == server.name for each in app.mcp.servers.all()):
        output.note(f"It replaces the server {server.name}.")
    if not args.yes and (await keyboard.ask("Add it? [y/N]")).lower() not in ("y", "yes"):
        raise InputError("It was not added.")
    await asyncio.to_thread(unpack, bundle, root)
    return server


async def _setting(
    args: argparse.Namespace, keyboard: Keyboard, key: str, setting: BundleSetting
) -> str:
    """The value that the user types; "" for the default."""
    from jarvis_desktop.backends.mcp.bundles import default_of

    default = default_of(setting)
    if args.yes and (default or not setting.required):
        return ""
    told = one_line(": ".join(filter(None, (setting.title or key, setting.description))), limit=300)
    if setting.multiple:
        told += ", with commas between them"
    if setting.sensitive:
        if somebody_is_there():
            import getpass

            return (await asyncio.to_thread(getpass.getpass, f"{told} (not shown): ")).strip()
        return await keyboard.ask(f"{told}:")
    shown = ", ".join(default) if isinstance(default, list) else default
    return await keyboard.ask(f"{told} [{one_line(shown)}]:" if shown else f"{told}:")


def _listed(typed: str) -> list[str]:
    return [each.strip() for each in typed.split(",") if each.strip()]


def _wanted(args: argparse.Namespace) -> list[McpServer]:
    env, headers = _pairs(args.env), _pairs(args.header)
    if args.source:
        found = servers_of_file(args.source)
        if args.name:
            found = [each for each in found if each.name == args.name]
            if not found:
                raise InputError(f"{args.source} has no server {args.name}.")
        return [
            replace(each, env={**each.env, **env}, headers={**each.headers, **headers})
            for each in found
        ]
    if not args.name:
        raise InputError(
            "Name the server.",
            hint="For example: jarvis-desktop mcp add time -- uvx mcp-server-time",
        )
    program, *rest = args.program or [""]
    cwd = str(Path(args.cwd).absolute()) if args.cwd else ""
    return [McpServer(args.name, program, tuple(rest), cwd, args.url or "", env, headers)]


def _pairs(given: list[str]) -> dict[str, str]:
    pairs = {}
    for each in given:
        name, found, value = each.partition("=")
        if not found or not name.strip():
            raise InputError(f"“{one_line(name)}” is not of the form NAME=VALUE.")
        pairs[name.strip()] = value
    return pairs


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    servers = app.mcp.servers.all()
    if args.json:
        output.write_json({"servers": [_record(each, app.mcp.rows(each)) for each in servers]})
        return output.DONE
    for server in servers:
        _say_rows(args, server, app.mcp.rows(server))
    if not servers:
        output.say("There is no MCP server.")
        output.note("To add one: jarvis-desktop mcp add time -- uvx mcp-server-time")
    return output.DONE


@app_command
async def _test(args: argparse.Namespace, app: Application) -> int:
    return await _tested(args, app, log_in_again=False)


@app_command
async def _login(args: argparse.Namespace, app: Application) -> int:
    if not app.mcp.servers.find(args.name).url:
        raise InputError(f"{args.name} is a program on this computer, which wants no login.")
    return await _tested(args, app, log_in_again=True)


async def _tested(args: argparse.Namespace, app: Application, *, log_in_again: bool) -> int:
    server = app.mcp.servers.find(args.name)
    check = await app.mcp.test(args.name, log_in_again=log_in_again)
    record = _record(server, check.rows)
    if args.json:
        output.write_json(record | {"seconds": check.seconds, "protocol": check.protocol})
        return output.DONE
    _say_rows(args, server, check.rows)
    output.note(f"note    It answered in {check.seconds:.1f} s; protocol {check.protocol}.")
    return output.DONE


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    removed = await app.mcp.remove(args.name)
    return output.result(args, {"removed": removed.name}, f"{removed.name} is removed.")


@app_command
async def _allow(args: argparse.Namespace, app: Application) -> int:
    server = app.mcp.servers.find(args.name)
    tools = await asyncio.to_thread(app.mcp.servers.tools, server)
    chosen = [each for each in tools if args.tool in ("all", each.name)]
    if not chosen:
        raise InputError(
            f"The MCP server {server.name} has no tool {args.tool}.",
            hint=f"See what it offers: jarvis-desktop mcp test {server.name}",
        )
    app.mcp.approve(server, chosen, Approval(args.approval))
    document = {"server": server.name, "tools": [each.name for each in chosen]}
    names = ", ".join(each.name for each in chosen)
    return output.result(args, {**document, "approval": args.approval}, f"{args.approval}: {names}")


def _serve(args: argparse.Namespace) -> int:
    from jarvis_desktop.server.mcp_api import serve_over_pipes

    async def work(app: Application) -> int:
        await serve_over_pipes(app)
        return output.DONE

    return run(args, work)


def _record(server: McpServer, rows: tuple[McpRow, ...]) -> dict[str, Any]:
    tools = [{**asdict(row.tool), "task": row.task.name, "approval": row.approval} for row in rows]
    return {"name": server.name, "place": server.place, "tools": tools}


def _say_rows(args: argparse.Namespace, server: McpServer, rows: tuple[McpRow, ...]) -> None:
    if args.json:
        return
    off = "  (switched off)" if server.disabled else ""
    output.say(f"{server.name}  {one_line(server.place, limit=100)}{off}")
    for row in rows:
        about = one_line(row.tool.description, limit=70)
        output.say(f"  {row.approval.value:7} {row.tool.name:28} {about}")
    if not rows:
        output.say(f"  not looked at yet: jarvis-desktop mcp test {server.name}")
