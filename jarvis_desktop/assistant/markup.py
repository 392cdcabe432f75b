"""Takes the markup off a line: Markdown, HTML, LaTeX, addresses, emoji."""

from __future__ import annotations

import html
import re
import unicodedata

_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_NOTE = re.compile(r"\[\^?\d+(?:\s?[,–-]\s?\d+)*\](?!\()")
_ADDRESS = re.compile(r"<?\b(?:https?|ftp|file)://[^\s<>\"')\]]+>?|\bwww\.[^\s<>\"')\]]+", re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_LEAD = re.compile(r"^\s*(?:>\s?)*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?)?")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STARS = re.compile(r"\*\*|~~|`+")
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]")
_BEFORE_MARK = re.compile(r"\s+([.,;:!?])")
_SMILEY = re.compile(r"(?<!\S)[:;]-?[)(DPp](?!\S)")
_IN_NUMBER = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}\b)")
_ENDS = ".!?…:;,。！？"
_CLOSERS = "\"'”’)]»」』"
_MARKED = re.compile(r"[^\w\s.,;:!?'\"()-]|_|--|[:;]-?[)(DPp]|www\.", re.A)
"""What plain prose has none of."""

_MATHS = re.compile(
    r"\$\$|\\[\[\]()]|(?<![\w$])\$(?=[^\s$])(?=[^$\n]*[\\^_=+])([^$\n]*[^\s$])\$(?!\d)"
)
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_GROUP = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_COMMANDS = {
    "times": "×", "cdot": "×", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "approx": "≈", "to": "→", "rightarrow": "→", "infty": "∞", "pi": "π",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "theta": "θ", "lambda": "λ", "mu": "µ",
    "sigma": "σ", "omega": "ω", "Delta": "Δ", "Omega": "Ω", "sum": "∑", "int": "∫", "sqrt": "√",
    "left": "", "right": "", "quad": " ", "circ": "°", "ldots": "…", "dots": "…",
}  # fmt: skip


def plain(line: str, *, begins: bool) -> str:
    """The words of a line, or of a part of one that does not stand at its beginning.

    Links keep their words, addresses and emoji go, the cells of a table become a list. "" where
    there are none.
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
    """LaTeX as the signs that it stands for."""
    line = _MATHS.sub(lambda found: f" {found[1] or ''} ", line)
    line = _GROUP.sub(r"\1", line)
    line = _ROOT.sub(r"√\1", _FRACTION.sub(r"\1 ÷ \2", line))
    line = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], found[0]), line)
    return line.replace("^\\circ", "°") if "\\" in line else line.replace("^°", "°")


class _Sayable(dict[int, int | None]):
    """For str.translate: leaves out emoji, other pictures, control and invisible characters."""

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
