"""What requests say of formats, pages and stretches of time."""

from __future__ import annotations

import pytest

from jarvis_desktop.text.parts import (
    clock_time,
    colour_asked,
    each_asked,
    format_asked,
    formats_asked,
    lists_of_formats,
    pages_asked,
    picture_size_asked,
    seconds_of,
    times_asked,
    words_written,
)


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        ("convert this to a pdf", "pdf"),
        ("convert the png to jpg", "jpg"),
        ("turn these three photos into one pdf", "pdf"),
        ("as a word document", "docx"),
        ("to .webp", "webp"),
        ("make a pdf of this", "pdf"),
        ("make me a gif", "gif"),
        ("give me one mp3", "mp3"),
        ("turn page 2 into a picture", "png"),
        ("turn it into a picture", ""),
        ("mach daraus ein pdf", "pdf"),
        ("wandle das in ein pdf um", "pdf"),
        ("konvertiere das nach mp3", "mp3"),
        ("als word-dokument", "docx"),
        ("convert it to dwg", "dwg"),
        ("convert this to text", ""),
        ("is the pdf there", ""),
    ],
)
def test_formats(said: str, ending: str) -> None:
    assert format_asked(said) == ending


@pytest.mark.parametrize(
    ("said", "endings"),
    [
        ("convert it to png and webp", ["png", "webp"]),
        ("save this as mp3, ogg and as flac", ["mp3", "ogg", "flac"]),
        ("into a word document and a pdf", ["docx", "pdf"]),
        ("in pdf und word", ["pdf", "docx"]),
        ("to pdf", []),
        ("a png of the pdf and a webp of it", []),
    ],
)
def test_several_formats(said: str, endings: list[str]) -> None:
    assert formats_asked(said) == endings
    assert bool(lists_of_formats(said)) == bool(endings)


@pytest.mark.parametrize(
    ("said", "pages"),
    [
        ("keep pages 2 to 5", "2-5"),
        ("pages two to five", "2-5"),
        ("extract pages 3 and 4 of", "3, 4"),
        ("pages 1, 3 and 5-7", "1, 3, 5-7"),
        ("from page 2 to page 4", "2-4"),
        ("page 3 and page 3", "3"),
        ("page 3 to the end", "3-last"),
        ("from page 3 on", "3-last"),
        ("after page 2", "3-last"),
        ("up to page 4", "1-4"),
        ("before page 4", "1-3"),
        ("the first two pages", "1-2"),
        ("the last page", "last"),
        ("the last 3 pages", "last 3"),
        ("the second page", "2"),
        ("odd pages", "odd"),
        ("the even pages", "even"),
        ("every 5 pages", "every 5"),
        ("seiten 2 bis 5", "2-5"),
        ("die ersten zwei seiten", "1-2"),
        ("die zweite seite", "2"),
        ("ab seite 3", "3-last"),
        ("page last", ""),
        ("the first picture", ""),
    ],
)
def test_pages(said: str, pages: str) -> None:
    assert pages_asked(said) == pages


@pytest.mark.parametrize(
    ("said", "times"),
    [
        ("cut out 0:30 to 1:10", "0:30-1:10"),
        ("between 10 and 20 seconds", "0:10-0:20"),
        ("from minute 1 to minute 2", "1:00-2:00"),
        ("seconds 5 to 10", "0:05-0:10"),
        ("1 minute 20 seconds to 2 minutes", "1:20-2:00"),
        ("from the beginning to 0:20", "0:00-0:20"),
        ("from 1:00 to the end", "1:00-end"),
        ("0:10 to 0:20 and 1:00 to 1:30", "0:10-0:20, 1:00-1:30"),
        ("the first 30 seconds", "0:00-0:30"),
        ("the first minute and a half", "0:00-1:30"),
        ("the last minute", "last 1:00"),
        ("the last half an hour", "last 30:00"),
        ("from 0:30 on", "0:30-end"),
        ("at 1:30", "1:30-end"),
        ("until 1:00", "0:00-1:00"),
        ("shorten it to half a minute", "0:00-0:30"),
        ("up to the end", "0:00-end"),
        ("every 10 minutes", "every 10:00"),
        ("von sekunde 5 bis 10", "0:05-0:10"),
        ("die ersten zehn sekunden", "0:00-0:10"),
        ("die letzte minute", "last 1:00"),
        ("make it faster", ""),
    ],
)
def test_times(said: str, times: str) -> None:
    assert times_asked(said) == times


def test_clock_times() -> None:
    assert [clock_time(at) for at in (0, 65, 3723, 2.5)] == ["0:00", "1:05", "1:02:03", "0:02.5"]
    assert [seconds_of(at) for at in ("1:02:03", "0:02,5", "2.5 minutes")] == [3723, 2.5, 150]


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("to 800 x 600", "800x600"),
        ("under 500 kb", "500 KB"),
        ("at most 1.5 megabytes", "1.5 MB"),
        ("make it 400 pixels wide", "400x"),
        ("300 px high", "x300"),
        ("with a width of 640 and a height of 480", "640x480"),
        ("640 pixels in width", "640x"),
        ("so that the longer side has 400 pixels", "longest 400"),
        ("to 1000px", "longest 1000"),
        ("no wider than 400 pixels wide", "at most 400x"),
        ("to a maximum of 800x600", "at most 800x600"),
        ("höchstens 900 px", "at most longest 900"),
        ("up to 2 mb", "2 MB"),
        ("at most 16:9", "16:9"),
        ("crop it to 16:9", "16:9"),
        ("the largest square in the middle", "1:1"),
        ("larger", None),
    ],
)
def test_sizes_of_pictures(said: str, size: str | None) -> None:
    assert picture_size_asked(said) == size


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("add the text HELLO to this picture", "HELLO"),
        ("put the caption Summer 2024 on a.png", "Summer 2024"),
        ("put a watermark saying DRAFT in the middle of the picture", "DRAFT"),
        ("write Top secret at the top of the photo", "Top secret"),
        ("add the words Sold out", "Sold out"),
        ("write Happy birthday underneath", "Happy birthday"),
        ("add text to this picture", ""),
        ("write the text on the picture to a file", ""),
    ],
)
def test_words_to_write_on_a_picture(said: str, words: str) -> None:
    assert words_written(said) == words


@pytest.mark.parametrize(
    ("said", "colour"),
    [
        ("write it in red", "red"),
        ("in bright yellow", "yellow"),
        ("in blauen", None),
        ("in blau", "blue"),
        ("with green letters", "green"),
        ("the red car", None),
    ],
)
def test_the_colour_of_letters(said: str, colour: str | None) -> None:
    assert colour_asked(said) == colour


@pytest.mark.parametrize(
    ("said", "each"),
    [
        ("split this list into one file for each country", "country"),
        ("split it by the customer and save the parts", "customer"),
        ("teile die liste in eine datei pro land", "land"),
        ("split the book into chapters", ""),
        ("split it every 100 rows", "100 rows"),
        ("cut it into two parts", ""),
    ],
)
def test_what_each_part_is_for(said: str, each: str) -> None:
    assert each_asked(said) == each
