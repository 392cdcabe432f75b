"""Runs a command over a built application, and adds the arguments that commands share."""

from __future__ import annotations

import argparse
import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from jarvis_desktop import settings as settings_file
from jarvis_desktop.app.application import Application, apply_network_settings
from jarvis_desktop.app.build import build
from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import wake_by_signals
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.llm.catalogue import LLMOfferFinder
from jarvis_desktop.paths import Paths, log_to_file, user_paths
from jarvis_desktop.settings import Settings

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


Work = Callable[[Application], Awaitable[int]]


def load(args: argparse.Namespace) -> tuple[Settings, Paths]:
    """The settings, with the options of the command line, and the folders."""
    paths = user_paths()
    settings, notice = settings_file.load(paths.settings)
    if notice:
        output.note(f"note    {notice}")
    if mode := getattr(args, "mode", None):
        settings = settings.model_copy(update={"mode": Mode(mode)})
    return settings, paths


def run(
    args: argparse.Namespace, work: Work, *, loaded: tuple[Settings, Paths] | None = None
) -> int:
    """Run `work` over a built application and close it; `main` reports errors."""
    settings, paths = loaded or load(args)
    apply_network_settings(settings)
    log_to_file(paths)
    return asyncio.run(_run(settings, paths, work))


def app_command(
    work: Callable[[argparse.Namespace, Application], Awaitable[int]],
) -> Callable[[argparse.Namespace], int]:
    """Make a command of what is to be done with its arguments and a built application."""

    @functools.wraps(work)
    def run_command(args: argparse.Namespace) -> int:
        return run(args, functools.partial(work, args))

    return run_command


def conversation(app: Application, settings_minutes: int, args: argparse.Namespace) -> str | None:
    """The conversation that a command continues; None for a new one."""
    if getattr(args, "unkept", False):
        return app.history.open_private().id
    if getattr(args, "new", False):
        return None
    if named := getattr(args, "conversation", None):
        found = app.history.show(str(named))
        if not isinstance(found, Conversation):
            raise InputError(f"{named} is a turn, not a conversation.")
        return found.id
    return app.history.latest(timedelta(minutes=settings_minutes))


async def _run(settings: Settings, paths: Paths, work: Work) -> int:
    wake_by_signals()
    app = build(settings, paths, on_ring=_report_ring)
    if app.history.notice:
        output.note(f"note    {app.history.notice}")
    current_note.set(lambda text: output.note(f"note    {text}"))
    try:
        app.store.tidy(app.history.files)
        await app.history.tidy()
        code = await work(app)
        await app.sweep_goals()
        if waiting := app.timers.pending():
            output.note(f"Waiting for the timer at {waiting[-1].due:%H:%M:%S}; Ctrl-C leaves.")
            await app.timers.all_rung()
            await app.bell.finished()
        return code
    finally:
        await app.close()


def _report_ring(timer: Timer) -> None:
    output.note(f"⏰ {timer.label or 'The timer'} is over.")


Subparsers: TypeAlias = "argparse._SubParsersAction[Any]"


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def add_actions(subparsers: Subparsers, name: str, help: str) -> Subparsers:
    """Add a command that consists of actions; return where `add_action` adds them."""
    command: argparse.ArgumentParser = subparsers.add_parser(name, help=help)
    return command.add_subparsers(title="actions", metavar="ACTION", required=True)


def add_action(
    actions: Subparsers,
    name: str,
    help: str,
    command: Callable[[argparse.Namespace], int] | None,
    *arguments: str,
) -> argparse.ArgumentParser:
    """Add an action with --json, and with the arguments that the help shows by these names."""
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help)
    for each in arguments:
        parser.add_argument(each.lower(), metavar=each)
    add_shared(parser)
    parser.set_defaults(command=command)
    return parser


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add --yes, for yes-or-no questions."""
    parser.add_argument(
        "--yes",
        action="store_true",
        help="answer every question with yes, except for plans of goals and for code",
    )


def count(text: str) -> int:
    """The type of an argument that counts things: 1 or more."""
    number = int(text)
    if number < 1:
        raise ValueError
    return min(number, sys.maxsize)


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Add --mode."""
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        help="how far the request may travel (default: the setting, at first “local”)",
    )


async def offer_llm(app: Application) -> None:
    """Recommend an LLM for this computer once, if there is none.

    Call it after an answer: the search takes a moment.
    """
    offering = LLMOfferFinder(app)
    if offering.informed or not (missing := await offering.missing()):
        return
    output.note(f"note    There is no LLM. {missing.reason}")
    output.note(f"        Until then JARVIS plans and answers without one. {missing.advice}")
    offering.note_informed()
