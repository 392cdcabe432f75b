"""Asks the LLM which of the best candidates should do each task, where there is a real choice."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.assistant.planning.loose import Loose
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.ranking import Ranked
from jarvis_desktop.core.errors import JarvisError, PlanError
from jarvis_desktop.core.expert import Candidate, Experience
from jarvis_desktop.core.llm import LLM, Message, Prompt, Role, answer
from jarvis_desktop.core.shown import one_line, readable_size
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.wording import tr

TOP = 5
"""Candidates of a task that the LLM sees."""

PER_TASK = 120
"""Tokens of its answer for one task."""

LONGEST_REQUEST = 2000
"""Characters; more of a request does not help to choose."""

LONGEST_REASON = 160


@dataclass(frozen=True, slots=True)
class Question:
    """A task that several experts could do."""

    task: Task
    among: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the LLM chose for a task, and why."""

    candidate: Candidate
    reason: str


class Chooser:
    """Makes one call for all tasks of a plan, which may take `timeout` seconds."""

    def __init__(self, prompts: Prompts, *, timeout: float = 20.0) -> None:
        self._prompts = prompts
        self._timeout = timeout

    async def choose(
        self,
        llm: LLM,
        questions: Sequence[Question],
        *,
        request: str,
        trace: Callable[[str], None],
    ) -> Mapping[int, Choice]:
        """The choices by task id. A task without a valid one is left out: the ranking decides."""
        try:
            prompt = self._prompt(questions, request, trace)
            async with asyncio.timeout(self._timeout):
                text = await answer(llm, prompt)
        except TimeoutError:
            trace(f"{llm.name} did not choose the experts within {self._timeout:.0f} seconds.")
            return {}
        except JarvisError as error:
            trace(f"{llm.name} did not choose the experts: {error.message}")
            return {}
        choices = _choices(text, questions)
        if missing := [str(item.task.id) for item in questions if item.task.id not in choices]:
            trace(f"{llm.name} gave no usable choice for task {', '.join(missing)}.")
        return choices

    def _prompt(
        self, questions: Sequence[Question], request: str, trace: Callable[[str], None]
    ) -> Prompt:
        template = self._prompts.template("choose")
        trace(f"Experts chosen by the prompt {template.label}.")
        steps = {str(item.task.id): _step(item) for item in questions}
        text = template.filled(
            mark=secrets.token_hex(4),
            request=request[:LONGEST_REQUEST],
            steps=json.dumps(steps, ensure_ascii=False, indent=1),
        )
        return Prompt(
            (Message(Role.USER, text),), schema=_schema(questions), longest=PER_TASK * len(steps)
        )


def _step(question: Question) -> dict[str, Any]:
    return {
        "step": f"{question.task.type.title}: {question.task.type.summary}",
        "experts": [_expert(item) for item in question.among],
    }


def _expert(ranked: Ranked) -> dict[str, str]:
    expert = ranked.candidate.expert
    facts = {
        "id": ranked.candidate.label,
        "description": one_line(expert.summary, limit=200),
        "size": readable_size(expert.download_mb) if expert.download_mb else "",
        "licence": one_line(expert.licence),
        "languages": ", ".join(expert.languages),
        "here": told(ranked.experience),
    }
    return {name: value for name, value in facts.items() if value}


def told(experience: Experience) -> str:
    """How an expert did here, in a few words; "" where it has not run."""
    if not experience.runs:
        return ""
    counts = {"worked": experience.worked, "runs": experience.runs}
    if experience.seconds is None:
        return tr("worked {worked} of {runs} times here", **counts)
    return tr(
        "worked {worked} of {runs} times here, in about {seconds} seconds",
        seconds=f"{experience.seconds:.1f}",
        **counts,
    )


def _schema(questions: Sequence[Question]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            str(item.task.id): {
                "type": "object",
                "properties": {
                    "id": {"enum": [each.candidate.label for each in item.among]},
                    "reason": {"type": "string"},
                },
                "required": ["id", "reason"],
                "additionalProperties": False,
            }
            for item in questions
        },
        "required": [str(item.task.id) for item in questions],
        "additionalProperties": False,
    }


def _choices(text: str, questions: Sequence[Question]) -> dict[int, Choice]:
    """The valid choices of the first object that has one."""
    with suppress(PlanError):
        for value in Loose(text).values():
            entries = value if isinstance(value, dict) else {}
            if len(questions) == 1 and "id" in entries:
                entries = {str(questions[0].task.id): entries}
            found = {
                item.task.id: choice
                for item in questions
                if (choice := _choice(entries.get(str(item.task.id)), item.among))
            }
            if found:
                return found
    return {}


def _choice(entry: object, among: Sequence[Ranked]) -> Choice | None:
    if not isinstance(entry, dict):
        return None
    name, reason = entry.get("id"), entry.get("reason")
    for item in among:
        if name in (item.candidate.label, item.candidate.expert.id):
            words = one_line(reason, limit=LONGEST_REASON) if isinstance(reason, str) else ""
            return Choice(item.candidate, words)
    return None
