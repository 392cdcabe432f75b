import pytest

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.text.languages import (
    BackgroundLanguages,
    code_of,
    code_of_text,
    is_clearly_not,
    language_of,
    other_language,
    plain_language,
    ranked,
    tongue,
)

GERMAN = "Der Zug nach Hamburg fährt heute leider nicht, weil die Strecke gesperrt ist."
ENGLISH = "The train to Hamburg does not run today because the line is closed."


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (ENGLISH, "english"),
        (GERMAN, "foreign"),
        ("36", "unclear"),
        ("the der", "unclear"),
        ("Müller", "foreign"),
        ("你好", "foreign"),
        ("x² = 4", "unclear"),
    ],
)
def test_function_words_accents_and_scripts_tell_english_texts(text: str, known: str) -> None:
    assert tongue(text) == known


def test_a_request_in_another_language_is_answered_in_it() -> None:
    assert (other_language("私はこの写真を見ます") or "").startswith("言語モデル")
    assert (other_language("Was steht auf dem Bild, bitte?") or "").startswith("Ohne")
    assert other_language("What is in the picture?") is None
    assert other_language("bitte") is None


def test_names_and_codes_of_languages() -> None:
    assert code_of(" German ") == code_of("de") == "de"
    with pytest.raises(InputError, match="Klingon is not a known language"):
        code_of("Klingon")


def test_the_detector_finds_and_rules_out_languages() -> None:
    assert code_of_text(GERMAN) == "de"
    assert code_of_text("Jeg vet ikke hva som har skjedd med den gamle båten vår.") == "no"
    assert is_clearly_not(GERMAN * 2, "en")
    assert not is_clearly_not(GERMAN, "de")
    assert not is_clearly_not(GERMAN, "xx")


def test_a_background_detector_that_fails_rules_out_nothing() -> None:
    asked: list[str] = []

    def call(function: str, text: str) -> dict[str, float]:
        asked.append(text)
        if text == "broken":
            raise UnavailableError("It is gone.")
        return ranked(text)

    languages = BackgroundLanguages(call)
    languages.warm()
    assert languages.is_clearly_not(GERMAN * 2, "en")
    assert languages.is_clearly_not(GERMAN * 2, "en")
    assert not languages.is_clearly_not("broken", "en")
    assert asked == ["warm", GERMAN * 2, "broken"]


def test_the_language_for_a_voice() -> None:
    assert plain_language(ENGLISH) == "en"
    assert plain_language(GERMAN) == plain_language("你好") == plain_language("und das") == "?"
    assert plain_language("Anna") is None
    assert language_of(GERMAN) == "de"
    assert language_of("привет") is not None
    assert language_of("ok") is None
