"""Conversations: saved ones and their list, and private ones that are not saved.

The turns of a private conversation are in memory and its files in a folder that is removed with it.
If the program is killed, the next start removes the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import (
    current_conversation,
    in_private_conversation,
    is_private,
    private_id,
)
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Recap, Resource
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.database import Database, in_memory, reading, writing
from jarvis_desktop.storage.export import ExportedConversation
from jarvis_desktop.storage.journal import Owners
from jarvis_desktop.storage.search import PINNED
from jarvis_desktop.storage.turn_rows import TurnRows

RECENT_TURNS = 20
"""How many turns of a conversation a planner sees."""


def title_of(turn: Turn) -> str:
    """Return the title of a conversation that starts with this turn."""
    return _titled(turn.text)


def _titled(text: str) -> str:
    return encodable(one_line(text or "(spoken request)"))


class Conversations:
    """Implements core.ports.History for one database. Turns in the trash are hidden."""

    def __init__(
        self, rows: TurnRows, *, saved: Callable[[str], None] = lambda turn_id: None
    ) -> None:
        """`saved` is called with the id of each turn, within the transaction that writes it."""
        self._db = rows.db
        self._rows = rows
        self._saved = saved

    def open_conversation(self, conversation_id: str) -> Conversation:
        """Return the conversation of that id with its recent turns; an unknown id has none."""
        return Conversation(conversation_id, self.turns(conversation_id, limit=RECENT_TURNS))

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Save a finished turn durably. A conversation is called after the turn that was asked
        first, although a quick one may have overtaken it, unless the user has renamed it."""
        begin = """
            INSERT INTO conversations (id, started, title) VALUES (:id, :started, :title)
            ON CONFLICT (id) DO UPDATE SET started = :started, title = :title
            WHERE started > :started AND title = :overtaken
        """
        conversation_id = encodable(conversation_id)
        named = {"id": conversation_id, "started": turn.started.isoformat()}
        with writing(self._db) as db:
            named |= {"title": title_of(turn), "overtaken": self._first_title(conversation_id)}
            db.execute(begin, named)
            self._rows.write(conversation_id, turn)
            self._saved(turn.id)

    def _first_title(self, conversation_id: str) -> str:
        """What the conversation is called after its first saved turn; "" if there is none."""
        find = "SELECT text FROM turns WHERE conversation = ? ORDER BY position LIMIT 1"
        row = self._db.execute(find, (conversation_id,)).fetchone()
        return _titled(row[0]) if row else ""

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Update a saved turn. Return False if it no longer exists."""
        find = "SELECT pinned FROM turns WHERE id = ? AND trash IS NULL"
        with writing(self._db) as db:
            row = db.execute(find, (encodable(turn.id),)).fetchone()
            if row:
                turn = replace(turn, pinned=bool(row[0]))
                self._rows.write(encodable(conversation_id), turn)
        return row is not None

    def since(self, conversation_id: str, turn_id: str) -> tuple[Turn, ...]:
        """Return the turns after that one, oldest first; all if there is no such turn."""
        name = encodable(conversation_id)
        later = """
            SELECT number FROM turns
            WHERE conversation = ? AND trash IS NULL AND position > coalesce(
                (SELECT position FROM turns WHERE conversation = ? AND id = ?), 0)
            ORDER BY position
        """
        return self.read(later, name, name, encodable(turn_id))

    def resources(self, conversation_id: str) -> tuple[Resource, ...]:
        """Return attachments and results of its turns, oldest first, without names."""
        with reading():
            return self._rows.resources(conversation_id)

    def recap(self, conversation_id: str) -> Recap | None:
        """Return the saved summary of older turns; None once one of its turns was deleted."""
        find = """
            SELECT text, through FROM recaps WHERE conversation = :id AND NOT EXISTS
                (SELECT 1 FROM turns WHERE conversation = :id AND trash IS NOT NULL)
        """
        with reading():
            row = self._db.execute(find, {"id": encodable(conversation_id)}).fetchone()
        return Recap(*row) if row else None

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Replace the saved summary; nothing happens if its turn no longer exists."""
        values = {"conversation": conversation_id, "through": recap.through, "text": recap.text}
        with writing(self._db) as db:
            db.execute(
                "INSERT OR REPLACE INTO recaps (conversation, through, text)"
                " SELECT conversation, id, :text FROM turns"
                " WHERE conversation = :conversation AND id = :through AND trash IS NULL",
                {name: encodable(value) for name, value in values.items()},
            )

    def entries(self, ids: Iterable[str]) -> Iterator[ExportedConversation]:
        """Yield conversations and single turns for an export, by their whole ids."""
        find = "SELECT title, pinned FROM conversations WHERE id = ? AND kept"
        for name in ids:
            with reading():
                row = self._db.execute(find, (name,)).fetchone()
            if row:
                yield ExportedConversation(
                    Conversation(name, self.turns(name)), row[0], bool(row[1])
                )
            else:
                alone = "SELECT number FROM turns WHERE id = ? AND trash IS NULL"
                for turn in self.read(alone, name):
                    yield ExportedConversation(Conversation("", (turn,)), title_of(turn))

    def turns(self, conversation_id: str, *, limit: int = -1) -> tuple[Turn, ...]:
        """Return the newest turns, oldest first; all without a limit."""
        numbers = """
            SELECT number FROM turns WHERE conversation = ? AND trash IS NULL
            ORDER BY position DESC LIMIT ?
        """
        return self.read(numbers, encodable(conversation_id), limit)[::-1]

    def read(self, numbers: str, *parameters: object) -> tuple[Turn, ...]:
        """Return the turns whose numbers a query returns, in its order."""
        with reading():
            rows = self._db.execute(numbers, parameters).fetchall()
            return self._rows.read([row[0] for row in rows])


