"""Whether a new text is what a goal asks for: it is computed a second time by rules, from the words
of the goal.

Only edits that need no understanding are read (`text.line_edits`). A goal that asks for more cannot
be checked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from jarvis_desktop.assistant.agent.expected_results import ExpectedResult
from jarvis_desktop.assistant.agent.goal_checks import fits
from jarvis_desktop.assistant.agent.made_files import plain_text
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.text.line_edits import edit_text, read_edits

_mark = re.compile(r"^\s*(?:\d+\s*[.:)\t-]?\s*|[#*-]+\s*)?")
"""How a line is numbered or set off, which scripts do in many ways."""


def text_as_asked(
    expected: ExpectedResult, made: Sequence[Artifact], given: Collection[Artifact]
) -> bool:
    """Return whether the new text is the one that the goal asks for. It reads files."""
    edits = read_edits(expected.goal)
    texts = [text for item in given if (text := plain_text(item))]
    new = [item for item in made if fits(item, expected)]
    if not edits or len(texts) != 1 or len(given) != 1 or len(new) != 1:
        return False
    wanted, found = _lines(edit_text(texts[0], edits)), _lines(plain_text(new[0]))
    names = {edit.name for edit in edits}
    if "numbered" in names and not all(line.strip()[:1].isdigit() for line in found):
        return False
    if {"numbered", "headings only"} & names:
        wanted, found = ([_mark.sub("", line) for line in each] for each in (wanted, found))
    return found == wanted


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip("\n").splitlines()]
