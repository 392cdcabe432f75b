"""What flows between a person and the experts: a text or a file, and its kind.

What a file's name says about its content; the artifact store looks at the content itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePath


class Kind(StrEnum):
    """The kinds of content that ports accept."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    TABLE = "table"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A text, or a file given by its path. It crosses process borders by path, never by content."""

    kind: Kind
    text: str | None = None
    path: Path | None = None
    name: str = ""
    """What a person calls it: the name of the file they gave, or of the one they asked for."""
    made_by: int | None = None
    """Id of the task that made it; None where the person gave it."""
    source: Path | None = field(default=None, compare=False, repr=False)
    """Where the person's own file lies that this is a copy of, while that is known; not kept."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.path is None):
            raise ValueError("an artifact has either a text or a path")

    @property
    def title(self) -> str:
        """A short name for messages: the file's name, or the beginning of the text."""
        if self.name:
            return self.name
        if self.path is not None:
            return self.path.name
        words = " ".join((self.text or "").split())
        return words if len(words) <= 40 else words[:39] + "…"


def text_artifact(text: str, *, made_by: int | None = None) -> Artifact:
    """An artifact that holds a text."""
    return Artifact(Kind.TEXT, text=text, made_by=made_by)


_SUFFIXES = {
    Kind.IMAGE: "png apng jpg jpeg jpe jfif gif webp bmp dib tif tiff ico avif heic heif jp2 j2k"
    " jpx ppm pgm pbm pnm sgi tga psd qoi icns dds",
    Kind.AUDIO: "wav wave mp3 flac ogg oga opus m4a m4b aac wma aif aiff aifc amr au caf weba mka"
    " mid midi",
    Kind.VIDEO: "mp4 m4v mkv webm mov avi wmv mpg mpeg flv 3gp 3g2 ogv mts m2ts",
    Kind.TABLE: "csv tsv xlsx xls ods",
    Kind.DOCUMENT: "txt text md markdown rst html htm json jsonl xml yaml yml toml ini eml rtf log"
    " tex srt vtt svg pdf docx doc odt pptx ppt odp epub",
}
KINDS = {f".{suffix}": kind for kind, listed in _SUFFIXES.items() for suffix in listed.split()}
"""Suffix, lower case and with its dot, to kind."""


def kind_of_name(name: str | PurePath) -> Kind | None:
    """The kind that a file's name promises; None where it promises none."""
    return KINDS.get(PurePath(name).suffix.lower())
