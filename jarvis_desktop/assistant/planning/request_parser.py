"""Prepares a request for planning: quoted texts and file names are taken out, words made even.

Finds what a request names outright: quoted texts and files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import PurePath

from jarvis_desktop.assistant.planning import inputs, intents
from jarvis_desktop.core.artifact import KINDS, Kind, kind_of_name
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.lazy_re import lazy_re

EXTENSIONS = frozenset(suffix.removeprefix(".") for suffix in KINDS)

_quotes = lazy_re(
    r"""“(?P<a>[^”]{1,4000})”|"(?P<b>[^"]+)"|«(?P<c>[^»]{1,4000})»|„(?P<d>[^“”]{1,4000})[“”]"""
    r"""|(?<![\w])['‘](?P<e>[^\s'’].{0,500}?)['’](?![\w])""",
    re.DOTALL,
)
_name = lazy_re(
    r"(?<![\w/\\.~-])(?P<path>(?:[A-Za-z]:)?[~/\\]?(?:[\w.+-]|[/\\:](?=[\w.~]))+\.(?P<ext>\w{2,8}))(?!\w)"
)
_place = lazy_re(
    r"(?<![\w/\\.~-])(?:~?(?:/[\w.+@-]+)+/*|~/?|[A-Za-z]:(?:[\\/][\w.+@-]+)+[\\/]?)"
    r"(?<![.])(?![\w/\\])"
)
_quoted_place = lazy_re(r"(?:~?/|[A-Za-z]:[\\/])[^\n]{0,4000}|~")
_done_to = lazy_re(
    r"\b(?:open(?: up)?|show(?: me)?|view|display|launch|bring up|pull up|read(?: me)?|play|"
    r"summari[sz]e|translate|transcribe|describe|look at|how (?:big|large|long) is|size of)\s+"
    r"(?:(?:the|this|my)\s+)?(?:(?:file|folder|directory|document|picture|recording|video)\s+)?$",
    re.IGNORECASE,
)
"""What stands before a path that is meant as a file, whatever its ending. Elsewhere, as in "what
is /usr/bin for", it may be no more than a word."""
_absolute = lazy_re(r"[/~\\]|[A-Za-z]:[/\\]")
_url = lazy_re(r"\b(?:https?://|www\.)[^\s<>\"'“”«»„]+", re.IGNORECASE)
_CLOSING = ".,;:!?)]}'"
"""Signs that end a sentence rather than an address."""
_as_output = lazy_re(
    r"(?:\bas|\binto|\bit to|\bin a file|"
    r"\b(?:save|store|write|export|put|keep|make|create)\b[^.;!?\n]{0,60}?\b(?:called|named))\s*$",
    re.IGNORECASE,
)
_called = lazy_re(r"\b(?:called|named)\s*$", re.IGNORECASE)
_there = lazy_re(
    r"\b(?:have|'ve|has|got|my|this|that|the|there|attached|uploaded|given|provided|image|picture|"
    r"photo|audio|recording|sound|video|document|table|text)\b[^.;!?\n]*$",
    re.IGNORECASE,
)
"""Words for what is there already, before "named"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a request, from `start` to `end`, that names something."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FileMention(Mention):
    """A file name or path. `output` says that it names what is to be made, not what is there."""

    output: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePath(self.text.replace("\\", "/")).name

    @property
    def is_absolute(self) -> bool:
        """Whether it says where the file lies, so that it can be nowhere else."""
        return _absolute.match(self.text) is not None


def find_urls(text: str) -> list[Mention]:
    """The addresses on the network; one that begins with www gets its https."""
    found = []
    for match in _url.finditer(text):
        words = match[0].rstrip(_CLOSING)
        if match[0][len(words) :].startswith(")") and "(" in words:
            words += ")"
        url = words if "://" in words else f"https://{words}"
        found.append(Mention(match.start(), match.start() + len(words), url))
    return found


def find_quotes(text: str) -> list[Mention]:
    """The quoted texts, without their quotation marks; a quoted file name is not one of them."""
    return [item for item, is_file in _quoted(text) if item.text and not is_file]


def find_files(text: str) -> list[FileMention]:
    """The file names and paths: by a known extension, in quotes with spaces in them, or by a full
    path where it is said what to do with it."""
    found = [_file(text, item.start, item.end, item.text) for item, yes in _quoted(text) if yes]
    quoted = {place for item in found for place in range(item.start, item.end)}
    for match in _name.finditer(text):
        if match["ext"].lower() in EXTENSIONS and match.start() not in quoted:
            found.append(_file(text, match.start(), match.end(), match["path"]))
    known = {item.start for item in found} | quoted
    for match in _place.finditer(text):
        if match.start() not in known and _is_done_to(text, match.start()):
            found.append(FileMention(match.start(), match.end(), match[0]))
    return sorted(found, key=lambda item: item.start)


def _quoted(text: str) -> Iterator[tuple[Mention, bool]]:
    """What stands in quotation marks, and whether it is the name of a file."""
    for match in _quotes.finditer(text):
        words = next(group for group in match.groups() if group is not None).strip()
        is_path = _is_path(words) and _is_done_to(text, match.start())
        yield Mention(match.start(), match.end(), words), is_path or _is_file_name(words)


def _is_done_to(text: str, start: int) -> bool:
    return _done_to.search(text[max(0, start - 40) : start]) is not None


def _is_path(words: str) -> bool:
    """Whether it looks like a full path; one with spaces in it needs more than its first sign,
    for "/s is for sarcasm" is a text."""
    surely = words[:1] != "/" or "/" in words[1:] or not re.search(r"\s", words)
    return surely and _quoted_place.fullmatch(words) is not None


def _is_file_name(words: str) -> bool:
    stem, dot, extension = words.rpartition(".")
    known = extension.lower() in EXTENSIONS and "\n" not in words
    return bool(stem and dot) and known and len(words) <= 255


def _file(text: str, start: int, end: int, words: str) -> FileMention:
    before = text[max(0, start - 80) : start]
    made = bool(_called.search(before)) and not _there.search(before)
    return FileMention(start, end, words, output=made or bool(_as_output.search(before)))


_spoken_dot = lazy_re(
    rf"\b(\w+) dot ({'|'.join(sorted(EXTENSIONS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_courtesy = lazy_re(
    r"(?P<before>^|[.,;:!?]\s+|\band\s+)"
    r"(?:(?:hey|hi|hello|ok|okay)?,?\s*jarvis\b[,.!]?\s*)?"
    r"(?:(?:can|could|would|will) you\s+(?!do\b|help\b)|"
    r"i(?:'d like| would like| want| need) you to\s+|go ahead and\s+)?"
)
_filler = lazy_re(r"\b(?:please|kindly|for me|just|uh|um)\b,?")
_mark = lazy_re(r"\bx(quote|file)(\d+)x[a-z]*\b")
_unfinished = lazy_re(r"\b(?:as|to|into|by|with|using|called|named)\s*$", re.IGNORECASE)
"""Words that end no instruction: what stands after their colon tells how, or under which name."""
_names = lazy_re(
    r"(?:it|them|everything|(?:all )?(?:that|this|these|those|of (?:it|them)))|"
    rf"(?:(?:the|this|that|these|those|my|our|your|his|her|its|their)\s+(?:\w+\s+)?)?"
    rf"(?:{'|'.join(inputs.NOUNS)})s?(?:\s+\d+)?",
    re.IGNORECASE,
)
"""Words that name what is to be worked on: "it", "the last page", "picture 2"."""

MAX_HEAD_CHARS = 300
"""An instruction before a pasted text is no longer than this many characters."""

MIN_TEXT_WORDS = 3
"""So many words after a colon are a text; fewer only where the task works on nothing else."""

MAX_INSTRUCTION_CHARS = 4000
"""Characters of a request that is no pasted text."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request as the planner sees it.

    `text` is lower case, with xquote0x in the place of what was quoted, xfile0ximage of a picture
    that was named, and xfile0x of a file that is to be made.
    """

    text: str
    quotes: tuple[str, ...] = ()
    files: tuple[FileMention, ...] = ()
    last_reply: str = ""
    """What was answered last in this conversation."""
    made: frozenset[str] = frozenset()
    """Task types whose results of earlier turns may be spoken of: "that summary"."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """How words that are not lower case were spelled in the request."""

    def quotes_in(self, start: int, end: int) -> list[str]:
        """The quoted texts within a stretch of `text`."""
        return [self.quotes[number] for kind, number in self._marks(start, end) if kind == "quote"]

    def files_in(self, start: int, end: int) -> list[FileMention]:
        """The file names within a stretch of `text`."""
        return [self.files[number] for kind, number in self._marks(start, end) if kind == "file"]

    def as_said(self, start: int, end: int) -> str:
        """A stretch of `text` as `words` gives it, with its capitals: "my dog is called Rex"."""
        words = self.text[start:end]
        return self._put_back(re.sub(r"\w+", lambda it: self.spelling.get(it[0], it[0]), words))

    def words(self, start: int, end: int) -> str:
        """A stretch of `text` with quotes and names put back."""
        return self._put_back(self.text[start:end])

    def _put_back(self, text: str) -> str:
        def original(match: re.Match[str]) -> str:
            number = int(match[2])
            return self.quotes[number] if match[1] == "quote" else self.files[number].text

        return " ".join(_mark.sub(original, text).split())

    def _marks(self, start: int, end: int) -> list[tuple[str, int]]:
        found = [(match[1], int(match[2])) for match in _mark.finditer(self.text, start, end)]
        size = {"quote": len(self.quotes), "file": len(self.files)}
        return [(kind, number) for kind, number in found if number < size[kind]]


def parse_request(text: str, inventory: Sequence[TaskType], context: Context) -> ParsedRequest:
    """Take quotes, a pasted text and file names out, and make the rest even."""
    text, body = split_pasted(text, inventory)
    written = _mark.sub(" ", _spoken_dot.sub(r"\1.\2", text))
    text = written.replace("’", "'")
    quoted: list[str] = []
    named: list[FileMention] = []
    spans: list[tuple[Mention, str]] = []
    for mention in sorted([*find_quotes(text), *find_files(text)], key=attrgetter("start")):
        if isinstance(mention, FileMention):
            spans.append((mention, f" xfile{len(named)}x{_kind(mention)} "))
            begin = text.index(mention.text, mention.start)
            name = written[begin : begin + len(mention.text)]  # a file may be called "Ann’s.txt"
            named.append(replace(mention, text=name))
        else:
            spans.append((mention, f" xquote{len(quoted)}x "))
            quoted.append(mention.text)
    masked = text
    for mention, mark in reversed(spans):
        masked = masked[: mention.start] + mark + masked[mention.end :]
    if body:
        masked += f" xquote{len(quoted)}x"
        quoted.append(body)
    spelled = reversed(re.findall(r"\w+", masked))  # of two spellings the first
    masked = re.sub(r"\bn\b", "and", masked.lower())
    even = _courtesy.sub(r"\g<before>", _filler.sub(" ", masked))
    even = even if even.strip() else masked  # "hello Jarvis" is nothing but courtesy
    last = context.conversation.last if context.conversation else None
    return ParsedRequest(
        intents.fix_typos(re.sub(r" {2,}", " ", even).strip(), inventory),
        tuple(quoted),
        tuple(named),
        last_reply=last.reply if last else "",
        made=frozenset() if context.attachments else _made(context),
        spelling={word.lower(): word for word in spelled if word != word.lower()},
    )


def _kind(mention: FileMention) -> str:
    return "" if mention.output else str(kind_of_name(mention.name) or "")


def _made(context: Context) -> frozenset[str]:
    return frozenset(item.task for item in inputs.conversation_resources(context) if item.task)


def split_pasted(text: str, inventory: Sequence[TaskType]) -> tuple[str, str]:
    """The instruction and the pasted text it is about: "summarise this: ..."; "" where none is.

    What is pasted is content and never read for what to do. An instruction is short, so that a
    text of any length is taken apart in no time.
    """
    for match in re.finditer(r":\s+|\n", text[:MAX_HEAD_CHARS]):
        head, body = text[: match.start()], text[match.end() :].strip()
        quoted = bool(find_quotes(body[:MAX_INSTRUCTION_CHARS])) and body[0] in "\"'“‘«„"
        if not quoted and _is_text(body, head, inventory):
            return head, body
    head, _, last = text.rstrip().rpartition("\n")
    long_enough = len(head.split(None, 40)) >= 40 and len(last) <= MAX_HEAD_CHARS
    if long_enough and _asks(last, inventory):
        return last, head.strip()
    if len(text) > MAX_INSTRUCTION_CHARS:
        first = re.match(r".+?[.!?\n]", text[:MAX_HEAD_CHARS], re.DOTALL)
        end = first.end() if first else MAX_HEAD_CHARS
        return text[:end], text[end:].strip()
    return text, ""


def _asks(text: str, inventory: Sequence[TaskType]) -> bool:
    """Whether a task is heard in the text."""
    return bool(intents.find_cues(intents.fix_typos(text.lower(), inventory), inventory))


def _is_text(body: str, head: str, inventory: Sequence[TaskType]) -> bool:
    """Whether what stands after a colon is what the head asks to work on."""
    if len(body.split(None, MIN_TEXT_WORDS)) >= MIN_TEXT_WORDS:
        return _asks(head, inventory)
    return _takes(head, inventory) and not _points(body)


def _takes(text: str, inventory: Sequence[TaskType]) -> bool:
    """Whether the task that is heard in the text works on a text and reads no other words."""
    found = intents.find_cues(intents.fix_typos(text.lower(), inventory), inventory)
    if not found or _unfinished.search(text):
        return False
    heard = max(found, key=attrgetter("weight")).type
    ports = [port for port in heard.ports if port.required]
    return (
        [port.kinds[:1] for port in ports] == [(Kind.TEXT,)]
        and ports[0].name != inputs.PROMPT
        and not any(option.reads == "clause" for option in heard.options)
    )


def _points(words: str) -> bool:
    """Whether a few words only name what is to be worked on: a file, an address, "the text"."""
    bare = words.strip(" .,!?;:")
    named = find_files(words) or find_urls(words)
    return bool(not bare or named or _names.fullmatch(bare))
