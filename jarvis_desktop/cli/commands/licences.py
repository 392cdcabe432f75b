"""`licences` lists what the program is made of, with the licences."""

from __future__ import annotations

import argparse

from jarvis_desktop.app.licences import as_text, part, parts
from jarvis_desktop.cli import output
from jarvis_desktop.cli.session import Subparsers, add_shared


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "licences", help="the licences of the libraries, fonts and weights in this program"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="of a library, to read its licence")
    parser.add_argument("--texts", action="store_true", help="the texts of all of them")
    add_shared(parser)
    parser.set_defaults(command=_licences)


def _licences(args: argparse.Namespace) -> int:
    if args.name:
        found = part(args.name)
        return output.result(args, found, as_text([found]))
    made = parts()
    if args.texts or args.json:
        return output.result(args, made, as_text(made))
    for each in made:
        output.say(f"{each.name:26} {each.version:14} {each.licence}".rstrip())
    output.note("jarvis-desktop licences NAME shows the text of one, --texts those of all.")
    return output.DONE
