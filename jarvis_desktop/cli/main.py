"""The parser of the command line. Only the module of the chosen command is imported."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module

from jarvis_desktop import __version__
from jarvis_desktop.app.ipc_client import FLAGS
from jarvis_desktop.cli import output
from jarvis_desktop.core.errors import JarvisError, UnavailableError

COMMANDS = {
    "ask run": "ask:add_ask",
    "agent": "agent:add_agent",
    "plan": "plan:add",
    "resume": "ask:add_resume",
    "transcribe": "speech:add_transcribe",
    "say listen": "speech:add_speech",
    "dictate": "speech:add_dictate",
    "talk": "talk:add",
    "history": "history:add",
    "goals": "agent:add_goals",
    "code": "code:add_code",
    "memory": "code:add_memory",
    "experts": "experts:add_experts",
    "llm": "llm:add",
    "engine": "engine:add",
    "update": "system:add_update",
    "licences": "help:add_licences",
    "machines": "machines:add",
    "servers": "servers:add",
    "mcp": "mcp:add",
    "serve": "serve:add",
    "cluster": "cluster:add",
    "desktop": "system:add_desktop",
    "doctor": "system:add_doctor",
    "help": "help:add_help",
}
"""The commands, and the function in `cli/commands` that adds them to the parser."""

EPILOG = """\
examples:
  jarvis-desktop                                        open the window, or show the open one
  jarvis-desktop sign.jpg letter.pdf                    attach files in the window
  jarvis-desktop ask "What does this sign say?" --file sign.jpg
  jarvis-desktop ask --file question.wav --speak        a spoken request
  jarvis-desktop agent "Plot these prices" --file p.csv a goal that takes several steps
  jarvis-desktop listen                                 talk in the terminal
  jarvis-desktop dictate > letter.txt                   write down what you say
  jarvis-desktop talk toggle                            talk to the open window, from any key

exit codes: 0 all done, 3 part of it done and the rest with reasons, 1 nothing done and why,
2 wrong usage.
"""


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser for `command`; the whole command line if it is not the name of one."""
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
    chosen = [place for names, place in COMMANDS.items() if command in names.split()]
    for place in chosen or COMMANDS.values():
        module, _, function = place.partition(":")
        getattr(import_module(f"jarvis_desktop.cli.commands.{module}"), function)(subparsers)
    completion = subparsers.add_parser("completion", help="print a completion script for a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    completion.set_defaults(command=_completion)
    return top


def main(arguments: Sequence[str]) -> int:
    """Run a command, or the terminal conversation if none is given. Return the exit code."""
    try:
        return _run(parser(arguments[0] if arguments else "").parse_args(arguments))
    finally:
        output.flush_stdout()


def _run(args: argparse.Namespace) -> int:
    command: Callable[[argparse.Namespace], int] | None = args.command
    try:
        if command is None:
            if any(vars(args)[flag.removeprefix("--")] for flag in FLAGS):
                raise UnavailableError("There is no screen here to open a window on.")
            from jarvis_desktop.cli.commands import ask

            return ask.start(args)
        return command(args)
    except JarvisError as error:
        return output.report_error(error, as_json=getattr(args, "json", False))
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        problem = JarvisError(f"The system refused: {error.strerror or error}{place}.")
        return output.report_error(problem, as_json=getattr(args, "json", False))
    except KeyboardInterrupt:
        output.note("stopped")
        return output.INTERRUPTED


def _completion(args: argparse.Namespace) -> int:
    import shtab

    output.say(shtab.complete(parser(), shell=args.shell))
    return output.DONE
