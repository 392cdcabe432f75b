from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.audio.media import write_wav
from jarvis_desktop.tasks.video import VIDEO_TO_IMAGE, take_pictures
from tests.tasks.calls import call_of, quiet
from tests.tasks.filming import film


@pytest.mark.parametrize(
    ("options", "greys"),
    [
        ({"at": 0.0}, [25]),
        ({"at": 2.5}, [125]),
        ({"at": 5.0}, [225]),
        ({"count": 4}, [25, 75, 175, 225]),
        ({"count": 2, "at": 1.5}, [75, 125]),
        ({}, [125]),
        ({"edge": "first"}, [25]),
        ({"edge": "last"}, [225]),
    ],
)
@pytest.mark.parametrize("ending", ["mp4", "mkv", "avi"])
def test_takes_the_picture_of_the_moment(
    tmp_path: Path, ending: str, options: dict[str, Value], greys: list[int]
) -> None:
    call = call_of(
        VIDEO_TO_IMAGE.type,
        tmp_path / "work",
        video=film(tmp_path / f"clip.{ending}", seconds=5),
        **options,
    )
    taken = list(take_pictures(call, quiet))
    assert [item.name for item in taken] == [f"clip-{n:02d}.png" for n in range(1, len(greys) + 1)]
    assert {item.kind for item in taken} == {Kind.IMAGE}
    found = [np.asarray(Image.open(item.path)).mean() for item in taken if item.path]
    assert np.allclose(found, greys, atol=6)


def test_says_how_long_the_video_is(tmp_path: Path) -> None:
    call = call_of(
        VIDEO_TO_IMAGE.type, tmp_path / "work", video=film(tmp_path / "clip.mp4"), at=60.0
    )
    with pytest.raises(InputError, match=r"clip\.mp4 is only 4\.\d seconds long"):
        take_pictures(call, quiet)


@pytest.mark.parametrize("count", [0, -1, 1000])
def test_refuses_an_impossible_number(tmp_path: Path, count: int) -> None:
    call = call_of(
        VIDEO_TO_IMAGE.type, tmp_path / "work", video=film(tmp_path / "clip.mp4"), count=count
    )
    with pytest.raises(InputError, match="Between 1 and 60 pictures"):
        take_pictures(call, quiet)


def test_says_that_sound_has_no_pictures(tmp_path: Path) -> None:
    file = write_wav(tmp_path / "song.wav", np.zeros(800, np.float32), 8000)
    with pytest.raises(ExpertError, match=r"song\.wav has no moving picture"):
        take_pictures(call_of(VIDEO_TO_IMAGE.type, tmp_path / "work", video=file), quiet)


def test_names_a_broken_video(tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"\0\0\0\x18ftypmp42" + bytes(500))
    with pytest.raises(InputError, match=r"clip\.mp4"):
        take_pictures(call_of(VIDEO_TO_IMAGE.type, tmp_path / "work", video=file), quiet)
