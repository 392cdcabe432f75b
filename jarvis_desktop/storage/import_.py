"""Imports conversations that were exported as JSON.

The file may come from anyone: all of it is checked before anything is written, and nothing is
visible before all is written. Readers check each value that they know and ignore others.
"""

from __future__ import annotations

import json
import os
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import is_private
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import Fault, InputError, PlanError
from jarvis_desktop.core.expert import (
    Attempt,
    Candidate,
    Expert,
    Selection,
    Spent,
    Status,
    TaskResult,
)
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.serialization import plan_from_wire
from jarvis_desktop.core.task import Item, Task, TaskType
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.conversations import MAX_TITLE_CHARS, title_of
from jarvis_desktop.storage.database import attached, reading, writing
from jarvis_desktop.storage.deletion import Trash
from jarvis_desktop.storage.export import FORMAT, VERSION
from jarvis_desktop.storage.turn_rows import (
    DamagedError,
    TurnRows,
    Values,
    decoded,
    entries,
    mapping,
    number,
    round_of,
    seconds_of,
    text,
    texts,
)

ID = 200
"""Characters of an id."""
COUNTS = ("calls", "tokens")
TEXT = 20_000_000
"""Characters of a text."""

Place = Callable[[str, Kind], tuple[Kind, Path]]
"""Returns the file that the JSON names, given its kind. Raises InputError."""


def turn_of(values: object, inventory: Mapping[str, TaskType], place: Place) -> Turn:
    """Decode a turn. Raises DamagedError if it is invalid."""
    entry = mapping(values)
    artifact = partial(_artifact, place=place)
    results = [_result(item, artifact) for item in _members(entry, "results")]
    rounds = [_round(item, artifact) for item in _members(entry, "rounds")]
    outlines = mapping(entry.get("inner_outlines", {}))
    return Turn(
        id=name(entry, "id"),
        started=moment(entry, "started"),
        text=_bounded(entry, "text"),
        heard_by=_bounded(entry, "heard_by"),
        attachments=tuple(artifact(item) for item in entries(entry, "attachments")),
        plan=_plan(entry.get("plan"), inventory, place),
        selections=tuple(_selection(item) for item in entries(entry, "selections")),
        results={item.task_id: item for item in results},
        agentic=entry.get("agentic") is True,
        outline=_outline(entry.get("outline")),
        inner_outlines={
            str(path): outline for path, item in outlines.items() if (outline := _outline(item))
        },
        rounds={item.number: item for item in rounds},
        notes=texts(entry, "notes"),
        reply=_bounded(entry, "reply"),
        status=None if entry.get("status") is None else _one_of(Status, entry, "status"),
        finished=None if entry.get("finished") is None else moment(entry, "finished"),
        waited=seconds_of(entry, "waited"),
        pinned=entry.get("pinned") is True,
    )


def name(entry: Values, key: str) -> str:
    """Return an id: short and printable."""
    value = text(entry, key)
    if 0 < len(value) <= ID and value.isprintable():
        return value
    raise DamagedError(tr("There is no valid {key}.", key=key))


def moment(entry: Values, key: str) -> datetime:
    """Return a date with its time."""
    try:
        found = datetime.fromisoformat(text(entry, key))
        found.astimezone()  # which fails for the last years
    except (ValueError, OverflowError) as error:
        raise DamagedError(tr("There is no valid {key}.", key=key)) from error
    return found


def _bounded(entry: Values, key: str) -> str:
    value = text(entry, key)
    if len(value) > TEXT:
        raise DamagedError(tr("The {key} is too long.", key=key))
    return value


def _members(entry: Values, key: str) -> list[Any]:
    return list(mapping(entry.get(key)).values())


def _one_of(kind: Any, entry: Values, key: str) -> Any:
    value = text(entry, key)
    if value in set(kind):
        return kind(value)
    raise DamagedError(tr("There is no valid {key}.", key=key))


def _artifact(values: object, *, place: Place) -> Artifact:
    entry = mapping(values)
    kind, made_by = _one_of(Kind, entry, "kind"), entry.get("made_by")
    if made_by is not None and (not isinstance(made_by, int) or isinstance(made_by, bool)):
        raise DamagedError(tr("There is no valid made_by."))
    title = text(entry, "name")
    if entry.get("path") is None:
        return Artifact(kind, _bounded(entry, "text"), None, title, made_by)
    if entry.get("text") is not None:
        raise DamagedError(tr("An artifact is a text and a file at once."))
    kind, path = place(text(entry, "path"), kind)
    return Artifact(kind, None, path, title, made_by)


def _result(values: object, artifact: Callable[[object], Artifact]) -> TaskResult:
    entry = mapping(values)
    return TaskResult(
        number(entry, "task_id"),
        _one_of(Status, entry, "status"),
        tuple(artifact(item) for item in entries(entry, "artifacts")),
        tuple(_attempt(item) for item in entries(entry, "attempts")),
        _bounded(entry, "reason"),
    )


