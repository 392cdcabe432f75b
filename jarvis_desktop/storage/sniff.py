"""Tells a file's kind by its content: names lie, and experts must get what they can read."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import PurePath

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.suffixes import KINDS
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.storage.signatures import recognise

SAMPLE = 64 * 1024
"""How many bytes of the beginning and of the end are looked at."""

_REFUSALS = {
    Kind.IMAGE: mark("{file} is not a picture that can be read: {reason}."),
    Kind.AUDIO: mark("{file} is not a sound recording that can be read: {reason}."),
    Kind.VIDEO: mark("{file} is not a video that can be read: {reason}."),
    Kind.TABLE: mark("{file} is not a table that can be read: {reason}."),
    Kind.DOCUMENT: mark("{file} is not a document that can be read: {reason}."),
}
_NO_PDF = mark("{file} is not a PDF that can be read: {reason}.")
_NO_TEXT = mark("{file} is not a text that can be read: {reason}.")
ACCEPTED = mark("Give a text, picture, sound, video, table or document.")

_TEXT_IMAGES = {".ppm", ".pgm", ".pbm", ".pnm"}
_PACKED = {*".pdf .docx .doc .odt .pptx .ppt .odp .epub .xlsx .xls .ods".split()}
_ALLOWED = frozenset(b"\t\n\r\f\x08\x1b")
_CONTROLS = bytes(code for code in range(32) if code not in _ALLOWED)
_PNM = re.compile(rb"P[1-7]\s+(#[^\n]*\n\s*)*(\d|WIDTH)")


@dataclass(frozen=True, slots=True)
class Content:
    """What a file is: its kind, the suffix that fits its content, and whether it is bytes of text
    in which no NUL may follow."""

    kind: Kind
    suffix: str
    plain: bool = False


def sniff(head: bytes, tail: bytes, name: str) -> Content:
    """The kind of a file from its first and last bytes and, where these leave it open, its name.

    Raises InputError that names the file where its content is of no kind, or where it is text and
    the name promises something else.
    """
    suffix = PurePath(name).suffix.lower()
    if found := _marked(head):
        return found
    coding = _text_coding(head)
    if not coding and (known := recognise(head, tail, suffix)):
        return Content(*known)
    if not coding and not _like_latin(
        head, trusted=KINDS.get(suffix) in (Kind.DOCUMENT, Kind.TABLE)
    ):
        raise _refusal(name, suffix, tr("its content is something else"))
    if _promises_bytes(suffix):
        raise _refusal(name, suffix, tr("its content is text"))
    if KINDS.get(suffix) is Kind.TABLE:
        return Content(Kind.TABLE, suffix, plain=coding != "utf-16")
    usual = suffix if KINDS.get(suffix) is Kind.DOCUMENT else ".txt"
    return Content(Kind.DOCUMENT, usual, plain=coding != "utf-16")


def _marked(head: bytes) -> Content | None:
    """Formats that may look like text but are marked as something else."""
    if b"%PDF-" in head[:1024]:
        return Content(Kind.DOCUMENT, ".pdf")
    if head.startswith(b"{\\rtf"):
        return Content(Kind.DOCUMENT, ".rtf")
    if _PNM.match(head[:512]):
        return Content(Kind.IMAGE, ".pnm")
    return None


def _text_coding(head: bytes) -> str:
    """ "utf-8" or "utf-16" where the bytes are clean text of it, else ""."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if _decodes(head, "utf-16") else ""
    return "utf-8" if _decodes(head, "utf-8-sig") else ""


def _decodes(head: bytes, coding: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(coding)().decode(head)
    except UnicodeDecodeError:
        return False
    controls = sum(text.count(chr(code)) for code in _CONTROLS)
    return "\0" not in text and 100 * controls <= len(text)


def _like_latin(head: bytes, *, trusted: bool) -> bool:
    """Whether the bytes look like text of an old 8-bit coding.

    Control characters rule it out, and few bytes may lie between 0x80 and 0x9F, where such codings
    have their rare signs. Unless its name says text, most of it must be ASCII too.
    """
    length = max(len(head), 1)
    if len(head.translate(None, _CONTROLS)) < len(head):
        return False
    rare = len(head) - len(head.translate(None, bytes(range(0x80, 0xA0))))
    ascii_share = len(head.translate(None, bytes(range(0x80, 0x100)))) / length
    return 10 * rare <= length and ascii_share >= (0.1 if trusted else 0.7)


def _promises_bytes(suffix: str) -> bool:
    media = KINDS.get(suffix) in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO)
    return media or suffix in _PACKED or suffix in _TEXT_IMAGES


def _refusal(name: str, suffix: str, reason: str) -> InputError:
    shown = one_line(name)
    kind = KINDS.get(suffix)
    if kind is None:
        return InputError(
            tr("{shown} is of no kind that can be read.", shown=shown), hint=tr(ACCEPTED)
        )
    told = _NO_PDF if suffix == ".pdf" else _NO_TEXT if _is_text(suffix) else _REFUSALS[kind]
    return InputError(
        tr(told, file=shown, reason=reason),
        hint=tr(ACCEPTED),
    )


def _is_text(suffix: str) -> bool:
    return KINDS[suffix] is Kind.DOCUMENT and suffix not in _PACKED
