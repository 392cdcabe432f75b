"""What a request says of a file's form: the format it is to have, and which pages or seconds of it.

English and German, in lower case. Pages come out as "2-5, 7", "last 2", "3-last", "odd" or
"every 5", times as "0:30-1:10", "last 0:10", "2:00-end" or "every 10:00".
"""

from __future__ import annotations

import re

from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import GERMAN_NUMBERS, with_digits

FORMAT_WORDS = {
    "pdf": "pdf pdfs pdf-datei", "png": "png pngs", "jpg": "jpg jpeg jpgs jpegs", "webp": "webp",
    "ico": "ico icon", "gif": "gif gifs", "bmp": "bmp bitmap", "tiff": "tiff tif",
    "mp3": "mp3 mp3s mp3-datei", "flac": "flac", "ogg": "ogg", "opus": "opus", "m4a": "m4a aac",
    "wav": "wav", "mp4": "mp4 mp4s", "webm": "webm", "mkv": "mkv matroska", "mov": "mov quicktime",
    "docx": "docx word", "odt": "odt opendocument",
    "html": "html webpage webseite", "md": "md markdown", "txt": "txt textdatei", "csv": "csv",
    "tsv": "tsv", "xlsx": "xlsx excel", "json": "json", "parquet": "parquet",
    "pptx": "pptx powerpoint presentation slides",
}  # fmt: skip
"""Endings that files can get, and the words for them."""
FORMATS = {word: ending for ending, words in FORMAT_WORDS.items() for word in words.split()}
FORMATS |= dict.fromkeys(("plain text", "text file", "text files"), "txt")

_format = "|".join(sorted(FORMATS, key=len, reverse=True))
_format_as = (
    r"(?:(?:to|into|as|als|nach)\s+)?(?:(?:an?|one|eine?)\s+)?"
    rf"\.?(?:{_format})\b(?!\s+(?:of|from)\b)"
)
_article = r"(?:(?:an?|one|single|ein(?:e[rnm]?)?|the)\s+){0,2}(?:\w+\s+)?\.?"
_target = lazy_re(rf"\b(?:to|into|as|in|als|zu|zum|nach|ins)\s+{_article}({_format})\b")
_any_target = lazy_re(
    r"\b(?:convert|transcode|change|turn|save|export|wandle|konvertiere|umwandeln)\b.*"
    r"\b(?:to|into|as|in|als|nach)\s+(?:an?\s+|eine?\s+)?\.?([a-z][a-z0-9]{1,4})\b(?!\s+[a-z])"
)
_made = lazy_re(
    rf"\b({_format})\s+(?:of|from|out of|version|aus|von)\b|"
    rf"\b(?:make|mach|give|get|create|produce|want|need|like|have|hand|send|gib|erzeuge|erstelle)\w*\b.*"
    rf"\b(?:an?|one|eine?)\s+({_format})\b"
    rf"|\b(?:give|get|hand|send) me ({_format})\W*$"
    rf"|\b(?:make (?:it|them|this|these|that)|(?:all|each|both) of them(?: an?)?)\s+({_format})\b"
)
_picture_of_pages = lazy_re(
    r"\b(?:pages?|pdf|document|rest|seiten?|dokument|xfile\d+xdocument)\b.*\b(?:to|into|as|als|in)\s+"
    r"(?:an?\s+|eine?\s+|single\s+)?(?:pictures?|images?|photos?|bild(?:er)?|fotos?)\b"
)
_no_format = frozenset(
    "it that this them text one two parts grey gray it's both half audio".split()
)


_of_format = r"(?:\s+(?:document|file|version|datei|dokument)s?)?"
_list_of_formats = lazy_re(
    rf"(?<![\w-]){_format_as}{_of_format}"
    rf"(?:\s*(?:,|&|\band\b|\bund\b|\balso\b)+\s*{_format_as}{_of_format})+"
)


def lists_of_formats(said: str) -> list[tuple[int, int]]:
    """Return where several formats are named one after the other: "to PNG and WebP"."""
    return [found.span() for found in _list_of_formats.finditer(said)]


