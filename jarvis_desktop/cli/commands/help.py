"""`help`: the help pages."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from jarvis_desktop.app.help_pages import TOPICS, help_page
from jarvis_desktop.cli import output
from jarvis_desktop.core.i18n import tr


def add(subparsers: Any) -> None:
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
