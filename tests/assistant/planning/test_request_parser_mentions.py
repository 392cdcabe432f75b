"""Paths in a request: with a slash at the end, in quotation marks, of folders."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.core.ports import Context
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import ask, show


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("open /tmp/folder/", "/tmp/folder/"),
        ("open /tmp/folder/.", "/tmp/folder/"),
        ("open ~/Music/, please", "~/Music/"),
        ("open ~", "~"),
        ("open ~/", "~/"),
        ("open the folder /tmp/x", "/tmp/x"),
        ("how big is /tmp/Makefile", "/tmp/Makefile"),
        ("open C:\\Users\\me\\", "C:\\Users\\me\\"),
        ("open C:/Users/me/Makefile", "C:/Users/me/Makefile"),
        ('open "/tmp/my folder/a b.txt"', "/tmp/my folder/a b.txt"),
        ('open "/tmp/my folder/Read Me"', "/tmp/my folder/Read Me"),
        ("open '/tmp/my folder/Read Me' please", "/tmp/my folder/Read Me"),
        ("open ‘/tmp/my folder/Read Me’", "/tmp/my folder/Read Me"),
        ("open “/tmp/my folder/”", "/tmp/my folder/"),
        ("open „~/my folder“", "~/my folder"),
        ('open "~"', "~"),
        ('open "/tmp"', "/tmp"),
        ('open "C:\\My Files\\Read Me"', "C:\\My Files\\Read Me"),
        ('open the folder "/tmp/my folder"', "/tmp/my folder"),
    ],
)
def test_paths(text: str, path: str) -> None:
    assert [item.text for item in request_parser.find_files(text)] == [path]
    assert request_parser.find_quotes(text) == []
    assert request_parser.find_files(text)[0].is_absolute


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "/tmp/a b"', ["/tmp/a b"]),
        ('what is "/usr/bin" for', ["/usr/bin"]),
        ('translate "/s is for sarcasm"', ["/s is for sarcasm"]),
        ("translate '/one\nand /two'", ["/one\nand /two"]),
        ("look at ~5 files", []),
        ("what kind of file is a .docx", []),
    ],
)
def test_what_is_no_path(text: str, quoted: list[str]) -> None:
    assert request_parser.find_files(text) == []
    assert [item.text for item in request_parser.find_quotes(text)] == quoted


@pytest.mark.parametrize(
    ("text", "name"),
    [("open /tmp/folder/", "folder"), ('open "/tmp/my x"', "my x"), ("open ~", "~")],
)
def test_the_name_of_a_folder_is_its_last_part(text: str, name: str) -> None:
    assert request_parser.find_files(text)[0].name == name


def test_a_name_keeps_its_typographic_apostrophe() -> None:
    made = request_parser.parse_request("it’s time: open “Ann’s notes.txt”", INVENTORY, Context())
    assert [item.text for item in made.files] == ["Ann’s notes.txt"]
    assert made.text.startswith("it's time")


async def test_a_quoted_path_is_opened() -> None:
    assert show(await ask('open "/tmp/my folder/a b.txt"')) == ["open-file(file=a b.txt)"]
