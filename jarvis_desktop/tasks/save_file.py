"""Saves a result under a name of the person's, in one folder and nowhere else: that of the request,
which no plan can change. Runs in a child process, because saving under another format decodes and
encodes."""

from __future__ import annotations

import os
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePath

import platformdirs

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks import formats
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="save-file",
    summary="Saves a result as a file with a given name.",
    ports=(Port("content", tuple(Kind), many=True),),
    gives=tuple(Kind),
    acts=True,
    guarded=True,
    options=(Option("name", "the file's name", "", reads="file-name"),),
    cues=(
        "save", "save it as", "save as", "save that as", "save it", "save the result", "store it",
        "store as", "keep it as", "export", "export as", "write it to", "write to a file",
        "as a file", "into a file", "call it", "name it", "put it in a file", "save a copy",
    ),
)  # fmt: skip

LONGEST_NAME = 150
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)
_FORBIDDEN = frozenset('/\\:*?"<>|')


def save(call: Call, report: Report) -> Iterable[Artifact]:
    """What was saved where, then the saved files. Raises InputError with the reason if it cannot.

    A file of that name is replaced: `question` has asked before. The folder, the person's
    documents where the request names none, is never left.
    """
    folder = _folder(call)
    _ready(folder, make=call.folder is None)
    place = _shown(folder)
    saved: list[Artifact] = []
    for item, name in _named(call):
        made = formats.bring_into(item, PurePath(name).suffix, call.workdir, report)
        # The result's file is moved by those who keep it; what was given must stay where it is.
        copy = call.workdir / f"copy-{len(saved)}{PurePath(name).suffix}"
        try:
            shutil.copyfile(made, copy)
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise StorageError(
                tr("{name} cannot be saved: {reason}.", name=name, reason=reason)
            ) from error
        _put(copy, folder / name)
        saved.append(Artifact(item.kind, path=copy, name=name))
    if not saved:
        raise InputError(tr("There is nothing to save."))
    names = " and ".join(item.name for item in saved)
    return [text_artifact(f"Saved as {names} in {place}."), *saved]


def question(call: Call) -> str:
    """Asks where a file would be replaced; "" also where saving will be refused anyway."""
    try:
        folder = _folder(call)
        names = [name for _, name in _named(call) if os.path.lexists(folder / name)]
    except InputError:
        return ""
    if not names:
        return ""
    there = (
        f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} already in {_shown(folder)}."
    )
    return f"{there} Replace {'it' if len(names) == 1 else 'them'}?"


def _folder(call: Call) -> Path:
    try:
        return (call.folder or platformdirs.user_documents_path()).absolute()
    except OSError as error:  # a relative one, and the current folder was deleted
        raise InputError(
            tr("There is no folder to save in."), hint=tr("Choose a folder.")
        ) from error


def _shown(folder: Path) -> str:
    return one_line(str(folder), limit=200)


def _ready(folder: Path, *, make: bool) -> None:
    """See that the folder is there. Raises InputError where it is not, or cannot be made."""
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        there = folder.is_dir()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            tr(
                "The folder {folder} cannot be used: {reason}.",
                folder=_shown(folder),
                reason=reason,
            )
        ) from error
    if not there:
        raise InputError(
            tr("There is no folder {folder}.", folder=_shown(folder)),
            hint=tr("Choose another folder."),
        )


def _named(call: Call) -> list[tuple[Artifact, str]]:
    """Each content with its file name: the wished one, numbered where there are several."""
    items = list(call.inputs.get("content", ()))
    texts = [item.text or "" for item in items if item.path is None]
    files = [item for item in items if item.path is not None]
    if texts and not files:
        items = [text_artifact("\n\n".join(texts))]
    elif files:
        items = files  # the sentence beside a picture is not what is to be kept
    wished = safe_name(call.words("name")) if call.words("name").strip() else ""
    named: list[tuple[Artifact, str]] = []
    for number, item in enumerate(items, start=1):
        own = PurePath(item.name or (item.path.name if item.path else "result.txt"))
        name = PurePath(wished or safe_name(own.name))
        ending = name.suffix or (item.path.suffix if item.path else ".txt")
        stem = name.stem if name.suffix else name.name
        # A dot in a name such as "notes 1.2" begins no ending.
        if name.suffix and not formats.is_ending(name.suffix):
            stem, ending = name.name, own.suffix or ".txt"
        named.append((item, f"{stem}{f'-{number}' if len(items) > 1 else ''}{ending}"))
    return named


def safe_name(name: str) -> str:
    """The name, where it is one that names a file in a folder and nothing else.

    Raises InputError for paths, reserved and hidden names, and names no file system takes.
    """
    name = unicodedata.normalize("NFC", name.strip())
    bare = name.rstrip(". ")
    hidden = name.startswith((".", "-", "~"))
    unprintable = any(unicodedata.category(sign).startswith("C") for sign in name)
    if set(name) & _FORBIDDEN or unprintable:
        raise InputError(
            tr(
                "“{decode}” is no name for a file.",
                decode=name.encode(errors="replace").decode(),
            ),
            hint=tr("Give a plain name, such as notes.txt, without a folder."),
        )
    reserved = bare.partition(".")[0].strip().casefold() in _RESERVED
    if not bare or hidden or reserved or bare != name:
        raise InputError(
            tr("A file cannot be called “{name}”.", name=name), hint=tr("Give another name.")
        )
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(tr("The name is too long for a file."), hint=tr("Give a shorter one."))
    return name


def _put(made: Path, target: Path) -> None:
    """Copy to the target whole or not at all: under another name first, then renamed."""
    if os.path.lexists(target) and target.is_dir():
        raise InputError(
            tr("{name} is a folder there.", name=target.name), hint=tr("Give another name.")
        )
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".jarvis-", suffix=".part")
        os.close(handle)
        try:
            shutil.copyfile(made, temporary)
            # mkstemp makes files for one's own eyes; a saved one has the usual permissions.
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            # A link of that name is replaced itself, what it leads to stays as it is.
            Path(temporary).replace(target)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            tr(
                "{name} cannot be saved in {parent}: {reason}.",
                name=target.name,
                parent=_shown(target.parent),
                reason=reason,
            )
        ) from error


DEFINITION = Definition(
    TYPE, method=save, question=question, note="asks before it replaces a file; converts formats"
)
