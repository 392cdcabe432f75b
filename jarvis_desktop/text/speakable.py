"""Makes written answers speakable, even while they are still being written.

Markup is removed (Markdown, HTML, LaTeX, addresses, emoji), and numbers, signs and codes are read
as a person would. English words are only added to English sentences; for other languages the speech
engine knows digits, percent and degrees better.
"""

from __future__ import annotations

import html
import re
import unicodedata

from jarvis_desktop.text.languages import tongue
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.sentences import MAX_SPOKEN_CHARS, cut, ends_here, has_words, split
from jarvis_desktop.text.speakable_rules import (
    ABBREVIATIONS,
    AMOUNTS,
    ENGLISH_CODES,
    MOMENTS,
    NAMES,
    SHORTENED,
    SIGNS,
    SpeechRule,
)

_SPECIAL = lazy_re(
    r"[^\w\s.,;:!?'\"()’“”…-]|[\d_\u00a0-\u00bf\u0370-\u03ff\u2070-\u2189]|\w[.]\w|--|->"
    rf"|\bapprox\b|{ABBREVIATIONS}"
)
"""Signs that plain prose does not have."""

ENGLISH: tuple[SpeechRule, ...] = (*ENGLISH_CODES, *NAMES, *MOMENTS, *AMOUNTS, *SIGNS)
OTHER: tuple[SpeechRule, ...] = (*SHORTENED, *NAMES)
"""Rules in order: what one has read is not seen by later ones."""


def read(sentence: str, *, english: bool) -> str:
    """Return the sentence with only words, numbers that engines know, and punctuation."""
    if not _SPECIAL.search(sentence):
        return sentence
    letters = set(sentence)
    for rule in ENGLISH if english else OTHER:
        if rule.needs.isdisjoint(letters):
            continue
        spoken = rule.pattern.sub(rule.spoken, sentence)
        if spoken != sentence:
            sentence, letters = spoken, set(spoken)
    return " ".join(sentence.split()).replace(" ,", ",").replace(" .", ".").replace("….", "…")


