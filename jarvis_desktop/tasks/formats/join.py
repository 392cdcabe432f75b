"""The join-files task: several files become one. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.documents.pdf import open_pdf
from jarvis_desktop.tasks.formats.conversion import (
    convert,
    ending_of,
    kind_of,
    sort_of,
    stem_of,
)
from jarvis_desktop.tasks.formats.document_files import WRITERS
from jarvis_desktop.tasks.formats.documents import DocumentTree, read_tree
from jarvis_desktop.tasks.formats.film import FilmPart, write_parts
from jarvis_desktop.tasks.formats.sound import SOUNDS, join_sounds

FRAME_SIDE, FRAME_MS = 800, 600
"""Pixels of the longer side of an animation of pictures, and how long it shows each."""


def join_files(call: Call, report: Report) -> Iterable[Artifact]:
    """Join the files, in the order given. Raises InputError, which names what does not fit."""
    items = [item for item in call.inputs["files"] if item.path or item.text]
    sorts = {sort_of(item) for item in items}
    ending = call.words("format")
    if len(items) == 1 and not (ending and sorts):
        raise InputError(
            tr("There is only {name}: joining needs two files.", name=items[0].title),
            hint=tr("Give all the files at once."),
        )
    if sorts == {"recording"} or (sorts <= {"recording", "video"} and ending in SOUNDS):
        own = ending_of(items[0].title)
        to = call.workdir / f"joined.{ending or (own if own in SOUNDS else 'wav')}"
        if to.suffix[1:] not in SOUNDS:
            raise _no_way(items, ending)
        report(None, tr("Joining the recordings"))
        join_sounds([(_path(item), item.title) for item in items], to)
    elif sorts <= {"video", "animation"} and ending in ("", "mp4") and sorts:
        to = call.workdir / "joined.mp4"
        write_parts([FilmPart(_path(item), item.title) for item in items], to, report=report)
    elif ending == "gif" and sorts <= {"picture", "animation"} and sorts:
        to = call.workdir / "joined.gif"
        _animate(items, to)
    elif sorts <= {"document", "text", "pdf", "picture", "animation", "table"}:
        to = call.workdir / f"joined.{ending or _common_ending(items)}"
        _join_documents(items, to, report)
    else:
        raise _no_way(items, ending)
    tail = "joined" if len(items) > 1 else ""
    name = "-".join(filter(None, (stem_of(items[0]), tail))) + to.suffix
    return [Artifact(kind_of(to), path=to, name=name)]


def _animate(items: Sequence[Artifact], to: Path) -> None:
    """Write pictures as an animated GIF, each fitted into the size of the first."""
    from PIL import Image, ImageOps

    from jarvis_desktop.tasks.images.io import on_white, read_image

    frames: list[Image.Image] = []
    size = (FRAME_SIDE, FRAME_SIDE)
    for item in items:
        picture = on_white(read_image(_path(item), name=item.title))
        if not frames:
            size = ImageOps.contain(picture, size).size
        frames.append(ImageOps.pad(picture, size, color="white"))
    frames[0].save(to, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0)


def _path(item: Artifact) -> Path:
    assert item.path
    return item.path


def _no_way(items: Sequence[Artifact], ending: str) -> InputError:
    names = ", ".join(item.title for item in items[:4])
    told = tr("These cannot be joined: {names}.", names=names)
    if ending:
        told = tr(
            "These cannot be joined as {format}: {names}.", format=ending.upper(), names=names
        )
    return InputError(
        told,
        hint=tr("Recordings become one recording, videos one MP4, documents and pictures one PDF."),
    )


def _common_ending(items: Sequence[Artifact]) -> str:
    endings = {ending_of(item.path) if item.path else "md" for item in items}
    return endings.pop() if len(endings) == 1 and endings <= WRITERS.keys() else "pdf"


def _join_documents(items: Sequence[Artifact], to: Path, report: Report) -> None:
    if to.suffix == ".pdf":
        _join_pages(items, to, report)
    elif to.suffix[1:] in WRITERS and all(
        sort_of(item) in ("document", "text", "pdf") for item in items
    ):
        trees = [read_tree(item, report=report, workdir=to.parent) for item in items]
        whole = DocumentTree(trees[0].title, "<p></p>")
        for tree in trees:
            whole.body.extend(list(tree.body))
        WRITERS[to.suffix[1:]](whole, to)
    else:
        raise _no_way(items, to.suffix[1:])


def _join_pages(items: Sequence[Artifact], to: Path, report: Report) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for number, item in enumerate(items):
        report(number / len(items), tr("Joining {name}", name=item.title))
        folder = to.parent / f"part-{number}"
        folder.mkdir()
        (path,) = convert(item, "pdf", folder, report)
        with open_pdf(path, name=item.title) as reader:
            writer.append(reader)
    writer.add_metadata({"/Title": stem_of(items[0])})
    writer.compress_identical_objects()
    writer.write(to)


_pictures = ("photos", "pictures", "images", "scans", "screenshots", "drawings", "fotos", "bilder")
_one = ("a pdf", "one pdf", "a single pdf", "pdf", "ein pdf", "einem pdf")
_gif = ("a gif", "an animated gif", "one gif", "an animation")
_into = ("into", "to", "as", "in", "zu", "als")

JOIN_FILES = define(
    name="join-files", label="Join files",
    summary="Joins several files to one: pictures and documents to a PDF, recordings, videos.",
    ports=(
        Port(
            "files",
            (Kind.DOCUMENT, Kind.IMAGE, Kind.AUDIO, Kind.VIDEO, Kind.TEXT, Kind.TABLE), many=True,
        ),
    ),
    gives=(Kind.DOCUMENT, Kind.AUDIO, Kind.VIDEO, Kind.IMAGE),
    options=(TaskOption("format", "the ending, such as pdf or mp3", "", reads="format"),),
    cues=(
        "join", "join together", "merge", "merge ... into", "combine", "combine ... into",
        "concatenate",
        "put ... together", "put ... in front of", "put ... one after the other",
        "put xfile* behind", "put xfile* after", "put xfile* before", "add xfile* to the end of",
        "stitch ... together", "append",
        "as one recording", "into one recording", "into one file", "into a single file",
        *(f"put ... {into} {one} text{file}" for into in ("into", "in") for one in
          ("one", "a single") for file in ("", " file")),
        "into one video", "into one document", "glue ... together", "füge ... zusammen",
        "zusammenfügen", "verbinde", "hänge ... aneinander", "verbinden",
    ),
    presets=presets(
        ({"format": "pdf"},
         [*(f"{noun} {how} {what}" for noun in _pictures for how in _into for what in _one),
          *(f"{verb} ... {noun} {how} {what}" for verb in ("turn", "convert", "make", "wandle",
          "mach")
            for noun in _pictures for how in _into for what in _one),
          *(f"aus {those} ein pdf" for those in ("diesen fotos", "diesen bildern", "den fotos",
            "den bildern", "diesen ... fotos", "diesen ... bildern", "diesen dateien")),
          *(f"mach aus ... {noun} ein pdf" for noun in ("fotos", "bildern", "dateien", "scans")),
          *(f"{which} ... {what}" for which in ("these", "them", "all", "both")
            for what in ("one pdf", "a single pdf")),
          *(f"{which} {how} {what} pdf" for which in ("the others", "the other #", "the other *")
            for how in _into[1:4] for what in ("a", "a new", "one")),
          *(f"{verb} ... {what}" for verb in ("turn", "convert", "make", "put")
            for what in ("into one pdf", "into a single pdf", "to one pdf", "in one pdf")),
          "xfile* and xfile* ... a pdf", "xfile* and xfile* ... one pdf", "one pdf of",
          "xfile* and xfile* ... single pdf", "a pdf of these", "a pdf from these", "a single pdf",
          *(f"{what} out of {which}" for what in _one[:3]
            for which in ("these", "those", "all", "the")),
          "into one pdf", "ein einziges pdf", "zu einem pdf zusammen"]),
        ({"format": "gif"},
         [*(f"{noun} {how} {what}" for noun in _pictures for how in _into for what in _gif),
          *(f"{verb} ... {noun} {how} {what}" for verb in ("turn", "convert", "make")
            for noun in _pictures for how in _into for what in _gif),
          *(f"{what} {of} {which}" for what in _gif for of in ("of", "from", "out of")
            for which in ("these", "them", "the photos", "the pictures", "my photos",
            "xfile* and xfile*", "xfile*, xfile*")),
          *(f"{which} {how} {what}" for which in ("these", "them", "xfile* and xfile*")
            for how in _into for what in _gif)]),
    ),
    method=join_files, patience=10,
    note="pypdf, fpdf2, PyAV (FFmpeg); the originals stay as they are",
)  # fmt: skip
