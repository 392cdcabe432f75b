from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage import search
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.search import TurnFilters, expression, marks
from jarvis_desktop.text.tokens import INDEX_MARK
from tests.storage.samples import INVENTORY, START, full_turn, small_turn, stored_file


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield real
    real.close()


def ids(history: SqliteHistory, words: str) -> list[str]:
    return [found.turn_id for found in history.search(words)]


def test_all_words_count_in_any_order_and_case_and_the_last_may_be_a_beginning(
    history: SqliteHistory,
):
    history.save("c", small_turn("t1", "Turn the photo into a pencil sketch"))
    history.save("c", small_turn("t2", "Rotate the photo"))
    assert ids(history, "photo") == ["t2", "t1"]
    assert ids(history, "SKETCH phot") == ["t1"]
    assert ids(history, "ske photo") == []
    assert ids(history, "penc") == ["t1"]


def test_answers_results_and_file_names_are_found(history: SqliteHistory):
    given = Artifact(Kind.IMAGE, path=Path("/x/receipt-7.png"), name="receipt-7.png")
    result = TaskResult(1, Status.DONE, (text_artifact("Total: 12 guilders"),))
    turn = Turn("t1", START, "what is it", attachments=(given,), results={1: result})
    history.save("c", turn)
    history.save("c", small_turn("t2", reply="Nothing to see."))
    assert ids(history, "receipt-7.png") == ids(history, "guilders") == ["t1"]
    assert ids(history, "nothing") == ["t2"]


def test_accents_do_not_matter(history: SqliteHistory):
    history.save("c", small_turn("t1", "Übersetze das Menü"))
    assert ids(history, "ubersetze menu") == ids(history, "MENÜ") == ["t1"]


def test_scripts_without_spaces_and_emoji_are_found(history: SqliteHistory):
    history.save("c", small_turn("t1", "明日の天気を教えてください"))
    history.save("c", small_turn("t2", "party 🎉 100%_done"))
    assert ids(history, "天気") == ["t1"]
    assert ids(history, "🎉") == ["t2"]
    assert ids(history, "🎉 100%") == ["t2"]
    assert ids(history, "🎉 party") == ids(history, "100 🎉") == ["t2"]
    assert ids(history, "天教") == ids(history, "🎉 天") == []


def test_a_snippet_shows_the_place_on_one_line(history: SqliteHistory):
    text = "filler\n" * 300 + "the needle\nis here " + "filler\n" * 300
    history.save("c1", small_turn("t1", text))
    history.save("c2", small_turn("t2", "言葉" * 200 + "針" + "言葉" * 200))
    [found] = history.search("needle")
    assert (found.turn_id, found.conversation_id, found.started) == ("t1", "c1", START)
    assert "the needle is here" in found.snippet
    assert len(found.snippet) < 400
    [other] = history.search("針")
    assert other.snippet == "…" + "言葉" * 15 + "針" + "言葉" * 64 + "言…"
    assert [other.snippet[start:end] for start, end in other.spots] == ["針"]


def test_the_limit_holds(history: SqliteHistory):
    for number in range(9):
        history.save("c", small_turn(f"t{number}", "same ö"))
    assert ids(history, "same")[:2] == ["t8", "t7"]
    assert len(history.search("same", limit=3)) == 3


HOSTILE = (
    '"', '""', '"a', "'", "AND", "OR OR", "NOT", "NEAR(", "NEAR(a b, 2)", "a AND", "*", "a*b", "^a",
    "request:x", "-x", "(", ")", "{a b}:c", "a + b", "\0", "a\0b", "\udcff", "%", "_", "\\", ";--",
    "' OR 1=1 --", "\n\t", " ", "", "a" * 100_000, "a " * 10_000, '" OR "', "²", "ß" * 3000, "。",
)  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_no_words_are_syntax(history: SqliteHistory, words: str):
    history.save("c", small_turn("t1", "plain text with more"))
    assert history.search(words) == ()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=300,
    deadline=None,
)
@given(st.text(max_size=60) | st.text(alphabet='"*^():{}+-,ANDORNEAT \\%_', max_size=40))
def test_any_words_give_an_answer(history: SqliteHistory, words: str):
    assert isinstance(history.search(words), tuple)


