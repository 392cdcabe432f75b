"""Turns, plans and rounds as rows and JSON documents, and back.

Readers check each value that they know and ignore others: a file may be damaged, and a newer
version may write more. They raise DamagedError and nothing else. What matters only while a turn
runs is not saved.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.errors import Fault, PlanError
from jarvis_desktop.core.expert import (
    Attempt,
    Candidate,
    Expert,
    Selection,
    Spent,
    Status,
    TaskResult,
)
from jarvis_desktop.core.goal import CodeTerms, ControllerFrame, Outline, Terms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Resource
from jarvis_desktop.core.serialization import plan_from_wire, plan_to_wire
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.storage.search import marks
from jarvis_desktop.text.tokens import spell_runs

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from jarvis_desktop.storage.database import Database

log = logging.getLogger(__name__)

Values = Mapping[str, Any]
T = TypeVar("T")


class DamagedError(Exception):
    """The saved values are invalid."""


def text_of(values: object) -> str:
    """Encode values for the database."""
    return encodable(json.dumps(values, ensure_ascii=False))


def values_of(text: object) -> Any:
    """Decode values from the database."""
    try:
        return json.loads(text) if isinstance(text, str) else _damaged("text")
    except (ValueError, RecursionError) as error:
        raise DamagedError(tr("It is not JSON.")) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def encoded(value: Outline | ControllerFrame | Terms) -> Values:
    """Encode a plan, a controller, or what the user agreed to."""
    return asdict(value)


def decoded(kind: type[T], values: object) -> T:
    """Decode what `encoded` returned. Raises DamagedError."""
    from pydantic import ValidationError

    entry = mapping(values)
    for each in fields(kind):  # type: ignore[arg-type]
        if each.name not in entry:
            _damaged(each.name)
    try:
        value: T = _adapter(kind).validate_json(  # type: ignore[arg-type]
            json.dumps(entry), strict=True
        )
    except PlanError as error:
        raise DamagedError(error.message) from error
    except ValidationError as error:
        return cast("T", _damaged(str((error.errors()[0]["loc"] or ("text",))[0])))
    return value


def terms_of(values: object) -> Terms:
    """Decode what the user agreed to; if that fails, they are asked about everything."""
    try:
        return decoded(Terms, values)
    except DamagedError:
        return Terms(code=CodeTerms.ASK)


def round_values(item: Round, artifact_values: Callable[[Artifact], Values]) -> Values:
    """Encode a round."""
    return {
        "number": item.number,
        "path": item.path,
        "branch": item.branch,
        "what": item.what,
        "code": item.code,
        "printed": item.printed,
        "status": item.status and item.status.value,
        "observation": item.observation,
        "artifacts": [artifact_values(made) for made in item.artifacts],
        "seconds": item.seconds,
    }


def round_of(values: object, artifact: Callable[[dict[str, Any]], Artifact]) -> Round:
    """Decode a round."""
    entry = mapping(values)
    return Round(
        number(entry, "number"),
        text(entry, "path"),
        text(entry, "branch"),
        text(entry, "what"),
        text(entry, "code"),
        text(entry, "printed"),
        None if entry.get("status") is None else status_of(entry.get("status")),
        text(entry, "observation"),
        artifacts_of(entries(entry, "artifacts"), artifact),
        seconds_of(entry),
    )


def artifacts_of(
    values: object, artifact: Callable[[dict[str, Any]], Artifact]
) -> tuple[Artifact, ...]:
    """Decode artifacts, without damaged ones."""
    found = []
    for item in values if isinstance(values, list) else ():
        try:
            found.append(artifact(item))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(found)


def status_of(value: object) -> Status:
    """Decode a status; an unknown one is FAILED."""
    known = isinstance(value, str) and value in set(Status)
    return Status(str(value)) if known else Status.FAILED


def text(entry: Values, key: str) -> str:
    """Return a text of an entry."""
    value = entry.get(key)
    return value if isinstance(value, str) else _damaged(key)


def texts(entry: Values, key: str) -> tuple[str, ...]:
    """Return a list of texts of an entry."""
    items = entries(entry, key)
    return tuple(items) if all(isinstance(item, str) for item in items) else _damaged(key)


def number(entry: Values, key: str) -> int:
    """Return a whole number of an entry."""
    value = entry.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else _damaged(key)


def seconds_of(entry: Values, key: str = "seconds") -> float:
    """Return a duration; 0 if it is missing or invalid."""
    value = entry.get(key)
    known = isinstance(value, int | float) and 0 <= value < float("inf")
    return float(value) if known and value is not None else 0.0


def mapping(value: object) -> dict[str, Any]:
    """Return an object of the JSON."""
    return value if isinstance(value, dict) else _damaged("object")


def entries(entry: Values, key: str) -> list[Any]:
    """Return a list of an entry."""
    value = entry.get(key)
    return value if isinstance(value, list) else _damaged(key)


def _damaged(what: str) -> Any:
    raise DamagedError(tr("There is no valid {what}.", what=what))


OWN = ""
"""Stands for the path of the goal's own plan."""


