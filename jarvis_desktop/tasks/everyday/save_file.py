"""Saves results under names the user chose, in the requested folder only; no plan can change it.

Runs in a child process, because saving in another format decodes and encodes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePath

import platformdirs

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.formats import conversion
from jarvis_desktop.text.parts import FORMATS

TEXTS = frozenset({".txt", ".md", ".csv", ".tsv", ".json", ".html", ".log", ".srt", ".vtt"})
_MADE = frozenset({".csv", ".tsv", ".html"})
"""What a text is converted to rather than written as it is."""
_SAME = {".jpeg": ".jpg", ".tiff": ".tif", ".htm": ".html", ".text": ".txt", ".markdown": ".md",
         ".oga": ".ogg", ".wave": ".wav", ".yml": ".yaml", ".mpeg": ".mpg"}  # fmt: skip
_OTHERS = frozenset(
    ".mp4 .mkv .mov .avi .webm .pdf .docx .doc .xlsx .xls .pptx .odt .rtf .eml .zip .aac .svg .exe "
    ".py .sh .bat .js .xml .yaml .mpg .heic .epub .ods .aiff .wma".split()
)


def is_ending(suffix: str) -> bool:
    """Whether a suffix is a file extension rather than part of the name."""
    ending = suffix[1:].casefold()
    return ending in FORMATS or _plain(suffix) in _OTHERS | TEXTS


def convert(item: Artifact, ending: str, workdir: Path, report: Report) -> list[Path]:
    """Convert the content into that format. Raises InputError if that is not possible."""
    wanted = _plain(ending)
    own = _plain(item.path.suffix) if item.path else ""
    if item.path and (wanted == own or not wanted):
        return [item.path]
    if item.path is None and wanted in TEXTS - _MADE:
        to = workdir / f"saved{wanted}"
        to.write_text(item.text or "", encoding="utf-8", errors="replace", newline="\n")
        return [to]
    return conversion.convert(item, wanted[1:], workdir, report)


def _plain(suffix: str) -> str:
    ending = suffix.casefold()
    return _SAME.get(ending, ending)


MAX_NAME_BYTES = 150
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)
_FORBIDDEN = frozenset('/\\:*?"<>|')


def save(call: Call, report: Report) -> Iterable[Artifact]:
    """Save the content; return a sentence and the saved files. Raises InputError if it cannot. A
    file of that name is replaced: `question` has asked before. The folder is the user's documents
    unless the request names one; nothing is written outside of it."""
    folder = _folder(call)
    _ensure_folder(folder, make=call.folder is None)
    place = _format_folder(folder)
    saved: list[Artifact] = []
    for item, asked in _file_names(call):
        made = convert(item, PurePath(asked).suffix, call.workdir, report)
        for number, path in enumerate(made, 1):
            name = asked if len(made) == 1 else _numbered(asked, number)
            # The result's file is moved into the store later; the given file must stay in place.
            copy = call.workdir / f"copy-{len(saved)}{PurePath(name).suffix}"
            try:
                shutil.copyfile(path, copy)
            except OSError as error:
                raise StorageError(
                    tr("{name} cannot be saved: {reason}.", name=name, reason=_reason(error))
                ) from error
            _put(copy, folder / name)
            kind = item.kind if path == item.path else conversion.kind_of(path)
            saved.append(Artifact(kind, path=copy, name=name))
    if not saved:
        raise InputError(tr("There is nothing to save."))
    names = " and ".join(item.name for item in saved)
    return [text_artifact(f"Saved as {names} in {place}."), *saved]


def _numbered(name: str, number: int) -> str:
    return f"{PurePath(name).stem}-{number}{PurePath(name).suffix}"


def question(call: Call) -> str:
    """Ask before a file is replaced; "" if none is, or if saving will be refused anyway."""
    try:
        folder = _folder(call)
        names = [name for _, name in _file_names(call) if os.path.lexists(folder / name)]
    except InputError:
        return ""
    if not names:
        return ""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    there = f"{' and '.join(names)} {verb} already in {_format_folder(folder)}."
    return f"{there} Replace {them}?"


def _folder(call: Call) -> Path:
    try:
        return (call.folder or platformdirs.user_documents_path()).absolute()
    except OSError as error:  # a relative path, and the current folder was deleted
        raise InputError(
            tr("There is no folder to save in."), hint=tr("Choose a folder.")
        ) from error


def _format_folder(folder: Path) -> str:
    return one_line(str(folder), limit=200)


def _ensure_folder(folder: Path, *, make: bool) -> None:
    """Ensure that the folder exists. Raises InputError if it does not, or cannot be created."""
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        there = folder.is_dir()
    except OSError as error:
        raise InputError(
            tr(
                "The folder {folder} cannot be used: {reason}.",
                folder=_format_folder(folder),
                reason=_reason(error),
            )
        ) from error
    if not there:
        raise InputError(
            tr("There is no folder {folder}.", folder=_format_folder(folder)),
            hint=tr("Choose another folder."),
        )


def _file_names(call: Call) -> list[tuple[Artifact, str]]:
    """Each content with its file name: the requested one, numbered if there are several."""
    items = list(call.inputs.get("content", ()))
    texts = [item.text or "" for item in items if item.path is None]
    files = [item for item in items if item.path is not None]
    if texts and not files:
        items = [text_artifact("\n\n".join(texts))]
    elif files:
        items = files  # the sentence beside a picture is not to be saved
    wished = safe_name(call.words("name")) if call.words("name").strip() else ""
    named: list[tuple[Artifact, str]] = []
    for number, item in enumerate(items, start=1):
        own = PurePath(item.name or (item.path.name if item.path else "result.txt"))
        name = PurePath(wished or safe_name(own.name))
        ending = name.suffix or (item.path.suffix if item.path else ".txt")
        stem = name.stem if name.suffix else name.name
        # The dot in a name such as "notes 1.2" does not begin an extension.
        if name.suffix and not is_ending(name.suffix):
            stem, ending = name.name, own.suffix or ".txt"
        named.append((item, f"{stem}{f'-{number}' if len(items) > 1 else ''}{ending}"))
    return named


def safe_name(name: str) -> str:
    """The name, if it names a file in a folder and nothing else. Raises InputError for paths,
    reserved and hidden names, and names no file system accepts."""
    name = unicodedata.normalize("NFC", name.strip())
    bare = name.rstrip(". ")
    hidden = name.startswith((".", "-", "~"))
    unprintable = any(unicodedata.category(sign).startswith("C") for sign in name)
    if set(name) & _FORBIDDEN or unprintable:
        raise InputError(
            tr(
                "“{decode}” is not a valid file name.",
                decode=name.encode(errors="replace").decode(),
            ),
            hint=tr("Give a plain name, such as notes.txt, without a folder."),
        )
    reserved = bare.partition(".")[0].strip().casefold() in _RESERVED
    if not bare or hidden or reserved or bare != name:
        raise InputError(
            tr("A file cannot be called “{name}”.", name=name), hint=tr("Give another name.")
        )
    if len(name.encode()) > MAX_NAME_BYTES:
        raise InputError(tr("The name is too long for a file."), hint=tr("Give a shorter one."))
    return name


def _put(made: Path, target: Path) -> None:
    """Copy to the target atomically: under another name first, then renamed."""
    if os.path.lexists(target) and target.is_dir():
        raise InputError(
            tr("{name} is a folder there.", name=target.name), hint=tr("Give another name.")
        )
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".jarvis-", suffix=".part")
        os.close(handle)
        try:
            shutil.copyfile(made, temporary)
            # mkstemp makes private files; a saved one gets the usual permissions.
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            # A link of that name is replaced; its target stays as it is.
            Path(temporary).replace(target)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            tr(
                "{name} cannot be saved in {parent}: {reason}.",
                name=target.name,
                parent=_format_folder(target.parent),
                reason=_reason(error),
            )
        ) from error


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


SAVE_FILE = define(
    name="save-file", label="Save file",
    summary="Saves a result as a file with a given name.",
    ports=(Port("content", tuple(Kind), many=True),), gives=tuple(Kind), acts=True, guarded=True,
    options=(TaskOption("name", "the file's name", "", reads="file-name"),),
    cues=(
        "save", "save it as", "speichere", "speicher", "speichern", "save as", "save that as",
        "save it", "save the result", "store it",
        "store as", "keep it as", "export", "export as", "write it to", "write to a file",
        "as a file", "into a file", "call it", "name it", "put it in a file", "save a copy",
    ),
    method=save, question=question, note="asks before it replaces a file; converts formats",
)  # fmt: skip
