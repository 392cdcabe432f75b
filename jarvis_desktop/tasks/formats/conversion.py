"""The convert-file task: pictures, recordings, films, tables and documents in another format.

`WAYS` says what can become what, and how. Runs in a child process.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.documents.structured_text import table_of_text
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.tasks.formats import film, pictures, sound, tables
from jarvis_desktop.tasks.formats.document_files import WRITERS
from jarvis_desktop.tasks.formats.document_pdf import write_pdf
from jarvis_desktop.tasks.formats.documents import read_tree
from jarvis_desktop.text.parts import FORMAT_WORDS

Way = Callable[[Artifact, Path, Report], list[Path]]
"""Writes an item as the given file, whose ending is the format; returns the files written, mostly
that one. Raises InputError."""

MAX_STEM_CHARS = 80
_same = {"jpeg": "jpg", "jpe": "jpg", "tif": "tiff", "htm": "html", "text": "txt", "wave": "wav",
         "markdown": "md", "oga": "ogg", "jsonl": "json", "m4b": "m4a", "m4v": "mp4"}  # fmt: skip


def _picture(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    return pictures.save_pictures(item.path, to, name=item.title)


def _picture_page(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    pictures.save_pdf([(item.path, item.title)], to, report=report)
    return [to]


def _sound(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    report(None, tr("Converting {name}", name=item.title))
    sound.save_sound(item.path, to, name=item.title)
    return [to]


def _film(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    film.save_film(item.path, to, name=item.title, report=report)
    return [to]


def _gif(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    film.save_gif(item.path, to, name=item.title, report=report)
    return [to]


def _table(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    return tables.save_table(item.path, to, name=item.title, report=report)


def _lines(item: Artifact, to: Path, report: Report) -> list[Path]:
    """Write the lines of a text as the rows of a table, in two columns if each is "name: value". A
    text with the same number of fields in each line is a table already."""
    lines = [line.strip() for line in (item.text or "").splitlines() if line.strip()]
    source = to.with_name("lines.csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        if any(_is_table(lines, sign) for sign in ",;\t"):
            file.write("\n".join(lines))
        else:
            rows = [line.removeprefix("- ").split(": ") for line in lines]
            pairs = {len(row) for row in rows} == {2}
            rows = rows if pairs else [[": ".join(row)] for row in rows]
            names = [tr("text"), tr("value")] if pairs else [tr("text")]
            csv.writer(file, lineterminator="\n").writerows([names, *rows])
    return tables.save_table(source, to, name=source.name, report=report)


def _structured(item: Artifact, to: Path, report: Report) -> list[Path]:
    """Write a text of records, a log or a table of signs as a table. Raises InputError for other
    texts."""
    report(None, tr("Reading {name}", name=item.title))
    rows = table_of_text(text_of(item, report, to.parent))
    if rows is None:
        raise InputError(
            tr("{name} is not written like a table.", name=item.title),
            hint=tr(
                "Such are: a log, records of “name: value” lines, columns with a sign between."
            ),
        )
    source = to.with_name("rows.csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return tables.save_table(source, to, name=source.name, report=report)


def _is_table(lines: Sequence[str], sign: str) -> bool:
    widths = {len(row) for row in csv.reader(lines, delimiter=sign)}
    return len(widths) == 1 and widths != {1}


def _document(item: Artifact, to: Path, report: Report) -> list[Path]:
    report(None, tr("Converting {name}", name=item.title))
    tree = read_tree(item, report=report, workdir=to.parent)
    if to.suffix != ".pdf":
        WRITERS[to.suffix[1:]](tree, to)
        return [to]
    if missing := write_pdf(tree, to):
        raise InputError(
            tr("No font of this computer has these letters: {letters}", letters=missing[:40]),
            hint=tr("Install a font that has them, such as Noto, and try again."),
        )
    return [to]


def _pages(item: Artifact, to: Path, report: Report) -> list[Path]:
    assert item.path
    return pictures.save_page_pictures(item.path, to, name=item.title, report=report)


_documents: Mapping[str, Way] = dict.fromkeys(("pdf", *WRITERS), _document)
WAYS: Mapping[str, Mapping[str, Way]] = {
    "picture": {**dict.fromkeys(pictures.PICTURES, _picture), "pdf": _picture_page},
    "animation": {**dict.fromkeys(pictures.PICTURES, _picture), "pdf": _picture_page,
                  **dict.fromkeys(film.FILMS, _film)},
    "recording": dict.fromkeys(sound.SOUNDS, _sound),
    "video": {**dict.fromkeys(film.FILMS, _film), "gif": _gif,
              **dict.fromkeys(sound.SOUNDS, _sound)},
    "table": {**dict.fromkeys(tables.TABLES, _table), **_documents},
    "pdf": {**dict.fromkeys(("txt", "md", "html", "docx", "odt"), _document),
            "png": _pages, "jpg": _pages},
    "document": {**_documents, **dict.fromkeys(tables.TABLES, _structured)},
    "text": {**_documents, **dict.fromkeys(tables.TABLES, _lines)},
}  # fmt: skip
"""What each sort of file can become."""

_sorts = {
    Kind.IMAGE: "picture", Kind.AUDIO: "recording", Kind.VIDEO: "video", Kind.TABLE: "table",
    Kind.DOCUMENT: "document", Kind.TEXT: "text",
}  # fmt: skip
SORT_NAMES = {
    "picture": mark("a picture"), "animation": mark("an animation"),
    "recording": mark("a recording"), "video": mark("a video"), "table": mark("a table"),
    "pdf": mark("a PDF"), "document": mark("a document"), "text": mark("a text"),
}  # fmt: skip


def ending_of(name: str | PurePath) -> str:
    """Return a file's ending without its dot, in one spelling."""
    ending = PurePath(name).suffix[1:].lower()
    return _same.get(ending, ending)


