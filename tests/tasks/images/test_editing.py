from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.definition import presets
from jarvis_desktop.tasks.images.editing import IMAGE_EDITING, PHRASES, edit
from jarvis_desktop.tasks.images.io import EDITS
from tests.tasks.calls import call_of, quiet
from tests.tasks.drawing import face, shapes

SIZE = (240, 160)


def edited(image: Path, tmp_path: Path, **options: Value) -> Image.Image:
    (artifact,) = edit(
        call_of(IMAGE_EDITING.type, tmp_path / "work", image=image, **options), quiet
    )
    assert artifact.path
    with Image.open(artifact.path) as opened:
        return opened.copy()


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB"), np.float64)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    return shapes(tmp_path / "shapes.png", size=SIZE)


def test_a_border_is_around_the_picture(tmp_path: Path, picture: Path) -> None:
    framed = edited(picture, tmp_path, edit="border", amount=5.0, colour="red")
    assert framed.size == (SIZE[0] + 10, SIZE[1] + 10)
    assert framed.getpixel((4, 4)) == (255, 0, 0)
    with Image.open(picture) as before:
        assert framed.getpixel((5, 5)) == before.getpixel((0, 0))


@pytest.mark.parametrize("edit_name", ["clean", "grey"])
def test_nothing_is_left_of_when_and_where_a_photo_was_taken(
    tmp_path: Path, edit_name: str
) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Model] = "Camera"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    photo = Image.new("RGB", (40, 20), "blue")
    photo.save(tmp_path / "photo.jpg", exif=exif, comment=b"At home", xmp=b"<x>At home</x>")
    with Image.open(tmp_path / "photo.jpg") as saved:
        assert saved.getexif()
    assert not edited(tmp_path / "photo.jpg", tmp_path, edit=edit_name).getexif()
    made = next((tmp_path / "work").glob("*.jpg")).read_bytes()
    assert b"At home" not in made


Check = Callable[[np.ndarray, np.ndarray], bool]


@pytest.mark.parametrize(
    ("name", "amount", "holds"),
    [
        ("grey", 0.0, lambda a, b: np.ptp(b, axis=2).max() == 0),
        ("brightness", 0.0, lambda a, b: b.mean() > a.mean() + 5),
        ("brightness", 30.0, lambda a, b: b.mean() > a.mean() + 5 and b.max() == 255),
        ("brightness", -30.0, lambda a, b: b.mean() < a.mean() - 5),
        ("brightness", -100.0, lambda a, b: b.max() == 0),
        ("contrast", 40.0, lambda a, b: b.std() > a.std() * 1.05),
        ("contrast", -40.0, lambda a, b: b.std() < a.std() * 0.95),
        ("colour", 40.0, lambda a, b: np.ptp(b, axis=2).mean() > np.ptp(a, axis=2).mean() + 5),
        ("colour", -100.0, lambda a, b: np.ptp(b, axis=2).max() <= 2),
        ("blur", 5.0, lambda a, b: np.abs(np.diff(b, axis=1)).max() < 60),
        ("sharpen", 0.0, lambda a, b: np.abs(np.diff(b, axis=1)).max() > 200),
        ("invert", 0.0, lambda a, b: np.allclose(a + b, 255)),
        ("sepia", 0.0, lambda a, b: (b[..., 0] >= b[..., 2]).all()),
        ("sketch", 0.0, lambda a, b: np.ptp(b, axis=2).max() == 0 and (b > 200).mean() > 0.5),
        ("cartoon", 0.0, lambda a, b: b.min() < 80),
        ("painting", 0.0, lambda a, b: b[80, 160, 0] > 150),
        ("enhance", 0.0, lambda a, b: b.std() > a.std()),
    ],
)
def test_does_what_its_name_says(
    picture: Path, tmp_path: Path, name: str, amount: float, holds: Check
) -> None:
    out = edited(picture, tmp_path, edit=name, amount=amount)
    assert out.size == SIZE
    assert holds(pixels(Image.open(picture)), pixels(out))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"edit": "rotate"}, lambda a: np.rot90(a, -1)),
        ({"edit": "rotate", "amount": 180.0}, lambda a: np.rot90(a, 2)),
        ({"edit": "rotate", "amount": -90.0}, np.rot90),
        ({"edit": "rotate", "amount": 270.0}, np.rot90),
        ({"edit": "rotate", "direction": "left"}, np.rot90),
        ({"edit": "flip"}, lambda a: a[:, ::-1]),
        ({"edit": "flip", "direction": "vertical"}, lambda a: a[::-1]),
        ({"edit": "crop", "direction": "left"}, lambda a: a[:, :120]),
        ({"edit": "crop", "direction": "bottom"}, lambda a: a[80:]),
        ({"edit": "crop", "amount": 50.0}, lambda a: a[40:120, 60:180]),
        ({"edit": "crop", "size": "100x60"}, lambda a: a[50:110, 70:170]),
        ({"edit": "crop", "size": "1:1"}, lambda a: a[:, 40:200]),
        ({"edit": "crop", "size": "12:4"}, lambda a: a[40:120]),
        ({"edit": "resize", "size": "3:1"}, lambda a: a[40:120]),
    ],
)
def test_moves_pixels_exactly(
    picture: Path,
    tmp_path: Path,
    options: dict[str, Value],
    expected: Callable[[np.ndarray], np.ndarray],
) -> None:
    out = pixels(edited(picture, tmp_path, **options))
    np.testing.assert_array_equal(out, expected(pixels(Image.open(picture))))


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({}, (120, 80)),
        ({"amount": 200.0}, (480, 320)),
        ({"size": "300x100"}, (300, 100)),
        ({"size": "120x"}, (120, 80)),
        ({"size": "x80"}, (120, 80)),
        ({"size": "1200"}, (1200, 800)),
        ({"size": "longest 120"}, (120, 80)),
        ({"size": "at most 120x"}, (120, 80)),
        ({"size": "at most 1200x"}, (240, 160)),
        ({"size": "at most longest 60"}, (60, 40)),
        ({"size": "at most 500x40"}, (60, 40)),
        ({"size": "at most 500x400"}, (240, 160)),
        ({"size": "longest 120", "amount": 50.0}, (120, 80)),
    ],
)
def test_resizes(
    picture: Path, tmp_path: Path, options: dict[str, Value], size: tuple[int, int]
) -> None:
    assert edited(picture, tmp_path, edit="resize", **options).size == size


