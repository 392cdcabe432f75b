"""Makes written answers speakable: no markup, no addresses, in stretches a voice can say."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 300
"""Characters of one stretch; a voice that is cut off says at most this much."""

_CODE_BLOCK = re.compile(
    r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)", re.M | re.S
)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_ADDRESS = re.compile(r"<?\b(?:https?|ftp|file)://[^\s<>\"')\]]+>?|\bwww\.[^\s<>\"')\]]+", re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_LEAD = re.compile(r"^\s*(?:>\s?)*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?)?")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STARS = re.compile(r"\*\*|~~|`+")
_ENDS = ".!?…:;,。！？"
_CLOSERS = "\"'”’)]»」』"

_SIGNS = {
    "→": " to ", "←": " from ", "×": " times ", "÷": " divided by ", "≈": " about ",
    "≤": " at most ", "≥": " at least ", "≠": " is not ",
    "°C": " degrees Celsius", "°F": " degrees Fahrenheit",
    "°": " degrees", "–": " – ", "—": " – ", "&": " and ", "\u00a0": " ",
}  # fmt: skip

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e fig no vol pp p approx inc ltd co corp dept est al "
    "cf jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k a.m "
    "p.m".split()
)
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k al".split())
_BREAK = re.compile(r"([.!?…]+[\"'”’)\]]*)(?=\s|$)|([。！？]+[」』”’]*)")

LONGEST_HELD = 4 * LONGEST
"""Characters of a line that are waited for, until it is spoken as far as it is there."""
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_FENCE_BEGINS = re.compile(r" {0,3}(?:`+|~+|\Z)")
_ENDED = re.compile(r"([.!?…]+[\"'”’)\]*_~`]*)(?=\s+\S)|([。！？]+[」』”’]*)(?=[^」』”’。！？])")
_MARKUP = re.compile(r"!?\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?|<!--.*?-->|<[^<>\n]*>|`[^`]*`")
_UNFINISHED = re.compile(r"[\[`]|<[a-zA-Z/!]")
_EMPHASIS_BEGINS = re.compile(r"(?<!\w)(?:\*+|_+|~~)(?=\S)")
_EMPHASIS_ENDS = re.compile(r"(?<=\S)(?:\*+|_+|~~)(?!\w)")


def speakable(text: str) -> str:
    """The text as a person would read it aloud, one paragraph, item or table row per line.

    Code is left out, links keep their words, addresses and emoji go, table cells become a list.
    """
    text = _COMMENT.sub(" ", text)
    text = _CODE_BLOCK.sub("\n", text)
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _TAG.sub(" ", _ADDRESS.sub(" ", text))
    lines = (_spoken_line(line) for line in text.splitlines())
    return "\n".join(line for line in lines if _has_words(line))


def sentences(text: str) -> list[str]:
    """The text in stretches to speak one after the other: sentences, long ones cut in parts.

    No word is lost, no stretch is without words or longer than 300 characters.
    """
    found: list[str] = []
    for line in text.splitlines():
        for sentence in _split(" ".join(line.split())):
            found.extend(_cut(sentence))
    return [part for part in found if _has_words(part)]


class SentenceStream:
    """`sentences(speakable(text))` for a text that is still being written.

    A sentence comes out once what follows it has begun, so that it is known to be whole; markup,
    links and code that are cut over pieces are seen as the one thing they are.
    """

    def __init__(self) -> None:
        self._held = ""
        """The line that has not ended, as far as it was not spoken."""
        self._begun = False
        """Whether some of that line was spoken."""
        self._judged = 0
        """How far into what is held the ends of sentences were looked at."""
        self._fence = ""
        self._comment = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that are whole now."""
        found: list[str] = []
        for start in range(0, len(piece), LONGEST):
            *lines, self._held = (self._held + piece[start : start + LONGEST]).split("\n")
            for line in lines:
                found += self._line(line)
                self._begun, self._judged = False, 0
            found += self._whole_part()
        return found

    def rest(self) -> list[str]:
        """What is left, once nothing follows."""
        line, self._held = self._held, ""
        found = self._line(line)
        before_comment = self._comment.rpartition("<!--")[0]
        return [*found, *sentences(speakable(before_comment))]

    def _line(self, line: str) -> list[str]:
        if self._fence:
            if line.lstrip(" ").startswith(self._fence):
                self._fence = ""
            return []
        line, self._comment = self._comment + line, ""
        if line.rfind("<!--") > line.rfind("-->") and len(line) < LONGEST_HELD:
            self._comment = f"{line} "
            return []
        if not self._begun and (fence := _FENCE.match(line)):
            self._fence = fence[1]
            return []
        return sentences(speakable(line))

    def _whole_part(self) -> list[str]:
        """The sentences at the beginning of a line that has not ended."""
        held, end = self._held, 0
        if self._fence or self._comment or (not self._begun and _FENCE_BEGINS.match(held)):
            return []
        for ended in _ENDED.finditer(held, self._judged):
            self._judged = ended.end()
            end = ended.end() if _is_whole(held, ended) else end
        if not end and len(held) > LONGEST_HELD:
            end = held.rfind(" ") + 1 or len(held)
        if not end:
            return []
        found = self._line(held[:end])
        self._held, self._begun = held[end:], True
        self._judged = max(0, self._judged - end)
        return found


