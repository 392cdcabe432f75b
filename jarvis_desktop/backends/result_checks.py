"""Checks whether the results of an expert can be right, before anything builds on them.

A doubt is the end of a sentence that begins with the expert's name; "" means no doubt. Only
clear cases are doubted, because a false alarm costs a good result. The checks run in the window's
process, so files are read only as far as that is cheap: pictures are decoded, WAV samples are
read, and of all other files the beginning.
"""

from __future__ import annotations

import re
import sys
import wave
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, TaskType
from jarvis_desktop.tasks.images.findings import clean_label
from jarvis_desktop.tasks.naming import named_things
from jarvis_desktop.text.languages import CODES, NAMES, is_clearly_not, plain_language
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.sentences import sentences

if TYPE_CHECKING:
    from PIL.Image import Image


MAX_UNREADABLE = 0.02
"""The share of characters such as "�" above which a text is unreadable."""
MAX_GARBLED = 0.01  # the share of wrongly decoded characters; a single one may be a typing error
MIN_LOOP_CHARS = 400  # a shorter text may well repeat itself a few times
LOOP_RATIO = 12.0
"""The zlib compression ratio of a text that only repeats itself. Prose has 2 to 3, tables and lists
up to 8. Whisper detects its loops in the same way (Radford et al. 2022)."""
MIN_SUMMARISED_WORDS = 60  # only of longer texts must a summary be shorter
MAX_LABELS_CHARS = 5000
MAX_TRANSLATION_RATIO = 12  # how many times longer or shorter than its source a translation may be
MIN_TRANSLATED_CHARS = 200  # in a shorter source a single long word may change much
EARLY_CHARS = 400  # of a growing text, for its language
MIN_ECHO_WORDS = 4  # no shorter question is taken for an echo: it may be the answer by chance
PICTURE_LABELS = "zero-shot-image-classification"
ORDERS = {
    "text-generation": "prompt",
    "question-answering": "question",
    "visual-question-answering": "question",
    "document-question-answering": "question",
    "table-question-answering": "question",
}
"""Ports whose text is not an answer to itself."""
_UNREAD = lazy_re("[\ufffd\u0000-\u0008\u000b\u000e-\u001f\u007f\ue000-\uf8ff]")
# UTF-8 that was read as Latin-1 or Windows-1252: "Ã¤", "â€™".
_MISREAD = lazy_re("[ÂÃÐÑ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€.|ï¿½")
_NO_NUMBER = lazy_re(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)\s*%?(?!\w)", re.IGNORECASE)
_SHARE = lazy_re(r"(?<![\d.,])(-?\d+(?:\.\d+)?) ?%")  # not the "-20%" of "10-20%"


RuledOut = Callable[[str, str], bool]
"""Whether a text is certainly not in the language of a code."""


def text_doubt(text: str, call: Call, ruled_out: RuledOut) -> str:
    """The doubt about a text."""
    task = call.task
    if doubt := _unreadable(text, call):
        return doubt
    if len(text) >= MIN_LOOP_CHARS and _packs(text) > LOOP_RATIO and not _given_packs(call):
        return tr("says the same thing over and over")
    if port := ORDERS.get(task):
        return _echo(text, call.text(port))
    if task == "summarization":
        return _no_summary(text, call)
    if task == "translation":
        return _no_translation(text, call, ruled_out)
    if "classification" in task or "similarity" in task:
        return _no_labels(text, call)
    return ""


def early_doubt(text: str, call: Call) -> bool:
    """Whether a text begins like one that `text_doubt` objects to: it repeats the question, or is
    English instead of a translation. Cheap, so that it can be asked with each word."""
    if port := ORDERS.get(call.task):
        return _plain(call.text(port)).startswith(_plain(text))
    if call.task == "translation" and _language(call) not in ("", "en"):
        return plain_language(text[:EARLY_CHARS]) == "en"
    return False


def _unreadable(text: str, call: Call) -> str:
    given = _words(call)
    if _share(_UNREAD, text) > max(MAX_UNREADABLE, 2 * _share(_UNREAD, given)):
        return tr("gave a text that cannot be read")
    misread = len(_MISREAD.findall(text))
    # An expert is not to blame for a file that was saved that way.
    if given and misread > 1 and misread / len(text) > MAX_GARBLED and not _MISREAD.search(given):
        return tr("gave a text with garbled letters")
    return ""


