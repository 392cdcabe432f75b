"""Syntax highlighting. Only imported in child processes: a lexer may never return on a text that
was made for it."""

from __future__ import annotations

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler

Lines = tuple[tuple[tuple[int, int, str], ...], ...]
"""The coloured words of each line: start and length in UTF-16 units, and the colour's name."""

MAX_WORDS = 3000  # coloured words per text: each costs the window time

_COLOURS: dict[_TokenType, str] = {
    Comment: "muted",
    Keyword: "code_keyword",
    Operator.Word: "code_keyword",
    Keyword.Constant: "code_number",
    Number: "code_number",
    String: "code_string",
    Name.Function: "code_name",
    Name.Class: "code_name",
    Name.Tag: "code_name",
    Name.Attribute: "code_name",
    Name.Decorator: "code_name",
    Name.Builtin: "code_name",
    Generic.Heading: "code_name",
    Generic.Subheading: "code_name",
    Generic.Inserted: "code_string",
    Generic.Deleted: "code_keyword",
}


def make_handler() -> Handler:
    """The handler: the coloured words of a text in a language."""

    def handle(report: Report, text: str, language: str) -> Lines:
        return words(text, language)

    return handle


def words(text: str, language: str) -> Lines:
    """The coloured words of a text; none if the language is unknown."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ()
    lines: list[list[tuple[int, int, str]]] = [[]]
    at = read = count = 0
    for kind, part in lexer.get_tokens(text):
        if not text.startswith(part, read):
            return ()  # the lexer changed the text, so positions are unknown
        read += len(part)
        colour = _colour(kind)
        for number, line in enumerate(part.split("\n")):
            if number:
                lines.append([])
                at = 0
            long = len(line) if line.isascii() else len(line.encode("utf-16-le")) // 2
            if colour and line.strip() and count < MAX_WORDS:
                count += 1
                lines[-1].append((at, long, colour))
            at += long
    return tuple(tuple(line) for line in lines)


def _colour(kind: _TokenType) -> str:
    while kind.parent is not None:
        if kind in _COLOURS:
            return _COLOURS[kind]
        kind = kind.parent
    return ""
