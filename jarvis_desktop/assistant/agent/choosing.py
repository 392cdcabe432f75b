"""Asks the LLM for a branch, by a schema that nobody relies on: what it answers is checked here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jarvis_desktop.assistant.agent.choice_text import choice_in
from jarvis_desktop.assistant.agent.roles import Role
from jarvis_desktop.assistant.agent.trimming import beginning
from jarvis_desktop.core.errors import ExpertError, PlanError
from jarvis_desktop.core.goal import Choice
from jarvis_desktop.core.llm import LLM, Message, Prompt, answer, estimated_tokens
from jarvis_desktop.core.llm import Role as Speaker
from jarvis_desktop.core.wording import tr

MOST_REFUSALS = 3
"""How often an answer is refused before the round is given up."""
SHOWN_TOKENS = 300
"""Of a refused answer, when the LLM is asked again."""
REFUSAL_TOKENS = SHOWN_TOKENS + 300
"""Kept free in a prompt for a refused answer, and for what is wrong with it."""


async def choose(
    llm: LLM,
    prompt: Prompt,
    role: Role,
    *,
    timeout: float,
    trace: Callable[[str], None],
    spend: Callable[[int], None],
) -> Choice:
    """The branch that the LLM takes, checked. `timeout`, in seconds, is for one answer.

    `spend` is told the tokens of each prompt and answer. Raises PlanError where none of its
    answers can be used, ExpertError where one takes too long, and what the LLM raises.
    """
    asked, refusals = prompt, 0
    while True:
        spend(tokens(asked))
        try:
            async with asyncio.timeout(timeout):
                text = await answer(llm, asked)
        except TimeoutError as error:
            raise ExpertError(
                tr("{name} took longer than {timeout:.0f} seconds.", name=llm.name, timeout=timeout)
            ) from error
        spend(estimated_tokens(text))
        try:
            return choice_in(text, role)
        except PlanError as error:
            refusals += 1
            if refusals == MOST_REFUSALS:
                raise
            trace(f"{llm.name} is asked again: {error.message}")
            asked = _with_refusal(prompt, text, error)


def schema(role: Role) -> dict[str, Any]:
    """The JSON Schema for a choice: one variant a branch."""
    return {
        "anyOf": [_variant(branch.name, branch.args, branch.required) for branch in role.branches]
    }


def tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt is as it is sent: with its schema in the last message."""
    if prompt.schema is None:
        return prompt.tokens
    text = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
    return prompt.tokens + estimated_tokens(text) + 24


def _variant(
    name: str, args: Mapping[str, Mapping[str, Any]], required: tuple[str, ...]
) -> dict[str, Any]:
    properties = {
        "why": {"type": "string"},
        "branch": {"enum": [name]},
        "args": {
            "type": "object",
            "properties": {each: _plain(value) for each, value in args.items()},
            "required": list(required),
        },
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _plain(value: Any) -> Any:
    """A schema without its defaults, which no LLM needs."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if key != "default"}
    return value


def _with_refusal(prompt: Prompt, text: str, error: PlanError) -> Prompt:
    """The prompt with the beginning of its answer, and what is wrong with it."""
    refusal = f"This cannot be used: {error.message} Write the whole JSON object again, mended."
    said = Message(Speaker.ASSISTANT, beginning(text, SHOWN_TOKENS) or "(nothing)")
    return replace(prompt, messages=(*prompt.messages, said, Message(Speaker.USER, refusal)))
