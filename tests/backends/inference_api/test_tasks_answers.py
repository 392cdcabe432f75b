"""Experts behind an API: every task once with a good answer, in the wire forms of its providers."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image

from jarvis_desktop.backends.inference_api.tasks import CHAT
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.audio.media import open_media, read_audio
from jarvis_desktop.tasks.images.io import read_image
from tests.backends.inference_api.desk import Desk
from tests.router import Day

pytestmark = pytest.mark.asyncio(loop_scope="module")


def said(results: Sequence[Artifact]) -> str:
    return "\n".join(item.text or "" for item in results if item.kind is Kind.TEXT)


TEXTS: dict[str, tuple[dict[str, Any], dict[str, Value], str]] = {
    "text-generation": ({"prompt": "Hello?"}, {}, "You said: Hello?"),
    "summarization": (
        {"text": "Bern is old. It lies on the Aare. It has bears."}, {"sentences": 1},
        "Bern is old."),
    "translation": ({"text": "Guten Tag, ihr alle."}, {"language": "English"}, "GUTEN TAG"),
    "question-answering": (
        {"question": "Which city?", "context": "It is late. The capital is Bern, they say. Yes."},
        {}, "Bern\n\n“The capital is Bern, they say.”"),
    "token-classification": ({"text": "Ada lives in Bern."}, {}, "People: Ada\nPlaces: Bern"),
    "text-classification": ({"text": "How nice!"}, {}, "positive: 90%\nnegative: 30%"),
    "zero-shot-classification": (
        {"text": "They won."}, {"labels": "sport, politics"}, "sport: 90%\npolitics: 30%"),
    "fill-mask": ({"text": "The sky is ___."}, {}, "The sky is blue.\nAlso possible: grey."),
    "sentence-similarity": (
        {"text_1": "A cat.", "text_2": "A kitten."}, {},
        "The two texts are 83% alike in meaning (cosine 0.83, by tiny)."),
}  # fmt: skip


@pytest.mark.parametrize("task", sorted(TEXTS))
async def test_what_is_read_and_written(desk: Desk, task: str) -> None:
    inputs, options, expected = TEXTS[task]
    assert expected in said(await desk.ask(task, options=options, **inputs))


@pytest.mark.parametrize(
    ("task", "inputs", "options"),
    [("text-generation", {"prompt": "Hello?"}, {}),
     ("translation", {"text": "Guten Tag.\n\nIch bin da."}, {"language": "English"})],
)  # fmt: skip
async def test_words_are_shown_while_they_arrive(
    desk: Desk, task: str, inputs: dict[str, Any], options: dict[str, Value]
) -> None:
    pieces: list[str] = []
    token = current_draft.set(pieces.append)
    try:
        written = said(await desk.ask(task, options=options, **inputs))
    finally:
        current_draft.reset(token)
    assert len(pieces) > 1
    assert "".join(pieces) == written


async def test_an_answer_that_breaks_off_is_no_answer(desk: Desk) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "You sa"}}]}
    about = {"id": "1", "created": 1, "model": "x", "system_fingerprint": ""}
    event = f"data: {json.dumps(about | chunk)}\n\n".encode()
    desk.router.days.append(Day(body=event, kind="text/event-stream"))
    with pytest.raises(ExpertError, match="was cut off") as caught:
        await desk.ask("text-generation", prompt="Hello?")
    assert caught.value.retryable


async def test_a_translator_for_many_languages_is_told_which(desk: Desk) -> None:
    text = "Der Zug nach Zürich fährt heute leider erst nach acht Uhr ab."
    await desk.ask("translation", repo="org/nllb", text=text, options={"language": "French"})
    assert desk.router.bodies[-1]["parameters"] == {"src_lang": "deu_Latn", "tgt_lang": "fra_Latn"}
    with pytest.raises(ExpertError, match="from German into English only"):
        await desk.ask(
            "translation", languages=("de", "en"), text=text, options={"language": "French"}
        )


async def test_a_long_text_is_summarised_in_parts(desk: Desk) -> None:
    text = " ".join(f"Sentence number {at} tells something about Bern." for at in range(150))
    (result,) = await desk.ask("summarization", text=text, options={"sentences": 3})
    assert (result.text or "").count("Sentence number") == 3
    assert len(desk.router.bodies) == 3
    assert "Part 2 of 3" in desk.reports
    with pytest.raises(ExpertError, match="would take"):
        await desk.ask("summarization", text=text * 20)


async def test_tables(desk: Desk) -> None:
    result = await desk.ask(
        "table-question-answering", table=desk.table(), question="Which is the largest?"
    )
    assert said(result) == "Bern\n\nFrom the cells: 134000."


async def test_rows_of_a_table_get_labels(desk: Desk) -> None:
    table, words = await desk.ask("tabular-classification", table=desk.table())
    assert table.path
    with table.path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["city", "people", "label"], ["Chur", "900", "small"], ["Bern", "134000", "large"],
    ]  # fmt: skip
    assert words.text == "2 rows have a label (small: 1, large: 1)."


async def test_vectors_have_length_one(desk: Desk) -> None:
    text = "One. Another one."
    table, words = await desk.ask("feature-extraction", text=text, options={"each": "sentence"})
    assert table.path
    with table.path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == ["text", "One.", "Another one."]
    assert sum(float(value) ** 2 for value in rows[1][1:]) == pytest.approx(1, abs=1e-4)
    assert "2 vectors of 4 numbers" in (words.text or "")
    await desk.ask("feature-extraction", "together", text=text)
    assert desk.router.bodies[-1]["input"] == text


PICTURES: dict[str, tuple[dict[str, Any], dict[str, Value], str]] = {
    "image-classification": ({}, {}, "tabby: 90%\nsize 320: 30%"),
    "zero-shot-image-classification": ({}, {"labels": "cat or dog"}, "cat: 90%\ndog: 30%"),
    "image-to-text": ({}, {}, "a picture 320 wide"),
    "visual-question-answering": ({"question": "Is it a cat?"}, {}, "yes: Is it a cat?"),
}


@pytest.mark.parametrize("task", sorted(PICTURES))
async def test_what_pictures_show(desk: Desk, task: str) -> None:
    inputs, options, expected = PICTURES[task]
    result = await desk.ask(task, options=options, image=desk.picture(), **inputs)
    assert said(result) == expected


async def test_a_document_is_read(desk: Desk) -> None:
    result = await desk.ask(
        "document-question-answering", document=desk.picture(), question="How much?"
    )
    assert said(result) == "320 francs"


@pytest.mark.parametrize(
    ("task", "port"),
    [("image-to-text", "image"), ("visual-question-answering", "image"),
     ("document-question-answering", "document")],
)  # fmt: skip
async def test_an_llm_that_sees_is_asked_in_a_chat(desk: Desk, task: str, port: str) -> None:
    question = {} if task == "image-to-text" else {"question": "What is it?"}
    inputs: dict[str, Any] = {port: desk.picture(), **question}
    result = await desk.ask(task, "together", service=CHAT, **inputs)
    assert said(result).startswith("You said: ")
    assert "(320 wide)" in said(result)
    assert question.get("question", "this picture") in said(result)


async def test_a_document_that_is_no_picture_is_read_here_for_a_chat(desk: Desk) -> None:
    path = desk.folder / "letter.txt"
    path.write_text("The rent is 900 francs.", "utf-8")
    letter = Artifact(Kind.DOCUMENT, path=path, name="letter.txt")
    asked: dict[str, Any] = {"document": letter, "question": "What is the rent?"}
    result = await desk.ask("document-question-answering", "together", service=CHAT, **asked)
    assert "The rent is 900 francs." in said(result)
    with pytest.raises(ExpertError, match="reads pictures of documents"):
        await desk.ask("document-question-answering", **asked)


async def test_boxes_are_drawn_where_they_belong(desk: Desk) -> None:
    image, words = await desk.ask("object-detection", image=desk.picture((3200, 400)))
    assert (words.text or "").startswith("I find one cat in cat-3200.png, on the left")
    assert image.path
    drawn = read_image(image.path)
    assert drawn.size == (3200, 400)
    # The box goes to the middle of the picture as it was given, not as it was sent.
    assert drawn.getpixel((1598, 200)) != (210, 180, 140)
    assert drawn.getpixel((2500, 200)) == (210, 180, 140)
    assert desk.router.requests[-1][2]["content-type"] == "image/jpeg"


async def test_parts_are_coloured_or_cut_out(desk: Desk) -> None:
    image, words = await desk.ask("image-segmentation", image=desk.picture())
    assert "cat" in (words.text or "")
    assert "sky" in (words.text or "")
    assert image.path
    assert read_image(image.path).size == (320, 200)
    (cut,) = await desk.ask("image-segmentation", image=desk.picture(), options={"what": "the cat"})
    assert cut.path
    alpha = read_image(cut.path).getchannel("A")
    assert (alpha.getpixel((10, 100)), alpha.getpixel((300, 100))) == (255, 0)
    with pytest.raises(ExpertError, match=r"tiny finds no bus in cat-320\.png"):
        await desk.ask("image-segmentation", image=desk.picture(), options={"what": "the bus"})


@pytest.mark.parametrize("provider", ["hf-inference", "fal-ai", "replicate", "together"])
async def test_pictures_are_drawn(desk: Desk, provider: str) -> None:
    (result,) = await desk.ask("text-to-image", provider, prompt="a boat without sails")
    assert (result.kind, result.name) == (Kind.IMAGE, "a boat without sails.png")
    assert result.path
    assert read_image(result.path).size == (64, 48)
    assert desk.router.hosts(with_key=True) == {"router.huggingface.co"}


@pytest.mark.parametrize("provider", ["hf-inference", "fal-ai", "replicate", "together"])
@pytest.mark.parametrize("task", ["image-to-image", "image-editing"])
async def test_pictures_are_changed_as_words_say(desk: Desk, task: str, provider: str) -> None:
    (result,) = await desk.ask(task, provider, image=desk.picture(), prompt="at night")
    assert result.path
    assert read_image(result.path).size in ((320, 200), (64, 48))
    assert result.name in ("cat-320-restyled.png", "cat-320-edited.png")


async def test_a_named_edit_is_left_to_the_built_in_way(desk: Desk) -> None:
    with pytest.raises(ExpertError, match="as a description says, and there is none"):
        await desk.ask("image-editing", image=desk.picture(), options={"edit": "rotate"})
    assert not desk.router.bodies


@pytest.mark.parametrize(
    ("task", "provider"),
    [("text-to-video", "fal-ai"), ("text-to-video", "replicate"), ("image-to-video", "fal-ai")],
)
async def test_films(desk: Desk, task: str, provider: str) -> None:
    inputs: dict[str, Any] = {"prompt": "waves"}
    if task == "image-to-video":
        inputs["image"] = desk.picture()
    (result,) = await desk.ask(task, provider, options={"seconds": 2.0}, **inputs)
    assert (result.kind, result.name) == (Kind.VIDEO, "waves.mp4")
    assert result.path
    with open_media(result.path) as container:
        assert container.streams.video
    # The results lie elsewhere, and nobody there is shown the key.
    assert desk.router.hosts(with_key=False) == {"huggingface.co", "cdn.example.com"}


@pytest.mark.parametrize(
    ("provider", "expected"),
    [("hf-inference", "0.5 seconds at 16000"), ("fal-ai", "at 16000"), ("replicate", "at 16000")],
)
async def test_speech_is_written_down(desk: Desk, provider: str, expected: str) -> None:
    result = await desk.ask("automatic-speech-recognition", provider, audio=desk.recording())
    assert said(result) == expected


async def test_stretches_of_speech_have_their_times(desk: Desk) -> None:
    timed: dict[str, Any] = {"audio": desk.recording(), "options": {"timestamps": True}}
    result = await desk.ask("automatic-speech-recognition", **timed)
    assert said(result) == "[1:01] 0.5 seconds at 16000"
    with pytest.raises(ExpertError, match="returns no timestamps"):
        await desk.ask("automatic-speech-recognition", "fal-ai", **timed)


async def test_sounds_are_named(desk: Desk) -> None:
    result = await desk.ask("audio-classification", audio=desk.recording())
    assert said(result) == "speech: 90%\nmusic: 30%"


async def test_a_recording_is_cleaned(desk: Desk) -> None:
    (result,) = await desk.ask("audio-to-audio", audio=desk.recording(1.0))
    assert result.name == "speech-cleaned.wav"
    assert result.path
    samples, rate = read_audio(result.path)
    assert samples.shape[1] / rate == pytest.approx(1.0, abs=0.1)
    with pytest.raises(ExpertError, match="cannot make a recording louder"):
        await desk.ask("audio-to-audio", audio=desk.recording(), options={"effect": "louder"})


@pytest.mark.parametrize("provider", ["hf-inference", "fal-ai", "replicate"])
async def test_a_text_is_spoken(desk: Desk, provider: str) -> None:
    text = " ".join(f"This is sentence number {at} of the tale." for at in range(40))
    (result,) = await desk.ask("text-to-speech", provider, text=text)
    assert (result.kind, result.name) == (Kind.AUDIO, "speech.wav")
    assert len(desk.router.bodies) == 2
    assert result.path
    samples, rate = read_audio(result.path)
    wanted = len(text) / 100 if provider == "hf-inference" else 0.4
    assert samples.shape[1] / rate == pytest.approx(wanted, abs=0.3)


async def test_music_is_made_by_the_route_itself(desk: Desk) -> None:
    (result,) = await desk.ask("text-to-audio", prompt="a quiet waltz")
    assert result.name == "music.wav"
    with pytest.raises(UnavailableError, match="does not serve"):
        await desk.ask("text-to-audio", "fal-ai", prompt="a quiet waltz")


async def test_what_is_missing_is_said_before_anything_is_sent(desk: Desk) -> None:
    with pytest.raises(InputError, match="at least two labels"):
        await desk.ask("zero-shot-classification", text="x", options={"labels": "one"})
    with pytest.raises(InputError, match="no gap"):
        await desk.ask("fill-mask", text="The sky is blue.")
    with pytest.raises(InputError, match="the text is empty"):
        await desk.ask("summarization", text=" ")
    with pytest.raises(ExpertError, match="too long for tiny"):
        await desk.ask("automatic-speech-recognition", audio=desk.recording(901))
    assert not desk.router.bodies


async def test_notes_of_the_camera_stay_here(desk: Desk) -> None:
    path = desk.folder / "photo.jpg"
    exif = Image.Exif()
    exif[0x010F] = "Cameramaker"
    Image.new("RGB", (400, 300), "tan").save(path, exif=exif)
    await desk.ask("image-classification", image=Artifact(Kind.IMAGE, path=path, name="photo.jpg"))
    assert isinstance(desk.router.bodies[-1], bytes)
    assert b"Cameramaker" not in desk.router.bodies[-1]
