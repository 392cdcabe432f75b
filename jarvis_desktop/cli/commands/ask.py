"""`ask` answers a request, `run` runs a plan, `resume` finishes an interrupted request.

Without a command and without a screen, users converse in the terminal.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.input import KEYBOARD, somebody_is_there, stoppable, whole_input
from jarvis_desktop.cli.session import (
    Subparsers,
    add_mode,
    add_shared,
    add_yes,
    app_command,
    offer_llm,
)
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.serialization import plan_from_wire
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import shipped

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.paths import Paths
    from jarvis_desktop.settings import Settings


def add_resume(subparsers: Subparsers) -> None:
    """Add the command."""
    resume = subparsers.add_parser(
        "resume",
        help="resume an interrupted request",
        description="Resume a request that a crash or a power cut interrupted. Finished steps "
        "are not repeated.",
    )
    resume.add_argument(
        "id", nargs="?", help="its id, or the beginning of it; optional if there is only one"
    )
    instead = resume.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="only list interrupted requests")
    instead.add_argument(
        "--drop", action="store_true", help="give it up; the history keeps what was done"
    )
    add_yes(resume)
    add_mode(resume)
    add_shared(resume)
    resume.add_argument(
        "--events", action="store_true", help="one JSON event per line on stdout, as they happen"
    )
    resume.set_defaults(command=_resume)


def report_unfinished(app: Application) -> None:
    """Report interrupted requests on one line, if there are any."""
    with suppress(JarvisError):  # the command itself will report the problem
        left = app.assistant.unfinished()
        if len(left) == 1:
            output.note(
                f"note    {_title(left[0])} was interrupted ({left[0].progress}). "
                "Resume it with: jarvis-desktop resume"
            )
        elif left:
            output.note(
                f"note    {len(left)} requests were interrupted. See: jarvis-desktop resume --list"
            )


@app_command
async def _resume(args: argparse.Namespace, app: Application) -> int:
    left = app.assistant.unfinished()
    if args.list or not (left or args.id):
        return _list(left, as_json=args.json)
    chosen = _choose(left, args.id, elsewhere=app.assistant.elsewhere())
    frontend = TerminalFrontend(quiet=args.json, events_as_json=args.events, consent=args.yes)
    if args.drop:
        turn = app.assistant.give_up(chosen)
        if not args.json:
            output.say(f"Given up: {_title(chosen)}. The history has it as {turn.id[:8]}.")
    else:
        with stoppable(app.assistant.interrupt):
            turn = await app.assistant.resume(chosen, frontend)
    if args.json or not args.drop:
        frontend.end(turn)
    return output.DONE if args.drop else output.exit_code(turn.status)


def _list(left: Sequence[Unfinished], *, as_json: bool) -> int:
    if as_json:
        output.write_json([_to_json(item) for item in left])
        return output.DONE
    for item in left:
        turn = item.turn
        can = item.goal or item.unplanned or turn.plan is not None
        stuck = "" if can else "; it can only be given up (--drop)"
        started = output.format_time(turn.started)
        output.say(f"{turn.id[:8]}  {started}  {_title(item)}: {item.progress}{stuck}")
    if not left:
        output.say("Nothing was interrupted.")
    return output.DONE


def _to_json(item: Unfinished) -> dict[str, object]:
    turn = item.turn
    return {
        "turn": turn.id,
        "conversation": item.conversation,
        "started": turn.started,
        "text": turn.text,
        "goal": item.goal,
        "done": sorted(turn.results),
        "plan": turn.plan,
    }


def _choose(
    left: Sequence[Unfinished], prefix: str | None, *, elsewhere: Collection[str] = ()
) -> Unfinished:
    found = [item for item in left if prefix is None or item.turn.id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if not found and any(turn_id.startswith(prefix or "") for turn_id in elsewhere):
        raise InputError(
            f"The request '{one_line(str(prefix))}' is being worked on elsewhere.",
            hint="Wait for it there, or end it there and try again.",
        )
    if not found:
        raise InputError(f"No interrupted request has the id '{one_line(str(prefix))}'.")
    ids = ", ".join(item.turn.id[:8] for item in found)
    raise InputError(f"Several requests were interrupted: {ids}.", hint="Say which one, by its id.")


def _title(item: Unfinished) -> str:
    words = one_line(item.turn.text, limit=60)
    return f"“{words}”" if words else "A plan"


def add_ask(subparsers: Subparsers) -> None:
    """Add the commands."""
    ask = subparsers.add_parser(
        "ask",
        help="answer one request",
        description="Answer one request. With no TEXT, the one recording among the files is it.",
    )
    ask.add_argument(
        "text", nargs="*", default=[], help="the request, then files if any; - reads it from stdin"
    )
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
    """Add the options of a request in words: how it is answered, and in which conversation."""
    parser.add_argument("--speak", action="store_true", help="speak the answer too")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--new", action="store_true", help="begin a new conversation")
    which.add_argument("--conversation", metavar="ID", help="continue this conversation")
    which.add_argument(
        "--unkept",
        action="store_true",
        help="save nothing of it on the disk; --out saves the resulting files",
    )


def add_turn_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that runs a turn."""
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
    # In `ask "translate this" letter.txt` the last words are files.
    words, files = list(args.text), list(args.files)
    while len(words) > 1 and Path(words[-1]).is_file():
        files.insert(len(args.files), Path(words.pop()))
    text = whole_input() if words == ["-"] else encodable(" ".join(words))
    if not text.strip() and not files:
        output.note("jarvis-desktop ask: say what you would like, or give a file with --file.")
        return output.USAGE
    request = Request(text=text, files=tuple(files), speak=args.speak, folder=Path.cwd())
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
    """Answer a request, or run a plan in its JSON form. Return the exit code."""
    loaded = loaded or session.load(args)
    if args.out:
        output.make_folder(args.out)

    async def work(app: Application) -> int:
        report_unfinished(app)
        frontend = TerminalFrontend(
            quiet=args.json, events_as_json=args.events, consent=getattr(args, "yes", None)
        )
        known = session.conversation(app, loaded[0].conversation_minutes, args)
        given = None if plan is None else plan_from_wire(plan, app.inventory)
        with stoppable(app.assistant.interrupt):
            turn = await app.assistant.handle(request, frontend, conversation=known, plan=given)
        code = output.exit_code(turn.status)
        if args.out and not output.copy_out(turn, args.out):
            code = output.PARTLY if code == output.DONE else code
        frontend.end(turn)
        if plan is None and request.terms is None and not (args.json or args.events):
            await session.offer_llm(app)
        return code

    return session.run(args, work, loaded=loaded)