def _spoken_line(line: str) -> str:
    if _RULE.match(line) or _TABLE_RULE.match(line):
        return ""
    line = _LEAD.sub("", line, count=1)
    if line.count("|") >= 2 or line.startswith("|"):
        line = ", ".join(
            cell.strip() for cell in line.strip().strip("|").split("|") if cell.strip()
        )
    line = _STARS.sub("", _EMPHASIS.sub(r"\2", line))
    for sign, words in _SIGNS.items():
        line = line.replace(sign, words)
    line = "".join(letter for letter in line if _sayable(letter))
    line = " ".join(re.sub(r"\(\s*\)|\[\s*\]", "", line).split())
    line = re.sub(r"\s+([.,;:!?])", r"\1", line)
    return line if line.rstrip(_CLOSERS)[-1:] in _ENDS else f"{line}."


def _sayable(letter: str) -> bool:
    """Everything but emoji, other pictures, control and invisible characters."""
    if letter in "\t ":
        return True
    category = unicodedata.category(letter)
    return category not in ("So", "Sk", "Cc", "Cf", "Cs", "Co", "Cn") and not (
        "\ufe00" <= letter <= "\ufe0f" or letter == "\u20e3"
    )


def _has_words(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _split(line: str) -> list[str]:
    parts, start = [], 0
    for match in _BREAK.finditer(line):
        if match.group(1) and not _ends_here(line, match.start(), match.end()):
            continue
        parts.append(line[start : match.end()].strip())
        start = match.end()
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def _ends_here(line: str, at: int, after: int) -> bool:
    """Whether the point at `at` ends a sentence rather than an abbreviation or a number."""
    if line[at] != "." or line[at : at + 2] == "..":
        return True
    following = line[after:].lstrip()[:1]
    word = line[:at].rsplit(maxsplit=1)[-1].lstrip("(\"'“‘[").lower() if line[:at].split() else ""
    if word in _ABBREVIATIONS:
        return word in _MAY_END and following.isupper()
    if len(word) == 1 and word.isalpha():
        return word == "i" and following.isupper()  # an initial, unless it is the word I
    if word.isdigit() and at == len(word):
        return False  # the number of a list item
    return not following.islower()


def _is_whole(held: str, end: re.Match[str]) -> bool:
    """Whether a sentence ends here, with no markup open that goes on behind it."""
    if end.group(1) and not _ends_here(held, end.start(), end.end()):
        return False
    before = _MARKUP.sub("", held[: end.end()])
    begun = max((item.start() for item in _EMPHASIS_BEGINS.finditer(before)), default=-1)
    ended = max((item.start() for item in _EMPHASIS_ENDS.finditer(before)), default=-1)
    return "|" not in held and begun <= ended and not _UNFINISHED.search(before)


def _cut(sentence: str) -> list[str]:
    parts = []
    while len(sentence) > LONGEST:
        head = sentence[: LONGEST + 1]
        at = max(head.rfind(mark) + 1 for mark in (", ", "; ", ": ", "– "))
        if at < LONGEST // 3:
            at = head.rfind(" ")
        if at <= 0:
            at = LONGEST
        parts.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*parts, sentence]
