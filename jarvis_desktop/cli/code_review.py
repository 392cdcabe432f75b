"""Code in a terminal, before it may run or be kept: to read, to edit, to allow or to refuse."""

from __future__ import annotations

import difflib
import unicodedata
from dataclasses import replace

from jarvis_desktop.cli import output
from jarvis_desktop.cli.editing import edited, editor
from jarvis_desktop.cli.keyboard import KEYBOARD, somebody_is_there
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.shown import one_line

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Kinds of characters in Unicode: controls, marks of direction and width, halves and gaps."""
NOBODY = "Nobody is there to allow it."


async def review_code(code: CodeRequest) -> Verdict:
    """What the person says to it, with the very code that they were shown last."""
    if not somebody_is_there():
        output.note(f"note    {_in_advance(code)}")
        return Verdict(Allow.NO, code.source, NOBODY)
    _show(code)
    while True:
        said = await KEYBOARD.answer(_question(code))
        match (said or "").lower():
            case "y" | "yes":
                return Verdict(Allow.ONCE, code.source)
            case "g" if _may_be_for_the_goal(code):
                return Verdict(Allow.GOAL, code.source)
            case "e" if editor():
                code = replace(code, source=await _changed(code.source))
                _show(code)
            case "g" | "e" as letter:
                output.note(f"note    “{letter}” is not possible here.")
            case "" | "n" | "no":
                return Verdict(Allow.NO, code.source)
            case _:
                return Verdict(Allow.NO, code.source, said or "")


def numbered(source: str) -> str:
    """The source with the number of each line before it."""
    lines = _lines(source)
    width = max(4, len(str(len(lines))))
    return "\n".join(f"{number:{width}} │ {line}" for number, line in enumerate(lines, 1))


def _show(code: CodeRequest) -> None:
    protection = code.protection
    if not protection.sandboxed:
        output.warn("NOT SANDBOXED: this code can do all that you can do on this computer.")
        output.note(f"        {protection.why}")
    what = f"keep    {one_line(code.saves)} in the code library: " if code.saves else "code    "
    output.note(f"{what}{one_line(code.purpose, limit=300)}")
    if protection.sandboxed:
        output.note(f"        in the sandbox ({protection.name}), {_reach(code)}")
    elif code.hosts:
        output.note(f"        {_reach(code)}")
    output.note(_difference(code) if code.replaces else numbered(code.source))
    if hidden := _hidden(code.source):
        output.warn(f"It holds characters that cannot be seen: {', '.join(hidden)}.")
    if code.tests:
        output.note("tests   " + code.tests.strip().replace("\n", "\n        "))


def _reach(code: CodeRequest) -> str:
    return (
        f"it reaches {one_line(', '.join(code.hosts), limit=300)}"
        if code.hosts
        else "without network"
    )


def _difference(code: CodeRequest) -> str:
    before, after = _lines(code.replaces), _lines(code.source)
    names = ("as it is kept", "as it would be kept")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm="")) or "no difference"


def _lines(source: str) -> list[str]:
    """As Python counts them; `splitlines` parts them at more than Python does."""
    return source.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _hidden(source: str) -> list[str]:
    """The characters, by their numbers, that a terminal shows as nothing or as something else."""
    odd = {
        letter
        for letter in source.replace("\r\n", "\n")
        if letter not in "\n\t" and unicodedata.category(letter) in UNSEEN
    }
    return [f"U+{ord(letter):04X}" for letter in sorted(odd)]


def _may_be_for_the_goal(code: CodeRequest) -> bool:
    return code.protection.sandboxed and not code.saves


def _question(code: CodeRequest) -> str:
    ways = ["y keeps it" if code.saves else "y runs it"]
    if _may_be_for_the_goal(code):
        ways.append("g runs it and all that follows for this goal")
    if editor():
        ways.append("e edits it")
    return f"{', '.join(ways)}, n does not; or say what should be different:"


def _in_advance(code: CodeRequest) -> str:
    """Why the code does not run, and what would let it, where nobody is there."""
    if not code.protection.sandboxed:
        return (
            f"{NOBODY} Without a sandbox code runs only when somebody says so, each time. "
            f"{code.protection.why}"
        ).rstrip()
    if code.saves:
        return (
            f"Nobody is there to let {one_line(code.saves)} into the code library; with "
            "--allow-code sandboxed it gets there unasked, but not once files or pages were read."
        )
    hosts = "".join(f" --allow-host {one_line(host)}" for host in code.hosts)
    return f"{NOBODY} jarvis-desktop agent --allow-code sandboxed{hosts} does so in advance."


async def _changed(source: str) -> str:
    try:
        return await edited(source, "code.py")
    except JarvisError as error:
        output.note(f"note    {error} The code is as it was.")
        return source
