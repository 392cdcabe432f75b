"""Talk without hands: questions are asked aloud too.

A question is on the screen as well; the first answer counts.

A voice agrees to nothing that loses anything: `by_voice` says if a spoken Yes is enough. A refusal
counts anywhere in the answer; a Yes must be all of it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, TypeVar

from jarvis_desktop.assistant.speaker import AnswerSpeaker, Show
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import Speaking
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.ports import Frontend
from jarvis_desktop.text.lazy_re import lazy_re

S = TypeVar("S")
T = TypeVar("T")

SpokenAnswer = Literal["yes", "no", "stop", "repeat", "slower"]

_PHRASES: dict[SpokenAnswer, tuple[str, ...]] = {
    "yes": (
        "yes", "yeah", "yep", "yup", "sure", "ok", "okay", "all right", "alright", "of course",
        "certainly", "go ahead", "do it", "do that", "i agree", "agreed", "correct",
        "that is right",
        "ja", "jawohl", "gerne", "einverstanden", "mach das", "mach es", "in ordnung",
        "oui", "d accord", "bien sûr", "vas y", "si", "sí", "claro", "de acuerdo", "adelante",
        "是", "是的", "好", "好的", "可以", "对", "同意",
    ),
    "no": (
        "no", "nope", "nah", "never", "don t", "do not", "cancel", "rather not", "i refuse",
        "nein", "nicht", "lieber nicht", "auf keinen fall", "abbrechen", "niemals",
        "non", "jamais", "annule", "nunca", "cancela",
        "不", "不要", "不是", "不行", "不可以", "不用", "取消", "别",
    ),
    "stop": (
        "stop", "stop it", "stop that", "halt", "quiet", "be quiet", "enough", "stopp", "aufhören",
        "arrête", "basta", "para", "停", "停止", "停下",
    ),
    "repeat": (
        "repeat", "repeat that", "repeat it", "again", "once more", "one more time", "say again",
        "say that again", "say it again", "pardon", "what", "wiederhole", "wiederholen",
        "noch einmal", "nochmal", "wie", "répète", "encore", "otra vez", "repite",
        "再说一遍", "重复", "再来一遍",
    ),
    "slower": (
        "slower", "slowly", "more slowly", "speak slower", "speak more slowly", "too fast",
        "langsamer", "zu schnell", "plus lentement", "más despacio", "慢一点", "慢点", "慢些",
    ),
}  # fmt: skip
_BY_PHRASE = {phrase: answer for answer, phrases in _PHRASES.items() for phrase in phrases}
_FILLERS = lazy_re(
    r"\b(?:please|jarvis|uh|um|er|well|oh|hey|thanks|thank you|bitte|danke|ähm|s il te plaît|merci"
    r"|por favor|gracias)\b|请|谢谢"
)
_REFUSES = lazy_re(
    r"\b(?:no|not|nope|never|don t|doesn t|won t|can t|cancel|nein|nicht|kein|keine|niemals|non|pas"
    r"|jamais|nunca)\b|不|别|取消"
)
MAX_PHRASE_WORDS = 4
"""Words."""


def parse_answer(text: str) -> SpokenAnswer | None:
    """Return what an answer means; None if that is unclear."""
    words = " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())
    bare = " ".join(_FILLERS.sub(" ", words).split())
    found = _phrases_in(bare.split())
    if len(found) == 1:
        return found.pop()
    return "no" if _REFUSES.search(words) else None


def _phrases_in(words: list[str]) -> set[SpokenAnswer]:
    """Return the answers that these words consist of; empty if there is any other word."""
    found: set[SpokenAnswer] = set()
    while words:
        for count in range(min(MAX_PHRASE_WORDS, len(words)), 0, -1):
            if answer := _BY_PHRASE.get(" ".join(words[:count])):
                found.add(answer)
                words = words[count:]
                break
        else:
            return set()
    return found


ANSWER_TIMEOUT_S = 8.0
"""Seconds in which an answer must begin."""
SCREEN_TIMEOUT_S = 120.0
"""Seconds in which the user can confirm on the screen what a voice may not."""
MAX_ROUNDS = 3
"""How often a question is asked if the answer is unclear; repeats on request do not count."""

YES_OR_NO = mark("Please answer yes or no.")
NOT_BY_VOICE = mark(
    "This cannot be confirmed by voice. Please confirm it on the screen, or say no."
)


class HandsFree:
    """Asks by voice. Only a clear Yes is a Yes; silence is a No."""

    def __init__(self, talk: Talk, speaker: AnswerSpeaker) -> None:
        self._talk = talk
        self._speaker = speaker

    async def confirm(
        self,
        frontend: Frontend,
        question: str,
        *,
        by_voice: bool,
        show: Show,
        yes: str = "",
    ) -> bool:
        """Return whether the user agrees; without `by_voice` a Yes counts only on the screen.
        `show` gets what is being said."""
        aloud = self._ask_yes_or_no(question, show, by_voice=by_voice)
        async with _asked(frontend.confirm(question, yes=yes), aloud) as (screen, voice):
            if screen.done():
                return screen.result()
            if (agreed := voice.result()) is not None:
                return agreed
            await asyncio.wait({screen}, timeout=SCREEN_TIMEOUT_S)
            return screen.done() and screen.result()

    async def ask(self, frontend: Frontend, question: str, *, show: Show) -> str:
        """Return the answer, aloud or on the screen; the screen waits as long as it takes."""
        aloud = self._answer(question, show, limit=ANSWER_TIMEOUT_S, early=True)
        async with _asked(frontend.ask(question), aloud) as (screen, voice):
            if not screen.done() and (said := voice.result()):
                return said
            return await screen

    async def _ask_yes_or_no(self, question: str, show: Show, *, by_voice: bool) -> bool | None:
        words, unclear = question, 0
        while unclear < MAX_ROUNDS:
            said = await self._answer(words, show, limit=ANSWER_TIMEOUT_S)
            answer = parse_answer(said or "")
            if said is None or answer in ("no", "stop"):
                return False
            if answer == "yes" and by_voice:
                return True
            if answer == "yes":
                said = await self._answer(tr(NOT_BY_VOICE), show, limit=SCREEN_TIMEOUT_S)
                return None if said and parse_answer(said) not in ("no", "stop") else False
            if answer == "slower":
                self._speaker.slower()
            if answer is None:
                unclear += 1
            words = question if answer else f"{tr(YES_OR_NO)} {question}"
        return False

    async def _answer(
        self, question: str, show: Show, *, limit: float, early: bool = False
    ) -> str | None:
        """Return the words of the answer; None if nobody spoke. Raises UnavailableError."""

        async def say() -> None:
            await self._speaker.say(question, show)
            show(Speaking(""))

        heard = await self._talk.answer(say, limit=limit, early=early)
        return heard.text if heard else None


@asynccontextmanager
async def _asked(
    on_screen: Coroutine[Any, Any, S], aloud: Coroutine[Any, Any, T]
) -> AsyncIterator[tuple[asyncio.Task[S], asyncio.Task[T | None]]]:
    """Ask in both ways until the first answer. If nobody can be heard, the voice answers None, and
    leaves the answer to the screen."""

    async def unless_unheard() -> T | None:
        with suppress(UnavailableError):
            return await aloud
        return None

    tasks = asyncio.create_task(on_screen), asyncio.create_task(unless_unheard())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
