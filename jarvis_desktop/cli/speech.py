"""`say` and `listen`: the voice on its own."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_desktop.assistant.speakable import speakable
from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_mode, add_shared
from jarvis_desktop.cli.keyboard import whole_input
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.events import Event, Noted
from jarvis_desktop.core.shown import encodable


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    say = subparsers.add_parser("say", help="speak a text")
    say.add_argument("text", help="what to say; - reads it from stdin")
    say.add_argument("--out", type=Path, metavar="F.wav", help="write a file, play nothing")
    add_shared(say)
    say.set_defaults(command=_say)
    listen = subparsers.add_parser(
        "listen",
        help="talk in the terminal",
        description="Hold the space bar and speak, or press Enter to start and again to stop. "
        "Ctrl-D ends.",
    )
    listen.add_argument("--once", action="store_true", help="end after one request")
    listen.add_argument("--new", action="store_true", help="begin a new conversation")
    add_mode(listen)
    add_shared(listen)
    listen.set_defaults(command=_listen)


def _say(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session
    from jarvis_desktop.compose_app import App

    text = whole_input() if args.text == "-" else encodable(args.text)
    if not text.strip():
        output.note("jarvis-desktop say: there is nothing to say.")
        return output.USAGE

    async def work(app: App) -> int:
        if args.out:
            if args.out.is_dir() or not args.out.absolute().parent.is_dir():
                raise InputError(f"{args.out} is not a place for a file.")
            await app.voice.synthesise(speakable(text), args.out.absolute())
            output.note(f"saved   {args.out}")
        else:
            problems: list[str] = []
            await app.speaker.say(text, lambda event: _note_problem(event, problems))
            if problems:
                raise UnavailableError(problems[0])
        if args.json:
            output.write_json({"text": text, "file": str(args.out) if args.out else None})
        return output.DONE

    return session.run(args, work)


def _note_problem(event: Event, problems: list[str]) -> None:
    if isinstance(event, Noted):
        problems.append(event.text)


def _listen(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session
    from jarvis_desktop.cli.push_to_talk import converse
    from jarvis_desktop.compose_app import App

    loaded = session.load(args)

    async def work(app: App) -> int:
        known = session.conversation(app, loaded[0].conversation_minutes, args)
        return await converse(app, known, once=args.once, as_json=args.json)

    return session.run(args, work, loaded=loaded)
