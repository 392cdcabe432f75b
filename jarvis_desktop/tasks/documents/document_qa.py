"""Answers questions about receipts, invoices, forms and letters: totals, dates, labelled values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.naming import IN_PICTURE
from jarvis_desktop.text.tokens import FUNCTION_WORDS

if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.ocr import Row


_VALUES = ("total", "amount", "date", "price", "address", "phone number")


def reply(call: Call, report: Report) -> Iterable[Artifact]:
    """The answer as it is written in the document."""

    name, question = call.title("document"), call.text("question")
    report(None, tr("Reading {name}", name=name))
    rows = _rows(call, report)
    if not rows:
        raise ExpertError(
            tr("There is no text in {name} that I can read.", name=name),
            hint=tr(
                "A sharper or larger picture may help; what a picture shows, apart from text, "
                "takes an expert for visual question answering."
            ),
        )
    report(None, tr("Looking for the answer"))
    found = answer(question, rows)
    if not found:
        raise ExpertError(
            tr("I cannot find an answer to that in {name}.", name=name),
            hint=tr("Ask for something that is printed there, such as a total, a date or a label."),
        )
    return [text_artifact(found)]


def _rows(call: Call, report: Report) -> list[Row]:
    from jarvis_desktop.tasks.images.io import read_pages, to_array
    from jarvis_desktop.tasks.images.ocr import blocks_of, find_lines, rows_of

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
    """The lines of a document's text, as if they were below each other on one page."""
    from jarvis_desktop.tasks.documents.to_text import read_document
    from jarvis_desktop.tasks.images.ocr import Line

    path, name = call.file("document"), call.title("document")
    text = read_document(path, name=name, report=report, workdir=call.workdir)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [
        [Line(line, 1.0, 0.0, 20.0 * i, 9.0 * len(line), 20.0 * i + 16.0)]
        for i, line in enumerate(lines)
    ]


DOCUMENT_QUESTION_ANSWERING = define(
    name="document-question-answering", label="Ask the document",
    summary="Answers a question about a receipt, invoice, form, letter or other document: "
    "total, date, sender, phone number, or what stands beside a label.",
    ports=(
        Port("document", (Kind.IMAGE, Kind.DOCUMENT)),
        Port("question", (Kind.TEXT,)),
    ),
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
    method=reply,
    note="OCR, then a search for the value the question asks for; no understanding of prose",
)  # fmt: skip


MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
CURRENCY = r"(?:[$€£¥]|usd|eur|gbp|chf|rs\.?)"
PATTERNS = {
    "money": rf"(?:{CURRENCY}\s?)?-?(?:\d{{1,3}}(?:[,.' ]\d{{3}})+|\d+)[.,]\d{{2}}(?!\d|[.,/]\d)"
    rf"(?:\s?{CURRENCY}(?!\w))?|{CURRENCY}\s?\d+(?:[.,]\d{{3}})*(?!\d)",
    "date": rf"\b\d{{4}}[-./]\d{{1,2}}[-./]\d{{1,2}}\b|\b\d{{1,2}}[-./]\d{{1,2}}[-./]\d{{2,4}}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?[ .-]{{0,2}}{MONTH}[ ,.-]{{0,2}}\d{{2,4}}\b"
    rf"|\b{MONTH}[ ]?\d{{1,2}}(?:st|nd|rd|th)?[ ,.]{{1,2}}\d{{4}}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? {MONTH}(?!\w)|\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b",
    "time": r"\b\d{1,2}[:.]\d{2}(?::\d{2})?\s?(?:[ap]\.?m\.?)?(?!\w|[.,]\d)"
    r"|\b\d{1,2}\s?[ap]\.?m\b\.?",
    "phone": r"\+?\(?\d[\d() ./-]{5,}\d",
    "mail": r"[\w.+-]+ ?@ ?[\w-]+(?:\.[\w-]+)+",
    "site": r"(?:https?://|www\.)[\w./-]+|\b[\w-]+\.(?:com|org|net|co\.uk|de|fr|it|es|ch|eu)\b",
    "percent": r"\d+(?:[.,]\d+)?\s?%",
    "number": r"#?\b(?=[\w/-]*\d)[A-Z0-9][A-Z0-9/-]*\b",
}
ASKED = (
    ("mail", r"e-?mail|mail address"),
    ("phone", r"\b(?:tele)?phone|\bfax\b|\bmobile\b|number (?:to|can i) call|\bcall\b"),
    ("site", r"web ?(?:site|page|address)|\burl\b|internet"),
    ("date", r"\bdates?\b|\bwhen\b|what day|\bdue (?:on|by)\b|expir|deadline|birthday"),
    ("time", r"what time|at which time|\btime\b"),
    ("percent", r"per ?cent|%|\brate\b"),
    ("who", r"\bwho\b|\bwhom\b|which (?:shop|store|company|restaurant|business|firm|bank)"),
    ("who", r"name of the (?:shop|store|company|restaurant|business)|\b(?:merchant|vendor)\b"),
    ("who", r"where (?:was|did|is) (?:this|it|i|the)"),
    ("money", r"how much|\btotal\b|\bamount\b|\bprice\b|\bcosts?\b|\bpay\b|\bpaid\b|\bowe\b"),
    ("money", r"\b(?:balance|subtotal|sub-total|tax|vat|tip|change|sum|discount|fee|charge)\b"),
    ("number", r"\bnumbers?\b|\bno\.|\bcode\b|\bid\b|how many|quantity|\breference\b|\bqty\b"),
)
FILLER = FUNCTION_WORDS | frozenset(
    "much many tell show say says said give receipt bill invoice "
    "document form letter ticket picture image scan page paper printed written find read whats "
    "amount price cost costs money pay paid owe did value spend spent altogether overall get "
    "got".split()
)
TOTALS = (
    r"\bgrand total|\btotal (?:due|to pay|payable|amount|price|incl)|\bamount (?:due|payable)",
    r"\bbalance due|\bto pay\b|\btotal\b|\bpay this amount",
    r"\bamount\b|\bbalance\b|\bsum\b|\bgesamt|\bsumme|\bbetrag|\bmontant|\btotale?\b|\bdue\b",
)
NOT_THE_TOTAL = (
    r"sub[ -]?total|\btax|\bvat\b|\bsav(?:ed|ings?)|discount|\bchange\b|\bitems?\b|\bpoints?\b"
    r"|\btender|\bcash\b|\btip\b|before|\bnet\b|\bprevious|\bpage\b|excl"
)


