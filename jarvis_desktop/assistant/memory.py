"""What is known of earlier turns when a request comes in, and how much of it a prompt is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.resources import named, resources_of
from jarvis_desktop.assistant.summing import Recaps
from jarvis_desktop.assistant.telling import MARKS, marked_off, said, shortened, tokens
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.llm import LLMs, Message, Role
from jarvis_desktop.core.ports import Context, Facts, History
from jarvis_desktop.core.turn import Conversation, Turn

_LEVELS = ((None, None), (1200, None), (400, None), (400, 1200), (150, 400))
"""How long texts of old turns and of the newest two may be, in characters; tried in this order."""


class Memory:
    """Knows the person's facts, the resources of a conversation and what its old turns said."""

    def __init__(self, history: History, facts: Facts, llms: LLMs, prompts: Prompts) -> None:
        self._history = history
        self._facts = facts
        self._recaps = Recaps(history, llms, prompts)

    async def context(
        self,
        conversation: Conversation,
        attachments: Sequence[Artifact],
        *,
        folder: Path | None,
        trace: Callable[[str], None],
    ) -> Context:
        """All that is known beside the words of a request.

        Turns that the summary covers are no longer turns of its conversation. Where the history
        cannot be read, the request is answered without it, and the trace says so.
        """
        known = Context(tuple(attachments), conversation, folder, trace=trace)
        try:
            recap = self._history.recap(conversation.id)
            resources = self._history.resources(conversation.id)
            facts = tuple(fact.text for fact in self._facts.list())
            untold = self._history.since(conversation.id, recap.through if recap else "")
        except JarvisError as error:
            trace(f"Earlier turns and facts could not be read: {error}")
            return replace(known, resources=named(resources_of(conversation.turns)))
        told = _after(conversation, recap.through) if recap else conversation
        if (lost := len(untold) - len(told.turns)) > 0:
            trace(f"Not told: {_counted(lost, 'older turn')}, which no summary covers yet.")
        return replace(
            known,
            conversation=told,
            resources=named(resources),
            summary=recap.text if recap else "",
            facts=facts,
        )

    async def settle(self, conversation_id: str) -> None:
        """Sum up older turns; called in the background when a turn was kept. Raises nothing."""
        await self._recaps.settle(conversation_id)


def messages(context: Context, budget: int) -> tuple[list[Message], str]:
    """What an LLM is told of before the request, in at most `budget` tokens of `Prompt.tokens`.

    The person and the assistant speak in turn, the person first: facts and summary, then the
    newest turns that fit, oldest first. Old texts are shortened before turns are left out. The
    second value says for the trace what is missing; "" where nothing is.
    """
    front, missing = _front(context, budget // 2)
    room = budget - _total(front)
    if room < 0:
        return [], "Left out of the prompt: all that was said and remembered before."
    turns = context.conversation.turns if context.conversation else ()
    ways = [_told(context, turns, old, new) for old, new in _LEVELS]
    told = next((way for way in ways if _total(*way) <= room), ways[-1])
    dropped = 0
    while _total(*told[dropped:]) > room:
        dropped += 1
    if dropped:
        missing.append(_counted(dropped, "earlier turn"))
    remarks = [f"Left out of the prompt: {', '.join(missing)}."] if missing else []
    if told[dropped:] != ways[0][dropped:]:
        remarks.append("Long texts of earlier turns were shortened.")
    return [*front, *chain(*told[dropped:])], " ".join(remarks)


def _after(conversation: Conversation, turn_id: str) -> Conversation:
    """The conversation without the turns up to that one."""
    ids = [turn.id for turn in conversation.turns]
    first = ids.index(turn_id) + 1 if turn_id in ids else 0
    return replace(conversation, turns=conversation.turns[first:])


def _told(
    context: Context, turns: Sequence[Turn], old: int | None, new: int | None
) -> list[list[Message]]:
    names = {item.artifact: item.name for item in context.resources}
    newest = len(turns) - 2
    return [said(turn, names, new if at >= newest else old) for at, turn in enumerate(turns)]


def _front(context: Context, budget: int) -> tuple[list[Message], list[str]]:
    """Facts and summary within a budget, and what of them is missing."""
    facts, summary = list(context.facts), context.summary
    if tokens(_known(context, facts, summary)) > budget:
        summary = shortened(summary, 600)
    while facts and tokens(_known(context, facts, summary)) > budget:
        facts.pop(0)
    if tokens(_known(context, facts, summary)) > budget:
        summary = ""
    missing = []
    if gone := len(context.facts) - len(facts):
        missing.append(_counted(gone, "remembered fact"))
    if context.summary and not summary:
        missing.append("the summary of older turns")
    return _known(context, facts, summary), missing


def _known(context: Context, facts: Sequence[str], summary: str) -> list[Message]:
    conversation = context.conversation or Conversation("")
    parts = []
    if facts:
        lines = "\n".join(f"- {fact}" for fact in facts)
        parts.append(f"Remember what I told you; where two differ, the later one counts:\n{lines}")
    if summary:
        parts.append(f"What we said before, as notes:\n{marked_off(summary, conversation.id)}")
    if summary or any(turn.results for turn in conversation.turns):
        parts.append(MARKS)
    if not parts:
        return []
    return [Message(Role.USER, "\n\n".join(parts)), Message(Role.ASSISTANT, "Understood.")]


def _total(*told: Sequence[Message]) -> int:
    return sum(map(tokens, told))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"
