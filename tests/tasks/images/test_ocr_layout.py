from __future__ import annotations

from jarvis_desktop.tasks.images.ocr import Line, blocks_of, page_text, rows_of

LEFT = (
    "The hen laid an egg on Monday and",
    "told nobody about it for a week or",
    "so, because she was shy and the",
    "farmer was away at the market in",
    "the next town, buying a new hat.",
)
RIGHT = (
    "When he came home at last he did",
    "not look into the nest, but sat at",
    "the table and ate the bread which",
    "was left over from the day before",
    "and thought about his new cow.",
)


def line(text: str, left: float, top: float, *, height: float = 20) -> Line:
    return Line(text, 1.0, left, top, left + 10 * len(text), top + height)


def column(texts: tuple[str, ...], left: float, top: float = 0) -> list[Line]:
    return [line(text, left, top + 28 * i) for i, text in enumerate(texts)]


def test_what_stands_beside_each_other_is_one_row() -> None:
    lines = [line("3.40", 500, 4), line("Total", 0, 30), line("Tea", 0, 0), line("3.40", 500, 32)]
    assert [[item.text for item in row] for row in rows_of(lines)] == [
        ["Tea", "3.40"],
        ["Total", "3.40"],
    ]


def test_columns_are_read_one_after_the_other() -> None:
    # The right column lies half a line lower, as on scans.
    text = page_text([*column(RIGHT, 420, 13), *column(LEFT, 0)])
    assert text == " ".join(LEFT) + "\n\n" + " ".join(RIGHT)


def test_a_heading_and_a_footer_stay_around_columns() -> None:
    heading = line("A story about a hen and a farmer, told again by her brother", 100, -60)
    footer = line("Page 7 of this book, and not the last one of its many pages", 100, 220)
    blocks = blocks_of([footer, *column(LEFT, 0), heading, *column(RIGHT, 420)])
    assert [len(block) for block in blocks] == [1, 5, 5, 1]
    assert blocks[0] == [heading]


def test_prices_stay_with_their_things() -> None:
    things = ("Flat white", "Cheese scone", "Lemon cake", "Apple juice", "Subtotal", "Total")
    lines = column(things, 0) + [line(f"{i}.50", 500, 28 * i) for i in range(6)]
    assert page_text(lines).splitlines() == [f"{t} {i}.50" for i, t in enumerate(things)]


def test_a_word_cut_at_the_end_of_a_line_is_joined() -> None:
    lines = column(("It was a dark and stormy eve-", "ning, and the inn had no room"), 0)
    assert page_text(lines) == "It was a dark and stormy evening, and the inn had no room"


def test_short_lines_and_paragraphs_stay_apart() -> None:
    letter = [*column(("Dear Ada,", "thank you."), 0), *column(LEFT, 0, 100)]
    assert page_text(letter) == "Dear Ada,\nthank you.\n\n" + " ".join(LEFT)


def test_an_empty_page_has_no_text() -> None:
    assert page_text([]) == ""
