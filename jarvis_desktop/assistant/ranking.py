"""Orders the candidates of a task, by a few things that are known about each of them.

Fetched experts and the LLM come first, then those behind an API, the built-in way after them, and
last whatever failed here lately or is spare. A skill of the application, such as its own voice,
goes before an API; who prefers the network has the API first. Within that, the mean of these, each
from 0 to 1, with the weights below:

match      how well the description meets the words of the request
success    the share of its runs on this computer that worked; a half where it has not run
size       the logarithm of its download, for larger experts do better; an LLM counts as largest
speed      how quick it was on this computer; a half at ten seconds, and where it has not run
downloads  the logarithm of how often the Hub gave it away
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log10

from jarvis_desktop.core.expert import Candidate, Experience, Expert
from jarvis_desktop.tasks.words import content

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How near each text is in meaning to a request, 0 to 1: similarity(request, texts)."""

WEIGHTS: Mapping[str, float] = {
    "match": 0.30,
    "success": 0.25,
    "size": 0.20,
    "speed": 0.15,
    "downloads": 0.10,
}
MIDDLING = 10.0
"""Seconds; an expert that takes as long is neither quick nor slow."""

CHOICE, SKILL, NETWORK, BUILT_IN, LAST = range(5)
"""The choice proper; the application's own skill; by API where that is not the choice; a built-in
method; what is tried last."""

UNTRIED = Experience(runs=0, worked=0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place in the order."""

    candidate: Candidate
    tier: int
    """CHOICE, SKILL, NETWORK, BUILT_IN or LAST."""
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
    """The candidates, best first; of equals the one that was listed first."""
    matches = similarity(request, [described(item.expert) for item in candidates])
    found = []
    for candidate, match in zip(candidates, matches, strict=True):
        experience = known.get(candidate.kept_as, UNTRIED)
        score = _score(
            match=match,
            success=(experience.worked + 1) / (experience.runs + 2),
            size=1.0 if candidate.backend == "llm" else _size(candidate.expert),
            speed=MIDDLING / (MIDDLING + _seconds(experience)),
            downloads=_popularity(candidate.expert),
        )
        found.append(
            Ranked(candidate, _tier(candidate, experience, network_first), score, experience)
        )
    return tuple(sorted(found, key=lambda item: (item.tier, -item.score)))


def rank_to_fetch(
    experts: Sequence[Expert], request: str, *, similarity: Similarity
) -> tuple[Expert, ...]:
    """Experts that are not here, best first: the same, but what is sooner here comes first."""
    matches = similarity(request, [described(expert) for expert in experts])
    scores = {
        expert: _score(match=match, size=1.0 - _size(expert), downloads=_popularity(expert))
        for expert, match in zip(experts, matches, strict=True)
    }
    return tuple(sorted(experts, key=lambda expert: -scores[expert]))


def overlap(request: str, texts: Sequence[str]) -> list[float]:
    """How much of the request each text speaks of: the share of its words, rare ones counting more.

    The weight of a word is BM25's (Robertson and Zaragoza, 2009), over these texts. Words that
    none of them has are left out, so that only what tells them apart counts.
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


def described(expert: Expert) -> str:
    """What a request is compared with."""
    return f"{expert.id.replace('-', ' ')}. {expert.summary}"


def _score(**parts: float) -> float:
    whole = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / whole


def _tier(candidate: Candidate, experience: Experience, network_first: bool) -> int:
    if candidate.built_in:
        return SKILL if candidate.backend == "skill" else BUILT_IN
    if candidate.spare or experience.failed:
        return LAST
    return NETWORK if candidate.provider and not network_first else CHOICE


def _size(expert: Expert) -> float:
    """0.5 at 100 MB, 1 at 10 GB; a half where it is not known."""
    return min(1.0, log10(expert.download_mb) / 4) if expert.download_mb else 0.5


def _seconds(experience: Experience) -> float:
    return MIDDLING if experience.seconds is None else experience.seconds


def _popularity(expert: Expert) -> float:
    """1 at ten million downloads a month; 0 where it is not known."""
    return min(1.0, log10(1 + expert.downloads) / 7)
