"""`history`: what was asked and answered."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared, count
from jarvis_desktop.cli.keyboard import agreed
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.turn import Conversation, Turn

if TYPE_CHECKING:
    from jarvis_desktop.compose import App

FORMS = ("json", "markdown", "text")


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    history = subparsers.add_parser("history", help="list, show, search, export, delete")
    actions = history.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the conversations, newest first")
    listing.add_argument("--limit", type=count, default=20, metavar="N")
    listing.set_defaults(command=_list)
    show = actions.add_parser("show", help="one conversation or turn")
    show.add_argument("id", help="its id, or the beginning of it; “last” is the newest", nargs="?")
    show.set_defaults(command=_show)
    search = actions.add_parser("search", help="turns that contain all of WORDS")
    search.add_argument("words", metavar="WORDS")
    search.add_argument("--limit", type=count, default=20, metavar="N")
    search.set_defaults(command=_search)
    export = actions.add_parser("export", help="write conversations out")
    export.add_argument("ids", nargs="*", metavar="ID", help="none: all of them")
    export.add_argument("--format", choices=FORMS, default="markdown")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    export.set_defaults(command=_export)
    delete = actions.add_parser("delete", help="delete conversations and their files for good")
    delete.add_argument("ids", nargs="*", metavar="ID")
    delete.add_argument("--all", action="store_true", help="everything")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    delete.set_defaults(command=_delete)
    for action in (listing, show, search, export, delete):
        add_shared(action)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        found = app.history.list(args.limit)
        if args.json:
            output.write_json(list(found))
        else:
            for item in found:
                turns = f"{item.turns} turn{'s' if item.turns != 1 else ''}"
                output.say(f"{item.id[:8]}  {output.when(item.last)}  {turns:>8}  {item.title}")
            if not found:
                output.say("Nothing has been asked yet.")
        return output.DONE

    return session.run(args, work)


def _show(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        wanted = args.id
        if wanted in (None, "last"):
            newest = app.history.list(1)
            if not newest:
                output.say("Nothing has been asked yet.") if not args.json else output.write_json(
                    None
                )
                return output.DONE
            wanted = newest[0].id
        found = app.history.show(wanted)
        if args.json:
            output.write_json(found)
        else:
            turns = found.turns if isinstance(found, Conversation) else (found,)
            output.say("\n\n".join(_lines(turn) for turn in turns))
        return output.DONE

    return session.run(args, work)


def _lines(turn: Turn) -> str:
    lines = [f"{output.when(turn.started)}  {turn.text}"]
    lines += [f"  given: {item.title}" for item in turn.attachments]
    for task in turn.plan or ():
        result = turn.results.get(task.id)
        how = f"{result.status.value} {result.reason}".strip() if result else "not started"
        lines.append(f"  {task.id} {task.type.title}: {how}")
    if turn.outline:
        lines += [f"  {line}" for line in turn.outline.markdown.split("\n")]
    for item in turn.rounds.values():
        how = item.status.value if item.status else "not finished"
        lines.append(f"  round {item.number} {item.path}: {item.branch}  {item.what}  ({how})")
    lines += [f"  {line}" for line in turn.reply.splitlines()]
    lines += [f"  {item.title}: {item.path}" for item in turn.artifacts if item.path]
    return "\n".join(lines)


def _search(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        found = app.history.search(args.words, args.limit)
        if args.json:
            output.write_json(list(found))
        else:
            for item in found:
                output.say(f"{item.turn_id[:8]}  {output.when(item.started)}  {item.snippet}")
            if not found:
                output.say(f"Nothing in the history has “{args.words}”.")
        return output.DONE

    return session.run(args, work)


def _export(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        text = app.history.export("json" if args.json else args.format, args.ids or None)
        if args.out:
            _write(args.out, text + "\n")
            output.note(f"saved   {args.out}")
        else:
            output.say(text)
        return output.DONE

    return session.run(args, work)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written: {output.reason(error)}.") from error


def _delete(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    if not args.ids and not args.all:
        output.note("jarvis-desktop history delete: name the conversations, or say --all.")
        return output.USAGE

    async def work(app: App) -> int:
        what = "the whole history" if args.all else f"{len(args.ids)} of the history"
        if not args.yes and not await agreed(f"Delete {what} and its files for good? [y/N]"):
            output.note("Nothing was deleted (--yes agrees in advance).")
            return output.FAILED
        count = app.history.delete(None if args.all else args.ids)
        if args.json:
            output.write_json({"deleted_turns": count})
        else:
            output.say(f"Deleted {count} turn{'s' if count != 1 else ''}.")
        return output.DONE

    return session.run(args, work)
