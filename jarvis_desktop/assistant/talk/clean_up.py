"""Tidies up dictated words with an LLM: it may leave words out, and never write others.

It is an LLM of this computer, and it is not waited for longer than a second.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import aclosing

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.llm import LLM, LLMs, Message, MessageRole, Prompt, estimated_tokens
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.quotation import marked_off

log = logging.getLogger(__name__)

LIMIT_S = 1.0
MIN_SHARE = 0.6
"""Of the words; a text with fewer lost more than hesitations."""

_word = lazy_re(r"\w+(?:['’]\w+)*")


class DictationCleanUp:
    """Return dictated text tidied up, or as it was if that fails in any way."""

    def __init__(self, llms: LLMs, prompts: Prompts, *, limit: float = LIMIT_S) -> None:
        self._llms = llms
        self._prompts = prompts
        self._limit = limit

    async def __call__(self, text: str) -> str:
        """Tidy up a text within the limit."""
        try:
            async with asyncio.timeout(self._limit):
                llm = await self._llms.current()
                if llm is None or llm.remote:
                    return text
                tidied = await self._ask(llm, text)
        except (TimeoutError, JarvisError) as error:
            log.info("a dictation was not tidied up: %s", frames(error))
            return text
        return tidied if only_leaves_out(tidied, text) else text

    async def _ask(self, llm: LLM, text: str) -> str:
        prompt = Prompt(
            (
                Message(MessageRole.SYSTEM, self._prompts.template("clean_up").text),
                Message(MessageRole.USER, marked_off(text, "dictation")),
            ),
            longest=estimated_tokens(text) + 32,
        )
        async with aclosing(llm.stream(prompt)) as pieces:  # type: ignore[type-var]
            tidied = "".join([piece async for piece in pieces])
        return tidied.strip(" ").removeprefix("\n").removesuffix("\n")


def only_leaves_out(tidied: str, text: str) -> bool:
    """Whether the words of `tidied` are words of `text` in their order, and most of them, with its
    line breaks and without new signs other than punctuation."""
    before, after = (_word.findall(each.casefold()) for each in (text, tidied))
    left = iter(before)
    if not all(word in left for word in after) or len(after) < MIN_SHARE * len(before):
        return False
    new = Counter(_word.sub("", tidied)) - Counter(_word.sub("", text))
    return "\n" not in new and set(new) <= set(" .,;:!?…-–—'’\"“”„«»()。，；：！？、")
