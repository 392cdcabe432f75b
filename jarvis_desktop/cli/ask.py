"""`ask`: one request, answered. `run`: a plan that is given."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import first_start, output, results, resume
from jarvis_desktop.cli.arguments import Subparsers, add_mode, add_shared, add_yes
from jarvis_desktop.cli.interrupting import stoppable
from jarvis_desktop.cli.keyboard import whole_input
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import encodable
from jarvis_desktop.core.turn import Request
from jarvis_desktop.core.wire import plan_from_wire

if TYPE_CHECKING:
    from jarvis_desktop.paths import Paths
    from jarvis_desktop.settings import Settings


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    ask = subparsers.add_parser(
        "ask",
        help="answer one request",
        description="Answer one request. With no TEXT, the one recording among the files is it.",
    )
    ask.add_argument("text", nargs="?", default="", help="the request; - reads it from stdin")
    add_conversation_arguments(ask)
    add_turn_arguments(ask)
    add_yes(ask)
    ask.set_defaults(command=_ask)
    run = subparsers.add_parser(
        "run",
        help="run a given plan",
        description="Run a plan in the form that `plan --json` prints.",
    )
    run.add_argument("plan", type=Path, metavar="PLAN.json", help="the plan; - reads stdin")
    add_turn_arguments(run)
    add_yes(run)
    run.set_defaults(command=_run_plan)


def add_conversation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is for a request in words: how it is answered, and in which conversation."""
    parser.add_argument("--speak", action="store_true", help="speak the answer too")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--new", action="store_true", help="begin a new conversation")
    which.add_argument("--conversation", metavar="ID", help="carry on with this conversation")
    which.add_argument(
        "--unkept",
        action="store_true",
        help="keep nothing of it on the disk; --out saves the files that it makes",
    )


def add_turn_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every command has that runs a turn."""
    parser.add_argument(
        "--file",
        "-f",
        dest="files",
        action="append",
        default=[],
        type=Path,
        metavar="F",
        help="a file it is about; may be given more than once",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="copy the resulting files there")
    add_mode(parser)
    add_shared(parser)
    parser.add_argument(
        "--events", action="store_true", help="one JSON event per line on stdout, as they happen"
    )


def _ask(args: argparse.Namespace) -> int:
    text = whole_input() if args.text == "-" else encodable(args.text)
    if not text.strip() and not args.files:
        output.note("jarvis-desktop ask: say what you would like, or give a file with --file.")
        return output.USAGE
    request = Request(text=text, files=tuple(args.files), speak=args.speak, folder=Path.cwd())
    return handle(args, request)


def _run_plan(args: argparse.Namespace) -> int:
    name = str(args.plan)
    try:
        text = whole_input() if name == "-" else args.plan.read_text(encoding="utf-8")
        document = json.loads(text)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {name}.") from error
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{name} is not a plan: it is not JSON.") from error
    if isinstance(document, dict) and "plan" in document:
        document = document["plan"]
    request = Request(files=tuple(args.files), folder=Path.cwd())
    return handle(args, request, plan=document)


def handle(
    args: argparse.Namespace,
    request: Request,
    plan: object = None,
    *,
    loaded: tuple[Settings, Paths] | None = None,
) -> int:
    """Answer a request, or run a plan in its JSON form; gives the exit code."""
    from jarvis_desktop.cli import session
    from jarvis_desktop.compose_app import App

    loaded = loaded or session.load(args)
    if args.out:
        results.make_folder(args.out)

    async def work(app: App) -> int:
        resume.tell(app)
        frontend = TerminalFrontend(
            quiet=args.json, events_as_json=args.events, consent=getattr(args, "yes", None)
        )
        known = session.conversation(app, loaded[0].conversation_minutes, args)
        given = None if plan is None else plan_from_wire(plan, app.inventory)
        with stoppable(app.assistant.interrupt):
            turn = await app.assistant.handle(request, frontend, conversation=known, plan=given)
        code = output.exit_code(turn.status)
        if args.out and not results.copy_out(turn, args.out):
            code = output.PARTLY if code == output.DONE else code
        frontend.end(turn)
        if plan is None and request.terms is None and not (args.json or args.events):
            await first_start.tell_once(app)
        return code

    return session.run(args, work, loaded=loaded)
