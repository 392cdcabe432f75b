"""The tasks on the user's files: open a file or a folder, describe a file's size and content."""

from __future__ import annotations

import asyncio
import math
import os
import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import platformdirs

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.tasks.everyday.timer import spoken_length
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.sentences import paragraphs, sentences

RUNS_CODE = frozenset(
    """.app .appimage .apk .bat .bin .cmd .com .command .cpl .deb .desktop .dll .dmg .docm .dotm
    .elf .exe .gadget .hta .htm .html .inf .ins .iso .jar .jnlp .js .jse .ksh .lnk .lua .mht .mhtml
    .msc .msi .msp .osx .out .pif .pl .pptm .potm .ps1 .ps1m .psm1 .py .pyc .pyw .rb .reg .rpm .run
    .scf .scr .sct .sh .shb .svg .swf .terminal .tool .url .vb .vbe .vbs .webloc .wsc .wsf .wsh
    .xbap .xhtml .xlam .xlsb .xlsm .xltm .xpi .zsh""".split()
)
"""Extensions of files that may run code when opened."""


async def open_file(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Open the file. Raises InputError if it no longer exists, UnavailableError if it cannot be
    opened."""
    given = call.artifact("file")
    if not call.file("file").exists():
        raise InputError(tr("The file {call} no longer exists.", call=given.title))
    lent = await asyncio.to_thread(services.store.lend, given)
    services.desktop.open(lent, given.title)
    return [text_artifact(f"Opened {given.title}.")]


def question(call: Call) -> str:
    """The question to ask before opening a file that could run code; "" for other files."""
    given = call.artifact("file")
    known = (given.path, given.source, Path(given.title))
    if not any(may_run_code(path) for path in known if path):
        return ""
    return f"{given.title} can run code on this computer when opened. Open it?"


def may_run_code(path: Path) -> bool:
    """Whether a file is a program, a script or a page with scripts, by extension or permission."""
    # Windows ignores dots and spaces at the end of a name.
    if Path(path.name.rstrip(". ")).suffix.casefold() in RUNS_CODE:
        return True
    return os.name == "posix" and path.is_file() and os.access(path, os.X_OK)


OPEN_FILE = define(
    name="open-file", label="Open file",
    summary="Opens a file with its usual program.",
    ports=(Port("file", tuple(Kind)),), acts=True, guarded=True,
    cues=(
        "open the file", "open this file", "open that file", "open it", "open this", "open that",
        "open xfile*", "open up xfile*", "open the document", "open the picture", "open the photo",
        "open the image", "open the recording", "open the video", "open the table",
        "open the result", "show me the file", "show me xfile*", "launch xfile*", "view xfile*",
        "view it", "view this", "play the file", "play xfile*", "play it", "start the file",
        "bring up xfile*", "pull up xfile*", "display it", "display xfile*",
    ),
    skill=open_file, question=question, note="asks first if it could run code",
)  # fmt: skip


FOLDERS = ("downloads", "documents", "pictures", "music", "videos", "desktop", "home")


async def open_folder(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Open the folder. Raises InputError if it does not exist."""
    folder = call.words("folder")
    path = folder_path(folder)
    if not path.is_dir():
        raise InputError(tr("There is no {folder} folder at {path}.", folder=folder, path=path))
    services.desktop.open(path)
    return [text_artifact(f"Opened {path}.")]


def folder_path(folder: str) -> Path:
    """The path of that folder for this user; it need not exist."""
    if folder not in FOLDERS or folder == "home":
        return Path.home()
    path: Path = getattr(platformdirs, f"user_{folder}_path")()
    return path


OPEN_FOLDER = define(
    name="open-folder", label="Open folder",
    summary="Opens one of the person's folders.", acts=True, guarded=True,
    options=(TaskOption("folder", "which folder", "home", choices=FOLDERS),),
    cues=(
        "folder", "open my downloads", "open downloads", "downloads folder", "my documents",
        "documents folder", "pictures folder", "my pictures", "music folder", "my music",
        "videos folder", "my videos", "home folder", "desktop folder", "open my desktop",
        "directory", "file manager", "show my files", "open my files",
    ),
    skill=open_folder, note="the desktop's file manager",
)  # fmt: skip


_LASTING = "recording audio sound song track podcast video film movie clip".split()
_SHOWN = "picture photo image video".split()
_SEEN = [*_SHOWN, *"film file recording clip document".split()]
_WRITTEN = "text document file pdf essay letter report article story".split()
_WHICH = ("the", "this", "that", "my")
_POINTED = ("it", "this", "that")
_OF_SOUND = ("length", "duration", "playing time", "running time", "sample rate")
_OF_ALL = ("size", "dimensions", "resolution", "format", "type")
_SIZES = ("size", "format", "file format", "resolution", "file type", "file size", "sample rate")
_TYPES = ("what type of file", "what kind of file", "what file format", "what file type")


def _of(heads: Iterable[str], nouns: Iterable[str]) -> Iterable[str]:
    """Combine heads and things: "how long is" with "this recording"."""
    things = [f"{which} {noun}" for noun in nouns for which in _WHICH]
    return (f"{head} {thing}" for head in heads for thing in things)


def _asking(noun: str, sizes: Iterable[str]) -> Iterable[str]:
    """Cues for the sizes of a noun. "Reduce the size of the picture" asks for another task."""
    for which in ("the", "this"):
        for size in sizes:
            for asked in ("what ... ", "tell ... ", "^"):
                yield f"{asked}{size} of {which} {noun}"


def _counting() -> Iterable[str]:
    """Cues for numbers of bytes, pixels or seconds. They must mention a file: "how many bytes are
    in a kilobyte" is a general question."""
    for amount in ("how many *bytes", "how many *b", "how many *pixels"):
        yield from _of((f"{amount} ...",), _SEEN)
        yield from (f"{amount}$", f"{amount} ... xfile*")
        for it in _POINTED:
            yield from (f"{amount} ... is {it}$", f"{amount} ... in {it}$")
            yield from (f"{amount} ... does {it} {has}$" for has in ("have", "take", "take up"))
    # Long enough to outweigh the cues for counting things in a picture.
    yield from _of(("how many *pixels are in", "how many *pixels are there in"), _SHOWN)
    for unit in ("seconds", "minutes", "hours"):
        yield from _of((f"how many {unit} ... is", f"how many {unit} ... does"), _LASTING)
        yield f"how many {unit} long$"
        for it in _POINTED:
            yield from (f"how many {unit} long is {it}$", f"how many {unit} does {it} last$")


def _counting_text(*units: str) -> Iterable[str]:
    """Cues for the length of a text. They must mention a file: "how many pages has the Bible" is a
    general question."""
    for unit in units:
        amount = f"how many {unit}"
        yield from _of((f"{amount} are in", f"{amount} are there in", f"{amount} does"), _WRITTEN)
        yield from _of((f"count the {unit} in", f"count the {unit} of", f"{amount} has"), _WRITTEN)
        yield from _of((f"{amount} are asked in",) if unit == "questions" else (), _WRITTEN)
        yield from (f"{amount} {has} xfile*" for has in ("are in", "are there in", "does", "has"))
        yield from (f"count the {unit} {of} xfile*" for of in ("in", "of"))
        yield from (f"{amount}$", f"count the {unit}$", f"count its {unit}$", f"{unit[:-1]} count")
        for it in (*_POINTED, "them", "they"):
            yield from (f"{amount} ... {it}$", f"{amount} ... {it} have$")
            yield f"count the {unit} in {it}$"
        yield from (f"{amount} {there}$" for there in (*_THERE_ARE, "of them are left"))
        yield from (f"{ask} number of {unit}" for ask in ("the", "count the"))
        yield f"zähle die {_in_german[unit]}"
        yield f"wie viele {_in_german[unit]}"


_COUNTED_LEFT = tuple(
    f"{count} how many {there}$"
    for count in ("count", "tell me")
    for there in ("remain", "are left", "lines remain", "lines are left")
)
_THERE_ARE = ("there are", "are there", "are in there", "it has", "it's got", "it has got",
              "it contains", "that is", "that makes", "they are", "remain", "are left", "came out",
              "come out", "there are now", "there are then")  # fmt: skip
_in_german = {"words": "wörter", "lines": "zeilen", "characters": "zeichen",
              "letters": "buchstaben", "pages": "seiten", "sentences": "sätze",
              "questions": "fragen", "paragraphs": "absätze"}  # fmt: skip


_BECAME = ("became", "becomes", "has become", "is now", "is then", "got", "gets", "ended up",
           "turned out")  # fmt: skip


def _became() -> Iterable[str]:
    """Cues for what a change has brought: "how big the file became"."""
    things = (*_POINTED, "the result", *(f"the {noun}" for noun in _SEEN))
    for asked in ("big", "large", "long"):
        yield from (f"how {asked} {thing} {then}$" for thing in things for then in _BECAME)
        yield from (f"how {asked} {thing} is$" for thing in things if thing not in _POINTED)


def _pointing() -> Iterable[str]:
    """Cues with only "it", or no object. They end the request, because "how big is it in real life"
    and "what is the duration of a match" ask something else."""
    for it in _POINTED:
        yield from (f"how {asked} is {it}$" for asked in ("long", "big", "large"))
        yield from (f"how {asked} {it} is$" for asked in ("long", "big", "large"))
        yield from (f"how {asked} is {it} in *bytes$" for asked in ("big", "large"))
        yield from (f"how long does {it} {lasts}$" for lasts in ("last", "play", "run", "go on"))
        yield from (f"how much space does {it} {takes}$" for takes in ("take", "take up"))
        yield from (f"how long does it take to play {it}$", f"how long does {it} take to play$")
        yield from (f"{kind} is {it}$" for kind in _TYPES)
        yield f"what format is {it} in$"
        for size in _SIZES:
            yield from (f"what {size} is {it}$", f"what {size} does {it} have$")
        for size in (*_OF_SOUND, *_OF_ALL):
            yield from (f"what ... {size} of {it}$", f"tell ... {size} of {it}$")
    for size in (*_OF_SOUND, "size", "resolution", "file size", "file type", "file format"):
        yield from (f"{asked} the {size}$" for asked in ("what is", "what's", "tell me"))
    yield from (
        f"{asked} its {size}$"
        for asked in ("what is", "what's", "tell me")
        for size in (*_OF_SOUND, *_OF_ALL, "file size")
    )
    yield from (
        f"how {asked} {thing} is$"
        for asked in ("long", "big", "large")
        for thing in _of(("",), (*_LASTING, *_SEEN))
    )
    yield from (f"{asked} dimensions$" for asked in ("what are the", "what are its"))
    yield from (f"{kind}$" for kind in _TYPES)
    yield "how long does it take to play$"


def _asking_loudness() -> Iterable[str]:
    """Phrases for how loud a sound is."""
    asked = ("how loud is", "how loud's", "how quiet is", "tell me how loud", "measure how loud")
    yield from _of((*asked, "how loud does", "measure the loudness of"), _LASTING)
    yield from (f"{which} xfile*" for which in asked)
    yield from (f"{which} {it}$" for which in asked for it in _POINTED)
    yield from (f"tell me how loud {it} is$" for it in _POINTED)
    levels = ("loudness", "volume", "peak", "peak level", "peak volume")
    for noun in _LASTING:
        yield from _asking(noun, levels)
    for level in levels:
        for ask in ("what is the", "what's the", "tell me the"):
            yield from (f"{ask} {level} of {which}" for which in ("xfile*", "it$"))
    for noun in ("die aufnahme", "diese aufnahme", "das lied", "der ton", "xfile*", "es", "das"):
        yield f"wie laut ist {noun}"


_asks = re.compile(r"[?？][\"'”’)\]]*$")
_PRECISE = 10.0  # seconds; shorter durations are shown with tenths


def describe_file(call: Call, report: Report) -> Iterable[Artifact]:
    """Describe the file in one or two sentences. Raises InputError if it cannot be read as its
    type."""
    (artifact,) = call.inputs["file"]
    if artifact.path is None:
        return [text_artifact(f"The text has {_counts(artifact.text or '', call)}.")]
    path, name = call.file("file"), call.title("file")
    if call.words("about") == "loudness" and artifact.kind in (Kind.AUDIO, Kind.VIDEO):
        return [text_artifact(_loudness(path, name))]
    about = _size_and_type(path, name)
    match artifact.kind:
        case Kind.IMAGE:
            told = f"{name} is {_pixels(path, name)}. It is {about}. {_taken(path)}".rstrip()
        case Kind.AUDIO | Kind.VIDEO:
            lasts, more = _media_details(path, name)
            told = f"{name} {lasts}. It is {about}{more}."
        case Kind.DOCUMENT:
            try:
                counts = _text_details(call, report)
                told = f"{name} has {counts}. It is {about}." if counts else f"{name} is {about}."
            except InputError as error:
                told = f"{name} is {about}. {error.message}"
        case _:
            told = f"{name} is {about}."
    return [text_artifact(told)]


def _text_details(call: Call, report: Report) -> str:
    """Such as "3 pages, 1,204 words in 96 lines and 7,310 characters"; "" if it has no text. Raises
    InputError if it cannot be read."""
    from jarvis_desktop.tasks.documents.pdf import is_pdf, open_pdf, read_pdf
    from jarvis_desktop.tasks.documents.to_text import read_document

    path, name, workdir = call.file("file"), call.title("file"), call.workdir
    pages = text = ""
    if is_pdf(path):
        with open_pdf(path, name=name) as reader:
            pages = quantity(len(reader.pages), "page")
        with suppress(InputError):  # a scan has no text, and reading pictures takes long
            text = read_pdf(
                path, name=name, report=report, recognise=lambda *given: "", workdir=workdir
            )
    else:
        text = read_document(path, name=name, report=report, workdir=workdir)
    if not text.strip():
        return pages
    return f"{pages}, {_counts(text, call)}" if pages else _counts(text, call)


def _counts(text: str, call: Call) -> str:
    if call.words("about") == "sentences":
        found = sentences(text)
        asked = quantity(sum(bool(_asks.search(each)) for each in found), "question")
        blocks = quantity(len(paragraphs(text)), "paragraph")
        return f"{quantity(len(found), 'sentence')} in {blocks}, and asks {asked}"
    lines = sum(bool(line.strip()) for line in text.splitlines())
    counts = f"{quantity(len(text.split()), 'word')} in {quantity(lines, 'line')} and "
    return counts + quantity(len(text.strip()), "character")


def _size_and_type(path: Path, name: str) -> str:
    """Such as "a WAV file of 2 MB"; the type is that of its name."""
    size = path.stat().st_size
    shown = readable_size(size) if size >= 1000 else f"{size} bytes"
    kind = Path(name).suffix.removeprefix(".").upper()
    article = "an" if kind[:1] in tuple("AEFHILMNORSX") else "a"
    return f"{article} {kind} file of {shown}" if kind else f"a file of {shown}"


def _pixels(path: Path, name: str) -> str:
    from jarvis_desktop.tasks.images.io import read_image

    width, height = read_image(path, name=name).size
    return f"{width:,} pixels wide and {height:,} high"


MAX_CAMERA_CHARS = 60
"""Characters of a camera's name that are told."""


def _taken(path: Path) -> str:
    """When, with which camera and whether with its place a photo was taken, as its EXIF data say;
    "" without any."""
    from PIL import ExifTags, Image, UnidentifiedImageError

    try:
        # Damaged data are no reason to warn.
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            exif = image.getexif()
            more = exif.get_ifd(ExifTags.IFD.Exif)
            place = exif.get_ifd(ExifTags.IFD.GPSInfo)
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, UnidentifiedImageError):
        return ""
    said = more.get(ExifTags.Base.DateTimeOriginal)
    model = str(exif.get(ExifTags.Base.Model) or "").strip(" \0")
    camera = one_line(model, limit=MAX_CAMERA_CHARS)
    taken = ""
    with suppress(ValueError, TypeError):
        when = datetime.strptime(str(said).strip(" \0"), "%Y:%m:%d %H:%M:%S")
        taken = f" on {when.day} {when:%B %Y at %H:%M}"
    taken += f" with {camera}" if camera else ""
    if not taken and not place:
        return ""
    kept = " The file says where." if place else ""
    return f"It was taken{taken or ' at a place that the file says'}.{kept if taken else ''}"