def _echo(text: str, given: str) -> str:
    same = _plain(text) == _plain(given) and len(given.split()) >= MIN_ECHO_WORDS
    return tr("only repeated the question") if same else ""


def _no_summary(text: str, call: Call) -> str:
    given = call.text("text")
    words, sizes = given.split(), (len(text), len(given))
    if len(words) < MIN_SUMMARISED_WORDS or len(sentences(given)) <= call.number("sentences") + 1:
        return ""
    return tr("did not make the text shorter") if sizes[0] >= sizes[1] else ""


def _no_translation(text: str, call: Call, ruled_out: RuledOut) -> str:
    given = call.text("text")
    longer, shorter = max(len(text), len(given)), max(1, min(len(text), len(given)))
    if len(given) >= MIN_TRANSLATED_CHARS and longer > MAX_TRANSLATION_RATIO * shorter:
        return (
            tr("translated only a part")
            if len(text) < len(given)
            else tr("gave far too long a text")
        )
    code = _language(call)
    # Names, numbers and formulas have no language.
    letters = sum(map(str.isalpha, text))
    if code and 2 * letters > len(text) and ruled_out(text, code):
        return tr("gave a text that is not in {language}", language=tr(NAMES[code]))
    return ""


def _language(call: Call) -> str:
    """The code of the language of a translation; "" if it is unknown."""
    wanted = call.words("language").strip().casefold()
    return wanted if wanted in NAMES else CODES.get(wanted, "")


def _no_labels(text: str, call: Call) -> str:
    asked = str(call.options.get("labels", ""))
    if _NO_NUMBER.search(text) and not _NO_NUMBER.search(asked):
        return tr("left out a number")
    if any(not 0 <= float(share) <= 100 for share in _SHARE.findall(text)):
        return tr("gave invalid percentages")
    if len(text) > MAX_LABELS_CHARS:
        return tr("gave far too long an answer")
    # For a picture the labels are in a sentence: "is this a cat or a dog?"
    parted = named_things(asked) if call.task == PICTURE_LABELS else asked.split(",")
    # Long labels may be shown shortened.
    known = [clean_label(each).rstrip("…").casefold() for each in parted if each.strip()]
    if known and not any(each in text.replace("_", " ").casefold() for each in known):
        return tr("named none of the labels")
    return ""


def _share(signs: re.Pattern[str], text: str) -> float:
    return len(signs.findall(text)) / max(1, len(text))


def _packs(text: str) -> float:
    raw = text.encode("utf-8", "replace")
    return len(raw) / len(zlib.compress(raw, 1))


