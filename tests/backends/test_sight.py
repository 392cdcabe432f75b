"""Experts that look at pictures, each really run, with tiny weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.task import Value
from tests.backends.bench import Bench
from tests.tasks.filming import film

pytestmark = pytest.mark.timeout(300)

SIZE = (80, 60)


def noise(size: tuple[int, int] = SIZE) -> Image.Image:
    values = np.random.default_rng(1).random((size[1], size[0], 3)) * 255
    return Image.fromarray(values.astype(np.uint8))


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    noise().save(tmp_path / "photo.jpg", quality=95)
    return tmp_path / "photo.jpg"


def opened(result: Artifact) -> Image.Image:
    assert result.kind is Kind.IMAGE
    assert result.path
    with Image.open(result.path) as image:
        image.load()
        return image


def lines(text: str) -> dict[str, int]:
    pairs = (line.rsplit(": ", 1) for line in text.splitlines())
    return {label: int(share.removesuffix("%")) for label, share in pairs}


def test_a_picture_is_classified(bench: Bench, photo: Path):
    said = bench.text("image-classification", "tiny_sight:classifier", {"image": photo})
    assert list(lines(said)) == ["dog", "traffic light", "person"]
    assert lines(said)["dog"] == 84
    with pytest.raises(ExpertError, match="not its measures"):
        bench.run(
            "image-classification", "tiny_sight:classifier", {"image": photo},
            {"about": "measures"},
        )  # fmt: skip


@pytest.mark.parametrize("expert", ["matcher", "sigmoid_matcher"])
@pytest.mark.parametrize("labels", ["cat, dog", "is this a cat or a dog?"])
def test_a_picture_is_sorted_under_labels(bench: Bench, photo: Path, expert: str, labels: str):
    task, options = "zero-shot-image-classification", {"labels": labels}
    said = bench.text(task, f"tiny_sight:{expert}", {"image": photo}, options=options)
    assert set(lines(said)) == {"cat", "dog"}
    assert 99 <= sum(lines(said).values()) <= 101
    again = bench.text(task, f"tiny_sight:{expert}", {"image": photo}, options=options)
    assert again == said


def test_one_label_is_no_choice(bench: Bench, photo: Path):
    with pytest.raises(InputError, match="at least two labels"):
        bench.run(
            "zero-shot-image-classification", "tiny_sight:matcher", {"image": photo},
            {"labels": "cat"},
        )  # fmt: skip


@pytest.mark.parametrize("expert", ["tiny_sight:metres", "tiny_media:depth"])
def test_depth_is_a_grey_picture_of_the_same_size(bench: Bench, photo: Path, expert: str):
    (result,) = bench.run("depth-estimation", expert, {"image": photo})
    image = opened(result)
    assert (image.mode, image.size, result.name) == ("L", SIZE, "photo-depth.png")
    assert image.getextrema() == (0, 255)


@pytest.mark.parametrize("seconds", [1, 3])
def test_a_film_is_watched(bench: Bench, tmp_path: Path, seconds: int):
    clip = film(tmp_path / "clip.mp4", seconds=seconds, sound=False)
    said = bench.text("video-classification", "tiny_sight:watcher", {"video": clip})
    assert set(lines(said)) == {"dancing", "cooking", "swimming"}
    assert 99 <= sum(lines(said).values()) <= 101


def test_a_film_of_one_picture_is_watched(bench: Bench, tmp_path: Path):
    clip = film(tmp_path / "clip.mp4", seconds=1, rate=1, sound=False)
    said = bench.text("video-classification", "tiny_sight:watcher", {"video": clip})
    assert len(lines(said)) == 3
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(clip.read_bytes()[: clip.stat().st_size // 2])
    with pytest.raises(InputError, match=r"broken\.mp4"):
        bench.run("video-classification", "tiny_sight:watcher", {"video": broken})


@pytest.mark.parametrize(("expert", "label"), [("finder", "one dog"), ("quick_finder", "5 people")])
def test_things_are_found_and_drawn(bench: Bench, photo: Path, expert: str, label: str):
    found, words = bench.run("object-detection", f"tiny_finders:{expert}", {"image": photo})
    assert (words.text or "").startswith(f"I find {label} in photo.jpg")
    assert found.name == "photo-found.jpg"
    changed = np.abs(np.asarray(opened(found), int) - np.asarray(Image.open(photo), int))
    assert opened(found).size == SIZE
    assert (changed.sum(axis=2) > 150).sum() > 20


def test_only_what_was_asked_for_is_told(bench: Bench, photo: Path):
    task, given = "object-detection", {"image": photo}
    words = bench.run(task, "tiny_finders:finder", given, {"what": "people"})[1]
    assert words.text == "I find no people in photo.jpg."
    words = bench.run(task, "tiny_finders:finder", given, {"what": "the dogs"})[1]
    assert words.text == "I find one dog in photo.jpg, in the middle."
    words = bench.run(task, "tiny_finders:finder", given, {"threshold": 0.99})[1]
    assert words.text == "I find no things that I know in photo.jpg."
    with pytest.raises(ExpertError, match="finder does not know zebras"):
        bench.run(task, "tiny_finders:finder", given, {"what": "zebras"})


@pytest.mark.parametrize("what", ["find the cat in the picture", "cat"])
def test_what_words_name_is_found(bench: Bench, photo: Path, what: str):
    found, words = bench.run(
        "zero-shot-object-detection", "tiny_finders:word_finder", {"image": photo}, {"what": what}
    )
    assert (words.text or "").startswith("I find 4 cats in photo.jpg: ")
    assert opened(found).size == SIZE
    assert np.any(np.asarray(opened(found)) != np.asarray(Image.open(photo)))


def test_grounding_dino_names_what_it_found(bench: Bench, photo: Path):
    options: dict[str, Value] = {"what": "cat, dog", "threshold": 0.01}
    words = bench.run(
        "zero-shot-object-detection", "tiny_finders:grounded_finder", {"image": photo}, options
    )[1]
    assert "cat" in (words.text or "")
    with pytest.raises(InputError, match="needs a name"):
        bench.run(
            "zero-shot-object-detection", "tiny_finders:grounded_finder", {"image": photo},
            {"what": "find it"},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("expert", "label"), [("parter", "traffic light"), ("panoptic_parter", "people")]
)
def test_a_picture_is_parted(bench: Bench, photo: Path, expert: str, label: str):
    task = "image-segmentation"
    parts, words = bench.run(task, f"tiny_sight:{expert}", {"image": photo}, {"what": "everything"})
    assert label in (words.text or "")
    assert (parts.name, opened(parts).size) == ("photo-parts.jpg", SIZE)
    changed = np.abs(np.asarray(opened(parts), int) - np.asarray(Image.open(photo), int))
    assert (changed.sum(axis=2) > 30).mean() > 0.5
    with pytest.raises(ExpertError, match="not which one is in front"):
        bench.run(task, f"tiny_sight:{expert}", {"image": photo}, {"what": "foreground"})


def test_what_is_named_is_cut_out(bench: Bench, photo: Path):
    task, given = "image-segmentation", {"image": photo}
    what = {"what": "cut out the traffic lights"}
    cut, mask, words = bench.run(task, "tiny_sight:parter", given, what)
    assert (opened(cut).mode, opened(mask).mode) == ("RGBA", "L")
    assert opened(cut).size == opened(mask).size == SIZE
    inside = np.asarray(opened(mask))
    assert set(np.unique(inside)) == {0, 255}
    assert np.array_equal(np.asarray(opened(cut))[:, :, 3], inside)
    share = f"{(inside > 0).mean():.0%}"
    assert words.text == f"In photo.jpg I find traffic light ({share} of the picture)."
    with pytest.raises(ExpertError, match="does not know unicorn"):
        bench.run(task, "tiny_sight:parter", given, {"what": "cut out the unicorn"})


def test_a_picture_is_taken_to_pieces(bench: Bench, photo: Path):
    task, given = "mask-generation", {"image": photo}
    parts, mask, words = bench.run(task, "tiny_sight:masker", given)
    assert "pieces" in (words.text or "")
    assert opened(parts).size == opened(mask).size == SIZE
    colours = opened(mask).getcolors()
    assert colours
    assert len(colours) >= 2
    assert any(told.endswith(" of 1024") for _, told in bench.reports)
    again = bench.run(task, "tiny_sight:masker", given, {"most": 1})
    assert "piece (" in (again[2].text or "")


def one_pixel(path: Path) -> Path:
    return saved(noise((1, 1)), path.with_suffix(".png"))


def very_wide(path: Path) -> Path:
    return saved(noise((900, 3)), path.with_suffix(".png"))


def clear(path: Path) -> Path:
    image = noise()
    image.putalpha(Image.linear_gradient("L").resize(SIZE))
    return saved(image, path.with_suffix(".png"))


def palette(path: Path) -> Path:
    return saved(noise().quantize(16), path.with_suffix(".png"))


def turned(path: Path) -> Path:
    """Lies on its side, and says so: it is 60 by 80 pixels to a person."""
    exif = Image.Exif()
    exif[0x0112] = 6
    noise().save(path.with_suffix(".jpg"), exif=exif)
    return path.with_suffix(".jpg")


def printed(path: Path) -> Path:
    return saved(noise().convert("CMYK"), path.with_suffix(".jpg"))


def deep(path: Path) -> Path:
    values = np.arange(80 * 60, dtype=np.uint16).reshape(60, 80) * 13
    return saved(Image.fromarray(values), path.with_suffix(".png"))


def moving(path: Path) -> Path:
    path = path.with_suffix(".gif")
    noise().save(path, save_all=True, append_images=[Image.new("RGB", SIZE)], duration=100)
    return path


def saved(image: Image.Image, path: Path) -> Path:
    image.save(path)
    return path


@pytest.mark.parametrize(
    "make", [one_pixel, very_wide, clear, palette, turned, printed, deep, moving]
)
def test_every_kind_of_picture_is_seen(bench: Bench, tmp_path: Path, make: Callable[[Path], Path]):
    given = {"image": make(tmp_path / "odd")}
    with Image.open(given["image"]) as image:
        size = image.size[::-1] if make is turned else image.size
    for task, expert in (
        ("object-detection", "tiny_finders:finder"),
        ("image-segmentation", "tiny_sight:parter"),
        ("mask-generation", "tiny_sight:masker"),
        ("depth-estimation", "tiny_sight:metres"),
    ):
        first = bench.run(task, expert, given)[0]
        assert opened(first).size == size, expert
    assert bench.text("image-classification", "tiny_sight:classifier", given)


def test_what_is_no_picture_is_refused(bench: Bench, tmp_path: Path):
    note = tmp_path / "note.png"
    note.write_text("http://127.0.0.1/x.png")
    for task, expert in (
        ("object-detection", "tiny_finders:finder"),
        ("mask-generation", "tiny_sight:masker"),
    ):
        with pytest.raises(InputError, match=r"note\.png is not a picture"):
            bench.run(task, expert, {"image": note})
