"""Checks that what an expert gave is what its task promises, before anything builds on it.

Reasons why a text that an expert gave cannot be what was asked for.

Each is the end of a sentence that begins with the expert's name; "" is no reason. What may well be
right is not doubted: a false alarm costs a good result.

Reasons why a file that an expert gave cannot be what was asked for, as in `doubts`.

Pictures are decoded, of sound files the samples of WAV are read, of all others the beginning. What
only a heavy decoder could tell is not looked for here: this runs in the window's own process."""

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
from jarvis_desktop.text.languages import CODES, NAMES, is_clearly_not
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.sentences import sentences

if TYPE_CHECKING:
    from PIL.Image import Image


UNREADABLE = 0.02
"""The share of characters that are none, such as "�", which makes a text unreadable."""

GARBLED = 0.01
"""The share of signs that were read in a wrong encoding; one of them is a typing error."""

LOOP_FROM = 400
"""Characters; a shorter text may well say the same thing a few times."""
LOOP = 12.0
"""How many times smaller a text gets, packed by zlib, that only repeats itself. Prose gets 2 to 3
times smaller, tables and lists up to 8. Whisper's decoder tells its own loops by the same sign
(Radford et al. 2022)."""

LONG_TEXT = 60
"""Words of a text of which a summary should be shorter."""

LONGEST_LABEL = 5000
"""Characters of an answer that is made of labels."""

WIDEST = 12
"""A translation is not so many times longer, or shorter, than what was translated."""
TRANSLATED_FROM = 200
"""Characters; with fewer, a single long word may change much."""

FEWEST = 4
"""Words of a question or an order that nobody gives back as an answer by chance."""

PICTURE_LABELS = "zero-shot-image-classification"

ORDERS = {
    "text-generation": "prompt",
    "question-answering": "question",
    "visual-question-answering": "question",
    "document-question-answering": "question",
    "table-question-answering": "question",
}
"""Ports whose text is no answer to itself."""

_UNREAD = lazy_re("[\ufffd\u0000-\u0008\u000b\u000e-\u001f\u007f\ue000-\uf8ff]")
# UTF-8 that was read as Latin-1 or Windows-1252: "Ã¤", "â€™".
_MISREAD = lazy_re("[ÂÃÐÑ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€.|ï¿½")
_NO_NUMBER = lazy_re(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)\s*%?(?!\w)", re.IGNORECASE)
_SHARE = lazy_re(r"(?<![\d.,])(-?\d+(?:\.\d+)?) ?%")  # the "-20%" of "10-20%" is none


RuledOut = Callable[[str, str], bool]
"""Whether a text is in another language than that of a code, without a doubt."""


def of_text(text: str, call: Call, ruled_out: RuledOut) -> str:
    """What is wrong with a text."""
    task = call.task
    if doubt := _unreadable(text, call):
        return doubt
    if len(text) >= LOOP_FROM and _packs(text) > LOOP and not _given_packs(call):
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


def _unreadable(text: str, call: Call) -> str:
    given = " ".join(item.text or "" for items in call.inputs.values() for item in items)
    if _share(_UNREAD, text) > max(UNREADABLE, 2 * _share(_UNREAD, given)):
        return tr("gave a text that cannot be read")
    misread = len(_MISREAD.findall(text))
    # What a file holds that was saved that way is not the fault of who reads it.
    if given and misread > 1 and misread / len(text) > GARBLED and not _MISREAD.search(given):
        return tr("gave a text with garbled letters")
    return ""


def _echo(text: str, given: str) -> str:
    same = _plain(text) == _plain(given) and len(given.split()) >= FEWEST
    return tr("gave back what it was asked") if same else ""


def _no_summary(text: str, call: Call) -> str:
    given = call.text("text")
    words, sizes = given.split(), (len(text), len(given))
    if len(words) < LONG_TEXT or len(sentences(given)) <= call.number("sentences") + 1:
        return ""
    return tr("made the text no shorter") if sizes[0] >= sizes[1] else ""


def _no_translation(text: str, call: Call, ruled_out: RuledOut) -> str:
    given, wanted = call.text("text"), call.words("language").strip().casefold()
    longer, shorter = max(len(text), len(given)), max(1, min(len(text), len(given)))
    if len(given) >= TRANSLATED_FROM and longer > WIDEST * shorter:
        return (
            tr("translated only a part")
            if len(text) < len(given)
            else tr("gave far too long a text")
        )
    code = wanted if wanted in NAMES else CODES.get(wanted, "")
    # Names, numbers and formulas are of no language, however much they look like one.
    letters = sum(map(str.isalpha, text))
    if code and 2 * letters > len(text) and ruled_out(text, code):
        return tr("gave a text that is not in {language}", language=tr(NAMES[code]))
    return ""


