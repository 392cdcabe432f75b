"""The task for many files at once: lists of them, and copies under new names or in folders.

Nothing of the user's is renamed, moved or replaced: the results are copies, and the answer says
which file became which. Runs in a child process, because titles are in the documents themselves.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePath
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line, readable_size, unique_name
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.tasks.everyday.save_file import safe_name
from jarvis_desktop.tasks.text.collected_values import day_of, values_in
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import with_digits

MAX_COPIES = 300
"""Files that are copied at once."""
USUAL_LISTED = 10
"""Files of a list of the largest, if no number is named."""
MAX_TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that is listed or copied."""

    item: Artifact
    path: Path
    """Its content, in the store."""
    name: str
    size: int
    changed: datetime | None
    """When the user's own file was changed; None if that is not known."""

    @property
    def suffix(self) -> str:
        """The ending of its name, in small letters."""
        return PurePath(self.name).suffix.lower()

    @property
    def dated(self) -> date | None:
        """The day that its name says, None if it says none or several."""
        stem = PurePath(self.name).stem.replace("_", " ")
        days = {day_of(it.text) for it in values_in(stem, ("date",))}
        packed = re.findall(r"(?<!\d)((?:19|20)\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)", stem)
        days = {(int(y), int(m), int(d)) for y, m, d in packed} or days
        if len(days) != 1 or not (day := days.pop()) or not all(day):
            return None
        with suppress(ValueError):
            return date(*day)
        return None


def arrange(call: Call, report: Report) -> Iterable[Artifact]:
    """Return a list, or copies and the new name of each file. Raises ExpertError if it is not clear
    what is asked, and InputError if that cannot be done with these files."""
    wish = call.words("wish")
    files = [_given(item) for item in call.inputs["files"] if item.path]
    if not files:
        raise InputError(tr("There are no files."), hint=tr("Give the files, or a folder."))
    for form, way in _ways:
        if form.search(wish):
            return way(files, wish, call, report)
    raise ExpertError(
        tr("I did not understand what is to be done with the files."),
        hint=tr(
            "Such as: list them with their sizes, the five largest, identical ones, rename them to "
            "trip_001.jpg and so on, or put them into folders by month."
        ),
    )


def _given(item: Artifact) -> ListedFile:
    assert item.path is not None
    changed = None
    with suppress(OSError):
        if item.source is not None:
            changed = datetime.fromtimestamp(item.source.stat().st_mtime)
    return ListedFile(item, item.path, item.title, item.path.stat().st_size, changed)


# Lists.


def _identical(
    files: Sequence[ListedFile], wish: str, call: Call, report: Report
) -> list[Artifact]:
    """Say which files have the same content, whatever they are called."""
    from hashlib import file_digest

    if len(files) < 2:
        raise InputError(tr("There is only {name} to compare.", name=files[0].name))
    same: dict[tuple[int, str], list[str]] = defaultdict(list)
    for file in files:
        with file.path.open("rb") as content:
            same[file.size, file_digest(content, "sha256").hexdigest()].append(file.name)
    groups = [names for names in same.values() if len(names) > 1]
    if not groups:
        return [text_artifact(tr("No two of the {count} files are the same.", count=len(files)))]
    lines = [tr("{names} are the same.", names=", ".join(names)) for names in groups]
    return [text_artifact("\n".join(f"- {line}" for line in lines))]


_ends: Mapping[str, tuple[Callable[[ListedFile], float], bool]] = {
    **dict.fromkeys(("largest", "biggest", "größt", "grösst"), (lambda it: it.size, True)),
    **dict.fromkeys(("smallest", "kleinst"), (lambda it: it.size, False)),
    **dict.fromkeys(("newest", "latest", "neuest"), (lambda it: _moment(it), True)),
    **dict.fromkeys(("oldest", "ältest"), (lambda it: _moment(it), False)),
}


def _moment(file: ListedFile) -> float:
    if file.changed is None:
        raise InputError(tr("It is not known when {name} was changed.", name=file.name))
    return file.changed.timestamp()


_end_asked = lazy_re(rf"\b(?P<which>{'|'.join(_ends)})\w*\b", re.IGNORECASE)