def _agent_columns(turn: Turn, artifact_values: Callable[[Artifact], Values]) -> dict[str, object]:
    """Return the agent-mode columns of a turn."""
    plans = {OWN: turn.outline, **turn.inner_outlines}
    outlines = {path: encoded(item) for path, item in plans.items() if item is not None}
    rounds = [round_values(item, artifact_values) for item in turn.rounds.values()]
    return {
        "agentic": int(turn.agentic),
        "outline": text_of(outlines) if outlines else None,
        "rounds": text_of(rounds) if rounds else None,
    }


def _agent_fields(
    row: Mapping[str, Any], artifact: Callable[[dict[str, Any]], Artifact]
) -> dict[str, Any]:
    """Return the agent-mode fields of a row's turn, without unreadable ones."""
    plans, written = _read(values_of, row["outline"]), _read(values_of, row["rounds"])
    found = plans.items() if isinstance(plans, dict) else ()
    outlines = {
        path: outline for path, item in found if (outline := _read(partial(decoded, Outline), item))
    }
    rounds: list[Round | None] = [
        _read(lambda each: round_of(each, artifact), item)
        for item in (written if isinstance(written, list) else ())
    ]
    own: Outline | None = outlines.pop(OWN, None)
    return {
        "agentic": bool(row["agentic"]),
        "outline": own,
        "inner_outlines": outlines,
        "rounds": {item.number: item for item in rounds if item is not None},
    }


def _read(reader: Callable[[Any], Any], value: object) -> Any:
    try:
        return None if value is None else reader(value)
    except DamagedError as error:
        log.info("A plan or a round of a turn was not read: %s", error)
        return None


Row = dict[str, Any]

_RESOURCES = """
    SELECT artifacts.*, tasks.type
    FROM turns
    JOIN artifacts ON artifacts.turn = turns.number
    LEFT JOIN tasks ON tasks.turn = turns.number AND tasks.task_id = artifacts.task_id
    WHERE turns.conversation = ? AND turns.trash IS NULL AND (
        artifacts.task_id IS NULL
        OR CASE WHEN turns.agentic THEN artifacts.task_id = -1 ELSE NOT EXISTS (
            SELECT 1 FROM json_each(plan) AS step, json_each(step.value, '$.dep') AS used
            WHERE used.value = artifacts.task_id)
        OR EXISTS (
            SELECT 1 FROM json_each(plan) AS step
            WHERE json_extract(step.value, '$.id') = artifacts.task_id
            AND json_extract(step.value, '$.wanted')) END)
    ORDER BY turns.position, artifacts.task_id, artifacts.position
"""
"""Answers are results that no other task used, and wanted ones; in agent mode those of the last
round."""

_OVERTAKING = """
    SELECT min(position) FILTER (
        WHERE julianday(started) > julianday(?2)
        AND julianday(coalesce(finished, started)) <= julianday(?3)
        AND position > coalesce((
            SELECT position FROM recaps JOIN turns ON turns.id = through
            WHERE recaps.conversation = ?1), 0)
    ), coalesce(max(position), 0)
    FROM turns WHERE conversation = ?1
"""
"""The first turn that was asked after another one, and answered before it; turns of the summary are
not among them, or the other one would never be summarised. And the last position."""

ANSWER = -1
"""Stands for a task: its artifacts are those of the last round of agent mode."""


