"""Writes the answer of a turn: its results as they are, or what an LLM streams.

An LLM is not trusted: names of files, paths and links that nobody gave are removed while it writes
(`FileGuard`). What it says about results is checked before it is shown.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress

from jarvis_desktop.assistant.memory import messages
from jarvis_desktop.assistant.planning.inputs import CONVERTERS
from jarvis_desktop.assistant.planning.request_parser import EXTENSIONS
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.context import Urgency, llm_timeout, urgency
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.core.llm import (
    LLM,
    MAX_IMAGE_TOKENS,
    LLMs,
    Message,
    MessageRole,
    Prompt,
    answer,
    estimated_tokens,
)
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.text.languages import tongue
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.quotation import ANY_MARK, GIVEN, file_note, marked_off

SPEECH_TASK = "text-to-speech"
"""The task whose result is played rather than shown."""

_READING = frozenset(
    {
        *CONVERTERS,
        *("file-details", "image-classification", "image-editing", "image-to-image"),
        *("collect-values", "keyword-extraction", "object-detection", "token-classification"),
    }
)
"""Tasks that read or change a file, and answer no question."""

_question = lazy_re(
    r"[?？؟]|\b(?:which|what|who|whose|where|when|why|how|whether|compare|difference)\b",
    re.IGNORECASE,
)

_nouns = {
    Kind.IMAGE: mark("the picture {name}"),
    Kind.AUDIO: mark("the recording {name}"),
    Kind.VIDEO: mark("the video {name}"),
    Kind.TABLE: mark("the table {name}"),
    Kind.DOCUMENT: mark("the document {name}"),
}


MAX_MATERIAL_CHARS = 600
"""Characters of a text that are shown if the step that needed it failed; its card has all of it."""


def turn_status(turn: Turn) -> Status:
    """Done if every task was and the plan left no wish out, partly if some were, failed if none
    was."""
    results = list(turn.results.values())
    done = sum(result.status is Status.DONE for result in results)
    if done == len(results):
        return Status.PARTLY if done and turn.plan and turn.plan.undone else Status.DONE
    asked = {task.id for task in turn.plan.answers} if turn.plan else set()
    answered = any(result.status is Status.DONE and result.task_id in asked for result in results)
    return Status.PARTLY if answered or done else Status.FAILED


def compose_answer(turn: Turn) -> str:
    """The answer without an LLM: each requested result, then what could not be done."""
    if turn.plan is None:
        return ""
    done = shown_results(turn)
    several = len(done) > 1
    parts = [_labelled(turn, task, result, several) for task, result in done]
    notes = [*_not_done(turn), *_instead(turn)]
    if done and done[0][0] not in turn.plan.answers and len(parts[0]) > MAX_MATERIAL_CHARS:
        # Only what the answer would have been made of: it must not hide why there is none.
        parts, notes = notes, [f"{parts[0][:MAX_MATERIAL_CHARS]}…"]
    return "\n\n".join(part for part in [*parts, *notes] if part)


def asks_for_words(turn: Turn) -> bool:
    """Whether the request asks something that the results only give the material for.

    Results are the answer as they are. Words about them are asked for if there is a question, and
    several tasks read files without any of them answering it.
    """
    if turn.plan is None or not _question.search(turn.text):
        return False
    shown = shown_results(turn)
    texts = [result for _, result in shown if _text(result)]
    return len(texts) > 1 and all(task.type.name in _READING for task, _ in shown)


def shown_results(turn: Turn) -> list[tuple[Task, TaskResult]]:
    """The results that the answer shows: the requested ones, or the last one that was reached."""
    assert turn.plan is not None
    done = [task for task in turn.plan if _status(turn, task) is Status.DONE]
    asked = [task for task in turn.plan.answers if task in done]
    return [(task, turn.results[task.id]) for task in asked or done[-1:]]


def _not_done(turn: Turn) -> list[str]:
    assert turn.plan is not None
    failed = [task for task in turn.plan if _status(turn, task) is Status.FAILED]
    skipped = [task for task in turn.plan if _status(turn, task) is Status.SKIPPED]
    parts = [
        tr("Not done: {step}. {reason}", step=task.type.called, reason=turn.results[task.id].reason)
        for task in failed
    ]
    if skipped:
        titles = ", ".join(task.type.called for task in skipped)
        parts.append(tr("Left out, because it needed that: {steps}.", steps=titles))
    return parts


def _instead(turn: Turn) -> list[str]:
    """Which experts did what others had failed at."""
    parts: dict[str, None] = {}
    for result in turn.results.values():
        if result.status is not Status.DONE or not result.attempts:
            continue
        doer = result.attempts[-1].candidate
        failures = {
            item.candidate.expert.id: item.error
            for item in result.attempts[:-1]
            if item.candidate.expert != doer.expert and not item.candidate.built_in
        }
        if failures:
            names, why = both(*failures), list(failures.values())[-1]
            words = (
                tr(
                    "The built-in way was used, because {experts} failed: {reason}",
                    experts=names,
                    reason=why,
                )
                if doer.built_in
                else tr(
                    "{expert} was used, because {experts} failed: {reason}",
                    expert=doer.expert.id,
                    experts=names,
                    reason=why,
                )
            )
            parts[words] = None
    return list(parts)


def _status(turn: Turn, task: Task) -> Status | None:
    result = turn.results.get(task.id)
    return result.status if result else None


def _labelled(turn: Turn, task: Task, result: TaskResult, several: bool) -> str:
    words = (
        spoken_text(turn, task) if task.type.name == SPEECH_TASK else _describe(result.artifacts)
    )
    return f"{_label(turn, task)}: {words}" if several else words


def _label(turn: Turn, task: Task) -> str:
    """The task's name, with its file if several tasks share the name."""
    title = task.type.called
    assert turn.plan is not None
    twins = [other for other in turn.plan.answers if other.type == task.type]
    names = [item.title for _, item in task.items() if isinstance(item, Artifact) and item.path]
    return f"{title} ({names[0]})" if len(twins) > 1 and names else title


