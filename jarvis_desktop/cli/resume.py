"""`resume`: goes on with a request that a crash or a power cut ended, where it stopped."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_mode, add_shared, add_yes
from jarvis_desktop.cli.interrupting import stoppable
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.shown import one_line

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    resume = subparsers.add_parser(
        "resume",
        help="go on with a request that was cut off",
        description="Go on with a request that a crash or a power cut ended. What was done of it "
        "is not done again.",
    )
    resume.add_argument(
        "id", nargs="?", help="its id, or the beginning of it; need not be said where it is the one"
    )
    instead = resume.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="only list what was cut off")
    instead.add_argument(
        "--drop", action="store_true", help="give it up: the history keeps what was done of it"
    )
    add_yes(resume)
    add_mode(resume)
    add_shared(resume)
    resume.add_argument(
        "--events", action="store_true", help="one JSON event per line on stdout, as they happen"
    )
    resume.set_defaults(command=_resume)


def tell(app: App) -> None:
    """Say on one line that something was cut off, where something was."""
    with suppress(JarvisError):  # what keeps from looking is told by what was asked for
        left = app.assistant.unfinished()
        if len(left) == 1:
            output.note(
                f"note    {_title(left[0])} was cut off ({left[0].progress}). "
                "Go on with it: jarvis-desktop resume"
            )
        elif left:
            output.note(
                f"note    {len(left)} requests were cut off. See: jarvis-desktop resume --list"
            )


def _resume(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        left = app.assistant.unfinished()
        if args.list or not (left or args.id):
            return _list(left, as_json=args.json)
        chosen = _chosen(left, args.id, elsewhere=app.assistant.elsewhere())
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

    return session.run(args, work)


def _list(left: Sequence[Unfinished], *, as_json: bool) -> int:
    if as_json:
        output.write_json([_listed(item) for item in left])
        return output.DONE
    for item in left:
        turn = item.turn
        stuck = "" if item.goal or turn.plan is not None else "; it can only be given up (--drop)"
        output.say(
            f"{turn.id[:8]}  {output.when(turn.started)}  {_title(item)}: {item.progress}{stuck}"
        )
    if not left:
        output.say("Nothing was cut off.")
    return output.DONE


def _listed(item: Unfinished) -> dict[str, object]:
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


def _chosen(
    left: Sequence[Unfinished], prefix: str | None, *, elsewhere: Collection[str] = ()
) -> Unfinished:
    found = [item for item in left if prefix is None or item.turn.id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if not found and any(turn_id.startswith(prefix or "") for turn_id in elsewhere):
        raise InputError(
            f"The request '{one_line(str(prefix))}' is being worked on elsewhere.",
            hint="Wait for it there, or end that and try again.",
        )
    if not found:
        raise InputError(f"Nothing that was cut off has the id '{one_line(str(prefix))}'.")
    ids = ", ".join(item.turn.id[:8] for item in found)
    raise InputError(f"Several requests were cut off: {ids}.", hint="Say which one, by its id.")


def _title(item: Unfinished) -> str:
    words = one_line(item.turn.text, limit=60)
    return f"“{words}”" if words else "A plan"
