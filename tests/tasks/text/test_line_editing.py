"""Texts edited line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.line_editing import LINE_EDITING, edit_lines
from tests.tasks.calls import call_of, quiet


@pytest.mark.parametrize(
    ("name", "wish", "made"),
    [
        ("a.md", "replace tea with milk", "# One\nmilk\n\nmilk\n"),
        ("a.txt", "remove the empty lines", "# One\ntea\ntea\n"),
    ],
)
def test_a_file_becomes_a_new_one(tmp_path: Path, name: str, wish: str, made: str) -> None:
    given = tmp_path / name
    given.write_text("# One\ntea\n\ntea\n")
    call = call_of(LINE_EDITING.type, tmp_path / "work", text=given, wish=wish)
    (file,) = edit_lines(call, quiet)
    assert (file.kind, file.name) == (Kind.DOCUMENT, f"a-edited.{name[2:]}")
    assert file.path
    assert file.path.read_text() == made
    assert given.read_text() == "# One\ntea\n\ntea\n"


def test_a_text_becomes_a_file_too(tmp_path: Path) -> None:
    call = call_of(LINE_EDITING.type, tmp_path, text="b\na", wish="Sort the lines")
    (file,) = edit_lines(call, quiet)
    assert file.name == "text-edited.txt"
    assert file.path
    assert file.path.read_text() == "a\nb"


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    call = call_of(LINE_EDITING.type, tmp_path, text="b\na", wish="make it funnier")
    with pytest.raises(ExpertError, match="needs a language model"):
        edit_lines(call, quiet)
    call = call_of(LINE_EDITING.type, tmp_path, text="b\na", wish="replace x with y")
    with pytest.raises(InputError, match="changes nothing in b a"):
        edit_lines(call, quiet)


def several(tmp_path: Path, wish: str) -> dict[str, str]:
    """What becomes of three texts, by the names of the new files."""
    paths = []
    for name, text in {"a.txt": "tea\nmilk", "b.log": "TODO: tea\n", "c.md": "salt\n"}.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text)
    made = edit_lines(call_of(LINE_EDITING.type, tmp_path / "work", text=paths, wish=wish), quiet)
    return {item.name: item.path.read_text() for item in made if item.path}


def test_several_texts_are_each_edited(tmp_path: Path) -> None:
    assert several(tmp_path, "replace tea with juice in all these files") == {
        "a-edited.txt": "juice\nmilk", "b-edited.log": "TODO: juice\n"
    }  # fmt: skip


def test_what_is_collected_of_several_texts_is_one(tmp_path: Path) -> None:
    assert several(tmp_path, "keep only the lines with tea") == {"a-edited.txt": "tea\nTODO: tea\n"}
    assert several(tmp_path, "collect the TODOs of these notes") == {"a-edited.txt": "TODO: tea\n"}
