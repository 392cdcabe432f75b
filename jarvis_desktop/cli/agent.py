"""`agent`: a goal that takes several steps, worked on round by round."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import ask, output
from jarvis_desktop.cli.arguments import Subparsers
from jarvis_desktop.cli.keyboard import somebody_is_there, whole_input
from jarvis_desktop.core.goal import CodeTerms, Terms
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.turn import Request

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    agent = subparsers.add_parser(
        "agent",
        help="work on a goal that takes several steps",
        description="Work on a goal in several steps: a plan is written and shown, then carried "
        "out round by round, with experts and with code that runs in a sandbox. It needs an LLM. "
        "Ctrl-C stops a step and asks what should be different; once more it ends the request.",
        allow_abbrev=False,  # a --yes is no --yes-plan
    )
    agent.add_argument("goal", metavar="GOAL", help="what is to be reached; - reads it from stdin")
    agent.add_argument(
        "--yes-plan", action="store_true", help="accept the first plan without being asked"
    )
    agent.add_argument(
        "--allow-code",
        choices=[terms.value for terms in CodeTerms],
        help="ask before each run of code, or not where the sandbox holds it and it reaches no "
        "host that is not named here (default: the setting, at first “ask”)",
    )
    agent.add_argument(
        "--allow-host",
        dest="hosts",
        action="append",
        default=[],
        type=host,
        metavar="HOST[:PORT]",
        help="a host that code may reach, without a port that of the Web; may be given more than "
        "once",
    )
    ask.add_conversation_arguments(agent)
    ask.add_turn_arguments(agent)
    agent.set_defaults(command=_agent)


def host(text: str) -> str:
    """The type of an argument that names a host: HOST or HOST:PORT, in small letters."""
    from jarvis_desktop.sandbox.hosts import allowed

    shown = one_line(text)
    if "/" in text or "@" in text:
        raise argparse.ArgumentTypeError(
            f"“{shown}” is an address; write its host alone, such as example.org or "
            "example.org:8080"
        )
    if "*" in text:
        raise argparse.ArgumentTypeError(f"“{shown}” names no one host; name each one of them")
    if not allowed([text]):
        raise argparse.ArgumentTypeError(
            f"“{shown}” is no host; write HOST or HOST:PORT, such as example.org or 127.0.0.1:8080"
        )
    return text.strip().lower()


def _agent(args: argparse.Namespace) -> int:
    text = whole_input() if args.goal == "-" else encodable(args.goal)
    if not text.strip():
        output.note("jarvis-desktop agent: say what is to be reached.")
        return output.USAGE
    terms = Terms(
        plan_accepted=args.yes_plan,
        code=CodeTerms(args.allow_code) if args.allow_code else None,
        hosts=tuple(dict.fromkeys(args.hosts)),
    )
    request = Request(
        text=text, files=tuple(args.files), speak=args.speak, folder=Path.cwd(), terms=terms
    )
    from jarvis_desktop.cli import session

    loaded = session.load(args)
    for words in _notes(terms, loaded[0]):
        output.note(f"note    {words}")
    return ask.handle(args, request, loaded=loaded)


def _notes(terms: Terms, settings: Settings) -> Iterator[str]:
    """What will keep code from its work, which is better known before it begins."""
    if terms.hosts and settings.mode is Mode.OFFLINE:
        yield "In the mode offline code reaches no host, whatever --allow-host says."
    code = terms.code or settings.agent.code
    if terms.plan_accepted and code is CodeTerms.ASK and not somebody_is_there():
        yield (
            "Nobody is there to allow code, so none will run; --allow-code sandboxed allows what "
            "runs in the sandbox."
        )
