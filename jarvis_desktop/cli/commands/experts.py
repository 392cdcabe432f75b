"""`experts` lists, searches, fetches and removes experts, and keeps the key of the Hub."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import somebody_is_there, whole_input
from jarvis_desktop.cli.output import progress
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command, count
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert, times_real_time
from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts.catalogue import ExpertQuery
from jarvis_desktop.experts.hub import experts
from jarvis_desktop.experts.importing import identified
from jarvis_desktop.experts.verification import pickles_only
from jarvis_desktop.platform import api_keys
from jarvis_desktop.speech.voices.engine import import_voice

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.experts.catalogue import ExpertHit


def add_hub(actions: Subparsers) -> None:
    """Add `search` and `refresh` to the actions."""
    search = add_action(actions, "search", "find experts by words and by what they mean", _search)
    search.add_argument("words", metavar="WORDS", nargs="+")
    search.add_argument("--task", metavar="TASK", help="of this task, such as translation")
    search.add_argument(
        "--licence", metavar="PATTERN", help="with a matching licence, such as “cc-by-*”"
    )
    search.add_argument("--max-size", metavar="MB", type=count, help="the largest download")
    search.add_argument(
        "--language", metavar="CODE", help="that understands a language, such as “sv”"
    )
    search.add_argument("--fits", action="store_true", help="that fit on this computer")
    search.add_argument("--limit", metavar="N", type=count, default=20, help="the most results")
    refresh = add_action(actions, "refresh", "read the Hub's list of experts", _refresh)
    refresh.add_argument(
        "--task", metavar="TASK", action="append", help="of this task only; may be repeated"
    )
    refresh.add_argument("--all", action="store_true", help="read known entries again as well")


@app_command
async def _search(args: argparse.Namespace, app: Application) -> int:
    _tasks(app, [args.task] if args.task else [])  # refuses unknown tasks
    hits = app.expert_manager.search(
        ExpertQuery(
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


def _record(hit: ExpertHit) -> dict[str, Any]:
    return {
        "expert": hit.expert,
        "shipped": hit.shipped,
        "installed": hit.installed,
        "runs": hit.runs,
        "fits": hit.fit.runs,
    }


def _line(hit: ExpertHit) -> str:
    expert = hit.expert
    size = readable_size(expert.download_mb * MB) if expert.download_mb else "?"
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


def _tasks(app: Application, names: Iterable[str]) -> tuple[str, ...]:
    """The Hub's names of tasks. Raises InputError for unknown ones."""
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


@app_command
async def _refresh(args: argparse.Namespace, app: Application) -> int:
    if not app.policy.allows_downloads:
        raise InputError("The mode is offline, so the Hub is not asked.", hint="Change the mode.")
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


def add_key(actions: Any) -> None:
    """Add the commands for the key."""
    keys = add_actions(actions, "key", "the key for using experts over the network")
    for name, about, command in (
        ("set", "keep the Hub's key, typed unseen or read from stdin, in the keyring", _set),
        ("remove", "delete it from the keyring", _remove_key),
        ("test", "ask the Hub whose key it is, and what it may do", _test),
    ):
        add_action(keys, name, about, command)


def _set(args: argparse.Namespace) -> int:
    import getpass

    # Never an argument: every program sees those, and the shell's history keeps them.
    asked = "Key of the Hugging Face Hub (hf_…): "
    api_keys.keep_hub_key(getpass.getpass(asked) if somebody_is_there() else whole_input())
    if args.json:
        output.write_json({"key_for": api_keys.HUB})
    else:
        output.say("The key of the Hugging Face Hub is kept in the system's keyring.")
        output.note("note    Try it with: jarvis-desktop experts key test")
    return output.DONE


def _remove_key(args: argparse.Namespace) -> int:
    removed = api_keys.forget(api_keys.HUB)
    if args.json:
        output.write_json({"key_for": api_keys.HUB, "removed": removed})
    else:
        there = "is deleted" if removed else "was not in the keyring"
        output.say(f"The key of the Hugging Face Hub {there}.")
    return output.DONE


@app_command
async def _test(args: argparse.Namespace, app: Application) -> int:
    if not app.policy.allows_downloads:
        raise InputError("The mode is offline, so nothing is asked.", hint="Change the mode.")
    account = await app.api.account()
    if args.json:
        output.write_json({"account": account.name, "may_call": account.may_call})
    else:
        output.say(f"The key is taken; it is that of {account.name}.")
        if account.may_call is False:
            output.note(
                "note    It may not make calls to Inference Providers: give it that permission "
                "at https://huggingface.co/settings/tokens"
            )
    return output.PARTLY if account.may_call is False else output.DONE


