"""Searching: words, conditions, popularity, meaning; and an index that cannot be read."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.experts.hub import database
from jarvis_desktop.experts.hub import entry as terms
from jarvis_desktop.experts.hub import index as meaning
from jarvis_desktop.experts.hub.database import HubIndexWriter
from jarvis_desktop.experts.hub.entry import HubEntry, HubQuery, memory_half_mb, memory_mb
from jarvis_desktop.experts.hub.index import HubIndex
from tests.experts.hub.listed import entry, index

TASK = "text-classification"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


def names(path: Path, **wanted) -> list[str]:
    opened = HubIndex(path)
    found = opened.search(HubQuery(**{"tasks": (TASK,), **wanted}))
    opened.close()
    return [each.entry.repo.partition("/")[2] for each in found]


def sized(repo: str, megabytes: int, **more) -> HubEntry:
    numbers = megabytes * 1_000_000 // 2
    return entry(repo, safetensors={"parameters": {"F16": numbers}, "total": numbers}, **more)


def test_without_words_the_most_popular_of_the_task_come_first(path):
    entries = [entry(f"a/e{number}", downloads=10**number) for number in (3, 1, 6, 2, 5)]
    index(path, *entries, entry("a/other", "translation", downloads=10**9))
    assert names(path) == ["e6", "e5", "e3", "e2", "e1"]
    assert names(path, limit=2) == ["e6", "e5"]
    assert names(path, tasks=("translation",)) == ["other"]
    assert names(path, tasks=("fill-mask",)) == []
    assert names(path, tasks=(), limit=1) == ["other"]


def test_words_are_found_in_names_tags_languages_and_summaries(path):
    index(
        path,
        entry("a/plain", downloads=10**6),
        entry("a/finBERT-tone"),
        entry("a/b", tags=["legal"]),
        entry("a/c", tags=["sv"]),
        entry("a/d", cardData={"summary": "Sorts the reviews of restaurants."}),
        entry("a/qwen2.5-7b"),
    )
    for words, first in {
        "finbert tone": "finBERT-tone",
        "for a legal text": "b",
        "Swedish": "c",
        "review of a restaurant": "d",
        "qwen": "qwen2.5-7b",
    }.items():
        assert names(path, words=words)[0] == first, words
    assert names(path, words="zzz unheard")[0] == "plain"
    assert names(path, words="to the of")[0] == "plain"
    assert names(path, words='"; DROP TABLE -- * ^ ( NEAR')[0] == "plain"


def test_a_rare_word_tells_more_than_a_common_one(path):
    common = [entry(f"a/c{n}", tags=["chat"], downloads=10**6) for n in range(40)]
    index(path, *common, entry("a/rare", tags=["medieval"], downloads=1))
    assert names(path, words="chat medieval")[0] == "rare"


def test_every_condition_leaves_out_what_breaks_it(path):
    index(
        path,
        entry("a/usual", downloads=10),
        entry("a/gated", gated="manual"),
        entry("a/unsafe", tags=["gptq"]),
        entry("a/served", inferenceProviderMapping=[{"provider": "fal-ai", "status": "live"}]),
        sized("a/large", 60_000),
        sized("a/middling", 900),
        entry("a/unsized", safetensors=None),
        entry("a/french", tags=["fr"]),
        entry("a/all", tags=["multilingual"]),
    )
    everything = set(names(path, limit=99))
    assert len(everything) == 9
    assert everything - set(names(path, limit=99, gated=False)) == {"gated"}
    assert everything - set(names(path, limit=99, runs=True)) == {"unsafe"}
    assert set(names(path, limit=99, served=True)) == {"served"}
    assert everything - set(names(path, limit=99, size_mb=1000)) == {"large", "unsized"}
    assert everything - set(names(path, limit=99, size_mb=899)) == {"large", "unsized", "middling"}
    assert everything - set(names(path, limit=99, memory_mb=8000)) == {"large", "unsized"}
    assert set(names(path, limit=99, language="fr")) == {"french", "all"}
    assert names(path, runs=True, gated=False, size_mb=950, language="sv") == ["all"]


def test_licences_are_allowed_and_denied_by_patterns(path):
    licences = ["mit", "apache-2.0", "cc-by-nc-4.0", "cc-by-4.0", "llama3.1"]
    index(path, *(entry(f"a/{licence}", licence=licence) for licence in licences))
    assert set(names(path, allowed_licences=("MIT", "cc-by-*"))) == {
        "mit",
        "cc-by-nc-4.0",
        "cc-by-4.0",
    }
    assert set(names(path, denied_licences=("*-NC-*", "llama*"))) == {
        "mit",
        "apache-2.0",
        "cc-by-4.0",
    }
    assert names(path, allowed_licences=("gpl*",)) == []


def test_what_is_wanted_is_found_behind_many_that_are_not(path):
    popular = [entry(f"a/p{n}", tags=["chat"], gated="auto", downloads=10**6) for n in range(400)]
    large = [sized(f"a/l{n}", 40_000, tags=["chat"], downloads=10**5) for n in range(400)]
    index(path, *popular, *large, entry("a/mine", tags=["chat"], downloads=1))
    assert names(path, gated=False, memory_mb=4000) == ["mine"]
    assert names(path, gated=False, memory_mb=4000, words="chat") == ["mine"]


def test_what_has_all_of_several_common_words_is_found_behind_those_that_have_one(path):
    one = [entry(f"a/c{n}", tags=["chat"], downloads=10**6) for n in range(50)]
    two = [entry(f"a/l{n}", tags=["legal"], downloads=10**6) for n in range(50)]
    index(path, *one, *two, entry("a/both", tags=["chat", "legal"], downloads=63))
    assert names(path, words="legal chat")[0] == "both"


def test_the_end_of_the_top_is_the_end_of_a_class_of_popularity():
    # An entry that leaves the top is indexed anew because its class changes.
    assert database.popularity(terms.TOP_DOWNLOADS) < database.popularity(terms.TOP_DOWNLOADS - 1)


def test_needs_of_memory_follow_the_parameters():
    made = entry("a/b")  # 25 million in 32 bits
    assert memory_mb(made) == 700 + 110
    assert memory_half_mb(made) == 700 + 55
    assert memory_mb(entry("a/b", safetensors=None)) == 0


def directed(texts: Sequence[str]) -> list[list[float]]:
    """Three directions: of moods, of money, and neither."""
    return [
        [
            float(any(word in text for word in ("mood", "sentiment"))),
            float(any(word in text for word in ("money", "finance"))),
            0.2,
        ]
        for text in texts
    ]


def with_directions(path: Path, *entries: HubEntry) -> Path:
    index(path, *entries)
    with HubIndexWriter(path) as writer:
        number = writer.state(TASK).number
        with writer.transaction() as db:
            texts = meaning.missing(db, number, TASK)
            meaning.keep(db, number, texts, directed([text for _, text in texts]))
            assert meaning.missing(db, number, TASK) == []
    return path


def test_what_means_the_same_is_found_although_it_says_it_otherwise(path):
    plain = [entry(f"a/p{number}", downloads=10**6) for number in range(60)]
    with_directions(path, *plain, entry("a/s", tags=["sentiment"]), entry("a/f", tags=["finance"]))
    assert names(path, words="the mood of it")[0].startswith("p")
    opened = HubIndex(path, embed=directed)
    found = [opened.search(HubQuery(tasks=(TASK,), words=words))[0].entry.repo
             for words in ("the mood of it", "where the money goes")]  # fmt: skip
    opened.close()
    assert found == ["a/s", "a/f"]


def test_a_request_is_read_once_for_several_tasks(path):
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return directed(texts)

    with_directions(path, entry("a/s", tags=["sentiment"]))
    opened = HubIndex(path, embed=embed)
    for task in (TASK, "translation"):
        opened.search(HubQuery(tasks=(task,), words="the mood of it"))
    opened.search(HubQuery(tasks=(TASK,)))
    opened.close()
    assert asked == ["the mood of it"]


def test_without_the_weights_that_tell_meaning_words_alone_count(path):
    def embed(texts: Sequence[str]) -> list[list[float]]:
        raise UnavailableError("The weights cannot be loaded.")

    with_directions(path, entry("a/plain", downloads=10**6), entry("a/s", tags=["sentiment"]))
    opened = HubIndex(path, embed=embed)
    assert opened.search(HubQuery(tasks=(TASK,), words="sentiment"))[0].entry.repo == "a/s"
    opened.close()


def test_a_changed_entry_is_found_by_its_new_words_alone(path):
    before, after = entry("a/b", tags=["old"]), entry("a/b", tags=["fresh"], downloads=10**6)
    index(path, before, entry("a/c", downloads=10**5))
    index(path, after)
    assert names(path, words="fresh")[0] == "b"
    with HubIndexWriter(path) as writer:
        state = writer.state(TASK)
        assert writer.count(state) == 2
        rows = writer.connection.execute("SELECT rowid FROM terms WHERE terms MATCH '\"old\"'")
        assert rows.fetchall() == []
        writer.connection.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")


def test_an_entry_whose_popularity_changed_little_keeps_what_was_read_of_its_card(path):
    first = entry("a/b", cardData={"summary": "Reads moods."})
    for later in (entry("a/b", downloads=1001), entry("a/b", downloads=10**6)):
        index(path, first)
        index(path, later)
        opened = HubIndex(path)
        found = opened.find("A/B")
        opened.close()
        assert found
        assert (found.summary, found.downloads) == ("Reads moods.", later.downloads)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 10**7), st.sampled_from(["", "x", "y"])),
        max_size=30,
    )
)
def test_whatever_comes_and_changes_the_index_agrees_with_itself(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("index") / "hub.db"
    last = {}
    with HubIndexWriter(path) as writer:
        state = writer.state(TASK)
        for number, downloads, tag in changes:
            made = entry(f"a/e{number}", downloads=downloads, tags=[tag] if tag else [])
            writer.keep([made], state)
            last[number] = made
    opened = HubIndex(path)
    found = {each.entry.repo: each.entry for each in opened.search(HubQuery(limit=99))}
    assert found == {made.repo: made for made in last.values()}
    assert opened.size == len(last)
    classes = [database.popularity(each.downloads) for each in found.values()]
    assert classes == sorted(classes)
    opened.close()


def test_no_index_a_stale_one_and_a_damaged_one_hold_nothing(path):
    opened = HubIndex(path)
    assert (opened.size, opened.search(HubQuery()), opened.version) == (0, [], -1)
    assert opened.find("a/b") is None
    index(path, entry("a/b"))
    assert opened.size == 1
    opened.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    assert opened.search(HubQuery()) == []
    path.write_bytes(b"no database at all" * 500)
    assert opened.search(HubQuery()) == []
    opened.close()
    assert [each.repo for each in map(HubIndex(path).find, ["a/b"]) if each] == []


def test_damage_in_the_middle_is_no_failed_search(path):
    index(path, *[entry(f"a/e{number}", downloads=number) for number in range(300)])
    body = bytearray(path.read_bytes())
    chance = random.Random(1)
    for place in range(3 * 4096, len(body)):
        body[place] = chance.randrange(256)
    path.write_bytes(body)
    opened = HubIndex(path)
    assert isinstance(opened.search(HubQuery(words="bert", limit=200)), list)
    opened.close()


def test_an_index_that_was_begun_anew_is_opened_anew(path):
    index(path, entry("a/old"))
    opened = HubIndex(path)
    assert opened.size == 1
    version = opened.version
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    index(path, entry("a/new"), entry("a/newer"))
    assert opened.size == 2
    assert opened.version != version
    opened.close()
