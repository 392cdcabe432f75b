"""`desktop` adds JARVIS to the desktop's menu or removes it; `doctor` checks this computer;
`update` looks for a newer version, shows what is new in it, and installs it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from jarvis_desktop.app import health_checks
from jarvis_desktop.app.application import apply_network_settings
from jarvis_desktop.app.health_checks import examine
from jarvis_desktop.app.ipc_client import NotRunningError, ask
from jarvis_desktop.app.release import Release, release_channel
from jarvis_desktop.app.updates import DownloadedUpdate, Updates
from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import agreed, somebody_is_there
from jarvis_desktop.cli.session import (
    Subparsers,
    add_action,
    add_actions,
    add_shared,
    app_command,
    load,
)
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.serialization import to_wire
from jarvis_desktop.paths import log_to_file, run_folder
from jarvis_desktop.platform import desktop

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


def add_desktop(subparsers: Subparsers) -> None:
    """Add the command."""
    actions = add_actions(subparsers, "desktop", "add JARVIS to the desktop's menu")
    about = "write its .desktop file and icons for this person"
    add_action(actions, "install", about, _install)
    add_action(actions, "remove", "remove what install wrote", _remove)


def _install(args: argparse.Namespace) -> int:
    _check()
    written = desktop.install()
    return _tell(args, "JARVIS is in the menu of the desktop.", "written", written)


def _remove(args: argparse.Namespace) -> int:
    _check()
    removed = desktop.remove()
    words = "JARVIS is out of the menu." if removed else "There was nothing of ours in the menu."
    return _tell(args, words, "removed", removed)


def _tell(args: argparse.Namespace, words: str, what: str, paths: Any) -> int:
    return output.result(args, {what: [str(path) for path in paths]}, words)


def _check() -> None:
    if sys.platform != "linux":
        raise UnavailableError("Only Linux desktops list programs in this way.")


def add_doctor(subparsers: Subparsers) -> None:
    """Add the command."""
    doctor = subparsers.add_parser("doctor", help="check this computer, with fixes")
    doctor.add_argument(
        "--voice",
        action="store_true",
        help="also listen for three seconds, and try the voice and the recogniser",
    )
    add_shared(doctor)
    doctor.set_defaults(command=_doctor)


@app_command
async def _doctor(args: argparse.Namespace, app: Application) -> int:
    findings = await examine(app)
    if args.voice:
        if not args.json:
            output.note("Speak now; it listens for three seconds.")
        findings += await health_checks.check_speech(app)
    if args.json:
        output.write_json(findings)
    else:
        for item in findings:
            output.say(f"{item.state:8} {item.what}: {item.detail}")
            if item.fix:
                output.say(f"         → {item.fix}")
    return output.DONE if all(item.state != "missing" for item in findings) else output.PARTLY


def add_update(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "update",
        help="look for a newer version, and install it",
        description="Look for a newer version, show what is new in it, and install it after a yes. "
        "One file is fetched to look; nothing about you is sent.",
    )
    parser.add_argument("--check", action="store_true", help="only look and show what is new")
    parser.add_argument("--yes", action="store_true", help="install it without asking")
    add_shared(parser)
    parser.set_defaults(command=_update)


def _update(args: argparse.Namespace) -> int:
    """Run without the application: an update must work when that no longer starts."""
    settings, paths = load(args)
    apply_network_settings(settings)
    log_to_file(paths)
    policy = Policy(settings.mode)
    updates = Updates(paths.updates, release_channel(paths), online=lambda: policy.allows_downloads)
    release = asyncio.run(updates.look())
    if release is None:
        text = f"jarvis-desktop {updates.version} is the newest version."
        return output.result(args, _document(updates, None), text)
    if not args.json:
        output.say(f"There is version {release.version}, of {release.date}.")
        if news := release.news(updates.version):
            output.say(f"\n{news}\n")
    if args.check or not asyncio.run(_agreed(args, updates, release)):
        if args.json:
            output.write_json(_document(updates, release))
        return output.DONE
    if updates.own.updates_itself:
        _close_first()
    update = asyncio.run(_fetch(updates, release))
    if update.command:
        text = f"It is downloaded and checked. Install it with:\n\n  {update.command}"
        output.result(args, _document(updates, release, update), text)
        return output.PARTLY
    # Whatever is imported behind `install` belongs to another version.
    done = to_wire(_document(updates, release, update) | {"installed": True})
    words = f"jarvis-desktop {update.version} is installed."
    updates.install(update, lambda text: output.note(f"        {text}"))
    return output.result(args, done, words)


async def _agreed(args: argparse.Namespace, updates: Updates, release: Release) -> bool:
    if args.yes:
        return True
    if updates.own.package is None:
        output.note(updates.own.advice())
        return False
    if args.json or not somebody_is_there():
        output.note("To install it: jarvis-desktop update --yes")
        return False
    return await agreed(f"Install version {release.version}? [y/N]")


async def _fetch(updates: Updates, release: Release) -> DownloadedUpdate:
    try:
        return await updates.fetch(release, output.progress())
    except asyncio.CancelledError:
        output.note("The part already downloaded is kept; the same command resumes the download.")
        raise


def _close_first() -> None:
    """Raise InputError if a window runs: its parts must all be of one version."""
    try:
        ask(run_folder(), {"do": "talk", "action": "status"}, limit=2.0)
    except NotRunningError:
        return
    except JarvisError:
        pass  # it answers, if badly
    raise InputError("JARVIS is open.", hint="Quit it first, then run this again.")


def _document(
    updates: Updates, release: Release | None, update: DownloadedUpdate | None = None
) -> dict[str, object]:
    return {
        "version": updates.version,
        "installed_as": updates.own.kind.value,
        "newer": release and release.version,
        "news": release.news(updates.version) if release else "",
        "file": update and update.path,
        "command": update.command if update else "",
        "installed": False,
    }
