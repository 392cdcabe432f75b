"""What was found in a picture, drawn and said."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.images.findings import (
    COLOURS,
    BoundingBox,
    Mask,
    box_results,
    clean_label,
    cut_out,
    describe_boxes,
    describe_masks,
    draw_boxes,
    draw_masks,
    label_lines,
    mask_image,
    mask_results,
    render_masks,
)
from jarvis_desktop.tasks.naming import count_of, plural

GREY = (100, 100, 100)
CARS = [BoundingBox("car", 20, 40, 60, 80, 0.93), BoundingBox("car", 150, 50, 190, 90, 0.71)]


def grey(size: tuple[int, int] = (240, 160)) -> Image.Image:
    return Image.new("RGB", size, GREY)


def half(size: tuple[int, int] = (24, 16)) -> np.ndarray:
    """The left half of a picture."""
    inside = np.zeros((size[1], size[0]), bool)
    inside[:, : size[0] // 2] = True
    return inside


def changed(one: Image.Image, other: Image.Image) -> np.ndarray:
    return np.asarray(np.any(np.asarray(one) != np.asarray(other), axis=2))


def test_boxes_lie_where_the_things_are():
    drawn = draw_boxes(grey(), CARS)
    pixels = np.asarray(drawn)
    assert drawn.size == (240, 160)
    for box in CARS:
        for x, y in ((box.left, 60), (box.right, 60), (box.left + 20, box.bottom)):
            assert tuple(pixels[int(y), int(x)]) == COLOURS[0]
        assert tuple(pixels[60 + 5, int(box.left) + 20]) == GREY  # nothing is filled
    assert np.array_equal(np.asarray(draw_boxes(grey(), CARS)), pixels)


def test_each_kind_of_thing_has_its_colour():
    drawn = np.asarray(draw_boxes(grey(), [*CARS, BoundingBox("dog", 90, 100, 130, 140, 0.6)]))
    assert tuple(drawn[120, 90]) == COLOURS[1]


def test_things_without_scores_are_numbered_and_others_show_them():
    plain = draw_boxes(grey(), [BoundingBox("face", 20, 60, 60, 120)])
    scored = draw_boxes(grey(), [BoundingBox("face", 20, 60, 60, 120, 0.5)])
    two = draw_boxes(
        grey(), [BoundingBox("face", 20, 60, 60, 120), BoundingBox("face", 120, 60, 160, 120)]
    )
    plates = [np.asarray(image)[:60, :110] for image in (plain, scored, two)]
    assert not np.array_equal(plates[0], plates[1])
    assert not np.array_equal(plates[0], plates[2])


@pytest.mark.parametrize("size", [(1, 1), (7, 7), (4000, 3), (3, 4000)])
def test_pictures_of_any_shape_are_drawn_on(size: tuple[int, int]):
    boxes = [
        BoundingBox("car", -50, -50, 9000, 9000, 0.5),
        BoundingBox("car", math.nan, 0, math.inf, 1, 0.5),
    ]
    assert draw_boxes(grey(size), boxes).size == size
    masks = [Mask("road", half()), Mask("sky", np.zeros((3, 3)))]
    assert draw_masks(grey(size), masks).size == size


def test_clear_pictures_are_drawn_on_white():
    clear = Image.new("RGBA", (240, 160), (0, 0, 0, 0))
    assert draw_boxes(clear, CARS).getpixel((230, 150)) == (255, 255, 255)


def test_parts_are_coloured_and_the_rest_is_not():
    drawn = draw_masks(grey(), [Mask("road", half())])
    differs = changed(drawn, grey())
    assert differs[:, :118].all()
    assert not differs[:, 122:].any()
    assert tuple(np.asarray(drawn)[10, 60]) != COLOURS[0]  # the picture shines through
    assert tuple(np.asarray(drawn)[10, 119]) == COLOURS[0]  # and there is an outline


def test_the_legend_names_each_kind_unless_pieces_are_kept_apart():
    masks = [Mask("road", half()), Mask("road", ~half())]
    drawn, apart = draw_masks(grey(), masks), draw_masks(grey(), masks, apart=True)
    corner = np.asarray(drawn)[145:158, 3:40]
    assert (corner == 255).all(axis=2).any() or (corner == 0).all(axis=2).any()
    assert len(np.unique(np.asarray(apart)[20:140:40, 20:220:40].reshape(-1, 3), axis=0)) == 2
    assert len(np.unique(np.asarray(drawn)[20:140:40, 20:220:40].reshape(-1, 3), axis=0)) == 1


def test_masks_of_any_size_are_stretched():
    mask = mask_image(half((12, 8)), (240, 160))
    assert mask.size == (240, 160)
    assert set(np.unique(np.asarray(mask))) == {0, 255}
    assert abs((np.asarray(mask) > 0).mean() - 0.5) < 0.01
    cut = cut_out(grey(), half())
    assert cut.mode == "RGBA"
    assert (cut.getpixel((5, 5)), cut.getpixel((235, 5))) == ((*GREY, 255), (*GREY, 0))
    alone = render_masks((240, 160), [Mask("a", half()), Mask("b", ~half())])
    assert alone.getpixel((5, 5)) == COLOURS[0]
    assert alone.getpixel((235, 5)) == COLOURS[1]


@pytest.mark.parametrize(
    ("boxes", "sentence"),
    [
        (CARS, "I find 2 cars in a.jpg: 1 on the left and 1 on the right."),
        (CARS[:1], "I find one car in a.jpg, on the left."),
        ([CARS[0]] * 2, "I find 2 cars in a.jpg: all on the left."),
        (
            [*CARS, BoundingBox("traffic_light", 100, 0, 130, 9)],
            "In a.jpg I find 2 cars (1 on the left and 1 on the right) and one traffic light "
            "(in the middle).",
        ),
        ([], "I find no zebras in a.jpg."),
    ],
)
def test_a_sentence_counts_things_and_says_where(boxes: list[BoundingBox], sentence: str):
    assert describe_boxes(boxes, "a.jpg", 240, none="zebras") == sentence


def test_a_sentence_does_not_name_hundreds_of_kinds():
    boxes = [BoundingBox(f"kind {n}", 0, 0, 9, 9) for n in range(30)]
    told = describe_boxes(boxes, "a.jpg", 240)
    assert told.endswith(" and 19 more kinds of things.")
    assert len(told) < 500


def test_a_sentence_tells_shares():
    quarter = np.zeros((4, 4))
    quarter[:2, :2] = 1
    speck = np.zeros((100, 100))
    speck[0, 0] = 1
    masks = [
        Mask("person", quarter),
        Mask("person", quarter),
        Mask("sky", half()),
        Mask("x", speck),
    ]
    assert describe_masks(masks[:3], "a.jpg") == (
        "In a.jpg I find 2 people (50% of the picture) and sky (50%)."
    )
    assert describe_masks(masks[3:], "a.jpg") == "In a.jpg I find x (less than 1% of the picture)."
    assert describe_masks([], "a.jpg", none="dog") == "I find no dog in a.jpg."


def test_labels_are_one_short_line():
    assert clean_label("stop_sign") == "stop sign"
    assert clean_label("a\nb\x1b[31m\u202e") == "a b [31m"
    assert len(clean_label("x" * 500)) == 40
    assert label_lines({"tabby_cat": 0.931, "dog": 0.05, "b": 0.9}, most=2) == (
        "tabby cat: 93%\nb: 90%"
    )


def test_plurals():
    nouns = "dog bus box baby toy sheep traffic light hot dog knife wine glass".split(" ")
    assert plural("traffic light") == "traffic lights"
    assert [plural(noun) for noun in nouns[:6]] == [
        "dogs",
        "buses",
        "boxes",
        "babies",
        "toys",
        "sheep",
    ]
    assert plural("wine glass") == "wine glasses"
    assert (count_of(1, "dog"), count_of(2, "person")) == ("one dog", "2 people")


def test_results_are_a_picture_of_the_same_size_and_a_sentence(tmp_path: Path):
    image = Artifact(Kind.IMAGE, path=tmp_path / "street.jpg", name="street.jpg")
    call = Call("object-detection", {"image": (image,)}, {}, tmp_path)
    for results, name in (
        (box_results(call, grey(), CARS), "street-found.jpg"),
        (mask_results(call, grey(), [Mask("road", half())]), "street-parts.jpg"),
    ):
        picture, words = results
        assert picture.name == name
        assert picture.path
        with Image.open(picture.path) as drawn:
            assert drawn.size == (240, 160)
        assert "street.jpg" in (words.text or "")
