"""How names that are for computers are read: files, paths, addresses, versions, hashes."""

from __future__ import annotations

import re

from jarvis_desktop.assistant.rules import DIGITS, rule

_ENDINGS = (
    "pdf png jpe?g gif svg webp bmp tiff? txt md rst docx? xlsx? pptx? od[tsp] rtf csv tsv json "
    "jsonl xml ya?ml toml ini cfg conf log html? css scss js jsx tsx? py ipynb java cpp hpp rs go "
    "rb php sh bat ps1 exe msi zip tar gz tgz 7z rar mp3 mp4 m4a wav ogg opus flac mkv avi mov "
    "srt vtt epub db sqlite sql onnx gguf safetensors bin iso deb rpm dmg apk whl lock env bak "
    "tmp so dll"
).split()
_FILE = rf"\w[\w.+-]{{0,80}}\.(?:{'|'.join(_ENDINGS)})\b"
_PATH = (
    r"(?<![\w.:/\\])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.+@-]+[/\\])*[\w.+@-]*\w[/\\]?"
    rf"|(?<![\w./\\])(?:[\w.+-]+[/\\])+{_FILE}"
)
_DOMAINS = "com|org|net|edu|gov|io|dev|ai|app|de|fr|es|it|nl|ch|at|uk|eu|us|info"
_SEPARATORS = re.compile(r"[/\\_.\-~:]+")
_DIGIT = re.compile(r"(?<=\d)(?=\d)")


def _words(found: re.Match[str]) -> str:
    """report_final.pdf, or where it lies."""
    end = "." if found[0].endswith(".") else ""
    return " ".join(_SEPARATORS.sub(" ", found[0]).split()) + end


def _parts(found: re.Match[str]) -> str:
    return found[0].replace("_", " ")


def _short(found: re.Match[str]) -> str:
    """The beginning of a code, which is all that anybody compares."""
    return f"{' '.join(found[0][:4])}…"


def _digits(found: re.Match[str]) -> str:
    """One after the other, with a pause between groups."""
    groups = re.findall(r"\d+", found[0])
    plus = "+" if found[0].startswith("+") else ""
    return plus + ", ".join(_DIGIT.sub(" ", group) for group in groups)


def _mail(found: re.Match[str]) -> str:
    name, _, place = found[0].partition("@")
    return f"{_dotted(name)} at {_dotted(place)}"


def _dotted(name: str) -> str:
    for sign, word in ((".", "dot"), ("_", "underscore"), ("-", "dash"), ("+", "plus")):
        name = name.replace(sign, f" {word} ")
    return name


def _version(found: re.Match[str]) -> str:
    return f"version {found[1].replace('.', ' point ')}{' ' + found[2] if found[2] else ''}"


_HASH = (
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?:sha(?:256|512|1):|0x)?(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{12,}\b"
    r"|\b(?=[0-9A-F]*[A-F])(?=[A-F]*\d)[0-9A-F]{12,}\b"
    r"|\b(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d)[A-Za-z0-9]{20,}\b={0,2}"
)

ENGLISH_CODES = (
    rule(DIGITS, _HASH, "a long code"),
    rule("@", r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.\w{2,}\b", _mail),
    rule(
        ".",
        rf"(?<![\w.-])(?:[\w-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})\b(?![\w/\\])",
        lambda found: _dotted(found[0]),
    ),
    rule("v", r"(?<![\w.])v(\d+(?:\.\d+)*)(?:-(\w+))?\b", _version),
    rule(
        ".",
        r"(?<![\d.,])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)",
        lambda found: found[0].replace(".", " dot "),
    ),
    rule(
        ".",
        r"(?<![\d.,])\d+\.\d+\.\d+(?:\.\d+)*(?![\d,])",
        lambda found: found[0].replace(".", " point "),
    ),
    rule("#", r"\bC#", "C sharp"),
    rule("+", r"\bC\+\+", "C plus plus"),
    rule("#", r"(?<![\w&])#(?=\d)", "number "),
    rule("#", r"(?<![\w&])#(?=[^\W\d])", "hashtag "),
    rule("@", r"(?<![\w@])@(?=\w)", "at "),
)
"""How English says them. Before `NAMES`."""

SHORTENED = (rule(DIGITS, _HASH, _short),)
"""Codes in other languages."""

NAMES = (
    rule("+", r"\+\d{1,3}(?:[ \-./]?\(?\d{2,}\)?){2,}(?![\w])", _digits),
    rule(DIGITS, r"(?<![\w+])\(?\d{3}\)?[ \-.]\d{3}[ \-.]\d{4}(?![\w-])", _digits),
    rule(DIGITS, r"(?<![\w.,])\d{4}(?:[ -]\d{4}){3}(?![\w-])", _digits),
    rule(DIGITS, r"(?<![\w.,])(?:0\d{5,}|\d{13,})(?![\w,]|\.\d)", _digits),
    rule("/\\", _PATH, _words),
    rule(".", rf"(?<![\w/@.]){_FILE}", _words),
    rule("_", r"\b[^\W_]+(?:_+[^\W_]+)+\b", _parts),
    rule(
        DIGITS,
        r"(?<![\d.,] )\b\d{1,3}(?: \d{3}){2,}\b(?! \d)",
        lambda found: found[0].replace(" ", ""),
    ),
)
"""What is read alike in every language."""