def _media_details(path: Path, name: str) -> tuple[str, str]:
    """How long it lasts, and a description of its sound and pictures."""
    import av
    from av.stream import Disposition

    from jarvis_desktop.tasks.audio.media import open_media

    more, cover = [], Disposition.attached_pic
    with open_media(path, name=name, longest=math.inf) as container:
        seconds = (container.duration or 0) / av.time_base
        # Cover art is a separate stream, not a film.
        films = [item for item in container.streams.video if not item.disposition & cover]
        if films:
            film = films[0]
            more.append(f"{film.width:,} by {film.height:,} pixels")
        if container.streams.audio:
            sound = container.streams.audio[0]
            channels = {1: "mono", 2: "stereo"}.get(sound.channels, f"{sound.channels} channels")
            more.append(f"sound at {sound.rate:,} Hz, {channels}")
        else:
            more.append("no sound")
    return _format_duration(seconds), f", with {' and '.join(more)}"


def _loudness(path: Path, name: str) -> str:
    """The loudest sample and the root mean square, in dB below the most that fits."""
    import numpy as np

    from jarvis_desktop.tasks.audio.media import audio_blocks

    peak = squares = samples = 0.0
    for block, _ in audio_blocks(path, name=name):
        peak = max(peak, float(np.abs(block).max(initial=0.0)))
        squares += float(np.square(block, dtype=np.float64).sum())
        samples += block.size
    if not peak:
        return tr("{name} is silent.", name=name)
    loudest, usual = (20 * math.log10(it) for it in (peak, math.sqrt(squares / samples)))
    form = mark(
        "{name} has a peak of {peak} dB and a loudness of {usual} dB on average, where 0 dB is the "
        "most that a recording holds."
    )
    return tr(form, name=name, peak=f"{loudest:.1f}", usual=f"{usual:.1f}")