def _describe(artifacts: tuple[Artifact, ...]) -> str:
    texts = [item.text for item in artifacts if item.text]
    if texts:
        return "\n".join(texts)
    names = [
        tr(_nouns.get(item.kind, mark("the result {name}")), name=item.title) for item in artifacts
    ]
    # TRANSLATORS: the files that were made, such as "the picture a.png and the table b.csv"
    return tr("Here is {files}.", files=both(*names))


def spoken_text(turn: Turn, task: Task) -> str:
    """The text that a speech task spoke."""
    texts: list[str] = []
    for _, item in task.items():
        if isinstance(item, Ref):
            result = turn.results[item.task_id]
            texts += [made.text for made in result.of_kind((Kind.TEXT,)) if made.text]
        elif isinstance(item, Artifact):
            texts.append(item.text or "")
        else:
            texts.append(str(item))
    return "\n\n".join(texts)


MIN_TEXT_BYTES = 200
"""The minimum for every text, however little room there is."""


def format_results(turn: Turn, *, budget: int) -> tuple[str, str]:
    """The results of every task of the turn's plan in about `budget` tokens.

    Long texts are cut, the longest first. The second value is a note for the trace about it, or "".
    """
    assert turn.plan is not None
    asked = {task.id for task, _ in shown_results(turn)}
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
    left_out = f"Too long for the prompt, so cut: {cut} of the results." if cut else ""
    return "\n\n".join(parts), left_out


