"""Each setting has a row, and each row words by which it is found."""

from __future__ import annotations

from collections import Counter

import pytest

from jarvis_desktop.settings import Settings
from jarvis_desktop.ui.settings.groups import GROUPS
from jarvis_desktop.ui.settings.schema import SettingsRow, fields

ROWS = {row.key: row for group in GROUPS for row in group.rows}
WITHOUT: dict[str, str] = {}
"""Settings that need no row, each with the reason."""


def test_every_setting_has_one_row_and_no_key_two() -> None:
    shown = Counter(row.key for group in GROUPS for row in group.rows)
    assert set(shown.values()) == {1}
    assert set(fields()) - set(shown) == set(WITHOUT)


def test_every_field_is_found_and_has_its_default() -> None:
    defaults = Settings()
    for field in fields().values():
        assert field.of(defaults) == field.default
        assert field.takes(field.default)


@pytest.mark.parametrize("key", ROWS)
def test_a_row_says_what_it_is(key: str) -> None:
    row = ROWS[key]
    assert row.title
    assert not row.title.endswith(".")
    assert row.help.endswith(".") or key == "sentence"
    assert row.search
    if row.field and row.field.kind == "choice" and row.key != "mode":
        assert [option.value for option in row.options] == list(row.field.values) or not (
            {*row.field.values} ^ {option.value for option in row.options}
        )
    if row.unit:
        assert "{value}" in row.unit


@pytest.mark.parametrize(
    ("sought", "key"),
    [
        ("hotkey", "speech.key"),
        ("push to talk", "speech.key"),
        ("dark", "window.theme"),
        ("dark mode", "window.theme"),
        ("zoom", "window.text_size"),
        ("LANGUAGE", "window.language"),
        ("token", "hub-key"),
        ("barge", "speech.interrupt"),
        ("vram", "experts.memory_budget_mb"),
        ("non-commercial", "experts.denied_licences"),
        ("firewall", "network.proxy"),
        ("autostart", "autostart"),
        ("retention", "history.retention_days"),
        ("privacy", "mode"),
        ("agent code", "agent.code"),
        ("speech.rate", "speech.rate"),
        ("without asking simple", "planner.ask"),
        ("export", "history-page"),
    ],
)
def test_a_row_is_found_by_the_words_that_people_have_for_it(sought: str, key: str) -> None:
    group = next(group for group in GROUPS if ROWS[key] in group.rows)
    assert ROWS[key].found_by(sought, group.title)


def test_nothing_is_found_by_what_it_is_not_about() -> None:
    assert not [row for row in ROWS.values() if row.found_by("xylophone")]
    assert not SettingsRow("a", "Speed", "How fast.", search="rate").found_by("speed limit")


def test_values_are_said_in_words() -> None:
    assert ROWS["window.text_size"].shown(1.2) == "120 %"
    assert ROWS["speech.rate"].shown(170) == "170 words a minute"
    assert ROWS["agent.tokens"].shown(400_000) == "400,000 tokens"
    assert ROWS["experts.disk_budget_gb"].shown(0) == "no limit"
    assert ROWS["history.retention_days"].shown(0) == "never"
    assert ROWS["speech.engine"].shown("piper") == "Piper"
    assert ROWS["speech.words"].shown(()) == "None"
    assert ROWS["speech.words"].shown(("a", "b")) == "a, b"
    assert ROWS["window.tray"].shown(True) == "on"
