"""The tasks that turn pictures into text: OCR, captions, and questions about a picture."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.naming import IN_PICTURE, PICTURE_WORDS

TEXT, CAPTION = "text", "caption"

_CAPTIONS = (
    "caption this", "caption the", "caption it", "caption xfile*", "a caption", "image caption*",
    "picture caption*", "captions for",
)  # fmt: skip


def wants_caption(call: Call) -> bool:
    """Whether the call asks for a description of the picture rather than the text in it."""
    return call.words("what").strip().lower().startswith((CAPTION, "descri"))


def read(call: Call, report: Report) -> Iterable[Artifact]:
    """Read the text of the picture; of all pages if it is a TIFF with several."""
    from jarvis_desktop.tasks.images.io import frame_count, read_pages, to_array
    from jarvis_desktop.tasks.images.ocr import find_lines, page_text

    path, name = call.file("image"), call.title("image")
    if wants_caption(call):
        raise ExpertError(
            tr(
                "I can read the text in {name}, but say what it shows only with an expert.",
                name=name,
            ),
            hint=tr("Fetch one for image to text: jarvis-desktop experts list."),
        )
    count = frame_count(path, name=name)
    pages = []
    for number, page in enumerate(read_pages(path, name=name), 1):
        report((number - 1) / count if count > 1 else None, tr("Reading {name}", name=name))
        if text := page_text(find_lines(to_array(page))):
            pages.append(text)
    if not pages:
        raise ExpertError(
            tr("There is no text in {name} that I can read.", name=name),
            hint=tr("A sharper or larger picture may help."),
        )
    return [text_artifact("\n\n".join(pages))]


IMAGE_TO_TEXT = define(
    name="image-to-text", label="Read text",
    summary="Reads the text in a picture: signs, letters, scans, receipts, screenshots; or, with "
    "an expert, writes a caption for it.",
    ports=(Port("image", (Kind.IMAGE,)),),
    options=(
        TaskOption("what",
            "text = the words written in it; caption = a sentence about what it shows",
               TEXT),
    ),
    presets=presets(({"what": CAPTION}, _CAPTIONS)),
    cues=(
        "read the text", "read the letter", "what does ... say", "written on", "text on",
        "read the sign", "read this sign", "read this picture", "read the scan",
        "read this", "read it", "read that", "read xfile*", "read the picture", "what text",
        "the words on", "the words in", "what does it say", "what does this say", "what it says",
        "what does the letter say", "what is written", "what's written", "what is the text",
        "what text is", "text in the picture", "text in this picture", "text in the image",
        "text in this image", "text from the picture", "text from the image",
        "text from this image", "extract the text", "extract text", "extract the words",
        "any text in", "any writing in", "any words in", "get the text",
        "copy the text", "recogni* the text", "scan the text", "text recognition",
        "character recognition", "ocr", "image to text", "picture to text", "image-to-text",
        "turn this scan into text", *(f"turn the {what} into text" for what in PICTURE_WORDS),
        *(f"how many {what} are {at}" for what in ("words", "letters") for at in IN_PICTURE),
        "digiti*", *(f"find ... text {at}" for at in IN_PICTURE),
    ),
    method=read,
    note="OCR with weights that come with the application (RapidOCR): printed English and Chinese; "
    "accents and handwriting are read poorly",
)  # fmt: skip


VISUAL_QUESTION_ANSWERING = define(
    name="visual-question-answering", label="Ask the picture",
    summary="Answers a question about what a picture shows.",
    ports=(Port("image", (Kind.IMAGE,)), Port("question", (Kind.TEXT,))),
    cues=(
        "what is in", "what's in", "whats in", "what is this$", "what's this$", "whats this$",
        "what does the picture show", "what does this picture show", "what does the photo show",
        "what does this photo show", "what does the image show", "what do you see",
        "what can you see", "what colour is", "what color is", "what is the man",
        "what is the woman", "what is the person", "what is happening", "who is in", "who's in",
        "whos in", "how many ... are there", "what kind of", "what animal is", "what breed is",
        "describe the picture", "describe the photo", "describe the image", "describe this",
        "describe what", "describe xfile*", "describe it", "look at the", "look at this",
    ),
    note="needs an expert that sees",
)  # fmt: skip
