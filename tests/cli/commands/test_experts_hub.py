"""`experts refresh` and `experts search` against a Hub on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Jarvis
from tests.experts.hub.listed import item
from tests.hub import Hub, running_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    listed = [
        item("org/Moods", tags=["sentiment"], cardData={"summary": "Tells \x1b[31mmoods."}),
        item("org/gated", gated="manual", tags=["sentiment"], licence="cc-by-nc-4.0"),
        item("org/strange", tags=["sentiment", "custom_code"]),
        item("org/opus-sv-en", "translation", tags=["sv"]),
    ]
    with running_hub(listed=listed) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub


def ids(found: list[dict[str, dict[str, str]]]) -> list[str]:
    return [each["expert"]["id"] for each in found]


def test_the_list_of_the_hub_is_read_and_searched(jarvis: Jarvis, hub: Hub) -> None:
    shown = jarvis("experts", "refresh", "--task", "text-classification", "--json")
    assert shown.code == 0, shown.err
    assert (shown.json["read"], shown.json["new"], shown.json["known"]) == (3, 3, 3)
    assert "whisper" in " ".join(shown.json["missing"])  # this Hub has none of the shipped ones
    assert "text-classification" in shown.err

    found = jarvis("experts", "search", "sentiment", "--json").json
    assert {"org--moods", "org--gated", "org--strange"} <= set(ids(found))
    moods = next(each for each in found if each["expert"]["id"] == "org--moods")
    assert (moods["runs"], moods["shipped"], moods["fits"]) == (["here"], False, True)
    free = jarvis("experts", "search", "sentiment", "--licence", "mit", "--json").json
    assert "org--gated" not in ids(free)
    none = jarvis("experts", "search", "sentiment", "--max-size", "50", "--json").json
    assert not [each for each in ids(none) if each.startswith("org--")]

    words = jarvis("experts", "search", "sentiment", "--task", "text-classification")
    assert "\x1b" not in words.out
    assert "cannot run here yet" in words.out
    assert "terms must be accepted" in words.out
    assert "read its list" not in words.err
    assert "no longer on the Hub" in jarvis("experts", "list").out


def test_a_refresh_says_why_it_is_refused(jarvis: Jarvis, hub: Hub, home: Path) -> None:
    shown = jarvis("experts", "refresh", "--task", "translatoin")
    assert (shown.code, "Did you mean translation?" in shown.err) == (1, True)
    assert "no list of experts for timer" in jarvis("experts", "refresh", "--task", "timer").err
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('mode = "offline"\n')
    shown = jarvis("experts", "refresh")
    assert (shown.code, "The mode is offline" in shown.err) == (1, True)
    assert hub.asked == []


def test_without_a_list_the_shipped_experts_are_searched(jarvis: Jarvis) -> None:
    shown = jarvis("experts", "search", "draws", "picture", "--limit", "1")
    assert (shown.code, len(shown.out.splitlines())) == (0, 1)
    assert "experts refresh" in shown.err
    for wrong in (["search"], ["search", "x", "--max-size", "-3"], ["search", "x", "--limit", "0"]):
        assert jarvis("experts", *wrong).code == 2
