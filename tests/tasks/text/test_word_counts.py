"""How often words occur, which occur most, and which texts share."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.word_counts import COUNT_WORDS, count_words
from tests.tasks.calls import call_of, quiet, text_of

SEA = "The sea, the SEA!\nSeaweed and it's the sky.\nSky, sky and sea."


def told(asked: str, tmp_path: Path, *texts: str) -> str:
    given = tuple(map(text_artifact, texts or (SEA,)))
    return text_of(count_words(call_of(COUNT_WORDS.type, tmp_path, text=given, asked=asked), quiet))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("How often does the word sea occur?", "“sea” occurs 3 times."),
        ("how many times is the sky mentioned in the text", "“sky” occurs 3 times."),
        ('count the word "seaweed"', "“seaweed” occurs once."),
        ("count how often the word moon appears", "“moon” does not occur."),
        ("Wie oft kommt das Wort SEA vor?", "“SEA” occurs 3 times."),
        ("how many lines contain “sky”?", "“sky” is in 2 lines."),
        ("Wie viele Zeilen enthalten and?", "“and” is in 2 lines."),
        ("the two most frequent words", "- sea: 3\n- sky: 3"),
        ("top 2 words with more than three letters", "- it's: 1\n- seaweed: 1"),
        ("the most common words of 5 or more letters", "- seaweed: 1"),
        ("the 2 most frequent words with at least four letters", "- it's: 1\n- seaweed: 1"),
        ("count how often each word occurs",
         "- sea: 3\n- sky: 3\n- the: 3\n- and: 2\n- it's: 1\n- seaweed: 1"),
    ],
)  # fmt: skip
def test_what_is_counted(tmp_path: Path, asked: str, expected: str) -> None:
    assert told(asked, tmp_path) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((SEA, "A sea and a sky"), "and, sea, sky"),
        (("One", "Two"), "The texts have no word in common."),
    ],
)
def test_words_that_texts_share(tmp_path: Path, texts: tuple[str, ...], expected: str) -> None:
    assert told("Which words are in both texts?", tmp_path, *texts) == expected


@pytest.mark.parametrize(
    ("asked", "text", "said"),
    [
        ("which words are in both texts", SEA, "I need two texts"),
        ("the most frequent words with more than 40 letters", SEA, "no such words"),
        ("the most frequent words", " ", "no text to look through"),
    ],
)
def test_what_cannot_be_counted(tmp_path: Path, asked: str, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        told(asked, tmp_path, text)


def test_what_is_not_understood(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="which words are to be counted"):
        told("the loveliest words", tmp_path)


@pytest.mark.parametrize(
    ("asked", "end"),
    [
        ("How many words do my notes have, and which one is the longest?", "b.md is the longest."),
        ("which text is shorter", "a.txt is the shortest."),
    ],
)
def test_how_long_several_texts_are(tmp_path: Path, asked: str, end: str) -> None:
    given = []
    for name, words in (("a.txt", "one two"), ("b.md", "one two three")):
        (tmp_path / name).write_text(words)
        given.append(Artifact(Kind.DOCUMENT, path=tmp_path / name, name=name))
    call = call_of(COUNT_WORDS.type, tmp_path / "w", text=tuple(given), asked=asked)
    assert text_of(count_words(call, quiet)) == (
        f"a.txt has 2 words. b.md has 3 words. Altogether they are 5 words. {end}"
    )


@pytest.mark.parametrize(
    "asked", ["count the words in every file", "how many words are in each of the letters?"]
)
def test_each_text_is_counted_by_itself(tmp_path: Path, asked: str) -> None:
    given = []
    for name, words in (("a.txt", "one two"), ("b.md", "one two three")):
        (tmp_path / name).write_text(words)
        given.append(Artifact(Kind.DOCUMENT, path=tmp_path / name, name=name))
    call = call_of(COUNT_WORDS.type, tmp_path / "w", text=tuple(given), asked=asked)
    assert text_of(count_words(call, quiet)) == "- a.txt: 2\n- b.md: 3"
