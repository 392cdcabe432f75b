"""`memory`: what is remembered for all conversations."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared, count
from jarvis_desktop.cli.keyboard import agreed

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    memory = subparsers.add_parser("memory", help="list, add and remove what is remembered")
    actions = memory.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all that is remembered, with its numbers")
    listing.set_defaults(command=_list)
    adding = actions.add_parser("add", help="remember something in every conversation")
    adding.add_argument("text", metavar="TEXT", help="such as “always answer in German”")
    adding.set_defaults(command=_add)
    remove = actions.add_parser("remove", help="forget one thing")
    remove.add_argument("number", type=count, metavar="NUMBER", help="as `memory list` shows it")
    remove.set_defaults(command=_remove)
    clear = actions.add_parser("clear", help="forget everything")
    clear.add_argument("--yes", action="store_true", help="do not ask")
    clear.set_defaults(command=_clear)
    for action in (listing, adding, remove, clear):
        add_shared(action)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        facts = app.history.facts.list()
        if args.json:
            output.write_json(list(facts))
            return output.DONE
        for fact in facts:
            output.say(f"{fact.number:>4}  {fact.text}")
        if not facts:
            output.say("Nothing is remembered yet.")
        return output.DONE

    return session.run(args, work)


def _add(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        fact = app.history.facts.add(args.text)
        if args.json:
            output.write_json(fact)
        else:
            output.say(f"{fact.number:>4}  {fact.text}")
        return output.DONE

    return session.run(args, work)


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        app.history.facts.remove(args.number)
        if args.json:
            output.write_json({"removed": args.number})
        else:
            output.say(f"Number {args.number} is forgotten.")
        return output.DONE

    return session.run(args, work)


def _clear(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        if not args.yes and not await agreed("Forget everything that is remembered? [y/N]"):
            output.note("Nothing was forgotten (--yes agrees in advance).")
            return output.FAILED
        gone = app.history.facts.clear()
        if args.json:
            output.write_json({"removed_facts": gone})
        else:
            output.say(f"Forgot {gone} thing{'s' if gone != 1 else ''}.")
        return output.DONE

    return session.run(args, work)
