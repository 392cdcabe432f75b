from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.documents.document_qa import DOCUMENT_QUESTION_ANSWERING, reply
from jarvis_desktop.tasks.images import ocr
from tests.tasks.calls import call_of, quiet, text_of
from tests.tasks.drawing import page

if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.io import Pixels

CAFE = (
    "Corner Cafe",
    "12 High Street, Bath",
    "Tel. 01225 555 0134",
    "14/03/2026   12:41",
    ("Flat white", "3.40"),
    ("Cheese scone", "2.95"),
    ("Lemon cake", "4.10"),
    ("Subtotal", "10.45"),
    ("VAT 20%", "2.09"),
    ("TOTAL", "£12.54"),
    ("Cash", "20.00"),
    ("Change", "7.46"),
    "Thank you for your visit!",
)
INVOICE = (
    "INVOICE",
    "From: Northwind Traders Ltd",
    "Bill to: Ada Lovelace",
    "Invoice number: NW-20417",
    "Invoice date: 2 February 2026",
    "Due date: 4 March 2026",
    "Questions? billing@northwind.example.com",
    ("Consulting, 8 hours", "$960.00"),
    ("Travel", "$85.50"),
    ("Sub-total", "$1,045.50"),
    ("Discount", "-$45.50"),
    ("Amount due", "$1,000.00"),
)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("papers")
    return {
        "cafe": page(folder / "cafe.png", CAFE, heading=True),
        "invoice": page(folder / "invoice.png", INVOICE, width=900, heading=True),
        "sideways": page(folder / "sideways.png", CAFE, heading=True, turned=90),
    }


@pytest.fixture(autouse=True, scope="module")
def read_once() -> Iterator[None]:
    """Let each page be read once, by the first question about it."""
    read: dict[bytes, list[ocr.Line]] = {}
    real = ocr.find_lines

    def find_lines(pixels: Pixels) -> list[ocr.Line]:
        key = pixels.tobytes()
        if key not in read:
            read[key] = real(pixels)
        return list(read[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ocr, "find_lines", find_lines)
        yield


@pytest.mark.parametrize(
    ("paper", "question", "expected"),
    [
        ("cafe", "What is the total on this receipt?", "12.54"),
        ("cafe", "How much did I pay?", "12.54"),
        ("cafe", "what is the subtotal", "10.45"),
        ("cafe", "how much was the lemon cake?", "4.10"),
        ("cafe", "How much change did I get?", "7.46"),
        ("cafe", "What is the date?", "14/03/2026"),
        ("cafe", "When was this?", "14/03/2026"),
        ("cafe", "What time was it?", "12:41"),
        ("cafe", "which shop is it from", "Corner Cafe"),
        ("cafe", "What is the phone number?", "01225 555 0134"),
        ("sideways", "What is the total?", "12.54"),
        ("invoice", "What is the total on this invoice?", "1,000.00"),
        ("invoice", "How much is the travel?", "85.50"),
        ("invoice", "When is it due?", "4 March 2026"),
        ("invoice", "what is the invoice date", "2 February 2026"),
        ("invoice", "What is the invoice number?", "NW-20417"),
        ("invoice", "Who is it from?", "Northwind Traders Ltd"),
        ("invoice", "Who is it addressed to?", "Ada Lovelace"),
        ("invoice", "What is the e-mail address?", "billing@northwind.example.com"),
    ],
)
def test_finds_the_value_asked_for(
    papers: dict[str, Path], tmp_path: Path, paper: str, question: str, expected: str
) -> None:
    call = call_of(
        DOCUMENT_QUESTION_ANSWERING.type,
        tmp_path / "work",
        document=papers[paper],
        question=question,
    )
    answer = text_of(reply(call, quiet))
    assert answer.replace(" ", "").lstrip("£$E").lower() == expected.replace(" ", "").lower()


def test_says_that_the_answer_is_not_there(papers: dict[str, Path], tmp_path: Path) -> None:
    question = "What is the captain's favourite colour?"
    call = call_of(
        DOCUMENT_QUESTION_ANSWERING.type,
        tmp_path / "work",
        document=papers["cafe"],
        question=question,
    )
    with pytest.raises(ExpertError, match=r"cannot find an answer to that in cafe\.png"):
        reply(call, quiet)


def test_asks_a_text_document_too(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text(
        "Order of 3 May 2026\nTracking code: ZX81\nTotal: 19.99 EUR\n", encoding="utf-8"
    )
    given = Artifact(Kind.DOCUMENT, path=file)
    call = call_of(
        DOCUMENT_QUESTION_ANSWERING.type,
        tmp_path / "work",
        document=given,
        question="What is the total?",
    )
    assert text_of(reply(call, quiet)) == "19.99 EUR"
