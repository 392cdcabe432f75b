"""Dictation: what the user says is written at the caret of any program, and is never a request.

It has a separate `Talk`, which knows keys and microphones; only where the words go is different.
What was dictated is kept before it is inserted, so that nothing is lost if that fails.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InsertionError, JarvisError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import LLMs, Message, MessageRole, Prompt, estimated_tokens
from jarvis_desktop.core.speech import (
    Loudness,
    Partial,
    TalkEvent,
    Talking,
    TextInserter,
    Transcript,
    Unheard,
)
from jarvis_desktop.text.dictation import DictationRules
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.quotation import marked_off

log = logging.getLogger(__name__)

NOTHING_LEFT = mark("Nothing is left to be written.")
UNEXPECTED = mark("Something went wrong while writing. The log has the details.")

DictationPhase = Literal[
    "idle", "waiting", "listening", "recognising", "tidying", "writing", "written", "failed"
]
ACTIVE: tuple[DictationPhase, ...] = ("waiting", "listening", "recognising", "tidying")
"""The phases in which dictation can be cancelled."""
LISTENS = ACTIVE[:3]


@dataclass(frozen=True, slots=True)
class DictationState:
    """What is shown of a dictation."""

    phase: DictationPhase = "idle"
    words: Partial = Partial()  # noqa: RUF009 - it is frozen
    """What would be written now; at the end exactly what is written."""
    held: bool = False
    """Whether it ends when the key is released."""
    message: str = ""
    """Why it failed, or what the user should know."""
    rest: str = ""
    """The text that could not be inserted, which is offered."""


class DictationFront(Protocol):
    """Where dictation is shown: above all windows, or in a terminal."""

    def show(self, state: DictationState) -> None:
        """Show this from now on. Called on the loop; returns at once."""

    def level(self, level: float) -> None:
        """Show the loudness, 0 to 1. Called on the loop; returns at once."""

    async def objection(self) -> str | None:
        """Return None if another program has the focus; else why text must not be put into the
        field of this one, or "" if it may."""

    async def take(self, text: str) -> bool:
        """Put the text at the caret of this program; return False if another one has the focus.

        Raises JarvisError.
        """


class DictationSession:
    """Belongs to the event loop. `keep` saves what was dictated, `clean_up` tidies it up, and
    `escape` lets Esc cancel in any program as long as it was last called with True."""

    def __init__(
        self,
        talk: Talk,
        inserter: TextInserter,
        *,
        keep: Callable[[str], None],
        clean_up: Callable[[str], Awaitable[str]],
        escape: Callable[[bool], None] = lambda on: None,
    ) -> None:
        self.front: DictationFront | None = None
        self.rules = DictationRules()
        self.tidies = False
        """Whether `clean_up` is used."""
        self.spaces = False
        """Whether a space is written after each text."""
        self.state = DictationState()
        self.talk = talk
        self._inserter = inserter
        self._keep = keep
        self._clean_up = clean_up
        self._escape = escape
        self._began = False
        self._writing = 0
        """How many texts are yet to be written."""
        self._note = ""
        """What Talk reported of the current dictation."""
        self._failed: DictationState | None = None
        """The last text that could not be inserted, until the user has seen that."""
        self._tidying: asyncio.Task[str] | None = None
        self._turn = asyncio.Lock()
        self._released = asyncio.Event()
        """Set while no key is held, which would change what is typed."""
        self._released.set()
        self._tasks: set[asyncio.Task[None]] = set()
        talk.front = self

    @property
    def active(self) -> bool:
        """Whether somebody dictates now."""
        return self.talk.taken

    def toggle(self) -> None:
        """Start to listen until the next call, or stop."""
        self.talk.stop() if self.active else self.talk.start(held=True)

    def cancel(self) -> bool:
        """Forget what was said. Return False if there was nothing to cancel."""
        if self.state.phase not in ACTIVE:
            return False
        self.talk.cancel()
        if self._tidying:
            self._tidying.cancel()
        self._show(self._failed or DictationState())
        return True

    def dismiss(self) -> None:
        """Hide what was shown of the last dictation; show one that failed before it."""
        failed, self._failed = self._failed, None
        if self.state.phase in ("written", "failed"):
            self._show(failed if failed and failed is not self.state else DictationState())

    async def paste(self, text: str) -> None:
        """Insert an earlier text again."""
        async with self._turn:
            await self._insert(text)

    async def settled(self) -> None:
        """Wait until all that was said is written."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def close(self) -> None:
        """Close the microphone, and restore the keyboard."""
        await self.talk.close()
        for task in self._tasks:
            task.cancel()
        await self.settled()
        self._escape(False)
        await asyncio.to_thread(self._inserter.close)

    # What Talk reports

    def barge_in(self) -> None:
        """Let running requests continue: dictation is not for them."""

    def show(self, event: TalkEvent) -> None:
        """Show how it goes."""
        if isinstance(event, Loudness):
            if self.front:
                self.front.level(event.level)
        elif isinstance(event, Partial):
            self._show(replace(self.state, words=self._written(event)))
        elif isinstance(event, Unheard):
            self._note = event.reason
            phase = self.state.phase if self.active else "failed"
            self._show(replace(self.state, phase=phase, message=event.reason))
        else:
            self._show_talking(event)

    def heard(self, transcript: Transcript) -> None:
        """Write this."""
        self._writing += 1
        self._work(self._write(transcript))

    def _show_talking(self, talking: Talking) -> None:
        listens = talking.state in ("waiting", "listening")
        if listens and not self._began:
            self._note = ""
            self.state = DictationState()
            self._work(self._check())
        if self._began and not listens:
            self._work(self._aim())
        self._began = listens
        if listens and talking.held:
            self._released.clear()
        else:
            self._released.set()
        if talking.state != "idle":
            phase: DictationPhase = talking.state
            self._show(replace(self.state, phase=phase, held=talking.held))
        elif self.state.phase in LISTENS and not self._writing:  # nothing could be heard
            self._show(replace(self.state, phase="failed", message=self._note))

    def _written(self, partial: Partial) -> Partial:
        whole, settled = self.rules.written(partial.text), self.rules.written(partial.settled)
        if not whole.startswith(settled):  # such as before "scratch that"
            return Partial("", whole)
        return Partial(settled, whole[len(settled) :].lstrip(" "))

    async def _check(self) -> None:
        """End it at once if nothing could be written here, such as in a field for passwords."""
        reason = await self.front.objection() if self.front else None
        if reason is None:
            reason = await asyncio.to_thread(self._inserter.check)
        if reason:
            self.talk.cancel()
            self._show(DictationState("failed", message=reason))

    async def _aim(self) -> None:
        """Insert into the program that has the focus now, when the key is released."""
        if not self._turn.locked():
            await asyncio.to_thread(self._inserter.aim)

    async def _write(self, transcript: Transcript) -> None:
        async with self._turn:
            self._writing -= 1
            text = self.rules.written(transcript.text)
            if not text:
                self._end(DictationState("failed", message=tr(NOTHING_LEFT)))
                return
            if self.tidies:
                self._end(DictationState("tidying", Partial(text)))
                self._tidying = asyncio.ensure_future(self._clean_up(text))
                try:
                    text = await self._tidying
                finally:
                    self._tidying = None
            self._keep(text)
            text += " " if self.spaces and not text.endswith("\n") else ""
            await self._insert(text, " ".join(filter(None, (self._note, transcript.note))))

    async def _insert(self, text: str, note: str = "") -> None:
        self._end(DictationState("writing", Partial(text)))
        await self._released.wait()
        try:
            if not (self.front and await self.front.take(text)):
                await asyncio.to_thread(self._inserter.insert, text)
        except InsertionError as error:
            failed = DictationState("failed", Partial(text), message=str(error), rest=error.rest)
        except JarvisError as error:
            failed = DictationState("failed", Partial(text), message=str(error), rest=text)
        else:
            self._end(DictationState("written", Partial(text), message=note))
            return
        self._failed = failed
        self._end(failed)

    def _end(self, state: DictationState) -> None:
        """Show the result of a dictation, unless the next one is being spoken."""
        if not self.active:
            self._show(state)

    def _show(self, state: DictationState) -> None:
        was, self.state = self.state.phase in ACTIVE, state
        if was != (state.phase in ACTIVE):
            self._escape(not was)
        if self.front:
            self.front.show(state)

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        async def do() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - no dictation may end in silence
                log.error("A dictation ended in an unexpected error: %s", frames(error))
                self._show(DictationState("failed", message=tr(UNEXPECTED)))

        task = asyncio.create_task(do())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


