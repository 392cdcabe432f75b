"""A turn under way: what happens in it is folded into the turn and shown; its answer is spoken
while it is written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from jarvis_desktop.assistant.execution.executor import Course
from jarvis_desktop.assistant.journal import Scribe
from jarvis_desktop.assistant.speaker import AnswerSpeaker, SpokenAnswer, heard
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.events import Event, Noted, ReplyChunk, Traced
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Frontend, Review
from jarvis_desktop.core.turn import Turn

log = logging.getLogger(__name__)


class Live:
    """A turn and the front end where it is shown."""

    def __init__(
        self,
        turn: Turn,
        frontend: Frontend,
        *,
        scribe: Scribe,
        speaker: AnswerSpeaker | None = None,
        hands_free: HandsFree | None = None,
    ) -> None:
        """`scribe` writes down what happens. `speaker` says the answer aloud; None where it is
        only to be read. `hands_free` puts questions to the person that they may answer by voice,
        where they want that; otherwise the front end asks."""
        self.turn = turn
        self.scribe = scribe
        self.waited = 0.0
        """Seconds that the person took to answer questions."""
        self.course: Course | None = None
        """The plan that is being carried out, where one is."""
        self._frontend = frontend
        self._loop = asyncio.get_running_loop()
        self._speaker = speaker
        self._speech: SpokenAnswer | None = None
        self._hands_free = hands_free
        self._stop_playing = _nothing
        self._silenced = False
        self._asking = asyncio.Lock()
        self._refused: set[str] = set()

    def show(self, event: Event) -> None:
        """Take an event into the turn, write it down, and hand it to the front end."""
        self.turn = self.turn.apply(event)
        # Before anybody sees a task as done, and before another one builds on it.
        unwritten = self.scribe.take(event, self.turn)
        self._hand_over(event)
        if unwritten:
            self.show(Noted(unwritten))

    def retell(self, event: Event) -> None:
        """The same with what is written down already."""
        self.turn = self.turn.apply(event)
        self._hand_over(event)

    def note(self, text: str) -> None:
        """Tell the person something that stops nothing; may be called from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, text)
        except RuntimeError:  # the loop is closed: the application has ended
            _too_late(text)

    def _note(self, text: str) -> None:
        if self.turn.status is None:
            self.show(Noted(text))
        else:  # nothing follows the end
            _too_late(text)

    def _hand_over(self, event: Event) -> None:
        try:
            self._frontend.show(event)
        except Exception as error:  # noqa: BLE001 - a front end that went away must not take the turn along
            log.info("A front end could not show an event: %s", frames(error))

    def trace(self, text: str) -> None:
        """Tell those who look closer."""
        self.show(Traced(text))

    def say(self, piece: str) -> None:
        """Add a piece to the answer."""
        self.show(ReplyChunk(piece))
        if self._speaker:
            self._speech = self._speech or SpokenAnswer(self._speaker, self.show)
            self._speech.add(piece)

    def say_apart(self, text: str) -> None:
        """Add a paragraph to the answer."""
        self.say(f"\n\n{text}" if self.turn.reply else text)
        if self._speaker and self._speech:
            self._speech.add("\n")  # its last sentence is whole, whether or not more follows

    @contextmanager
    def on_course(self, course: Course) -> Iterator[Course]:
        """While a plan is carried out."""
        self.course = course
        try:
            yield course
        finally:
            self.course = None

    def hush(self) -> None:
        """Speak nothing of what is said from now on."""
        self._speaker = None

    async def spoken(self) -> None:
        """Wait until the whole answer was heard, or silenced. Cancelling silences it at once."""
        if self._speech:
            await self._speech.finish()

    async def play(self, speaker: AnswerSpeaker, audio: Path, text: str) -> None:
        """Let speech be heard that is there already, unless the turn was silenced."""
        if not self._silenced:
            playing = speaker.begin_playing(audio, text, self.show)
            self._stop_playing = partial(speaker.silence, playing)
            await heard(playing)

    def silence(self) -> None:
        """Stop speaking, now and for the rest of the turn."""
        self.hush()
        self._silenced = True
        if self._speech:
            self._speech.stop()
        self._stop_playing()

    async def silent(self) -> None:
        """Wait until nothing is heard any more, after `silence`."""
        if self._speech:
            await self._speech.stopped()

    async def confirm(self, question: str, *, by_voice: bool = False) -> bool:
        """One question at a time, whoever asks; a No is not asked for again.

        `by_voice` is whether a spoken Yes is enough: never where something would be lost.
        """
        async with self._with_the_person():
            if question in self._refused:
                return False
            if self._hands_free:
                await self._say_to_the_end()
                agreed = await self._hands_free.confirm(
                    self._frontend, question, by_voice=by_voice, show=self.show
                )
            else:
                agreed = await self._frontend.confirm(question)
            if not agreed:
                self._refused.add(question)
            return agreed

    async def _say_to_the_end(self) -> None:
        """What was said so far is heard before a question is."""
        speech, self._speech = self._speech, None
        if speech:
            await speech.finish()

    async def review(self, plan: Plan) -> Plan | None:
        """The plan as the person wants it; None where they refuse it."""
        return await self._frontend.review(plan)

    async def ask(self, question: str) -> str:
        """What the person answers; one question at a time."""
        async with self._with_the_person():
            if self._hands_free:
                await self._say_to_the_end()
                return await self._hands_free.ask(self._frontend, question, show=self.show)
            return await self._frontend.ask(question)

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """What the person says to the plan of a goal."""
        async with self._with_the_person():
            return await self._frontend.review_outline(outline, why)

    async def review_code(self, code: CodeRequest) -> Verdict:
        """What the person says to code."""
        async with self._with_the_person():
            return await self._frontend.review_code(code)

    @asynccontextmanager
    async def _with_the_person(self) -> AsyncIterator[None]:
        """One question at a time."""
        async with self._asking:
            since = self._loop.time()
            try:
                yield
            finally:
                self.waited += self._loop.time() - since


def _nothing() -> None:
    """Nothing plays."""


def _too_late(text: str) -> None:
    log.info("Noted after the end of a turn: %s", text)
