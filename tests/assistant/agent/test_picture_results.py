"""Whether new pictures are what a goal asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageOps

from jarvis_desktop.assistant.agent.expected_results import expected_results
from jarvis_desktop.assistant.agent.recomputed_results import pictures_as_asked
from jarvis_desktop.core.artifact import Artifact, Kind
from tests.assistant.agent.workplace import file

Edit = Callable[[Image.Image], Image.Image]


def painted() -> Image.Image:
    picture = Image.new("RGB", (80, 40), (200, 40, 60))
    ImageDraw.Draw(picture).rectangle((0, 0, 30, 15), "yellow")
    return picture


def item(folder: Path, name: str, picture: Image.Image) -> Artifact:
    picture.save(folder / name)
    return Artifact(Kind.IMAGE, path=folder / name, name=name)


@pytest.fixture
def right(tmp_path: Path) -> Callable[..., bool]:
    def judged(goal: str, edit: Edit, name: str = "a_new.png") -> bool:
        given = [item(tmp_path, "a.jpg", painted())]
        (expected,) = expected_results(goal, ["a.jpg"])[:1]
        return pictures_as_asked(expected, [item(tmp_path, name, edit(painted()))], given)

    return judged


def smaller(picture: Image.Image) -> Image.Image:
    return picture.resize((40, 20))


def turned(angle: int) -> Edit:
    return lambda picture: picture.rotate(angle, expand=True)


@pytest.mark.parametrize(
    ("goal", "edit"),
    [
        ("Shrink all pictures to half their size", smaller),
        ("Resize every picture to 50 %", smaller),
        ("Resize every picture to 40 pixels", smaller),
        ("Resize every picture, 20 pixels high", smaller),
        ("Shrink every picture so that its longer side has 40 pixels", smaller),
        ("Resize every picture to 40x20", smaller),
        ("Rotate every picture by 90 degrees", turned(90)),
        ("Rotate every picture by 90 degrees", turned(270)),
        ("Rotate every picture by 90 degrees to the left", turned(90)),
        ("Rotate every picture by 90 degrees clockwise", turned(270)),
        ("Convert all pictures to black and white", lambda picture: picture.convert("L")),
        ("Convert all pictures to PNG", lambda picture: picture),
    ],
)
def test_what_was_asked(right: Callable[..., bool], goal: str, edit: Edit) -> None:
    assert right(goal, edit)


@pytest.mark.parametrize(
    ("goal", "edit"),
    [
        ("Shrink all pictures to half their size", lambda picture: picture),
        ("Resize every picture to 40x20", lambda picture: picture.resize((20, 40))),
        ("Make the longer side 20 pixels", smaller),
        ("Resize every picture to 40x20", lambda picture: ImageOps.mirror(smaller(picture))),
        ("Rotate every picture by 90 degrees to the right", turned(90)),
        ("Convert all pictures to black and white", lambda picture: picture),
        ("Convert all pictures to PNG and blur them", lambda picture: picture),
        ("Convert all pictures", lambda picture: picture),
    ],
)
def test_something_else(right: Callable[..., bool], goal: str, edit: Edit) -> None:
    assert not right(goal, edit)


def test_files_that_cannot_be_compared(tmp_path: Path) -> None:
    (expected,) = expected_results("Convert all pictures to PNG", ["a.jpg"])
    given = [item(tmp_path, "a.jpg", painted())]
    png = item(tmp_path, "a.png", painted())
    assert pictures_as_asked(expected, [png], given)
    assert not pictures_as_asked(expected, [], given)
    assert not pictures_as_asked(expected, [png], [file(tmp_path, "a.csv")])
    text = Artifact(Kind.IMAGE, path=file(tmp_path, "b.png").path, name="b.png")
    assert not pictures_as_asked(expected, [text], given)
    assert not pictures_as_asked(expected, [Artifact(Kind.IMAGE, text="x", name="b.png")], given)
    painted().save(tmp_path / "c.png", "JPEG")
    named = Artifact(Kind.IMAGE, path=tmp_path / "c.png", name="c.png")
    assert not pictures_as_asked(expected, [named], given)
    # Of several, each has its own.
    two = [*given, item(tmp_path, "b.jpg", turned(90)(painted()))]
    turned_png = item(tmp_path, "b2.png", turned(90)(painted()))
    assert pictures_as_asked(expected, [png, turned_png], two)
    assert not pictures_as_asked(expected, [png, item(tmp_path, "b3.png", painted())], two)
