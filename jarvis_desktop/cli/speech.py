"""`transcribe`, `say` and `listen`: the voice on its own."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path

from jarvis_desktop.assistant.speakable import speakable
from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_mode, add_shared
from jarvis_desktop.cli.keyboard import whole_input
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.events import Event, Noted
from jarvis_desktop.core.shown import encodable, one_line


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    transcribe = subparsers.add_parser("transcribe", help="write down what recordings say")
    transcribe.add_argument("audio", nargs="+", type=Path, metavar="AUDIO")
    add_shared(transcribe)
    transcribe.set_defaults(command=_transcribe)
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


def _transcribe(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session
    from jarvis_desktop.compose import App

    async def work(app: App) -> int:
        done = 0
        records: list[dict[str, object]] = []
        for path in args.audio:
            try:
                _check(path)
                heard = await app.recogniser.transcribe(path, _quiet)
            except JarvisError as error:
                records.append({"file": str(path), "error": str(error)})
                output.note(f"failed  {one_line(path.name)}: {error}")
                continue
            done += 1
            records.append({"file": str(path), "transcript": heard})
            if heard.note and done == 1:
                output.note(f"note    {heard.note}")
            if not args.json:
                output.say(heard.text if len(args.audio) == 1 else f"{path.name}: {heard.text}")
        if args.json:
            output.write_json(records)
        return _code(done, len(args.audio))

    return session.run(args, work)


def _check(path: Path) -> None:
    """Refuse what is no ordinary file. It is read where it is: no copy of a voice is kept."""
    shown = one_line(path.name or str(path))
    try:
        status = path.lstat()
    except FileNotFoundError as error:
        raise InputError(f"There is no file {shown}.", hint="Check its name.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{shown} cannot be opened: {output.reason(error)}.") from error
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"{shown} is a link; give the file itself.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{shown} is not a file.")
    if not status.st_size:
        raise InputError(f"{shown} is empty.")


def _code(done: int, count: int) -> int:
    return output.DONE if done == count else output.PARTLY if done else output.FAILED


def _quiet(fraction: float | None, message: str) -> None:
    if fraction is None and message:
        output.note(f"        {message}")


def _say(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session
    from jarvis_desktop.compose import App

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
    from jarvis_desktop.compose import App

    loaded = session.load(args)

    async def work(app: App) -> int:
        known = session.conversation(app, loaded[0].conversation_minutes, args)
        return await converse(app, known, once=args.once, as_json=args.json)

    return session.run(args, work, loaded=loaded)
