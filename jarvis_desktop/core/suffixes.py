"""What a file's name says about its content; the artifact store looks at the content itself."""

from __future__ import annotations

from pathlib import PurePath

from jarvis_desktop.core.artifact import Kind

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
