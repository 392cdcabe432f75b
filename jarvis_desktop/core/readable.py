"""Whether code is what it looks like: a person agrees to what can be seen."""

from __future__ import annotations

import io
import tokenize

from jarvis_desktop.core.shown import printable


def deception(source: str) -> str:
    """What in a source is not what a person sees, as the end of a sentence about it; "" if all is.

    A direction mark turns words round, a lone carriage return hides the line before it, and a
    named encoding makes other letters of the same bytes.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if unseen := [letter for letter, seen in zip(line, printable(line), strict=True)
                      if letter != seen or letter == "\ufeff"]:  # fmt: skip
            return f"has a character in line {number} that cannot be seen: U+{ord(unseen[0]):04X}."
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode()).readline)
    except SyntaxError:
        encoding = ""
    return "" if encoding == "utf-8" else "names an encoding: it is always UTF-8."
