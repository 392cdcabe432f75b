"""`desktop`: puts JARVIS among the programs of the desktop, and takes it out again."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from jarvis_desktop.cli import output
from jarvis_desktop.core.errors import UnavailableError


def add(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("desktop", help="put JARVIS into the menu of the desktop")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, about, act in (
        ("install", "write its .desktop file and icons for this person", _install),
        ("remove", "remove what install wrote", _remove),
    ):
        action = actions.add_parser(name, help=about, description=about)
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
        action.set_defaults(command=act)


def _install(args: argparse.Namespace) -> int:
    _check()
    from jarvis_desktop import menu_entry

    written = menu_entry.install()
    return _tell(args, "JARVIS is in the menu of the desktop.", "written", written)


def _remove(args: argparse.Namespace) -> int:
    _check()
    from jarvis_desktop import menu_entry

    removed = menu_entry.remove()
    words = "JARVIS is out of the menu." if removed else "There was nothing of ours in the menu."
    return _tell(args, words, "removed", removed)


def _tell(args: argparse.Namespace, words: str, what: str, paths: Any) -> int:
    if args.json:
        output.write_json({what: [str(path) for path in paths]})
    else:
        output.say(words)
    return output.DONE


def _check() -> None:
    if sys.platform != "linux":
        raise UnavailableError("Only Linux desktops list programs in this way.")
