"""Output of the commands: results on stdout, as plain words or one JSON document; progress on
stderr."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from jarvis_desktop.core.display import printable, unused_name
from jarvis_desktop.core.errors import InputError, JarvisError

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from jarvis_desktop.core.expert import Status
    from jarvis_desktop.core.task import Report
    from jarvis_desktop.core.turn import Turn


DONE, FAILED, USAGE, PARTLY, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: 0 all done, 1 failed, 2 wrong usage, 3 partly done, 130 Ctrl-C."""


def exit_code(status: Status | None) -> int:
    """The exit code for the status of a turn."""
    from jarvis_desktop.core.expert import Status

    return {Status.DONE: DONE, Status.PARTLY: PARTLY}.get(status, FAILED) if status else FAILED


def write_json(document: object) -> None:
    """Write an indented JSON document to stdout."""
    from jarvis_desktop.core.serialization import to_wire

    _write(sys.stdout, json.dumps(to_wire(document), ensure_ascii=False, indent=2))


def write_line_of_json(document: object) -> None:
    """Write a JSON document on one line of stdout, and flush."""
    from jarvis_desktop.core.serialization import to_wire

    _write(sys.stdout, json.dumps(to_wire(document), ensure_ascii=False))


def say(text: str) -> None:
    """Write a line to stdout."""
    _write(sys.stdout, printable(text))


def say_piece(text: str) -> None:
    """Write a piece of an answer to stdout, and flush; the next piece continues the line."""
    _write(sys.stdout, printable(text), end="")


def result(args: argparse.Namespace, document: object, text: str) -> int:
    """Write the document if --json is given, else say the text. Return DONE."""
    if args.json:
        write_json(document)
    else:
        say(text)
    return DONE


def is_on_screen() -> bool:
    """Whether stdout is a terminal, so that it mixes with stderr."""
    return sys.stdout is not None and sys.stdout.isatty()


def note(text: str) -> None:
    """Write progress and remarks to stderr."""
    _write(sys.stderr, printable(text))


def warn(text: str) -> None:
    """Write a warning to stderr; in red if it is a terminal with colours."""
    words = printable(text)
    coloured = sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    _write(sys.stderr, f"\x1b[1;31m{words}\x1b[0m" if coloured else words)


def report_error(error: JarvisError, *, as_json: bool) -> int:
    """Show an error and return the exit code."""
    if as_json:
        write_json({"status": "failed", "error": error.message, "hint": error.hint})
    note(f"jarvis-desktop: {error}")
    return FAILED


def prompt(text: str) -> None:
    """Write a prompt to stderr."""
    _write(sys.stderr, printable(text), end="")


def flush_stdout() -> None:
    """Flush what argparse and others wrote to stdout, so that nothing fails at the exit."""
    _write(sys.stdout, "", end="")


def format_time(moment: datetime) -> str:
    """A local time, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def format_reason(error: OSError | ValueError) -> str:
    """Why the system refused, as the end of a sentence."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def _write(stream: TextIO | None, text: str, *, end: str = "\n") -> None:
    if stream is None:  # started with a closed stdout
        return
    # A console with a narrow character set must not cause an exception.
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding) + end)
        stream.flush()
    except OSError as error:
        # What is left in the stream would fail again at the exit.
        _send_nowhere(stream)
        # A reader that left ("| head") has what it wanted; Windows calls that invalid.
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise


def _send_nowhere(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def progress() -> Report:
    """A reporter that writes a line when the percentage or the start of the message changes."""
    shown: list[str] = []

    def report(fraction: float | None, message: str) -> None:
        percent = "" if fraction is None else f"{fraction:4.0%} "
        line = f"        {percent}{message}"
        if not shown or shown[-1][:14] != line[:14]:
            note(line)
        shown[:] = [line]

    return report


def make_folder(folder: Path) -> None:
    """Make the folder before any work is done, so that none is lost to a typing error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"The folder {folder} cannot be made: {format_reason(error)}.",
            hint="Give another one with --out.",
        ) from error


def copy_out(turn: Turn, folder: Path) -> bool:
    """Copy the files of a turn. Return whether all could be copied."""
    problems = 0
    for artifact in turn.artifacts:
        if artifact.path is None:
            continue
        target = free_name(folder, Path(artifact.title).name or artifact.path.name)
        try:
            shutil.copyfile(artifact.path, target)
        except OSError as error:
            problems += 1
            note(f"failed  {target} cannot be written: {format_reason(error)}.")
        else:
            note(f"saved   {target}")
    return not problems


def free_name(folder: Path, name: str) -> Path:
    """An unused name in the folder: photo.png, photo-2.png, ..."""
    stem, suffix = Path(name).stem, Path(name).suffix
    return folder / unused_name(stem, suffix, taken=lambda name: (folder / name).exists())