GREETING = """\
JARVIS Desktop. Type a request, or press Enter on an empty line to talk.
Files: name them in the request, by their path if they are not here. Ctrl-D ends.
A goal that takes several steps, with code where it helps: /agent GOAL
Try: What can you do?"""

AGENT = "/agent"
"""The prefix of a line that makes it a goal for agent mode."""


def start(args: argparse.Namespace) -> int:
    """Converse in the terminal; without one, answer the sample request."""
    return _converse(args) if somebody_is_there() else _sample(args)


@app_command
async def _converse(args: argparse.Namespace, app: Application) -> int:
    await app.start()
    output.note(GREETING)
    report_unfinished(app)
    known = app.history.open_conversation().id
    code = output.DONE
    while (line := await _line()) is not None:
        code = await _turn(app, line, known)
        await offer_llm(app)
    return code


async def _turn(app: Application, line: str, conversation: str) -> int:
    from jarvis_desktop.cli.commands.speech import answer_until_enter

    if not line.strip():
        return await answer_until_enter(app, conversation)
    text, terms = line, None
    if line.strip() == AGENT or line.startswith(f"{AGENT} "):
        text, terms = line.removeprefix(AGENT).strip(), Terms()
        if not text:
            output.note(f"Say after {AGENT} what is to be reached.")
            return output.USAGE
    request = Request(text=text, folder=Path.cwd(), terms=terms)
    frontend = TerminalFrontend()
    with stoppable(app.assistant.interrupt):
        turn = await app.assistant.handle(request, frontend, conversation=conversation)
    frontend.end(turn)
    return output.exit_code(turn.status)


async def _line() -> str | None:
    output.prompt("you> ")
    return await KEYBOARD.line()


@app_command
async def _sample(args: argparse.Namespace, app: Application) -> int:
    output.note("No screen and no terminal: this is the sample request, stage by stage.")
    request = Request(
        audio=shipped("resources", "sample", "request.wav"),
        files=(shipped("resources", "sample", "letter.png"),),
        speak=True,
    )
    frontend = TerminalFrontend()
    turn = await app.assistant.handle(request, frontend)
    frontend.end(turn)
    return output.exit_code(turn.status)
