"""`desktop` adds JARVIS to the desktop's menu or removes it; `doctor` checks this computer."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from jarvis_desktop.app import health_checks
from jarvis_desktop.app.health_checks import examine
from jarvis_desktop.cli import output
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, add_shared, app_command
from jarvis_desktop.core.errors import UnavailableError

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
    from jarvis_desktop.platform import desktop

    written = desktop.install()
    return _tell(args, "JARVIS is in the menu of the desktop.", "written", written)


def _remove(args: argparse.Namespace) -> int:
    _check()
    from jarvis_desktop.platform import desktop

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
