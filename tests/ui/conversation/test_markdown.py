"""Answers are read into blocks, and whatever they hold stays words."""

import random

import pytest

from jarvis_desktop.ui.conversation.markdown import (
    Block,
    CodeFence,
    IncrementalMarkdown,
    MarkdownTable,
    MarkdownText,
    Span,
    ThematicBreak,
    parse_inline,
    to_plain_text,
)
from tests.families import some
from tests.ui.markdown_samples import HOSTILE_MARKDOWN
from tests.ui.scene import HOSTILE


def blocks(text: str) -> list[Block]:
    return list(IncrementalMarkdown().read(text))


def words(text: str) -> str:
    """All that would be seen."""
    return "\n".join(
        "".join(span.text for span in block.spans())
        if isinstance(block, MarkdownText)
        else block.text
        if isinstance(block, CodeFence)
        else "\n".join("\t".join(row) for row in block.rows)
        if isinstance(block, MarkdownTable)
        else "---"
        for block in blocks(text)
    )


def test_every_kind_of_block_is_known() -> None:
    found = blocks("# Title\n\ntext\n\n---\n\n```py\nx = 1\n```\n\n|a|b|\n|-|-:|\n|1|2|\n")
    assert [type(block) for block in found] == [
        MarkdownText,
        MarkdownText,
        ThematicBreak,
        CodeFence,
        MarkdownTable,
    ]
    heading, _, _, code, grid = found
    assert isinstance(heading, MarkdownText)
    assert heading.level == 1
    assert code == CodeFence("x = 1", "py")
    assert isinstance(grid, MarkdownTable)
    assert grid.rows == (("a", "b"), ("1", "2"))
    assert grid.sides == ("", "right")


def test_lists_and_quotes_say_where_they_stand() -> None:
    found = blocks("3. three\n   - below\n4. four\n\n> said\n\n- [x] done\n- [ ] open\n")
    places = [block.place for block in found]
    assert [place.marker for place in places] == ["3.", "◦", "4.", "", "•", "•"]
    assert [place.lists for place in places] == [1, 2, 1, 0, 1, 1]
    assert [place.quotes for place in places] == [0, 0, 0, 1, 0, 0]
    assert [place.done for place in places] == [None, None, None, None, True, False]


def test_an_item_without_words_and_one_with_code() -> None:
    found = blocks("- \n- ```\n  x\n  ```\n")
    assert [block.place.marker for block in found] == ["•", "•"]
    assert found[1] == CodeFence("x", "", found[1].place)


def test_looks_within_a_line() -> None:
    spans = parse_inline("a **b _c_** ~~d~~ `e*f*`")
    assert [span.text for span in spans] == ["a ", "b ", "c", " ", "d", " ", "e*f*"]
    assert spans[2] == Span("c", bold=True, italic=True)
    assert spans[4] == Span("d", struck=True)
    assert spans[6] == Span("e*f*", code=True)


@pytest.mark.parametrize(
    "plain",
    [
        "2*3*4 = 24",
        "2**3**4",
        "snake_case_name and another_one",
        "<b>bold</b>",
        "AT&T",
        "[1]: http://",
        "    four spaces",
        "5 * 3 * 2",
    ],
)
def test_what_is_no_markdown_stays(plain: str) -> None:
    assert words(plain) == plain.strip()


def test_a_line_below_makes_no_heading_of_the_one_above() -> None:
    assert [type(block) for block in blocks("Total\n---\n24")] == [
        MarkdownText,
        ThematicBreak,
        MarkdownText,
    ]
    assert all(not isinstance(block, MarkdownText) or not block.level for block in blocks("a\n==="))


def test_lines_stay_lines() -> None:
    assert words("one\ntwo  \nthree\\\nfour") == "one\ntwo\nthree\nfour"


def test_links_are_kept_where_they_may_be_opened() -> None:
    assert parse_inline("[site](https://a.example/x)") == (
        Span("site", link="https://a.example/x"),
    )
    assert parse_inline("<mailto:a@b.example>")[0].link == "mailto:a@b.example"
    assert parse_inline("see https://a.example/x_(y).")[1] == Span(
        "https://a.example/x_(y)", link="https://a.example/x_(y)"
    )
    assert parse_inline("(http://a.example)")[1].text == "http://a.example"


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://a", "a.md"]
)
def test_any_other_address_is_words(address: str) -> None:
    spans = parse_inline(f"[click]({address})")
    assert not any(span.link for span in spans)
    assert address in "".join(span.text for span in spans)


def test_a_picture_is_its_words_and_its_address() -> None:
    assert words("![A tram](/dev/zero)") == "A tram (/dev/zero)"
    assert words("![](https://a.example/x.png)") == "(https://a.example/x.png)"


@pytest.mark.parametrize("text", some([*HOSTILE_MARKDOWN, *HOSTILE]))
def test_nothing_hostile_breaks_it(text: str) -> None:
    found = blocks(text)
    for block in found:
        if isinstance(block, MarkdownText):
            assert not any(span.link.startswith(("file:", "javascript:")) for span in block.spans())
    letters = [letter for letter in text if letter.isalnum()]
    if text.isascii() and "&" not in text and "[" not in text and "```" not in text:
        shown = words(text)
        assert sum(map(str.isalnum, shown)) >= 0.5 * len(letters), "words were left out"


def test_what_is_too_deep_stays_as_it_was_written() -> None:
    assert words("> " * 1000 + "deep").endswith("deep")
    assert len(blocks("".join("  " * depth + "- x\n" for depth in range(200)))) == 200


@pytest.mark.parametrize("seed", some(range(40), 8))
def test_a_text_that_grows_is_read_as_one_that_is_there(seed: int) -> None:
    chance = random.Random(seed)
    pieces = ["- a", "\n", "\n\n", "1. b", "2", "> ", "  ", "```", "```py\n", "|a|b|\n", "|-|-|\n"]
    pieces += ["text ", "**b**", "# h\n", "---\n", "*", "`c`", "   "]
    text = "".join(chance.choice(pieces) for _ in range(120))
    growing, end = IncrementalMarkdown(), 0
    while end < len(text):
        end += chance.randint(1, 9)
        assert list(growing.read(text[:end])) == blocks(text[:end])


def test_a_long_list_is_settled_item_by_item() -> None:
    text = "".join(f"{number}. item **{number}**\n\n   more\n" for number in range(1, 400))
    growing = IncrementalMarkdown()
    for end in range(0, len(text), 97):
        growing.read(text[:end])
    assert list(growing.read(text)) == blocks(text)
    assert growing._read > len(text) - 5000


def test_a_text_that_changed_is_read_anew() -> None:
    growing = IncrementalMarkdown()
    growing.read("# one\n\ntwo\n\nthree")
    assert list(growing.read("other")) == blocks("other")


def test_an_answer_is_copied_as_words() -> None:
    text = (
        "# Title\n\nSome **bold** words.\n\n- one\n  - two\n- [x] done\n\n"
        "```\ncode\n```\n\n|a|b|\n|-|-|\n|1|`2`|\n\n---\n"
    )
    assert to_plain_text(text) == (
        "Title\n\nSome bold words.\n\n• one\n  ◦ two\n☑ done\n\ncode\n\na\tb\n1\t2\n\n———"
    )
