"""`cluster` serves the experts of this computer to many users, with Ray Serve."""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.backends.machines.pairing import LIFE_S, TRIES
from jarvis_desktop.backends.machines.wire import PORT
from jarvis_desktop.cli import output
from jarvis_desktop.cli.commands.serve import EVERYWHERE, check_certificate, place_at, port_of
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, count, run
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.paths import user_paths
from jarvis_desktop.platform import api_keys
from jarvis_desktop.platform.hardware_probe import gpu_memory_bytes

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.core.expert import Candidate
    from jarvis_desktop.server.cluster import GateTerms

INSTALL = 'pip install "jarvis-desktop[cluster]"'


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    about = "serve the experts of this computer to many users, with Ray Serve"
    action = partial(add_action, add_actions(subparsers, "cluster", about))
    up = action("up", "start it, or with --pair let one more computer use it", _up)
    up.add_argument(
        "experts",
        nargs="*",
        metavar="EXPERT",
        help="an expert to serve (default: all that are here)",
    )
    up.add_argument("--pair", action="store_true", help="show a code to pair another computer")
    up.add_argument("--host", default=EVERYWHERE, help="where to listen (default: all addresses)")
    up.add_argument("--port", type=int, help=f"(default: {PORT})")
    up.add_argument(
        "--certificate", type=Path, metavar="FILE", help="instead of one of its own: a PEM file"
    )
    up.add_argument("--key", type=Path, metavar="FILE", help="the key of the certificate")
    up.add_argument(
        "--most", type=count, default=4, metavar="N",
        help="the most processes of an expert (default: %(default)s)",
    )  # fmt: skip
    up.add_argument(
        "--least", type=int, default=0, metavar="N",
        help="processes of an expert that always run (default: %(default)s)",
    )  # fmt: skip
    up.add_argument(
        "--idle", type=count, default=300, metavar="SECONDS",
        help="how long one waits for work before it ends (default: %(default)s)",
    )  # fmt: skip
    up.add_argument(
        "--cpus", type=count, default=0, metavar="N",
        help="processor cores for experts, one each (default: all)",
    )  # fmt: skip
    up.add_argument(
        "--together",
        action="store_true",
        help="let the processes have all experts, each loaded when it is asked for: for many small "
        "ones on few cores",
    )
    up.add_argument(
        "--ray",
        default="",
        metavar="ADDRESS",
        help="use a Ray that runs already, maybe on several computers, such as 10.0.0.5:6379",
    )
    action("status", "what runs in it", _status)
    action("down", "end it", _down)


def _up(args: argparse.Namespace) -> int:
    _check_installed()
    from jarvis_desktop.server import ray_cluster
    from jarvis_desktop.server.paired import PairedComputers

    api_keys.hide()  # no program that is started inherits it
    paths = user_paths()
    found = ray_cluster.ClusterState(paths).read()
    if found and not args.pair:
        raise UnavailableError(
            f"A cluster runs already, at {found['place']}.",
            hint="End it with: jarvis-desktop cluster down. One more computer: cluster up --pair.",
        )
    if not found:
        offers = _offers(args)
        output.note("Ray starts; this takes a moment.")
        found = ray_cluster.start(
            ray_cluster.ClusterTerms(
                _gate_terms(args),
                tuple(offers),
                most=max(args.most, args.least),
                least=max(0, args.least),
                idle=args.idle,
                cpus=args.cpus,
                card=gpu_memory_bytes(),
                together=args.together,
                address=args.ray,
            )
        )
    code = ""
    if args.pair or not PairedComputers(paths.paired).all():
        code = ray_cluster.pairing_code(found)
        output.note(f"On the other computer: jarvis-desktop machines pair {found['place']}")
        output.note(
            f"The code is {code}; it holds for {LIFE_S / 60:.0f} minutes and {TRIES} tries."
        )
    return output.result(
        args, {"place": found["place"], "code": code}, f"The cluster is at {found['place']}."
    )


def _offers(args: argparse.Namespace) -> list[Candidate]:
    """The experts to serve: those that are named, or all that run here."""
    from jarvis_desktop.server.experts_api import local_offers

    offers: list[Candidate] = []

    async def work(app: Application) -> int:
        offers.extend(local_offers(app))
        return output.DONE

    run(args, work)
    known = {each.expert.id for each in offers}
    for name in args.experts:
        if name not in known:
            raise InputError(f"The expert {name} is not on this computer.")
    if not offers:
        raise UnavailableError(
            "There is no expert on this computer.",
            hint="Fetch one with: jarvis-desktop experts pull NAME.",
        )
    return [each for each in offers if each.expert.id in args.experts or not args.experts]


def _status(args: argparse.Namespace) -> int:
    _check_installed()
    from jarvis_desktop.server import ray_cluster

    found = ray_cluster.ClusterState(user_paths()).read()
    listed = ray_cluster.status(found) if found else []
    document = {
        "place": found.get("place", ""),
        "deployments": [
            {"name": each.name, "state": each.state, "replicas": each.replicas} for each in listed
        ],
    }
    lines = [f"The cluster is at {found['place']}." if found else "No cluster runs here."]
    for each in listed:
        trouble = f"  {each.message}" if each.message else ""
        lines.append(f"  {each.name:32} {each.replicas} running, {each.state.lower()}{trouble}")
    return output.result(args, document, "\n".join(lines))


def _down(args: argparse.Namespace) -> int:
    _check_installed()
    from jarvis_desktop.server import ray_cluster

    found = ray_cluster.ClusterState(user_paths()).read()
    if not found:
        return output.result(args, {"ended": False}, "No cluster runs here.")
    if pid := found.get("pid"):
        ray_cluster.stop(pid)
    else:
        ray_cluster.stop_deployed(found["address"])
    return output.result(args, {"ended": True}, "The cluster has ended.")


def _check_installed() -> None:
    if find_spec("ray") is None:
        raise UnavailableError("A cluster needs Ray Serve, which is not installed.", hint=INSTALL)


def _gate_terms(args: argparse.Namespace) -> GateTerms:
    from jarvis_desktop.server.cluster import GateTerms
    from jarvis_desktop.server.http_server import encryption, listen
    from jarvis_desktop.server.paired import PairedComputers

    check_certificate(args)
    paired = user_paths().paired
    if args.key:
        encryption(args.certificate, args.key)  # they fit together
        key, certificate = args.key.read_text("utf-8"), args.certificate.read_text("utf-8")
    else:
        key, certificate = PairedComputers(paired).pem()
    with listen(args.host, port_of(args.port, PORT)) as listening:  # says now if it cannot
        place, port = place_at(listening), listening.getsockname()[1]
    return GateTerms(args.host, port, key, certificate, paired, place)
