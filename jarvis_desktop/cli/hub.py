"""`experts search` and `experts refresh`: the shipped list and what is known of the whole Hub."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared, count
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import readable_size

if TYPE_CHECKING:
    from jarvis_desktop.catalogue.searching import Hit
    from jarvis_desktop.compose_app import App


def add(actions: Subparsers) -> None:
    """Add the two to the actions of `experts`."""
    search = actions.add_parser("search", help="find experts by words and by what they mean")
    search.add_argument("words", metavar="WORDS", nargs="+")
    search.add_argument("--task", metavar="TASK", help="of this task, such as translation")
    search.add_argument("--licence", metavar="PATTERN", help="with such a licence, as in “cc-by-*”")
    search.add_argument("--max-size", metavar="MB", type=count, help="no larger to download")
    search.add_argument("--language", metavar="CODE", help="that understands it, as in “sv”")
    search.add_argument("--fits", action="store_true", help="that find room in this computer")
    search.add_argument("--limit", metavar="N", type=count, default=20, help="at most so many")
    add_shared(search)
    search.set_defaults(command=_search)
    refresh = actions.add_parser("refresh", help="read the Hub's list of experts")
    refresh.add_argument(
        "--task", metavar="TASK", action="append", help="of this task alone; may be repeated"
    )
    refresh.add_argument("--all", action="store_true", help="read what is known again as well")
    add_shared(refresh)
    refresh.set_defaults(command=_refresh)


def _search(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        from jarvis_desktop.catalogue.searching import Sought

        _tasks(app, [args.task] if args.task else [])  # refuses what is no task
        hits = app.shelf.search(
            Sought(
                words=" ".join(args.words),
                task=args.task or "",
                licence=args.licence or "",
                max_mb=args.max_size or 0,
                language=args.language or "",
                fits=args.fits,
                limit=args.limit,
            )
        )
        if args.json:
            output.write_json([_record(hit) for hit in hits])
            return output.DONE
        for hit in hits:
            output.say(_line(hit))
        if not hits:
            output.say(f"No expert of the catalogue matches “{' '.join(args.words)}”.")
        if not app.hub.size:
            output.note("Only the shipped list was searched.")
            output.note("To search the whole Hub, read its list: jarvis-desktop experts refresh")
        return output.DONE

    return session.run(args, work)


def _record(hit: Hit) -> dict[str, Any]:
    return {
        "expert": hit.expert,
        "shipped": hit.shipped,
        "installed": hit.installed,
        "runs": hit.runs,
        "fits": hit.fit.runs,
    }


def _line(hit: Hit) -> str:
    expert = hit.expert
    size = readable_size(expert.download_mb) if expert.download_mb else "?"
    where = " or ".join({"here": "here", "api": "by API"}[each] for each in hit.runs)
    facts = [
        expert.licence or "licence unknown",
        f"{expert.downloads:,} downloads" if expert.downloads else "",
        f"runs {where}" if where else "cannot run here yet",
        "too large for this computer" if hit.fit.runs is False else "",
        "terms must be accepted on the Hub" if expert.gated else "",
    ]
    about = f"{'' if expert.verified else '~'}{size}"
    return (
        f"{'✓' if hit.installed else ' '} {expert.id:28} {about:>8}  {expert.task}: "
        f"{expert.summary} ({'; '.join(filter(None, facts))})"
    )


def _tasks(app: App, names: Iterable[str]) -> tuple[str, ...]:
    """The Hub's names of tasks. Raises InputError for one that neither it nor we have."""
    from jarvis_desktop.catalogue.hub import experts

    found: dict[str, None] = {}
    for name in names:
        tasks = experts.tasks_of(name)
        known = {*experts.PIPELINES, *app.inventory}
        if not tasks and name in known:
            raise InputError(f"The Hub has no list of experts for {name}.")
        if not tasks:
            near = difflib.get_close_matches(name, sorted(known), n=3)
            raise InputError(
                f"There is no task {name}.",
                hint=f"Did you mean {' or '.join(near)}?" if near else "",
            )
        found.update(dict.fromkeys(tasks))
    return tuple(found)


def _refresh(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session
    from jarvis_desktop.cli.progress import progress

    async def work(app: App) -> int:
        from jarvis_desktop.catalogue.hub import experts

        if not app.policy.allows_downloads:
            raise InputError(
                "The mode is offline, so the Hub is not asked.", hint="Change the mode."
            )
        tasks = _tasks(app, args.task or []) or experts.tasks_of_all(app.inventory)
        done = await app.hub_refresh.run(
            tasks,
            progress(),
            shipped=[item for item in app.experts if item.repo],
            known=app.hub.checks(),
            whole=args.all,
        )
        missing = {check.repo: check.complaint for check in done.checks if check.complaint}
        if args.json:
            output.write_json(
                {"read": done.read, "new": done.fresh, "known": app.hub.size, "missing": missing}
            )
            return output.DONE
        output.say(f"{done.read:,} entries were read, {done.fresh:,} of them new.")
        output.say(f"{app.hub.size:,} experts of the Hub are known.")
        for expert in app.experts:
            if complaint := missing.get(expert.repo):
                output.say(f"{expert.id} ({expert.repo}) is {complaint}.")
        return output.DONE

    return session.run(args, work)
