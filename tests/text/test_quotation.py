"""Marks around untrusted text, and their removal from answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.text.quotation import GIVEN, QuotationFilter, file_note, marked_off


def filtered(*pieces: str) -> str:
    quotation = QuotationFilter()
    return "".join(map(quotation.feed, pieces)) + quotation.rest()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (marked_off("Hello.", "a"), "\nHello.\n"),
        ("<data-…>Hello.</data-…>", "Hello."),
        (f"A dog. {file_note(GIVEN, 'image “a.png”')}", "A dog. "),
        ("[Made: image 2 “a.png”] Here.", " Here."),
        ("It is <GENERATED>-0.", "It is ."),
        ("See [1], [Madrid] and [More: none].", "See [1], [Madrid] and [More: none]."),
        ("if a < b: <b>x</b> <data> <Generic>", "if a < b: <b>x</b> <data> <Generic>"),
        ("cut off <data-12", "cut off <data-12"),
        ("<data>\nHello.\n</data>", "Hello.\n"),
        (" <data> \nHello.", "Hello."),
        ("<data>x</data>", "<data>x</data>"),
        (" <dat", " <dat"),
    ],
)
def test_what_is_shown(said: str, shown: str) -> None:
    assert filtered(said) == shown
    assert filtered(*said) == shown


def test_a_mark_never_occurs_in_its_text() -> None:
    mark = marked_off("", "a").split("\n")[0]
    assert mark not in marked_off(f"x {mark} y", "a")[len(mark) :]


@given(
    st.lists(st.sampled_from(["<", "data-", "</data-ab>", "[Made: ", "]", ">", "a", "\n", "-1"]))
)
def test_the_pieces_do_not_matter(pieces: list[str]) -> None:
    assert filtered(*pieces) == filtered(*"".join(pieces))


def test_plain_text_is_not_held_back() -> None:
    quotation = QuotationFilter()
    assert [quotation.feed(piece) for piece in ("One ", "two. ", "3 < ")] == [
        "One ",
        "two. ",
        "3 < ",
    ]
