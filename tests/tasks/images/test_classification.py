from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from jarvis_desktop.tasks.images.classification import IMAGE_CLASSIFICATION, describe, measure
from tests.tasks.calls import call_of, quiet, text_of
from tests.tasks.drawing import page, shapes


def said(file: Path, tmp_path: Path) -> str:
    return text_of(
        describe(call_of(IMAGE_CLASSIFICATION.type, tmp_path / "work", image=file), quiet)
    )


def test_says_kind_size_and_colours_and_what_it_cannot(tmp_path: Path) -> None:
    text = said(shapes(tmp_path / "s.png"), tmp_path)
    assert text.startswith("s.png is a graphic, chart or screenshot with flat colours, 240 by 160")
    assert "(wide)" in text
    assert "mostly blue and red" in text
    assert text.endswith("I measure pictures; to say what they show I need an expert.")


def test_knows_a_page_of_text(tmp_path: Path) -> None:
    file = page(tmp_path / "p.png", ("A page with some words on it",) * 8)
    assert "a page of text or a drawing on white" in said(file, tmp_path)


@pytest.mark.parametrize(("colour", "light"), [("black", "dark"), ("white", "bright")])
def test_knows_a_blank_picture(tmp_path: Path, colour: str, light: str) -> None:
    Image.new("RGB", (50, 50), colour).save(tmp_path / "b.png")
    text = said(tmp_path / "b.png", tmp_path)
    assert "b.png is blank, 50 by 50 pixels (square)" in text
    assert f"mostly {colour}, {light}." in text


def test_tells_sharp_from_blurred() -> None:
    steps = np.random.default_rng(2).integers(0, 255, (30, 40, 3), np.uint8)
    sharp = Image.fromarray(steps).resize((800, 600), Image.Resampling.NEAREST)
    noise = np.random.default_rng(3).integers(-12, 12, (600, 800, 3))
    photo = Image.fromarray(np.clip(np.asarray(sharp) + noise, 0, 255).astype(np.uint8))
    blurred = photo.filter(ImageFilter.GaussianBlur(6))
    assert measure(np.asarray(photo)).sharpness == ", sharp"
    assert measure(np.asarray(blurred)).sharpness == ", blurred"