def _head(task: Task, result: TaskResult) -> str:
    """A task and how it ended, without its texts."""
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
    """The bytes that each text may keep: all of short texts, equally many of long ones."""
    shares = [0] * len(sizes)
    texts = sorted((size, place) for place, size in enumerate(sizes) if size)
    for number, (size, place) in enumerate(texts):
        fair = max(room // (len(texts) - number), MIN_TEXT_BYTES)
        shares[place] = min(size, fair)
        room -= shares[place]
    return shares


def _cut(text: str, size: int) -> str:
    whole = text.encode(errors="replace")
    if len(whole) <= size:
        return text
    kept = whole[:size].decode(errors="ignore")
    return f"{kept} … (the first {len(kept):,} of {len(text):,} characters)"


MISSING_FILE = "(a file that is not there)"
MISSING_LINK = "(link removed)"

MAX_WORD_CHARS = 1000
"""A longer run without a space is not a file name and is not waited for."""

_STOPS = ".,;:!?"
# In scripts written without spaces, a name begins where such letters end.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uf900-\uffef"
_UNSPACED += "\U00020000-\U0003ffff"
_LETTER = rf"[^\W_{_UNSPACED}]"
_NAME = rf"(?:{_LETTER}|[_.+~%-])"
# Case is ignored only where it matters: with it, classes of letters take 0.1 s to compile.
_SUFFIX = rf"\.(?i:{'|'.join(sorted(EXTENSIONS, key=len, reverse=True))})(?!{_LETTER})"
_token = lazy_re(
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
_open = lazy_re(rf"(?:`+|[{_UNSPACED}]?[^\s\"'`<>()\[\]{{}}{_UNSPACED}]*)\Z")


def without_invented_files(known: str, said: str) -> str:
    """The text without files and links that are not in `known`."""
    guard = FileGuard(known)
    return guard.feed(said) + guard.rest()


class FileGuard:
    """Filters the pieces of an answer. A word is held back until it is complete."""

    def __init__(self, known: str, *, examples: bool = False) -> None:
        """`known` is everything the LLM was given: names in it are not invented.

        `examples` allows names in code, as explanations of programs need them.
        """
        found = [_plain(match[0]) for match in _token.finditer(known)]
        self._known = {name for word in found for name in (word, _last(word))}
        self._examples = examples
        self._held = ""
        self._before = ""
        self._fenced = False
        self._in_code = False
        self.taken_out = 0
        """The number of names removed so far."""

    def feed(self, piece: str) -> str:
        """Return what may be shown of the answer now."""
        # In slices: the search for an unfinished word is quadratic in a run without spaces.
        slices = range(0, len(piece), MAX_WORD_CHARS)
        return "".join(self._fed(piece[at : at + MAX_WORD_CHARS]) for at in slices)

    def _fed(self, piece: str) -> str:
        self._held += piece
        cut = _open.search(self._held)
        end = cut.start() if cut else len(self._held)
        return self._let_out(len(self._held) if len(self._held) - end > MAX_WORD_CHARS else end)

    def rest(self) -> str:
        """Return what was held back at the end."""
        return self._let_out(len(self._held))

    def _let_out(self, end: int) -> str:
        whole, self._held = self._before + self._held[:end], self._held[end:]
        # Keep one character, which may not precede a name.
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
        """Whether it is a name in code, except that of a picture in inline code."""
        if self._fenced:
            return self._examples
        media = kind_of_name(word) in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO)
        return self._examples and self._in_code and not media

    def _without(self, match: re.Match[str]) -> str:
        word = match[0]
        ending = word[len(word.rstrip(_STOPS)) :]
        name = _last(word)
        if not match["link"] and kind_of_name(name) and _plain(name) in self._known:
            return name + ending  # an existing file in a folder that does not exist
        self.taken_out += 1
        return (MISSING_LINK if match["link"] else MISSING_FILE) + ending


def _plain(word: str) -> str:
    """The name in the form that is compared."""
    return unicodedata.normalize("NFC", word).lower().strip("_").rstrip(_STOPS)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip(_STOPS + "/\\"))[-1]


WARM_INTERVAL_S = 240.0
"""Servers keep a prompt and an LLM in memory for some minutes."""
WORDS_TOKENS = 120
"""Tokens of what an LLM adds to results."""
MAX_RESULT_TOKENS = 1200
"""Tokens of the results that it sees."""
WORDS_TIMEOUT_S = 20.0

_instructions = lazy_re(
    r"\b(?:you (?:can|could|would|should|need to|have to)|follow (?:these|the) steps|step 1\b|"
    r"use the (?:following|expert)|I(?:'m| am) (?:sorry|unable)|as an AI)\b|^\s*[{<\[#]|```",
    re.IGNORECASE,
)
_number = lazy_re(r"\d+(?:[.,:]\d+)*")


def _objection(words: str, given: str, turn: Turn) -> str:
    """Why these words about results must not be shown; "" if they may."""
    low, known = words.lower(), {*_number.findall(given)}
    names = [task.type.name for task in turn.plan or ()]
    names += [
        item.attempts[-1].candidate.expert.id for item in turn.results.values() if item.attempts
    ]
    if not words or _instructions.search(words):
        return "it tells the user what to do"
    if any(name.lower() in low for name in names if "-" in name or any(map(str.isdigit, name))):
        return "it names a task or an expert"
    if not known.issuperset(_number.findall(words)):
        return "it has numbers that the results have not"
    foreign = tongue(words) != tongue(turn.text) and "unclear" not in (
        *(tongue(words), tongue(turn.text)),
    )
    return "it is in another language" if foreign else ""


MAX_ANSWER_TOKENS = 1500
"""For small context windows, a quarter of the window."""

Say = Callable[[str], None]


