"""Experts that look at pictures in 16 bits, as they are where memory is short; and what is told
where a library is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.backends.local.pipelines.vision import requires_libraries
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import Placement
from tests.backends.bench import Bench
from tests.tasks.filming import film

pytestmark = pytest.mark.timeout(300)

QUESTION = {"question": "what do you see ?"}


@pytest.mark.parametrize(
    ("task", "builder", "more", "options"),
    [
        ("image-classification", "tiny_sight:classifier", {}, {}),
        ("zero-shot-image-classification", "tiny_sight:matcher", {}, {"labels": "cat, dog"}),
        ("depth-estimation", "tiny_sight:metres", {}, {}),
        ("depth-estimation", "tiny_media:depth", {}, {}),
        ("object-detection", "tiny_finders:finder", {}, {}),
        ("object-detection", "tiny_finders:quick_finder", {}, {}),
        ("object-detection", "tiny_finders:fine_finder", {}, {}),
        ("zero-shot-object-detection", "tiny_finders:word_finder", {}, {"what": "cat"}),
        ("zero-shot-object-detection", "tiny_finders:grounded_finder", {}, {"what": "cat"}),
        ("image-segmentation", "tiny_sight:parter", {}, {}),
        ("image-segmentation", "tiny_sight:panoptic_parter", {}, {}),
        ("mask-generation", "tiny_sight:masker", {}, {}),
        ("image-to-text", "tiny_readers:captioner", {}, {"what": "caption"}),
        ("image-to-text", "tiny_readers:florence", {}, {}),
        ("image-to-text", "tiny_readers:line_reader", {}, {}),
        ("visual-question-answering", "tiny_readers:short_answerer", QUESTION, {}),
        ("visual-question-answering", "tiny_readers:chooser", QUESTION, {}),
        ("visual-question-answering", "tiny_media:viewer", QUESTION, {}),
    ],
)
def test_sixteen_bits(bench: Bench, tmp_path: Path, task: str, builder: str, more, options):
    values = np.random.default_rng(1).random((60, 80, 3)) * 255
    Image.fromarray(values.astype(np.uint8)).save(tmp_path / "photo.png")
    inputs = {"image": tmp_path / "photo.png", **more}
    first = bench.run(task, builder, inputs, options, place=Placement(half=True))[0]
    assert first.text or first.path


def test_a_film_in_sixteen_bits(bench: Bench, tmp_path: Path):
    inputs = {"video": film(tmp_path / "a.mp4", seconds=1, sound=False)}
    builder = "tiny_sight:watcher"
    assert bench.run("video-classification", builder, inputs, place=Placement(half=True))[0].text


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        ("Mask2FormerLoss requires the scipy library but it was not found", "scipy"),
        ("No module named 'torchvision'", "torchvision"),
        ("something else", "a library"),
    ],
)
def test_a_missing_library_is_named(message: str, missing: str):
    def load(loading: ExpertLoader) -> Run:
        raise ImportError(message)

    with pytest.raises(UnavailableError, match=f"seer needs {missing}, which is not installed"):
        requires_libraries(load)(ExpertLoader(Expert("seer", "image-segmentation"), Path()))