def _no_labels(text: str, call: Call) -> str:
    asked = str(call.options.get("labels", ""))
    if _NO_NUMBER.search(text) and not _NO_NUMBER.search(asked):
        return tr("gave no number where one belongs")
    if any(not 0 <= float(share) <= 100 for share in _SHARE.findall(text)):
        return tr("gave shares that are none")
    if len(text) > LONGEST_LABEL:
        return tr("gave far too long an answer")
    # Of a picture it is asked in a sentence: "is this a cat or a dog?"
    parted = named_things(asked) if call.task == PICTURE_LABELS else asked.split(",")
    # Long ones may be shown shortened.
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
    """Whether what was given repeats itself as much."""
    return any(
        _packs(item.text) > LOOP
        for items in call.inputs.values()
        for item in items
        if item.text and len(item.text) >= LOOP_FROM
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


DRAWN = frozenset(
    """text-to-image inpainting image-to-image image-editing depth-estimation depth-control
    normal-control seg-control canny-text-to-image depth-text-to-image hed-text-to-image
    mlsd-text-to-image normal-text-to-image openpose-text-to-image scribble-text-to-image
    seg-text-to-image""".split()
)
"""Tasks that give a new picture, never of one colour. Edges, poses and masks of nothing are."""

MARKED = frozenset({"object-detection", "zero-shot-object-detection"})
"""Tasks that give the same picture again where nothing was found."""

HEARD = frozenset({"text-to-speech", "text-to-audio", "audio-to-audio", "video-to-audio"})
SPOKEN = "text-to-speech"
VECTORS = "feature-extraction"

MOST_PIXELS = 50_000_000
"""A larger picture is not decoded to look at it."""
SMALLEST = 8
"""Pixels of a side."""
FLAT = 1.5
"""The standard deviation, of 255 steps, below which a picture shows nothing."""

FAINT = 8
"""The loudest sample, of 32767, of what nobody hears."""
LONGEST_LOOK = 60
"""Seconds of a sound that are read."""
QUICKEST = 80.0
"""Letters that no voice says in a second."""

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


def of_file(made: Artifact, call: Call) -> str:
    """What is wrong with a file."""
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
        return tr("gave a film that breaks off")
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
            if min(width, height) < SMALLEST and call.task in DRAWN:
                return tr(
                    "gave a picture of {width} by {height} pixels", width=width, height=height
                )
            if width * height > MOST_PIXELS:
                return ""
            image.load()
            if call.task not in DRAWN | MARKED:
                return ""
            given = list(_given(call, Kind.IMAGE))
            flat = _flat(image) and not _PLAIN.search(_words(call))
            if flat and not any(_like(each, _flat) for each in given):
                return tr("gave a picture of nothing")
            if call.task in DRAWN and any(
                _like(each, lambda other: _equal(image, other)) for each in given
            ):
                return tr("gave back the picture as it was")
    except Exception:  # noqa: BLE001 - what Pillow's decoders raise on damaged data is anything
        return tr("gave a picture that cannot be opened")
    return ""


def _like(path: Path, test: Callable[[Image], bool]) -> bool:
    """Whether a picture that was given is so; one that cannot be opened here is not."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.width * image.height <= MOST_PIXELS and test(image)
    except Exception:  # noqa: BLE001 - as above
        return False


def _flat(image: Image) -> bool:
    from PIL import ImageStat

    small = image.convert("RGB")
    small.thumbnail((128, 128))
    return max(ImageStat.Stat(small).stddev) < FLAT


def _equal(one: Image, other: Image) -> bool:
    from PIL import ImageChops

    if one.size != other.size:
        return False
    return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox() is None


def _of_sound(path: Path, call: Call) -> str:
    try:
        with wave.open(str(path), "rb") as sound:
            seconds, silent = sound.getnframes() / sound.getframerate(), _silent(sound)
    except (wave.Error, EOFError, OSError):  # of another format, or in floating point
        return ""
    if not seconds:
        return tr("gave a sound without any length")
    words = _words(call)
    if call.task == SPOKEN and len(words) > QUICKEST * seconds:
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
    """Whether nothing is heard in its first minute; a direct current is not heard either."""
    frames = sound.readframes(LONGEST_LOOK * sound.getframerate())
    width = sound.getsampwidth()
    if width == 2:
        samples = array("h", frames[: len(frames) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        return not samples or max(samples) - min(samples) <= 2 * FAINT
    return len(set(frames)) <= width


def _cut_off(path: Path) -> bool:
    """Whether an MP4's boxes do not add up to the file, or its table of contents is missing."""
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
    """What was said of it: the texts of the call."""
    return " ".join(item.text or "" for items in call.inputs.values() for item in items)


def _head(path: Path, size: int = 16) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def checked(results: Iterable[Artifact], type: TaskType) -> tuple[Artifact, ...]:
    """The results of one call. Raises ExpertError where one is missing, empty or not promised."""

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
    """Look closely at the results of one call: at their content, not only at their kinds.

    Raises ExpertError where one of them cannot be right: blank, silent, cut off, garbled, an echo
    of what was given. Built-in ways are trusted, being exact: an empty page of theirs is empty.
    Reads files, so not for the event loop.
    """
    if candidate.built_in:
        return
    for each in made:
        doubt = (
            of_text(each.text or "", call, ruled_out) if each.path is None else of_file(each, call)
        )
        if doubt:
            raise _wrong(f"{candidate.expert.id} {doubt}.")


def _wrong(message: str) -> ExpertError:
    """Retryable: most experts throw dice, and the next answer is another one."""
    return ExpertError(message, retryable=True, fault=Fault.ANSWER)


def portable(call: Call) -> Call:
    """The same call with plain mappings, which cross a process border."""
    return replace(call, inputs=dict(call.inputs), options=dict(call.options))


def seconds_for(call: Call, base: float) -> float:
    """How long a call may take: `base`, and 2 seconds for every megabyte of its inputs.

    Less where its expert is known to be quicker.
    """
    longest = base + 2.0 * call.size / 1_000_000
    return longest if call.seconds is None else min(longest, call.seconds)
