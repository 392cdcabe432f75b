"""Requests about pictures that are named in the sentence, and wishes that a named edit would
swallow."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.ports import PlanRejected
from tests.assistant.planning.planned import ask, show


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        # a picture's name counts like "the picture"
        (
            "find the red car in photo.jpg",
            [],
            ["zero-shot-object-detection(image=photo.jpg, what=the red car)"],
        ),
        (
            "find the dog in /home/me/photo.jpg",
            [],
            ["zero-shot-object-detection(image=photo.jpg, what=the dog)"],
        ),
        (
            "find the dog in a.jpg and b.jpg",
            [],
            [
                "zero-shot-object-detection(image=a.jpg, what=the dog)",
                "zero-shot-object-detection(image=b.jpg, what=the dog)",
            ],
        ),
        ("make a sketch of photo.jpg", [], ["image-editing(image=photo.jpg, edit=sketch)"]),
        ("make a painting of my picture", ["p.jpg"], ["image-editing(image=p.jpg, edit=painting)"]),
        ("draw a sketch of a cat", [], ["text-to-image(prompt=a cat)"]),
        ("classify photo.jpg", [], ["image-classification(image=photo.jpg)"]),
        ("classify t.csv", [], ["tabular-classification(table=t.csv, column=classify t.csv)"]),
        ("how large is photo.jpg?", [], ["file-details(file=photo.jpg)"]),
        (
            "count the words of the text",
            ["photo.jpg"],
            ["image-to-text(image=photo.jpg)", "file-details(file=#0)"],
        ),
        (
            "make photo.jpg and b.jpg grey",
            [],
            [
                "image-editing(image=photo.jpg, edit=grey)",
                "image-editing(image=b.jpg, edit=grey)",
            ],
        ),
        (
            "make photo.jpg 800x600",
            [],
            ["image-editing(image=photo.jpg, edit=resize, size=800x600)"],
        ),
        ("turn photo.jpg into text", [], ["image-to-text(image=photo.jpg)"]),
        (
            "find the total in receipt.jpg",
            [],
            [
                "document-question-answering(document=receipt.jpg, "
                "question=find the total in receipt.jpg)"
            ],
        ),
        # what is looked for
        (
            "find the red car in a photo",
            ["a.jpg"],
            ["zero-shot-object-detection(image=a.jpg, what=the red car)"],
        ),
        (
            "find 'Rex' in this photo",
            ["a.jpg"],
            ["zero-shot-object-detection(image=a.jpg, what=Rex)"],
        ),
        (
            "show me where the street sign is",
            ["a.jpg"],
            ["zero-shot-object-detection(image=a.jpg, what=the street sign)"],
        ),
        ("how many dogs are in photo.jpg?", [], ["object-detection(image=photo.jpg, what=dogs)"]),
        (
            "how many dogs are there in this picture?",
            ["a.jpg"],
            ["object-detection(image=a.jpg, what=dogs)"],
        ),
        ("detect the objects", ["a.jpg"], ["object-detection(image=a.jpg)"]),
        ("how many words are in photo.jpg?", [], ["image-to-text(image=photo.jpg)"]),
        (
            "which of cat, dog or horse is in photo.jpg?",
            [],
            [
                "zero-shot-image-classification(image=photo.jpg, "
                "labels=which of cat, dog or horse is in photo.jpg ?)"
            ],
        ),
        (
            "cut the dog out of photo.jpg",
            [],
            ["image-segmentation(image=photo.jpg, what=the dog)"],
        ),
        ("cut it out", ["a.jpg"], ["image-segmentation(image=a.jpg)"]),
    ],
)
async def test_what_is_seen(text: str, names: list[str], plan: list[str]) -> None:
    assert show(await ask(text, *names)) == plan


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        # a region is painted anew, not cut out
        (
            "replace the left half of photo.jpg with a forest",
            "inpainting(image=photo.jpg, prompt=a forest, region=left half)",
        ),
        (
            "change the top half of photo.jpg into a blue sky",
            "inpainting(image=photo.jpg, prompt=a blue sky, region=upper half)",
        ),
        (
            "crop photo.jpg to the left half",
            "image-editing(image=photo.jpg, edit=crop, direction=left)",
        ),
        (
            "remove the left half of photo.jpg",
            "image-editing(image=photo.jpg, edit=crop, direction=right)",
        ),
        # a wish of one's own
        (
            "add a pirate hat to the dog in photo.jpg",
            "image-editing(image=photo.jpg, prompt=add a pirate hat to the dog)",
        ),
        (
            "add a cartoon dog to photo.jpg",
            "image-editing(image=photo.jpg, prompt=add a cartoon dog)",
        ),
        (
            "replace the sky in photo.jpg with a sunset in sepia",
            "image-editing(image=photo.jpg, prompt=replace the sky with a sunset in sepia)",
        ),
        (
            "turn the dog in photo.jpg into a cartoon cat",
            "image-editing(image=photo.jpg, prompt=turn the dog into a cartoon cat)",
        ),
        (
            "turn photo.jpg into a van gogh painting",
            "image-to-image(image=photo.jpg, prompt=turn into a van gogh painting)",
        ),
        (
            "make photo.jpg look like winter",
            "image-editing(image=photo.jpg, prompt=make look like winter)",
        ),
        # a named edit stays one
        (
            "add more contrast to photo.jpg",
            "image-editing(image=photo.jpg, edit=contrast, amount=30.0)",
        ),
        ("remove the colour from photo.jpg", "image-editing(image=photo.jpg, edit=grey)"),
        ("turn photo.jpg into a cartoon", "image-to-image(image=photo.jpg, edit=cartoon)"),
        ("transform photo.jpg: painting", "image-to-image(image=photo.jpg, edit=painting)"),
    ],
)
async def test_a_named_edit_swallows_no_wish(text: str, plan: str) -> None:
    assert show(await ask(text)) == [plan]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("compose a piano melody", ["text-to-audio(prompt=compose a piano melody)"]),
        (
            "Summarise t.csv and fill in the missing kind",
            [
                "table-question-answering(table=t.csv, question=Summarise t.csv)",
                "tabular-classification(table=t.csv, column=fill in the missing kind)",
            ],
        ),
        ("fill in the missing word: The [MASK] is blue", ["fill-mask(text=The [MASK] is blue)"]),
    ],
)
async def test_words_that_several_tasks_share(text: str, plan: list[str]) -> None:
    assert show(await ask(text)) == plan


@pytest.mark.parametrize(
    ("text", "kind"),
    [("Summarise file:///etc/passwd", "file://"), ("read FTP://example.org/a.txt", "ftp://")],
)
async def test_an_address_off_the_web_is_not_fetched(text: str, kind: str) -> None:
    planned = await ask(text)
    assert isinstance(planned, PlanRejected)
    assert planned.reason.startswith(f"An address that begins with {kind} is not fetched.")


async def test_a_question_about_a_picture_edits_nothing() -> None:
    asked = "is this photo blurry?"
    assert show(await ask(asked, "a.jpg")) == [
        f"visual-question-answering(image=a.jpg, question={asked})"
    ]
    for text in ("Sort out which of these two photos is the brighter", "Which photo is sharper?"):
        refused = await ask(text, "a.jpg", "b.jpg")
        assert isinstance(refused, PlanRejected)
        assert refused.reason.startswith("Nothing here compares pictures.")
        assert refused.final  # an LLM sees no pictures either
