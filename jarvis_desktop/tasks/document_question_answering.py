"""Answers a question about a picture of a document, such as the total on a receipt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE

if TYPE_CHECKING:
    from jarvis_desktop.tasks.layout import Row

_VALUES = ("total", "amount", "date", "price", "address", "phone number")

TYPE = TaskType(
    name="document-question-answering",
    summary="Answers a question about a receipt, invoice, form, letter or other document: "
    "total, date, sender, phone number, or what stands beside a label.",
    ports=(
        Port("document", (Kind.IMAGE, Kind.DOCUMENT)),
        Port("question", (Kind.TEXT,)),
    ),
    gives=(Kind.TEXT,),
    cues=(
        "what is the total", "what's the total", "how much is the total", "how much did i pay",
        "how much do i owe", "what did i pay", "what is the amount", "total on this receipt",
        "on this receipt", "on the receipt", "on this bill", "on the bill", "on this invoice",
        "on the invoice", "in this invoice", "on this form", "in this form", "in this document",
        "in the document", "from this document", "about this document", "in this letter",
        "in the letter", "on this ticket", "on the ticket", "on this card", "what is the date on",
        "what's the date on", "what's the date in", "whats the date in", "what is the date in",
        "what is the date of", "what's the date of", "the date in the", "the date in this",
        "the date on the", "when is this due", "when is it due", "what is the due date",
        "invoice number", "who is it from", "who is this from", "who sent this", "which shop",
        "which store", "what is the phone number", "what is the e-mail", "document question",
        *(f"find the {what} {at}" for what in _VALUES for at in IN_PICTURE),
        "question about this document", "document-question-answering",
    ),
)  # fmt: skip


def reply(call: Call, report: Report) -> Iterable[Artifact]:
    """The answer as it stands in the document."""
    from jarvis_desktop.tasks.document_values import answer

    name, question = call.title("document"), call.text("question")
    report(None, f"reading {name}")
    rows = _rows(call, report)
    if not rows:
        raise ExpertError(
            tr("There is no text in {name} that I can read.", name=name),
            hint=tr(
                "A sharper or larger picture may help; what a picture shows, apart from text, "
                "takes an expert for visual question answering."
            ),
        )
    report(None, "looking for the answer")
    found = answer(question, rows)
    if not found:
        raise ExpertError(
            tr("I cannot find an answer to that in {name}.", name=name),
            hint=tr("Ask for something that is printed there, such as a total, a date or a label."),
        )
    return [text_artifact(found)]


def _rows(call: Call, report: Report) -> list[Row]:
    from jarvis_desktop.tasks.layout import blocks_of, rows_of
    from jarvis_desktop.tasks.ocr import find_lines
    from jarvis_desktop.tasks.pictures import read_pages, to_array

    given = call.inputs["document"][0]
    if given.kind is Kind.DOCUMENT:
        return _document_rows(call, report)
    pages = read_pages(call.file("document"), name=given.title)
    return [
        row
        for page in pages
        for block in blocks_of(find_lines(to_array(page)))
        for row in rows_of(block)
    ]


def _document_rows(call: Call, report: Report) -> list[Row]:
    """The lines of a document's text, as if they stood below each other on one page."""
    from jarvis_desktop.tasks.document_to_text import read_document
    from jarvis_desktop.tasks.ocr import Line

    path, name = call.file("document"), call.title("document")
    text = read_document(path, name=name, report=report, workdir=call.workdir)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [
        [Line(line, 1.0, 0.0, 20.0 * i, 9.0 * len(line), 20.0 * i + 16.0)]
        for i, line in enumerate(lines)
    ]


DEFINITION = Definition(
    TYPE,
    method=reply,
    note="OCR, then a search for the value the question asks for; no understanding of prose",
)
