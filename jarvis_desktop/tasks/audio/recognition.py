"""The listening tasks, speech recognition and audio classification; transcripts as subtitles."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.serialization import to_wire
from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define, presets

_AT_THE_MICROPHONE = re.compile(r"\b(?:key|microphone)\b")


async def transcribe(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Transcribe a recording; notes about its quality are reported."""
    path, title = call.file("audio"), call.title("audio")
    try:
        transcript = await services.recogniser.transcribe(path, report)
    except (InputError, ExpertError) as error:
        # The stored file's name and hints about the microphone would mean nothing to the user.
        hint = "" if _AT_THE_MICROPHONE.search(error.hint) else error.hint
        message = error.message.replace(path.name, title)
        raise type(error)(
            message, hint=hint, retryable=error.retryable, fault=error.fault
        ) from error
    if transcript.note:
        report(None, transcript.note)
    if not transcript.text.strip():
        raise ExpertError(tr("No words were heard in {title}.", title=title))
    format = str(call.options.get("format", "text"))
    if format != "text" and transcript.segments:
        name = f"{PurePath(title).stem}.{format}"
        return [Artifact(Kind.TEXT, format_transcript(transcript, format), name=name)]
    if call.options.get("timestamps") and transcript.segments:
        lines = [(segment.start, segment.text.strip()) for segment in transcript.segments]
        return [text_artifact(format_segments(lines, times=True))]
    return [text_artifact(transcript.text)]


def format_segments(lines: Sequence[tuple[float, str]], *, times: bool) -> str:
    """Join stretches of speech, each with its start in seconds, as running text or line by line."""
    if not times:
        return " ".join(text for _, text in lines)
    return "\n".join(f"[{format_time(start)}] {text}" for start, text in lines)