MAX_TITLE_CHARS = 120

_LISTED = """
    SELECT conversations.id, title, conversations.started, turns.started, kept,
        conversations.pinned
    FROM conversations JOIN turns ON turns.number = newest
    WHERE :before IS NULL OR (conversations.pinned, last, newest) <
        (SELECT pinned, last, newest FROM conversations WHERE id = :before)
    ORDER BY conversations.pinned DESC, last DESC, newest DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list: `turns` is their number, `last` the start of the newest one."""

    id: str
    title: str
    started: datetime
    last: datetime
    turns: int
    pinned: bool = False


class ConversationList:
    """Reads and changes the list of conversations. Turns in the trash are hidden."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, limit: int = 20, before: str | None = None) -> tuple[Summary, ...]:
        """Return the conversations, pinned ones first, then the last used; `before` continues
        after that id."""
        choice = {"before": before and encodable(before), "limit": limit}
        with reading():
            rows = self._db.execute(_LISTED, choice).fetchall()
        moment = datetime.fromisoformat
        return tuple(
            Summary(name, title, moment(started), moment(last), turns, bool(pinned))
            for name, title, started, last, turns, pinned in rows
        )

    def _last_used(self) -> tuple[str, datetime] | None:
        """Return the last used conversation and the end of its newest turn."""
        newest = """
            SELECT conversation, coalesce(finished, turns.started)
            FROM conversations JOIN turns ON turns.number = newest
            ORDER BY last DESC, newest DESC LIMIT 1
        """
        with reading():
            row = self._db.execute(newest).fetchone()
        return (str(row[0]), datetime.fromisoformat(row[1])) if row else None

    def resolve(self, prefix: str) -> tuple[str, str]:
        """Return "conversations" or "turns", and the whole id that starts with `prefix`.

        Raises InputError if none or more than one matches.
        """
        start = encodable(prefix)
        found = []
        with reading():
            for table, there in (("conversations", "kept"), ("turns", "trash IS NULL")):
                rows = self._db.execute(
                    f"SELECT id FROM {table} WHERE id >= ? AND substr(id, 1, ?) = ?"  # noqa: S608
                    f" AND {there} ORDER BY id LIMIT 2",
                    (start, len(start), start),
                ).fetchall()
                found += [(table, str(row[0])) for row in rows]
        exact = [entry for entry in found if entry[1] == start]
        shown = one_line(prefix)
        if not start or not found:
            raise InputError(tr("The history has nothing with the id '{shown}'.", shown=shown))
        if len(found) > 1 and len(exact) != 1:
            raise InputError(
                tr("The history has several things whose id begins with '{shown}'.", shown=shown)
            )
        return (exact or found)[0]

    def size(self) -> tuple[int, int]:
        """Return the number of conversations and of turns."""
        count = "SELECT count(*), coalesce(sum(kept), 0) FROM conversations WHERE kept"
        with reading():
            conversations, turns = self._db.execute(count).fetchone()
        return int(conversations), int(turns)

    def experts(self) -> tuple[str, ...]:
        """Return the ids of experts that did something, the most used first."""
        used = """
            SELECT expert FROM attempts WHERE error = ''
            GROUP BY expert ORDER BY count(*) DESC, expert
        """
        with reading():
            return tuple(str(row[0]) for row in self._db.execute(used).fetchall())

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title of a conversation. Raises InputError if it is empty."""
        clean = encodable(one_line(title, limit=MAX_TITLE_CHARS))
        if not clean:
            raise InputError(tr("A conversation needs a title."))
        self._change("title", clean, conversation_id)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Pin or unpin a conversation."""
        self._change("pinned", int(pinned), conversation_id)

    def pin_turn(self, turn_id: str, pinned: bool) -> None:
        """Pin or unpin a turn. Raises InputError for an unknown id."""
        change = "UPDATE turns SET pinned = ? WHERE id = ? AND trash IS NULL RETURNING number"
        with writing(self._db) as db:
            row = db.execute(change, (int(pinned), encodable(turn_id))).fetchone()
            if row is None:
                raise InputError(tr("This turn is not in the history."))
            (was,) = db.execute("SELECT marks FROM search WHERE rowid = ?", row).fetchone()
            marks = [mark for mark in was.split() if mark != PINNED] + [PINNED] * pinned
            change = "UPDATE search SET marks = ? WHERE rowid = ?"
            db.execute(change, (" ".join(marks), row[0]))

    def _change(self, column: str, value: object, conversation_id: str) -> None:
        change = f"UPDATE conversations SET {column} = ? WHERE id = ? AND kept"  # noqa: S608
        with writing(self._db) as db:
            if not db.execute(change, (value, encodable(conversation_id))).rowcount:
                raise InputError(tr("This conversation is not in the history."))


FOLDER = ".files"
"""The suffix of a process's folder; its stem is the name of the process's lock."""


@dataclass(frozen=True, slots=True)
class _PrivateConversation:
    """One open private conversation."""

    folder: Path
    store: FileStore
    rows: TurnRows
    conversations: Conversations


class PrivateConversations:
    """The open private conversations of this process.

    Used from one thread; only the stores and folders are thread-safe.
    """

    def __init__(self, root: Path, inventory: Mapping[str, TaskType]) -> None:
        """`root` has a folder for each process with private conversations."""
        self._root = root
        self._inventory = inventory
        self._owners = Owners(root)
        self._places: dict[str, _PrivateConversation] = {}

    def begin(self) -> str:
        """Create a private conversation and return its id. Raises StorageError."""
        name = private_id()
        own = self._owners.own(lambda: [path.stem for path in self._folders()])
        folder = self._root / f"{own}{FOLDER}" / name
        store = FileStore(folder)
        rows = TurnRows(in_memory(), folder.absolute(), self._inventory)
        self._places[name] = _PrivateConversation(folder, store, rows, Conversations(rows))
        return name

    def forget(self, conversation_id: str) -> None:
        """Remove all traces of one; an unknown id is ignored."""
        if place := self._places.pop(conversation_id, None):
            place.rows.db.close()
            remove(place.folder)

    def close(self) -> None:
        """Remove all traces of all of them."""
        for name in list(self._places):
            self.forget(name)
        self.sweep()
        self._owners.close()

    def sweep(self) -> None:
        """Remove what killed processes left behind, and this process's folder once empty."""
        for folder in self._folders():
            if self._owners.has_ended(folder.stem) or (
                not self._places and folder.stem == self._owners.name
            ):
                remove(folder)

    def conversations(self, conversation_id: str) -> Conversations:
        """Return the database of a conversation. Raises InputError once it is closed."""
        return self._place(conversation_id).conversations

    def entries(self, ids: Sequence[str]) -> Sequence[ExportedConversation]:
        """Return conversations for an export, without their ids so that an import can save them.

        Raises InputError if one is closed.
        """
        found = (entry for name in ids for entry in self.conversations(name).entries([name]))
        return [replace(entry, conversation=replace(entry.conversation, id="")) for entry in found]

    def holds(self, path: Path) -> bool:
        """Whether this is a file of an open private conversation."""
        store = self.store_of(path)
        return store is not None and store.holds(path)

    @property
    def store(self) -> FileStore:
        """The file store of the conversation that the running code works for."""
        return self._place(current_conversation.get()).store

    def current_rows(self) -> TurnRows | None:
        """Return the rows of the private conversation that the running code works for, if any."""
        name = current_conversation.get()
        return self._place(name).rows if is_private(name) else None

    @property
    def folder(self) -> Path:
        """The folder for other files of the running code."""
        return self._place(current_conversation.get()).folder

    def store_of(self, path: Path) -> FileStore | None:
        """Return the store of an open conversation that contains this path."""
        places = list(self._places.values())
        return next((item.store for item in places if path.is_relative_to(item.folder)), None)

    def _place(self, conversation_id: str) -> _PrivateConversation:
        if place := self._places.get(conversation_id):
            return place
        raise InputError(tr("This private conversation is closed; nothing of it was saved."))

    def _folders(self) -> Sequence[Path]:
        return list(self._root.glob(f"*{FOLDER}"))