_EMPTIED = ("files", "artifacts", "attempts", "selections", "tasks", "turns", "conversations")
"""The tables of turns, each before those that it refers to."""


class TurnRows:
    """Writes and reads turns. Paths inside `root`, the artifact store, are saved relative to it."""

    def __init__(self, db: Database, root: Path, inventory: Mapping[str, TaskType]) -> None:
        self.db = db
        self.root = root
        self._inventory = inventory

    def write(self, conversation: str, turn: Turn, *, trash: int | None = None) -> None:
        """Write a turn; it replaces one with the same id. Needs an open transaction.

        With `trash` it is hidden until that deletion is undone.
        """
        number, position = self._place(conversation, turn)
        self._insert(
            "turns",
            number=number,
            id=turn.id,
            conversation=conversation,
            position=position,
            started=turn.started.isoformat(),
            finished=turn.finished and turn.finished.isoformat(),
            waited=turn.waited,
            status=turn.status and turn.status.value,
            text=turn.text,
            heard_by=turn.heard_by,
            reply=turn.reply,
            plan=self._plan_text(turn.plan),
            notes=json.dumps(turn.notes, ensure_ascii=False),
            pinned=int(turn.pinned),
            trash=trash,
            **_agent_columns(turn, self.artifact_values),
        )
        types = {task.id: task.type.name for task in turn.plan or ()}
        self._write_artifacts(number, None, turn.attachments)
        for result in turn.results.values():
            self._write_result(number, result, types.get(result.task_id, ""))
        if turn.agentic:
            self._write_artifacts(number, ANSWER, turn.artifacts)
        for task_id, reason in {item.task_id: item.reason for item in turn.selections}.items():
            self._insert("selections", turn=number, task_id=task_id, reason=reason)
        for path in sorted({path for item in _artifacts(turn) if (path := self.inner(item))}):
            self._insert("files", turn=number, path=path)
        words = _words_of(turn)
        self._insert(
            "search",
            rowid=number,
            request=turn.text,
            reply=turn.reply,
            results=words,
            signs=spell_runs("\n".join((turn.text, turn.reply, words))),
            marks=marks(turn, conversation),
        )

    def read(self, numbers: Sequence[int]) -> tuple[Turn, ...]:
        """Return the turns of these numbers, in order."""
        chosen = json.dumps(list(numbers))
        tasks = self._grouped("tasks", "task_id", chosen)
        attempts = self._grouped("attempts", "task_id, position", chosen)
        artifacts = self._grouped("artifacts", "task_id, position", chosen)
        reasons = self._grouped("selections", "task_id", chosen)
        turns = {row["number"]: row for row in self._select("turns", "number", "number", chosen)}
        return tuple(
            self._turn(
                turns[number], tasks[number], attempts[number], artifacts[number], reasons[number]
            )
            for number in numbers
        )

    def resources(self, conversation: str) -> tuple[Resource, ...]:
        """Return attachments and answers of a conversation's turns, oldest first."""
        rows = self.db.query(_RESOURCES, [encodable(conversation)])
        return tuple(
            Resource("", self.artifact(row), row["task_id"] is None, row["type"] or "")
            for row in rows
        )

    def remove(self, numbers: Sequence[int]) -> list[str]:
        """Delete turns and conversations left empty. Return the ids of the turns.

        Needs an open transaction. The index keeps the deleted words until its segments are merged.
        """
        execute = self.db.execute
        gone, places = [], set()
        for number in numbers:
            execute("DELETE FROM search WHERE rowid = ?", (number,))
            delete = "DELETE FROM turns WHERE number = ? RETURNING id, conversation"
            for turn, conversation in execute(delete, (number,)).fetchall():
                gone.append(str(turn))
                places.add(conversation)
        empty = (
            "DELETE FROM conversations WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = conversations.id)"
        )
        for conversation in places:
            execute(empty, (conversation,))
        return gone

    def clear(self) -> None:
        """Delete all turns and conversations. Needs an open transaction."""
        execute = self.db.execute
        for table in _EMPTIED:
            execute(f"DELETE FROM {table}")  # noqa: S608
        # Emptying the index row by row takes much longer than recreating it.
        (definition,) = execute("SELECT sql FROM sqlite_master WHERE name = 'search'").fetchone()
        execute("DROP TABLE search")
        execute(definition)

    def artifact_values(self, artifact: Artifact) -> Row:
        """Encode an artifact."""
        return {
            "kind": artifact.kind.value,
            "text": artifact.text,
            "path": artifact.path and self._stored(str(artifact.path)),
            "name": artifact.name,
            "made_by": artifact.made_by,
        }

    def artifact(self, row: Row) -> Artifact:
        """Decode an artifact."""
        path = self.root / row["path"] if row["path"] is not None else None
        return Artifact(Kind(row["kind"]), row["text"], path, row["name"], row["made_by"])

    def plan_values(self, plan: Plan) -> list[Row]:
        """Encode a plan."""
        return _with_paths(plan_to_wire(plan, whole=True), self._stored)

    def plan(self, values: list[Row]) -> Plan | None:
        """Decode a plan; None if current task types no longer fit it."""
        try:
            wire = _with_paths(values, lambda path: str(self.root / path))
            return plan_from_wire(wire, self._inventory)
        except PlanError:
            return None

    def _place(self, conversation: str, turn: Turn) -> tuple[int, int]:
        """Remove an earlier version and return its number and position; else return the next
        number, and the position by the order of asking."""
        execute = self.db.execute
        find = "SELECT number, position FROM turns WHERE id = ?"
        if old := execute(find, (encodable(turn.id),)).fetchone():
            execute("DELETE FROM search WHERE rowid = ?", (old[0],))
            execute("DELETE FROM turns WHERE number = ?", (old[0],))
            return int(old[0]), int(old[1])
        (number,) = execute("SELECT coalesce(max(number), 0) + 1 FROM turns").fetchone()
        place = encodable(conversation)
        times = turn.started.isoformat(), (turn.finished or turn.started).isoformat()
        (overtook, last) = execute(_OVERTAKING, (place, *times)).fetchone()
        if overtook is not None:
            # In two steps, because a position is never there twice.
            change = "UPDATE turns SET position = -position{} WHERE conversation = ? AND position"
            execute(f"{change.format(' - 1')} >= ?", (place, overtook))
            execute(f"{change.format('')} < 0", (place,))
        return int(number), int(last + 1 if overtook is None else overtook)

    def _write_result(self, number: int, result: TaskResult, name: str) -> None:
        self._insert(
            "tasks",
            turn=number,
            task_id=result.task_id,
            type=name,
            status=result.status.value,
            reason=result.reason,
        )
        for position, attempt in enumerate(result.attempts):
            self._insert(
                "attempts",
                turn=number,
                task_id=result.task_id,
                position=position,
                **attempt_values(attempt),
            )
        self._write_artifacts(number, result.task_id, result.artifacts)

    def _write_artifacts(
        self, number: int, task_id: int | None, artifacts: Iterable[Artifact]
    ) -> None:
        for position, artifact in enumerate(artifacts):
            self._insert(
                "artifacts",
                turn=number,
                task_id=task_id,
                position=position,
                **self.artifact_values(artifact),
            )

    def _insert(self, table: str, **values: object) -> None:
        # Table and columns are written in this file; only values come from outside.
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        clean = [encodable(item) if isinstance(item, str) else item for item in values.values()]
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", clean)  # noqa: S608

    def _select(self, table: str, column: str, order: str, chosen: str) -> Iterator[Row]:
        return self.db.query(
            f"SELECT * FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # noqa: S608
            f" ORDER BY {order}",
            [chosen],
        )

    def _grouped(self, table: str, order: str, chosen: str) -> defaultdict[int, list[Row]]:
        rows = defaultdict(list)
        for row in self._select(table, "turn", order, chosen):
            rows[row["turn"]].append(row)
        return rows

    def _turn(
        self,
        row: Row,
        tasks: list[Row],
        attempts: list[Row],
        artifacts: list[Row],
        reasons: list[Row],
    ) -> Turn:
        made = defaultdict(list)
        for entry in artifacts:
            made[entry["task_id"]].append(self.artifact(entry))
        tried = defaultdict(list)
        types = {entry["task_id"]: entry["type"] for entry in tasks}
        for entry in attempts:
            tried[entry["task_id"]].append(attempt_of(entry, types[entry["task_id"]]))
        results = {
            entry["task_id"]: TaskResult(
                entry["task_id"],
                Status(entry["status"]),
                tuple(made[entry["task_id"]]),
                tuple(tried[entry["task_id"]]),
                entry["reason"],
            )
            for entry in tasks
        }
        return Turn(
            id=row["id"],
            started=datetime.fromisoformat(row["started"]),
            text=row["text"],
            heard_by=row["heard_by"],
            attachments=tuple(made[None]),
            plan=self._plan(row["plan"]),
            # Only tried candidates are saved.
            selections=tuple(
                Selection(
                    entry["task_id"],
                    tuple(dict.fromkeys(item.candidate for item in tried[entry["task_id"]])),
                    entry["reason"],
                )
                for entry in reasons
            ),
            results=results,
            notes=tuple(json.loads(row["notes"])),
            reply=row["reply"],
            status=Status(row["status"]) if row["status"] else None,
            finished=datetime.fromisoformat(row["finished"]) if row["finished"] else None,
            waited=row["waited"],
            pinned=bool(row["pinned"]),
            **_agent_fields(row, self.artifact),
        )

    def _plan_text(self, plan: Plan | None) -> str | None:
        return None if plan is None else json.dumps(self.plan_values(plan), ensure_ascii=False)

    def _plan(self, text: str | None) -> Plan | None:
        return None if text is None else self.plan(json.loads(text))

    def _stored(self, path: str) -> str:
        inner = Path(path)
        return inner.relative_to(self.root).as_posix() if inner.is_relative_to(self.root) else path

    def inner(self, artifact: Artifact) -> str | None:
        """Return the path inside the store; None for a text and for files elsewhere."""
        if artifact.path is None or not artifact.path.is_relative_to(self.root):
            return None
        return self._stored(str(artifact.path))


