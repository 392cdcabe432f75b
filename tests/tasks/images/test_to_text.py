from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from rapidfuzz.distance import Levenshtein

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.images.ocr import find_lines
from jarvis_desktop.tasks.images.to_text import IMAGE_TO_TEXT, read
from tests.tasks.calls import Reports, call_of, quiet, text_of
from tests.tasks.drawing import page, shapes, two_columns

LETTER = (
    "Dear Miss Harper,",
    "we are glad to tell you that your",
    "library books arrived on Tuesday.",
    "Please collect them before noon.",
)


def words_of(file: Path, tmp_path: Path) -> str:
    return " ".join(
        text_of(read(call_of(IMAGE_TO_TEXT.type, tmp_path / "work", image=file), quiet)).split()
    )


def wrong(found: str, meant: str) -> float:
    return Levenshtein.distance(found, meant) / len(meant)


@pytest.mark.parametrize("turned", [0, 90, 180, 4, pytest.param(270, marks=pytest.mark.exhaustive)])
def test_reads_a_page_however_it_lies(tmp_path: Path, turned: int) -> None:
    found = words_of(page(tmp_path / "letter.png", LETTER, turned=turned), tmp_path)
    assert wrong(found, " ".join(LETTER)) < 0.03


def test_obeys_the_orientation_of_the_camera(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    upright = Image.open(page(tmp_path / "letter.png", LETTER))
    upright.rotate(-90, expand=True).save(tmp_path / "held.jpg", exif=exif, quality=90)
    assert wrong(words_of(tmp_path / "held.jpg", tmp_path), " ".join(LETTER)) < 0.03


def test_reads_white_on_dark(tmp_path: Path) -> None:
    image = Image.open(page(tmp_path / "a.png", ("CITY MUSEUM", "Open daily 9 to 5")))
    Image.fromarray(255 - np.asarray(image)).save(tmp_path / "sign.png")
    assert wrong(words_of(tmp_path / "sign.png", tmp_path), "CITY MUSEUM Open daily 9 to 5") < 0.05


@pytest.mark.parametrize("text", ["Grüße aus Köln, 12,50 €", "Où est passé le garçon ?"])
def test_reads_accents(tmp_path: Path, text: str) -> None:
    image = Image.new("RGB", (640, 480), "white")
    font = ImageFont.truetype(shipped("resources", "fonts", "Inter-Regular.ttf"), 26)
    ImageDraw.Draw(image).text((40, 40), text, "black", font)
    image.save(tmp_path / "a.png")
    assert words_of(tmp_path / "a.png", tmp_path) == text


def test_reads_columns_in_order(tmp_path: Path) -> None:
    left = ("The hen laid an egg on Monday", "and told nobody about it for a", "week or so.")
    right = ("When the farmer came home he", "did not look into the nest but", "sat at the table.")
    found = words_of(two_columns(tmp_path / "columns.png", left, right), tmp_path)
    assert wrong(found, " ".join(left + right)) < 0.04


def test_reads_each_page_of_a_tiff(tmp_path: Path) -> None:
    pages = [Image.open(page(tmp_path / f"{n}.png", (n,))) for n in ("First page", "Second page")]
    pages[0].save(tmp_path / "scan.tif", save_all=True, append_images=pages[1:])
    reports = Reports()
    found = text_of(
        read(call_of(IMAGE_TO_TEXT.type, tmp_path / "work", image=tmp_path / "scan.tif"), reports)
    )
    assert found == "First page\n\nSecond page"
    assert [fraction for fraction, _ in reports.heard] == [0.0, 0.5]


def test_puts_spaces_between_words(tmp_path: Path) -> None:
    image = Image.open(page(tmp_path / "a.png", ("Octavia Hill and Social Reform",), width=560))
    (line,) = find_lines(np.asarray(image, np.uint8))
    assert line.text == "Octavia Hill and Social Reform"
    assert line.score > 0.9


def test_reads_a_thin_strip_without_blowing_it_up(tmp_path: Path) -> None:
    image = Image.open(page(tmp_path / "a.png", ("work on line level",), width=1500))
    image.crop((0, 38, 1500, 76)).save(tmp_path / "strip.png")
    assert words_of(tmp_path / "strip.png", tmp_path) == "work on line level"


@pytest.mark.parametrize("size", [(240, 160), (1, 1), (3, 400)])
def test_says_that_there_is_no_text(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, (90, 120, 80)).save(tmp_path / "meadow.png")
    with pytest.raises(ExpertError, match=r"There is no text in meadow\.png that I can read\."):
        read(call_of(IMAGE_TO_TEXT.type, tmp_path / "work", image=tmp_path / "meadow.png"), quiet)


def test_sees_no_text_in_shapes(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="no text"):
        read(
            call_of(IMAGE_TO_TEXT.type, tmp_path / "work", image=shapes(tmp_path / "s.png")), quiet
        )


def test_names_a_broken_file(tmp_path: Path) -> None:
    file = tmp_path / "scan.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(InputError, match=r"scan\.png is not a picture"):
        read(call_of(IMAGE_TO_TEXT.type, tmp_path / "work", image=file), quiet)
