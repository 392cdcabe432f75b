import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.storage import database, migrations
from jarvis_desktop.storage.database import connect, reading, writing
from tests.storage.samples import count

ROOT = Path(__file__).parents[2]


def schema(db: sqlite3.Connection) -> str:
    rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    return "\n".join(row[0] for row in rows.fetchall())


def pragma(db, name: str) -> object:
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def test_the_settings_that_make_it_durable(tmp_path: Path):
    db, moved = connect(tmp_path / "deep" / "history.db")
    assert moved is None
    names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
    assert [pragma(db, name) for name in names] == ["wal", 2, 1, 1, 1000]
    db.close()


def test_only_the_person_may_read_its_files(tmp_path: Path):
    db, _ = connect(tmp_path / "deep" / "history.db")
    with writing(db):
        db.execute("INSERT INTO timers VALUES ('a', 'tea', '2026-01-01')")
    files = sorted((tmp_path / "deep").iterdir())
    assert [path.name for path in files] == ["history.db", "history.db-shm", "history.db-wal"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
    db.close()


def test_opened_again_it_is_as_it_was(tmp_path: Path):
    db, _ = connect(tmp_path / "history.db")
    with writing(db):
        db.execute("INSERT INTO timers VALUES ('a', 'tea', '2026-01-01')")
    before = schema(db)
    db.close()
    db, moved = connect(tmp_path / "history.db")
    assert moved is None
    assert schema(db) == before
    assert db.execute("SELECT label FROM timers").fetchall() == [("tea",)]
    db.close()


def test_a_failed_transaction_leaves_nothing(tmp_path: Path):
    db, _ = connect(tmp_path / "history.db")
    rows = [("a", "tea", "2026-01-01"), ("a", "again", "2026-01-01")]
    with pytest.raises(StorageError), writing(db):
        db.executemany("INSERT INTO timers VALUES (?, ?, ?)", rows)
    assert count(db, "timers") == 0
    db.close()


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    match how:
        case "header":
            content[:100] = b"x" * 100
        case "text":
            content[:] = b"this is no database\n" * 500
        case "page":
            content[4096 * 3 : 4096 * 4] = bytes(4096)
        case "cut":
            del content[4096 * 5 :]
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["header", "text", "page", "cut"])
def test_a_damaged_file_is_kept_and_a_new_one_begun(tmp_path: Path, how: str):
    path = tmp_path / "history.db"
    connect(path)[0].close()
    for place in (1, 2):
        damage(path, how)
        damaged = path.read_bytes()
        path.with_name("history.db-wal").write_bytes(b"left over")
        db, moved = connect(path)
        assert moved is not None
        assert moved.name.startswith("history.db.corrupt-2")
        assert moved.read_bytes() == damaged
        assert count(db, "turns") == 0
        db.close()
        kept = [item for item in tmp_path.glob("history.db.corrupt-*") if "wal" not in item.name]
        assert len(kept) == place


def test_one_left_by_a_newer_version_is_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / "history.db"
    db, _ = connect(path)
    db.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
        ("jarvis_desktop", "from_the_future", "2030"),
    )
    db.commit()
    db.close()
    content = path.read_bytes()
    with pytest.raises(StorageError, match="newer version") as caught:
        connect(path)
    assert caught.value.hint
    assert path.read_bytes() == content
    assert [item.name for item in tmp_path.glob("history.db*")] == ["history.db"]


def test_an_older_one_gets_the_steps_it_lacks(tmp_path: Path):
    path = tmp_path / "history.db"
    db, _ = connect(path)
    db.execute("DROP TABLE timers")
    db.execute("DELETE FROM _sqlite_migrations WHERE name = 'timers'")
    db.commit()
    db.close()
    db, moved = connect(path)
    assert moved is None
    assert count(db, "timers") == 0
    db.close()


def test_a_step_that_fails_leaves_the_old_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.db"
    connect(path)[0].close()

    def step(db):
        db.executescript("CREATE TABLE half (a); CREATE TABLE timers (a);")

    monkeypatch.setattr(database, "STEPS", (*migrations.STEPS, step))
    with pytest.raises(StorageError, match="cannot be opened"):
        connect(path)
    monkeypatch.undo()
    db, moved = connect(path)
    assert moved is None
    assert "half" not in schema(db)
    db.close()


