"""The index of the code library: each version of each function as a sealed row.

A version is first written down, then its files are put in place, then it is kept: who is killed in
between has it finished by the next one who saves. The one before it becomes an older one, and a
newest row that says so shows that a newer one was taken away.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from jarvis_desktop.core.code import Draft, Function
from jarvis_desktop.storage.documents import text_of
from jarvis_desktop.storage.rows import Row
from jarvis_desktop.storage.sealing import Seals

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

_SEALED = (
    *("name", "version", "state", "source", "tests", "packages", "signature", "summary"),
    *("approved", "sha256", "source_sha256", "tests_sha256"),
)
_NEWEST = """
    SELECT * FROM library AS row WHERE state = 'kept' OR version =
        (SELECT max(version) FROM library WHERE name = row.name)
"""

_DROP = "DELETE FROM library WHERE name = ? AND version = ?"


class State(StrEnum):
    """How far a version is."""

    WRITING = "writing"
    KEPT = "kept"
    OLDER = "older"


@dataclass(frozen=True, slots=True)
class Entry:
    """A version as the index has it, with its seal checked."""

    function: Function
    state: State

    @property
    def contents(self) -> tuple[bytes, bytes]:
        """Of its module and of its tests."""
        draft = self.function.draft
        return draft.source.encode(), draft.tests.encode()

    @property
    def hashes(self) -> tuple[str, str]:
        """Of both files."""
        source, tests = self.contents
        return hashlib.sha256(source).hexdigest(), hashlib.sha256(tests).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """What the index has of one name: its versions, the newest last, and how many rows of it were
    changed; `newest` is whether the newest row is not one of those."""

    name: str
    entries: tuple[Entry, ...]
    changed: int
    newest: bool

    @property
    def standing(self) -> Entry | None:
        """The version that counts; None where it was changed or taken away, or is not there yet."""
        kept = [entry for entry in self.entries if entry.state is State.KEPT]
        last = self.entries[-1] if self.entries else None
        sound = self.newest and last is not None and last.state is not State.OLDER
        return kept[-1] if sound and kept else None

    @property
    def beginning(self) -> Entry | None:
        """The version that is being written."""
        found = [entry for entry in self.entries if entry.state is State.WRITING]
        return found[-1] if found else None

    @property
    def objection(self) -> str:
        """What is wrong with its rows, "" where nothing is."""
        if not self.newest:
            return "its entry in the index was changed"
        if self.standing is None and self.beginning is None:
            return "its newest version is gone from the index"
        return ""


class LibraryRows:
    """Reads and writes these rows, over any connection. What writes needs a transaction."""

    def __init__(self, seals: Seals) -> None:
        self._seals = seals

    def records(self, db: Database, name: str | None = None, *, whole: bool) -> list[Record]:
        """What there is of one name or of all, by name; with `whole` the older versions too."""
        self._seals.read_key()
        find = "SELECT * FROM library" if whole else _NEWEST
        rows = db.query(
            f"SELECT * FROM ({find}) WHERE :name IS NULL OR name = :name ORDER BY name, version",  # noqa: S608
            {"name": name},
        )
        found: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            found[str(row["name"])].append(row)
        return [self._record(*item) for item in found.items()]

    def begin(self, db: Database, function: Function) -> None:
        """Write down a version whose files come next. Rows of its name that were changed go."""
        for row in list(db.query("SELECT * FROM library WHERE name = ?", [function.name])):
            if not self._holds(row):
                db.conn.execute(_DROP, (row["name"], row["version"]))
        row = self._row(Entry(function, State.WRITING)) | {"used": function.used}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        insert = f"INSERT INTO library ({names}) VALUES ({marks})"  # noqa: S608
        db.conn.execute(insert, list(row.values()))

    def drop(self, db: Database, entry: Entry) -> None:
        """Forget a version whose files could not be written."""
        db.conn.execute(_DROP, (entry.function.name, entry.function.version))

    def settle(self, db: Database, record: Record, entry: Entry) -> None:
        """The files of a version are in place: it counts from now on."""
        for other in record.entries:
            if other.state is State.KEPT:
                self._move(db, other, State.OLDER)
        self._move(db, entry, State.KEPT)

    def _move(self, db: Database, entry: Entry, state: State) -> None:
        row = self._row(replace(entry, state=state))
        change = "UPDATE library SET state = ?, seal = ? WHERE name = ? AND version = ?"
        db.conn.execute(change, (row["state"], row["seal"], row["name"], row["version"]))

    def _record(self, name: str, rows: Iterable[Row]) -> Record:
        read = [self._entry(row) for row in rows]
        entries = tuple(entry for entry in read if entry is not None)
        return Record(name, entries, read.count(None), newest=read[-1] is not None)

    def _row(self, entry: Entry) -> Row:
        function, draft = entry.function, entry.function.draft
        row = {
            "name": draft.name,
            "version": function.version,
            "state": entry.state.value,
            "source": draft.source,
            "tests": draft.tests,
            "packages": text_of(draft.packages),
            "signature": function.signature,
            "summary": function.summary,
            "approved": function.approved.isoformat(),
            "sha256": draft.sha256,
            "source_sha256": entry.hashes[0],
            "tests_sha256": entry.hashes[1],
        }
        return row | {"seal": self._seals.of(list(row.values()))}

    def _holds(self, row: Row) -> bool:
        values = [row[column] for column in _SEALED]
        plain = all(isinstance(value, (str, int)) for value in values)
        return plain and self._seals.holds(row["seal"], values)

    def _entry(self, row: Row) -> Entry | None:
        """The version that was written so; None where the row was changed."""
        if not self._holds(row):
            return None
        packages = tuple(json.loads(row["packages"]))
        function = Function(
            Draft(row["name"], row["source"], row["tests"], packages),
            row["signature"],
            row["summary"],
            row["version"],
            datetime.fromisoformat(row["approved"]),
            row["used"] if isinstance(row["used"], int) else 0,
        )
        return Entry(function, State(row["state"]))
