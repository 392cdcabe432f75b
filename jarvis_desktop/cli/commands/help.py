"""`help` shows the help pages; `licences` what the program is made of, with the licences."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from jarvis_desktop.app.help_pages import TOPICS, help_page
from jarvis_desktop.app.licences import as_text, part, parts
from jarvis_desktop.cli import output
from jarvis_desktop.cli.session import Subparsers, add_shared
from jarvis_desktop.core.i18n import tr


def add_help(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "help", help="read about a topic", description="Show a help page, or list the topics."
    )
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="its name; none lists the topics")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.set_defaults(command=_show)


def _show(args: argparse.Namespace) -> int:
    if args.topic:
        page = help_page(args.topic)
        if args.json:
            output.write_json({"topic": args.topic, "text": page})
        else:
            output.say(page.rstrip())
    elif args.json:
        output.write_json([asdict(topic) for topic in TOPICS])
    else:
        width = max(len(topic.name) for topic in TOPICS)
        for topic in TOPICS:
            output.say(f"{topic.name:<{width}}  {tr(topic.title)}")
        output.note(
            "jarvis-desktop help TOPIC shows one; jarvis-desktop COMMAND --help, its options."
        )
    return output.DONE


def add_licences(subparsers: Subparsers) -> None:
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
