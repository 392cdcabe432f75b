from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.images.segmentation import IMAGE_SEGMENTATION, cut_out
from tests.tasks.calls import call_of, quiet


def ball(path: Path, *, size: tuple[int, int]) -> np.ndarray:
    """Draw a red ball on grass; where it is."""
    width, height = size
    rng = np.random.default_rng(5)
    grass = np.array([60, 140, 60]) + rng.integers(-20, 20, (height, width, 1))
    image = Image.fromarray(np.clip(grass, 0, 255).astype(np.uint8))
    truth = Image.new("L", size)
    box = (width * 0.35, height * 0.3, width * 0.65, height * 0.8)
    ImageDraw.Draw(image).ellipse(box, fill=(200, 40, 30))
    ImageDraw.Draw(truth).ellipse(box, fill=255)
    image.save(path)
    return np.asarray(truth) > 0


@pytest.mark.parametrize("size", [(300, 200), (1800, 1200)])
def test_cuts_the_ball_out(tmp_path: Path, size: tuple[int, int]) -> None:
    truth = ball(tmp_path / "ball.png", size=size)
    call = call_of(IMAGE_SEGMENTATION.type, tmp_path / "work", image=tmp_path / "ball.png")
    cut, mask = cut_out(call, quiet)
    assert (cut.name, mask.name) == ("ball-cut-out.png", "ball-mask.png")
    assert cut.path
    assert mask.path
    found = np.asarray(Image.open(mask.path)) > 127
    assert (found & truth).sum() / (found | truth).sum() > 0.94
    clear = Image.open(cut.path)
    assert (clear.mode, clear.size) == ("RGBA", size)
    assert clear.getpixel((0, 0))[3] == 0  # type: ignore[index]
    assert clear.getpixel((size[0] // 2, size[1] // 2))[3] == 255  # type: ignore[index]


@pytest.mark.parametrize("size", [(200, 200), (1, 1), (5, 300)])
def test_says_that_nothing_stands_out(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, (90, 120, 80)).save(tmp_path / "plain.png")
    with pytest.raises(ExpertError, match="cannot separate the foreground"):
        cut_out(
            call_of(IMAGE_SEGMENTATION.type, tmp_path / "work", image=tmp_path / "plain.png"), quiet
        )
