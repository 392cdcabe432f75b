"""`history` shows and manages conversations."""

from __future__ import annotations

import argparse
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.input import agreed
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command, count
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.search import TurnFilters

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.storage.export import Form
    from jarvis_desktop.storage.search import TurnFilters

FORMS = ("json", "markdown", "text", "html")
MEDIA = ("none", "folder", "inside")


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "history", "list, show, search, export, import, delete …")
    action = partial(add_action, actions)
    listing = action("list", "the conversations, pinned ones and newest first", _list)
    listing.add_argument("--limit", type=count, default=20, metavar="N")
    show = action("show", "one conversation or turn", _show)
    show.add_argument("id", help="its id, or the beginning of it; “last” is the newest", nargs="?")
    _add_search(action("search", "turns that contain all of WORDS", _search))
    export = action("export", "write conversations out", _export)
    export.add_argument("ids", nargs="*", metavar="ID", help="none: all of them")
    export.add_argument("--format", choices=FORMS, default="markdown")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    export.add_argument(
        "--media",
        choices=MEDIA,
        default="none",
        help="pictures and other files: in a folder beside FILE, or inside of a page (html)",
    )
    imported = action("import", "read conversations that were exported as JSON", _import)
    imported.add_argument("file", type=Path, metavar="FILE")
    delete = action("delete", "delete conversations and their files for good", _delete)
    delete.add_argument("ids", nargs="*", metavar="ID")
    delete.add_argument("--all", action="store_true", help="everything")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    action("rename", "give a conversation another title", _rename, "ID", "TITLE")
    pin = action("pin", "list a conversation first, or mark a turn", _pin, "ID")
    pin.add_argument("--off", action="store_true", help="unpin it")


def _add_search(search: argparse.ArgumentParser) -> None:
    search.add_argument("words", metavar="WORDS", nargs="?", default="")
    search.add_argument("--limit", type=count, default=20, metavar="N")
    kinds = [kind.value for kind in Kind if kind is not Kind.TEXT]
    search.add_argument("--kind", choices=kinds, help="with a file of this kind")
    search.add_argument("--expert", metavar="NAME", help="with an expert whose id has NAME")
    search.add_argument("--attached", action="store_true", help="with something attached")
    search.add_argument("--pinned", action="store_true", help="only what is pinned")
    search.add_argument("--since", type=_day, metavar="YYYY-MM-DD")
    search.add_argument("--until", type=_day, metavar="YYYY-MM-DD", help="the last day")


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    found = app.history.list(args.limit)
    if args.json:
        output.write_json(list(found))
    else:
        for item in found:
            turns = f"{item.turns} turn{'s' if item.turns != 1 else ''}"
            title = f"{'* ' if item.pinned else ''}{item.title}"
            output.say(f"{item.id[:8]}  {output.format_time(item.last)}  {turns:>8}  {title}")
        if not found:
            output.say("Nothing has been asked yet.")
    return output.DONE


@app_command
async def _show(args: argparse.Namespace, app: Application) -> int:
    wanted = args.id
    if wanted in (None, "last"):
        wanted = app.history.newest()
        if wanted is None:
            output.say("Nothing has been asked yet.") if not args.json else output.write_json(None)
            return output.DONE
    found = app.history.show(wanted)
    if args.json:
        output.write_json(found)
    else:
        turns = found.turns if isinstance(found, Conversation) else (found,)
        output.say("\n\n".join(_lines(turn) for turn in turns))
    return output.DONE