def formats_asked(said: str) -> list[str]:
    """Return the endings of several formats that the words ask for at once, else nothing."""
    found = _list_of_formats.search(said)
    named = re.findall(rf"\b({_format})\b", found[0]) if found else []
    return list(dict.fromkeys(FORMATS[word] for word in named))


_for_another = lazy_re(r"\s*(?:xfile\d+x[a-z]*|(?:the|my|this|that) \w+)\s+(?:(?:in)?to|as|an?)\s")


def another_format(said: str) -> bool:
    """Return whether words give another file a format, as those after "and" do in "the PDF to Word
    and the picture a WebP"."""
    found = _for_another.match(said)
    return bool(found and re.match(rf"(?:an? )?{_format}\b", said[found.end() :]))


def format_asked(said: str) -> str:
    """Return the ending of the format that the words ask for, also one that nobody can write, such
    as "dwg"; "" if they name none."""
    if found := _target.findall(said):
        return FORMATS[found[-1]]
    if made := _made.search(said):
        return FORMATS[made[made.lastindex or 0]]
    if _picture_of_pages.search(said):
        return "png"
    if another_format(said) and (other := re.search(rf"\b(?:an?|to|into|as) ({_format})\b", said)):
        return FORMATS[other[1]]
    other = _any_target.search(said)
    return other[1] if other and other[1] not in _no_format else ""


_ordinals = {
    word: str(number)
    for number, words in enumerate(
        "first erste|second zweite|third dritte|fourth vierte|fifth fünfte|sixth sechste|"
        "seventh siebte|eighth achte|ninth neunte|tenth zehnte".split("|"), 1
    )
    for word in words.split()
}  # fmt: skip
_german_number = lazy_re(rf"\b({'|'.join(GERMAN_NUMBERS)})\b")

_to = r"\s*(?:-|–|to|through|until|till|bis(?: zur?)?)\s*"
_and = r"\s*(?:,|&|\band\b|\bund\b|\bor\b)+\s*"
_page = r"(?:pages?|pp?\.|seiten?|s\.)"
_number = rf"(?:{_page}\s*)?(\d+|last|end|ende|the end|letzte)"
_pages = lazy_re(rf"\b{_page}\s*(?=\d)")
_item = lazy_re(rf"{_number}(?:{_to}(?:the\s+)?{_number})?(?:{_and}(?=(?:{_page}\s*)?\d))?")
_ends = lazy_re(rf"\b(first|last|ersten?|letzten?)\s+(?:(\d+)\s+)?{_page}(?!\w)")
_ordinal_page = lazy_re(rf"\b({'|'.join(_ordinals)})[nrm]?\s+(?:page|seite)\b")
_every_page = lazy_re(rf"\b(?:every|each|alle|je)\s+(\d+)\s+{_page}(?!\w)")
_parity = lazy_re(
    rf"\b(?P<odd>odd|ungeraden?)\b(?=.*{_page})|\b(?P<even>even|geraden?)\b(?=.*{_page})"
)
_from_page = lazy_re(
    rf"\b(?:from|after|starting (?:at|with)|ab|nach)\s+{_page}\s*(\d+)(?!{_to}\S)(?! (?:of|to)\b)"
)
_to_page = lazy_re(rf"\b(?:up to|until|before|bis)\s+(?:einschließlich\s+)?{_page}\s*(\d+)")


_all_but = lazy_re(r"\bpages (?:except|but)(?: for)? the (first|last)(?! page| \d)")


