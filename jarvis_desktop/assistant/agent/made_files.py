"""Reads the files of goals as their checks need them: rows, words and numbers.

Every function reads files, so do not call them on a loop. A file that cannot be read has nothing
in it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from jarvis_desktop.core.artifact import Artifact, Kind

MAX_TABLE_BYTES = 20_000_000
MAX_TEXT_BYTES = 200_000
MAX_VOCABULARY_BYTES = 4_000_000

Rows = Sequence[tuple[str, ...]]
"""The cells of a table, the names of its columns first."""

_plain_texts = (".txt", ".md", ".log", ".json", ".jsonl", ".html")
_number = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])")
_word = re.compile(r"[^\W\d_]{2,}")
_capitalised = re.compile(r"[^\W\d_a-z][^\W\d_]+")


def numbers(text: str) -> list[float]:
    """Return the numbers in a text; a comma is for thousands."""
    return [float(found.replace(",", "")) for found in _number.findall(text)]


def csv_rows(item: Artifact) -> Rows | None:
    """Return the rows of a CSV file; None for other files."""
    suffix = PurePath(item.title).suffix.lower()
    text = _read(item, MAX_TABLE_BYTES) if suffix in (".csv", ".tsv") else ""
    if not text:
        return None
    try:
        reader = csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ",")
        return [tuple(cell.strip() for cell in line) for line in reader if any(line)]
    except csv.Error:
        return None


def plain_text(item: Artifact) -> str:
    """Return the text of a small text file; "" for others."""
    is_plain = PurePath(item.title).suffix.lower() in _plain_texts
    return _read(item, MAX_TEXT_BYTES) if is_plain else ""


def data_words(files: Mapping[str, Artifact]) -> Mapping[str, frozenset[str]]:
    """Return the words by which results over these files can differ, each with its spellings by its
    lower case: names of files, words in the cells of tables, and names in texts."""
    found = defaultdict[str, set[str]](set)
    for name, item in files.items():
        words = _word.findall(PurePath(name).stem)
        if item.kind is Kind.TABLE:
            cells = _read(item, MAX_VOCABULARY_BYTES).partition("\n")[2]  # not the columns' names
            words += _word.findall(cells)
        elif item.path is None or PurePath(name).suffix.lower() in _plain_texts:
            words += _names(item.text or _read(item, MAX_VOCABULARY_BYTES))
        for word in words:
            found[word.casefold()].add(word)
    return {word: frozenset(spellings) for word, spellings in found.items()}


def _names(text: str) -> list[str]:
    """Return words that begin with a capital, and those of letters and digits. One expression for
    both would take hours for a word of a hundred thousand letters."""
    found = []
    for word in re.findall(r"\w+", text):
        if named := _capitalised.match(word):
            found.append(named[0])
        elif re.search(r"\d", word) and re.search(r"[^\W\d_]", word):
            found.append(word)
    return found


def _read(item: Artifact, limit: int) -> str:
    try:
        return item.path.read_bytes()[:limit].decode("utf-8", "replace") if item.path else ""
    except OSError:
        return ""
