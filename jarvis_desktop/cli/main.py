"""The parser of the command line. Nothing heavy is imported before a command is chosen."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from jarvis_desktop import __version__
from jarvis_desktop.app.ipc_client import FLAGS
from jarvis_desktop.cli import output
from jarvis_desktop.cli.commands import (
    agent,
    ask,
    code,
    experts,
    help,
    history,
    llm,
    plan,
    speech,
    system,
    talk,
)
from jarvis_desktop.core.errors import JarvisError, UnavailableError

EPILOG = """\
examples:
  jarvis-desktop                                        open the window, or show the open one
  jarvis-desktop sign.jpg letter.pdf                    attach files in the window
  jarvis-desktop ask "What does this sign say?" --file sign.jpg
  jarvis-desktop ask --file question.wav --speak        a spoken request
  jarvis-desktop agent "Plot these prices" --file p.csv a goal that takes several steps
  jarvis-desktop listen                                 talk in the terminal
  jarvis-desktop talk toggle                            talk to the open window, from any key

exit codes: 0 all done, 3 part of it done and the rest with reasons, 1 nothing done and why,
2 wrong usage.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="jarvis-desktop",
        usage="%(prog)s [--hidden] [--quick] [--new] [--talk] [FILE...]\n"
        "       %(prog)s COMMAND ...",
        description="A voice assistant that runs on this computer. With no command: the window.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"jarvis-desktop {__version__}")
    for flag, about in FLAGS.items():
        top.add_argument(flag, action="store_true", help=f"of the window: {about}")
    top.set_defaults(command=None)
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", prog="jarvis-desktop")
    adders = (
        ask.add_ask,
        agent.add_agent,
        plan.add,
        ask.add_resume,
        speech.add_transcribe,
        speech.add_speech,
        talk.add,
        history.add,
        agent.add_goals,
        code.add_code,
        code.add_memory,
        experts.add_experts,
        llm.add,
        system.add_desktop,
        system.add_doctor,
        help.add,
    )
    for add in adders:
        add(subparsers)
    completion = subparsers.add_parser("completion", help="print a completion script for a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    completion.set_defaults(command=_completion)
    return top


def main(arguments: Sequence[str]) -> int:
    """Run a command, or converse where none is given; gives the exit code."""
    try:
        return _run(parser().parse_args(arguments))
    finally:
        output.settle()


def _run(args: argparse.Namespace) -> int:
    command: Callable[[argparse.Namespace], int] | None = args.command
    try:
        if command is None:
            if any(vars(args)[flag.removeprefix("--")] for flag in FLAGS):
                raise UnavailableError("There is no screen here to open a window on.")
            return ask.start(args)
        return command(args)
    except JarvisError as error:
        return output.complain(error, as_json=getattr(args, "json", False))
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        problem = JarvisError(f"The system refused: {error.strerror or error}{place}.")
        return output.complain(problem, as_json=getattr(args, "json", False))
    except KeyboardInterrupt:
        output.note("stopped")
        return output.INTERRUPTED


def _completion(args: argparse.Namespace) -> int:
    import shtab

    output.say(shtab.complete(parser(), shell=args.shell))
    return output.DONE
