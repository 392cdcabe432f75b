"""The local road on a real graphics card: in 16 bits, part by part, and when it is full or lost.

They are left out unless they are asked for: pytest -m gpu tests/gpu
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from jarvis_desktop.backends.local.placement import MemoryMeasurements
from jarvis_desktop.backends.local.residency import start_process
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.placement import MB, PROCESSOR, Graphics, MemorySize, Placement
from jarvis_desktop.platform.hardware_probe import gpu_free_bytes
from jarvis_desktop.process.child import Child
from tests.backends.bench import Bench
from tests.gpu.conftest import Road

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

Make = Callable[..., Road]
ENDLESS = MemorySize(0, 1 << 60)


def in_half(card: Graphics, *, offload: bool = False) -> Placement:
    return Placement("cuda", half=True, offload=offload, float16=not card.bfloat16)


def is_picture(artifact: Artifact) -> bool:
    assert artifact.path
    with Image.open(artifact.path) as image:
        image.load()
        return image.format == "PNG"


def only_place(road: Road) -> Placement:
    """Where the one expert that was measured ran."""
    ((_, place),) = road.backend.measures.known()
    spot: Placement = place
    return spot


async def test_the_card_is_known_by_name_and_size(make: Make, card: Graphics):
    hardware = await make().backend.probe.hardware()
    assert hardware.graphics
    assert hardware.graphics.name
    assert hardware.graphics.memory > 1000 * MB
    assert 0 < hardware.graphics_free <= hardware.graphics.memory


async def test_a_picture_is_drawn_on_the_card_in_16_bits(make: Make, card: Graphics, painter: Path):
    road = make()
    expert = road.expert(painter, "text-to-image")
    assert is_picture(await road.run(expert, prompt="a castle"))
    assert only_place(road) == in_half(card)
    assert road.backend.held.graphics > 0
    (most,) = road.backend.measures.known().values()
    assert most.graphics < card.memory
    assert is_picture(await road.run(expert, prompt="a castle"))  # it is still loaded


async def test_a_text_is_written_on_the_card_in_16_bits(make: Make, card: Graphics, writer: Path):
    road = make()
    assert (await road.run(road.expert(writer, "text-generation"), prompt="the cat")).text
    assert only_place(road) == in_half(card)


@pytest.mark.parametrize("task", ["text-to-image", "text-generation"])
async def test_one_too_large_for_the_card_goes_there_part_by_part(
    make: Make, card: Graphics, task: str, painter: Path, writer: Path
):
    folder = painter if task == "text-to-image" else writer
    measures = MemoryMeasurements()
    measures.note(folder.name, in_half(card), ENDLESS)
    road = make(measures=measures)
    expert = road.expert(folder, task, memory_half_mb=1500)
    assert await road.run(expert, prompt="the cat")
    ran = {place for (_, place), most in measures.known().items() if most != ENDLESS}
    assert ran == {in_half(card, offload=True)}


async def test_a_full_card_sends_it_down_rung_by_rung_until_it_works(
    make: Make, card: Graphics, painter: Path
):
    filler = Child("tests.gpu.filler:serve", name="filler")
    free = await filler.call(150 * MB, timeout=120)
    assert free < 400 * MB
    road = make()
    expert = road.expert(painter, "text-to-image")
    errors: list[ExpertError] = []
    try:
        for _ in range(4):
            try:
                assert is_picture(await road.run(expert, prompt="a castle"))
                break
            except ExpertError as error:
                errors.append(error)
    finally:
        await filler.close()
    assert errors, "the card was not full"
    assert all(error.retryable for error in errors)
    assert {error.fault for error in errors} <= {Fault.MEMORY, Fault.CRASH}
    assert "on the graphics card in 16 bits. The next try is" in errors[0].message
    assert only_place(road) == PROCESSOR


async def test_a_card_that_a_process_cannot_reach_leaves_the_processor(
    make: Make, card: Graphics, painter: Path
):
    road = make(start=lambda key, loading, most, which: start_process(key, loading, most, "-1"))
    notes: list[str] = []
    expert = road.expert(painter, "text-to-image")
    with pytest.raises(ExpertError, match="stopped by the graphics card") as caught:
        await road.run(expert, prompt="a castle")
    assert caught.value.retryable
    assert is_picture(await road.run(expert, prompt="a castle"))
    assert only_place(road) == PROCESSOR
    assert notes == []  # the card itself is found to compute


async def test_ending_an_expert_gives_the_card_its_memory_back(
    make: Make, card: Graphics, painter: Path
):
    before = gpu_free_bytes(card.id)
    road = make()
    await road.run(road.expert(painter, "text-to-image"), prompt="a castle")
    assert gpu_free_bytes(card.id) < before
    await road.backend.close()
    assert gpu_free_bytes(card.id) >= before - 100 * MB


@pytest.mark.parametrize(
    ("task", "builder", "inputs"),
    [
        ("text-classification", "tiny_words:judge", {"text": "the cat sat"}),
        ("fill-mask", "tiny:gap_filler", {"text": "the ___ sat"}),
        ("summarization", "tiny:summariser", {"text": "the cat sat on the mat ."}),
        ("feature-extraction", "tiny_words:vectors", {"text": "the cat"}),
        ("text-to-speech", "tiny_sound:voice", {"text": "the cat sat"}),
    ],
)
def test_experts_compute_on_the_card(bench: Bench, task: str, builder: str, inputs: dict[str, str]):
    first, *_ = bench.run(task, builder, inputs, place=Placement("cuda", half=True))
    assert first.text or first.path


@pytest.mark.parametrize(
    ("task", "builder"),
    [
        ("image-classification", "tiny_sight:classifier"),
        ("depth-estimation", "tiny_media:depth"),
        ("image-segmentation", "tiny_sight:parter"),
    ],
)
def test_experts_see_on_the_card(bench: Bench, tmp_path: Path, task: str, builder: str):
    photo = tmp_path / "photo.png"
    Image.linear_gradient("L").convert("RGB").resize((90, 60)).save(photo)
    first, *_ = bench.run(task, builder, {"image": photo}, place=Placement("cuda", half=True))
    assert first.text or first.path
