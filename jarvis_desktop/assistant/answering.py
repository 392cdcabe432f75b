"""Lets an LLM write the answer, as a stream: in its own words, or about what the experts found.

It is given results as data, and what it says is not taken on trust: names of files that nobody
gave are taken out, and what it may not be relied on for stands below its words.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from jarvis_desktop.assistant import findings, responder
from jarvis_desktop.assistant.file_guard import FileGuard
from jarvis_desktop.assistant.memory import messages
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.llm import LLM, PICTURE, LLMs, Message, Prompt, Role
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr

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
        request = Message(Role.USER, asked, tuple(seen) if llm.sees else ())
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

        outcome = responder.outcome(turn)
        try:
            llm = None if responder.speaks_for_itself(turn) else await self._llms.current()
            if llm is None:
                say(responder.compose(turn))
                return outcome
            broken = await _stream(llm, self._about(turn, llm, context), context, keep)
        except JarvisError as error:
            context.trace(f"The answer is not the LLM's: {error}")
            say(responder.compose(turn))
            return outcome
        rest = responder.compose(turn) if broken else responder.below(turn, "".join(said))
        for paragraph in filter(None, (broken, rest)):
            say(f"\n\n{paragraph}")
        return Status.PARTLY if broken and outcome is Status.DONE else outcome

    def _about(self, turn: Turn, llm: LLM, context: Context) -> Prompt:
        mark = secrets.token_hex(6)
        system = self._system("answer", context, mark=mark)
        request = f"My request: {_with_names(turn.text, turn.attachments)}"
        room = _room(llm, system, Message(Role.USER, request))
        results, left_out = findings.told(turn, mark, budget=room * 3 // 4)
        if left_out:
            context.trace(left_out)
        return _prompt(llm, (system,), Message(Role.USER, f"{results}\n\n{request}"), context)

    def _system(self, name: str, context: Context, **values: str) -> Message:
        template = self._prompts.template(name)
        context.trace(f"Prompt: {template.label}.")
        return Message(Role.SYSTEM, template.filled(**values))


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
    given = "\n".join(item.text for item in prompt.messages if item.role is not Role.SYSTEM)
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
