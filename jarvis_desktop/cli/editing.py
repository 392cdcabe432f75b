"""A text in the person's own editor, as `git commit` does it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jarvis_desktop.cli import output
from jarvis_desktop.cli.keyboard import KEYBOARD
from jarvis_desktop.core.errors import InputError


def editor() -> list[str]:
    """The editor that the person named, as words of a command; [] where there is none."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        if os.name == "nt":  # where a backslash parts folders
            return [word.strip('"') for word in shlex.split(named, posix=False)]
        return shlex.split(named)
    except ValueError:  # a quotation mark without its other half
        return []


async def edited(text: str, name: str) -> str:
    """The text as the person left it in their editor, under a file name of their editor's liking.

    It is the file's very bytes as UTF-8. Raises InputError where there is no editor, where it did
    not end well, and for what is no text.
    """
    command = editor()
    if not command:
        raise InputError("There is no editor.", hint="Name one in the variable EDITOR.")
    with tempfile.TemporaryDirectory(prefix="jarvis-") as folder:
        file = Path(folder) / name
        try:
            file.write_bytes(text.encode())
        except UnicodeEncodeError as error:
            raise InputError("This holds characters that no file can hold.") from error
        async with KEYBOARD.lent():
            await _run([*command, str(file)])
        try:
            return file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("What the editor left cannot be read as text.") from error


async def written(what: str) -> str:
    """Lines that the person types, up to an empty one; for those who have no editor."""
    output.note(f"Type {what}; an empty line ends it.")
    lines = []
    async with KEYBOARD.lent():
        while line := await KEYBOARD.line():
            lines.append(line)
    return "\n".join(lines)


async def _run(command: list[str]) -> None:
    name = Path(command[0]).name
    # What a command prints may go into a file or another program; a person looks at stderr then.
    screen = None if output.is_on_screen() else 2
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=screen)
    except OSError as error:
        raise InputError(
            f"The editor {name} cannot be started: {output.reason(error)}.",
            hint="Name another one in the variable EDITOR.",
        ) from error
    try:
        with _its_own_ctrl_c():
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if code != 0:
        raise InputError(f"The editor {name} ended with code {code}, so nothing was changed.")


@contextlib.contextmanager
def _its_own_ctrl_c() -> Iterator[None]:
    """While it runs, Ctrl-C is the editor's, which gets it as well."""
    usual = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread, which is the one that Ctrl-C reaches
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
