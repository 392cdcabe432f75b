"""The cut-file task: pages of a PDF, and stretches of recordings and films, are kept, left out or
made files of their own; texts and tables are split; pages are turned. Runs in a child process."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.audio.media import open_media
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.documents import table_edit
from jarvis_desktop.tasks.documents.pdf import is_pdf, open_pdf
from jarvis_desktop.tasks.formats import cut_text
from jarvis_desktop.tasks.formats.conversion import ending_of, stem_of
from jarvis_desktop.tasks.formats.film import FilmPart, write_parts
from jarvis_desktop.tasks.formats.sound import SOUNDS, Span, save_sound
from jarvis_desktop.text.parts import clock_time, seconds_of

if TYPE_CHECKING:
    from pypdf import PageObject

TURNS = {"turn-right": 90, "turn-over": 180, "turn-left": 270, "upright": 0}
"""Degrees clockwise; "upright" turns pages so that their text is."""
ACTIONS = ("keep", "remove", "split", *TURNS)
MAX_FILES = 200


def cut_file(call: Call, report: Report) -> Iterable[Artifact]:
    """Cut the file. Raises InputError if it has no such part, or if no part is named."""
    item = call.artifact("file")
    assert item.path
    if call.words("action") in TURNS and not is_pdf(item.path):
        raise InputError(tr("Only pages of a PDF, and pictures, can be turned."))
    if item.kind in (Kind.AUDIO, Kind.VIDEO):
        return list(_cut_media(item, call, report))
    if is_pdf(item.path):
        return list(_cut_pages(item, call))
    if call.words("action") != "split" or item.kind not in (Kind.DOCUMENT, Kind.TABLE):
        raise InputError(
            tr("{name} cannot be cut: it is not a PDF, a recording or a video.", name=item.title),
            hint=tr("It can be split, or converted to PDF first."),
        )
    divided = table_edit.divided if item.kind is Kind.TABLE else cut_text.divided
    by, count = call.words("by"), int(call.number("parts"))
    made = list(divided(item, by, count, call, report, MAX_FILES + 1))
    if len(made) > MAX_FILES:
        raise _too_many()
    return made


def _cut_pages(item: Artifact, call: Call) -> Iterable[Artifact]:
    from pypdf import PdfWriter

    assert item.path
    asked, action = call.words("pages"), call.words("action")
    if action in TURNS:
        yield _turned(item, call, asked, action)
        return
    with open_pdf(item.path, name=item.title) as reader:
        count = len(reader.pages)
        pieces = _page_pieces(asked, action, int(call.number("parts")), count, item.title)
        for number, (called, pages) in enumerate(pieces, 1):
            writer = PdfWriter()
            writer.append(reader, pages=[page - 1 for page in pages])
            if reader.metadata:
                writer.add_metadata({key: str(text) for key, text in reader.metadata.items()})
            to = call.workdir / f"cut-{number}.pdf"
            writer.write(to)
            yield Artifact(Kind.DOCUMENT, path=to, name=f"{stem_of(item)}-{called}.pdf")


def _turned(item: Artifact, call: Call, asked: str, action: str) -> Artifact:
    """The PDF with some pages turned, or all. Raises InputError if one has no text to go by."""
    from pypdf import PdfWriter

    assert item.path
    with open_pdf(item.path, name=item.title) as reader:
        count = len(reader.pages)
        pages = page_numbers(asked, count, name=item.title) if asked else range(1, count + 1)
        writer = PdfWriter(clone_from=reader)
        for number in pages:
            page = writer.pages[number - 1]
            degrees = TURNS[action] or _uprighting(page)
            if degrees is None:
                raise InputError(
                    tr("Page {number} has no text that shows which way is up.", number=number),
                    hint=tr("Say: to the left, to the right, or upside down."),
                )
            page.rotation = (page.rotation + degrees) % 360
        to = call.workdir / "turned.pdf"
        writer.write(to)
    return Artifact(Kind.DOCUMENT, path=to, name=f"{stem_of(item)}-turned.pdf")


def _uprighting(page: PageObject) -> int | None:
    """The degrees clockwise by which the text of a page is turned upright; None without text."""
    letters: Counter[int] = Counter()

    def seen(text: str, at: Sequence[float], text_at: Sequence[float], *_: object) -> None:
        across = text_at[0] * at[0] + text_at[1] * at[2]
        up = text_at[0] * at[1] + text_at[1] * at[3]
        letters[round(math.degrees(math.atan2(up, across)) / 90) * 90] += len(text.strip())

    page.extract_text(visitor_text=seen)
    if not letters.total():
        return None
    return (letters.most_common(1)[0][0] - page.rotation) % 360


def _page_pieces(
    asked: str, action: str, parts: int, count: int, name: str
) -> list[tuple[str, list[int]]]:
    """Return the files to make of `count` pages: what each is called after, and its pages."""
    everything = list(range(1, count + 1))
    if action == "split":
        if every := re.fullmatch(r"every (\d+)", asked):
            size = max(1, int(every[1]))
        elif parts > 1:
            size = math.ceil(count / parts)
        else:
            size = 0 if asked else 1
        starts = everything[::size] if size else [1, *page_numbers(asked, count, name=name)]
        starts = sorted({*starts, count + 1})
        if len(starts) - 1 > MAX_FILES:
            raise _too_many()
        pieces = [list(range(a, b)) for a, b in itertools.pairwise(starts)]
        return [(_pages_name(piece), piece) for piece in pieces]
    if not asked:
        raise InputError(
            tr("Say which pages of {name} are meant.", name=name),
            hint=tr("Such as: keep pages 2 to 5, or remove the last page."),
        )
    named = page_numbers(asked, count, name=name)
    if action != "remove":
        return [(_pages_name(named), named)]
    left = [page for page in everything if page not in named]
    if not left:
        raise InputError(tr("Nothing of {name} would be left.", name=name))
    return [(f"without-{_pages_name(named)}", left)]


def _pages_name(pages: Sequence[int]) -> str:
    first, last = pages[0], pages[-1]
    if len(pages) == 1:
        return f"page-{first}"
    if list(pages) == list(range(first, last + 1)):
        return f"pages-{first}-{last}"
    return "pages-" + "+".join(map(str, pages[:6])) + ("+" if len(pages) > 6 else "")


def page_numbers(asked: str, count: int, *, name: str) -> list[int]:
    """Return the pages that "2-5, 7", "last 2", "3-last", "odd" means, from 1, in that order.
    Raises InputError if there is no such page."""
    found: list[int] = []
    for part in asked.lower().split(","):
        part = part.strip()
        if part in ("odd", "even"):
            found += range(1 if part == "odd" else 2, count + 1, 2)
        elif last := re.fullmatch(r"last(?: (\d+))?", part):
            found += range(max(1, count + 1 - int(last[1] or 1)), count + 1)
        elif some := re.fullmatch(r"(\d+)(?:\s*-\s*(\d+|last|end))?", part):
            first = int(some[1])
            end = count if some[2] in ("last", "end") else int(some[2] or first)
            if not 1 <= first <= count or not 1 <= end <= count:
                raise InputError(
                    trn(
                        "{name} has only {count} page.",
                        "{name} has only {count} pages.",
                        count,
                        name=name,
                    )
                )
            found += range(first, end + 1) if first <= end else range(first, end - 1, -1)
        else:
            raise InputError(
                tr("“{pages}” names no pages.", pages=asked),
                hint=tr("Pages are given as 2-5, or 1, 3, or last 2."),
            )
    if not found:
        raise InputError(tr("{name} has no such pages.", name=name))
    return list(dict.fromkeys(found))


def _cut_media(item: Artifact, call: Call, report: Report) -> Iterable[Artifact]:
    assert item.path
    with open_media(item.path, name=item.title) as container:
        length = (container.duration or 0) / 1_000_000
    asked, action = call.words("times"), call.words("action")
    pieces = _time_pieces(asked, action, int(call.number("parts")), length, item.title)
    film = item.kind is Kind.VIDEO
    ending = "mp4" if film else ending_of(item.path)
    ending = ending if film or ending in SOUNDS else "wav"
    for number, (called, spans) in enumerate(pieces, 1):
        report((number - 1) / len(pieces), tr("Cutting {name}", name=item.title))
        to = call.workdir / f"cut-{number}.{ending}"
        if film:
            whole = [FilmPart(item.path, item.title, *span) for span in spans]
            write_parts(whole, to, report=report)
        else:
            save_sound(item.path, to, name=item.title, spans=spans)
        yield Artifact(item.kind, path=to, name=f"{stem_of(item)}-{called}.{ending}")


def _time_pieces(
    asked: str, action: str, parts: int, length: float, name: str
) -> list[tuple[str, list[Span]]]:
    """Return the files to make: what each is called after, and its stretches."""
    if action == "split":
        if every := re.fullmatch(r"every (.+)", asked):
            size = seconds_of(every[1])
        else:
            size = 0.0 if asked else length / (parts or 2)
        if size > 0 and length / size > MAX_FILES:
            raise _too_many()
        starts = [0.0]
        if size > 0:
            starts += [size * number for number in range(1, math.ceil(length / size - 1e-6))]
        else:
            starts += [begin for begin, _ in spans_of(asked, length, name=name)]
        starts = sorted(set(starts))
        ends = [*starts[1:], math.inf]
        return [(str(at), [span]) for at, span in enumerate(zip(starts, ends, strict=True), 1)]
    if not asked:
        raise InputError(
            tr("Say which part of {name} is meant.", name=name),
            hint=tr("Such as: keep 0:30 to 1:10, or remove the first 10 seconds."),
        )
    spans = spans_of(asked, length, name=name)
    called = "+".join(
        f"{clock_time(a)}-{clock_time(b) if math.isfinite(b) else tr('end')}".replace(":", ".")
        for a, b in spans[:3]
    )
    if action != "remove":
        return [(called, spans)]
    edges = [0.0, *(edge for span in spans for edge in span), math.inf]
    left = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 0.01]
    if not left or left[0][0] >= length:
        raise InputError(tr("Nothing of {name} would be left.", name=name))
    return [(f"without-{called}", left)]


def spans_of(asked: str, length: float, *, name: str) -> list[Span]:
    """Return the stretches that "0:30-1:10", "last 0:10", "2:00-end" mean, in order and apart, in
    seconds. Raises InputError if the recording is shorter."""
    found: list[Span] = []
    for part in asked.lower().split(","):
        part = part.strip()
        if last := re.fullmatch(r"last (.+)", part):
            found.append((max(0.0, length - seconds_of(last[1])), math.inf))
            continue
        begin, dash, end = part.partition("-")
        if not dash or not re.search(r"\d", begin):
            raise InputError(
                tr("“{times}” names no part of a recording.", times=asked),
                hint=tr("Parts are given as 0:30-1:10, 2:00-end or last 0:10."),
            )
        first = seconds_of(begin.strip())
        stop = math.inf if end.strip() == "end" else seconds_of(end.strip())
        if first >= stop:
            raise InputError(
                tr("{begin} is not before {end}.", begin=begin.strip(), end=end.strip())
            )
        if length and first >= length:
            raise InputError(
                tr("{name} is only {length} long.", name=name, length=clock_time(round(length, 1)))
            )
        found.append((first, math.inf if length and stop >= length - 0.01 else stop))
    merged: list[Span] = []
    for first, stop in sorted(found):
        if merged and first <= merged[-1][1]:
            first, stop = merged[-1][0], max(stop, merged.pop()[1])
        merged.append((first, stop))
    return merged


def _too_many() -> InputError:
    return InputError(tr("That would be more than {most} files.", most=MAX_FILES))


_parts_named = (
    "page* #", "the page* #", "the first page*", "the last page*", "the first # page*",
    "the last # page*", "first # page*", "last # page*", "the odd page*", "odd page*",
    "the even page*", "even page*", "only page* #", "only the first", "only the last",
    "the first # second*", "the last # second*", "the first # minute*", "the last # minute*",
    "first # second*", "last # second*", "the first minute", "the last minute",
    "the first half minute",
    "the part from", "the part between", "second* #", "minute* #", "from # to #", "# to #",
    "everything after", "everything before", "everything from", "the second page", "the third page",
    "seite* #", "die seite* #", "die erste seite", "die letzte seite", "die ersten # seiten",
    "die letzten # seiten",
    "die ersten * seiten", "die letzten * seiten", "die ersten # sekunden",
    "die letzten # sekunden",
    "die erste minute", "die letzte minute", "die zweite seite", "nur seite* #", "all but",
    "everything but",
)  # fmt: skip
_keeping = (
    "keep", "keep only", "extract", "take", "take out", "pull out", "pull", "grab", "pick", "copy",
    "separate", "cut out", "get", "give me",
    "i need", "i want", "i only need", "i only want", "only", "just", "behalte", "behalte nur",
    "extrahiere", "nimm", "gib mir", "ich brauche", "schneide",
)  # fmt: skip
_leaving_out = (
    "remove", "delete", "drop", "leave out", "cut off", "cut away", "take away", "skip",
    "get rid of", "entferne", "lösche", "lass", "schneide ... weg",
)  # fmt: skip
_turned_parts = (
    "page*", "the page*", "this page*", "the ... page*", "all page*",
    "the pdf", "this pdf", "my pdf",
    "the document", "this document", "the scan", "xfile*xdocument", "seite*", "die seite*",
    "alle seiten", "das pdf", "das dokument",
)  # fmt: skip
_ways = {
    "upright": ("the right way", "right way up", "right side up", "upright", "straight",
                "richtig herum", "aufrecht"),
    "turn-right": ("right", "clockwise", "sideways", "by 90", "nach rechts", "um 90"),
    "turn-left": ("left", "counterclockwise", "counter-clockwise", "anticlockwise",
                  "anti-clockwise", "by 270", "nach links", "um 270"),
    "turn-over": ("upside down", "by 180", "on its head", "over", "around", "auf den kopf",
                  "um 180"),
}  # fmt: skip


def _turning(action: str) -> Iterable[str]:
    if action == "upright":
        wrong = ("upside down", "sideways", "on its side", "the wrong way", "auf dem kopf")
        yield from (f"page* ... {be} {how}" for be in ("is", "are") for how in wrong)
    for verb in ("rotate", "turn", "flip", "drehe", "dreh", "rotiere"):
        itself = ("it", "this", "that", "es") if verb in ("rotate", "rotiere") else ()
        for part in (*_turned_parts, *itself):
            yield from (f"{verb} {part} ... {way}" for way in _ways[action])
            if action == "turn-right" and verb not in ("turn", "flip"):
                yield f"{verb} {part}"


CUT_FILE = define(
    name="cut-file", label="Cut file",
    summary="Keeps, removes or turns pages of a PDF; keeps or removes seconds of a recording or "
    "video; splits them, a text at its chapters, a table into a file for each value of a column.",
    ports=(Port("file", (Kind.DOCUMENT, Kind.AUDIO, Kind.VIDEO, Kind.TABLE)),),
    gives=(Kind.DOCUMENT, Kind.AUDIO, Kind.VIDEO, Kind.TABLE),
    options=(
        TaskOption("action", "what is done with these parts", "keep", choices=ACTIONS),
        TaskOption("pages", "pages such as 2-5, 7, or last 2", "", reads="pages"),
        TaskOption("times", "a stretch such as 0:30-1:10 or last 0:10", "", reads="times"),
        TaskOption(
            "parts", "into how many equal parts it is split; 0 for single pages", 0,
            units=("part*", "piece*", "half", "halves", "file*", "teil*"),
        ),
        TaskOption("by", "what each part is for, such as country, or 100 rows", "", reads="each"),
    ),
    cues=(
        *(f"{verb} {part}" for verb in _keeping for part in _parts_named),
        "keep #", "i only need #", "i only want #", "only keep", "keep only",
        "cut out", "cut", "trim ... to", "trim ... second*", "trim ... minute*", "shorten ... to",
        "^clip ... to", "cut ... to", "schneide", "ausschneiden", "schneide ... aus",
        "zuschneiden", "kürze ... auf",
    ),
    presets=presets(
        *(({"action": action}, list(_turning(action))) for action in TURNS),
        ({"action": "remove"},
         [*(f"{verb} {part}" for verb in _leaving_out for part in _parts_named),
          *(f"{verb} {away}" for verb in ("cut", "trim", "chop", "snip", "slice", "shave")
            for away in ("off", "... off", "away", "... away", "off the first", "off the last",
                         "away the first", "away the last")),
          *(f"schneid* {part} ... {away}" for away in ("weg", "ab", "raus", "heraus")
            for part in (*(f"die {end} # {unit}" for end in ("ersten", "letzten")
                           for unit in ("sekunden", "minuten", "seiten")),
                         "die erste", "die letzte")),
          "schneid* ... weg", "schneid* ... ab$", "wegschneiden",
          "cut the first", "cut the last", "keep all but",
          "keep everything but", "all pages but", "all pages except",
          "everything except", "without page* #", "ohne seite* #", "ohne die letzte seite",
          "ohne die erste seite", "without the first page", "without the last page",
          "entferne ... seite*", "entferne ... sekunden", "lösche ... seite*"]),
        ({"action": "split"},
         "split|split up|split ... into|chop ... into|slice ... into|chop up|"
         "break up|break ... into|divide ... into|teile|teil ... in|"
         "teile ... in|aufteilen|each page as|every page as|single pages|into single pages|"
         "one file per page|zerlege|in einzelne seiten|cut ... into|one file for each|"
         "a file for each|one file for every|one file per|a file per|separate file* for each|"
         "own file for each|one table for each|a table for each|into chapters|at the chapters|"
         "at the headings|into sections|eine datei für jede*|eine eigene datei für jede*|"
         "eine datei pro|in kapitel"),
    ),
    method=cut_file, patience=10,
    note="pypdf, PyAV (FFmpeg); the original stays as it is",
)  # fmt: skip
