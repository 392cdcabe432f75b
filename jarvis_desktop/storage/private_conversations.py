"""Conversations that are not to be kept: their turns lie in memory, their files in a folder that
goes with them. Should the program be killed, the next start removes the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_conversation, unkept_id, works_unkept
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, LogEntry
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.conversations import Conversations
from jarvis_desktop.storage.database import in_memory
from jarvis_desktop.storage.export import ExportedConversation
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.journal import Owners
from jarvis_desktop.storage.turn_rows import TurnRows

if TYPE_CHECKING:
    from jarvis_desktop.storage.sqlite import Database

FOLDER = ".files"
"""Ends the name of the folder of a process, which else is that of its lock."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one conversation lies while it is open."""

    db: Database
    folder: Path
    store: FileStore
    conversations: Conversations
    goals: SqliteGoalMemory


class Unkept:
    """The open conversations of this process that are not to be kept.

    Used from one thread, but for the stores and folders, which any thread may have.
    """

    def __init__(self, root: Path, inventory: Mapping[str, TaskType]) -> None:
        """`root` has a folder for each process that has such conversations."""
        self._root = root
        self._inventory = inventory
        self._owners = Owners(root)
        self._places: dict[str, _Place] = {}

    def begin(self) -> str:
        """Make room for a new one, and give its id. Raises StorageError."""
        name = unkept_id()
        own = self._owners.own(lambda: [path.stem for path in self._folders()])
        folder = self._root / f"{own}{FOLDER}" / name
        store = FileStore(folder)
        db = in_memory()
        rows = TurnRows(db, folder.absolute(), self._inventory)
        self._places[name] = _Place(
            db, folder, store, Conversations(db, rows), SqliteGoalMemory(db, rows)
        )
        return name

    def forget(self, conversation_id: str) -> None:
        """Let nothing be left of one; an id that is not known is no error."""
        if place := self._places.pop(conversation_id, None):
            place.db.close()
            remove(place.folder)

    def close(self) -> None:
        """Let nothing be left of any."""
        for name in list(self._places):
            self.forget(name)
        self.sweep()
        self._owners.close()

    def sweep(self) -> None:
        """Remove what processes left behind that were killed, and this one's folder once empty."""
        for folder in self._folders():
            if self._owners.has_ended(folder.stem) or (
                not self._places and folder.stem == self._owners.name
            ):
                remove(folder)

    def conversations(self, conversation_id: str) -> Conversations:
        """Where a conversation lies. Raises InputError once it is closed."""
        return self._place(conversation_id).conversations

    def entries(self, ids: Sequence[str]) -> Sequence[ExportedConversation]:
        """Conversations as they are written out: without their ids, so that who reads them in may
        keep them. Raises InputError where one is closed."""
        found = (entry for name in ids for entry in self.conversations(name).entries([name]))
        return [replace(entry, conversation=replace(entry.conversation, id="")) for entry in found]

    def holds(self, path: Path) -> bool:
        """Whether this is a file of an open conversation."""
        store = self.store_of(path)
        return store is not None and store.holds(path)

    @property
    def store(self) -> FileStore:
        """The files of the conversation that the running code works for."""
        return self._place(current_conversation.get()).store

    @property
    def goals(self) -> SqliteGoalMemory:
        """The goals of the conversation that the running code works for."""
        return self._place(current_conversation.get()).goals

    @property
    def folder(self) -> Path:
        """For whatever else the running code puts on the disk."""
        return self._place(current_conversation.get()).folder

    def store_of(self, path: Path) -> FileStore | None:
        """The store of an open conversation that this path lies in."""
        places = list(self._places.values())
        return next((item.store for item in places if path.is_relative_to(item.folder)), None)

    def _place(self, conversation_id: str) -> _Place:
        if place := self._places.get(conversation_id):
            return place
        raise InputError(tr("This conversation is closed, and nothing of it was kept."))

    def _folders(self) -> Sequence[Path]:
        return list(self._root.glob(f"*{FOLDER}"))


class UnkeptStore(FileStore):
    """The artifact store, which puts the files of conversations that are not to be kept aside."""

    def __init__(self, root: Path, unkept: Unkept) -> None:
        super().__init__(root)
        self._unkept = unkept

    def take_in(self, path: Path) -> Artifact:
        """Check a person's file and copy it in."""
        if not works_unkept():
            return super().take_in(path)
        taken = self._unkept.store.take_in(path)
        return replace(taken, source=None) if path.is_relative_to(self._root) else taken

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path."""
        if not works_unkept() or (artifact.path and super().holds(artifact.path)):
            return super().keep(artifact)
        return self._unkept.store.keep(artifact)

    def hand_out(self, artifact: Artifact, *, locked: bool = False) -> Path:
        """A copy; that of a file which is not to be kept goes with its conversation."""
        store = self._unkept.store_of(artifact.path) if artifact.path else None
        if store is None:
            return super().hand_out(artifact, locked=locked)
        return store.hand_out(artifact, locked=locked)

    def workdir(self) -> Path:
        """A new, empty folder for one call."""
        return self._unkept.store.workdir() if works_unkept() else super().workdir()

    def discard(self, workdir: Path) -> None:
        """Remove such a folder; that of a conversation which is closed is gone already."""
        if store := self._unkept.store_of(workdir):
            store.discard(workdir)
        elif workdir.is_relative_to(self._root):
            super().discard(workdir)

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a file that was taken in or kept."""
        return self._unkept.holds(path) or super().holds(path)


class UnkeptGoals(SqliteGoalMemory):
    """The memory of goals, which leaves those of conversations aside that are not to be kept."""

    def __init__(self, db: Database, rows: TurnRows, unkept: Unkept) -> None:
        super().__init__(db, rows)
        self._unkept = unkept

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        """Write a new goal down."""
        if works_unkept():
            self._unkept.goals.begin(goal, frames)
        else:
            super().begin(goal, frames)

    def goal(self, goal_id: str) -> Goal | None:
        """One goal."""
        return self._unkept.goals.goal(goal_id) if works_unkept() else super().goal(goal_id)

    def frames(self, goal_id: str) -> tuple[ControllerFrame, ...]:
        """Its controllers."""
        return self._unkept.goals.frames(goal_id) if works_unkept() else super().frames(goal_id)

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        """Write the stack and what was done."""
        if works_unkept():
            self._unkept.goals.keep(goal_id, frames, entries)
        else:
            super().keep(goal_id, frames, entries)

    def log(self, goal_id: str, *, path: str = "", after: int = 0) -> tuple[LogEntry, ...]:
        """Its entries, oldest first."""
        if works_unkept():
            return self._unkept.goals.log(goal_id, path=path, after=after)
        return super().log(goal_id, path=path, after=after)

    def end(self, goal_id: str, status: Status, answer: str) -> None:
        """Write down that it is over."""
        if works_unkept():
            self._unkept.goals.end(goal_id, status, answer)
        else:
            super().end(goal_id, status, answer)