def sort_of(item: Artifact) -> str:
    """Return the sort of an item, a key of `WAYS`."""
    ending = ending_of(item.path) if item.path else ""
    named = {"gif": "animation", "pdf": "pdf", "json": "table"}.get(ending, "")
    return named or _sorts[item.kind]


def convert(item: Artifact, ending: str, workdir: Path, report: Report) -> list[Path]:
    """Write an item in the format of an ending and return the files: those of `workdir`, or the
    item's own if it is in that format already. Raises InputError, which says what is possible."""
    ending = _same.get(ending.lower(), ending.lower())
    ways = WAYS[sort_of(item)]
    if item.path and ending_of(item.path) == ending:
        return [item.path]
    if ending not in ways:
        name = item.title if item.path else tr("The text")
        told = tr("{name} cannot become {format}.", name=name, format=ending.upper())
        raise InputError(
            told if ending else tr("Say which format {name} is to have.", name=name),
            hint=tr(
                "As {kind} it can become {formats}.",
                kind=tr(SORT_NAMES[sort_of(item)]),
                formats=", ".join(each.upper() for each in ways),
            ),
        )
    return ways[ending](item, workdir / f"converted.{ending}", report)


_remarks = {
    "pdf": (
        ("pdf", "png", "jpg", "jpeg"),
        mark("Only the text of {name} is in the new file, not its layout or pictures."),
    ),
    "animation": (
        ("gif", "webp", *film.FILMS),
        mark("Only the first picture of {name} is in the new file."),
    ),
}
"""What is lost on all ways but those to the formats listed."""


def kind_of(path: Path) -> Kind:
    """Return the kind of a file that a conversion wrote."""
    return kind_of_name(path) or Kind.DOCUMENT


def stem_of(item: Artifact) -> str:
    """Return what the names of an item's results begin with."""
    stem = PurePath(item.title).stem if item.path or item.name else tr("text")
    return stem[:MAX_STEM_CHARS].strip(" .") or tr("file")


def convert_file(call: Call, report: Report) -> Iterable[Artifact]:
    """Convert the file. Raises InputError if there is no way, or if it is damaged."""
    items = call.inputs["file"]
    # A step before may say a sentence beside its file, which is not meant.
    files = [item for item in items if item.path] or [text_artifact(call.text("file"))]
    made: list[Artifact] = []
    for item in files:
        stem = stem_of(item)
        if (remark := _remarks.get(sort_of(item))) and call.words("format") not in remark[0]:
            made.append(text_artifact(tr(remark[1], name=item.title)))
        for path in convert(item, call.words("format"), call.workdir, report):
            tail = path.stem.removeprefix("converted") if path.parent == call.workdir else ""
            to = call.workdir / f"{len(made)}-{path.name}"
            (shutil.copyfile if path == item.path else shutil.move)(path, to)
            made.append(Artifact(kind_of(to), path=to, name=f"{stem}{tail}{to.suffix}"))
    return made