_IMAGE = lazy_re(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = lazy_re(r"\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_NOTE = lazy_re(r"\[\^?\d+(?:\s?[,–-]\s?\d+)*\](?!\()")
_ADDRESS = lazy_re(r"<?\b(?:https?|ftp|file)://[^\s<>\"')\]]+>?|\bwww\.[^\s<>\"')\]]+", re.I)
_TAG = lazy_re(r"</?[a-zA-Z][^<>\n]*>")
_TABLE_RULE = lazy_re(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_RULE = lazy_re(r"^\s*(?:[-*_=]\s*){3,}$")
_LEAD = lazy_re(r"^\s*(?:>\s?)*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?)?")
_EMPHASIS = lazy_re(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STARS = lazy_re(r"\*\*|~~|`+")
_EMPTY = lazy_re(r"\(\s*\)|\[\s*\]")
_BEFORE_MARK = lazy_re(r"\s+([.,;:!?])")
_SMILEY = lazy_re(r"(?<!\S)[:;]-?[)(DPp](?!\S)")
_IN_NUMBER = lazy_re(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}\b)")
_ENDS = ".!?…:;,。！？"
_CLOSERS = "\"'”’)]»」』"
_MARKED = lazy_re(r"[^\w\s.,;:!?'\"()-]|_|--|[:;]-?[)(DPp]|www\.", re.A)
"""Signs that plain prose does not have."""

_MATHS = lazy_re(
    r"\$\$|\\[\[\]()]|(?<![\w$])\$(?=[^\s$])(?=[^$\n]*[\\^_=+])([^$\n]*[^\s$])\$(?!\d)"
)
_FRACTION = lazy_re(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_GROUP = lazy_re(r"\\(?:text|mathrm|mathbf|operatorname)\{([^{}]*)\}")
_ROOT = lazy_re(r"\\sqrt\{([^{}]*)\}")
_COMMAND = lazy_re(r"\\([a-zA-Z]+)")
_COMMANDS = {
    "times": "×", "cdot": "×", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "approx": "≈", "to": "→", "rightarrow": "→", "infty": "∞", "pi": "π",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "theta": "θ", "lambda": "λ", "mu": "µ",
    "sigma": "σ", "omega": "ω", "Delta": "Δ", "Omega": "Ω", "sum": "∑", "int": "∫", "sqrt": "√",
    "left": "", "right": "", "quad": " ", "circ": "°", "ldots": "…", "dots": "…",
}  # fmt: skip


def plain(line: str, *, begins: bool) -> str:
    """Return the words of a line, or of a part of one if not `begins`.

    Links keep their text, addresses and emoji are removed, table cells become a list. "" if there
    are no words.
    """
    if begins:
        if _RULE.match(line) or _TABLE_RULE.match(line):
            return ""
        line = _LEAD.sub("", line, count=1)
    if _MARKED.search(line):
        line = _without_markup(line)
    line = " ".join(line.split())
    if not line or line.rstrip(_CLOSERS)[-1:] in _ENDS:
        return line
    return f"{line}."


def _without_markup(line: str) -> str:
    if "&" in line:
        line = html.unescape(line)
    line = _IN_NUMBER.sub("", line)
    line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
    line = _TAG.sub(" ", _NOTE.sub("", _ADDRESS.sub(" ", line)))
    if "\\" in line or "$" in line:
        line = _maths(line)
    if line.count("|") >= 2 or line.lstrip().startswith("|"):
        cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        line = ", ".join(cell for cell in cells if cell)
    line = _STARS.sub("", _EMPHASIS.sub(r"\2", line))
    line = _SMILEY.sub("", line)
    if not line.isascii() or not line.isprintable():
        line = line.translate(_SAYABLE)
    return _BEFORE_MARK.sub(r"\1", _EMPTY.sub("", line))


def _maths(line: str) -> str:
    """Replace LaTeX by the signs that it stands for."""
    line = _MATHS.sub(lambda found: f" {found[1] or ''} ", line)
    line = _GROUP.sub(r"\1", line)
    line = _ROOT.sub(r"√\1", _FRACTION.sub(r"\1 ÷ \2", line))
    line = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], found[0]), line)
    return line.replace("^\\circ", "°") if "\\" in line else line.replace("^°", "°")


class _Sayable(dict[int, int | None]):
    """For str.translate: removes emoji and other pictures, control and invisible characters."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        category = unicodedata.category(letter)
        unsayable = letter not in "\t °^№" and (
            category in ("So", "Sk", "Cc", "Cf", "Cs", "Co", "Cn")
            or "\ufe00" <= letter <= "\ufe0f"
            or letter == "\u20e3"
        )
        self[code] = None if unsayable else code
        return self[code]


_SAYABLE = _Sayable()


MAX_HELD_CHARS = 4 * MAX_SPOKEN_CHARS
"""Characters of a line to wait for before the available part is spoken."""

_EVENT = lazy_re(r"[<>\n-]")
_FENCE = lazy_re(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_FENCE_BEGINS = lazy_re(r" {0,3}(?:`+|~+|\Z)")
_ENDED = lazy_re(
    r"(?P<point>[.!?…]+[\"'”’)\]*_~`]*)(?=\s+(?P<next>\S))|[。！？]+[」』”’]*(?=(?P<sign>[^」』”’。！？]))"
)
_HIDDEN = lazy_re(r"(?:(?<!`)<(think|thinking|thought|reasoning)>|<!--)\Z", re.I)
_MAX_OPENER_CHARS = len("`<reasoning>")
_MARKUP = lazy_re(r"!?\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?|<[^<>\n]*>|`[^`]*`")
_UNFINISHED = lazy_re(r"[\[`]|<[a-zA-Z/!]")
_EMPHASIS_BEGINS = lazy_re(r"(?<!\w)(?:\*+|_+|~~)(?=\S)")
_EMPHASIS_ENDS = lazy_re(r"(?<=\S)(?:\*+|_+|~~)(?!\w)")


def speakable(text: str) -> str:
    """Return the text as a human would read it aloud, one piece per line (see `sentences`).

    Code and reasoning are left out, links keep their text, addresses and emoji are removed, and
    table cells become a list; numbers and signs are read in the language of the text.
    """
    stream = SentenceStream()
    return "\n".join([*stream.feed(text), *stream.rest()])


class SentenceStream:
    """`speakable` for a text that is still being written; the result does not depend on the pieces.

    A sentence is returned once the next one has begun, so that it is complete. Markup, links and
    code that are split over pieces are recognised.
    """

    def __init__(self) -> None:
        self._held = ""
        """The line that has not ended, as far as it was not spoken."""
        self._begun = False
        """Whether some of that line was spoken."""
        self._judged = 0
        """How far into what is held the ends of sentences were looked at."""
        self._fence = ""
        self._until = ""
        """What ends the comment or the thought that is left out."""
        self._left_out = ""
        """The end of that, for there its own end is seen."""
        self._english = True
        """Whether the last sentence was, for those that do not tell."""

    def feed(self, piece: str) -> list[str]:
        """Return the sentences that are now complete."""
        pieces = (
            piece[at : at + MAX_SPOKEN_CHARS] for at in range(0, len(piece), MAX_SPOKEN_CHARS)
        )
        return [sentence for each in pieces for sentence in self._feed(each)]

    def rest(self) -> list[str]:
        """Return what is left at the end of the text."""
        return self._end_line()

    def _feed(self, piece: str) -> list[str]:
        found: list[str] = []
        start = 0
        # Openers and closers are handled in order, as if letters came one by one.
        for event in _EVENT.finditer(piece):
            part = piece[start : event.end()]
            if event[0] != "-" or (self._held[-3:] + part[-4:]).endswith("<!--"):
                found += self._go_on(part)
                start = event.end()
        return found + self._go_on(piece[start:])

    def _go_on(self, part: str) -> list[str]:
        if self._until:
            self._left_out = (self._left_out + part)[-len(self._until) :]
            if self._left_out.lower() == self._until:
                self._until = ""
            return []
        self._held += part.removesuffix("\n")
        found = self._whole_parts()
        if part.endswith("\n"):
            return found + self._end_line()
        if part.endswith((">", "-")) and not self._fence:
            self._leave_out()
        return found

    def _leave_out(self) -> None:
        """Skip from here if a comment or reasoning begins."""
        if hidden := _HIDDEN.search(self._held[-_MAX_OPENER_CHARS:]):
            self._held = f"{self._held.removesuffix(hidden[0])} "
            self._until = f"</{hidden[1].lower()}>" if hidden[1] else "-->"
            self._left_out = ""

    def _whole_parts(self) -> list[str]:
        """Return the complete sentences of an unfinished line."""
        found: list[str] = []
        while end := self._next_end():
            part, self._held = self._held[:end], self._held[end:]
            found += self._said(part, begins=not self._begun)
            self._begun, self._judged = True, 0
        return found

    def _next_end(self) -> int:
        held = self._held
        if self._fence or (not self._begun and _FENCE_BEGINS.match(held)):
            return 0
        for ended in _ENDED.finditer(held, self._judged):
            if max(ended.end("next"), ended.end("sign")) > MAX_HELD_CHARS + 1:
                break
            self._judged = ended.end()
            if _is_whole(held, ended):
                return ended.end()
        if len(held) <= MAX_HELD_CHARS:
            return 0
        return held.rfind(" ", 0, MAX_HELD_CHARS + 1) + 1 or MAX_HELD_CHARS + 1

    def _end_line(self) -> list[str]:
        line, begun = self._held, self._begun
        self._held, self._begun, self._judged = "", False, 0
        if self._fence:
            if line.lstrip(" ").startswith(self._fence):
                self._fence = ""
            return []
        if not begun and (fence := _FENCE.match(line)):
            self._fence = fence[1]
            return []
        return self._said(line, begins=not begun)

    def _said(self, part: str, *, begins: bool) -> list[str]:
        found: list[str] = []
        for sentence in split(plain(part, begins=begins)):
            if (known := tongue(sentence)) != "unclear":
                self._english = known == "english"
            found += cut(read(sentence, english=self._english))
        return [each for each in found if has_words(each)]


def _is_whole(held: str, end: re.Match[str]) -> bool:
    """Whether a sentence ends here, with no markup that continues after it."""
    if end["point"] and not ends_here(held, end.start(), end.end()):
        return False
    before = _MARKUP.sub("", held[: end.end()])
    begun = max((item.start() for item in _EMPHASIS_BEGINS.finditer(before)), default=-1)
    ended = max((item.start() for item in _EMPHASIS_ENDS.finditer(before)), default=-1)
    return "|" not in before and begun <= ended and not _UNFINISHED.search(before)
