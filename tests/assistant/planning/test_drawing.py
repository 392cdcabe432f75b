"""Requests for pictures and films: what is to be drawn, how, and after which picture."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import ask, conversation, file, show


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        # how it is drawn is no part of what is drawn
        (
            "draw a street without people in 1024x768 with seed 42",
            [],
            ["text-to-image(prompt=a street without people, size=1024x768, avoid=people, seed=42)"],
        ),
        (
            "paint a mountain lake in landscape format",
            [],
            ["text-to-image(prompt=a mountain lake in landscape format, size=landscape)"],
        ),
        (
            "make a video of a running horse, 5 seconds long",
            [],
            ["text-to-video(prompt=a running horse, seconds=5.0)"],
        ),
        # a named edit is settled, any other wish is told in words
        (
            "make the photo black and white",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=grey)"],
        ),
        (
            "Turn photo.jpg into a pencil sketch",
            [],
            ["image-to-image(image=photo.jpg, edit=sketch)"],
        ),
        ("edit this photo", ["a.jpg"], ["image-editing(image=a.jpg)"]),
        (
            "write SALE across it in big red letters",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=caption, words=SALE, colour=red)"],
        ),
        (
            "write Hello on it in red and flip it",
            ["a.jpg"],
            [
                "image-editing(image=a.jpg, edit=caption, words=Hello, colour=red)",
                "image-editing(image=#0, edit=flip, direction=horizontal)",
            ],
        ),
        (
            "put a red border around it",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=border, colour=red)"],
        ),
        ("blur the faces", ["a.jpg"], ["image-editing(image=a.jpg, prompt=blur the faces)"]),
        ("blur the photo", ["a.jpg"], ["image-editing(image=a.jpg, edit=blur)"]),
        (
            "it is too dark, fix it",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=brightness, amount=30.0)"],
        ),
        (
            "make it under 500 kB",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=resize, size=500 KB)"],
        ),
        (
            "make a thumbnail",
            ["a.jpg"],
            ["image-editing(image=a.jpg, edit=resize, size=longest 256)"],
        ),
        ("make the background transparent", ["a.jpg"], ["image-segmentation(image=a.jpg)"]),
        ("is there any text in this", ["a.jpg"], ["image-to-text(image=a.jpg)"]),
        ("when was this photo taken", ["a.jpg"], ["file-details(file=a.jpg)"]),
        ("take a screenshot at 0:10", ["a.mp4"], ["video-to-image(video=a.mp4, at=10.0)"]),
        ("rotate the video", ["a.mp4"], ["video-editing(video=a.mp4, edit=rotate)"]),
        ("put a frame around it", ["a.mp4"], ["video-editing(video=a.mp4, edit=border)"]),
        (
            "make it smaller and cut the first 5 seconds",
            ["a.mp4"],
            [
                "video-editing(video=a.mp4, edit=resize, amount=50.0)",
                "cut-file(file=#0, action=remove, times=0:00-0:05)",
            ],
        ),
        ("trim it to 10 seconds", ["a.mp4"], ["cut-file(file=a.mp4, times=0:00-0:10)"]),
        (
            "rotate the video and blur the picture",
            ["a.mp4", "b.png"],
            ["video-editing(video=a.mp4, edit=rotate)", "image-editing(image=b.png, edit=blur)"],
        ),
        (
            "cut the first 5 seconds and rotate it",
            ["a.mp4"],
            [
                "cut-file(file=a.mp4, action=remove, times=0:00-0:05)",
                "video-editing(video=#0, edit=rotate)",
            ],
        ),
        (
            "take a still from the video and make it grey",
            ["a.mp4"],
            ["video-to-image(video=a.mp4)", "image-editing(image=#0, edit=grey)"],
        ),
        (
            "replace the dog in photo.jpg with a cat",
            [],
            ["image-editing(image=photo.jpg, prompt=replace the dog with a cat)"],
        ),
        (
            "remove the car from this photo",
            ["a.jpg"],
            ["image-editing(image=a.jpg, prompt=remove the car from this photo)"],
        ),
        (
            "edit the picture: 'make it winter'",
            ["a.jpg"],
            ["image-editing(image=a.jpg, prompt=make it winter)"],
        ),
        (
            "turn photo.jpg into the style of Van Gogh",
            [],
            ["image-to-image(image=photo.jpg, prompt=turn into the style of Van Gogh)"],
        ),
        # a mask is a second picture, or a region in words
        (
            "inpaint photo.png with mask.png: a red hat",
            [],
            ["inpainting(image=photo.png, mask=mask.png, prompt=a red hat)"],
        ),
        (
            "inpaint these: 'a red hat'",
            ["the mask.png", "photo.png"],
            ["inpainting(image=photo.png, mask=the mask.png, prompt=a red hat)"],
        ),
        (
            "inpaint one.png by two.png: 'a red hat'",
            [],
            ["inpainting(image=one.png, mask=two.png, prompt=a red hat)"],
        ),
        (
            "inpaint the left half of a.png with a red boat with sails",
            [],
            ["inpainting(image=a.png, prompt=a red boat with sails, region=left half)"],
        ),
        # films that begin with a picture
        ("animate photo.jpg", [], ["image-to-video(image=photo.jpg)"]),
        ("animate a dancing bear", [], ["text-to-video(prompt=a dancing bear)"]),
        (
            "turn this photo into a video of waves rolling in",
            ["a.jpg"],
            ["image-to-video(image=a.jpg, prompt=waves rolling in)"],
        ),
        (
            "Make the picture brighter and turn it into a video",
            ["a.jpg"],
            [
                "image-editing(image=a.jpg, edit=brightness, amount=30.0)",
                "image-to-video(image=#0)",
            ],
        ),
    ],
)
async def test_wishes(text: str, names: list[str], plan: list[str]):
    assert show(await ask(text, *names)) == plan


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        (
            "draw a knight in the same pose as the person in photo.jpg",
            [],
            [
                "openpose-control(image=photo.jpg)",
                "openpose-text-to-image(image=#0, prompt=a knight)",
            ],
        ),
        (
            "paint a house along the edges of photo.jpg",
            [],
            ["canny-control(image=photo.jpg)", "canny-text-to-image(image=#0, prompt=a house)"],
        ),
        (
            "use the depth of room.jpg to paint a winter cabin",
            [],
            [
                "depth-control(image=room.jpg)",
                "depth-text-to-image(image=#0, prompt=a winter cabin)",
            ],
        ),
        # what is called a control picture is one
        (
            "turn this scribble into a photo of a cat",
            ["a.png"],
            ["scribble-text-to-image(image=a.png, prompt=a cat)"],
        ),
        (
            "paint a red car from this depth map",
            ["x.png"],
            ["depth-text-to-image(image=x.png, prompt=a red car)"],
        ),
        (
            "paint a castle with the edges of photo-canny.png",
            [],
            ["canny-text-to-image(image=photo-canny.png, prompt=a castle)"],
        ),
        # what the step before made, too
        (
            "draw the edges of a.jpg and paint a castle along the edges of it",
            [],
            ["canny-control(image=a.jpg)", "canny-text-to-image(image=#0, prompt=a castle)"],
        ),
        (
            "scribble text to image",
            ["doodle.png"],
            ["scribble-text-to-image(image=doodle.png, prompt=scribble text to image)"],
        ),
    ],
)
async def test_control_pictures(text: str, names: list[str], plan: list[str]):
    assert show(await ask(text, *names)) == plan


async def test_a_port_that_nothing_is_called_after_takes_no_picture_as_it_is():
    (painter,) = (item for item in INVENTORY if item.name == "canny-text-to-image")
    nameless = replace(painter.ports[0], known_as=())
    changed = replace(painter, ports=(nameless, *painter.ports[1:]))
    inventory = [changed if item is painter else item for item in INVENTORY]
    words = "paint a castle from the edges of this picture"
    plan = await EmbeddedPlanner().plan(words, inventory, Context((file("my-cat.jpg"),)))
    assert [line.split("(")[0] for line in show(plan)] == ["canny-control", "canny-text-to-image"]


async def test_a_control_picture_of_an_earlier_turn_is_taken_as_it_is():
    made = Artifact(Kind.IMAGE, path=file("b.png").path, name="b-canny.png", made_by=0)
    planned = await ask("paint a castle along the edges of it", earlier=conversation(made))
    assert show(planned) == ["canny-text-to-image(image=b-canny.png, prompt=a castle)"]


@pytest.mark.parametrize("text", ["replace the battery", "erase the disk", "change the sky"])
async def test_everyday_words_do_not_edit_pictures_that_are_not_there(text: str):
    assert isinstance(await ask(text), PlanRejected)
