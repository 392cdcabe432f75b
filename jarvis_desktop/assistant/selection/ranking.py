"""Ranks the candidates for a task, and lets the LLM choose among the best.

A server that the user set an address of comes first. Then come fetched experts, those of own
machines and the LLM, then experts behind an API, then
built-in methods, and last what failed here recently or is spare. The application's own skills, such
as its voice, come before an API. If the user prefers the network, the API comes first. Within a
tier the weighted mean of these counts, each from 0 to 1:

match      how well the description matches the words of the request
success    the share of its runs on this computer that worked; a half if it has not run
size       the logarithm of its download, since larger experts do better; an LLM counts as largest
speed      how fast it was on this computer; a half at ten seconds, and if it has not run
downloads  the logarithm of its downloads from the Hub
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log, log10
from typing import Any

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.context import llm_timeout
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.errors import JarvisError, PlanError
from jarvis_desktop.core.expert import BY_ADDRESS, Candidate, Experience, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Task
from jarvis_desktop.text.lenient_json import LenientJsonReader
from jarvis_desktop.text.tokens import content

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How similar each text is to a request, from 0 to 1: similarity(request, texts)."""

WEIGHTS: Mapping[str, float] = {
    "match": 0.30,
    "success": 0.25,
    "size": 0.20,
    "speed": 0.15,
    "downloads": 0.10,
}
TYPICAL_SECONDS = 10.0
"""An expert that takes this long counts as neither fast nor slow."""

SET, CHOICE, SKILL, NETWORK, BUILT_IN, LAST = range(6)
"""Tiers: what the user set an address of; experts to choose from; the application's skills; experts
behind an API that are not preferred; built-in methods; what is tried last."""

