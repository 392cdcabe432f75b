"""Texts and files that flow between the user and the experts, and their kinds.

Here a kind is guessed from a file's name; the artifact store looks at its content.
"""

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
    """A text, or a file given by its path. It crosses process borders by path, not by content."""

    kind: Kind
    text: str | None = None
    path: Path | None = None
    name: str = ""
    """What the user calls it: the name of the file that they gave or asked for."""
    made_by: int | None = None
    """Id of the task that made it; None if the user gave it."""
    source: Path | None = field(default=None, compare=False, repr=False)
    """The user's own file that this is a copy of, while that is known. Not saved."""

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
    """Return an artifact that holds a text."""
    return Artifact(Kind.TEXT, text=text, made_by=made_by)


_SUFFIXES = {
    Kind.IMAGE: "png apng jpg jpeg jpe jfif gif webp bmp dib tif tiff ico avif heic heif jp2 j2k"
    " jpx ppm pgm pbm pnm sgi tga psd qoi icns dds",
    Kind.AUDIO: "wav wave mp3 flac ogg oga opus m4a m4b aac wma aif aiff aifc amr au caf weba mka"
    " mid midi",
    Kind.VIDEO: "mp4 m4v mkv webm mov avi wmv mpg mpeg flv 3gp 3g2 ogv mts m2ts",
    Kind.TABLE: "csv tsv xlsx xls ods parquet",
    Kind.DOCUMENT: "txt text md markdown rst html htm json jsonl xml yaml yml toml ini eml rtf log"
    " tex srt vtt svg pdf docx doc odt pptx ppt odp epub",
}
KINDS = {f".{suffix}": kind for kind, listed in _SUFFIXES.items() for suffix in listed.split()}
"""Lower-case suffix with its dot -> kind."""
WRITTEN_TABLES = (".csv", ".tsv", ".xlsx", ".json", ".parquet")
"""Suffixes of the formats in which tables are written."""


def kind_of_name(name: str | PurePath) -> Kind | None:
    """Return the kind that a file's name suggests, or None."""
    return KINDS.get(PurePath(name).suffix.lower())
