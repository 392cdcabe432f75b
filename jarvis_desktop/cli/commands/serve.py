"""`serve` lets other programs use JARVIS over HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.session import Subparsers, add_mode, count, run
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.platform import api_keys
from jarvis_desktop.process.network_guard import is_this_computer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    serve = subparsers.add_parser(
        "serve",
        help="let other programs use JARVIS, in OpenAI's protocol",
        description="Serves OpenAI's protocol (/v1) and HuggingGPT's. Every request needs the "
        "token, which is made at the first start and kept in the keyring.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    serve.add_argument("--port", type=int, default=8765, help="(default: %(default)s)")
    serve.add_argument(
        "--token-file", type=Path, metavar="FILE", help="the token, instead of the keyring's"
    )
    serve.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="encrypt with it: a PEM file with its chain",
    )
    serve.add_argument("--key", type=Path, metavar="FILE", help="the key of the certificate")
    serve.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="a name under which other computers reach it; may be given more than once",
    )
    serve.add_argument(
        "--rate",
        type=count,
        default=1200,
        metavar="N",
        help="the most requests a minute (default: %(default)s)",
    )
    serve.add_argument("--show-token", action="store_true", help="print the token and end")
    add_mode(serve)
    serve.set_defaults(command=_serve)


def _serve(args: argparse.Namespace) -> int:
    from jarvis_desktop.server.access import ServerTerms, token_from
    from jarvis_desktop.server.http_server import address_of, encryption, listen, serve

    api_keys.hide()  # no program that is started inherits it
    token = token_from(args.token_file, api_keys.server_token())
    if args.show_token:
        output.say(token)
        return output.DONE
    if not 0 <= args.port <= 65535:
        raise InputError(f"There is no port {args.port}.")
    if bool(args.certificate) != bool(args.key):
        raise InputError("A certificate and its key belong together: --certificate and --key.")
    encrypted = encryption(args.certificate, args.key) if args.key else None
    listening = listen(args.host, args.port)
    address = address_of(listening, encrypted=bool(encrypted))

    async def work(app: Application) -> int:
        base = address.removesuffix("v1")
        output.note(f"OpenAI's protocol is at {address}, MCP at {base}mcp, and a page to try it at")
        output.note(f"{base}; Ctrl-C ends it.")
        if not (encrypted or is_this_computer(listening.getsockname()[0])):
            output.note(
                "note    Other computers can reach it, and what is sent is not encrypted: give a "
                "--certificate, or put a server with TLS in front."
            )
        terms = ServerTerms(token, args.host, tuple(args.name), args.rate)
        await serve(app, listening, terms, encrypted=encrypted)
        return output.DONE

    with listening:
        return run(args, work)
