from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.images.editing import IMAGE_TO_IMAGE, STYLES, restyle
from tests.tasks.calls import call_of, quiet
from tests.tasks.drawing import shapes


@pytest.mark.parametrize("style", STYLES)
def test_gives_another_picture_of_the_same_size(tmp_path: Path, style: str) -> None:
    file = shapes(tmp_path / "beach.jpg")
    (out,) = restyle(call_of(IMAGE_TO_IMAGE.type, tmp_path / "work", image=file, edit=style), quiet)
    assert out.name == f"beach-{style}.jpg"
    assert out.path
    before, after = (np.asarray(Image.open(path), float) for path in (file, out.path))
    assert before.shape == after.shape
    assert np.abs(before - after).mean() > 4


def test_says_which_styles_there_are(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="pencil sketch, cartoon"):
        restyle(
            call_of(IMAGE_TO_IMAGE.type, tmp_path / "work", image=shapes(tmp_path / "a.png")), quiet
        )
