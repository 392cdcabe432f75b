"""No file is invented: what nobody gave is taken out of an answer, however it is cut in pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.assistant.answer_writer import (
    MAX_WORD_CHARS,
    MISSING_FILE,
    MISSING_LINK,
    FileGuard,
    _open,
)

KNOWN = "Rotate scan.png and 报告.pdf; see /data/notes.txt and https://example.org/a."
ANSWERS = st.lists(
    st.sampled_from(
        [
            "scan.png",
            "cat.png",
            "/tmp/",
            "https://",
            "报告",
            ".pdf",
            " ",
            "\n",
            "`",
            "```",
            "a",
            ".",
        ]
    ),
    max_size=30,
).map("".join)


def guarded(text: str, *, size: int = 3, examples: bool = False, known: str = KNOWN) -> str:
    guard = FileGuard(known, examples=examples)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join(map(guard.feed, pieces)) + guard.rest()


@pytest.mark.parametrize(
    "text",
    [
        "Here is scan.png. And SCAN.PNG, _scan.png_, “scan.png”!",
        "I read /data/notes.txt, or notes.txt for short.",
        "已读取报告.pdf了。",
        "See https://example.org/a.",
        "and/or, 24/7, 5 km/h, </b>, // comment, /help, e.g. v1.2, the .png format",
        "Write to info@shop.com.au or http:// or profile: a",
        "A sentence.Then another, v2.html5, scan.pngs",
    ],
)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_what_is_known_or_no_file_passes(text: str, size: int) -> None:
    assert guarded(text, size=size) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Saved as cat.png.", f"Saved as {MISSING_FILE}."),
        ("**cat.png** and cat.png_", f"**{MISSING_FILE}** and {MISSING_FILE}_"),
        (
            "in /home/me/out and ~/Music or ./x",
            f"in {MISSING_FILE} and {MISSING_FILE} or {MISSING_FILE}",
        ),
        (r"C:\Users\me, \\server\share", f"{MISSING_FILE}, {MISSING_FILE}"),
        ("made/cat.png is not made/scan.png", f"{MISSING_FILE} is not scan.png"),
        ("/tmp/scan.png, please", "scan.png, please"),
        ("已保存为cat.png。", f"已保存为{MISSING_FILE}。"),
        ("已保存为图.png。", f"已保存为{MISSING_FILE}。"),
        ("[it](https://x.org/cat.png)!", f"[it]({MISSING_LINK})!"),
        ("www.x.org, sandbox:/mnt/cat.png", f"{MISSING_LINK}, {MISSING_LINK}"),
        ("data:image/png;base64,AAA and attachment:cat", f"{MISSING_LINK} and {MISSING_LINK}"),
        ("in `cat.png`\n```\ncat.png\n```", f"in `{MISSING_FILE}`\n```\n{MISSING_FILE}\n```"),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_what_nobody_gave_is_taken_out(text: str, shown: str, size: int) -> None:
    assert guarded(text, size=size) == shown


def test_examples_in_code_stay() -> None:
    text = "Put it into `setup.toml`:\n~~~\nopen('cat.png')\n~~~\nnot setup.toml, nor `cat.png`."
    shown = text.replace("not setup.toml", f"not {MISSING_FILE}").replace(
        "`cat.png`", f"`{MISSING_FILE}`"
    )
    assert guarded(text, examples=True) == shown


def test_a_code_mark_ends_with_its_line() -> None:
    assert guarded("a ` b\nsetup.toml", examples=True) == f"a ` b\n{MISSING_FILE}"


def test_a_word_is_held_back_until_it_is_whole() -> None:
    guard = FileGuard("")
    assert [guard.feed(piece) for piece in ("I made ca", "t.p", "ng", " for")] == [
        "I made ", "", "", f"{MISSING_FILE} ",
    ]  # fmt: skip
    assert guard.rest() == "for"
    assert guard.taken_out == 1


def test_a_word_without_end_is_let_out() -> None:
    guard = FileGuard("")
    assert guard.feed("x" * (MAX_WORD_CHARS + 1)) == "x" * (MAX_WORD_CHARS + 1)


@settings(deadline=None)
@given(ANSWERS, st.integers(1, 9))
def test_it_does_not_matter_how_an_answer_is_cut(text: str, size: int) -> None:
    assert guarded(text, size=size) == guarded(text, size=10_000)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["scan.png", "/tmp/", "报告", "`", "``` ", "(", ", ", "**"])))
def test_an_invented_name_never_passes(around: list[str]) -> None:
    assert "cat.png" not in guarded(" ".join([*around, "cat.png"]))
    assert "cat.png" not in guarded("".join([*around, " cat.png"]))


def test_a_long_piece_is_looked_at_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    class Watched:
        def search(self, text: str) -> re.Match[str] | None:
            looked.append(len(text))
            return _open.search(text)

    monkeypatch.setattr(answer_writer, "_open", Watched())
    text = "x" * 20 * MAX_WORD_CHARS + " and cat.png"
    assert guarded(text, size=len(text)) == text.replace("cat.png", MISSING_FILE)
    assert max(looked) <= 2 * MAX_WORD_CHARS