def test_signs_within_words_are_no_syntax(history: SqliteHistory):
    history.save("c", small_turn("t1", 'They say "hi" * and (nothing) more'))
    assert ids(history, 'say "hi" *') == ["t1"]
    assert ids(history, "(nothing)") == ["t1"]
    assert ids(history, 'say "ho" *') == []


def test_what_was_asked_for_comes_before_what_was_answered_and_new_before_old(
    history: SqliteHistory,
):
    year = 365 * 24 * 60
    for name, text, reply, minutes in (
        ("asked long ago", "a sonnet please", "x", -year),
        ("asked", "a sonnet please", "x", -60),
        ("begun", "three sonnets please", "x", -50),
        ("answered", "a poem", "This is a sonnet", -10),
    ):
        history.save(name, small_turn(name, text, reply=reply, minutes=minutes))
    assert ids(history, "sonnet") == ["asked", "begun", "asked long ago", "answered"]


def test_finds_come_in_pages_with_the_title_of_their_conversation(history: SqliteHistory):
    for number in range(7):
        history.save(f"c{number}", small_turn(f"t{number}", "the same", minutes=number))
    history.rename("c6", "My own title")
    first = history.search("same", 3)
    assert [found.turn_id for found in first] == ["t6", "t5", "t4"]
    assert [found.title for found in first] == ["My own title", "the same", "the same"]
    assert [found.turn_id for found in history.search("same", 3, skip=3)] == ["t3", "t2", "t1"]
    assert history.search("same", 3, skip=99) == ()


def test_however_many_are_found_each_comes_once(
    history: SqliteHistory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(search, "BLOCK_HITS", 4)
    for number in range(11):
        history.save("c", small_turn(f"t{number}", "the same", minutes=number))
    newest = [f"t{number}" for number in reversed(range(11))]
    assert [found.turn_id for found in history.search("same", 99)] == newest
    for skip in range(12):
        page = [found.turn_id for found in history.search("same", 3, skip=skip)]
        assert page == newest[skip : skip + 3]


def test_the_spots_are_what_was_found(history: SqliteHistory):
    text = "<b>Größe</b> und GROSSE Größen: größer, receipt-7.png 天気"
    history.save("c", small_turn("t", text))
    for words, spots in (
        ("grö", ["Grö", "GRO", "Grö", "grö"]),
        ("grosse", ["GROSSE"]),
        ("receipt 7", ["receipt", "7"]),
        ("receipt-7.p", ["receipt-7.p"]),
        ("天", ["天"]),
    ):
        [hit] = history.search(words)
        assert [hit.snippet[start:end] for start, end in hit.spots] == spots
    [hit] = history.search("und größ")
    assert [hit.snippet[start:end] for start, end in hit.spots] == ["Größ", "und", "Größ", "größ"]


def everything(history: SqliteHistory, **filters: object) -> set[str]:
    found = history.search("", 99, filters=TurnFilters(**filters))  # type: ignore[arg-type]
    return {item.turn_id for item in found}


def test_filters_narrow_a_search(history: SqliteHistory, tmp_path: Path):
    given, made = stored_file(tmp_path, "abc.png"), stored_file(tmp_path, "cde.wav")
    history.save("c1", full_turn("full", given, made))
    history.save("c1", small_turn("plain", "Read this as well", minutes=60 * 24 * 40))
    history.save("c2", small_turn("other", minutes=60 * 24 * 400))
    assert everything(history) == set()
    assert everything(history, kind=Kind.IMAGE) == everything(history, kind=Kind.AUDIO) == {"full"}
    assert everything(history, kind=Kind.VIDEO) == set()
    assert everything(history, attached=True) == {"full"}
    assert everything(history, experts=("builtin/read",)) == {"full"}
    assert everything(history, experts=("builtin/sum-up",)) == set(), "it failed"
    assert everything(history, experts=("builtin/read", "x")) == {"full"}
    assert history.experts() == ("builtin/read", "builtin/speak")
    history.pin_turn("other", pinned=True)
    assert everything(history, pinned=True) == {"other"}
    history.pin("c1", pinned=True)
    assert everything(history, pinned=True) == {"full", "plain", "other"}
    history.pin_turn("other", pinned=False)
    assert everything(history, pinned=True) == {"full", "plain"}
    found = history.search("read", filters=TurnFilters(attached=True))
    assert [item.turn_id for item in found] == ["full"]


DAYS = [START.date() + timedelta(days=days) for days in range(0, 800, 37)]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.dates(date(2025, 11, 1), date(2028, 9, 1)), st.dates(date(2025, 11, 1), date(2028, 9, 1)))
def test_a_range_of_days_lets_pass_just_these(since: date, until: date):
    def marked(day: date) -> set[str]:
        turn = Turn("t", datetime(day.year, day.month, day.day, 12, tzinfo=UTC))
        return set(marks(turn, "c").split())

    query = expression(TurnFilters(since=since, until=until), ())
    wanted = set(query.strip("()").split(" OR "))
    assert len(wanted) < 100
    for day in DAYS:
        assert bool(marked(day) & wanted) == (since <= day <= until)