_words = sorted({word for words in FORMAT_WORDS.values() for word in words.split()})
_everyday = frozenset("word excel icon bitmap webpage".split())
"""Words that mean a format only behind "to" and the like."""
_targets = (
    "to {}",
    "to a {}",
    "to an {}",
    "to .{}",
    "into {}",
    "into a {}",
    "into an {}",
    "as {}",
    "as a {}",
    "as an {}",
    "in {} format",
    "in a {} document",
    "in a {} file",
    "to {} format",
    "als {}",
    "in ein {}",
    "in eine {}",
    "zu {}",
    "zu einem {}",
    "nach {}",
)
_orders = (
    *(f"{give} ... {one} {{}}"
      for give in ("make", "give me", "get me", "i want", "i need", "i'd like", "produce", "create")
      for one in ("an", "one")),
    *(f"{give} ... {{}} {kind}" for give in ("make", "give me", "i want", "i need")
      for kind in ("document", "file", "sheet")),
    *(f"make {it} {{}}" for it in ("it", "them", "this", "these", "that")),
    *(f"put {it} in {a} {{}}" for it in ("it", "this", "that", "the result") for a in ("a", "an")),
    *(f"{give} {one} {{}}" for one in ("a", "an")
      for give in ("hand me", "let me have", "let us have", "can i have", "could i have",
                   "can i get")),
    *(f"{give} a {{}}" for give in ("give me", "get me", "i want", "i need", "i'd like")),
    *(f"{give} {{}}$" for give in ("give me", "get me", "hand me", "send me")),
    *(f"{every} of them{one} {{}}" for every in ("all", "each", "both")
      for one in ("", " as", " an")),
    "convert ... to {}", "convert ... into {}", "change ... to {}", "turn ... into {}",
    "turn ... into a {}", "turn ... into an {}", "make ... a {}", "transcode ... to {}",
    "{} version", "{} of this", "{} of it", "{} of xfile*", "{} from this",
    "{} out of this", "{} aus", "make {} out of", "make a {} out of", "make an {} out of",
    "get me ... in {}", "give me ... in {}", "i want ... in {}", "i need ... in {}",
    "wandle ... in {}", "wandle ... in ein {}", "wandle ... in eine {}", "konvertiere ... {}",
    "mach ... ein {}", "mache ... ein {}", "mach ... eine {}",
)  # fmt: skip

_structured_texts = ("xfile*xdocument", "the log", "this log", "this log file",
                     "the log file", "my log", "this text file", "the text file", "this list",
                     "the text", "this text", "my notes",
                     "the records", "these records", "the notes", "the list")  # fmt: skip

CONVERT_FILE = define(
    name="convert-file", label="Convert file",
    summary="Converts a file to another format, such as PDF, PNG, MP3, MP4, DOCX or XLSX.",
    ports=(
        Port("file", (Kind.DOCUMENT, Kind.IMAGE, Kind.AUDIO, Kind.VIDEO, Kind.TABLE, Kind.TEXT)),
    ),
    gives=(Kind.DOCUMENT, Kind.IMAGE, Kind.AUDIO, Kind.VIDEO, Kind.TABLE, Kind.TEXT),
    options=(TaskOption("format", "the new ending, such as pdf or mp3", "", reads="format"),),
    cues=(
        *(frame.format(word) for frame in _targets for word in (*_words, "text file")),
        *(frame.format(word) for frame in _orders for word in _words
          if word not in _everyday or "{} " in frame),
        *(f"{pages} ... {into} {picture}"
          for pages in ("page*", "the pdf", "this pdf", "the rest", "xfile*xdocument", "seite*")
          for into in ("to", "into", "as", "in", "als")
          for picture in ("a picture", "an image", "a photo", "pictures", "images", "photos",
          "ein bild", "bilder")),
        *(f"mach daraus {ein} {word}" for ein in ("ein", "eine") for word in _words),
        "convert this", "convert it", "convert these", "convert them", "convert the file",
        "convert xfile*", "convert my file", "convert the picture", "convert the recording",
        "convert the video", "convert the document", "convert the table", "file format",
        "another format", "konvertiere", "konvertieren", "umwandeln", "konvertier", "wandle ... um",
    ),
    presets=presets(
        ({"format": "csv"},
         [*(f"{make} {a} table ... {of} {what}" for make in ("make", "create", "build", "get")
            for a in ("a", "one") for of in ("out of", "from", "of") for what in _structured_texts),
          *(f"{turn} {what} {into} a table" for turn in ("turn", "convert", "make", "change")
            for into in ("into", "to") for what in (*_structured_texts, "it", "this", "them")),
          *(f"mach ... tabelle aus {what}" for what in ("xfile*xdocument", "dem protokoll")),
          "mach daraus eine tabelle"]),
    ),
    method=convert_file, patience=10,
    note="Pillow, PyAV (FFmpeg), DuckDB, mammoth, fpdf2; the original stays as it is",
)  # fmt: skip