def test_a_place_where_no_database_can_be(tmp_path: Path):
    (tmp_path / "history.db").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "history.db", tmp_path / "file" / "history.db"):
        with pytest.raises(StorageError, match="cannot be opened") as caught:
            connect(path)
        assert caught.value.hint


def test_a_full_disk_is_told_when_opening(tmp_path: Path):
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from jarvis_desktop.core.errors import StorageError\n"
        "from jarvis_desktop.storage.database import connect\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "try: connect(Path(sys.argv[1]))\n"
        "except StorageError as error: print(error.message)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "history.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.startswith(f"The history at {tmp_path / 'history.db'} cannot be opened: ")
    assert done.stdout.count("\n") == 1


def test_an_empty_file_becomes_a_database(tmp_path: Path):
    (tmp_path / "history.db").touch()
    db, moved = connect(tmp_path / "history.db")
    assert moved is None
    assert count(db, "turns") == 0
    db.close()


def test_a_large_one_is_not_checked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.db"
    connect(path)[0].close()
    monkeypatch.setattr(database, "CHECKED_BYTES", 10)
    checked: list[object] = []
    monkeypatch.setattr(database, "_check", checked.append)
    connect(path)[0].close()
    assert checked == []


def test_a_locked_one_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    (one, _), (other, _) = (connect(tmp_path / "history.db") for _ in range(2))
    with writing(one), pytest.raises(StorageError, match="locked") as caught, writing(other):
        pass
    assert caught.value.retryable
    one.close()
    other.close()


def test_a_lock_that_is_gone_at_the_second_try_is_no_error(tmp_path: Path):
    (one, _), (other, _) = (connect(tmp_path / "history.db") for _ in range(2))
    other.execute("PRAGMA busy_timeout = 0").fetchall()
    tried: list[str] = []

    def trace(statement: str) -> None:
        if statement.startswith("BEGIN"):
            tried.append(statement)
            if len(tried) == 2:
                one.execute("ROLLBACK")

    one.execute("BEGIN IMMEDIATE")
    other.set_trace_callback(trace)
    with writing(other) as db:
        db.execute("INSERT INTO timers VALUES ('a', 'tea', '2026-01-01')")
    assert len(tried) == 2
    assert count(one, "timers") == 1
    one.close()
    other.close()


def test_a_disk_that_damages_the_new_one_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def damaged(db: object) -> None:
        raise database._DamagedError("bad")

    monkeypatch.setattr(database, "_check", damaged)
    with pytest.raises(StorageError, match="cannot be written") as caught:
        connect(tmp_path / "history.db")
    assert caught.value.hint


def test_damage_found_later_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.db"
    db, _ = connect(path)
    with writing(db):
        rows = [(str(number), "x" * 500, "2026-01-01") for number in range(200)]
        db.executemany("INSERT INTO timers VALUES (?, ?, ?)", rows)
    db.close()
    with path.open("r+b") as file:
        file.seek(-20 * 4096, os.SEEK_END)
        file.write(b"\xff" * 20 * 4096)
    monkeypatch.setattr(database, "CHECKED_BYTES", 0)
    db, _ = connect(path)
    with pytest.raises(StorageError, match="damaged") as caught, reading():
        db.execute("SELECT max(label) FROM timers").fetchall()
    assert caught.value.hint
    db.close()


def test_a_wrong_thread_is_our_mistake_and_stays_visible(tmp_path: Path):
    db, _ = connect(tmp_path / "history.db")
    errors: list[BaseException] = []

    def use() -> None:
        try:
            with writing(db):
                pass
        except sqlite3.ProgrammingError as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(errors) == 1
    db.close()


def test_several_processes_may_begin_it_at_once(tmp_path: Path):
    script = (
        "import sys; from pathlib import Path\n"
        "from jarvis_desktop.storage.database import connect\n"
        "import sqlite_utils; print('ready', flush=True); sys.stdin.readline()\n"
        "db, moved = connect(Path(sys.argv[1]))\n"
        "print(moved, db.execute('SELECT count(*) FROM turns').fetchone()[0])\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "history.db")]
    runs = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True, cwd=ROOT) for _ in range(4)]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    assert [run.communicate("go\n")[0] for run in runs] == ["None 0\n"] * 4
    assert [run.returncode for run in runs] == [0] * 4
