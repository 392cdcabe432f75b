"""Questions that are asked aloud and answered so, beside the screen, whichever answers first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

from jarvis_desktop.assistant.listening.answers import answer_of
from jarvis_desktop.core.events import Event, Speaking
from jarvis_desktop.core.frontend import Frontend
from jarvis_desktop.core.hearing import Transcript

LIMIT = 8.0
"""Seconds in which an answer must begin."""
ON_SCREEN = 120.0
"""Seconds in which what a voice may not agree to can be agreed to on the screen."""
ROUNDS = 3
"""How often a question is asked where the answer is not clear; asked for, it is said again."""

YES_OR_NO = "Please answer yes or no."
NOT_BY_VOICE = "That cannot be agreed to by voice. Please confirm it on the screen, or say no."


class Listens(Protocol):
    """What is needed of Talk."""

    async def answer(
        self, ask: Callable[[], Awaitable[None]], *, limit: float
    ) -> Transcript | None:
        """What was said once it was asked; None where nobody spoke."""
        ...


class Speaks(Protocol):
    """What is needed of Speaker."""

    async def say(self, text: str, show: Callable[[Event], None]) -> None:
        """Speak a text; returns once it was heard or silenced."""
        ...

    def slower(self) -> None:
        """Speak slower from now on."""
        ...


class HandsFree:
    """Asks by voice; what is not a clear Yes is a No, and so is no answer."""

    def __init__(self, talk: Listens, speaker: Speaks) -> None:
        self._talk = talk
        self._speaker = speaker

    async def confirm(self, frontend: Frontend, question: str, *, by_voice: bool) -> bool:
        """Whether the person agrees; without `by_voice` a Yes counts on the screen only."""
        screen = asyncio.create_task(frontend.confirm(question))
        voice = asyncio.create_task(self._ask(frontend, question, by_voice=by_voice))
        try:
            await asyncio.wait({screen, voice}, return_when=asyncio.FIRST_COMPLETED)
            if screen.done():
                return screen.result()
            if (agreed := voice.result()) is not None:
                return agreed
            await asyncio.wait({screen}, timeout=ON_SCREEN)
            return screen.done() and screen.result()
        finally:
            await _ended(screen, voice)

    async def ask(self, frontend: Frontend, question: str) -> str:
        """What they answer, aloud or on the screen; the screen waits for as long as it takes."""
        screen = asyncio.create_task(frontend.ask(question))
        voice = asyncio.create_task(
            self._talk.answer(partial(self._say, frontend, question), limit=LIMIT)
        )
        try:
            await asyncio.wait({screen, voice}, return_when=asyncio.FIRST_COMPLETED)
            if voice.done() and (heard := voice.result()) and not screen.done():
                return heard.text
            return await screen
        finally:
            await _ended(screen, voice)

    async def _ask(self, frontend: Frontend, question: str, *, by_voice: bool) -> bool | None:
        """What they say; None where they agree to what a voice may not agree to."""
        words, unclear = question, 0
        while unclear < ROUNDS:
            heard = await self._talk.answer(partial(self._say, frontend, words), limit=LIMIT)
            answer = None if heard is None else answer_of(heard.text)
            if answer in ("no", "stop") or heard is None:
                return False
            if answer == "yes" and by_voice:
                return True
            if answer == "yes":
                await self._say(frontend, NOT_BY_VOICE)
                return None
            if answer == "slower":
                self._speaker.slower()
            if answer is None:
                unclear += 1
            words = question if answer else f"{YES_OR_NO} {question}"
        return False

    async def _say(self, frontend: Frontend, text: str) -> None:
        await self._speaker.say(text, frontend.show)
        frontend.show(Speaking(""))


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