def attempt_values(attempt: Attempt) -> Row:
    """Encode an attempt."""
    return {
        "expert": attempt.candidate.expert.id,
        "revision": attempt.candidate.expert.revision,
        "backend": attempt.candidate.backend,
        "seconds": attempt.seconds,
        "error": attempt.error,
        "fault": attempt.fault.value,
        "remote": attempt.candidate.remote,
        "provider": attempt.candidate.provider,
        "calls": attempt.spent.calls,
        "tokens": attempt.spent.tokens,
        "dollars": attempt.spent.dollars,
    }


def attempt_of(row: Row, task: str) -> Attempt:
    """Decode an attempt of a task of this type."""
    expert = Expert(row["expert"], task, revision=row["revision"])
    remote, provider = bool(row.get("remote")), row.get("provider", "")  # older journals lack them
    return Attempt(
        Candidate(expert, row["backend"], remote=remote, provider=provider),
        row["seconds"],
        row["error"],
        fault=Fault(row["fault"]),
        spent=Spent(row.get("calls", 0), row.get("tokens", 0), row.get("dollars")),
    )


def _artifacts(turn: Turn) -> Iterator[Artifact]:
    """Yield every artifact that a turn refers to."""
    yield from turn.attachments
    for result in turn.results.values():
        yield from result.artifacts
    for task in turn.plan or ():
        yield from (item for _, item in task.items() if isinstance(item, Artifact))
    for each in turn.rounds.values():
        yield from each.artifacts


def _words_of(turn: Turn) -> str:
    """Return the text to index besides request and reply."""
    made = [item for result in turn.results.values() for item in result.artifacts]
    made += [item for each in turn.rounds.values() for item in each.artifacts]
    words = [word for item in (*turn.attachments, *made) for word in (item.name, item.text)]
    words += [step.text for step in turn.outline or ()]
    return "\n".join(dict.fromkeys(word for word in words if word))


def _with_paths(wire: list[Row], change: Callable[[str], str]) -> list[Row]:
    """Return a plan's wire form with the path of each artifact changed."""
    return [
        {**task, "args": {name: _with_path(value, change) for name, value in task["args"].items()}}
        for task in wire
    ]


# Not nested in the function above: a recursive closure is a reference cycle, and a plan is read for
# each turn of a conversation.
def _with_path(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        return [_with_path(item, change) for item in value]
    if isinstance(value, dict) and value.get("path") is not None:
        return {**value, "path": change(value["path"])}
    return value
