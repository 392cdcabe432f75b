"""What earlier turns, summaries and facts contribute to a prompt, and how older turns are
summarised."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from jarvis_desktop.assistant.planning.inputs import name_resources, resources_of
from jarvis_desktop.assistant.prompts import Prompts, longest_fitting
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.llm import LLM, LLMs, Message, MessageRole, Prompt, answer
from jarvis_desktop.core.ports import Context, Facts, History, Recap
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.text.quotation import GIVEN, MADE, QUOTATION_MARKS, file_note, marked_off


def turn_messages(turn: Turn, names: Mapping[Artifact, str], longest: int | None) -> list[Message]:
    """A turn as two messages whose texts have at most `longest` characters.

    Results of experts are marked off; an LLM's own words are not.
    """
    reply = shortened(turn.reply, longest) or "(no answer)"
    if turn.results:
        made = _named_for_prompt(turn.artifacts, names)
        reply = marked_off(f"{reply}\n{file_note(MADE, made)}" if made else reply, turn.id)
    return [
        Message(MessageRole.USER, turn_request(turn, names, longest)),
        Message(MessageRole.ASSISTANT, reply),
    ]


def turn_request(turn: Turn, names: Mapping[Artifact, str], longest: int | None) -> str:
    """The request of a turn, and what was given with it."""
    text = shortened(turn.text, longest) or "(no words)"
    given = _named_for_prompt(turn.attachments, names)
    return f"{text}\n{file_note(GIVEN, given)}" if given else text


def shortened(text: str, longest: int | None) -> str:
    """Cut a text to `longest` characters; None keeps all of it."""
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest].rstrip()} […]"


def tokens(messages: Sequence[Message]) -> int:
    """The approximate number of tokens of these messages."""
    return Prompt(tuple(messages)).tokens


def _named_for_prompt(artifacts: Iterable[Artifact], names: Mapping[Artifact, str]) -> str:
    """Names for prompts: also the file name of a file, but nothing of the content of a text."""
    listed = []
    for item in artifacts:
        title = f"“{one_line(item.title, limit=60)}”" if item.path else ""
        listed.append(f"{names.get(item, item.kind.value)} {title}".strip())
    return ", ".join(listed[:20])


log = logging.getLogger(__name__)

RECENT_TURNS = 12
"""The newest turns that are not summarised. With MIN_SUMMARISED they are fewer than the turns
that a conversation is opened with, so that no turn is missing from both."""
RECENT_TOKENS = 3000
"""Even fewer turns are kept if they exceed this with their longest texts shortened."""
MIN_SUMMARISED = 4
"""Turns that are summarised at once: a summary for each would keep the LLM busy."""
MAX_SUMMARISED = 12
"""The most turns of one summary, so that its prompt stays short."""
MAX_SUMMARY_CHARS = 2000
"""The most characters of a summary."""
TEMPLATE = "summary"


class HistorySummaries:
    """Keeps the summary of each conversation up to date."""

    def __init__(self, history: History, llms: LLMs, prompts: Prompts) -> None:
        self._history = history
        self._llms = llms
        self._prompts = prompts
        self._settling: set[str] = set()

    async def settle(self, conversation_id: str) -> None:
        """Add the turns that have become too many to the summary.

        Cancelling is possible at any time: then each turn becomes a line, so that none is lost.
        Raises nothing else: what fails is summarised after the next turn.
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
        except JarvisError as error:  # its message may quote the conversation
            log.info("A conversation could not be summed up: %s.", type(error).__name__)
        finally:
            self._settling.discard(conversation_id)

    async def _extend(self, conversation_id: str) -> bool:
        """Summarise some of the older turns. Return whether there were enough of them."""
        recap = self._history.recap(conversation_id)
        through, before = (recap.through, recap.text) if recap else ("", "")
        older = _outgrown(self._history.since(conversation_id, through))[:MAX_SUMMARISED]
        if len(older) < MIN_SUMMARISED:
            return False
        text = await self._summarize(before, older)
        # What was deleted while the LLM wrote must not come back with the summary.
        now = self._history.since(conversation_id, through)[: len(older)]
        if self._history.recap(conversation_id) != recap or _ids(now) != _ids(older):
            return False
        self._history.keep_recap(conversation_id, Recap(text, older[-1].id))
        return True

    def _note(self, conversation_id: str) -> None:
        """Add all of the older turns without an LLM, which is immediate."""
        recap = self._history.recap(conversation_id)
        through, before = (recap.through, recap.text) if recap else ("", "")
        older = _outgrown(self._history.since(conversation_id, through))
        if len(older) >= MIN_SUMMARISED:
            self._history.keep_recap(conversation_id, Recap(_lines(before, older), older[-1].id))

    async def _summarize(self, before: str, turns: Sequence[Turn]) -> str:
        """The summary by the LLM, or a line for each turn if there is none or it writes nothing."""
        try:
            if (llm := await self._llms.current()) and (prompt := self._prompt(llm, before, turns)):
                written = (await answer(llm, prompt)).strip()
                if written:
                    return shortened(written, MAX_SUMMARY_CHARS)
        except JarvisError as error:
            log.info("An LLM wrote no summary: %s.", type(error).__name__)
        return _lines(before, turns)

    def _prompt(self, llm: LLM, before: str, turns: Sequence[Turn]) -> Prompt | None:
        """The prompt with its turns cut to a length that fits, or None."""
        template, mark = self._prompts.template(TEMPLATE), secrets.token_hex(4)

        def write(longest: int) -> Prompt:
            told = "\n\n".join(
                f"Person: {turn_request(turn, {}, longest)}\n"
                f"Assistant: {shortened(turn.reply, longest)}"
                for turn in turns
            )
            text = template.filled(before=before or "(none)", turns=told, mark=mark)
            return Prompt((Message(MessageRole.USER, text),), longest=600)

        room = llm.window - 600
        prompt = longest_fitting(map(write, (600, 200, 80)), room, lambda each: each.tokens)
        return prompt if prompt.tokens <= room else None


