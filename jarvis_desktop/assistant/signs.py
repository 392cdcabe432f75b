"""How signs between words and numbers are read in English: arithmetic, arrows, letters of Greek."""

from __future__ import annotations

import re
import unicodedata

from jarvis_desktop.assistant.rules import rule

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉"
_POWERS = {"2": "squared", "3": "cubed"}
_ATOM = rf"[A-Z][a-z]?[{_LOWERED}]*"
_ELEMENT = re.compile(r"[A-Z][a-z]?|\d+|[₀-₉]+")

_GREEK = {
    chr(code): unicodedata.name(chr(code)).rpartition(" ")[2].lower()
    for code in (*range(0x3B1, 0x3C2), *range(0x3C3, 0x3CA), *range(0x391, 0x3A2), 0x3A9, 0x394)
    if unicodedata.name(chr(code), "").startswith("GREEK")
} | {"λ": "lambda", "Λ": "lambda", "µ": "mu"}

_GREEK_LETTER = f"[{''.join(_GREEK)}](?![\u0370-\u03ff])(?<![\u0370-\u03ff].)"

_SIGNS = {
    "->": "to", "=>": "to", "→": "to", "⇒": "so", "←": "from", "↔": "and", "↑": "up", "↓": "down",
    "×": "times", "÷": "divided by", "±": "plus or minus", "≈": "about", "~": "about",
    "≤": "at most", "≥": "at least", "<=": "at most", ">=": "at least", "≠": "is not",
    "!=": "is not", "==": "equals", "=": "equals", "√": "square root of", "∞": "infinity",
    "∑": "sum of", "∫": "integral of", "∈": "in", "∂": "partial", "&": "and", "№": "number",
    "§": "section", "@": "at", "%": "percent", "°": "degrees", "†": "", "·": "times",
    "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee", "#": "hash",
}  # fmt: skip
_ANY_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
_WORDS = {"e.g.": "for example", "i.e.": "that is", "vs.": "versus", "vs": "versus",
          "approx.": "about", "w/o": "without"}  # fmt: skip


def _power(found: re.Match[str]) -> str:
    number = unicodedata.normalize("NFKC", found[1] or found[2]).replace("−", "minus ")
    return f" {_POWERS.get(number) or f'to the power of {number}'} "


def _formula(found: re.Match[str]) -> str:
    pieces = (unicodedata.normalize("NFKC", piece) for piece in _ELEMENT.findall(found[0]))
    return " ".join(pieces)


SIGNS = (
    rule(".vw", r"\b(?:e\.g\.|i\.e\.|approx\.|w/o(?!\w)|vs\.?(?!\w))", lambda f: _WORDS[f[0]]),
    rule(_LOWERED, rf"\b(?:{_ATOM})*[A-Z][a-z]?[{_LOWERED}]+(?:{_ATOM})*", _formula),
    rule("234", r"\b(?:CO2|H2O|O2|N2|CH4|H2|NO2|SO2|H2SO4|NaHCO3)\b", _formula),
    rule(_LOWERED, rf"[{_LOWERED}]+", lambda f: f" {unicodedata.normalize('NFKC', f[0])}"),
    rule(f"{_RAISED}^", rf"([{_RAISED}]+)|(?<=[\w)])\^\{{?(-?\w+)\}}?", _power),
    rule("*x", r"(?<=\d)\s\*\s(?=\d)|(?<=\d)[*x](?=\d)", " times "),
    rule("+", r"(?<=[\w)])\s+\+\s+(?=[\w(√])|(?<=\d)\+(?=\d)", " plus "),
    rule("+", r"(?<!\S)\+(?=\d)", "plus "),
    rule("+", r"(?<=\d)\+(?!\S)", " or more"),
    rule("-−–", r"(?<=\d)\s[-−–]\s(?=\d+\s*=)|\s−\s", " minus "),
    rule("/", r"(?<=[\d)])\s/\s(?=[\d(])", " divided by "),
    rule("<", r"\s<\s", " is less than "),
    rule(">", r"\s>\s", " is more than "),
    rule("<", r"(?<!\S)<(?=\d)", "less than "),
    rule(">", r"(?<!\S)>(?=\d)", "more than "),
    rule("/", r"(?<=[^\W\d_])/(?=[^\W\d_])|(?<=\d)/(?=\d)", " "),
    rule("".join(_SIGNS), _ANY_SIGN, lambda f: f" {_SIGNS[f[0]]} "),
    rule("".join(_GREEK), _GREEK_LETTER, lambda f: f" {_GREEK[f[0]]} "),
    rule("—–-", r"\s?[—–]\s?|\s--\s", " – "),
    rule("\\^_{}~|<>*", r"[\\^_{}~|<>*]+", " "),
)
