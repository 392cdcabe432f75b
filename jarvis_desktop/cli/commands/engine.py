"""`engine` installs, lists, checks and removes what runs experts on this computer: torch."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.output import progress
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.placement import MB
from jarvis_desktop.process import engine

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

BESIDE = "torch is installed beside JARVIS, so no engine is needed."


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    about = "install, check and remove what runs experts"
    actions = add_actions(subparsers, "engine", about)
    about = "download torch for this computer, and check it"
    install = add_action(actions, "install", about, _install)
    install.add_argument(
        "--from",
        dest="folder",
        type=Path,
        metavar="FOLDER",
        help="take the wheels from a folder instead, such as one on a stick",
    )
    install.add_argument(
        "--build", metavar="BUILD", help="a build of torch, such as cpu, cu130 or rocm7.2"
    )
    add_action(actions, "list", "the engines on this computer, and what uses them", _list)
    add_action(actions, "check", "compute something with the engine in use", _check)
    add_action(actions, "remove", "delete an engine from this computer", _remove, "NAME")


@app_command
async def _install(args: argparse.Namespace, app: Application) -> int:
    source = args.folder and args.folder.absolute()
    if engine.in_environment():
        raise InputError(BESIDE)
    if source and not source.is_dir():
        raise InputError(f"There is no folder {source}.")
    if not source and not app.policy.allows_downloads:
        raise InputError(
            "The mode is offline, so nothing is fetched.",
            hint="Change the mode, or give a folder with wheels: --from FOLDER.",
        )
    if not source:
        size = readable_size(app.engines.download_mb * MB)
        output.note(f"torch for this computer is a download of about {size}.")
    try:
        made = await app.engines.install(progress(), source=source, build=args.build)
    except asyncio.CancelledError:
        output.note("The part already downloaded is kept; the same command resumes the download.")
        raise
    text = f"torch {made.torch} is ready; it takes {readable_size(made.size)}."
    return output.result(args, made, text)


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    found = await asyncio.to_thread(app.engines.installed)
    used = await asyncio.to_thread(engine.folder)
    if args.json:
        output.write_json([{"engine": each, "used": each.path == used} for each in found])
        return output.DONE
    for each in found:
        sign, size = "✓" if each.path == used else " ", readable_size(each.size)
        output.say(f"{sign} {each.name:32} {size:>8}  torch {each.torch} for {each.python}")
    if engine.in_environment():
        output.say(BESIDE)
    elif not used:
        size = readable_size(app.engines.download_mb * MB)
        output.say(f"There is none; it is a download of about {size} for this computer.")
        output.note("To get it: jarvis-desktop engine install")
    elif used.name != app.engines.newest:
        output.note("There is a newer one: jarvis-desktop engine install")
    return output.DONE


@app_command
async def _check(args: argparse.Namespace, app: Application) -> int:
    folder = await asyncio.to_thread(engine.folder)
    if not folder and not engine.in_environment():
        raise UnavailableError(
            "There is no engine.", hint="Install it with: jarvis-desktop engine install."
        )
    version = await app.engines.check(folder)
    return output.result(args, {"torch": version, "folder": folder}, f"torch {version} works.")


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    freed = await asyncio.to_thread(app.engines.remove, args.name)
    text = f"{args.name} is removed; {readable_size(freed)} are free again."
    return output.result(args, {"engine": args.name, "freed_bytes": freed}, text)
