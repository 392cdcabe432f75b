"""What changed from one text to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text import differences
from jarvis_desktop.tasks.text.differences import DIFFERENCES, tell_differences
from tests.tasks.calls import call_of, quiet, text_of

OLD = "The rent is 700 euros. It is paid on the first of the month. Dogs are not allowed."
NEW = "The rent is 750 euros.\nIt is paid on\nthe first of the month. A deposit is due."


def told(tmp_path: Path, *given: str | Artifact) -> str:
    items = tuple(text_artifact(item) if isinstance(item, str) else item for item in given)
    return text_of(tell_differences(call_of(DIFFERENCES.type, tmp_path / "w", text=items), quiet))


def test_what_was_changed_added_and_left_out(tmp_path: Path) -> None:
    assert told(tmp_path, OLD, NEW).splitlines() == [
        "the first and the second differ in 3 sentences:",
        "- Changed: “The rent is 700 euros.” became “The rent is 750 euros.”",
        "- Only in the first: “Dogs are not allowed.”",
        "- Only in the second: “A deposit is due.”",
    ]


def test_files_are_named(tmp_path: Path) -> None:
    for name, text in (("old.txt", "One. Two."), ("new.md", "One.\n\nTwo. Three.")):
        (tmp_path / name).write_text(text)
    files = [Artifact(Kind.DOCUMENT, path=tmp_path / it, name=it) for it in ("old.txt", "new.md")]
    assert told(tmp_path, *files) == (
        "old.txt and new.md differ in one sentence:\n- Only in new.md: “Three.”"
    )


def test_line_breaks_are_no_difference(tmp_path: Path) -> None:
    assert told(tmp_path, "One two. Three.", "One\ntwo.\n\nThree.") == (
        "the first and the second say the same."
    )


def test_an_added_sentence_stands_before_the_changed_one(tmp_path: Path) -> None:
    lines = told(tmp_path, "The cat sat down.", "It rained. The cat sat up.").splitlines()[1:]
    assert [line.partition("“")[0] for line in lines] == ["- Only in the second: ", "- Changed: "]


def test_not_all_sentences_of_other_texts_are_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "MAX_PAIRS", 1)
    monkeypatch.setattr(differences, "MIN_NEAR", 1)
    lines = told(tmp_path, "The cat sat down.", "It rained. The cat sat up.").splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["Only", "Only", "Only"]


def test_the_order_of_the_words_of_long_sentences_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = "a b c d e f", "f e d c b a"
    assert "Changed" not in told(tmp_path, one, other)
    monkeypatch.setattr(differences, "MAX_ORDERED_WORDS", 5)
    assert "Changed" in told(tmp_path, one, other)


def test_long_lists_are_cut(tmp_path: Path) -> None:
    many = " ".join(f"Word{number} {'x' * 400}." for number in range(40))
    lines = told(tmp_path, many, "Nothing.").splitlines()
    assert lines[0].endswith("differ in 41 sentences:")
    assert lines[-1] == "… and 11 more."
    assert all(len(line) < 350 for line in lines)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("One.",), "Two texts are needed"),
        (("", " "), "no text"),
        (("One. " * 9, "b."), "too long"),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr(differences, "MAX_PARTS", 5)
    with pytest.raises(InputError, match=message):
        told(tmp_path, *texts)