def test_the_longer_side_of_an_upright_picture_is_its_height(tmp_path: Path) -> None:
    upright = shapes(tmp_path / "upright.png", size=(SIZE[1], SIZE[0]))
    assert edited(upright, tmp_path, edit="resize", size="longest 120").size == (80, 120)


def test_a_blur_is_told_in_pixels(picture: Path, tmp_path: Path) -> None:
    said, meant = (
        pixels(edited(picture, tmp_path, edit="blur", **way))
        for way in ({"size": "longest 9"}, {"amount": 9.0})
    )
    assert np.array_equal(said, meant)


@pytest.mark.parametrize("size", ["8 KB", "0.02 MB"])
def test_a_picture_is_made_small_enough(picture: Path, tmp_path: Path, size: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), np.uint8)
    Image.fromarray(noise).save(picture)
    assert edited(picture, tmp_path, edit="resize", size=size).width > 100
    (made,) = tmp_path.glob("work/*-resize.jpg")
    assert 3_000 < made.stat().st_size <= float(size.split()[0]) * (1e6 if "M" in size else 1e3)
    with pytest.raises(InputError, match="cannot be made so small"):
        edited(picture, tmp_path, edit="resize", size="0.1 KB")


def test_a_slanted_turn_keeps_the_corners(picture: Path, tmp_path: Path) -> None:
    out = edited(picture, tmp_path, edit="rotate", amount=30.0)
    assert out.width > SIZE[0] * 0.8
    assert out.height > SIZE[1]
    assert out.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(
    "options",
    [
        {"edit": "resize", "size": "huge"},
        {"edit": "resize", "size": "90000x90000"},
        {"edit": "resize", "amount": -5.0},
        {"edit": "resize", "amount": 100_000.0},
        {"edit": "crop", "amount": 300.0},
    ],
)
def test_refuses_what_cannot_be(picture: Path, tmp_path: Path, options: dict[str, Value]) -> None:
    with pytest.raises(InputError):
        edited(picture, tmp_path, **options)


