"""Prepare a request for planning.

Quoted texts, pasted texts and file names are taken out, and the words are normalized.
"""

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
from jarvis_desktop.text.languages import is_foreign
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
"""Words before a path that is meant as a file, whatever its ending. Elsewhere, as in "what is
/usr/bin for", it may just be a word."""
_absolute = lazy_re(r"[/~\\]|[A-Za-z]:[/\\]")
_url = lazy_re(r"\b(?:https?://|www\.)[^\s<>\"'“”«»„]+", re.IGNORECASE)
_CLOSING = ".,;:!?)]}'"
"""Signs that end a sentence rather than an address."""
_as_output = lazy_re(
    r"(?:\bas|\binto|\b(?:call|name|nenne?) (?:it|them|that|this|the \w+|es|sie|das)|"
    r"\b(?:it|them|that|this) to|\b(?:it|them|those) in|\bin a file|"
    r"\b(?:save|store|write|export|create|speichere?|schreibe?)\b[^.;!?\n]{0,60}?\b(?:to|in|unter)|"
    r"\b(?:create|produce|generate)(?: (?:me|an?|another|new|file|table)){0,3}|"
    r"\b(?:save|store|write|export|put|keep|make|create|turn|convert|collect|gather)\b"
    r"[^.;!?\n]{0,60}?\b(?:called|named)|"
    r"(?:\b(?:into|as|to) (?:an?|one|another)|\bin one) (?:new |single )?(?:text |word )?"
    r"(?:file|table|csv|pdf|list|document|spreadsheet|chart),?|"
    r"\b(?:convert|turn|change|transcode|export|rename)\b[^;!?\n]{1,60}\bto|\bals|\bnach)\s*$",
    re.IGNORECASE,
)
_make = lazy_re(r"\b(?:make|write)(?: (?:me|an?|another|new|file|table)){0,3}\s*$", re.IGNORECASE)
"""Words before the name of a table or a text that is to be made; a picture may just be edited."""
_called = lazy_re(r"\b(?:called|named)\s*$", re.IGNORECASE)
_there = lazy_re(
    r"\b(?:have|'ve|has|got|my|this|that|the|there|attached|uploaded|given|provided|image|picture|"
    r"photo|audio|recording|sound|video|document|table|text)\b[^.;!?\n]*$",
    re.IGNORECASE,
)
"""Words before "named" that mean something that already exists."""