def pages_asked(said: str) -> str:
    """Return the pages that the words name; "" if they name none."""
    said = _all_but.sub(r"\1 page", _in_digits(said))
    if every := _every_page.search(said):
        return f"every {every[1]}"
    if parity := _parity.search(said):
        return "odd" if parity["odd"] else "even"
    found: list[str] = []
    for end in _ends.finditer(said):
        last, count = end[1][0] == "l", int(end[2] or 1)
        found.append(
            (f"last {count}" if count > 1 else "last") if last else _range("1", str(count))
        )
    if found:
        return ", ".join(found)
    if ordinal := _ordinal_page.findall(said):
        return ", ".join(_ordinals[word] for word in ordinal)
    if begin := _from_page.search(said):
        after = re.search(r"\b(?:after|nach)\b", begin[0]) is not None
        return f"{int(begin[1]) + after}-last"
    if (until := _to_page.search(said)) and not re.search(rf"\d{_to}{_page}", said):
        before = "before" in until[0]
        return _range("1", str(int(until[1]) - before))
    at = 0
    for start in _pages.finditer(said):
        if start.start() < at:
            continue
        at, more = start.end(), True
        while more:
            item = _item.match(said, at)
            assert item  # there is a number in front
            found.append(_range(item[1], item[2] or item[1]))
            at = item.end()
            more = re.search(rf"{_and}$", item[0]) is not None
    return ", ".join(dict.fromkeys(found))


_so_many = lazy_re(
    r"\b(?:every|each|of|with|to|alle|je|mit|von|à)\s+(\d+)\s+(rows?|lines?|words?|entries|records|"
    r"zeilen|einträge|wörter)\b"
)
_for_each = lazy_re(
    r"\b(?:for\s+(?:each|every)|per|by|je|pro|für\s+jede[nrs]?|nach)\s+(?:(?:the|its|der|dem|den)\s+)?"
    r"(?!\d|links|rechts|pages?\b|seiten?\b|minuten?\b|seconds?\b)([\w-]+(?:\s+(?!called|named|as|in|into|to|and\s+(?:save|then)|please)[\w-]+){0,3})"
)


def each_asked(said: str) -> str:
    """Return what each part of a text or table is for, in the words that say so: "country" of "one
    file for each country", "100 rows" of "every 100 rows"; "" if they do not."""
    said = with_digits(said)
    if counted := _so_many.search(said):
        return f"{counted[1]} {counted[2]}"
    named = _for_each.search(said)
    return named[1] if named else ""


def _range(first: str, last: str) -> str:
    first, last = (each if each.isdigit() else "last" for each in (first, last))
    return first if first == last else f"{first}-{last}"


def _in_digits(said: str) -> str:
    # "1:00" would become 1:0.
    parts = re.split(rf"({_clock})", said)
    parts[::2] = map(with_digits, parts[::2])
    return _german_number.sub(lambda word: str(GERMAN_NUMBERS[word[0]]), "".join(parts))


_unit = r"(?:hours?|hrs?|h|stunden?|minutes?|minuten?|mins?|seconds?|sekunden?|secs?|sek|s)"
_clock = r"\d{1,3}(?::\d{2}){1,2}(?:[.,]\d+)?"
_amount = (
    rf"\d+(?:[.,]\d+)?[\s-]*{_unit}\b(?:\s*(?:(?:and|und)\s+)?\d+[\s-]*(?:seconds?|sekunden?|s)\b)?"
)
_moment = rf"{_clock}|{_amount}|(?:minute|second|sekunde)\s+\d+|beginning|start|anfang|end|ende"
_begin = rf"(?:the\s+|dem\s+)?(?P<begin>{_moment})"
_finish = rf"(?:the\s+|dem\s+)?(?P<end>{_moment})"
_one = lazy_re(
    rf"(?P<edge>\b(?:first|last|(?:erst|letzt)e[nr]?)\s+)(?={_unit}\b)|\b(?:an?|eine[rn]?)\s+(?={_unit}\b)"
)
_half = lazy_re(r"\b(?:half an?|eine[rn]? halben?)\s+(?:(minute)|hour|stunde)\b")
_and_half = lazy_re(rf"(\d+)\s+({_unit})\s+and\s+0\.5\b")
_between = r"\s*(?:to|until|till|and|-|–|bis|und)\s*"
_shared_unit = lazy_re(rf"(?<![:\d.])(\d+(?:\.\d+)?)({_between})(\d+(?:\.\d+)?\s*({_unit})\b)")
_bare_minutes = lazy_re(rf"\b(minute|second|sekunde)[ns]?\s+(\d+)({_between})(\d+)\b")
_span = lazy_re(rf"{_begin}\s*(?:-|–|to|until|till|and|bis(?: zu[mr]?)?|und)\s*{_finish}")
_edge = lazy_re(rf"\b(?P<which>first|last|ersten?|letzten?)\s+(?P<long>{_clock}|{_amount})")
_from = lazy_re(rf"\b(?:from|after|starting at|ab|nach)\s+{_begin}")
_until = lazy_re(rf"\b(?:until|up to|before|bis|to|auf)\s+{_finish}")
_at = lazy_re(rf"\b(?:at|bei)\s+{_begin}")
_every = lazy_re(
    rf"\b(?:every|each|alle|je|of)\s+(?P<long>{_clock}|{_amount})"
    rf"|(?P<piece>{_clock}|{_amount})[\s-]*(?:long\s+)?(?:piece|part|chunk|segment|clip|stück)"
)


