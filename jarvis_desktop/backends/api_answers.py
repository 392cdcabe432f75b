"""What the functions that ask a service share: the question, and checks of what came back.

An answer is made by somebody else's program. Its parts are looked at one by one, and what is not as
it was promised is no result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_desktop.backends.api_failures import Asked, not_served, unusable
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.result import Spent
from jarvis_desktop.core.wording import tr

LONGEST_TEXT = 200_000
"""Characters that are sent in one request."""

LONGEST_ANSWER = 1_000_000
"""Characters of a text that an expert may answer."""


MOST_TOKENS = 100_000_000
MOST_DOLLARS = 1000.0
"""No answer costs more: whoever tells that is mistaken."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call, on its way to a service."""

    client: Any
    """An InferenceClient of huggingface_hub, for this expert at this provider."""
    call: Call
    report: Report
    expert: Expert
    provider: str
    asked: Asked
    key: str = field(default="", repr=False)
    usage: list[Spent] = field(default_factory=list)
    """What its answers told of their price."""

    def unusable(self, why: str = "") -> ExpertError:
        """The answer is not as it was promised; `why` ends the sentence."""
        return unusable(self.asked, why=why)

    def not_served(self) -> UnavailableError:
        """The provider cannot be asked for this."""
        return not_served(self.asked)

    def text(self, port: str) -> str:
        """The text of a port. Raises InputError where there is none, ExpertError if too long."""
        text = self.call.text(port).strip()
        if not text:
            raise InputError(tr("There is no text to send: the {port} is empty.", port=port))
        if len(text) > LONGEST_TEXT:
            raise ExpertError(
                tr(
                    "The text is too long for {id}: {text:,} characters.",
                    id=self.expert.id,
                    text=len(text),
                ),
                hint=tr("Give it in parts."),
            )
        return text

    def words(self, value: object) -> str:
        """A text of the answer. Raises ExpertError where it is none, or an endless one."""
        if not isinstance(value, str) or not value.strip():
            raise self.unusable(tr("it holds no text"))
        if len(value) > LONGEST_ANSWER:
            raise self.unusable(tr("its text is endless"))
        return value.strip()

    def several(self, value: object) -> Sequence[Any]:
        """A list of the answer with something in it. Raises ExpertError."""
        if not isinstance(value, list) or not value:
            raise self.unusable(tr("it holds nothing"))
        return value

    def share(self, value: object) -> float:
        """How sure the expert is, 0 to 1. Raises ExpertError where that is no such number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.unusable(tr("it does not say how sure it is"))
        if not math.isfinite(value) or not -0.001 <= value <= 1.001:
            raise self.unusable(tr("it is surer than sure"))
        return min(max(float(value), 0.0), 1.0)

    def scores(self, elements: object) -> list[tuple[str, float]]:
        """The labels with how sure each is, the likeliest first. Raises ExpertError."""
        found = [
            (self.words(each.label), self.share(each.score)) for each in self.several(elements)
        ]
        return sorted(found, key=lambda pair: -pair[1])


def chatted(question: Question, content: object, *, longest: int = 2048) -> str:
    """What the expert says to one message. `content` is as OpenAI's protocol has it."""
    answer = question.client.chat_completion(
        [{"role": "user", "content": content}], max_tokens=longest
    )
    question.usage.append(price_of(answer.usage))
    (first, *_) = question.several(answer.choices)
    said = question.words(first.message.content)
    if "</think>" in said:  # what it thought before is not its answer
        said = question.words(said.rpartition("</think>")[2])
    if first.finish_reason == "length":
        said += "\n\n(The answer ends here: it reached its longest length.)"
    return said


def price_of(usage: object) -> Spent:
    """What an answer tells of its price, as far as it makes sense. Hugging Face's router passes on
    what the provider gives: tokens always, an estimated cost in dollars by some."""
    told = usage if isinstance(usage, Mapping) else {}
    tokens, dollars = told.get("total_tokens"), told.get("estimated_cost")
    counted = isinstance(tokens, int) and 0 <= tokens <= MOST_TOKENS
    priced = isinstance(dollars, int | float) and 0 <= dollars <= MOST_DOLLARS
    return Spent(tokens=int(tokens or 0) if counted else 0, dollars=dollars if priced else None)


def in_parts(pieces: Iterable[str], most: int) -> list[str]:
    """The pieces joined by spaces into parts of at most so many characters, where they allow it."""
    parts: list[str] = []
    for piece in pieces:
        if parts and len(parts[-1]) + len(piece) < most:
            parts[-1] += f" {piece}"
        else:
            parts.append(piece)
    return parts