@dataclass(frozen=True, slots=True)
class DocumentValue:
    """A value, the words beside it, and its row."""

    value: str
    label: str
    row: int


def answer(question: str, rows: Sequence[Row]) -> str:
    """The value in the document that the question asks for; "" if none fits."""
    texts = [" ".join(line.text for line in row).strip() for row in rows]
    asked = question.lower()
    words = _content(asked)
    kind = next((kind for kind, pattern in ASKED if re.search(pattern, asked)), "")
    if kind == "money":
        return _money(words, texts) or _beside(words, rows, texts)
    if kind == "who":
        return _who(asked, rows, texts)
    if re.search(r"how many|quantity|\bqty\b", asked):
        kept = [i for i, text in enumerate(texts) if re.search(r"\d", text)]
        return _beside(words, [rows[i] for i in kept], [texts[i] for i in kept])
    if kind == "number":
        return _beside(words, rows, texts) or _labelled_value(kind, words, texts, alone=False)
    if kind:
        return _labelled_value(kind, words, texts, alone=True)
    return _beside(words, rows, texts)


def _content(text: str) -> list[str]:
    return [word for word in _words(text) if word not in FILLER]


def _words(text: str) -> list[str]:
    # OCR confuses 0 with O and 1 with l inside words.
    mended = re.sub(r"(?<=[A-Za-z])0|0(?=[A-Za-z]{2})", "o", text)
    mended = re.sub(r"(?<=[A-Za-z])1(?=[A-Za-z])", "l", mended)
    return re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", mended.lower().replace("’", "'"))


def _closeness(words: Sequence[str], label: str) -> float:
    """The share of the words, 0 to 1, that the label contains, allowing for misread letters."""
    from rapidfuzz import fuzz

    there = _words(label)
    if not words or not there:
        return 0.0
    best = [max(fuzz.ratio(_stem(word), _stem(other)) for other in there) for word in words]
    return sum(score / 100 for score in best if score >= 80) / len(words)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _values(kind: str, texts: Sequence[str]) -> list[DocumentValue]:
    found = []
    pattern = re.compile(PATTERNS[kind], re.IGNORECASE if kind != "number" else 0)
    for row, text in enumerate(texts):
        at = 0
        for match in pattern.finditer(text):
            label = text[at : match.start()].strip(" :-.#") or text[match.end() :].strip(" :-.")
            if not _words(label) and row:
                label = texts[row - 1]
            found.append(DocumentValue(match[0].strip(), label, row))
            at = match.end()
    return found


