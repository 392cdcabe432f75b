"""`serve` lets other programs use JARVIS over HTTP."""

from __future__ import annotations

import argparse
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.backends.machines.backend import SILENCE_S, own_name
from jarvis_desktop.backends.machines.pairing import LIFE_S, TRIES, PairingCode
from jarvis_desktop.backends.machines.wire import PORT
from jarvis_desktop.cli import output
from jarvis_desktop.cli.session import Subparsers, add_mode, count, run
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.paths import user_paths
from jarvis_desktop.platform import api_keys
from jarvis_desktop.process.network_guard import is_this_computer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


EVERYWHERE = "0.0.0.0"  # noqa: S104 - for other computers, each of which needs a pairing


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    serve = subparsers.add_parser(
        "serve",
        help="let other programs use JARVIS, in OpenAI's protocol",
        description="Serves OpenAI's protocol (/v1) and HuggingGPT's. Every request needs the "
        "token, which is made at the first start and kept in the keyring.",
    )
    serve.add_argument("--host", help="where to listen (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, help="(default: 8765)")
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
    serve.add_argument(
        "--experts",
        action="store_true",
        help="instead, serve the experts of this computer to your others, encrypted, at port 8766 "
        "of all addresses",
    )
    serve.add_argument(
        "--pair", action="store_true", help="with --experts: show a code to pair another computer"
    )
    serve.add_argument(
        "--no-announce",
        action="store_true",
        help="with --experts: do not let your other computers find it in the local network",
    )
    serve.add_argument(
        "--wyoming",
        type=int,
        nargs="?",
        const=10300,
        metavar="PORT",
        help="instead, serve Home Assistant's voice satellites (default port: 10300); the protocol "
        "has no authentication",
    )
    serve.add_argument("--show-token", action="store_true", help="print the token and end")
    add_mode(serve)
    serve.set_defaults(command=_serve)


def _serve(args: argparse.Namespace) -> int:
    from jarvis_desktop.server.access import ServerTerms, token_from
    from jarvis_desktop.server.http_server import address_of, encryption, listen, serve

    api_keys.hide()  # no program that is started inherits it
    if args.experts:
        return _serve_experts(args)
    if args.wyoming is not None:
        return _serve_wyoming(args)
    if args.pair or args.no_announce:
        option = "--pair" if args.pair else "--no-announce"
        raise InputError(f"{option} belongs to --experts.")
    host, port = args.host or "127.0.0.1", port_of(args.port, 8765)
    token = token_from(args.token_file, api_keys.server_token())
    if args.show_token:
        output.say(token)
        return output.DONE
    check_certificate(args)
    encrypted = encryption(args.certificate, args.key) if args.key else None
    listening = listen(host, port)
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
        terms = ServerTerms(token, host, tuple(args.name), args.rate)
        await serve(app, listening, terms, encrypted=encrypted)
        return output.DONE

    with listening:
        return run(args, work)


def _serve_experts(args: argparse.Namespace) -> int:
    from jarvis_desktop.server.experts_api import experts_of
    from jarvis_desktop.server.http_server import encryption, listen, serve_app
    from jarvis_desktop.server.paired import PairedComputers, certificate_of

    host, port = args.host or EVERYWHERE, port_of(args.port, PORT)
    check_certificate(args)
    computers = PairedComputers(user_paths().paired)
    if args.key:
        encrypted, certificate = (
            encryption(args.certificate, args.key),
            certificate_of(args.certificate),
        )
    else:
        encrypted, certificate = computers.encryption()
    listening = listen(host, port, silence=SILENCE_S)
    address = place_at(listening)

    async def work(app: Application) -> int:
        service = experts_of(app, computers)
        offers = service.offers()
        names = sorted({each.expert.id for each in offers})
        output.note(
            f"The experts of this computer ({', '.join(names) or 'none yet'}) are served at "
            f"{address}; Ctrl-C ends it."
        )
        if args.pair or not computers.all():
            service.pairing = PairingCode(certificate)
            output.note("On the other computer: jarvis-desktop machines pair " + address)
            output.note(
                f"The code is {service.pairing.code}; it holds for {LIFE_S / 60:.0f} minutes and "
                f"{TRIES} tries."
            )
            service.on_pairing = lambda name: output.note(f"{one_line(name)} is paired.")
        async with AsyncExitStack() as stack:
            bound, taken = listening.getsockname()[:2]
            if app.policy.allows_downloads and not (args.no_announce or is_this_computer(bound)):
                from jarvis_desktop.backends.machines.discovery import announced

                announcing = announced(own_name(), bound, taken)
                if not await stack.enter_async_context(announcing):
                    output.note(
                        "note    It is in no network in which your other computers would find it."
                    )
            await serve_app(service.app(host), listening, encrypted=encrypted)
        return output.DONE

    with listening:
        return run(args, work)


def _serve_wyoming(args: argparse.Namespace) -> int:
    from jarvis_desktop.server.http_server import listen
    from jarvis_desktop.server.wyoming_api import WyomingService

    host, port = args.host or "127.0.0.1", port_of(args.wyoming, 10300)
    listening = listen(host, port)
    place = f"{host}:{listening.getsockname()[1]}"

    async def work(app: Application) -> int:
        output.note(f"Wyoming is at tcp://{place}; Ctrl-C ends it.")
        whoever = (
            "Whoever reaches it" if is_this_computer(host) else "Every computer that reaches it"
        )
        output.note(
            f"note    The protocol has no authentication and no encryption. {whoever} can ask for "
            "everything that you can ask for."
        )
        await WyomingService(app).serve(listening)
        return output.DONE

    with listening:
        return run(args, work)


def place_at(listening: socket.socket) -> str:
    """Return where other computers find the experts that are served at a socket."""
    from jarvis_desktop.server.http_server import address_of

    address = address_of(listening, encrypted=True).removesuffix("/v1").removeprefix("https://")
    if address.startswith(f"{EVERYWHERE}:"):  # in a network without a way out
        address = address.replace(EVERYWHERE, own_name())
    return address


def port_of(given: int | None, usual: int) -> int:
    """Return the port that was given, or the usual one. Raises InputError."""
    port = usual if given is None else given
    if not 0 <= port <= 65535:
        raise InputError(f"There is no port {port}.")
    return port


def check_certificate(args: argparse.Namespace) -> None:
    """Raise InputError if a certificate or its key is given without the other."""
    if bool(args.certificate) != bool(args.key):
        raise InputError("A certificate and its key belong together: --certificate and --key.")
