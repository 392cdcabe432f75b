"""Turns, task types and files that the storage tests share."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_turn
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Spent, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Port, Ref, Task, TaskOption, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.artifacts import FileStore

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
READ = TaskType("read", "", (Port("image", (Kind.IMAGE, Kind.DOCUMENT)),), (Kind.TEXT,))
SUM = TaskType(
    "sum-up",
    "",
    (Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),),
    (Kind.TEXT,),
    (TaskOption("count", "", 3),),
)
SPEAK = TaskType("speak", "", (Port("text", (Kind.TEXT,)),), (Kind.AUDIO,))
INVENTORY = {kind.name: kind for kind in (READ, SUM, SPEAK)}


def attempt(task: str, error: str = "") -> Attempt:
    expert = Expert(f"builtin/{task}", task, revision="a" * 40)
    fault = Fault.ANSWER if error else Fault.OTHER
    return Attempt(Candidate(expert, "builtin"), 0.25, error, fault=fault)


SERVED = Attempt(
    Candidate(Expert("big", "sum-up", revision="b" * 40), "api", remote=True, provider="nearby"),
    1.5,
    "too short",
    fault=Fault.ANSWER,
    spent=Spent(2, 30, 0.00125),
)


def small_turn(turn_id: str, text: str = "hello", *, minutes: int = 0, reply: str = "Hi.") -> Turn:
    began = START + timedelta(minutes=minutes)
    return Turn(
        turn_id,
        began,
        text=text,
        reply=reply,
        status=Status.DONE,
        finished=began + timedelta(seconds=2),
    )


def full_turn(turn_id: str, given: Artifact, made: Artifact, *, minutes: int = 0) -> Turn:
    """A turn with all that is kept: `given` is attached and read, `made` is a result."""
    plan = Plan(
        (
            Task(1, READ, {"image": given}),
            Task(2, SUM, {"text": (Ref(1), "in short"), "count": 2}),
            Task(3, SPEAK, {"text": Ref(2)}, wanted=True),
        )
    )
    results = {
        1: TaskResult(
            1,
            Status.DONE,
            (text_artifact("The quick brown fox", made_by=1),),
            (attempt("read", "too dark"), attempt("read")),
        ),
        2: TaskResult(2, Status.FAILED, (), (SERVED,), "too short"),
        3: TaskResult(3, Status.DONE, (made,), (attempt("speak"),)),
    }
    return Turn(
        turn_id,
        START + timedelta(minutes=minutes),
        text="Read this scan and say it",
        heard_by="fake",
        attachments=(given,),
        plan=plan,
        results=results,
        notes=("a note", "ünother\nnote"),
        reply="Here you are.",
        status=Status.PARTLY,
        finished=START + timedelta(minutes=minutes, seconds=9),
        waited=3.5,
    )


def stored_file(root: Path, name: str, content: bytes = b"content") -> Artifact:
    """A file as it lies in the artifact store."""
    path = root / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    kind = Kind.IMAGE if name.endswith(".png") else Kind.AUDIO
    return Artifact(kind, path=path, name=f"my {name}", made_by=None)


def written(path: Path, content: bytes | str = "words") -> Path:
    """A file with this content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def in_store(tmp_path: Path) -> list[Path]:
    """Every file in the folder of the store."""
    return [path for path in (tmp_path / "store").rglob("*") if path.is_file()]


def mode(path: Path | None) -> int:
    """A file's permissions."""
    assert path is not None
    return stat.S_IMODE(path.stat().st_mode)


def made_by_expert(store: FileStore, name: str = "out.wav", content: bytes = b"x") -> Artifact:
    """A result in a work folder, not kept yet."""
    return Artifact(Kind.AUDIO, path=written(store.workdir() / name, content), made_by=1)


@contextmanager
def within_turn(turn_id: str) -> Iterator[None]:
    """Inside, the code runs for this turn."""
    token = current_turn.set(turn_id)
    try:
        yield
    finally:
        current_turn.reset(token)


def count(db: sqlite3.Connection, table: str) -> int:
    """How many rows a table has."""
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
