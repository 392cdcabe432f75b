"""What the person wants remembered, on the disk, for all conversations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Fact
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.unkept import works_unkept
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.database import reading, writing

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

MOST = 100
LONGEST = 300
"""Characters of a fact: all of them go into every prompt."""

_LIST = "SELECT number, text FROM facts ORDER BY number"


class FactRecords:
    """Implements Facts. Used from the thread that opened the database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self) -> tuple[Fact, ...]:
        """All facts, oldest first."""
        with reading():
            rows = self._db.conn.execute(_LIST).fetchall()
        return tuple(Fact(number, text) for number, text in rows)

    def add(self, text: str) -> Fact:
        """Write a fact durably, in the place of one that says the same.

        Raises InputError where it is empty, too long, or one too many, and in a conversation that
        is not to be kept.
        """
        if works_unkept():
            raise InputError(
                tr("Nothing of this conversation is kept, so this was not noted down either."),
                hint=tr("Say it in another conversation."),
            )
        text = one_line(encodable(text), limit=LONGEST + 1)
        if not _bare(text):
            raise InputError(tr("There is nothing to remember in that."))
        if len(text) > LONGEST:
            raise InputError(
                tr(
                    "That is too long to remember; the most is {longest} characters.",
                    longest=LONGEST,
                ),
                hint=tr("Say the main thing in a sentence."),
            )
        with writing(self._db) as db:
            rows = db.conn.execute(_LIST).fetchall()
            same = [number for number, other in rows if _bare(other) == _bare(text)]
            if len(rows) - len(same) >= MOST:
                raise InputError(
                    tr("I remember {most} things already, which is the most.", most=MOST),
                    hint=tr("Say “forget that …”, or use: jarvis-desktop memory remove."),
                )
            for number in same:
                db.conn.execute("DELETE FROM facts WHERE number = ?", (number,))
            row = db.conn.execute("INSERT INTO facts (text) VALUES (?)", (text,))
            return Fact(int(row.lastrowid or 0), text)

    def remove(self, number: int) -> None:
        """Delete a fact. Raises InputError where there is none of that number."""
        with writing(self._db) as db:
            gone = db.conn.execute("DELETE FROM facts WHERE number = ?", (number,))
            if not gone.rowcount:
                raise InputError(tr("I remember nothing with the number {number}.", number=number))

    def clear(self) -> int:
        """Delete all facts; how many there were."""
        with writing(self._db) as db:
            return db.conn.execute("DELETE FROM facts").rowcount


def _bare(text: str) -> str:
    """The words alone, to tell what says the same."""
    return " ".join(re.findall(r"\w+", text.casefold()))
