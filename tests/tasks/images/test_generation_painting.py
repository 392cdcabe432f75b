"""What all tasks that make pictures and films read from their options."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.images import editing, generation
from jarvis_desktop.tasks.images.generation import (
    CONTROL_TEXT_TO_IMAGE,
    REGIONS,
    file_stem,
    fit_size,
    picture_size,
    prompts,
    region_box,
    seed_of,
    strength_of,
)
from jarvis_desktop.tasks.registry import INVENTORY
from tests.tasks.calls import call_of, quiet
from tests.tasks.drawing import shapes


def asked(tmp_path: Path, **options):
    return call_of(generation.TEXT_TO_IMAGE.type, tmp_path, prompt="a castle", **options)


@pytest.mark.parametrize(
    ("size", "drawn", "wanted"),
    [
        ("", (512, 512), (512, 512)),
        ("512x512", (512, 512), (512, 512)),
        ("1920 x 1080", (1024, 576), (1920, 1080)),
        ("100x100", (256, 256), (100, 100)),
        ("Landscape", (624, 416), (624, 416)),
        ("portrait", (416, 624), (416, 624)),
        ("4000x100", (1264, 320), (4000, 100)),
    ],
)
def test_it_is_drawn_as_the_expert_can_and_given_as_asked(tmp_path, size, drawn, wanted):
    found = picture_size(asked(tmp_path, size=size), side=512, multiple=8)
    assert (found.drawn, found.wanted) == (drawn, wanted)
    assert found.drawn[0] * found.drawn[1] <= 2.3 * 512 * 512


def test_sizes_are_multiples():
    for ratio in (0.1, 0.7, 1, 1.3, 9):
        wide, high = fit_size(ratio, 640 * 640, 32)
        assert wide % 32 == high % 32 == 0
        assert 0.9 < wide * high / 640**2 < 1.1
    assert fit_size(1, 4, 16) == (16, 16)


@pytest.mark.parametrize("size", ["big", "12", "0x0", "5000x5000", "63x64"])
def test_a_size_that_cannot_be(tmp_path: Path, size: str):
    with pytest.raises(InputError, match=r"not a size|cannot be drawn"):
        picture_size(asked(tmp_path, size=size), side=512, multiple=8)


def test_seeds(tmp_path: Path):
    assert seed_of(asked(tmp_path, seed=5)) == (5, True)
    drawn = {seed_of(asked(tmp_path)) for _ in range(20)}
    assert len(drawn) > 15
    assert not any(chosen or not 0 < seed < 2**31 for seed, chosen in drawn)


@pytest.mark.parametrize(("percent", "share"), [(0, 0.7), (30, 0.3), (100, 1.0)])
def test_strength_is_a_share(tmp_path: Path, percent: int, share: float):
    call = call_of(generation.INPAINTING.type, tmp_path, strength=percent)
    assert strength_of(call, 0.7) == share


def test_a_strength_beyond_all_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="300 percent"):
        strength_of(call_of(generation.INPAINTING.type, tmp_path, strength=300), 0.7)


@pytest.mark.parametrize(
    ("words", "avoid", "left"),
    [
        ("a street without people", "people", "a street"),
        ("a street, but no cars, at night", "cars", "a street, at night"),
        ("a street", "people", "a street"),
        ("a room without a view", "", "a room without a view"),
    ],
)
def test_what_is_avoided_does_not_stay_in_the_wish(tmp_path, words, avoid, left):
    call = call_of(generation.TEXT_TO_IMAGE.type, tmp_path, prompt=words, avoid=avoid)
    assert prompts(call) == (left, avoid)


def test_regions_lie_within():
    boxes = {region: region_box(region, (100, 60)) for region in REGIONS}
    assert boxes["left half"] == (0, 0, 50, 60)
    assert boxes["right half"] == (50, 0, 100, 60)
    assert boxes["upper half"] == (0, 0, 100, 30)
    assert boxes["lower half"] == (0, 30, 100, 60)
    assert boxes["middle"] == (25, 15, 75, 45)


def test_files_are_named_after_the_wish():
    assert (
        file_stem("A knight's castle, by the sea: at night", "x") == "A knight's castle by the sea"
    )
    assert file_stem("!? /../", "picture") == "picture"
    assert len(file_stem("w" * 500, "x")) == 60


def test_every_control_picture_has_a_task_that_draws_it():
    names = {item.name for item in INVENTORY}
    assert len(CONTROL_TEXT_TO_IMAGE) == 8
    for definition in CONTROL_TEXT_TO_IMAGE:
        control, prompt = definition.type.ports
        assert control.through in names
        assert control.through.removesuffix("-control") + "-text-to-image" == definition.type.name
        assert prompt.name == "prompt"


def test_a_free_wish_is_not_taken_for_a_named_edit(tmp_path: Path):
    photo = shapes(tmp_path / "a.png")
    call = call_of(
        editing.IMAGE_EDITING.type, tmp_path / "work", image=photo, prompt="make it winter"
    )
    with pytest.raises(ExpertError, match="need an expert for image-editing"):
        editing.edit(call, quiet)
    plain = call_of(editing.IMAGE_EDITING.type, tmp_path / "work", image=photo)
    (out,) = editing.edit(plain, quiet)
    assert out.name == "a-enhance.png"
