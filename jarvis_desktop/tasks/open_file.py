"""Opens a file with the program the person's desktop has for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="open-file",
    summary="Opens a file with its usual program.",
    ports=(Port("file", tuple(Kind)),),
    gives=(Kind.TEXT,),
    acts=True,
    guarded=True,
    cues=(
        "open the file", "open this file", "open that file", "open it", "open this", "open that",
        "open xfile*", "open up xfile*", "open the document", "open the picture", "open the photo",
        "open the image", "open the recording", "open the video", "open the table",
        "open the result", "show me the file", "show me xfile*", "launch xfile*", "view xfile*",
        "view it", "view this", "play the file", "play xfile*", "play it", "start the file",
        "bring up xfile*", "pull up xfile*", "display it", "display xfile*",
    ),
)  # fmt: skip

RUNS_CODE = frozenset(
    """.app .appimage .apk .bat .bin .cmd .com .command .cpl .deb .desktop .dll .dmg .docm .dotm
    .elf .exe .gadget .hta .htm .html .inf .ins .iso .jar .jnlp .js .jse .ksh .lnk .lua .mht .mhtml
    .msc .msi .msp .osx .out .pif .pl .pptm .potm .ps1 .ps1m .psm1 .py .pyc .pyw .rb .reg .rpm .run
    .scf .scr .sct .sh .shb .svg .swf .terminal .tool .url .vb .vbe .vbs .webloc .wsc .wsf .wsh
    .xbap .xhtml .xlam .xlsb .xlsm .xltm .xpi .zsh""".split()
)
"""Endings of files that may do something when opened, rather than only be shown."""


async def open_it(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Open the file. Raises InputError where it is gone, UnavailableError where it cannot be."""
    given = call.artifact("file")
    if not call.file("file").exists():
        raise InputError(tr("There is no file {call} any more.", call=given.title))
    lent = await asyncio.to_thread(services.store.lend, given)
    services.desktop.open(lent, given.title)
    return [text_artifact(f"Opened {given.title}.")]


def question(call: Call) -> str:
    """Asks where opening the file could run code."""
    given = call.artifact("file")
    known = (given.path, given.source, Path(given.title))
    if not any(may_run_code(path) for path in known if path):
        return ""
    return f"{given.title} can run code on this computer when opened. Open it?"


def may_run_code(path: Path) -> bool:
    """Whether a file is a program, a script or a page with scripts, by ending or permission."""
    # Windows ignores dots and spaces at the end of a name.
    if Path(path.name.rstrip(". ")).suffix.casefold() in RUNS_CODE:
        return True
    return os.name == "posix" and path.is_file() and os.access(path, os.X_OK)


DEFINITION = Definition(
    TYPE, skill=open_it, question=question, note="asks first where it could run code"
)