def format_time(seconds: float) -> str:
    """A position in a recording, such as 1:05 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


AUTOMATIC_SPEECH_RECOGNITION = define(
    name="automatic-speech-recognition", label="Transcribe",
    summary="Writes down what is said in a recording.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    options=(
        TaskOption("timestamps", "whether each stretch begins with its time", False),
        TaskOption("format", "text, or subtitles in one of their formats", "text",
               choices=("text", "srt", "vtt")),
    ),
    cues=(
        "transcri*", "transcribe", "transcript", "write a transcript", "transcription",
        "speech to text", "speech recognition", "what is said", "what's said", "whats said",
        "what does he say",
        "what does she say", "what do they say", "what did ... say", "write down", "take down",
        "dictat*", "turn the recording into text", "minutes of", "recording to text",
        "audio to text", "what is spoken", "type up", "type out", "type it out",
        "put the recording in writing",
        "voice memo to text", "listen to xfile*", "listen to the recording", "listen to this",
    ),
    presets=presets(
        # Experts without this format put the times into each line instead.
        ({"timestamps": True, "format": "srt"}, "subtitles|captions for"),
        ({"timestamps": True}, "with timestamps|with time stamps|with timecodes|with the times|"
         "when what is said"),
    ),
    skill=transcribe, note="the recogniser that also hears the requests",
)  # fmt: skip


AUDIO_CLASSIFICATION = define(
    name="audio-classification", label="Name the sound",
    summary="Says what kind of sound a recording is.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    cues=(
        "what sound", "what is this sound", "what's this sound", "kind of sound", "which sound",
        "classify the audio", "classify the sound", "classify the recording",
        "audio classification", "what instrument", "which instrument", "what genre", "which genre",
        "is it music", "what bird", "emotion in the voice", "what noise",
    ),
    note="needs an expert that listens",
)  # fmt: skip


FORMATS = ("txt", "srt", "vtt", "json")

LINE_CHARS, MAX_LINES = 42, 2
"""Characters per line of a subtitle, and its lines: the broadcasters' usual limits."""
MIN_SECONDS = 0.2  # minimum seconds that a subtitle is shown
MAX_PAUSE_S = 0.8
"""Seconds of silence within a segment that end a subtitle, if the words have times."""
BREAKS = (".!?…。！？", ",;:–—、，；：")
"""Characters after which a subtitle is best cut; the better ones first."""
MAX_UNUSED_SHARES = (0.5, 0.3)
"""The share of a subtitle's room that waiting for such a character may leave unused."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle; seconds from the beginning."""

    start: float
    end: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that stays together in a line; it has no surrounding spaces."""

    text: str
    start: float
    end: float
    joined: bool = False  # whether it follows the previous piece without a space


def format_transcript(transcript: Transcript, format: str) -> str:
    """Render a transcript in one of FORMATS, ending with a newline."""
    if format == "json":
        return json.dumps(to_wire(transcript), ensure_ascii=False, indent=2) + "\n"
    if format == "txt":
        return transcript.text.strip() + "\n"
    found = cues(transcript.segments)
    return _vtt(found) if format == "vtt" else _srt(found)


def cues(segments: Sequence[Segment]) -> list[Cue]:
    """Split segments into subtitles of at most two lines, in order; none is empty or overlaps. A
    long segment is cut at the end of a sentence or clause, else between words. The parts' times are
    those of their words, or are estimated from their length."""
    found: list[Cue] = []
    for segment in segments:
        for part in _parts(_pieces(segment)):
            start = max(part[0].start, found[-1].end if found else 0.0)
            end = max(part[-1].end, start + MIN_SECONDS)
            found.append(Cue(start, end, _lines(part)))
    return found


def _pieces(segment: Segment) -> list[_Piece]:
    """The words of a segment; the characters if its script has no spaces."""
    pieces: list[_Piece] = []
    for word in segment.words or (segment,):
        text = " ".join(word.text.split())
        step = max(0.0, word.end - word.start) / max(1, _width(text))
        # A recogniser's "word" may be part of a word; only its leading space shows that.
        joined_on = bool(pieces and segment.words) and not word.text[:1].isspace()
        begin = word.start
        for at, (part, joined) in enumerate(_cut(text)):
            space = 1 if at and not joined else 0
            end = begin + step * (space + _width(part))
            pieces.append(_Piece(part, begin, end, joined or (at == 0 and joined_on)))
            begin = end
    return pieces


def _cut(text: str) -> Iterator[tuple[str, bool]]:
    """Yield words, and the characters of words wider than a line or written without spaces; each
    with whether it follows the previous one without a space."""
    for word in text.split():
        if _width(word) <= LINE_CHARS and not any(map(_is_wide, word)):
            yield word, False
            continue
        for at, letter in enumerate(word):
            yield letter, at > 0


def _parts(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    while pieces:
        count = _piece_count(pieces)
        yield pieces[:count]
        pieces = pieces[count:]


def _piece_count(pieces: list[_Piece]) -> int:
    most = 1
    while most < len(pieces) and (len(_fill_lines(pieces[: most + 1], LINE_CHARS)) <= MAX_LINES):
        if pieces[most].start - pieces[most - 1].end > MAX_PAUSE_S:
            return most
        most += 1
    if most == len(pieces):
        return most
    room = _width(_join_pieces(pieces[:most]))
    for letters, worth in zip(BREAKS, MAX_UNUSED_SHARES, strict=True):
        for count in range(most, 0, -1):
            if _width(_join_pieces(pieces[:count])) < room * (1 - worth):
                break
            if pieces[count - 1].text[-1] in letters:
                return count
    return most


def _lines(pieces: list[_Piece]) -> tuple[str, ...]:
    """One line if that is enough, else two of about the same width."""
    count = len(_fill_lines(pieces, LINE_CHARS))
    width = LINE_CHARS
    while width > 1 and len(_fill_lines(pieces, width - 1)) == count:
        width -= 1
    return tuple(_fill_lines(pieces, width))


def _fill_lines(pieces: list[_Piece], width: int) -> list[str]:
    """Lines, each as full as possible; a piece wider than a line gets a line to itself."""
    lines: list[str] = []
    for piece in pieces:
        space = "" if piece.joined else " "
        if lines and _width(lines[-1] + space + piece.text) <= width:
            lines[-1] += space + piece.text
        else:
            lines.append(piece.text)
    return lines


def _join_pieces(pieces: list[_Piece]) -> str:
    return "".join(("" if each.joined else " ") + each.text for each in pieces).strip()


def _width(text: str) -> int:
    """Width in characters: East Asian ones count as two, combining marks as none."""
    return sum(0 if unicodedata.combining(each) else 2 if _is_wide(each) else 1 for each in text)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def _srt(found: list[Cue]) -> str:
    blocks = [
        # Players recognise the line with the times by its arrow, which cannot be escaped.
        f"{number}\n{_times(cue, ',')}\n" + "\n".join(cue.lines).replace("-->", "->")
        for number, cue in enumerate(found, 1)
    ]
    return "".join(f"{block}\n\n" for block in blocks).removesuffix("\n")


def _vtt(found: list[Cue]) -> str:
    blocks = [f"{_times(cue, '.')}\n" + _escape("\n".join(cue.lines)) for cue in found]
    return "WEBVTT\n\n" + "".join(f"{block}\n\n" for block in blocks).removesuffix("\n")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _times(cue: Cue, point: str) -> str:
    return f"{_time(cue.start, point)} --> {_time(cue.end, point)}"


def _time(seconds: float, point: str) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}{point}{thousandths:03}"
