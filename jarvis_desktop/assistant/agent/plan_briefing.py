"""What an LLM is told so that it can write the plan of a goal, cut to what its window holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_desktop.assistant import telling
from jarvis_desktop.assistant.agent.drafts import MOST_DRAFTED, SCHEMA
from jarvis_desktop.assistant.prompts import Template
from jarvis_desktop.core.llm import LLM, Message, Prompt, Role, estimated_tokens
from jarvis_desktop.core.outline import MARKS, Outline

DRAFT_TOKENS = 900
"""What a plan takes; of a small window a quarter."""
REFUSAL_TOKENS = 128
MOST_SAID = 10
LEVELS = (6000, 2000, 800, 300, 100)
"""Characters that each part of what is told may have; tried in this order."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person said of a plan that they were shown."""

    changes: tuple[str, ...]
    """What they changed in it by hand, a sentence each."""
    comment: str


@dataclass(frozen=True, slots=True)
class Material:
    """What a plan is made from."""

    task: str
    resources: tuple[str, ...] = ()
    """What is at hand, a line each, the newest last: data."""
    functions: tuple[str, ...] = ()
    """Of the code library: signatures, with what each does: data."""
    facts: tuple[str, ...] = ()
    """What the person wants remembered."""
    said: tuple[str, ...] = ()
    """What the person answered so far, a line each."""
    known: str = ""
    """What came of the work so far: data."""
    plan: Outline | None = None
    """The one that there is."""
    reason: str = ""
    """Why it is to be another one."""
    wish: Wish | None = None
    whose: str = ""
    """For the marks around data."""


def brief(llm: LLM, template: Template, material: Material) -> Prompt:
    """The prompt for a draft. Raises StorageError where the template has slots of its own."""
    system = Message(Role.SYSTEM, template.filled(most=str(MOST_DRAFTED)))
    longest = min(DRAFT_TOKENS, llm.window // 4)
    room = llm.window - 2 * longest - REFUSAL_TOKENS - estimated_tokens(json.dumps(SCHEMA))
    told = [(system, Message(Role.USER, _told(material, limit))) for limit in LEVELS]
    fitting = next((each for each in told if telling.tokens(each) <= room), told[-1])
    return Prompt(fitting, schema=SCHEMA, longest=longest)


def _told(material: Material, limit: int) -> str:
    def quoted(text: str) -> str:
        return json.dumps(telling.shortened(text, limit), ensure_ascii=False)

    def data(title: str, text: str) -> str:
        return f"{title}\n{telling.marked_off(telling.shortened(text, limit), material.whose)}"

    parts = [f"Goal: {quoted(material.task)}"]
    if material.facts:
        parts.append(_list("What the person wants remembered:", material.facts, limit))
    if material.said:
        parts.append(_list("What the person said:", material.said[-MOST_SAID:], limit))
    if material.resources:
        parts.append(data("Files and results:", "\n".join(material.resources[-limit // 50 :])))
    if material.functions:
        parts.append(data("Functions of the library:", "\n".join(material.functions)))
    if material.known:
        parts.append(data("What came of it so far:", material.known))
    if material.plan:
        # Notes may repeat what others than the person wrote: they are not told as a part of it.
        steps = (f"[{MARKS[step.state]}] {step.id}. {step.text}" for step in material.plan)
        parts.append(_list("The plan as it is:", tuple(steps), 3 * limit))
    if material.reason:
        parts.append(f"Why it is to change: {quoted(material.reason)}")
    if wish := material.wish:
        if wish.changes:
            parts.append(
                _list("The person changed it by hand, as it stands here:", wish.changes, limit)
            )
        parts.append(f"The person says about the plan: {quoted(wish.comment)}")
    return "\n\n".join([*parts, "Write the plan."])


def _list(title: str, lines: Sequence[str], limit: int) -> str:
    return telling.shortened("\n".join([title, *(f"- {line}" for line in lines)]), limit)