def _foremost(files: Sequence[ListedFile], wish: str, call: Call, report: Report) -> list[Artifact]:
    """List the largest, smallest, newest or oldest files."""
    found = _end_asked.search(wish)
    assert found
    key, down = _ends[found["which"].lower()]
    number = re.search(r"\b(\d{1,4})\b", with_digits(wish))
    one = re.search(r"\b(?:file|photo|picture|image|document|datei|bild)\b", wish, re.IGNORECASE)
    most = int(number[1]) if number else 1 if one else USUAL_LISTED
    chosen = sorted(files, key=lambda it: (-key(it) if down else key(it), it.name))[:most]
    return [text_artifact("\n".join(f"- {_described(it)}" for it in chosen))]


def _described(file: ListedFile) -> str:
    changed = f", {file.changed:%Y-%m-%d %H:%M}" if file.changed else ""
    return f"{file.name}: {_size(file.size)}{changed}"


def _size(count: int) -> str:
    return readable_size(count) if count >= 1000 else f"{count} bytes"


def _titles(files: Sequence[ListedFile], wish: str, call: Call, report: Report) -> list[Artifact]:
    """List the titles of documents: what they themselves call it, else their first line."""
    titles = []
    for number, file in enumerate(files):
        report(number / len(files), tr("Reading {name}", name=file.name))
        titles.append(_title(file, call, report))
    return [text_artifact("\n".join(titles))]


def _title(file: ListedFile, call: Call, report: Report) -> str:
    from jarvis_desktop.tasks.documents.pdf import is_pdf, open_pdf

    said = ""
    if is_pdf(file.path):
        with open_pdf(file.path, name=file.name) as reader:
            said = str(reader.metadata.title or "") if reader.metadata else ""
    said = said if re.search(r"\w{2}", said) and not _no_title.search(said) else ""
    if not said:
        text = text_of(file.item, report, call.workdir)
        said = next((line for line in text.splitlines() if re.search(r"\w", line)), file.name)
    return one_line(said.strip("#* \t"), limit=MAX_TITLE_CHARS)


_no_title = lazy_re(r"^untitled|^microsoft word|\.(?:docx?|pdf|indd|tex|dvi)$", re.IGNORECASE)
"""What programs write as a title that nobody gave."""


def _listed(files: Sequence[ListedFile], wish: str, call: Call, report: Report) -> list[Artifact]:
    """Return a table of the files: name, folder if there are several, kind, size and date."""
    folders = [file.item.source.parent if file.item.source else None for file in files]
    known = [str(folder) for folder in folders if folder]
    common = os.path.commonpath(known) if known and len(known) == len(files) else ""
    several = len(set(known)) > 1 and bool(common)
    path = call.workdir / "files.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        place = ["folder"] if several else []
        rows.writerow(["name", *place, "kind", "bytes", "changed"])
        for each, folder in zip(files, folders, strict=True):
            inside = [os.path.relpath(str(folder), common)] if several else []
            changed = f"{each.changed:%Y-%m-%d %H:%M}" if each.changed else ""
            rows.writerow([each.name, *inside, each.suffix[1:], each.size, changed])
    whole = _size(sum(each.size for each in files))
    told = trn("{count} file, {size}.", "{count} files, {size}.", len(files), size=whole)
    return [Artifact(Kind.TABLE, path=path, name="files.csv"), text_artifact(told)]


# Copies.

_numbered = lazy_re(
    r"(?P<stem>[^\s,;:\"“”/\\]*?)(?P<number>\d+)(?P<suffix>\.\w{1,5})?(?=[\s,;:\"”]|$)"
)
_by_date = lazy_re(
    r"\b(?:by|in the order of|nach)\b.{0,24}\b(?:dates?|time|datum)\b", re.IGNORECASE
)
_quoted = r"[\"“„'‘]?(?P<{0}>[^\"“”„'’,]+?)[\"”“'’]?"
_replacing = lazy_re(
    rf"\b(?:replace|ersetze)\s+{_quoted.format('old')}\s+(?:with|by|durch|mit)\s+"
    rf"{_quoted.format('new')}(?=\s+in\b|\s*$|[.,;])",
    re.IGNORECASE,
)
_in_names = lazy_re(
    r"\bin\s+(?:all\s+|each\s+|every\s+)?(?:of\s+)?(?:the\s+|these\s+|their\s+|its\s+)?(?:file\s?)?names?\b"
    r"|\b(?:in|aus)\s+(?:den|allen)\s+(?:datei)?namen\b",
    re.IGNORECASE,
)
_in_front = lazy_re(
    r"\b(?:put|add|set|write|insert)\s+(?:the\s+(?:word|prefix)\s+)?"
    rf"{_quoted.format('prefix')}\s+(?:in front of|before|at the (?:front|beginning|start) of|"
    r"to the (?:front|beginning|start) of)\b|\bprefix\s+[\"“„']?(?P<other>[^\"“”„'’\s]+)",
    re.IGNORECASE,
)
_date_named = lazy_re(r"\b(?:the|their|its)\s+dates?\b|\bdatum\b", re.IGNORECASE)
_signs = {"space": " ", "spaces": " ", "blanks": " ", "underscore": "_", "underscores": "_",
          "dash": "-", "dashes": "-", "hyphen": "-", "hyphens": "-", "leerzeichen": " ",
          "unterstriche": "_", "unterstrichen": "_", "bindestriche": "-", "bindestrichen": "-",
          "nothing": ""}  # fmt: skip