UNTRIED = Experience(runs=0, worked=0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its position in the order."""

    candidate: Candidate
    tier: int
    """SET, CHOICE, SKILL, NETWORK, BUILT_IN or LAST."""
    score: float
    experience: Experience


def rank(
    candidates: Sequence[Candidate],
    request: str,
    *,
    known: Mapping[str, Experience],
    similarity: Similarity,
    network_first: bool = False,
) -> tuple[Ranked, ...]:
    """Sort the candidates, best first. Equals keep their order."""
    matches = similarity(request, [searchable_text(item.expert) for item in candidates])
    found = []
    for candidate, match in zip(candidates, matches, strict=True):
        experience = known.get(candidate.kept_as, UNTRIED)
        seconds = TYPICAL_SECONDS if experience.seconds is None else experience.seconds
        score = _score(
            match=match,
            success=(experience.worked + 1) / (experience.runs + 2),
            size=1.0 if candidate.backend == "llm" else _size(candidate.expert),
            speed=TYPICAL_SECONDS / (TYPICAL_SECONDS + seconds),
            downloads=_popularity(candidate.expert),
        )
        found.append(
            Ranked(candidate, _tier(candidate, experience, network_first), score, experience)
        )
    return tuple(sorted(found, key=lambda item: (item.tier, -item.score)))


def rank_to_fetch(
    experts: Sequence[Expert], request: str, *, similarity: Similarity
) -> tuple[Expert, ...]:
    """Sort experts that would have to be fetched, best first. Smaller downloads score higher
    here."""
    matches = similarity(request, [searchable_text(expert) for expert in experts])
    scores = {
        expert: _score(match=match, size=1.0 - _size(expert), downloads=_popularity(expert))
        for expert, match in zip(experts, matches, strict=True)
    }
    return tuple(sorted(experts, key=lambda expert: -scores[expert]))


def word_overlap(request: str, texts: Sequence[str]) -> list[float]:
    """The share of the request's words that each text contains, rare words counting more.

    The weight of a word is BM25's (Robertson and Zaragoza, 2009) over these texts. Words in none of
    them are ignored, since they do not discriminate.
    """
    wanted = set(content(request))
    bags = [set(content(text)) for text in texts]
    weights: dict[str, float] = {}
    for word in sorted(wanted):
        if having := sum(word in bag for bag in bags):
            weights[word] = log(1 + (len(bags) - having + 0.5) / (having + 0.5))
    whole = sum(weights.values())
    if not whole:
        return [0.0] * len(texts)
    return [sum(weight for word, weight in weights.items() if word in bag) / whole for bag in bags]


def searchable_text(expert: Expert) -> str:
    """The text that a request is compared with."""
    return f"{expert.id.replace('-', ' ')}. {expert.summary}"


def _score(**parts: float) -> float:
    whole = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / whole


def _tier(candidate: Candidate, experience: Experience, network_first: bool) -> int:
    if candidate.built_in:
        return SKILL if candidate.backend == "skill" else BUILT_IN
    if candidate.spare or experience.failed:
        return LAST
    if candidate.backend == BY_ADDRESS:
        return SET
    return NETWORK if candidate.by_provider and not network_first else CHOICE


def _size(expert: Expert) -> float:
    """0.5 at 100 MB, 1 at 10 GB; 0.5 if unknown."""
    return min(1.0, log10(expert.download_mb) / 4) if expert.download_mb else 0.5


def _popularity(expert: Expert) -> float:
    """1 at ten million downloads a month; 0 if unknown."""
    return min(1.0, log10(1 + expert.downloads) / 7)


MAX_CANDIDATES = 5
"""Candidates of a task that the LLM is shown."""

TOKENS_PER_TASK = 120
"""Tokens of the LLM's answer for one task."""

MAX_REQUEST_CHARS = 2000
"""The rest of a longer request does not help to choose."""

MAX_REASON_CHARS = 160


@dataclass(frozen=True, slots=True)
class ExpertQuestion:
    """A task that several experts could do."""

    task: Task
    among: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class ExpertChoice:
    """The LLM's choice for a task, with its reason."""

    candidate: Candidate
    reason: str


class ExpertChooser:
    """Lets the LLM choose experts, in one call for all tasks of a plan that takes at most
    `timeout` seconds."""

    def __init__(self, prompts: Prompts, *, timeout: float = 20.0) -> None:
        self._prompts = prompts
        self._timeout = timeout

    async def choose(
        self,
        llm: LLM,
        questions: Sequence[ExpertQuestion],
        *,
        request: str,
        trace: Callable[[str], None],
    ) -> Mapping[int, ExpertChoice]:
        """The choices by task id. Tasks without a valid choice are left to the ranking."""
        try:
            prompt = self._prompt(questions, request, trace)
            async with llm_timeout(self._timeout):
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
        self, questions: Sequence[ExpertQuestion], request: str, trace: Callable[[str], None]
    ) -> Prompt:
        template = self._prompts.template("choose")
        trace(f"Experts chosen by the prompt {template.label}.")
        steps = {str(item.task.id): _step(item) for item in questions}
        text = template.filled(
            mark=secrets.token_hex(4),
            request=request[:MAX_REQUEST_CHARS],
            steps=json.dumps(steps, ensure_ascii=False, indent=1),
        )
        return Prompt(
            (Message(MessageRole.USER, text),),
            schema=_schema(questions),
            longest=TOKENS_PER_TASK * len(steps),
        )


def _step(question: ExpertQuestion) -> dict[str, Any]:
    return {
        "step": f"{question.task.type.title}: {question.task.type.summary}",
        "experts": [_expert(item) for item in question.among],
    }


def _expert(ranked: Ranked) -> dict[str, str]:
    expert = ranked.candidate.expert
    facts = {
        "id": ranked.candidate.label,
        "description": one_line(expert.summary, limit=200),
        "size": readable_size(expert.download_mb * MB) if expert.download_mb else "",
        "licence": one_line(expert.licence),
        "languages": ", ".join(expert.languages),
        "here": format_experience(ranked.experience),
    }
    return {name: value for name, value in facts.items() if value}


def format_experience(experience: Experience) -> str:
    """How an expert did on this computer, in a few words; "" if it has not run."""
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


def _schema(questions: Sequence[ExpertQuestion]) -> dict[str, Any]:
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


def _choices(text: str, questions: Sequence[ExpertQuestion]) -> dict[int, ExpertChoice]:
    """The valid choices of the first JSON object that has one."""
    with suppress(PlanError):
        for value in LenientJsonReader(text).values():
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


def _choice(entry: object, among: Sequence[Ranked]) -> ExpertChoice | None:
    if not isinstance(entry, dict):
        return None
    name, reason = entry.get("id"), entry.get("reason")
    for item in among:
        if name in (item.candidate.label, item.candidate.expert.id):
            words = one_line(reason, limit=MAX_REASON_CHARS) if isinstance(reason, str) else ""
            return ExpertChoice(item.candidate, words)
    return None
