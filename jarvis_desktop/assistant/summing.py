"""Sums up the older turns of a conversation, once each, so that prompts do not grow with it."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.telling import asked, said, shortened, tokens
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.llm import LLM, LLMs, Message, Prompt, Role, answer
from jarvis_desktop.core.ports import History, Recap
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn

log = logging.getLogger(__name__)

KEPT_TURNS = 12
"""So many of the newest turns are not summed up. Together with FEWEST they are fewer than the
turns that a conversation is opened with, so that no turn is missing from both."""
KEPT_TOKENS = 3000
"""Fewer, where they do not fit into so many tokens with their longest texts shortened."""
FEWEST = 4
"""Turns that are summed up at once: a summary for each would keep an LLM busy."""
MOST = 12
"""Turns of one summary, so that its prompt stays short."""
LONGEST = 2000
"""Characters of a summary."""
TEMPLATE = "summary"


class Recaps:
    """Keeps the summary of each conversation up to date."""

    def __init__(self, history: History, llms: LLMs, prompts: Prompts) -> None:
        self._history = history
        self._llms = llms
        self._prompts = prompts
        self._settling: set[str] = set()

    async def settle(self, conversation_id: str) -> None:
        """Take the turns that have become too many into the summary.

        May take as long as an LLM takes, and may be cancelled at any time: then each turn becomes
        a line, so that none is lost. Raises nothing else: what could not be summed up now is with
        the next turn.
        """
        if conversation_id in self._settling:
            return
        self._settling.add(conversation_id)
        try:
            while await self._extend(conversation_id):
                pass
        except asyncio.CancelledError:
            with suppress(JarvisError):
                self._note(conversation_id)
            raise
        except JarvisError as error:  # its message may quote what was said
            log.info("A conversation could not be summed up: %s.", type(error).__name__)
        finally:
            self._settling.discard(conversation_id)

    async def _extend(self, conversation_id: str) -> bool:
        """Take some of the older turns in; whether there were enough of them."""
        recap = self._history.recap(conversation_id)
        through, before = (recap.through, recap.text) if recap else ("", "")
        older = _outgrown(self._history.since(conversation_id, through))[:MOST]
        if len(older) < FEWEST:
            return False
        text = await self._retold(before, older)
        # What was deleted while the LLM wrote must not come back by way of the summary.
        now = self._history.since(conversation_id, through)[: len(older)]
        if self._history.recap(conversation_id) != recap or _ids(now) != _ids(older):
            return False
        self._history.keep_recap(conversation_id, Recap(text, older[-1].id))
        return True

    def _note(self, conversation_id: str) -> None:
        """Take all of the older turns in, without an LLM: at once, for nobody waits for it."""
        recap = self._history.recap(conversation_id)
        through, before = (recap.through, recap.text) if recap else ("", "")
        older = _outgrown(self._history.since(conversation_id, through))
        if len(older) >= FEWEST:
            self._history.keep_recap(conversation_id, Recap(_lines(before, older), older[-1].id))

    async def _retold(self, before: str, turns: Sequence[Turn]) -> str:
        """By the LLM; a line for each turn where there is none or it writes nothing."""
        try:
            if (llm := await self._llms.current()) and (prompt := self._prompt(llm, before, turns)):
                written = (await answer(llm, prompt)).strip()
                if written:
                    return shortened(written, LONGEST)
        except JarvisError as error:
            log.info("An LLM wrote no summary: %s.", type(error).__name__)
        return _lines(before, turns)

    def _prompt(self, llm: LLM, before: str, turns: Sequence[Turn]) -> Prompt | None:
        """The turns at such a length that they fit; None where they do not at any."""
        template, mark = self._prompts.template(TEMPLATE), secrets.token_hex(4)
        for longest in (600, 200, 80):
            told = "\n\n".join(
                f"Person: {asked(turn, {}, longest)}\nAssistant: {shortened(turn.reply, longest)}"
                for turn in turns
            )
            text = template.filled(before=before or "(none)", turns=told, mark=mark)
            prompt = Prompt((Message(Role.USER, text),), longest=600)
            if prompt.tokens + prompt.longest <= llm.window:
                return prompt
        return None


def _ids(turns: Iterable[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def _outgrown(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns, of these oldest first, that are too many or too long to be told one by one."""
    room = KEPT_TOKENS
    for kept, turn in enumerate(reversed(turns)):
        room -= tokens(said(turn, {}, 400))
        if kept >= KEPT_TURNS or room < 0:
            return turns[: len(turns) - kept]
    return ()


def _lines(before: str, turns: Iterable[Turn]) -> str:
    """The summary so far and a line for each turn; the end of it where it grows too long."""
    lines = "\n".join([before, *map(_line, turns)]).strip()
    return lines if len(lines) <= LONGEST else "…" + lines[-LONGEST:]


def _line(turn: Turn) -> str:
    """What was asked and which files came of it."""
    files = [one_line(item.title, limit=60) for item in turn.artifacts if item.path]
    came = ", ".join(files[:5]) or one_line(turn.reply) or "no answer"
    return f"- “{one_line(turn.text, limit=100)}” → {came}"