_one_moment = lazy_re(
    rf"(?<!every )(?<!each )(?:\b(?:minute|second|sekunde)\s+\d+|{_clock}|{_amount})"
)


def moment_asked(said: str) -> float | None:
    """Return the seconds at the one moment of a film that the words name, as in "at 0:30" or "12
    seconds in"; None if they name none."""
    found = _one_moment.search(_with_plain_times(said))
    return seconds_of(found[0]) if found else None


def named_stretch(said: str) -> str:
    """Return the words that name the beginning or end of a recording: "first 5 seconds"."""
    found = _edge.search(_with_plain_times(said))
    return found[0] if found else ""


def _with_plain_times(said: str) -> str:
    said = _half.sub(lambda it: f"30 {'seconds' if it[1] else 'minutes'}", _in_digits(said))
    said = _one.sub(lambda it: f"{it['edge'] or ''}1 ", said)
    said = _and_half.sub(lambda it: f"{it[1]}.5 {it[2]}", said)
    return _bare_minutes.sub(r"\1 \2\3\1 \4", _shared_unit.sub(r"\1 \4\2\3", said))


def times_asked(said: str) -> str:
    """Return the stretches of time that the words name; "" if they name none."""
    said = _with_plain_times(said)
    spans = [
        f"{clock_time(seconds_of(it['begin']))}-{_end(it['end'])}" for it in _span.finditer(said)
    ]
    if spans:
        return ", ".join(spans)
    for edge in _edge.finditer(said):
        long = clock_time(seconds_of(edge["long"]))
        spans.append(f"last {long}" if edge["which"][0] == "l" else f"0:00-{long}")
    if spans:
        return ", ".join(spans)
    if every := _every.search(said):
        return f"every {clock_time(seconds_of(every['long'] or every['piece']))}"
    if begin := _from.search(said) or _at.search(said):
        return f"{clock_time(seconds_of(begin['begin']))}-end"
    if end := _until.search(said):
        return f"0:00-{_end(end['end'])}"
    return ""


def _end(said: str) -> str:
    return "end" if said in ("end", "ende") else clock_time(seconds_of(said))


def seconds_of(said: str) -> float:
    """Return the seconds of "1:05:00", "2.5 minutes", "1 minute and 20 seconds", "minute 2"."""
    if re.match(_clock, said):
        total = 0.0
        for part in said.replace(",", ".").split(":"):
            total = 60 * total + float(part)
        return total
    numbers = re.findall(r"\d+(?:[.,]\d+)?", said)
    units = re.findall(r"\b(?:\d+(?:[.,]\d+)?)?[\s-]*([hms])", said)
    factor = {"h": 3600.0, "m": 60.0, "s": 1.0}
    if not numbers:
        return 0.0  # the beginning
    return sum(float(n.replace(",", ".")) * factor[u] for n, u in zip(numbers, units, strict=False))


def clock_time(seconds: float) -> str:
    """Return a position in a recording: "1:05", "0:02.5", "1:00:00"."""
    whole, part = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    head = f"{hours}:{minute:02d}" if hours else f"{minute}"
    return f"{head}:{second:02d}" + (f".{part:03d}".rstrip("0") if part else "")


