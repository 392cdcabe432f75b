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