def test_days_without_an_end_reach_as_far_as_any_history(history: SqliteHistory):
    history.save("c", small_turn("t"))
    day = START.date()
    for found, filters in (
        ({"t"}, {"since": day}),
        ({"t"}, {"until": day}),
        (set(), {"since": day + timedelta(days=1)}),
        (set(), {"until": day - timedelta(days=1)}),
        (set(), {"since": day, "until": day - timedelta(days=1)}),
    ):
        assert everything(history, **filters) == found


def test_marks_are_not_to_be_searched_for(history: SqliteHistory):
    history.save("c", small_turn("t", "hello"))
    for words in (
        INDEX_MARK,
        f"{INDEX_MARK}a",
        f"{INDEX_MARK}y2026",
        f"hello {INDEX_MARK}y2026",
        "y2026",
        "signs",
        "marks",
    ):
        assert ids(history, words) == [] or words == f"hello {INDEX_MARK}y2026"


def test_the_index_of_before_is_made_anew_with_all_that_was_in_it(tmp_path: Path):
    """What an earlier version wrote: no column, table or index of today's steps."""
    given, made = stored_file(tmp_path, "abc.png"), stored_file(tmp_path, "cde.wav")
    path = tmp_path / "history.db"

    def opened() -> SqliteHistory:
        return SqliteHistory(path, store_root=tmp_path, inventory=INVENTORY, now=lambda: START)

    new = opened()
    new.save("c1", full_turn("full", given, made))
    new.save("c2", small_turn("plain", "明日の天気", minutes=3))
    rows = new._db.execute("SELECT rowid, request, reply, results FROM search").fetchall()
    fresh = sorted(new._db.execute("SELECT rowid, marks FROM search").fetchall())
    execute = new._db.execute
    for trigger in ("turn_listed", "turn_unlisted", "turn_trashed"):
        execute(f"DROP TRIGGER {trigger}")
    for index in ("turns_trash", "turns_pinned", "conversations_listed", "conversations_latest"):
        execute(f"DROP INDEX {index}")
    for table, columns in (
        ("conversations", ("pinned", "newest", "last", "kept")),
        ("turns", ("pinned", "trash")),
    ):
        for column in columns:
            execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    execute("DROP TABLE trash")
    execute("DROP TABLE search")
    execute(
        "CREATE VIRTUAL TABLE search USING fts5(request, reply, results,"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )
    insert = "INSERT INTO search (rowid, request, reply, results) VALUES (?, ?, ?, ?)"
    new._db.executemany(insert, rows)
    execute("DELETE FROM _sqlite_migrations WHERE name IN ('pins_and_trash', 'search_with_marks')")
    new._db.commit()
    new.close()
    old = opened()
    assert old.open_conversation("c1").turns == (full_turn("full", given, made),)
    assert [(entry.id, entry.turns) for entry in old.list()] == [("c2", 1), ("c1", 1)]
    again = sorted(old._db.execute("SELECT rowid, marks FROM search").fetchall())
    assert [(row, set(marks.split())) for row, marks in again] == [
        (row, set(marks.split())) for row, marks in fresh
    ]
    assert ids(old, "fox") == ids(old, "f") == ["full"]
    assert ids(old, "天気") == ["plain"]
    assert (
        everything(old, kind=Kind.IMAGE) == everything(old, experts=("builtin/read",)) == {"full"}
    )
    old.delete(["c1"])
    assert old.size() == (1, 1)
    old._db.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    old.close()
