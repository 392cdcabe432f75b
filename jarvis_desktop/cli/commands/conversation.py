"""What `jarvis-desktop` alone does with no screen: the terminal conversation; with no terminal
either, the sample request, stage by stage."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.commands import ask
from jarvis_desktop.cli.input import KEYBOARD, somebody_is_there, stoppable
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import shipped

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

GREETING = """\
JARVIS Desktop. Type a request, or press Enter on an empty line to talk.
Files: name them in the request, by their path if they are not here. Ctrl-D ends.
A goal that takes several steps, with code where it helps: /agent GOAL
Try: What can you do?"""

AGENT = "/agent"
"""Before a line: it is a goal for agent mode, whatever the planner would say."""


def start(args: argparse.Namespace) -> int:
    """Converse in the terminal; where there is none, answer the sample request."""
    return _converse(args) if somebody_is_there() else _sample(args)


def _converse(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: Application) -> int:
        await app.start()
        output.note(GREETING)
        ask.tell(app)
        known = app.history.open_conversation().id
        code = output.DONE
        while (line := await _line()) is not None:
            code = await _turn(app, line, known)
            await session.tell_once(app)
        return code

    return session.run(args, work)


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


def _sample(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: Application) -> int:
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

    return session.run(args, work)
