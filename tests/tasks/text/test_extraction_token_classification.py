import time
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text.extraction import TOKEN_CLASSIFICATION, entities, label
from tests.tasks.calls import call_of, quiet, text_of

TEXT = """On 5 May 2024 Maria Rossi met the board of Acme Tools in Zurich. They paid $1,200.50, 15%
less than before. Write to maria@acme.example, call +41 44 555 01 99 or see https://acme.example/tools."""


def test_finds_each_kind():
    found = entities(TEXT)
    assert found["date"] == ["5 May 2024"]
    assert found["money"] == ["$1,200.50"]
    assert found["percentage"] == ["15%"]
    assert found["email"] == ["maria@acme.example"]
    assert found["web address"] == ["https://acme.example/tools"]
    assert found["phone number"] == ["+41 44 555 01 99"]
    assert {"Maria Rossi", "Acme Tools", "Zurich"} <= set(found["name"])
    assert not {"On", "They", "Write"} & set(found["name"])


def test_is_honest_about_its_way(tmp_path: Path):
    assert "how they are written" in text_of(
        label(call_of(TOKEN_CLASSIFICATION.type, tmp_path, text=TEXT), quiet)
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("find all e-mail addresses", "maria@acme.example"),
        ("who is mentioned?", "Maria Rossi\nAcme Tools\nZurich"),
        ("the prices and dates", "Dates: 5 May 2024\nSums of money: $1,200.50\nThese are found by "
         "how they are written, not by what they mean."),
        ("any times", "There are no times in the text."),
    ],
)  # fmt: skip
def test_lists_only_what_is_asked_for(tmp_path: Path, asked: str, told: str):
    call = call_of(TOKEN_CLASSIFICATION.type, tmp_path, text=TEXT, asked=asked)
    assert text_of(label(call, quiet)) == told


def test_says_when_there_is_nothing(tmp_path: Path):
    assert text_of(
        label(call_of(TOKEN_CLASSIFICATION.type, tmp_path, text="nothing here"), quiet)
    ).startswith("There are no")


@pytest.mark.parametrize(
    "text", ["a@" * 50_000, "1-" * 50_000, "A " * 50_000, "$" * 100_000, "1," * 50_000]
)
def test_hostile_texts_take_no_time(text: str):
    begin = time.thread_time()
    entities(text)
    assert time.thread_time() - begin < 20


def test_needs_a_text(tmp_path: Path):
    with pytest.raises(InputError):
        label(call_of(TOKEN_CLASSIFICATION.type, tmp_path, text=""), quiet)