class ConversationFileStore(FileStore):
    """The artifact store, which keeps files of private conversations apart."""

    def __init__(self, root: Path, private: PrivateConversations) -> None:
        super().__init__(root)
        self._private = private

    def take_in(self, path: Path) -> Artifact:
        """Check a user's file and copy it in."""
        if not in_private_conversation():
            return super().take_in(path)
        taken = self._private.store.take_in(path)
        return replace(taken, source=None) if path.is_relative_to(self._root) else taken

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path."""
        if not in_private_conversation() or (artifact.path and super().holds(artifact.path)):
            return super().keep(artifact)
        return self._private.store.keep(artifact)

    def hand_out(self, artifact: Artifact, *, locked: bool = False) -> Path:
        """Return a copy; that of a private file is removed with its conversation."""
        store = self._private.store_of(artifact.path) if artifact.path else None
        if store is None:
            return super().hand_out(artifact, locked=locked)
        return store.hand_out(artifact, locked=locked)

    def workdir(self) -> Path:
        """Create an empty folder for one call."""
        return self._private.store.workdir() if in_private_conversation() else super().workdir()

    def discard(self, workdir: Path) -> None:
        """Remove such a folder, unless its conversation is closed and it is gone."""
        if store := self._private.store_of(workdir):
            store.discard(workdir)
        elif workdir.is_relative_to(self._root):
            super().discard(workdir)

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a stored file."""
        return self._private.holds(path) or super().holds(path)
