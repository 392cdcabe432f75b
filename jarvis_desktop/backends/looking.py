"""What is asked about a picture or document, in one form for all experts that talk about them.

Used in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from jarvis_desktop.backends.seeing import shown
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.image_to_text import wants_caption
from jarvis_desktop.tasks.naming import asks_for_description

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PAGES = 4
"""Pages of a document that are looked at at once: each takes as much room as a long text."""


class Wish(Enum):
    """What is wanted of a picture."""

    READ = "read"
    """The text in it."""
    DESCRIBE = "describe"
    ANSWER = "answer"
    """The answer to a question about it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request about pictures, or about the text of a document that has none."""

    wish: Wish
    name: str
    """What a person calls the file."""
    pictures: Sequence[Image] = ()
    """Upright, RGB, of a size that networks take; the pages of a document."""
    text: str = ""
    """The text of a document without pictures of its pages."""
    question: str = ""


Talk = Callable[[Asked, Report], str]
"""Gives the text that was asked for. Raises ExpertError where it cannot do that."""


def asked_of(call: Call, report: Report) -> Asked:
    """What a call of one of the tasks that talk about pictures asks for."""
    if call.task == "document-question-answering":
        return _asked_of_document(call, report)
    name = call.title("image")
    pictures = _pages(call, "image")
    if call.task == "image-to-text":
        wish = Wish.DESCRIBE if wants_caption(call) else Wish.READ
        return Asked(wish, name, pictures)
    question = call.text("question")
    wish = Wish.DESCRIBE if asks_for_description(question) else Wish.ANSWER
    return Asked(wish, name, pictures[:1], question=question)


def _asked_of_document(call: Call, report: Report) -> Asked:
    name, question = call.title("document"), call.text("question")
    if not question.strip():
        raise InputError(tr("There is no question about {name}.", name=name))
    pages: Sequence[Image] = ()
    if call.inputs["document"][0].kind is Kind.IMAGE:
        return Asked(Wish.ANSWER, name, _pages(call, "document"), question=question)
    from jarvis_desktop.tasks.document_to_text import read_document
    from jarvis_desktop.tasks.pdf import is_pdf, page_pictures

    path = call.file("document")
    if is_pdf(path):
        pages = [shown(page).shown for page in page_pictures(path, name=name, most=MOST_PAGES)]
    if pages:
        return Asked(Wish.ANSWER, name, pages, question=question)
    text = read_document(path, name=name, report=report, workdir=call.workdir)
    return Asked(Wish.ANSWER, name, text=text, question=question)


def _pages(call: Call, port: str) -> list[Image]:
    """The pages of a TIFF, or the one picture."""
    from itertools import islice

    from jarvis_desktop.tasks.pictures import on_white, read_pages

    pages = read_pages(call.file(port), name=call.title(port))
    return [shown(on_white(page)).shown for page in islice(pages, MOST_PAGES)]
