from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.images.editing import IMAGE_EDITING
from jarvis_desktop.tasks.images.io import (
    frame_count,
    on_white,
    read_image,
    read_pages,
    save_image,
    to_array,
)
from tests.tasks.calls import call_of
from tests.tasks.drawing import shapes


def encoded(image: Image.Image, kind: str, **how: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims to be of that size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM"])
def test_reads_the_usual_formats(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "picture"  # the name has no say
    file.write_bytes(encoded(Image.open(shapes(tmp_path / "s.png")), kind))
    image = read_image(file)
    assert (image.size, image.mode) == ((240, 160), "RGB")
    red = image.getpixel((160, 80))
    assert isinstance(red, tuple)
    assert red[0] > 150 > red[2]


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "I;16", "F"])
def test_every_mode_becomes_rgb(tmp_path: Path, mode: str) -> None:
    ramp = Image.linear_gradient("L")
    image = Image.fromarray(np.asarray(ramp, np.uint16) * 257) if mode == "I;16" else ramp
    file = tmp_path / "ramp.tif"
    (image if mode == "I;16" else image.convert(mode)).save(file)
    pixels = to_array(read_image(file))
    assert pixels[0].mean() < 5
    assert pixels[-1].mean() > 250


def test_turns_the_picture_as_the_camera_was_held(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.new("RGB", (60, 30), "red")
    file = tmp_path / "held.jpg"
    image.save(file, exif=exif)
    assert read_image(file).size == (30, 60)


def test_keeps_transparency_and_puts_it_on_white(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    clear.putpixel((5, 5), (0, 0, 255, 255))
    clear.save(tmp_path / "clear.png")
    image = read_image(tmp_path / "clear.png")
    assert image.mode == "RGBA"
    assert on_white(image).getpixel((0, 0)) == (255, 255, 255)
    Image.new("RGBA", (10, 10), "red").save(tmp_path / "opaque.png")
    assert read_image(tmp_path / "opaque.png").mode == "RGB"


def test_takes_the_pages_of_a_tiff_and_the_first_picture_of_a_gif(tmp_path: Path) -> None:
    colours = ["red", "green", "blue"]
    frames = [Image.new("RGB", (20, 20), colour) for colour in colours]
    for name in ("pages.tif", "moving.gif"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
        assert frame_count(tmp_path / name) == 3
    found = [page.getpixel((3, 3)) for page in read_pages(tmp_path / "pages.tif")]
    assert found == [(255, 0, 0), (0, 128, 0), (0, 0, 255)]
    assert len(list(read_pages(tmp_path / "moving.gif"))) == 1


@pytest.mark.parametrize("size", [(9_000, 9_000), (30_000, 30_000), (2_000_000, 900)])
def test_refuses_a_bomb_before_it_is_decoded(tmp_path: Path, size: tuple[int, int]) -> None:
    file = tmp_path / "x.png"
    file.write_bytes(bomb(*size))
    with pytest.raises(InputError, match=r"holiday\.png (is too large|claims)"):
        read_image(file, name="holiday.png")


def test_refuses_what_is_damaged(tmp_path: Path) -> None:
    whole = encoded(Image.open(shapes(tmp_path / "s.png")), "PNG")
    noise = np.random.default_rng(1).integers(0, 255, (80, 80, 3), np.uint8)
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"):
        file = tmp_path / f"cut.{kind.lower()}"
        data = encoded(Image.fromarray(noise), kind)
        file.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match=rf"cut\.{kind.lower()} is (damaged|not a picture)"):
            read_image(file)
    flipped = bytearray(whole)
    flipped[60] ^= 255
    (tmp_path / "flipped.png").write_bytes(flipped)
    with pytest.raises(InputError, match=r"flipped\.png is"):
        read_image(tmp_path / "flipped.png")


@pytest.mark.parametrize("content", [b"", b"hello", b"%PDF-1.4", b"\xff\xd8\xff", bytes(300)])
def test_refuses_what_is_no_picture(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.jpg"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.jpg is"):
        read_image(file)


def test_names_results_after_what_the_person_calls_the_picture(tmp_path: Path) -> None:
    call = call_of(IMAGE_EDITING.type, tmp_path / "work", image=shapes(tmp_path / "beach.jpg"))
    image = read_image(call.file("image"))
    assert save_image(image, call, "sketch").name == "beach-sketch.jpg"
    image.putalpha(100)
    saved = save_image(image, call, "sketch")
    assert saved.name == "beach-sketch.png"
    assert saved.path
    assert saved.path.parent == call.workdir


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("b-brightness.jpg", "b-sketch.jpg"),
        ("b-brightness-brightness.jpg", "b-sketch.jpg"),
        ("b-background-blur.jpg", "b-sketch.jpg"),
        ("-blur.jpg", "-blur-sketch.jpg"),
        ("my-holiday.jpg", "my-holiday-sketch.jpg"),
        (f"{'x' * 100}-sketch.jpg", f"{'x' * 60}-sketch.jpg"),
    ],
)
def test_names_tell_the_last_of_several_edits(tmp_path: Path, given: str, made: str) -> None:
    call = call_of(IMAGE_EDITING.type, tmp_path / "work", image=shapes(tmp_path / given))
    assert save_image(read_image(call.file("image")), call, "sketch").name == made
