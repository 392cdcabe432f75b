"""`experts`: the catalogue, and what of it is on this computer."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import hub, key, output
from jarvis_desktop.cli.arguments import Subparsers, add_shared
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert, times_real_time
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.shown import one_line, readable_size

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    experts = subparsers.add_parser("experts", help="list, search, fetch and remove experts")
    actions = experts.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all experts, and which are on this computer")
    listing.add_argument("--task", metavar="TASK", help="only those for a task")
    add_shared(listing)
    listing.set_defaults(command=_list)
    hub.add(actions)
    key.add(actions)
    pull = actions.add_parser("pull", help="fetch an expert's weights")
    pull.add_argument("name", metavar="NAME")
    pull.add_argument(
        "--from", dest="folder", metavar="FOLDER", help="take the weights from a folder instead"
    )
    add_shared(pull)
    pull.add_argument(
        "--pickle",
        action="store_true",
        help="take weights that only come as a pickle, a format that can carry code",
    )
    pull.set_defaults(command=_pull)
    take = actions.add_parser("import", help="take an expert's weights from a folder or ZIP file")
    take.add_argument("source", type=Path, metavar="FOLDER|ZIP")
    take.add_argument("--as", dest="name", metavar="NAME", help="which expert it is")
    add_shared(take)
    take.set_defaults(command=_import)
    remove = actions.add_parser("remove", help="delete an expert's weights from this computer")
    remove.add_argument("name", metavar="NAME")
    add_shared(remove)
    remove.set_defaults(command=_remove)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        here = {item.id for item in app.weights.installed()}
        known = [
            item for item in app.catalogue.known() if args.task in (None, item.task, *item.also)
        ]
        if not known:
            raise InputError(
                f"There is no expert for {one_line(args.task)} in the list.",
                hint="The README lists the tasks.",
            )
        if args.json:
            output.write_json(
                [
                    {
                        "expert": item,
                        "installed": item.id in here,
                        "times_real_time": times_real_time(item.speed, os.cpu_count() or 1) or None,
                        "complaint": app.catalogue.complaint(item),
                    }
                    for item in known
                ]
            )
            return output.DONE
        for item in known:
            mark = "✓" if item.id in here else " "
            size = ("" if item.verified else "~") + readable_size(item.download_mb)
            beyond = "" if app.catalogue.can_run(item) else "  (cannot run here yet)"
            if item.only_served:
                size, beyond = "network", ""
            gone = f"  ({gone})" if (gone := app.catalogue.complaint(item)) else ""
            pace = f" {_pace(item)}" if item.speed else ""
            words = f"{item.task}: {item.summary}{pace}{beyond}{gone}"
            output.say(f"{mark} {item.id:28} {size:>8}  {words}")
        return output.DONE

    return session.run(args, work)


def _pace(expert: Expert) -> str:
    """How fast a recogniser will be, in words."""
    times = times_real_time(expert.speed, os.cpu_count() or 1)
    return f"About {times:.0f} times as fast as people speak on a processor like this one."


def _pull(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from jarvis_desktop.catalogue.delivery import pickles_only
    from jarvis_desktop.cli import session
    from jarvis_desktop.cli.progress import progress

    async def work(app: App) -> int:
        expert = app.catalogue.find(args.name)
        _check_use(app, expert)
        if expert.pickled and not args.pickle:
            raise pickles_only(expert, args.folder)
        expert = replace(expert, pickled=args.pickle)
        if args.folder is not None:
            if not args.folder:  # Path takes it for the folder that one is in
                raise InputError("There is no folder without a name.")
            path = await app.weights.import_folder(expert, Path(args.folder))
        elif not app.policy.allows_downloads:
            raise InputError("The mode is offline, so nothing is fetched.", hint="Change the mode.")
        else:
            try:
                path = await app.weights.fetch(expert, progress())
            except asyncio.CancelledError:
                output.note("What arrived is kept; the same command goes on with it.")
                raise
        if args.json:
            output.write_json({"expert": expert, "folder": path})
        else:
            output.say(f"{expert.id} is ready.")
        return output.DONE

    return session.run(args, work)


def _check_use(app: App, expert: Expert) -> None:
    """Refuse what would lie on the disk for nothing."""
    if expert.only_served:
        raise InputError(
            f"{expert.id} runs behind an API alone: there is nothing of it to fetch.",
            hint="It is asked over the network in the modes hybrid and lite.",
        )
    if not app.catalogue.can_run(expert):
        raise InputError(
            f"{expert.id} cannot be run by this version of JARVIS, so it is not fetched."
        )


def _import(args: argparse.Namespace) -> int:
    from jarvis_desktop.catalogue.importing import identified
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        if args.name:
            expert = app.catalogue.find(args.name)
        else:
            expert = await asyncio.to_thread(identified, args.source, app.catalogue.known())
        _check_use(app, expert)
        before = app.weights.folder(expert)
        path = await app.weights.import_folder(expert, args.source)
        if args.json:
            output.write_json({"expert": expert, "folder": path, "replaced": before is not None})
        else:
            output.say(f"{expert.id} is {'replaced' if before else 'ready'}.")
        return output.DONE

    return session.run(args, work)


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        expert = app.catalogue.find(args.name)
        freed = app.weights.remove(expert)
        if args.json:
            output.write_json({"expert": expert.id, "freed_bytes": freed})
        else:
            output.say(f"{expert.id} is removed; {readable_size(freed / MB)} are free again.")
        return output.DONE

    return session.run(args, work)
