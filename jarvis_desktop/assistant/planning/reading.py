"""Prepares a request for planning: quoted texts and file names are taken out, words made even."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from jarvis_desktop.assistant.planning import cues, mentions, sources
from jarvis_desktop.assistant.planning.mentions import FileMention, Mention
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.suffixes import kind_of_name
from jarvis_desktop.core.task import TaskType

_spoken_dot = re.compile(
    rf"\b(\w+) dot ({'|'.join(sorted(mentions.EXTENSIONS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_courtesy = re.compile(
    r"(?P<before>^|[.,;:!?]\s+|\band\s+)"
    r"(?:(?:hey|hi|hello|ok|okay)?,?\s*jarvis\b[,.!]?\s*)?"
    r"(?:(?:can|could|would|will) you\s+(?!do\b|help\b)|"
    r"i(?:'d like| would like| want| need) you to\s+|go ahead and\s+)?"
)
_filler = re.compile(r"\b(?:please|kindly|for me|just|uh|um)\b,?")
_mark = re.compile(r"\bx(quote|file)(\d+)x[a-z]*\b")
_unfinished = re.compile(r"\b(?:as|to|into|by|with|using|called|named)\s*$", re.IGNORECASE)
"""Words that end no instruction: what stands after their colon tells how, or under which name."""
_names = re.compile(
    r"(?:it|them|everything|(?:all )?(?:that|this|these|those|of (?:it|them)))|"
    rf"(?:(?:the|this|that|these|those|my|our|your|his|her|its|their)\s+(?:\w+\s+)?)?"
    rf"(?:{'|'.join(sources.NOUNS)})s?(?:\s+\d+)?",
    re.IGNORECASE,
)
"""Words that name what is to be worked on: "it", "the last page", "picture 2"."""

BODY_AFTER = 300
"""An instruction before a pasted text is no longer than this many characters."""

SURELY_A_TEXT = 3
"""So many words after a colon are a text; fewer only where the task works on nothing else."""

LONGEST = 4000
"""Characters of a request that is no pasted text."""


@dataclass(frozen=True, slots=True)
class Reading:
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


def read(text: str, inventory: Sequence[TaskType], context: Context) -> Reading:
    """Take quotes, a pasted text and file names out, and make the rest even."""
    text, body = split(text, inventory)
    written = _mark.sub(" ", _spoken_dot.sub(r"\1.\2", text))
    text = written.replace("’", "'")
    quoted: list[str] = []
    named: list[FileMention] = []
    spans: list[tuple[Mention, str]] = []
    for mention in sorted([*mentions.quotes(text), *mentions.files(text)], key=attrgetter("start")):
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
    return Reading(
        cues.without_typos(re.sub(r" {2,}", " ", even).strip(), inventory),
        tuple(quoted),
        tuple(named),
        last_reply=last.reply if last else "",
        made=frozenset() if context.attachments else _made(context),
        spelling={word.lower(): word for word in spelled if word != word.lower()},
    )


def _kind(mention: FileMention) -> str:
    return "" if mention.output else str(kind_of_name(mention.name) or "")


def _made(context: Context) -> frozenset[str]:
    return frozenset(item.task for item in sources.resources(context) if item.task)


def split(text: str, inventory: Sequence[TaskType]) -> tuple[str, str]:
    """The instruction and the pasted text it is about: "summarise this: ..."; "" where none is.

    What is pasted is content and never read for what to do. An instruction is short, so that a
    text of any length is taken apart in no time.
    """
    for match in re.finditer(r":\s+|\n", text[:BODY_AFTER]):
        head, body = text[: match.start()], text[match.end() :].strip()
        quoted = bool(mentions.quotes(body[:LONGEST])) and body[0] in "\"'“‘«„"
        if not quoted and _is_text(body, head, inventory):
            return head, body
    head, _, last = text.rstrip().rpartition("\n")
    long_enough = len(head.split(None, 40)) >= 40 and len(last) <= BODY_AFTER
    if long_enough and _asks(last, inventory):
        return last, head.strip()
    if len(text) > LONGEST:
        first = re.match(r".+?[.!?\n]", text[:BODY_AFTER], re.DOTALL)
        end = first.end() if first else BODY_AFTER
        return text[:end], text[end:].strip()
    return text, ""


def _asks(text: str, inventory: Sequence[TaskType]) -> bool:
    """Whether a task is heard in the text."""
    return bool(cues.find(cues.without_typos(text.lower(), inventory), inventory))


def _is_text(body: str, head: str, inventory: Sequence[TaskType]) -> bool:
    """Whether what stands after a colon is what the head asks to work on."""
    if len(body.split(None, SURELY_A_TEXT)) >= SURELY_A_TEXT:
        return _asks(head, inventory)
    return _takes(head, inventory) and not _points(body)


def _takes(text: str, inventory: Sequence[TaskType]) -> bool:
    """Whether the task that is heard in the text works on a text and reads no other words."""
    found = cues.find(cues.without_typos(text.lower(), inventory), inventory)
    if not found or _unfinished.search(text):
        return False
    heard = max(found, key=attrgetter("weight")).type
    ports = [port for port in heard.ports if port.required]
    return (
        [port.kinds[:1] for port in ports] == [(Kind.TEXT,)]
        and ports[0].name != sources.PROMPT
        and not any(option.reads == "clause" for option in heard.options)
    )


def _points(words: str) -> bool:
    """Whether a few words only name what is to be worked on: a file, an address, "the text"."""
    bare = words.strip(" .,!?;:")
    named = mentions.files(words) or mentions.urls(words)
    return bool(not bare or named or _names.fullmatch(bare))