def _renamed(files: Sequence[ListedFile], wish: str, call: Call, report: Report) -> list[Artifact]:
    """Return copies under new names, of which no two are the same."""
    names = _new_names(files, wish)
    if len({name.casefold() for name in names}) < len(names):
        raise InputError(tr("Two of the files would get the same name."))
    pairs = [(it, safe_name(name)) for it, name in zip(files, names, strict=True)]
    changed = [(it, name) for it, name in pairs if it.name != name]
    if not changed:
        raise InputError(tr("The files have these names already."))
    _check_count(changed)
    made = []
    for number, (file, name) in enumerate(changed):
        copy = call.workdir / f"copy-{number}{PurePath(name).suffix}"
        shutil.copyfile(file.path, copy)
        made.append(Artifact(file.item.kind, path=copy, name=name))
    lines = [f"- {file.name} → {name}" for file, name in changed]
    return [*made, text_artifact("\n".join([tr("These are copies:"), *lines]))]


def _signs_asked(wish: str) -> tuple[str, str] | None:
    """Return what is to be replaced in the names, and with what."""
    found = _replacing.search(_in_names.sub(" ", wish))
    if found is None:
        return None
    old, new = (found[it].strip() for it in ("old", "new"))
    old, new = (re.sub(r"^(?:all |the |every |each )+", "", it) or it for it in (old, new))
    return _signs.get(old.lower(), old), _signs.get(new.lower(), new)


def _new_names(files: Sequence[ListedFile], wish: str) -> list[str]:
    """Return the new name of each file. Raises ExpertError if the wish names none."""
    if signs := _signs_asked(wish):
        old, new = signs
        return [
            f"{PurePath(it.name).stem.replace(old, new)}{PurePath(it.name).suffix}" for it in files
        ]
    if re.search(r"\b(?:lower\s?case|small letters|kleinbuchstaben)\b", wish, re.IGNORECASE):
        return [it.name.lower() for it in files]
    prefix = _in_front.search(wish)
    if prefix and _date_named.search(wish):
        days = [it.dated or (it.changed.date() if it.changed else None) for it in files]
        for it, day in zip(files, days, strict=True):
            if day is None:
                raise InputError(tr("{name} has no date.", name=it.name))
        return [f"{day} {_without_date(it.name)}" for it, day in zip(files, days, strict=True)]
    if prefix:
        return [f"{prefix['prefix'] or prefix['other']}{it.name}" for it in files]
    to = re.search(r"\b(?:to|as|into|called?|in|nach|zu)\s+(?P<rest>.+)", wish, re.IGNORECASE)
    form = _numbered.search(to["rest"]) if to else None
    if form is None or not form["stem"]:
        raise ExpertError(
            tr("I did not understand the new names."),
            hint=tr("Such as: rename them to trip_001.jpg, trip_002.jpg and so on."),
        )
    key: Callable[[ListedFile], Any] = _day_key if _by_date.search(wish) else _natural
    ordered = sorted(files, key=key)
    first, wide = int(form["number"]), len(form["number"])
    numbered = {
        id(it): f"{form['stem']}{number:0{wide}}{PurePath(it.name).suffix}"
        for number, it in enumerate(ordered, first)
    }
    return [numbered[id(it)] for it in files]


