"""`talk` tells the running JARVIS to listen.

A key of the desktop is bound to it, so it must be quick: imports are few.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from jarvis_desktop import paths
from jarvis_desktop.app.ipc_client import ask
from jarvis_desktop.cli import output
from jarvis_desktop.core.errors import JarvisError

ABOUT = "tell the running JARVIS to listen"
ACTIONS = {
    "start": "listen until a silence, or until stop",
    "hold": "listen until stop, even through silence: for a key that is held",
    "stop": "stop listening and answer",
    "toggle": "start, or stop if it is listening",
    "cancel": "forget what was said",
    "dictate": "start or stop to dictate into the program in front",
    "status": "show its state and its talk key",
}
STATES = {
    "idle": "JARVIS is not listening.",
    "waiting": "JARVIS is listening; the microphone is still silent.",
    "listening": "JARVIS is listening.",
    "recognising": "JARVIS is recognising what was said.",
}
EPILOG = "\n".join(
    ("actions:", *(f"  {name:8} {about}" for name, about in ACTIONS.items()), "",
     "Bind a key of your desktop to `jarvis-desktop talk toggle`.")
)  # fmt: skip


def add(subparsers: Any) -> None:
    """Add the command."""
    _arguments(subparsers.add_parser("talk", help=ABOUT))


def main(arguments: Sequence[str]) -> int:
    """Run `jarvis-desktop talk` without the rest of the command line. Return the exit code."""
    parser = argparse.ArgumentParser(prog="jarvis-desktop talk")
    _arguments(parser)
    try:
        args = parser.parse_args(arguments)
        try:
            return _talk(args)
        except JarvisError as error:
            return output.report_error(error, as_json=args.json)
    finally:
        output.flush_stdout()


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = ABOUT, EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "action", choices=tuple(ACTIONS), metavar="ACTION", help=" | ".join(ACTIONS)
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.set_defaults(command=_talk)


def _talk(args: argparse.Namespace) -> int:
    answer = ask(paths.run_folder(), {"do": "talk", "action": args.action})
    if args.json:
        output.write_json(answer)
        return output.DONE
    output.say(STATES.get(str(answer.get("state")), "JARVIS is running."))
    hotkey = answer.get("hotkey")
    if args.action == "status" and isinstance(hotkey, dict):
        key, way, why = (str(hotkey.get(name, "")) for name in ("key", "way", "why"))
        have = "none" if way == "none" else f"{key or 'not told'} ({way})"
        output.say(f"Talk key: {have}. {why}")
    return output.DONE