@pytest.mark.parametrize("name", [name for name in EDITS if name != "background-blur"])
def test_keeps_transparency(tmp_path: Path, name: str) -> None:
    clear = Image.open(shapes(tmp_path / "s.png")).convert("RGBA")
    clear.paste((0, 0, 0, 0), (0, 0, 240, 40))
    clear.save(tmp_path / "clear.png")
    out = edited(tmp_path / "clear.png", tmp_path, edit=name, words="Hi")
    assert out.mode == "RGBA"
    assert out.getchannel("A").getextrema() == (0, 255)


def test_blurs_what_is_behind_and_not_the_face(tmp_path: Path) -> None:
    noise = np.random.default_rng(3).integers(60, 200, (300, 400, 3), np.uint8)
    image = Image.fromarray(noise)
    face(image, middle=(200, 140), size=130)
    image.save(tmp_path / "portrait.png")
    before, after = (
        pixels(Image.open(tmp_path / "portrait.png")),
        pixels(edited(tmp_path / "portrait.png", tmp_path, edit="background-blur")),
    )
    change = np.abs(before - after).mean(axis=2)
    assert change[120:170, 170:230].mean() < 1
    assert after[:60, :60].std() < 0.5 * before[:60, :60].std()


def test_works_on_a_single_pixel(tmp_path: Path) -> None:
    Image.new("RGB", (1, 1), "red").save(tmp_path / "dot.png")
    for name in EDITS:
        if name != "background-blur":
            assert min(edited(tmp_path / "dot.png", tmp_path, edit=name, words="Hi").size) >= 1


def test_the_cues_name_edits_and_options_that_exist() -> None:
    found = {preset.phrase: dict(preset.options) for preset in presets(*PHRASES)}
    for phrase, options in found.items():
        assert phrase == phrase.lower()
        assert options["edit"] in EDITS
        for option, value in options.items():
            known = IMAGE_EDITING.type.option(option)
            assert known
            assert isinstance(value, type(known.default))
            assert not known.choices or value in known.choices
    assert {options["edit"] for options in found.values()} == set(EDITS)
    assert found["upside down"] == {"edit": "rotate", "amount": 180.0}


@pytest.mark.parametrize(
    ("direction", "rows", "columns"),
    [
        ("", slice(110, 160), slice(60, 180)),
        ("top", slice(0, 50), slice(60, 180)),
        ("middle", slice(55, 105), slice(60, 180)),
        ("left", slice(55, 105), slice(0, 120)),
    ],
)
def test_writes_words_on_a_picture(
    tmp_path: Path, direction: str, rows: slice, columns: slice
) -> None:
    Image.new("RGB", SIZE, "navy").save(tmp_path / "sky.png")
    made = edited(
        tmp_path / "sky.png", tmp_path, edit="caption", words="HELLO", direction=direction
    )
    written = np.abs(pixels(made) - (0, 0, 128)).max(axis=2) > 60
    assert written[rows, columns].sum() == written.sum() > 200


def test_long_words_are_set_in_lines_that_fit(tmp_path: Path) -> None:
    Image.new("RGB", SIZE, "navy").save(tmp_path / "sky.png")
    made = edited(tmp_path / "sky.png", tmp_path, edit="caption", words="many happy returns " * 6)
    written = np.abs(pixels(made) - (0, 0, 128)).max(axis=2) > 60
    assert not written[:, (0, 1, 2, -1, -2, -3)].any()
    assert written.any(axis=1).sum() > 60


def test_says_which_words_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.tasks.formats.document_pdf._fonts", list)
    Image.new("RGB", SIZE, "navy").save(tmp_path / "sky.png")
    for words, told in (("", "which words"), ("漢字", "No font")):
        with pytest.raises(InputError, match=told):
            edited(tmp_path / "sky.png", tmp_path, edit="caption", words=words)


def test_a_caption_has_the_colour_that_was_asked_for(tmp_path: Path) -> None:
    Image.new("RGB", SIZE, "navy").save(tmp_path / "sky.png")
    asked = {"edit": "caption", "words": "HELLO"}
    made = pixels(edited(tmp_path / "sky.png", tmp_path, **asked, colour="red"))
    assert ((made == (255, 0, 0)).all(axis=2)).mean() > 0.01
    with pytest.raises(InputError, match="“dull” is not a colour"):
        edited(tmp_path / "sky.png", tmp_path, **asked, colour="dull")