_writes_to = lazy_re(
    r"\b(?:write|save|store|put|list|collect|gather|note|record|export|join|merge|combine|make|"
    r"create|draw|plot|need|want|rename|concatenate|append)\b(?:[^.;!?\n]|\.(?=\w))*?"
    r"(?:\b(?:in|into|to|as|called|named)|,)"
    r"\s+(?:(?:an?|one|another|the)\s+)?(?:(?:new|single)\s+)?(?:(?:text|word)\s+)?"
    r"(?:(?:file|table|csv|pdf|list|picture|document|spreadsheet|chart)\s*,?\s*)?$",
    re.IGNORECASE,
)
"""Words before a name that nothing has yet, if other files are given: "put them into one PDF,
pages.pdf", "list those in dearer.csv"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a request, from `start` to `end`, that names something."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FileMention(Mention):
    """A file name or path. `output` means that it names a file to create."""

    output: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePath(self.text.replace("\\", "/")).name

    @property
    def is_absolute(self) -> bool:
        """Whether it says where the file is, so that it can be nowhere else."""
        return _absolute.match(self.text) is not None


def find_urls(text: str) -> list[Mention]:
    """Return the web addresses; one that begins with www gets https."""
    found = []
    for match in _url.finditer(text):
        words = match[0].rstrip(_CLOSING)
        if match[0][len(words) :].startswith(")") and "(" in words:
            words += ")"
        url = words if "://" in words else f"https://{words}"
        found.append(Mention(match.start(), match.start() + len(words), url))
    return found


def find_quotes(text: str) -> list[Mention]:
    """Return the quoted texts, without their quotation marks and without quoted file names."""
    return [item for item, is_file in _quoted(text) if item.text and not is_file]


def find_files(text: str) -> list[FileMention]:
    """Return the file names and paths. A file has a known extension, is quoted with spaces in it,
    or is a full path after words that say what to do with it."""
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
    """Yield what is in quotation marks, and whether it is the name of a file."""
    for match in _quotes.finditer(text):
        words = next(group for group in match.groups() if group is not None).strip()
        is_path = _is_path(words) and _is_done_to(text, match.start())
        yield Mention(match.start(), match.end(), words), is_path or _is_file_name(words)


def _is_done_to(text: str, start: int) -> bool:
    return _done_to.search(text[max(0, start - 40) : start]) is not None


def _is_path(words: str) -> bool:
    """Return whether it looks like a full path. One with spaces needs more than a leading slash:
    "/s is for sarcasm" is a text."""
    surely = words[:1] != "/" or "/" in words[1:] or not re.search(r"\s", words)
    return surely and _quoted_place.fullmatch(words) is not None


def _is_file_name(words: str) -> bool:
    stem, dot, extension = words.rpartition(".")
    known = extension.lower() in EXTENSIONS and "\n" not in words
    return bool(stem and dot) and known and len(words) <= 255


def _file(text: str, start: int, end: int, words: str) -> FileMention:
    before = text[max(0, start - 80) : start]
    made = bool(_called.search(before)) and not _there.search(before)
    written = kind_of_name(words) in (Kind.TABLE, Kind.DOCUMENT) and bool(_make.search(before))
    made = made or written or bool(_as_output.search(before))
    return FileMention(start, end, words, output=made)


_spoken_dot = lazy_re(
    rf"\b(\w+) dot ({'|'.join(sorted(EXTENSIONS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_to_know = lazy_re(
    r"\bi(?:'d| would| do)? (?:also |really |still )?(?:like|love|want|need|wish) to know\b"
)
_such_a_one = lazy_re(rf"\b(the (?:{'|'.join(inputs.ORDINALS)}|last)) one\b")
_courtesy = lazy_re(
    r"(?P<before>^|[.,;:!?]\s+|\band\s+)"
    r"(?:(?:hey|hi|hello|ok|okay)?,?\s*jarvis\b[,.!]?\s*)?"
    r"(?:(?:can|could|would|will) you\s+(?!do\b|help\b)|"
    r"i(?:'d like| would like| want| need) you to\s+|go ahead and\s+)?"
)
_filler = lazy_re(
    r"(?<=, )say,? (?=\d)|\b(?:please|kindly|for me|just|uh|um|danach|anschließend)\b,?"
)
_mark = lazy_re(r"\bx(quote|file)(\d+)x[a-z]*\b")
_unfinished = lazy_re(r"\b(?:as|to|into|by|with|using|called|named)\s*$", re.IGNORECASE)
"""Words that do not end an instruction: what follows their colon says how, or under which name."""
_names = lazy_re(
    r"(?:it|them|everything|(?:all )?(?:that|this|these|those|of (?:it|them)))|"
    rf"(?:(?:the|this|that|these|those|my|our|your|his|her|its|their)\s+(?:\w+\s+)?)?"
    rf"(?:{'|'.join(inputs.NOUNS)})s?(?:\s+\d+)?",
    re.IGNORECASE,
)
"""Words that name what to work on: "it", "the last page", "picture 2"."""

_noun_of: dict[Kind | None, str] = {
    Kind.IMAGE: "this picture", Kind.AUDIO: "this recording", Kind.VIDEO: "this video",
    Kind.TABLE: "this table", Kind.DOCUMENT: "this document",
}  # fmt: skip

MAX_HEAD_CHARS = 300
"""Characters of an instruction before a pasted text."""

MIN_TEXT_WORDS = 3
"""Words after a colon that are surely a text; fewer only if the task needs a text."""

MAX_INSTRUCTION_CHARS = 4000
"""Characters of a request without a pasted text."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request as the planner sees it.

    `text` is lower case, with xquote0x in place of a quotation, xfile0ximage in place of a named
    picture, and xfile0x in place of a file to create.
    """

    text: str
    quotes: tuple[str, ...] = ()
    files: tuple[FileMention, ...] = ()
    last_reply: str = ""
    """The last answer of this conversation."""
    made: frozenset[str] = frozenset()
    """Task types whose results of earlier turns may be meant: "that summary"."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """How words that are not lower case were written in the request."""
    has_body: bool = False
    """Whether the last of `quotes` is a text behind a colon, which the whole request is about."""
    original: str = ""
    """The words of a request that was not English, before parts of it were put into English."""

    def is_foreign(self, start: int, end: int) -> bool:
        """Return whether a part of `text` is not in English."""
        words = bare_words(self.text[start:end])
        return is_foreign(words) or bool(words and f" {words} " in self.original)

    def quotes_in(self, start: int, end: int) -> list[str]:
        """Return the quoted texts in a part of `text`."""
        return [self.quotes[number] for kind, number in self._marks(start, end) if kind == "quote"]

    def files_in(self, start: int, end: int) -> list[FileMention]:
        """Return the file names in a part of `text`."""
        return [self.files[number] for kind, number in self._marks(start, end) if kind == "file"]

    def as_said(self, start: int, end: int) -> str:
        """Return a part of `text` like `words`, with its capitals: "my dog is called Rex"."""
        words = self.text[start:end]
        return self._put_back(re.sub(r"\w+", lambda it: self.spelling.get(it[0], it[0]), words))

    def words(self, start: int, end: int) -> str:
        """Return a part of `text` with quotes and names put back."""
        return self._put_back(self.text[start:end])

    def with_nouns(self, start: int, end: int) -> str:
        """Return a part of `text` like `words`, with "this picture" in place of a.jpg: the encoder
        takes names for anything."""
        return self._put_back(self.text[start:end], nouns=True)

    def _put_back(self, text: str, *, nouns: bool = False) -> str:
        def original(match: re.Match[str]) -> str:
            number = int(match[2])
            if match[1] == "quote":
                return self.quotes[number]
            file = self.files[number]
            noun = _noun_of.get(kind_of_name(file.name)) if nouns and not file.output else None
            return noun or file.text

        return " ".join(_mark.sub(original, text).split())

    def _marks(self, start: int, end: int) -> list[tuple[str, int]]:
        found = [(match[1], int(match[2])) for match in _mark.finditer(self.text, start, end)]
        size = {"quote": len(self.quotes), "file": len(self.files)}
        return [(kind, number) for kind, number in found if number < size[kind]]


def bare_words(text: str) -> str:
    """Return the words of a text without any other signs."""
    return " ".join(re.findall(r"\w+", text))


def parse_request(
    text: str, inventory: Sequence[TaskType], context: Context, *, said: str = ""
) -> ParsedRequest:
    """Take quotes, a pasted text and file names out of a request, and normalize the rest. `said` is
    the request as it was, if parts of it were put into English."""
    text, body = split_pasted(text, inventory)
    written = _mark.sub(" ", _spoken_dot.sub(r"\1.\2", text))
    text = written.replace("’", "'")
    quoted: list[str] = []
    named: list[FileMention] = []
    spans: list[tuple[Mention, str]] = []
    for mention in sorted([*find_quotes(text), *find_files(text)], key=attrgetter("start")):
        if isinstance(mention, FileMention):
            if _is_to_be_made(mention, text, context):
                mention = replace(mention, output=True)
            kind = "" if mention.output else kind_of_name(mention.name) or ""
            spans.append((mention, f" xfile{len(named)}x{kind} "))
            begin = text.index(mention.text, mention.start)
            name = written[begin : begin + len(mention.text)]  # a file may be named "Ann’s.txt"
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
    spelled = reversed(re.findall(r"\w+", masked))  # the first of two spellings counts
    masked = _to_know.sub("tell me", re.sub(r"\bn\b", "and", masked.lower()))
    even = _courtesy.sub(r"\g<before>", _filler.sub(" ", masked))
    even = even if even.strip() else masked  # "hello Jarvis" is only courtesy
    plain = re.sub(r" {2,}", " ", even).strip()
    if "page" in plain:
        plain = _such_a_one.sub(r"\1 page", plain)  # "delete the last page and turn the first one"
    last = context.conversation.last if context.conversation else None
    earlier = () if context.attachments else inputs.conversation_resources(context)
    return ParsedRequest(
        intents.fix_typos(plain, inventory) if spans or body or context.attachments else plain,
        tuple(quoted),
        tuple(named),
        last_reply=last.reply if last else "",
        made=frozenset(item.task for item in earlier if item.task),
        spelling={word.lower(): word for word in spelled if word != word.lower()},
        has_body=bool(body),
        original=f" {bare_words(said.lower())} " if is_foreign(said) else "",
    )


def _is_to_be_made(mention: FileMention, text: str, context: Context) -> bool:
    """Return whether a name that none of the given files has is that of a file to write."""
    given = {item.title.lower() for item in context.attachments}
    if not given or mention.is_absolute or mention.name.lower() in given:
        return False
    return _writes_to.search(text[max(0, mention.start - 120) : mention.start]) is not None


def split_pasted(text: str, inventory: Sequence[TaskType]) -> tuple[str, str]:
    """Return the instruction and the pasted text it is about: "summarise this: ..."; "" if there is
    none.

    Pasted text is content and never read for what to do. An instruction is short, so a text of any
    length is split quickly. What a task reads as a whole is not split.
    """
    if len(text) <= MAX_HEAD_CHARS and intents.read_whole(text, inventory):
        return text, ""
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
    """Return whether the text asks for a task."""
    return bool(intents.find_cues(intents.fix_typos(text.lower(), inventory), inventory))


def _is_text(body: str, head: str, inventory: Sequence[TaskType]) -> bool:
    """Return whether the words after a colon are what the head asks to work on."""
    if len(body.split(None, MIN_TEXT_WORDS)) >= MIN_TEXT_WORDS:
        return _asks(head, inventory)
    return _takes(head, inventory) and not _only_points(body)


def _takes(text: str, inventory: Sequence[TaskType]) -> bool:
    """Return whether the task that the text asks for works on a text and reads no other words."""
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


def _only_points(words: str) -> bool:
    """Return whether a few words only name what to work on: a file, an address, "the text"."""
    bare = words.strip(" .,!?;:")
    named = find_files(words) or find_urls(words)
    return bool(not bare or named or _names.fullmatch(bare))
