"""`doctor`: what works on this computer, what does not, and what to do about it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared
from jarvis_desktop.doctor import voice
from jarvis_desktop.doctor.checks import examine

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    doctor = subparsers.add_parser("doctor", help="check this computer, with fixes")
    doctor.add_argument(
        "--voice",
        action="store_true",
        help="also listen for three seconds, and try the voice and the recogniser",
    )
    add_shared(doctor)
    doctor.set_defaults(command=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        findings = await examine(app)
        if args.voice:
            if not args.json:
                output.note("Speak now; it listens for three seconds.")
            findings += await voice.try_out(app)
        if args.json:
            output.write_json(findings)
        else:
            for item in findings:
                output.say(f"{item.state:8} {item.what}: {item.detail}")
                if item.fix:
                    output.say(f"         → {item.fix}")
        return output.DONE if all(item.state != "missing" for item in findings) else output.PARTLY

    return session.run(args, work)