def _natural(file: ListedFile) -> list[tuple[int, str]]:
    """Return a key by which "scan 2" is before "scan 10"."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part.casefold())
        for part in re.split(r"(\d+)", file.name)
        if part
    ]


def _day_key(file: ListedFile) -> tuple[str, str]:
    if not file.dated and not file.changed:
        raise InputError(tr("{name} has no date.", name=file.name))
    return str(file.dated or file.changed), file.name


def _without_date(name: str) -> str:
    """Return a name without the date in it, which goes to its front."""
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    said = values_in(stem.replace("_", " "), ("date",))
    for it in said:
        at = stem.replace("_", " ").find(it.text)
        stem = (stem[:at] + stem[at + len(it.text) :]) if at >= 0 else stem
    stem = re.sub(r"(?<!\d)(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?!\d)", "", stem)
    return f"{stem.strip(' _-.') or 'file'}{suffix}"


_folder_names = {
    Kind.IMAGE: mark("pictures"), Kind.AUDIO: mark("recordings"), Kind.VIDEO: mark("videos"),
    Kind.TABLE: mark("tables"), Kind.DOCUMENT: mark("documents"), Kind.TEXT: mark("documents"),
}  # fmt: skip
_endings = lazy_re(r"\b(?:ending|extension|suffix|endung)\w*\b", re.IGNORECASE)
_kinds = lazy_re(r"\b(?:kinds?|types?|typ|art)\b", re.IGNORECASE)
_months = lazy_re(r"\bmon(?:th|at)\w*\b", re.IGNORECASE)
_years = lazy_re(r"\b(?:year|jahr)\w*\b", re.IGNORECASE)
_days = lazy_re(r"\b(?:day|tag)s?\b|\bby dates?\b|\bnach datum\b", re.IGNORECASE)
_letters = lazy_re(r"\b(?:first letter|initial|anfangsbuchstabe)\w*\b", re.IGNORECASE)
_by_name = lazy_re(r"\b(?:names?|namen)\b", re.IGNORECASE)


def _into_folders(
    files: Sequence[ListedFile], wish: str, call: Call, report: Report
) -> list[Artifact]:
    """Return a ZIP with copies of the files, each in its folder."""
    _check_count([*files])
    folder_of = _folder_asked(wish)
    places: dict[str, list[str]] = defaultdict(list)
    taken: set[str] = set()
    path = call.workdir / "sorted.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, file in enumerate(files):
            report(number / len(files), tr("Copying {name}", name=file.name))
            folder = folder_of(file)
            name = unique_name(file.name.replace("/", "_"), {it.rpartition("/")[2] for it in taken
                               if it.rpartition("/")[0] == folder.casefold()})  # fmt: skip
            taken.add(f"{folder}/{name}".casefold())
            archive.write(file.path, f"{folder}/{name}")
            places[folder].append(name)
    lines = [f"- {folder}: {', '.join(names)}" for folder, names in sorted(places.items())]
    told = "\n".join([tr("These are copies, in a ZIP with a folder for each:"), *lines])
    return [Artifact(Kind.DOCUMENT, path=path, name="sorted.zip"), text_artifact(told)]


def _folder_asked(wish: str) -> Callable[[ListedFile], str]:
    if _letters.search(wish):
        return lambda it: it.name[:1].upper()
    if _endings.search(wish):
        return lambda it: it.suffix[1:] or tr("others")
    for form, size in ((_months, 7), (_years, 4), (_days, 10)):
        if form.search(wish):
            return lambda it, size=size: _day_of(it, wish)[:size]  # type: ignore[misc]
    if _kinds.search(wish):
        return lambda it: tr(_folder_names[it.item.kind])
    raise ExpertError(
        tr("I did not understand which folders are wanted."),
        hint=tr("Such as: a folder for each month, year, kind or ending."),
    )


def _day_of(file: ListedFile, wish: str) -> str:
    """Return the day by which a file is sorted: that in its name, or of its last change if the
    name says none and the wish does not ask for it."""
    if file.dated:
        return str(file.dated)
    if file.changed is None or _by_name.search(wish):
        raise InputError(tr("{name} has no date.", name=file.name))
    return f"{file.changed:%Y-%m-%d}"


def _check_count(files: Sequence[object]) -> None:
    if len(files) > MAX_COPIES:
        raise InputError(
            tr("These are more than {count} files at once.", count=MAX_COPIES),
            hint=tr("Do it in several parts."),
        )


_Way = Callable[[Sequence[ListedFile], str, Call, Report], list[Artifact]]
_ways: Sequence[tuple[re.Pattern[str], _Way]] = (
    (re.compile(r"\b(?:rename|benenne|umbenennen)\b|\bfile ?names?\b|\bname (?:them|the files)\b|"
                r"\b(?:before|front of|start of) (?:each|every|the|all) (?:file )?names?\b",
                re.IGNORECASE), _renamed),
    (re.compile(r"\b(?:sub)?(?:folders?|directories|directory|ordner)\b.{0,40}"
                r"\b(?:for each|for every|by|per|according|für jede\w?|nach|pro|je)\b"
                r"|\binto\s+(?:\w+\s+)?(?:sub)?(?:folders|directories)\b|\bin ordner\b",
                re.IGNORECASE), _into_folders),
    (re.compile(r"\b(?:duplicates?|identical|the same|twice|copies of|doppelte?n?|dubletten|"
                r"identisch\w*)\b",
                re.IGNORECASE), _identical),
    (re.compile(r"\btitles?\b|\btitel\b", re.IGNORECASE), _titles),
    (re.compile(rf"\b(?:{'|'.join(_ends)})", re.IGNORECASE), _foremost),
    (re.compile(r"\b(?:list|table|inventory|index|overview|everything|contents?|liste|tabelle|"
                r"verzeichnis|inhalt|size|names)\b", re.IGNORECASE), _listed),
)  # fmt: skip

_things = ("files", "photos", "pictures", "images", "scans", "documents", "recordings", "songs",
           "videos", "pdfs", "papers")  # fmt: skip
_these = ("", "the ", "these ", "all ", "all the ", "all these ", "all of these ", "my ", "all my ")

ARRANGE_FILES = define(
    name="arrange-files", label="List or arrange files",
    summary="Lists files with their sizes and dates, the largest, identical ones or the titles of "
    "documents; copies them under new names or into folders by month, kind or ending.",
    ports=(
        Port(
            "files", (Kind.DOCUMENT, Kind.IMAGE, Kind.TABLE, Kind.AUDIO, Kind.VIDEO), many=True,
        ),
    ),
    gives=(Kind.TEXT, Kind.TABLE, Kind.DOCUMENT, Kind.IMAGE, Kind.AUDIO, Kind.VIDEO),
    options=(TaskOption("wish", "what is listed, or the new names", "", reads="own-words"),),
    cues=(
        *(f"rename {these}{things}" for these in _these for things in _things),
        *(f"{end} {things}" for end in ("largest", "biggest", "smallest", "newest", "oldest")
          for things in ("files", "# files", "file", "photos", "pictures", "documents", "pdfs")),
        *(f"{things} are the {end}" for things in ("files", "photos", "pictures", "documents")
          for end in ("largest", "biggest", "smallest", "newest", "oldest", "same")),
        *(f"{copies} of {one}" for copies in ("copies", "exact copies", "duplicates")
          for one in ("each other", "one another", "another", "another one")),
        *(f"{things} in {this} folder" for things in _things for this in ("this", "the", "that")),
        *(f"{verb} {signs} in {these}file names" for verb in ("replace the", "replace all",
          "replace", "change the", "remove the") for signs in ("spaces", "blanks", "underscores",
          "dashes", "hyphens") for these in ("the ", "all ", "all the ", "these ", "")),
        "list the duplicates", "list all duplicates", "name the duplicates",
        *(f"in the order of their {order}" for order in ("names", "name", "dates", "date")),
        "duplicate files", "identical files", "files identical", "files are identical",
        "files ... duplicates", "files the same", "files are duplicates", "files twice",
        "doppelte dateien", "identische dateien", "größten dateien", "größte datei",
        *(f"titles of {these}{things}" for these in _these for things in
          ("pdfs", "documents", "papers", "files", "articles", "reports", "letters")),
        *(f"{verb} ... {into}" for verb in ("sort", "put", "move", "organise", "organize",
          "arrange", "group", "sortiere", "verteile")
          for into in ("into folders", "into subfolders", "into a folder for each",
                       "into one folder", "in folders", "into separate folders", "in ordner",
                       "into different folders", "into a folder per")),
        *(f"{lists} {these}files" for lists in ("list", "list of", "table of", "inventory of",
          "overview of", "index of") for these in _these),
        "everything in this folder", "files in this folder", "contents of this folder",
        "everything in the folder", "what is in this folder", "liste der dateien",
        "alle dateien in diesem ordner", "benenne ... um", "dateien ... um",
        *(f"{where} {each} file name" for where in ("in front of", "before") for each in
          ("each", "every", "the")),
        "in the file names", "in the filenames", "in all file names",
        *(f"{where} ... {one} and {other}" for where in ("with", "their") for one, other in
          (("size", "date"), ("sizes", "dates"), ("date", "size"), ("dates", "sizes"))),
        *(f"date{s} in {the} {file}name{s}" for s in ("", "s")
          for the in ("their", "the", "its") for file in ("", "file ", "file")),
        "going by ... date*", "according to ... date*", "by their dates",
        "by the date of the files",
    ),
    method=arrange, patience=5, note="copies only; the files themselves stay as they are",
)  # fmt: skip