def _attempt(values: object) -> Attempt:
    entry = mapping(values)
    candidate = mapping(entry.get("candidate"))
    known = mapping(candidate.get("expert"))
    expert = Expert(text(known, "id"), text(known, "task"), revision=text(known, "revision"))
    # Earlier exports lack where it ran and what it cost.
    provider = candidate.get("provider")
    return Attempt(
        Candidate(
            expert,
            text(candidate, "backend"),
            remote=candidate.get("remote") is True,
            provider=provider[:ID] if isinstance(provider, str) else "",
        ),
        seconds_of(entry),
        _bounded(entry, "error"),
        fault=_one_of(Fault, entry, "fault"),
        spent=_spent(entry.get("spent")),
    )


def _spent(values: object) -> Spent:
    entry = mapping({} if values is None else values)
    dollars = entry.get("dollars")
    known = isinstance(dollars, int | float) and 0 <= dollars < float("inf")
    calls, tokens = (max(0, number(entry, key)) if key in entry else 0 for key in COUNTS)
    return Spent(calls, tokens, float(dollars) if known and dollars is not None else None)


def _selection(values: object) -> Selection:
    entry = mapping(values)
    return Selection(number(entry, "task_id"), (), text(entry, "reason"))


def _round(values: object, artifact: Callable[[dict[str, Any]], Artifact]) -> Round:
    for item in entries(mapping(values), "artifacts"):
        artifact(item)  # `round_of` would silently leave out a damaged one
    return round_of(values, artifact)


def _outline(values: object) -> Outline | None:
    return None if values is None else decoded(Outline, values)


def _plan(values: object, inventory: Mapping[str, TaskType], place: Place) -> Plan | None:
    """Decode a plan; None if current task types do not fit it."""
    if values is None:
        return None
    try:
        plan = plan_from_wire(values, inventory)
        return Plan(tuple(_placed(task, place) for task in plan))
    except PlanError:
        return None


def _placed(task: Task, place: Place) -> Task:
    """Return the task with the files of its arguments in place."""

    def moved(name: str, item: Item) -> Item:
        if not isinstance(item, Artifact) or item.path is None:
            return item
        return replace(item, path=place(str(item.path), item.kind)[1])

    return task.map_items(moved)


