from datetime import UTC, datetime, timedelta

import pytest

from jarvis_desktop.storage.records import MAX_KEPT, DictationLog

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def texts(log: DictationLog) -> list[str]:
    return [each.text for each in log.kept()]


def test_the_last_ones_are_kept_the_newest_first(tmp_path):
    path = tmp_path / "data" / "dictations.json"
    assert texts(DictationLog(path)) == []
    for number in range(MAX_KEPT + 2):
        DictationLog(path).add(f"Grüße {number}\n")
    kept = texts(DictationLog(path))
    assert len(kept) == MAX_KEPT
    assert kept[0] == f"Grüße {MAX_KEPT + 1}\n"


def test_clearing_leaves_nothing(tmp_path):
    log = DictationLog(tmp_path / "data" / "dictations.json")
    log.add("one")
    log.clear()
    log.clear()
    assert list((tmp_path / "data").iterdir()) == []


def test_old_ones_are_forgotten(tmp_path):
    path = tmp_path / "dictations.json"
    DictationLog(path, now=lambda: NOW - timedelta(days=3)).add("old")
    log = DictationLog(path, days=lambda: 2, now=lambda: NOW)
    log.add("new")
    assert texts(log) == texts(DictationLog(path)) == ["new"]


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '[{"text": "a"}]', '[{"text": "a", "at": "x"}]']
)
def test_a_broken_file_costs_only_the_list(tmp_path, content):
    path = tmp_path / "dictations.json"
    path.write_text(content)
    log = DictationLog(path, days=lambda: 1)
    assert texts(log) == []
    log.add("one")
    assert texts(log) == ["one"]


def test_a_folder_that_takes_nothing_is_no_reason_to_fail(tmp_path, caplog):
    path = tmp_path / "dictations.json"
    path.mkdir()
    (path / "x").touch()
    log = DictationLog(path)
    log.add("one")
    log.clear()
    assert texts(log) == []
    assert len(caplog.records) >= 2
    caplog.clear()
