"""Whether a new text is what a goal asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.expected_results import expected_results
from jarvis_desktop.assistant.agent.recomputed_results import text_as_asked
from tests.assistant.agent.workplace import file

GIVEN = "# One\nMr Smith\n## Two\n2 eggs\n"


@pytest.mark.parametrize(
    ("goal", "made", "right"),
    [
        ("Replace Smith with Jones and save it as b.txt", "# One\nMr Jones\n## Two\n2 eggs", True),
        ("Replace Smith with Jones and save it as b.txt", "# One\nMr Jones\n## Two\n3 eggs", False),
        ("Write all the headings to b.txt", "- One\n- Two\n", True),
        ("Write all the headings to b.txt", "One\n", False),
        (
            "Number the lines and save them as b.txt",
            "1: # One\n2: Mr Smith\n3: ## Two\n4: 2 eggs",
            True,
        ),
        ("Number the lines and save them as b.txt", "# One\nMr Smith\n## Two\n2 eggs", False),
        ("Shorten the text and save it as b.txt", "# One\n", False),
    ],
)
def test_it_is_computed_again(tmp_path: Path, goal: str, made: str, right: bool) -> None:
    given = file(tmp_path, "a.md", GIVEN)
    (expected,) = expected_results(goal, ["a.md"])[:1]
    new = file(tmp_path, "b.txt", made)
    assert text_as_asked(expected, [new], [given]) is right
    assert not text_as_asked(expected, [], [given])
    assert not text_as_asked(expected, [new], [given, file(tmp_path, "c.txt", "x")])
