"""Lets no file be invented: names, paths and links that nobody gave are taken out of an answer
while it streams."""

from __future__ import annotations

import re
import unicodedata

from jarvis_desktop.assistant.planning.mentions import EXTENSIONS
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.suffixes import kind_of_name

NO_FILE = "(a file that is not there)"
NO_LINK = "(a link that nobody gave)"

LONGEST_WORD = 1000
"""Characters; a longer run without a space is no name of a file, and is not waited for."""

_STOPS = ".,;:!?"
# Scripts that are written without spaces: there a name begins wherever such letters end.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uf900-\uffef"
_UNSPACED += "\U00020000-\U0003ffff"
_LETTER = rf"[^\W_{_UNSPACED}]"
_NAME = rf"(?:{_LETTER}|[_.+~%-])"
# Case is ignored only where it matters: the classes of letters take a tenth of a second with it.
_SUFFIX = rf"\.(?i:{'|'.join(sorted(EXTENSIONS, key=len, reverse=True))})(?!{_LETTER})"
_token = re.compile(
    r"(?P<ticks>`+|~{3,})|(?P<line>\n)"
    r"|(?P<link>(?i:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\b(?:sandbox|file):/|\battachment:(?=\w)"
    rf"|\bdata:(?=\w+/))[^\s<>\"'`)\]{{}}{_UNSPACED}]+)"
    r"|(?P<path>(?<![\w@:/\\.<~-])(?:"
    rf"(?:~|\.{{1,2}})/+{_NAME}+(?:/{_NAME}*)*"  # ~/Music, ./out
    rf"|/+{_NAME}+(?:/+{_NAME}+)+/*|/+{_NAME}+{_SUFFIX}"  # /home/me, /cat.png
    rf"|[A-Za-z]:[\\/]{_NAME}(?:{_NAME}|[\\/])*"  # C:\Users
    rf"|\\\\{_NAME}+(?:\\{_NAME}+)+))"  # \\server\share
    rf"|(?P<name>(?<!{_NAME})(?<![@/\\])(?:{_NAME}|[/\\](?={_LETTER}))+{_SUFFIX}"
    rf"|[{_UNSPACED}]{_SUFFIX})"
)
_open = re.compile(rf"(?:`+|[{_UNSPACED}]?[^\s\"'`<>()\[\]{{}}{_UNSPACED}]*)\Z")


def guarded(known: str, said: str) -> str:
    """A whole text without the files and links that do not stand in `known`."""
    guard = FileGuard(known)
    return guard.feed(said) + guard.rest()


class FileGuard:
    """A filter over the pieces of one answer; a word is held back until it is whole."""

    def __init__(self, known: str, *, examples: bool = False) -> None:
        """`known` is all that the LLM was given: what stands in it is not invented.

        `examples` lets names in code pass, as an explanation of a program needs them.
        """
        found = [_plain(match[0]) for match in _token.finditer(known)]
        self._known = {name for word in found for name in (word, _last(word))}
        self._examples = examples
        self._held = ""
        self._before = ""
        self._fenced = False
        self._in_code = False
        self.taken_out = 0
        """How many names were taken out so far."""

    def feed(self, piece: str) -> str:
        """What of the answer may be shown now."""
        # In slices, because the search for an open word takes the square of a long run.
        slices = range(0, len(piece), LONGEST_WORD)
        return "".join(self._fed(piece[at : at + LONGEST_WORD]) for at in slices)

    def _fed(self, piece: str) -> str:
        self._held += piece
        cut = _open.search(self._held)
        end = cut.start() if cut else len(self._held)
        return self._let_out(len(self._held) if len(self._held) - end > LONGEST_WORD else end)

    def rest(self) -> str:
        """What was held back, once nothing follows."""
        return self._let_out(len(self._held))

    def _let_out(self, end: int) -> str:
        whole, self._held = self._before + self._held[:end], self._held[end:]
        # One character stays in sight for what must not stand before a name.
        start, self._before = len(self._before), whole[-1:]
        parts = []
        for match in _token.finditer(whole, start):
            parts += [whole[start : match.start()], self._checked(match)]
            start = match.end()
        return "".join(parts) + whole[start:]

    def _checked(self, match: re.Match[str]) -> str:
        word = match[0]
        if match["ticks"]:
            if len(word) >= 3:
                self._fenced = not self._fenced
            else:
                self._in_code = not self._in_code
        elif match["line"]:
            self._in_code = False
        elif _plain(word) not in self._known and not self._is_example(word):
            return self._without(match)
        return word

    def _is_example(self, word: str) -> bool:
        """Names in code are; but nobody needs the name of a picture between two backticks."""
        if self._fenced:
            return self._examples
        media = kind_of_name(word) in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO)
        return self._examples and self._in_code and not media

    def _without(self, match: re.Match[str]) -> str:
        word = match[0]
        ending = word[len(word.rstrip(_STOPS)) :]
        name = _last(word)
        if not match["link"] and kind_of_name(name) and _plain(name) in self._known:
            return name + ending  # a file that is there, in a folder that is not
        self.taken_out += 1
        return (NO_LINK if match["link"] else NO_FILE) + ending


def _plain(word: str) -> str:
    """A name as it is compared: without what stands around it in a sentence."""
    return unicodedata.normalize("NFC", word).lower().strip("_").rstrip(_STOPS)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip(_STOPS + "/\\"))[-1]