_on = (
    r"(?:to|on|onto|over|into|at|under|across|below|above|in) "
    r"(?:the|this|my|that|it|\S+\.\w{3,4})\b"
)
_written = tuple(
    lazy_re(form, re.IGNORECASE)
    for form in (
        r"\b(?:texts?|words?|caption|title|sentence|watermark|label|note)\b"
        r"(?: (?:saying|reading|of|that says|which says))?:? "
        rf"(?P<words>(?!in |on |to |at )\S.*?)(?= {_on}|[.!]?$)",
        r"\b(?:write|print) (?!the (?:text|words?)\b)(?P<words>\S.*?)"
        rf"(?= (?:{_on}|underneath|below|under it|on top|at the (?:top|bottom)|on it)\b)",
        rf"\b(?:put|stick) (?P<words>\S.*?)(?= {_on})",
    )
)


def words_written(said: str) -> str:
    """Return what "add the text Sold out to the photo" says to write; "" if nothing."""
    found = next((it for form in _written if (it := form.search(said))), None)
    return found["words"].strip() if found else ""


_colours = (
    "red rot", "blue blau", "green grün", "yellow gelb", "white weiß", "black schwarz",
    "orange orange", "purple lila", "pink rosa", "grey grau gray", "brown braun", "gold gold",
)  # fmt: skip
COLOURS = {word: said.split()[0] for said in _colours for word in said.split()}
"""Words for a colour, and its English name, which CSS knows too."""
_coloured = lazy_re(
    rf"\bin (?:(?:bright|dark|big|bold|large|the colou?r)\s+)*({'|'.join(COLOURS)})\b"
    rf"|\b({'|'.join(COLOURS)}) (?:letters|text|words|writing|font|border|frame)\b"
)


def colour_asked(said: str) -> str | None:
    """Return the colour of "in red" or "red letters"; None if none is named."""
    found = _coloured.search(said)
    return COLOURS[found[1] or found[2]] if found else None


def size_asked(said: str) -> str | None:
    """Return the pixels of "800 by 600" as "800x600"; None if there are none."""
    found = re.search(r"\b(\d{1,5})\s*(?:x|×|by)\s*(\d{1,5})\b", said)
    return f"{found[1]}x{found[2]}" if found else None


_side = lazy_re(
    r"\b(?P<before>width|height)(?: of| to|:)? (?P<first>\d{1,5})\b|"
    r"\b(?P<second>\d{1,5})\s*(?:pixels?|px)\b"
    r"(?:\W+(?:in )?(?P<behind>wide|width|high|height|tall)\b)?"
)
_ratio = lazy_re(r"\b(\d{1,2}):(\d{1,2})\b|\b(?:squares?|quadrat\w*)\b")


_limit = lazy_re(
    r"\b(?:at (?:the )?most|(?:no|not) (?:more|wider|larger|bigger|higher|taller|longer) than|up to"
    r"|a maximum of|maximum|max\.?|maximal|höchstens)\s+(?:width\W+|height\W+|of\s+)?(?=\d)"
)


def picture_size_asked(said: str) -> str | None:
    """Return the size that a picture is to have, None if it is not said: of its file, "500 KB"; in
    pixels, "800x600", "800x" or "x600" for one side, "longest 800"; or its sides, "16:9". Before a
    number of pixels that is only the most it may have is "at most "."""
    size = _size_asked(said)
    pixels = size is not None and not size.endswith("B") and ":" not in size
    return f"at most {size}" if pixels and _limit.search(said) else size


def _size_asked(said: str) -> str | None:
    if found := re.search(r"\b(\d+(?:\.\d+)?)\s*([km])(?:i?b|(?:ilo|ega)bytes?)\b", said):
        return f"{found[1]} {found[2].upper()}B"
    if size := size_asked(said):
        return size
    sides = {"w": "", "h": ""}
    for found in _side.finditer(said):
        name = (found["before"] or found["behind"] or "")[:1]
        number = found["first"] or found["second"]
        if not name:
            return f"longest {number}"
        sides["w" if name == "w" else "h"] = number
    if any(sides.values()):
        return "{w}x{h}".format_map(sides)
    ratio = _ratio.search(said)
    return f"{ratio[1] or 1}:{ratio[2] or 1}" if ratio else None