LIMIT_S = 1.0
"""Seconds that are waited for the LLM that tidies up."""
MIN_SHARE = 0.6
"""Of the words; a text with fewer lost more than hesitations."""

_word = lazy_re(r"\w+(?:['’]\w+)*")


async def tidied_up(llms: LLMs, prompts: Prompts, text: str, *, limit: float = LIMIT_S) -> str:
    """Return dictated text tidied up, or as it was if that fails in any way or takes longer than
    `limit`. An LLM of this computer does it: it may leave words out, and never write others."""
    try:
        async with asyncio.timeout(limit):
            llm = await llms.current()
            if llm is None or llm.remote:
                return text
            prompt = Prompt(
                (
                    Message(MessageRole.SYSTEM, prompts.template("clean_up").text),
                    Message(MessageRole.USER, marked_off(text, "dictation")),
                ),
                longest=estimated_tokens(text) + 32,
            )
            async with aclosing(llm.stream(prompt)) as pieces:  # type: ignore[type-var]
                tidied = "".join([piece async for piece in pieces])
    except (TimeoutError, JarvisError) as error:
        log.info("a dictation was not tidied up: %s", frames(error))
        return text
    tidied = tidied.strip(" ").removeprefix("\n").removesuffix("\n")
    return tidied if only_leaves_out(tidied, text) else text


def only_leaves_out(tidied: str, text: str) -> bool:
    """Whether the words of `tidied` are words of `text` in their order, and most of them, with its
    line breaks and without new signs other than punctuation."""
    before, after = (_word.findall(each.casefold()) for each in (text, tidied))
    left = iter(before)
    if not all(word in left for word in after) or len(after) < MIN_SHARE * len(before):
        return False
    new = Counter(_word.sub("", tidied)) - Counter(_word.sub("", text))
    return "\n" not in new and set(new) <= set(" .,;:!?…-–—'’\"“”„«»()。，；：！？、")