class AnswerWriter:
    """Writes answers, piece by piece, into a `say` function."""

    def __init__(self, llms: LLMs, prompts: Prompts) -> None:
        self._llms = llms
        self._prompts = prompts
        self._warm_until = 0.0

    async def direct(
        self, text: str, context: Context, say: Say, *, within: float | None = None
    ) -> Status:
        """Answer without experts. Return done, or partly if the answer broke off.

        Raises UnavailableError if there is no LLM, ExpertError if its first word does not come
        `within` these seconds, and what the LLM raises before it.
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
        broken = await _stream(llm, prompt, context, say, examples=True, within=within)
        if broken:
            say(f"\n\n{broken}")
        return Status.PARTLY if broken else Status.DONE

    async def warm(self) -> None:
        """Let an LLM on this computer read how a direct answer begins, which its server keeps: the
        next question is then answered sooner. Raises nothing."""
        now = asyncio.get_running_loop().time()
        if now < self._warm_until:
            return
        self._warm_until = now + WARM_INTERVAL_S
        with suppress(JarvisError), urgency(Urgency.BACKGROUND):
            llm = await self._llms.current()
            if llm is not None and not llm.remote:
                system = self._system("direct", Context())
                # The answer is cut short, because only the reading counts.
                await answer(llm, Prompt((system, Message(MessageRole.USER, "?")), longest=1))

    async def of_results(self, turn: Turn, context: Context, say: Say) -> Status:
        """Say the results of the turn's plan, as they are. Return how the turn went.

        If the request asks for words about them, an LLM adds a sentence or two, unless it says what
        the results do not.
        """
        say(compose_answer(turn))
        if asks_for_words(turn) and (words := await self._words_about(turn, context)):
            say(f"\n\n{words}")
        return turn_status(turn)

    async def _words_about(self, turn: Turn, context: Context) -> str:
        """What an LLM says about the results; "" if there is none, or its words are of no use."""
        try:
            llm = await self._llms.current()
            if llm is None:
                return ""
            async with llm_timeout(WORDS_TIMEOUT_S):
                prompt = self._about(turn, llm, context)
                words = (await answer(llm, prompt)).strip()
        except (JarvisError, TimeoutError) as error:
            context.trace(f"Nothing is added to the results: {error}")
            return ""
        given = prompt.messages[-1].text
        if objection := _objection(words, given, turn):
            context.trace(f"What the LLM said about the results is left out: {objection}.")
            return ""
        return without_invented_files(given, words)

    def _about(self, turn: Turn, llm: LLM, context: Context) -> Prompt:
        system = self._system("answer", context, mark=ANY_MARK)
        request = f"My request: {_with_names(turn.text, turn.attachments)}"
        room = _room(llm, system, Message(MessageRole.USER, request))
        budget = min(room * 3 // 4, MAX_RESULT_TOKENS)
        results, left_out = format_results(turn, budget=budget)
        if left_out:
            context.trace(left_out)
        results = marked_off(results, turn.text)
        asked = Message(MessageRole.USER, f"{results}\n\n{request}")
        return Prompt((system, asked), longest=WORDS_TOKENS)

    def _system(self, name: str, context: Context, **values: str) -> Message:
        template = self._prompts.template(name)
        context.trace(f"Prompt: {template.label}.")
        return Message(MessageRole.SYSTEM, template.filled(**values))


def _prompt(llm: LLM, system: tuple[Message], request: Message, context: Context) -> Prompt:
    """The prompt with as much of the conversation as fits; the request is never cut.

    Half of the room is left for LLMs that think before they write.
    """
    earlier, left_out = messages(context, max(0, _room(llm, *system, request) // 2))
    if left_out:
        context.trace(left_out)
    return Prompt((*system, *earlier, request), longest=_longest(llm))


def _room(llm: LLM, *fixed: Message) -> int:
    pictures = sum(len(message.images) for message in fixed)
    return llm.window - _longest(llm) - Prompt(fixed).tokens - MAX_IMAGE_TOKENS * pictures


def _longest(llm: LLM) -> int:
    return min(MAX_ANSWER_TOKENS, llm.window // 4)


async def _stream(
    llm: LLM,
    prompt: Prompt,
    context: Context,
    say: Say,
    *,
    examples: bool = False,
    within: float | None = None,
) -> str:
    """Say what the LLM writes. Return why it broke off, or "".

    Raises JarvisError if it fails before its first word, says nothing, or does not begin `within`
    these seconds.
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
        async with llm_timeout(within) as limit:
            # Nothing is awaited in between, so that cancelling always reaches the LLM's own work.
            async for piece in llm.stream(prompt):
                let_out(guard.feed(piece))
                if piece.strip():
                    limit.lift()
    except TimeoutError as error:
        raise ExpertError(
            tr("{name} did not begin to answer in time.", name=llm.name),
            hint=tr("Ask for one thing at a time, or choose a faster LLM: jarvis-desktop llm list"),
        ) from error
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
    """The request with the names of its files."""
    names = [f"{item.kind} “{one_line(item.title)}”" for item in attachments[:20]]
    return f"{text}\n{file_note(GIVEN, ', '.join(names))}" if names else text
