"""Reads the text of documents and tables in the usual formats, in a child process."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents import office, tables
from jarvis_desktop.tasks.documents.pdf import read_pdf
from jarvis_desktop.tasks.documents.plain_text import (
    OLD_OFFICE,
    clean,
    damaged,
    decode,
    old_office,
)
from jarvis_desktop.text.records import begins_records

MAX_CHARS = 2_000_000
MAX_ROWS = 5_000


def read(call: Call, report: Report) -> Iterable[Artifact]:
    """Read the text. Raises InputError, which names the file, if it cannot be read."""
    path, name = call.file("document"), call.title("document")
    text = read_document(path, name=name, report=report, workdir=call.workdir).strip()
    if not text:
        raise InputError(tr("{name} contains no text.", name=name))
    if len(text) > MAX_CHARS:
        note = f"Only the first {MAX_CHARS:,} of {len(text):,} characters were read."
        report(None, note)
        text = f"{text[:MAX_CHARS]}\n\n[{note}]"
    return [text_artifact(text)]


def text_of(item: Artifact, report: Report, workdir: Path) -> str:
    """The text of an artifact, whether it is one or a file."""
    if item.path is None:
        return item.text or ""
    return read_document(item.path, name=item.title, report=report, workdir=workdir)


def read_document(path: Path, *, name: str, report: Report, workdir: Path) -> str:
    """The text of a file, by its content rather than its extension."""
    try:
        with path.open("rb") as file:
            start = file.read(2048)
    except OSError as error:
        raise InputError(
            tr("{name} cannot be opened: {strerror}.", name=name, strerror=error.strerror)
        ) from error
    if not start:
        raise InputError(tr("{name} is empty.", name=name))
    if b"%PDF-" in start[:1024]:
        return read_pdf(path, name=name, report=report, recognise=_recognise, workdir=workdir)
    if start.startswith(b"PK\x03\x04"):
        return _archive(path, name)
    if start.startswith(b"{\\rtf"):
        return _rtf(path, name)
    if start.startswith(OLD_OFFICE):
        raise old_office(name)
    ending = Path(name).suffix.lower() or path.suffix.lower()
    if ending in (".pdf", ".docx", ".xlsx", ".pptx", ".odt"):
        raise damaged(name, f"it is no {ending[1:].upper()} file")
    return _text(path, name, ending)


def _text(path: Path, name: str, ending: str) -> str:
    if ending in (".eml", ".mht", ".mhtml"):
        return office.read_mail(path, name=name)
    text = decode(path, name=name)
    opening = text[:500].lstrip().lower()
    if ending in (".html", ".htm", ".xhtml") or opening.startswith(("<!doctype html", "<html")):
        return office.html_text(text)
    if ending in (".csv", ".tsv"):
        return _rows(tables.read_tables(path, name=name))
    if ending in (".json", ".jsonl"):
        return _json(text, name)
    return text


def _archive(path: Path, name: str) -> str:
    match office.kind_of_archive(path, name):
        case "docx":
            return office.read_docx(path, name=name)
        case "pptx":
            return office.read_pptx(path, name=name)
        case "odt":
            return office.read_odt(path, name=name)
        case "xlsx":
            return _rows(tables.read_tables(path, name=name))
        case _:
            raise InputError(
                tr("{name} is an archive, not a document.", name=name),
                hint=tr("Unpack it and give a file of it."),
            )


def _rows(found: list[tables.Table]) -> str:
    parts = []
    for table in found:
        lines = list(islice(table.lines(MAX_ROWS), MAX_ROWS))
        if len(table.rows) > MAX_ROWS:
            lines.append(f"[{len(table.rows) - MAX_ROWS:,} more rows]")
        title = [f"{table.name}:"] if table.name and len(found) > 1 else []
        parts.append("\n".join(title + lines))
    return "\n\n".join(parts)


def _json(text: str, name: str) -> str:
    found = tables.json_tables(text, name)
    if found and begins_records(text.encode()):  # an object says more than the lists in it
        return _rows(found)
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _rtf(path: Path, name: str) -> str:
    from striprtf import striprtf

    convert: Any = striprtf.rtf_to_text
    # RTF is ASCII; other characters are escaped.
    source = path.read_bytes().decode("latin-1")
    try:
        text = str(convert(source, errors="ignore"))
    except (ValueError, IndexError, KeyError, LookupError, RecursionError) as error:
        raise damaged(name) from error
    return re.sub(r"\n{3,}", "\n\n", clean(text))


def _recognise(picture: Path) -> str:
    from jarvis_desktop.tasks.images.io import read_image, to_array
    from jarvis_desktop.tasks.images.ocr import find_lines, page_text

    return page_text(find_lines(to_array(read_image(picture))))


DOCUMENT_TO_TEXT = define(
    name="document-to-text", label="Read document",
    summary="Reads the text of a document or table: PDF, Word, e-mail, web page, spreadsheet.",
    ports=(Port("document", (Kind.DOCUMENT, Kind.TABLE)),),
    cues=(
        *(f"{take} the text {of} {what}"
          for take in ("get", "get me", "take", "pull", "copy", "give me", "extract", "show me")
          for of in ("out of", "from", "of", "in")
          for what in ("xfile*", "the pdf", "this pdf", "the document", "this document",
                       "this file", "the file", "it", "the report", "the letter",
                       "the article")),
        *(f"{verb} {what} {to} {text}" for verb in ("convert", "turn", "change")
          for what in ("xfile*", "it", "this", "the pdf", "this pdf", "the document")
          for to in ("to", "into") for text in ("text", "plain text")),
        *(f"what {says} page" for says in ("is on", "does", "is written on", "is said on")),
        "what's on page", "was steht auf seite", "read page",
        "read the document", "read this", "read it", "read that", "read xfile*", "read the file",
        "read the pdf", "text of the document", "open and read", "extract the text",
        "document to text", "pdf to text", "read the letter", "read the report", "contents of",
        "what does the document say", "what is in the file", "what is in this file",
        "whats in this file", "what's in this file", "what does it say", "what does this say",
        "what it says",
        "what's in the file", "text from the pdf", "read the e-mail", "read the spreadsheet",
        "read the table",
    ),
    method=read,
    note="TXT, MD, HTML, PDF (scans by OCR), DOCX, ODT, PPTX, XLSX, CSV, JSON, EML, RTF",
)  # fmt: skip
