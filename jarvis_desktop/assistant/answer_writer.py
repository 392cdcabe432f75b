"""Lets an LLM write the answer, as a stream: in its own words, or about what the experts found.

It is given results as data, and what it says is not taken on trust: names of files that nobody
gave are taken out, and what it may not be relied on for stands below its words.

The results of a turn as material for an LLM: marked off, and as long as its prompt allows.

Lets no file be invented: names, paths and links that nobody gave are taken out of an answer
while it streams."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence

from jarvis_desktop.assistant import answer_template
from jarvis_desktop.assistant.memory import messages
from jarvis_desktop.assistant.planning.request_parser import EXTENSIONS
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import (
    LLM,
    PICTURE,
    LLMs,
    Message,
    MessageRole,
    Prompt,
    estimated_tokens,
)
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn

SHORTEST = 200
"""Bytes that every text gets, however little room there is."""


def told(turn: Turn, mark: str, *, budget: int) -> tuple[str, str]:
    """What every task of the turn's plan gave, in about `budget` tokens, between marks.

    Long texts are cut, the longest first. The second value says so for the trace; "" where
    nothing was cut.
    """
    assert turn.plan is not None
    asked = {task.id for task, _ in answer_template.shown(turn)}
    blocks = [(task, turn.results[task.id]) for task in turn.plan if task.id in turn.results]
    texts = [_text(result) if task.id in asked else "" for task, result in blocks]
    heads = [_head(task, result) for task, result in blocks]
    room = 3 * (budget - estimated_tokens("\n\n".join(heads)))
    sizes = [len(text.encode(errors="replace")) for text in texts]
    shares = _shares(sizes, room)
    parts = [
        head + (f"\ntext:\n{_cut(text, share)}" if text else "")
        for head, text, share in zip(heads, texts, shares, strict=True)
    ]
    cut = sum(share < size for share, size in zip(shares, sizes, strict=True))
    body = "\n\n".join(parts).replace(mark, "")
    left_out = f"Too long for the prompt, so cut: {cut} of the results." if cut else ""
    return f"<data-{mark}>\n{body}\n</data-{mark}>", left_out


def _head(task: Task, result: TaskResult) -> str:
    """A task and how it ended, without the texts it gave."""
    given = [item.title for _, item in task.items() if isinstance(item, Artifact) and item.path]
    lines = [f"{task.type.title}: {result.status.value}"]
    if given:
        lines.append(f"given: {_names(given)}")
    if result.status is Status.DONE:
        if result.attempts:
            lines.append(f"expert: {one_line(result.attempts[-1].candidate.label)}")
        if files := [item.title for item in result.artifacts if item.path]:
            lines.append(f"files: {_names(files)}")
    elif result.reason:
        lines.append(f"why: {one_line(result.reason, limit=400)}")
    return "\n".join(lines)


def _names(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - 20} more" if len(titles) > 20 else ""
    return ", ".join(one_line(title) for title in titles[:20]) + more


def _text(result: TaskResult) -> str:
    return "\n\n".join(item.text for item in result.artifacts if item.text)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """How many of its bytes each text may keep: short ones all, long ones equally many."""
    shares = [0] * len(sizes)
    texts = sorted((size, place) for place, size in enumerate(sizes) if size)
    for number, (size, place) in enumerate(texts):
        fair = max(room // (len(texts) - number), SHORTEST)
        shares[place] = min(size, fair)
        room -= shares[place]
    return shares


def _cut(text: str, size: int) -> str:
    whole = text.encode(errors="replace")
    if len(whole) <= size:
        return text
    kept = whole[:size].decode(errors="ignore")
    return f"{kept} … (the first {len(kept):,} of {len(text):,} characters)"


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


LONGEST = 1500
"""Tokens of an answer; of a small window a quarter."""

Say = Callable[[str], None]


class Answerer:
    """Writes answers piece by piece into a `say`."""

    def __init__(self, llms: LLMs, prompts: Prompts) -> None:
        self._llms = llms
        self._prompts = prompts

    async def direct(self, text: str, context: Context, say: Say) -> Status:
        """Answer without experts: done, or partly where the answer broke off.

        Raises UnavailableError where there is no LLM, and what the LLM raises before it said
        anything.
        """
        llm = await self._llms.current()
        if llm is None:
            raise UnavailableError(
                tr("There is no language model to answer that now."),
                hint=tr("jarvis-desktop doctor says why."),
            )
        system = self._system("direct", context)
        seen = [item.path for item in context.attachments if item.kind is Kind.IMAGE and item.path]
        asked = _with_names(text, context.attachments)
        request = Message(MessageRole.USER, asked, tuple(seen) if llm.sees else ())
        prompt = _prompt(llm, (system,), request, context)
        broken = await _stream(llm, prompt, context, say, examples=True)
        if broken:
            say(f"\n\n{broken}")
        return Status.PARTLY if broken else Status.DONE

    async def of_results(self, turn: Turn, context: Context, say: Say) -> Status:
        """Answer from the results of the turn's plan; how the turn went.

        Where no words are needed, no LLM is there or it fails before it said anything, the answer
        is the template's.
        """
        said: list[str] = []

        def keep(piece: str) -> None:
            said.append(piece)
            say(piece)

        outcome = answer_template.outcome(turn)
        try:
            llm = None if answer_template.speaks_for_itself(turn) else await self._llms.current()
            if llm is None:
                say(answer_template.compose(turn))
                return outcome
            broken = await _stream(llm, self._about(turn, llm, context), context, keep)
        except JarvisError as error:
            context.trace(f"The answer is not the LLM's: {error}")
            say(answer_template.compose(turn))
            return outcome
        rest = (
            answer_template.compose(turn) if broken else answer_template.below(turn, "".join(said))
        )
        for paragraph in filter(None, (broken, rest)):
            say(f"\n\n{paragraph}")
        return Status.PARTLY if broken and outcome is Status.DONE else outcome

    def _about(self, turn: Turn, llm: LLM, context: Context) -> Prompt:
        mark = secrets.token_hex(6)
        system = self._system("answer", context, mark=mark)
        request = f"My request: {_with_names(turn.text, turn.attachments)}"
        room = _room(llm, system, Message(MessageRole.USER, request))
        results, left_out = told(turn, mark, budget=room * 3 // 4)
        if left_out:
            context.trace(left_out)
        return _prompt(
            llm, (system,), Message(MessageRole.USER, f"{results}\n\n{request}"), context
        )

    def _system(self, name: str, context: Context, **values: str) -> Message:
        template = self._prompts.template(name)
        context.trace(f"Prompt: {template.label}.")
        return Message(MessageRole.SYSTEM, template.filled(**values))


def _prompt(llm: LLM, system: tuple[Message], request: Message, context: Context) -> Prompt:
    """The prompt with as much of the conversation as fits; the request itself is never cut.

    Half of the room is left to an LLM that thinks before it writes.
    """
    earlier, left_out = messages(context, max(0, _room(llm, *system, request) // 2))
    if left_out:
        context.trace(left_out)
    return Prompt((*system, *earlier, request), longest=_longest(llm))


def _room(llm: LLM, *fixed: Message) -> int:
    pictures = sum(len(message.images) for message in fixed)
    return llm.window - _longest(llm) - Prompt(fixed).tokens - PICTURE * pictures


def _longest(llm: LLM) -> int:
    return min(LONGEST, llm.window // 4)


async def _stream(
    llm: LLM, prompt: Prompt, context: Context, say: Say, *, examples: bool = False
) -> str:
    """Say what the LLM writes; the reason where it broke off in the middle, else "".

    Raises JarvisError where it failed before it said anything, or says nothing at all.
    """
    context.trace(f"The answer is written by {llm.name} ({llm.provider}).")
    given = "\n".join(item.text for item in prompt.messages if item.role is not MessageRole.SYSTEM)
    guard = FileGuard(given, examples=examples)
    broken, begun = "", False

    def let_out(text: str) -> None:
        nonlocal begun
        text = text if begun else text.lstrip()
        if text:
            begun = True
            say(text)

    try:
        # Nothing is awaited in between, so that a stop always reaches the LLM's own work.
        async for piece in llm.stream(prompt):
            let_out(guard.feed(piece))
    except JarvisError as error:
        if not begun:
            raise
        broken = tr("The answer broke off here: {error}", error=error)
    let_out(guard.rest())
    if guard.taken_out:
        context.trace(f"Names that nobody gave, taken out of the answer: {guard.taken_out}.")
    if not begun:
        raise ExpertError(
            tr("{name} gave an empty answer.", name=llm.name), hint=tr("Ask again in other words.")
        )
    return broken


def _with_names(text: str, attachments: Sequence[Artifact]) -> str:
    """The request, and what the files are called that came with it."""
    names = [f"{item.kind} “{one_line(item.title)}”" for item in attachments[:20]]
    return f"{text}\n[Given: {', '.join(names)}]" if names else text