def _format_duration(seconds: float) -> str:
    if not seconds:
        return "does not say how long it lasts"
    if seconds < _PRECISE:
        return f"lasts {round(seconds, 1):g} second{'' if round(seconds, 1) == 1 else 's'}"
    return f"lasts {spoken_length(seconds)}"


FILE_DETAILS = define(
    name="file-details", label="Show file details",
    summary="Tells a file's size and type, how long a recording or a video lasts, how loud it is, "
    "and how many pixels a picture has.",
    ports=(
        Port("file", (Kind.AUDIO, Kind.VIDEO, Kind.IMAGE, Kind.DOCUMENT, Kind.TABLE, Kind.TEXT)),
    ),
    options=(
        TaskOption(
            "about", "loudness: how loud a sound is; sentences: how many, and questions", "",
            choices=("", "loudness", "sentences"),
        ),
    ),
    presets=presets(
        ({"about": "loudness"}, list(_asking_loudness())),
        ({"about": "sentences"}, list(_counting_text("sentences", "questions", "paragraphs"))),
    ),
    cues=(
        *_of(("how long is", "how long's", "how long does"), _LASTING),
        *(f"{asked} {noun} {taken}" for asked in ("when was", "where was")
          for noun in ("the photo", "this photo", "the picture", "this picture", "this image",
                       "the image", "it") for taken in ("taken", "shot", "made")),
        *(f"{camera} {was}" for camera in ("which camera", "what camera")
          for was in ("was", "took", "is")),
        *_of(("how long does it take to play",), _LASTING),
        *_of(("how big is", "how large is", "how much space does"), _SEEN),
        *(f"what {size} is this {noun}" for noun in _SEEN for size in _SIZES),
        *(f"what {size} is the {noun}" for noun in _SEEN for size in _SIZES),
        *(f"{kind} is {which}" for kind in _TYPES for which in ("this", "that", "my", "xfile*")),
        *(f"{kind} is the {noun}" for kind in _TYPES for noun in _SEEN),
        *(cue for noun in _LASTING for cue in _asking(noun, _OF_SOUND)),
        *(cue for noun in _SEEN for cue in _asking(noun, _OF_ALL)),
        *(f"wie {big} {it} ist$" for big in ("lang", "groß") for it in ("er", "sie", "es", "das",
          "die aufnahme", "das video", "die datei", "das bild")),
        "how big is xfile*", "how large is xfile*", "what ... size of xfile*",
        "how long is xfile*", *_of(("how long is",), _WRITTEN),
        *_counting(), *_pointing(), *_became(), *_COUNTED_LEFT,
        *_counting_text("words", "lines", "characters", "letters", "pages"),
    ),
    method=describe_file, note="what the file itself says, by PyAV, Pillow and pypdf",
)  # fmt: skip
