from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.classification import LANGUAGE_IDENTIFICATION, describe_language
from tests.tasks.calls import call_of, quiet, text_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Bonjour tout le monde, comment allez-vous aujourd'hui ?", "French"),
        ("Guten Morgen, wie geht es dir heute?", "German"),
        ("This is an ordinary sentence in a common language.", "English"),
        ("Это обычное предложение на русском языке.", "Russian"),
        ("これは日本語の文章です。", "Japanese"),
    ],
)
def test_names_the_language(tmp_path: Path, text: str, name: str):
    assert text_of(
        describe_language(call_of(LANGUAGE_IDENTIFICATION.type, tmp_path, text=text), quiet)
    ).startswith(f"{name} (")


def test_does_not_guess_from_two_letters(tmp_path: Path):
    with pytest.raises(ExpertError, match="too short"):
        describe_language(call_of(LANGUAGE_IDENTIFICATION.type, tmp_path, text="ok"), quiet)


def test_needs_letters(tmp_path: Path):
    with pytest.raises(InputError):
        describe_language(call_of(LANGUAGE_IDENTIFICATION.type, tmp_path, text="123 !"), quiet)