def _given_packs(call: Call) -> bool:
    """Whether the input repeats itself as much."""
    return any(
        _packs(item.text) > LOOP_RATIO
        for items in call.inputs.values()
        for item in items
        if item.text and len(item.text) >= MIN_LOOP_CHARS
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


DRAWN = frozenset(
    """text-to-image inpainting image-to-image image-editing depth-estimation depth-control
    normal-control seg-control canny-text-to-image depth-text-to-image hed-text-to-image
    mlsd-text-to-image normal-text-to-image openpose-text-to-image scribble-text-to-image
    seg-text-to-image""".split()
)
"""Tasks that return a new picture, which is never of one colour (edges and masks may be)."""
MARKED = frozenset({"object-detection", "zero-shot-object-detection"})
"""Tasks that return the same picture if they find nothing."""
HEARD = frozenset({"text-to-speech", "text-to-audio", "audio-to-audio", "video-to-audio"})
SPOKEN = "text-to-speech"
VECTORS = "feature-extraction"
MAX_PIXELS = 50_000_000  # larger pictures are not decoded
MIN_SIDE = 8  # pixels
MAX_FLAT_DEVIATION = 1.5
"""The standard deviation, of 255 steps, below which a picture shows nothing."""
MAX_FAINT_SAMPLE = 8  # the loudest sample, of 32767, of an inaudible sound
MAX_READ_SECONDS = 60  # of a sound
MAX_LETTERS_PER_SECOND = 80.0  # of speech
_COLOUR = r"(?:white|black|grey|gray|red|green|blue|yellow|one colou?r|single colou?r|transparent)"
_PLAIN = lazy_re(
    rf"\b(?:blank|plain|solid|empty|uniform|monochrome)\b|\b(?:all|only|just|pure|nothing but|"
    rf"completely|entirely)[ -]{_COLOUR}\b|\b{_COLOUR}[ -](?:page|background|square|canvas|image|"
    rf"picture|rectangle|screen|wallpaper)\b",
    re.IGNORECASE,
)
_SILENT = lazy_re(r"\b(?:silen\w+|quiet|mute\w*|no sound)\b", re.IGNORECASE)
_BEGINNINGS = {
    Kind.AUDIO: lazy_re(rb"RIFF....WAVE|RF64|fLaC|OggS|ID3|\xff[\xe0-\xff]|....ftyp|FORM", re.S),
    Kind.VIDEO: lazy_re(rb"....(?:ftyp|moov|mdat|free)|\x1aE\xdf\xa3|RIFF....AVI|GIF8|OggS", re.S),
}


def file_doubt(made: Artifact, call: Call) -> str:
    """The doubt about a file."""
    path = made.path
    assert path is not None
    if made.kind is Kind.IMAGE:
        return _of_picture(path, call)
    if (begins := _BEGINNINGS.get(made.kind)) and not begins.match(_head(path)):
        return (
            tr("gave a film that cannot be opened")
            if made.kind is Kind.VIDEO
            else tr("gave a sound that cannot be opened")
        )
    if made.kind is Kind.VIDEO and _cut_off(path):
        return tr("gave a film that is cut off")
    if made.kind is Kind.AUDIO:
        return _of_sound(path, call)
    head = _head(path, 4096) if path.suffix.lower() in (".csv", ".tsv") else b""
    if b"\0" in head or (call.task == VECTORS and re.search(rb"(?i),-?nan\b", head)):
        return tr("gave a table without its numbers")
    return ""


def _of_picture(path: Path, call: Call) -> str:
    from PIL import Image

    try:
        with Image.open(path) as image:
            width, height = image.size
            if min(width, height) < MIN_SIDE and call.task in DRAWN:
                return tr(
                    "gave a picture of {width} by {height} pixels", width=width, height=height
                )
            if width * height > MAX_PIXELS:
                return ""
            image.load()
            if call.task not in DRAWN | MARKED:
                return ""
            given = list(_given(call, Kind.IMAGE))
            flat = _flat(image) and not _PLAIN.search(_words(call))
            if flat and not any(_like(each, _flat) for each in given):
                return tr("gave a blank picture")
            if call.task in DRAWN and any(
                _like(each, lambda other: _equal(image, other)) for each in given
            ):
                return tr("returned the picture unchanged")
    except Exception:  # noqa: BLE001 - Pillow's decoders raise anything on damaged data
        return tr("gave a picture that cannot be opened")
    return ""


def _like(path: Path, test: Callable[[Image], bool]) -> bool:
    """Whether a picture of the input passes a test; False if it cannot be opened."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.width * image.height <= MAX_PIXELS and test(image)
    except Exception:  # noqa: BLE001 - as above
        return False


def _flat(image: Image) -> bool:
    from PIL import ImageStat

    small = image.convert("RGB")
    small.thumbnail((128, 128))
    return max(ImageStat.Stat(small).stddev) < MAX_FLAT_DEVIATION


def _equal(one: Image, other: Image) -> bool:
    from PIL import ImageChops

    if one.size != other.size:
        return False
    return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox() is None


def _of_sound(path: Path, call: Call) -> str:
    try:
        with wave.open(str(path), "rb") as sound:
            seconds, silent = sound.getnframes() / sound.getframerate(), _silent(sound)
    except (wave.Error, EOFError, OSError):  # another format, or floating point
        return ""
    if not seconds:
        return tr("gave an empty sound")
    words = _words(call)
    if call.task == SPOKEN and len(words) > MAX_LETTERS_PER_SECOND * seconds:
        return tr("spoke only a part")
    if call.task not in HEARD or not silent or _SILENT.search(words):
        return ""
    return "" if any(map(_is_silent, _given(call, Kind.AUDIO))) else tr("gave nothing but silence")


def _is_silent(path: Path) -> bool:
    try:
        with wave.open(str(path), "rb") as sound:
            return _silent(sound)
    except (wave.Error, EOFError, OSError):
        return False


def _silent(sound: wave.Wave_read) -> bool:
    """Whether the first minute is inaudible; a constant offset is inaudible, too."""
    frames = sound.readframes(MAX_READ_SECONDS * sound.getframerate())
    width = sound.getsampwidth()
    if width == 2:
        samples = array("h", frames[: len(frames) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        return not samples or max(samples) - min(samples) <= 2 * MAX_FAINT_SAMPLE
    return len(set(frames)) <= width


def _cut_off(path: Path) -> bool:
    """Whether an MP4's boxes do not add up to the file, or its index is missing."""
    with path.open("rb") as file:
        size, at = path.stat().st_size, 0
        names: set[bytes] = set()
        while at + 8 <= size:
            file.seek(at)
            head = file.read(16)
            length, name = int.from_bytes(head[:4], "big"), head[4:8]
            if not names and name not in (b"ftyp", b"moov", b"mdat", b"free"):
                return False  # another format
            names.add(name)
            length = int.from_bytes(head[8:16], "big") if length == 1 else length or size - at
            if length < 8:
                return True
            at += length
    return at != size or not {b"moov", b"mdat"} <= names


def _given(call: Call, kind: Kind) -> Iterator[Path]:
    for items in call.inputs.values():
        yield from (item.path for item in items if item.path and item.kind is kind)


def _words(call: Call) -> str:
    """All texts of the call."""
    return " ".join(item.text or "" for items in call.inputs.values() for item in items)


def _head(path: Path, size: int = 16) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def checked(results: Iterable[Artifact], type: TaskType) -> tuple[Artifact, ...]:
    """Return the results. Raises ExpertError if one is missing, empty or of the wrong kind."""

    def wrong(words: str) -> ExpertError:
        return _wrong(f"{type.name} {words}.")

    found = tuple(results)
    if type.gives and not found:
        raise wrong("gave no result")
    for each in found:
        if not isinstance(each, Artifact):
            raise wrong("gave something that is not a result")
        if each.kind not in type.gives:
            raise wrong(f"gave {each.kind}, which it does not promise")
        if each.path is None:
            if not (each.text or "").strip():
                raise wrong("gave an empty text")
        elif each.path.is_symlink() or not each.path.is_file():
            raise wrong(f"did not write its file {each.path.name}")
        elif not each.path.stat().st_size:
            raise wrong(f"wrote an empty file {each.path.name}")
    return found


def inspect(
    candidate: Candidate,
    call: Call,
    type: TaskType,
    made: Sequence[Artifact],
    *,
    ruled_out: RuledOut = is_clearly_not,
) -> None:
    """Inspect the content of the results of one call. Raises ExpertError if one cannot be right:
    blank, silent, cut off, garbled, or an echo of the input. Built-in methods are trusted: an empty
    page of theirs is empty; and a tool of a server may return anything. Reads files, so not for the
    event loop."""
    if candidate.built_in or type.server:
        return
    for each in made:
        doubt = (
            text_doubt(each.text or "", call, ruled_out)
            if each.path is None
            else file_doubt(each, call)
        )
        if doubt:
            raise _wrong(f"{candidate.expert.id} {doubt}.")


def _wrong(message: str) -> ExpertError:
    """Retryable, because most experts are random: the next answer is another one."""
    return ExpertError(message, retryable=True, fault=Fault.ANSWER)


def portable(call: Call) -> Call:
    """The same call with plain dicts, which can be pickled."""
    return replace(call, inputs=dict(call.inputs), options=dict(call.options))


def seconds_for(call: Call, base: float) -> float:
    """How long a call may take: `base`, plus 2 seconds per megabyte of input. Less if its expert is
    known to be faster."""
    longest = base + 2.0 * call.size / 1_000_000
    return longest if call.seconds is None else min(longest, call.seconds)