def _ids(turns: Iterable[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def _outgrown(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The oldest of the turns, those that are too many or too long to be quoted."""
    room = RECENT_TOKENS
    for kept, turn in enumerate(reversed(turns)):
        room -= tokens(turn_messages(turn, {}, 400))
        if kept >= RECENT_TURNS or room < 0:
            return turns[: len(turns) - kept]
    return ()


def _lines(before: str, turns: Iterable[Turn]) -> str:
    """The summary and a line for each turn. If it is too long, only its end."""
    lines = "\n".join([before, *map(_line, turns)]).strip()
    return lines if len(lines) <= MAX_SUMMARY_CHARS else "…" + lines[-MAX_SUMMARY_CHARS:]


def _line(turn: Turn) -> str:
    """What was asked and which files resulted."""
    files = [one_line(item.title, limit=60) for item in turn.artifacts if item.path]
    came = ", ".join(files[:5]) or one_line(turn.reply) or "no answer"
    return f"- “{one_line(turn.text, limit=100)}” → {came}"


_LEVELS = ((None, None), (1200, None), (400, None), (400, 1200), (150, 400))
"""The characters allowed for texts of old turns and of the newest two, in the order they are
tried."""


class ConversationMemory:
    """Provides the user's facts, the resources of a conversation and a summary of its old turns."""

    def __init__(self, history: History, facts: Facts, llms: LLMs, prompts: Prompts) -> None:
        self._history = history
        self._facts = facts
        self._recaps = HistorySummaries(history, llms, prompts)

    async def context(
        self,
        conversation: Conversation,
        attachments: Sequence[Artifact],
        *,
        folder: Path | None,
        trace: Callable[[str], None],
    ) -> Context:
        """The context of a request.

        Turns in the summary are no longer in its conversation. If the history cannot be read, the
        request is answered without it, and the trace says so.
        """
        known = Context(tuple(attachments), conversation, folder, trace=trace)
        try:
            recap = self._history.recap(conversation.id)
            resources = self._history.resources(conversation.id)
            facts = tuple(fact.text for fact in self._facts.list())
            untold = self._history.since(conversation.id, recap.through if recap else "")
        except JarvisError as error:
            trace(f"Earlier turns and facts could not be read: {error}")
            return replace(known, resources=name_resources(resources_of(conversation.turns)))
        told = _after(conversation, recap.through) if recap else conversation
        if (lost := len(untold) - len(told.turns)) > 0:
            trace(f"Not told: {_format_count(lost, 'older turn')}, which no summary covers yet.")
        return replace(
            known,
            conversation=told,
            resources=name_resources(resources),
            summary=recap.text if recap else "",
            facts=facts,
        )

    async def settle(self, conversation_id: str) -> None:
        """Summarise older turns in the background after a turn was saved. Raises nothing."""
        await self._recaps.settle(conversation_id)


def messages(context: Context, budget: int) -> tuple[list[Message], str]:
    """What an LLM is given before the request, in at most `budget` tokens of `Prompt.tokens`.

    User and assistant alternate, the user first: facts and summary, then the newest turns that fit,
    oldest first. Old texts are shortened before turns are left out. The second value is a note for
    the trace about what is missing, or "".
    """
    front, missing = _front(context, budget // 2)
    room = budget - _total(front)
    if room < 0:
        return [], "Left out of the prompt: all that was said and remembered before."
    turns = context.conversation.turns if context.conversation else ()
    ways = [_turn_messages(context, turns, old, new) for old, new in _LEVELS]
    told = longest_fitting(ways, room, lambda way: _total(*way))
    dropped = 0
    while _total(*told[dropped:]) > room:
        dropped += 1
    if dropped:
        missing.append(_format_count(dropped, "earlier turn"))
    remarks = [f"Left out of the prompt: {', '.join(missing)}."] if missing else []
    if told[dropped:] != ways[0][dropped:]:
        remarks.append("Long texts of earlier turns were shortened.")
    return [*front, *chain(*told[dropped:])], " ".join(remarks)


def _after(conversation: Conversation, turn_id: str) -> Conversation:
    """The conversation without the turns up to that one."""
    ids = [turn.id for turn in conversation.turns]
    first = ids.index(turn_id) + 1 if turn_id in ids else 0
    return replace(conversation, turns=conversation.turns[first:])


def _turn_messages(
    context: Context, turns: Sequence[Turn], old: int | None, new: int | None
) -> list[list[Message]]:
    names = {item.artifact: item.name for item in context.resources}
    newest = len(turns) - 2
    return [
        turn_messages(turn, names, new if at >= newest else old) for at, turn in enumerate(turns)
    ]


def _front(context: Context, budget: int) -> tuple[list[Message], list[str]]:
    """Facts and summary within a budget, and what of them is missing."""
    facts, summary = list(context.facts), context.summary
    if tokens(_known_messages(context, facts, summary)) > budget:
        summary = shortened(summary, 600)
    while facts and tokens(_known_messages(context, facts, summary)) > budget:
        facts.pop(0)
    if tokens(_known_messages(context, facts, summary)) > budget:
        summary = ""
    missing = []
    if gone := len(context.facts) - len(facts):
        missing.append(_format_count(gone, "remembered fact"))
    if context.summary and not summary:
        missing.append("the summary of older turns")
    return _known_messages(context, facts, summary), missing


def _known_messages(context: Context, facts: Sequence[str], summary: str) -> list[Message]:
    conversation = context.conversation or Conversation("")
    parts = []
    if facts:
        lines = "\n".join(f"- {fact}" for fact in facts)
        parts.append(f"Remember what I told you; where two differ, the later one counts:\n{lines}")
    if summary:
        parts.append(f"What we said before, as notes:\n{marked_off(summary, conversation.id)}")
    if summary or any(turn.results for turn in conversation.turns):
        parts.append(QUOTATION_MARKS)
    if not parts:
        return []
    return [
        Message(MessageRole.USER, "\n\n".join(parts)),
        Message(MessageRole.ASSISTANT, "Understood."),
    ]


def _total(*told: Sequence[Message]) -> int:
    return sum(map(tokens, told))


def _format_count(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"