def _lines(turn: Turn) -> str:
    lines = [f"{output.format_time(turn.started)}  {turn.text}"]
    lines += [f"  given: {item.title}" for item in turn.attachments]
    for task in turn.plan or ():
        result = turn.results.get(task.id)
        how = f"{result.status.value} {result.reason}".strip() if result else "not started"
        lines.append(f"  {task.id} {task.type.called}: {how}")
    if turn.outline:
        lines += [f"  {line}" for line in turn.outline.markdown.split("\n")]
    for item in turn.rounds.values():
        how = item.status.value if item.status else "not finished"
        lines.append(f"  round {item.number} {item.path}: {item.branch}  {item.what}  ({how})")
    lines += [f"  {line}" for line in turn.reply.splitlines()]
    lines += [f"  {item.title}: {item.path}" for item in turn.artifacts if item.path]
    return "\n".join(lines)


@app_command
async def _search(args: argparse.Namespace, app: Application) -> int:
    filters = _filters(args, app)
    found = app.history.search(args.words, args.limit, filters=filters)
    if args.json:
        output.write_json(list(found))
    else:
        for item in found:
            output.say(f"{item.turn_id[:8]}  {output.format_time(item.started)}  {item.snippet}")
        if not found:
            output.say(f"Nothing in the history has “{args.words}”.")
    return output.DONE


def _filters(args: argparse.Namespace, app: Application) -> TurnFilters:
    wanted = (args.expert or "").casefold()
    experts = tuple(name for name in app.history.experts() if wanted and wanted in name.casefold())
    return TurnFilters(
        Kind(args.kind) if args.kind else None,
        experts or ((args.expert,) if args.expert else ()),
        args.attached,
        args.pinned,
        args.since,
        args.until,
    )


def _export(args: argparse.Namespace) -> int:
    form: Form = "json" if args.json else args.format
    if not args.out and (form == "html" or args.media != "none"):
        output.note("jarvis-desktop history export: say with --out where to.")
        return output.USAGE

    async def work(app: Application) -> int:
        if not args.out:
            output.say(app.history.export(form, args.ids or None))
            return output.DONE
        ids = args.ids or None
        done = await app.history.export_to(args.out, form, ids, media=args.media)
        output.note(f"saved   {args.out}")
        if done.missing:
            output.note(f"note    {_counted(done.missing, 'file')} could not be written along")
        return output.PARTLY if done.missing else output.DONE

    return session.run(args, work)


@app_command
async def _import(args: argparse.Namespace, app: Application) -> int:
    done = await app.history.import_from(args.file)
    if args.json:
        output.write_json(done)
    else:
        read, turns = _counted(done.conversations, "conversation"), _counted(done.turns, "turn")
        output.say(f"Read {read} with {turns}; {done.skipped} were there already.")
    if done.missing:
        output.note(f"note    {_counted(done.missing, 'file')} were not with it")
    return output.PARTLY if done.missing else output.DONE


def _delete(args: argparse.Namespace) -> int:
    if not args.ids and not args.all:
        output.note("jarvis-desktop history delete: name the conversations, or say --all.")
        return output.USAGE

    async def work(app: Application) -> int:
        what = "the whole history" if args.all else f"{len(args.ids)} of the history"
        if not args.yes and not await agreed(f"Delete {what} and its files for good? [y/N]"):
            output.note("Nothing was deleted (--yes agrees in advance).")
            return output.FAILED
        count = app.history.delete(None if args.all else args.ids)
        if args.all:
            app.dictation.log.clear()
        return output.result(args, {"deleted_turns": count}, f"Deleted {_counted(count, 'turn')}.")

    return session.run(args, work)


@app_command
async def _rename(args: argparse.Namespace, app: Application) -> int:
    _, found = app.history.resolve(args.id)
    app.history.rename(found, args.title)
    return output.result(args, {"id": found, "title": args.title}, "It has the new title.")


@app_command
async def _pin(args: argparse.Namespace, app: Application) -> int:
    table, found = app.history.resolve(args.id)
    pin = app.history.pin if table == "conversations" else app.history.pin_turn
    pin(found, not args.off)
    words = "It is not pinned any more." if args.off else "It is pinned."
    return output.result(args, {"id": found, "pinned": not args.off}, words)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2026-05-31") from None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
