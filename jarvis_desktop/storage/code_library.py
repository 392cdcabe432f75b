"""The code library: tested and approved functions, as a package on the disk with a signed index.

The index is in the history's database and has a signed row for each version of each function. A
version is recorded first, then its files are written, then it becomes current: after a kill in
between, the next save finishes it. The version before it becomes an older one; if the newest row is
an older one, the current one was removed by someone else. Anything that was changed outside is
refused.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.code import Function, FunctionDraft, described, objections
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.storage import code_files
from jarvis_desktop.storage.code_files import ModuleFiles, SealBrokenError, Seals
from jarvis_desktop.storage.code_search import Meaning, Nearest
from jarvis_desktop.storage.database import attached, reading, writing
from jarvis_desktop.storage.turn_rows import Row, text_of

if TYPE_CHECKING:
    from jarvis_desktop.storage.database import Database


_SEALED = (
    *("name", "version", "state", "source", "tests", "packages", "signature", "summary"),
    *("approved", "sha256", "source_sha256", "tests_sha256"),
)
_NEWEST = """
    SELECT * FROM library AS row WHERE state = 'kept' OR version =
        (SELECT max(version) FROM library WHERE name = row.name)
"""

_DROP = "DELETE FROM library WHERE name = ? AND version = ?"


class VersionState(StrEnum):
    """The state of a version."""

    WRITING = "writing"
    KEPT = "kept"
    OLDER = "older"


@dataclass(frozen=True, slots=True)
class LibraryVersion:
    """A version in the index, with a valid signature."""

    function: Function
    state: VersionState

    @property
    def contents(self) -> tuple[bytes, bytes]:
        """The content of its module and its tests."""
        draft = self.function.draft
        return draft.source.encode(), draft.tests.encode()

    @property
    def hashes(self) -> tuple[str, str]:
        """The hashes of both files."""
        source, tests = self.contents
        return hashlib.sha256(source).hexdigest(), hashlib.sha256(tests).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """The index entries of one name: its versions, the newest last, and the number of changed rows.

    `newest` is whether the newest row is unchanged.
    """

    name: str
    entries: tuple[LibraryVersion, ...]
    changed: int
    newest: bool

    @property
    def standing(self) -> LibraryVersion | None:
        """The current version; None if it was changed, removed, or not finished."""
        kept = [entry for entry in self.entries if entry.state is VersionState.KEPT]
        last = self.entries[-1] if self.entries else None
        sound = self.newest and last is not None and last.state is not VersionState.OLDER
        return kept[-1] if sound and kept else None

    @property
    def beginning(self) -> LibraryVersion | None:
        """The version that is being written."""
        found = [entry for entry in self.entries if entry.state is VersionState.WRITING]
        return found[-1] if found else None

    @property
    def objection(self) -> str:
        """What is wrong with its rows, or ""."""
        if not self.newest:
            return "its entry in the index was changed"
        if self.standing is None and self.beginning is None:
            return "its newest version is gone from the index"
        return ""


class LibraryRows:
    """Reads and writes the rows, over any connection. Writing needs a transaction."""

    def __init__(self, seals: Seals) -> None:
        self._seals = seals

    def records(self, db: Database, name: str | None = None, *, whole: bool) -> list[Record]:
        """Return the records of one name or of all; with `whole` including older versions."""
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
        """Record a version whose files follow, and remove changed rows of its name."""
        for row in list(db.query("SELECT * FROM library WHERE name = ?", [function.name])):
            if not self._holds(row):
                db.execute(_DROP, (row["name"], row["version"]))
        row = self._row(LibraryVersion(function, VersionState.WRITING)) | {"used": function.used}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        insert = f"INSERT INTO library ({names}) VALUES ({marks})"  # noqa: S608
        db.execute(insert, list(row.values()))

    def drop(self, db: Database, entry: LibraryVersion) -> None:
        """Remove a version whose files could not be written."""
        db.execute(_DROP, (entry.function.name, entry.function.version))

    def settle(self, db: Database, record: Record, entry: LibraryVersion) -> None:
        """Make a version current, once its files are written."""
        for other in record.entries:
            if other.state is VersionState.KEPT:
                self._move(db, other, VersionState.OLDER)
        self._move(db, entry, VersionState.KEPT)

    def _move(self, db: Database, entry: LibraryVersion, state: VersionState) -> None:
        row = self._row(replace(entry, state=state))
        change = "UPDATE library SET state = ?, seal = ? WHERE name = ? AND version = ?"
        db.execute(change, (row["state"], row["seal"], row["name"], row["version"]))

    def _record(self, name: str, rows: Iterable[Row]) -> Record:
        read = [self._entry(row) for row in rows]
        entries = tuple(entry for entry in read if entry is not None)
        return Record(name, entries, read.count(None), newest=read[-1] is not None)

    def _row(self, entry: LibraryVersion) -> Row:
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

    def _entry(self, row: Row) -> LibraryVersion | None:
        """Decode a version; None if the row was changed."""
        if not self._holds(row):
            return None
        packages = tuple(json.loads(row["packages"]))
        function = Function(
            FunctionDraft(row["name"], row["source"], row["tests"], packages),
            row["signature"],
            row["summary"],
            row["version"],
            datetime.fromisoformat(row["approved"]),
            row["used"] if isinstance(row["used"], int) else 0,
        )
        return LibraryVersion(function, VersionState(row["state"]))


class CodeLibrary:
    """Implements Library. Safe for several threads and processes."""

    def __init__(
        self,
        folder: Path,
        database: Path,
        *,
        now: Callable[[], datetime],
        meaning: Meaning | None = None,
    ) -> None:
        """`folder` has the package; the index and its key are beside the history in `database`.

        Without `meaning` functions are found by their words alone.
        """
        self._database = database
        self._files = ModuleFiles(folder)
        seals = Seals(database.with_name("library.key"))
        self._seals = seals
        self._rows = LibraryRows(seals)
        self._now = now
        self._nearest = Nearest(meaning)

    def list(self) -> tuple[Function, ...]:
        """Return all functions by name, without changed ones."""
        return tuple(entry.function for entry in self._look()[0])

    def search(self, words: str, most: int) -> tuple[Function, ...]:
        """Return the wanted number of functions, the nearest first, even if few words match."""
        functions = self.list()
        scores = self._nearest.scores(encodable(words)[:2000], functions, self._connected)
        score = dict(zip((item.name for item in functions), scores, strict=True))
        return tuple(sorted(functions, key=lambda item: (-score[item.name], item.name))[:most])

    def get(self, name: str) -> Function:
        """Return a function. Raises InputError if it does not exist, StorageError if it was
        changed."""
        good, bad = self._look(name)
        if bad:
            hint = tr("Remove it, then have it written again: jarvis-desktop code remove NAME")
            raise StorageError(bad[0], hint=hint)
        if not good:
            raise _unknown(name)
        return good[0].function

    def versions(self, name: str) -> tuple[Function, ...]:
        """Return all approved versions, the newest first, without changed ones."""
        with self._connected() as db:
            found = self._rows.records(db, encodable(name), whole=True)
        entries = (entry for item in found for entry in item.entries[::-1])
        return tuple(each.function for each in entries if each.state is not VersionState.WRITING)

    def save(self, draft: FunctionDraft, *, approved: str) -> Function:
        """Save a function durably; an identical one is not saved again.

        Raises InputError if it is not acceptable, StorageError if it cannot be written.
        """
        shown = one_line(draft.name)
        if approved != draft.sha256:
            raise InputError(
                tr("The code of “{shown}” is not the code that was agreed to.", shown=shown),
                hint=tr("It must be shown once more."),
            )
        if wrong := objections(draft):
            raise InputError(wrong[0])
        signature, summary = described(draft)
        with self._writing() as db:
            self._seals.make_key()
            self._settle(db)
            records = self._rows.records(db, draft.name, whole=True)
            good, _ = self._judged(records, everything=False)
            if good and good[0].function.draft.sha256 == approved:
                return good[0].function
            last = [entry.function for record in records for entry in record.entries][-1:]
            version, used = (last[0].version + 1, last[0].used) if last else (1, 0)
            function = Function(draft, signature, summary, version, self._now(), used)
            self._rows.begin(db, function)
        with self._writing() as db:
            failed = self._settle(db)
        if draft.name in failed:
            raise failed[draft.name]
        self._nearest.read([function], self._connected)
        return function

    def used(self, names: Collection[str]) -> None:
        """Count a use of each; unknown names are ignored."""
        if not names:
            return
        with self._writing() as db:
            # A version that is being written has a copy of the count and continues it.
            count = "UPDATE library SET used = used + 1 WHERE name = ? AND state <> 'older'"
            db.executemany(count, [(encodable(name),) for name in sorted(set(names))])

    def remove(self, name: str) -> None:
        """Remove a function with all versions, even a changed one."""
        clean = encodable(name)
        with self._writing() as db:
            if not self._rows.records(db, clean, whole=True):
                raise _unknown(name)
            # A name that could not be saved has no files.
            if clean.isidentifier():
                self._files.remove(clean)
            for table in ("library", "library_vectors"):
                db.execute(f"DELETE FROM {table} WHERE name = ?", (clean,))  # noqa: S608

    def lay_out(self, to: Path) -> tuple[str, ...]:
        """Write the package into a folder from verified bytes. Return what was refused, a
        sentence each."""
        good, bad = self._look()
        code_files.lay_out(to, {item.function.name: item.contents[0] for item in good})
        return tuple(bad)

    def damaged(self) -> tuple[str, ...]:
        """Return what is refused: functions, unknown files and versions, a sentence each."""
        with self._writing() as db:
            records = self._rows.records(db, whole=True)
            _, bad = self._judged(records, everything=True)
        versions = (
            f"An older version of “{one_line(item.name)}” is refused: its entry in the index was"
            " changed."
            for item in records
            if item.newest and item.changed
        )
        return (*bad, *versions)

    def _look(self, name: str | None = None) -> tuple[Sequence[LibraryVersion], Sequence[str]]:
        """Return the current versions, of one name or of all, and what is refused."""
        for connected in (self._connected, self._writing):
            with connected() as db:
                clean = None if name is None else encodable(name)
                records = self._rows.records(db, clean, whole=False)
                good, bad = self._judged(records, everything=name is None)
            if not bad:
                break  # else it is looked at again, while nobody is in the middle of saving
        return good, bad

    def _judged(
        self, records: Sequence[Record], *, everything: bool
    ) -> tuple[Sequence[LibraryVersion], Sequence[str]]:
        """Split records into usable versions and refusals, including unknown files if all are
        given."""
        good, bad = [], []
        try:
            there, folder = self._files.names(), ""
        except SealBrokenError as error:
            there, folder = frozenset(), str(error)
        for record in records:
            entry = record.standing
            reason = folder or record.objection or self._changed(record, there)
            if reason:
                bad.append(f"“{one_line(record.name)}” is refused: {reason}.")
            elif entry is not None:
                good.append(entry)
        if everything:
            known = [record.name for record in records]
            for file in self._files.strangers(there, known):
                bad.append(f"“{one_line(file)}” is refused: it does not belong to the library.")
        return good, bad

    def _changed(self, record: Record, there: Collection[str]) -> str:
        """Return what is wrong with the files of a function that has a current version."""
        versions = (record.standing, record.beginning)
        hashes = [entry.hashes for entry in versions if entry is not None]
        return self._files.objection(record.name, there, *hashes) if record.standing else ""

    def _settle(self, db: Database) -> Mapping[str, StorageError]:
        """Finish interrupted saves; return by name what failed and was dropped. Needs a
        transaction."""
        self._files.sweep()
        unfinished = db.query("SELECT DISTINCT name FROM library WHERE state = 'writing'")
        failed: dict[str, StorageError] = {}
        for name in [row["name"] for row in unfinished]:
            for record in self._rows.records(db, name, whole=True):
                entry = record.beginning
                if entry is None:  # its row was changed
                    continue
                try:
                    self._files.write(entry.function.name, entry.contents)
                    self._rows.settle(db, record, entry)
                except StorageError as error:
                    self._rows.drop(db, entry)
                    failed[entry.function.name] = error
        return failed

    @contextmanager
    def _connected(self) -> Iterator[Database]:
        with reading(), attached(self._database) as db:
            yield db

    @contextmanager
    def _writing(self) -> Iterator[Database]:
        """Exclude other writers, of the database and of the files."""
        with self._connected() as db, writing(db):
            yield db


def _unknown(name: str) -> InputError:
    return InputError(
        tr("The code library has no function “{name}”.", name=one_line(name)),
        hint=tr("See what it has: jarvis-desktop code list"),
    )
