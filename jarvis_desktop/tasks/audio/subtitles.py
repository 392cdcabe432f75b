"""Writes a transcript down in the formats of files: text, subtitles (SRT, WebVTT), JSON."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jarvis_desktop.core.serialization import to_wire
from jarvis_desktop.core.speech import Segment, Transcript

FORMATS = ("txt", "srt", "vtt", "json")

LINE, LINES = 42, 2
"""Letters of a line of a subtitle, and its lines: what broadcasters ask for."""
SHORTEST = 0.2
"""Seconds that a subtitle stays at least."""
TOGETHER = 0.8
"""Seconds of silence within a segment that end a subtitle, where the words have times."""
ENDS = (".!?…。！？", ",;:–—、，；：")
"""After which letters a subtitle is best cut; the better ones first."""
WORTH = (0.5, 0.3)
"""How much of a subtitle's room the wait for such a letter may cost, the rest unused."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle; seconds from the beginning."""

    start: float
    end: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stays together in a line; `text` has no space around it."""

    text: str
    start: float
    end: float
    joined: bool = False
    """Whether it follows the one before without a space."""


def written_as(transcript: Transcript, format: str) -> str:
    """The transcript as one of FORMATS, with an end of line at its end."""
    if format == "json":
        return json.dumps(to_wire(transcript), ensure_ascii=False, indent=2) + "\n"
    if format == "txt":
        return transcript.text.strip() + "\n"
    found = cues(transcript.segments)
    return _vtt(found) if format == "vtt" else _srt(found)


def cues(segments: Sequence[Segment]) -> list[Cue]:
    """Subtitles of at most two lines, in order; none is empty, and none begins before the one
    before it has ended.

    A long segment is cut where a sentence or a part of it ends, else between words; the times of
    its parts are those of their words, or are reckoned from their length.
    """
    found: list[Cue] = []
    for segment in segments:
        for part in _parts(_pieces(segment)):
            start = max(part[0].start, found[-1].end if found else 0.0)
            end = max(part[-1].end, start + SHORTEST)
            found.append(Cue(start, end, _lines(part)))
    return found


def _pieces(segment: Segment) -> list[_Piece]:
    """The words of a segment; of scripts without spaces, its letters."""
    pieces: list[_Piece] = []
    for word in segment.words or (segment,):
        text = " ".join(word.text.split())
        step = max(0.0, word.end - word.start) / max(1, _width(text))
        # A "word" of a recogniser may be a part of one: only its space tells.
        joined_on = bool(pieces and segment.words) and not word.text[:1].isspace()
        begin = word.start
        for at, (part, joined) in enumerate(_cut(text)):
            space = 1 if at and not joined else 0
            end = begin + step * (space + _width(part))
            pieces.append(_Piece(part, begin, end, joined or (at == 0 and joined_on)))
            begin = end
    return pieces


def _cut(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text, and of those that are wider than a line, or written without spaces,
    each letter; with whether it follows the one before without a space."""
    for word in text.split():
        if _width(word) <= LINE and not any(map(_is_wide, word)):
            yield word, False
            continue
        for at, letter in enumerate(word):
            yield letter, at > 0


def _parts(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces of one subtitle after the other."""
    while pieces:
        count = _fitting(pieces)
        yield pieces[:count]
        pieces = pieces[count:]


def _fitting(pieces: list[_Piece]) -> int:
    """How many pieces the next subtitle takes."""
    most = 1
    while most < len(pieces) and _fits(pieces[: most + 1]):
        if pieces[most].start - pieces[most - 1].end > TOGETHER:
            return most
        most += 1
    if most == len(pieces):
        return most
    room = _width(_joined(pieces[:most]))
    for letters, worth in zip(ENDS, WORTH, strict=True):
        for count in range(most, 0, -1):
            if _width(_joined(pieces[:count])) < room * (1 - worth):
                break
            if pieces[count - 1].text[-1] in letters:
                return count
    return most


def _fits(pieces: list[_Piece]) -> bool:
    return len(_filled(pieces, LINE)) <= LINES


def _lines(pieces: list[_Piece]) -> tuple[str, ...]:
    """One line where it is enough, else two of about the same width."""
    count = len(_filled(pieces, LINE))
    width = LINE
    while width > 1 and len(_filled(pieces, width - 1)) == count:
        width -= 1
    return tuple(_filled(pieces, width))


def _filled(pieces: list[_Piece], width: int) -> list[str]:
    """Lines, each as full as it can be; a piece wider than a line has one of its own."""
    lines: list[str] = []
    for piece in pieces:
        space = "" if piece.joined else " "
        if lines and _width(lines[-1] + space + piece.text) <= width:
            lines[-1] += space + piece.text
        else:
            lines.append(piece.text)
    return lines


def _joined(pieces: list[_Piece]) -> str:
    return "".join(("" if each.joined else " ") + each.text for each in pieces).strip()


def _width(text: str) -> int:
    """In letters; those of East Asia take the room of two, marks on a letter none."""
    return sum(0 if unicodedata.combining(each) else 2 if _is_wide(each) else 1 for each in text)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def _srt(found: list[Cue]) -> str:
    blocks = [
        # An arrow is what players know the line with the times by; there is no way to escape it.
        f"{number}\n{_times(cue, ',')}\n" + "\n".join(cue.lines).replace("-->", "->")
        for number, cue in enumerate(found, 1)
    ]
    return "".join(f"{block}\n\n" for block in blocks).removesuffix("\n")


def _vtt(found: list[Cue]) -> str:
    blocks = [f"{_times(cue, '.')}\n" + _escaped("\n".join(cue.lines)) for cue in found]
    return "WEBVTT\n\n" + "".join(f"{block}\n\n" for block in blocks).removesuffix("\n")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _times(cue: Cue, point: str) -> str:
    return f"{_time(cue.start, point)} --> {_time(cue.end, point)}"


def _time(seconds: float, point: str) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}{point}{thousandths:03}"