def _money(words: Sequence[str], texts: Sequence[str]) -> str:
    values = _values("money", texts)
    special = [word for word in words if word not in ("total", "grand", "due", "final", "sum")]
    if special:
        scored = [(_closeness(words, item.label), -item.row, item) for item in values]
        best = max(scored, key=lambda one: one[:2], default=None)
        return best[2].value if best and best[0] > 0.5 else ""
    for pattern in TOTALS:
        named = [
            item
            for item in values
            if (label := " ".join(_words(item.label)))
            and re.search(pattern, label)
            and not re.search(NOT_THE_TOTAL, label)
        ]
        if named:
            return max(named, key=lambda item: (_size(item.value), item.row)).value
    if len({item.value for item in values}) < 2:
        return values[0].value if values else ""
    largest = max(values, key=lambda item: _size(item.value)).value
    return f"No line of it says which amount is the total; the largest is {largest}."


def _size(money: str) -> float:
    digits = re.sub(r"[^\d]", "", money)
    return int(digits or 0) / (100 if re.search(r"[.,]\d{2}\D*$", money) else 1)


def _labelled_value(kind: str, words: Sequence[str], texts: Sequence[str], *, alone: bool) -> str:
    """The value of a kind whose label is closest to the question. With `alone`, the first value of
    the kind is returned if no label fits, unless the question asks for a particular one that is not
    there."""
    values = _values(kind, texts)
    if kind == "phone":
        values = _phones(values)
    if not values:
        return ""
    best = max(values, key=lambda item: (_closeness(words, item.label), -item.row))
    generic = {"date", "time", "phone", "telephone", "number", "email", "e-mail", "mail", "address"}
    generic |= {"website", "site", "web", "fax", "call", "day", "rate", "percent", "percentage"}
    special = [word for word in words if word not in generic]
    if _closeness(words, best.label) >= 0.5 and (
        not special or _closeness(special, best.label) > 0
    ):
        return best.value
    return values[0].value if alone and (not special or len(values) == 1) else ""


def _phones(values: Sequence[DocumentValue]) -> list[DocumentValue]:
    """The values that can be telephone numbers, the likelier ones first."""

    def likely(item: DocumentValue) -> bool:
        label = re.search(r"tel|phone|call|fax|mobile|cell", item.label, re.IGNORECASE)
        return bool(label) or item.value[0] in "+(" or item.value.count("-") == 2

    fitting = [
        item
        for item in values
        if 7 <= len(re.sub(r"\D", "", item.value)) <= 15
        and not re.match(PATTERNS["date"], item.value, re.IGNORECASE)
    ]
    return sorted(fitting, key=lambda item: not likely(item))


def _who(question: str, rows: Sequence[Row], texts: Sequence[str]) -> str:
    """The sender or the addressee: by its label, or the heading of the page."""
    to = re.search(r"\b(?:addressed|sent|made out|billed) to\b|\bto\??$|\bfor\??$|whom", question)
    labels = (
        r"(?:bill(?:ed)? to|ship to|sold to|to|customer|client|attn|name|dear)"
        if to
        else r"(?:from|sender|seller|vendor|merchant|issued by|sold by|signed|(?:yours )?sincerely)"
    )
    for row, text in enumerate(texts):
        if match := re.match(rf"(?i:{labels})\b\s*(?:[:,.]|$|(?=[A-Z]))\s*(.*)", text):
            named = match[1].strip(" :,.")
            if not named and row + 1 < len(texts):
                named = texts[row + 1].strip(" :,.")
            if re.search(r"[^\W\d_]{2}", named):
                return named
    if to or not re.search(r"from|\bsent|wrote|issued|which|name of|where", question):
        return _beside(_content(question), rows, texts)
    usual = median(line.height for row in rows for line in row)
    top = [row for row in rows[: max(3, len(rows) // 4)] if len(_words(_row_text(row))) >= 1]
    tall = [row for row in top if row[0].height > 1.25 * usual]
    return _row_text(max(tall, key=lambda row: row[0].height) if tall else top[0]) if top else ""


def _row_text(row: Row) -> str:
    return " ".join(line.text for line in row)


def _beside(words: Sequence[str], rows: Sequence[Row], texts: Sequence[str]) -> str:
    """The value beside or below the label that the question names, or the row with the label."""
    if not words or not texts:
        return ""
    scored = [(_closeness(words, text), -len(text), i) for i, text in enumerate(texts)]
    closeness, _, best = max(scored)
    if closeness < 0.6:
        return ""
    label, colon, value = texts[best].partition(":")
    if colon and _closeness(words, label) >= 0.5:
        below = texts[best + 1] if best + 1 < len(texts) else ""
        return value.strip() or below
    if len(rows[best]) > 1 and _closeness(words, rows[best][0].text) >= 0.5:
        return " ".join(line.text for line in rows[best][1:])
    return texts[best]
