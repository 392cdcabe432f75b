import pytest

from jarvis_desktop import localization
from jarvis_desktop.core import i18n
from jarvis_desktop.localization import chosen, inherit, load, set_language


@pytest.fixture(autouse=True)
def no_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG", "JARVIS_DESKTOP_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variable", "value", "language"),
    [
        ("LANG", "de_AT.UTF-8", "de"),
        ("LC_ALL", "zh_CN.UTF-8", "zh"),
        ("LC_MESSAGES", "zh-Hans", "zh"),
        ("LANGUAGE", "fr:de:en", "de"),
        ("LANG", "fr_FR.UTF-8", "en"),
        ("LANG", "C", "en"),
    ],
)
def test_the_systems_language_is_spoken(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, language: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert chosen("") == language


def test_what_is_wanted_comes_before_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert chosen("zh") == "zh"
    assert chosen("en") == "en"


def test_a_language_is_spoken_until_another_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    back = "Back to the conversation"
    try:
        assert set_language("de") == "de"
        assert i18n.tr(back) == "Zurück zur Unterhaltung"
    finally:
        assert set_language("en") == "en"
    assert i18n.tr(back) == back


@pytest.mark.parametrize("language", localization.LANGUAGES)
def test_every_language_says_what_it_does_not_know_in_english(language: str) -> None:
    assert load(language).gettext("No such text") == "No such text"


def test_a_child_process_speaks_as_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    back = "Back to the conversation"
    monkeypatch.setenv("JARVIS_DESKTOP_LANGUAGE", "de")
    try:
        inherit()
        assert i18n.tr(back) == "Zurück zur Unterhaltung"
        monkeypatch.setenv("JARVIS_DESKTOP_LANGUAGE", "../../etc")
        inherit()
        assert i18n.tr(back) == "Zurück zur Unterhaltung"
    finally:
        set_language("en")
