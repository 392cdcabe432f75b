"""What a command prints: one JSON document on stdout with --json, else plain words.

How far something is, line by line on stderr.

The files that a turn made, copied to where the person wants them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from jarvis_desktop.core.display import printable
from jarvis_desktop.core.errors import InputError, JarvisError

if TYPE_CHECKING:
    from datetime import datetime

    from jarvis_desktop.core.expert import Status
    from jarvis_desktop.core.task import Report
    from jarvis_desktop.core.turn import Turn


DONE, FAILED, USAGE, PARTLY, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes. 0 all of it done, 3 part of it, 1 nothing and why, 2 wrong usage, 130 Ctrl-C."""


def exit_code(status: Status | None) -> int:
    """The exit code for how a turn ended."""
    from jarvis_desktop.core.expert import Status

    return {Status.DONE: DONE, Status.PARTLY: PARTLY}.get(status, FAILED) if status else FAILED


def write_json(document: object) -> None:
    """One JSON document, indented, on stdout."""
    from jarvis_desktop.core.serialization import to_wire

    _write(sys.stdout, json.dumps(to_wire(document), ensure_ascii=False, indent=2))


def write_line_of_json(document: object) -> None:
    """One JSON document on one line of stdout, at once."""
    from jarvis_desktop.core.serialization import to_wire

    _write(sys.stdout, json.dumps(to_wire(document), ensure_ascii=False))


def say(text: str) -> None:
    """Words on stdout."""
    _write(sys.stdout, printable(text))


def say_piece(text: str) -> None:
    """A piece of an answer on stdout, at once; the next one goes on in the same line."""
    _write(sys.stdout, printable(text), end="")


def is_on_screen() -> bool:
    """Whether stdout is a terminal, where what goes to stderr stands in between."""
    return sys.stdout is not None and sys.stdout.isatty()


def note(text: str) -> None:
    """Progress and remarks, on stderr."""
    _write(sys.stderr, printable(text))


def warn(text: str) -> None:
    """What nobody may overlook, on stderr; red where that is a terminal that shows colours."""
    words = printable(text)
    coloured = sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    _write(sys.stderr, f"\x1b[1;31m{words}\x1b[0m" if coloured else words)


def report_error(error: JarvisError, *, as_json: bool) -> int:
    """Show an error; gives the exit code."""
    if as_json:
        write_json({"status": "failed", "error": error.message, "hint": error.hint})
    note(f"jarvis-desktop: {error}")
    return FAILED


def prompt(text: str) -> None:
    """Words on stderr after which a person types."""
    _write(sys.stderr, printable(text), end="")


def flush_stdout() -> None:
    """Write out what argparse and others left in stdout, so that nothing fails after the end."""
    _write(sys.stdout, "", end="")


def format_time(moment: datetime) -> str:
    """A moment by this computer's clock, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def format_reason(error: OSError | ValueError) -> str:
    """Why the system refused, as the end of a sentence."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def _write(stream: TextIO | None, text: str, *, end: str = "\n") -> None:
    if stream is None:  # started with a closed stdout
        return
    # A console with a narrow character set must not end the program with an exception.
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding) + end)
        stream.flush()
    except OSError as error:
        # What is left in the stream would fail again when Python ends.
        _send_nowhere(stream)
        # A reader that went away ("| head") has what it wanted; Windows calls that invalid.
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise


def _send_nowhere(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def progress() -> Report:
    """Writes a line whenever the percentage or the beginning of the words changes."""
    shown: list[str] = []

    def report(fraction: float | None, message: str) -> None:
        percent = "" if fraction is None else f"{fraction:4.0%} "
        line = f"        {percent}{message}"
        if not shown or shown[-1][:14] != line[:14]:
            note(line)
        shown[:] = [line]

    return report


def make_folder(folder: Path) -> None:
    """Before anything is done, so that no work is lost to a slip in its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"The folder {folder} cannot be made: {format_reason(error)}.",
            hint="Give another one with --out.",
        ) from error


def copy_out(turn: Turn, folder: Path) -> bool:
    """Whether all of them could be copied; the answer is worth showing in any case."""
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
    """A name in the folder that nothing has yet: photo.png, photo-2.png, ..."""
    target, number = folder / name, 1
    while target.exists():
        number += 1
        target = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return target