MAX_BYTES = 256 * 1024**2
BATCH_TURNS = 50
"""Turns that are written before others may write."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    conversations: int
    turns: int
    skipped: int
    """Conversations that already existed."""
    missing: int
    """Files that were not included."""


def import_from(
    path: Path,
    database: Path,
    *,
    store: FileStore,
    store_root: Path,
    inventory: Mapping[str, TaskType],
    now: Callable[[], datetime],
) -> Imported:
    """Add the conversations of a file to the history, in any thread.

    Existing ids are skipped. A kill at any moment leaves all of it or nothing. Raises InputError, a
    sentence, if the file is not an export.
    """
    conversations = _conversations(_document(path))
    files = _ImportFiles(path, store, store_root.absolute())
    for conversation in conversations:
        for _ in conversation.turns(inventory, files.check):
            pass
    with reading(), attached(database) as db:
        rows = TurnRows(db, store_root.absolute(), inventory)
        return _Writer(rows, now).write(conversations, inventory, files)


@dataclass(frozen=True, slots=True)
class _ImportedConversation:
    """A conversation of the file."""

    id: str
    title: str
    pinned: bool
    values: Sequence[Any]

    def turns(self, inventory: Mapping[str, TaskType], place: Place) -> Iterator[Turn]:
        """Its turns, with files from `place`."""
        for values in self.values:
            try:
                yield turn_of(values, inventory, place)
            except DamagedError as error:
                raise _refused(str(error)) from error


class _ImportFiles:
    """The files that the JSON names: in the store, or in the folder next to it."""

    def __init__(self, path: Path, store: FileStore, store_root: Path) -> None:
        self._base = path.absolute().parent
        self._store = store
        self._root = store_root
        self._known: dict[str, tuple[Kind, Path]] = {}
        self.missing = 0

    def check(self, given: str, kind: Kind) -> tuple[Kind, Path]:
        """Refuse a path that leads out of the folder."""
        if not _is_absolute(given):
            place = self._base / given
            if ".." in Path(given).parts or not _resolved(place).is_relative_to(
                _resolved(self._base)
            ):
                raise _refused(f"It names a file outside of its folder: {one_line(given)}")
        return kind, Path(given)

    def take(self, given: str, kind: Kind) -> tuple[Kind, Path]:
        """Return the file in the store, or a path without a file if it is unavailable."""
        if given not in self._known:
            self._known[given] = self._taken(given, kind)
        return self._known[given]

    def _taken(self, given: str, kind: Kind) -> tuple[Kind, Path]:
        self.check(given, kind)
        own = Path(given) if _is_absolute(given) else self._root / given[:2] / given
        if not _is_absolute(given):
            try:
                taken = self._store.take_in(self._base / given)
            except InputError:
                pass
            else:
                assert taken.path
                return taken.kind, taken.path
        if self._store.holds(own):  # an export without files, which are in this store
            return kind, own
        self.missing += 1
        return kind, self._root / "missing" / (PureWindowsPath(given).name or "file")


class _Writer:
    """Writes into the trash first; at the end all turns are restored in one step."""

    def __init__(self, rows: TurnRows, now: Callable[[], datetime]) -> None:
        self._db = rows.db
        self._rows = rows
        self._now = now
        self._trash = Trash(rows.db)

    def write(
        self,
        found: Sequence[_ImportedConversation],
        inventory: Mapping[str, TaskType],
        files: _ImportFiles,
    ) -> Imported:
        """Write what does not exist yet."""
        with writing(self._db):
            number = self._trash.put((), self._now(), extent="turns").number
        conversations = turns = skipped = 0
        for item in found:
            if self._is_there("conversations", item.id):
                skipped += 1
                continue
            written = self._put(item, number, item.turns(inventory, files.take))
            conversations += written > 0
            skipped += not written
            turns += written
        with writing(self._db):
            self._trash.restore(number)
        return Imported(conversations, turns, skipped, files.missing)

    def _put(self, conversation: _ImportedConversation, number: int, turns: Iterator[Turn]) -> int:
        """Write the turns of one conversation. Return their number."""
        identity, written = encodable(conversation.id) or uuid.uuid4().hex, 0
        begin = "INSERT OR IGNORE INTO conversations (id, started, title, pinned) VALUES (?,?,?,?)"
        batch: list[Turn] = []
        for turn in turns:
            if not self._is_there("turns", turn.id) and turn.id not in {one.id for one in batch}:
                batch.append(turn)
            if len(batch) == BATCH_TURNS:
                written += self._put_batch(identity, conversation, begin, batch, number)
        return written + self._put_batch(identity, conversation, begin, batch, number)

    def _put_batch(
        self,
        identity: str,
        conversation: _ImportedConversation,
        begin: str,
        batch: list[Turn],
        number: int,
    ) -> int:
        if not batch:
            return 0
        title = encodable(one_line(conversation.title, limit=MAX_TITLE_CHARS)) or title_of(batch[0])
        first = (identity, batch[0].started.isoformat(), title, int(conversation.pinned))
        with writing(self._db) as db:
            self._trash.touch(number, self._now())
            db.execute(begin, first)
            for turn in batch:
                self._rows.write(identity, turn, trash=number)
        written = len(batch)
        batch.clear()
        return written

    def _is_there(self, table: str, identity: str) -> bool:
        find = f"SELECT 1 FROM {table} WHERE id = ?"  # noqa: S608
        return bool(self._db.execute(find, (encodable(identity),)).fetchone())


def _document(path: Path) -> dict[str, Any]:
    shown = one_line(path.name)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(tr("{shown} is not a file.", shown=shown))
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(tr("{shown} is not a file.", shown=shown))
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is not a file name").lower()
        raise InputError(
            tr("{shown} cannot be read: {reason}.", shown=shown, reason=reason)
        ) from error
    if len(content) > MAX_BYTES:
        raise InputError(
            tr(
                "{shown} is larger than {most_bytes} MB.",
                shown=shown,
                most_bytes=MAX_BYTES // 1024**2,
            ),
            hint=tr("Export less at a time."),
        )
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _refused("It is not JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refused("It does not have the format of an export")
    if document.get("version") != VERSION:
        raise InputError(tr("This history was exported by another version of JARVIS Desktop."))
    return document


def _conversations(document: dict[str, Any]) -> list[_ImportedConversation]:
    try:
        return [_conversation(mapping(item)) for item in entries(document, "conversations")]
    except DamagedError as error:
        raise _refused(str(error)) from error


def _conversation(entry: dict[str, Any]) -> _ImportedConversation:
    identity = "" if entry.get("id") == "" else name(entry, "id")
    if is_private(identity):
        raise DamagedError(tr("It contains a private conversation."))
    pinned, title = entry.get("pinned") is True, text(entry, "title")
    return _ImportedConversation(identity, title, pinned, entries(entry, "turns"))


def _refused(why: str) -> InputError:
    return InputError(
        tr("JARVIS did not export this file. {rstrip}.", rstrip=why.rstrip(".")),
        hint=tr("Choose a file that was exported as JSON."),
    )


def _is_absolute(path: str) -> bool:
    return Path(path).is_absolute() or bool(PureWindowsPath(path).drive)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise _refused("It names a file that cannot be") from error
