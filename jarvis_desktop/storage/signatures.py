"""The binary formats: the `filetype` library's signatures and those it lacks or leaves open."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.suffixes import KINDS

Found = tuple[Kind, str]

_FURTHER: tuple[tuple[int, bytes, Found], ...] = (
    (0, b"\x01\xda\x00", (Kind.IMAGE, ".sgi")),
    (0, b"\x01\xda\x01", (Kind.IMAGE, ".sgi")),
    (0, b"\xff\x4f\xff\x51", (Kind.IMAGE, ".j2k")),
    (0, b"qoif", (Kind.IMAGE, ".qoi")),
    (0, b"icns", (Kind.IMAGE, ".icns")),
    (0, b"DDS ", (Kind.IMAGE, ".dds")),
    (0, b"RF64", (Kind.AUDIO, ".wav")),
    (0, b".snd", (Kind.AUDIO, ".au")),
    (0, b"caff", (Kind.AUDIO, ".caf")),
    (8, b"AIFC", (Kind.AUDIO, ".aiff")),
)
_OTHER_IMAGES = {"image/vnd.dwg", "image/x-xcf", "image/vnd.ms-photo", "application/dicom"}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ASF = b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
_ASF_VIDEO = bytes.fromhex("c0ef19bc4d5bcf11a8fd00805f5c442b")
_EBML = b"\x1a\x45\xdf\xa3"


def recognise(head: bytes, tail: bytes, suffix: str) -> Found | None:
    """The kind and the usual suffix of binary content; None where no format is recognised.

    `suffix` decides only what the format leaves open, such as sound in a container for video.
    """
    ends = head + tail
    if head.startswith(b"PK\x03\x04"):
        return _zipped(head, ends)
    if head.startswith(_OLE):
        return (KINDS[suffix], suffix) if suffix in (".doc", ".ppt", ".xls") else None
    if head[4:8] == b"ftyp":
        return _iso(head, ends, suffix)
    if head.startswith(_EBML):
        return _either(
            b"V_" in ends or b"A_" not in ends, ".webm" if b"webm" in head[:64] else ".mkv"
        )
    if head.startswith(b"OggS"):
        return (
            (Kind.VIDEO, ".ogv") if b"theora" in head or b"OVP80" in head else (Kind.AUDIO, ".ogg")
        )
    if head.startswith(_ASF):
        return (Kind.VIDEO, ".wmv") if _ASF_VIDEO in head else (Kind.AUDIO, ".wma")
    for offset, mark, found in _FURTHER:
        if head.startswith(mark, offset):
            return found
    return _listed(head) or _by_frames(head)


def _listed(head: bytes) -> Found | None:
    import filetype

    match = filetype.guess(head)
    if match is None or match.mime in _OTHER_IMAGES:
        return None
    kind = match.mime.partition("/")[0]
    if kind not in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO):
        return None
    return Kind(kind), f".{match.extension}"


def _zipped(head: bytes, ends: bytes) -> Found | None:
    """Office files are ZIP archives; the names of their parts stand at the beginning or the end."""
    if head[30:38] == b"mimetype":
        kind = head[38:120]
        if kind.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
            return Kind.TABLE, ".ods"
        if kind.startswith(b"application/vnd.oasis.opendocument.presentation"):
            return Kind.DOCUMENT, ".odp"
        if kind.startswith(b"application/vnd.oasis.opendocument.text"):
            return Kind.DOCUMENT, ".odt"
        if kind.startswith(b"application/epub+zip"):
            return Kind.DOCUMENT, ".epub"
    if b"[Content_Types].xml" not in ends:
        return None
    if b"word/document" in ends:
        return Kind.DOCUMENT, ".docx"
    if b"xl/workbook" in ends:
        return Kind.TABLE, ".xlsx"
    return (Kind.DOCUMENT, ".pptx") if b"ppt/presentation" in ends else None


def _iso(head: bytes, ends: bytes, suffix: str) -> Found:
    """MP4 and its kin. Its tracks name their handler: "vide" or "soun"."""
    brand = head[8:12]
    if brand in (b"avif", b"avis"):
        return Kind.IMAGE, ".avif"
    if brand in (b"heic", b"heix", b"mif1", b"msf1", b"hevc"):
        return Kind.IMAGE, ".heic"
    named_sound = KINDS.get(suffix) is Kind.AUDIO
    seen, heard = b"vide" in ends, b"soun" in ends
    if brand in (b"M4A ", b"M4B ", b"M4P ") or (named_sound and not seen) or (heard and not seen):
        return Kind.AUDIO, ".m4a"
    if brand == b"qt  ":
        return Kind.VIDEO, ".mov"
    return Kind.VIDEO, ".3gp" if brand.startswith(b"3g") else ".mp4"


def _either(video: bool, suffix: str) -> Found:
    return (Kind.VIDEO if video else Kind.AUDIO), suffix


def _by_frames(head: bytes) -> Found | None:
    """Streams with no header of their own: MPEG transport packets, MP3 and AAC frames."""
    for start, size in ((0, 188), (4, 192)):
        marks = head[start : start + 5 * size : size]
        if len(marks) > 2 and set(marks) == {0x47}:
            return Kind.VIDEO, ".mts" if start else ".mpg"
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    if layer == 0:
        return (Kind.AUDIO, ".aac") if head[1] & 0xF0 == 0xF0 else None
    usable = version != 1 and head[2] >> 4 not in (0, 15) and head[2] >> 2 & 3 != 3
    return (Kind.AUDIO, ".mp3") if usable else None
