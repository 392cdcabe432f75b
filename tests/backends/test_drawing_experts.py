"""Painters, on tiny weights: what comes out has the promised size, and follows its settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngImageFile

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.task import Value
from tests.backends.bench import Bench, Given
from tests.tasks.drawing import shapes

pytestmark = pytest.mark.timeout(400)


def opened(artifacts: tuple[Artifact, ...]) -> Image.Image:
    (artifact,) = artifacts
    assert artifact.kind is Kind.IMAGE
    assert artifact.path
    with Image.open(artifact.path) as image:
        image.load()
        return image


def seeds(artifacts: tuple[Artifact, ...]) -> dict[str, str]:
    image = opened(artifacts)
    assert isinstance(image, PngImageFile)
    return image.text


def pixels(artifacts: tuple[Artifact, ...]) -> np.ndarray:
    return np.asarray(opened(artifacts).convert("RGB"), float)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return shapes(tmp_path / "beach.jpg", size=(90, 60))


def draw(bench: Bench, builder: str = "painter", **options) -> tuple[Artifact, ...]:
    builder = builder if ":" in builder else f"tiny_drawing:{builder}"
    return bench.run("text-to-image", builder, {"prompt": "a castle by the sea"}, options)


def test_words_become_a_picture_named_after_them(bench: Bench):
    found = draw(bench, seed=7)
    image = opened(found)
    assert (image.format, image.size) == ("PNG", (32, 32))
    assert seeds(found) == {"seed": "7"}
    assert found[0].name == "a castle by the sea.png"
    assert bench.reports[-1] == (1.0, "Step 4 of 4")


def test_a_seed_makes_a_picture_again_and_none_makes_another(bench: Bench):
    first, again, other = (pixels(draw(bench, seed=seed)) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert np.abs(first - other).mean() > 1
    one, two = (draw(bench) for _ in range(2))
    assert seeds(one) != seeds(two)
    assert np.abs(pixels(one) - pixels(two)).mean() > 1


def test_what_is_avoided_counts(bench: Bench):
    """It does so only with painters that are guided, which takes them more steps."""
    usual = pixels(draw(bench, "thorough_painter", seed=7))
    assert bench.reports[-1] == (1.0, "Step 30 of 30")
    avoiding = pixels(draw(bench, "thorough_painter", seed=7, avoid="people"))
    assert np.abs(avoiding - usual).mean() > 0.01


@pytest.mark.parametrize(
    ("size", "given"),
    [("300x200", (300, 200)), ("96 x 64", (96, 64)), ("wide", (40, 24)), ("portrait", (24, 40))],
)
def test_it_has_the_size_that_was_asked_for(bench: Bench, size: str, given: tuple[int, int]):
    assert opened(draw(bench, size=size, seed=7)).size == given


@pytest.mark.parametrize("size", ["huge", "10x10", "9000x9000"])
def test_an_impossible_size_is_refused(bench: Bench, size: str):
    with pytest.raises(InputError, match=r"is not a size|cannot be drawn"):
        draw(bench, size=size)


@pytest.mark.parametrize(
    ("builder", "steps"),
    [
        ("consistent_painter", 4),
        ("large_painter", 4),
        ("tiny_flux:flux", 4),
        ("tiny_flux:klein", 4),
    ],
)
def test_the_steps_are_those_the_expert_was_made_for(bench: Bench, builder: str, steps: int):
    image = opened(draw(bench, builder, seed=7, size="64x64" if "flux" in builder else ""))
    assert min(image.size) >= 32
    assert bench.reports[-1] == (1.0, f"Step {steps} of {steps}")


def test_a_picture_held_back_is_said_and_not_shown(bench: Bench):
    with pytest.raises(ExpertError, match="safety check took it for unsuitable") as caught:
        draw(bench, "careful_painter")
    assert caught.value.fault is Fault.ANSWER
    assert sum(words.startswith("Step 1 ") for _, words in bench.reports) == 2
    with pytest.raises(ExpertError, match="safety check"):
        draw(bench, "careful_painter", seed=7)
    assert sum(words.startswith("Step 1 ") for _, words in bench.reports) == 1


def test_a_black_picture_is_said_and_not_shown(bench: Bench):
    with pytest.raises(ExpertError, match="came out black") as caught:
        draw(bench, "black_painter")
    assert caught.value.fault is Fault.ANSWER


def test_a_picture_takes_another_style(bench: Bench, photo: Path):
    def restyled(**options) -> tuple[Artifact, ...]:
        words: dict[str, Given] = {"image": photo, "prompt": "in the style of van gogh"}
        return bench.run("image-to-image", "tiny_drawing:painter", words, {"seed": 7, **options})

    found = restyled()
    assert found[0].name == "beach-restyled.jpg"
    assert opened(found).size == (40, 24)
    much, little = (pixels(restyled(strength=percent)) for percent in (100, 25))
    assert np.abs(much - little).mean() > 1
    assert bench.reports[-1] == (1.0, "Step 1 of 1")
    with pytest.raises(InputError, match="strength of 300 percent"):
        restyled(strength=300)


def test_a_named_style_is_put_into_words(bench: Bench, photo: Path):
    def restyled(builder: str, **options) -> tuple[Artifact, ...]:
        chosen: dict[str, Value] = {"seed": 7, **options}
        return bench.run("image-to-image", f"tiny_drawing:{builder}", {"image": photo}, chosen)

    for builder in ("painter", "editor"):
        sketch, cartoon = (pixels(restyled(builder, edit=it)) for it in ("sketch", "cartoon"))
        assert np.abs(sketch - cartoon).mean() > 0.01
    with pytest.raises(InputError, match="It is not clear which style"):
        restyled("painter")


def test_a_picture_is_edited_as_an_instruction_says(bench: Bench, photo: Path):
    def edited(words: str, **options) -> tuple[Artifact, ...]:
        given: dict[str, Given] = {"image": photo, "prompt": words}
        return bench.run("image-editing", "tiny_drawing:editor", given, {"seed": 7, **options})

    found = edited("make the sky pink")
    assert found[0].name == "beach-edited.jpg"
    assert opened(found).size == (40, 24)
    assert np.abs(pixels(found) - pixels(edited("remove the sun"))).mean() > 0.01
    with pytest.raises(InputError, match="not clear"):
        edited(" ")


def test_a_painter_that_follows_no_instructions_edits_nothing(bench: Bench, photo: Path):
    given: dict[str, Given] = {"image": photo, "prompt": "make the sky pink"}
    with pytest.raises(ExpertError, match="does not follow instructions"):
        bench.run("image-editing", "tiny_drawing:painter", given)


def disc(path: Path, *, cut_out: bool = False) -> Path:
    """A mask with a hole in its middle, 20 pixels wide; or a cut-out."""
    image = Image.new("RGBA" if cut_out else "L", (90, 60))
    fill = (200, 30, 30, 255) if cut_out else 255
    ImageDraw.Draw(image).rectangle((35, 20, 54, 39), fill=fill)
    image.save(path)
    return path


@pytest.mark.parametrize("cut_out", [False, True])
@pytest.mark.parametrize("builder", ["filler", "painter"])
def test_only_the_masked_part_is_painted(
    bench: Bench, photo: Path, tmp_path: Path, builder: str, cut_out: bool
):
    mask = disc(tmp_path / "m.png", cut_out=cut_out)
    given: dict[str, Given] = {"image": photo, "mask": mask, "prompt": "a boat"}
    png = Image.open(photo).convert("RGB")
    png.save(tmp_path / "beach.png")
    found = bench.run(
        "inpainting", f"tiny_drawing:{builder}", {**given, "image": tmp_path / "beach.png"},
        {"seed": 7},
    )  # fmt: skip
    before, after = np.asarray(png, float), pixels(found)
    changed = np.abs(before - after).max(axis=2) > 0
    assert found[0].name == "beach-inpainted.png"
    assert before.shape == after.shape
    assert changed[22:38, 37:53].mean() > 0.9
    changed[18:42, 33:57] = False
    assert not changed.any()


def test_a_region_is_a_mask_in_words(bench: Bench, tmp_path: Path):
    Image.new("RGB", (80, 40), "green").save(tmp_path / "field.png")
    given: dict[str, Given] = {"image": tmp_path / "field.png", "prompt": "a barn"}
    found = bench.run("inpainting", "tiny_drawing:filler", given, {"region": "left half"})
    changed = np.abs(pixels(found) - (0, 128, 0)).max(axis=2) > 0
    assert changed[:, :38].mean() > 0.9
    assert not changed[:, 40:].any()


def test_inpainting_must_know_where(bench: Bench, photo: Path, tmp_path: Path):
    given: dict[str, Given] = {"image": photo, "prompt": "a boat"}
    with pytest.raises(InputError, match="which part of the picture"):
        bench.run("inpainting", "tiny_drawing:filler", given)
    Image.new("L", (9, 9)).save(tmp_path / "black.png")
    with pytest.raises(InputError, match="marks nothing"):
        bench.run("inpainting", "tiny_drawing:filler", {**given, "mask": tmp_path / "black.png"})


KINDS = ("canny", "depth", "hed", "mlsd", "normal", "openpose", "scribble", "seg")


@pytest.mark.parametrize("kind", KINDS)
def test_a_control_picture_steers_a_painter(bench: Bench, photo: Path, kind: str):
    def steered(by: Path) -> tuple[Artifact, ...]:
        given: dict[str, Given] = {"image": by, "prompt": "a red house"}
        return bench.run(
            f"{kind}-text-to-image", "tiny_drawing:control", given, {"seed": 7},
            base="tiny_drawing:painter",
        )  # fmt: skip

    found = steered(photo)
    assert opened(found).size == (40, 24)
    assert found[0].name == "a red house.png"
    Image.new("RGB", (90, 60)).save(photo.with_name("plain.png"))
    assert np.abs(pixels(found) - pixels(steered(photo.with_name("plain.png")))).mean() > 0.01


def test_one_network_is_told_which_kind_of_control_it_sees(bench: Bench, photo: Path):
    def steered(kind: str) -> np.ndarray:
        given: dict[str, Given] = {"image": photo, "prompt": "a red house"}
        return pixels(
            bench.run(
                f"{kind}-text-to-image", "tiny_drawing:union_control", given, {"seed": 7},
                base="tiny_drawing:large_painter",
            )
        )  # fmt: skip

    assert np.abs(steered("depth") - steered("openpose")).mean() > 0.01


def test_a_drawing_in_black_on_white_is_turned_round(bench: Bench, tmp_path: Path):
    lines = Image.new("L", (60, 60))
    ImageDraw.Draw(lines).line((5, 5, 50, 40), 255, 4)
    lines.save(tmp_path / "chalk.png")
    lines.point(lambda light: 255 - light).save(tmp_path / "ink.png")
    chalk, ink = (
        pixels(
            bench.run(
                "scribble-text-to-image", "tiny_drawing:control",
                {"image": tmp_path / name, "prompt": "a kite"}, {"seed": 7},
                base="tiny_drawing:painter",
            )
        )
        for name in ("chalk.png", "ink.png")
    )  # fmt: skip
    assert np.array_equal(chalk, ink)


def test_a_control_network_needs_its_painter(bench: Bench, photo: Path):
    given: dict[str, Given] = {"image": photo, "prompt": "x"}
    with pytest.raises(ExpertError, match="needs the image generator"):
        bench.run("canny-text-to-image", "tiny_drawing:control", given)
    with pytest.raises(ExpertError, match="not of a kind"):
        bench.run("canny-text-to-image", "tiny_drawing:foreign", given, base="tiny_drawing:painter")


@pytest.mark.parametrize("builder", ["with_code", "with_foreign_part", "with_own_class"])
def test_a_painter_that_brings_code_is_refused(bench: Bench, builder: str):
    with pytest.raises(ExpertError, match="needs its own code"):
        draw(bench, builder)


def test_a_description_is_needed(bench: Bench):
    with pytest.raises(InputError, match="no description"):
        bench.run("text-to-image", "tiny_drawing:painter", {"prompt": "  "})
