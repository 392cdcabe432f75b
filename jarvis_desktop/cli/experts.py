"""`experts`: the catalogue, and what of it is on this computer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert

if TYPE_CHECKING:
    from jarvis_desktop.compose import App


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    experts = subparsers.add_parser("experts", help="list, search, fetch and remove experts")
    actions = experts.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all experts, and which are on this computer")
    add_shared(listing)
    listing.set_defaults(command=_list, words="")
    search = actions.add_parser("search", help="experts whose name, task or summary has WORDS")
    search.add_argument("words", metavar="WORDS")
    add_shared(search)
    search.set_defaults(command=_list)
    pull = actions.add_parser("pull", help="fetch an expert's weights")
    pull.add_argument("name", metavar="NAME")
    pull.add_argument(
        "--from", dest="folder", metavar="FOLDER", help="take the weights from a folder instead"
    )
    add_shared(pull)
    pull.set_defaults(command=_pull)
    remove = actions.add_parser("remove", help="delete an expert's weights from this computer")
    remove.add_argument("name", metavar="NAME")
    add_shared(remove)
    remove.set_defaults(command=_remove)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.assistant.fitting import readable_size
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        here = {item.id for item in app.weights.installed()}
        words = args.words.lower().split()
        found = [item for item in app.experts if all(word in _text(item) for word in words)]
        if args.json:
            records = [{"expert": item, "installed": item.id in here} for item in found]
            output.write_json(records)
            return output.DONE
        for item in found:
            mark = "✓" if item.id in here else " "
            size = ("" if item.verified else "~") + readable_size(item.download_mb)
            beyond = "" if app.catalogue.can_run(item) else "  (cannot run here yet)"
            output.say(f"{mark} {item.id:28} {size:>8}  {item.task}: {item.summary}{beyond}")
        if not found:
            output.say(f"No expert of the catalogue matches “{args.words}”.")
        return output.DONE

    return session.run(args, work)


def _text(expert: Expert) -> str:
    return f"{expert.id} {expert.repo} {expert.task} {expert.summary}".lower()


def _pull(args: argparse.Namespace) -> int:
    from pathlib import Path

    from jarvis_desktop.cli import session
    from jarvis_desktop.cli.progress import progress

    async def work(app: App) -> int:
        expert = _named(app, args.name)
        if not app.catalogue.can_run(expert):
            raise InputError(
                f"{expert.id} cannot be run by this version of JARVIS, so it is not fetched."
            )
        if args.folder:
            path = await app.weights.import_folder(expert, Path(args.folder))
        elif not app.policy.allows_downloads:
            raise InputError("The mode is offline, so nothing is fetched.", hint="Change the mode.")
        else:
            path = await app.weights.fetch(expert, progress())
        if args.json:
            output.write_json({"expert": expert, "folder": path})
        else:
            output.say(f"{expert.id} is ready.")
        return output.DONE

    return session.run(args, work)


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        expert = _named(app, args.name)
        freed = app.weights.remove(expert)
        if args.json:
            output.write_json({"expert": expert.id, "freed_bytes": freed})
        else:
            output.say(f"{expert.id} is removed; {freed / 1e6:.0f} MB are free again.")
        return output.DONE

    return session.run(args, work)


def _named(app: App, name: str) -> Expert:
    return app.catalogue.find(name)