def add_experts(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "experts", "list, search, fetch and remove experts")
    listing = add_action(actions, "list", "all experts, and which are on this computer", _list)
    listing.add_argument("--task", metavar="TASK", help="only those for a task")
    add_hub(actions)
    add_key(actions)
    pull = add_action(actions, "pull", "fetch an expert's weights", _pull, "NAME")
    pull.add_argument(
        "--from", dest="folder", metavar="FOLDER", help="take the weights from a folder instead"
    )
    pull.add_argument(
        "--pickle",
        action="store_true",
        help="take weights that only come as a pickle, a format that can carry code",
    )
    about = "take an expert's weights from a folder or ZIP file, or a voice from a folder"
    take = add_action(actions, "import", about, _import)
    take.add_argument("source", type=Path, metavar="FOLDER|ZIP")
    take.add_argument("--as", dest="name", metavar="NAME", help="which expert it is")
    about = "delete an expert's weights from this computer"
    add_action(actions, "remove", about, _remove, "NAME")


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    here = {item.id for item in app.weights.installed()}
    known = [item for item in app.catalogue.known() if args.task in (None, item.task, *item.also)]
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
        size = ("" if item.verified else "~") + readable_size(item.download_mb * MB)
        beyond = "" if app.catalogue.can_run(item) else "  (cannot run here yet)"
        if item.only_served:
            size, beyond = "network", ""
        gone = f"  ({gone})" if (gone := app.catalogue.complaint(item)) else ""
        pace = f" {_pace(item)}" if item.speed else ""
        words = f"{item.task}: {item.summary}{pace}{beyond}{gone}"
        output.say(f"{mark} {item.id:28} {size:>8}  {words}")
    return output.DONE


def _pace(expert: Expert) -> str:
    """The expected speed of a recogniser, in words."""
    times = times_real_time(expert.speed, os.cpu_count() or 1)
    return f"About {times:.0f} times as fast as people speak on a processor like this one."


@app_command
async def _pull(args: argparse.Namespace, app: Application) -> int:
    expert = app.catalogue.find(args.name)
    _check_use(app, expert)
    if expert.pickled and not args.pickle:
        raise pickles_only(expert, args.folder)
    expert = replace(expert, pickled=args.pickle)
    if args.folder is not None:
        if not args.folder:  # Path takes it for the current folder
            raise InputError("There is no folder without a name.")
        path = await app.weights.import_folder(expert, Path(args.folder))
    elif not app.policy.allows_downloads:
        raise InputError("The mode is offline, so nothing is fetched.", hint="Change the mode.")
    else:
        try:
            await app.expert_manager.fetch_engine(expert, progress())
            path = await app.weights.fetch(expert, progress())
        except asyncio.CancelledError:
            output.note(
                "The part already downloaded is kept; the same command resumes the download."
            )
            raise
    _note_engine(app, expert)
    return output.result(args, {"expert": expert, "folder": path}, f"{expert.id} is ready.")


def _check_use(app: Application, expert: Expert) -> None:
    """Refuse weights that would be of no use."""
    if expert.only_served:
        raise InputError(
            f"{expert.id} runs behind an API alone: there is nothing of it to fetch.",
            hint="It is asked over the network in the modes hybrid and lite.",
        )
    if not app.catalogue.can_run(expert):
        raise InputError(
            f"{expert.id} cannot be run by this version of JARVIS, so it is not fetched."
        )


def _note_engine(app: Application, expert: Expert) -> None:
    if app.weights.missing(expert):
        output.note("note    It runs when torch is installed: jarvis-desktop engine install")


@app_command
async def _import(args: argparse.Namespace, app: Application) -> int:
    if args.name:
        expert = app.catalogue.find(args.name)
    elif engine := await asyncio.to_thread(import_voice, args.source, app.paths.weights):
        return output.result(
            args,
            {"engine": engine, "folder": app.paths.weights / engine},
            f'{engine} is ready; it speaks with engine = "{engine}" under [speech].',
        )
    else:
        expert = await asyncio.to_thread(identified, args.source, app.catalogue.known())
    _check_use(app, expert)
    before = app.weights.folder(expert)
    path = await app.weights.import_folder(expert, args.source)
    _note_engine(app, expert)
    return output.result(
        args,
        {"expert": expert, "folder": path, "replaced": before is not None},
        f"{expert.id} is {'replaced' if before else 'ready'}.",
    )


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    expert = app.catalogue.find(args.name)
    freed = app.weights.remove(expert)
    return output.result(
        args,
        {"expert": expert.id, "freed_bytes": freed},
        f"{expert.id} is removed; {readable_size(freed)} are free again.",
    )
