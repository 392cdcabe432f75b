"""What an LLM can do, judged by its size."""

from __future__ import annotations

import re

from jarvis_desktop.core.llm import Ability

SHORT_PLANS_FROM = 800_000_000
"""Parameters; smaller LLMs only answer."""
FULL_PLANS_FROM = 3_500_000_000
"""Parameters."""

# The "a3b" of "qwen3-30b-a3b" counts the active parameters only.
_PARAMETERS = re.compile(r"(?<![a-z0-9.])(?:\d+x|e)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.I)
_UNITS = {"b": 1_000_000_000, "m": 1_000_000}


def parameters_in(name: str) -> int:
    """Return the number of parameters that a name such as "qwen3:4b" states; 0 if it has none."""
    found = _PARAMETERS.search(name)
    return round(float(found[1]) * _UNITS[found[2].lower()]) if found else 0


def assumed_ability(parameters: int, *, remote: bool) -> Ability:
    """Return what an LLM that was not measured can probably do.

    One of unknown size (0) is assumed to be small on this computer, and large elsewhere.
    """
    if not parameters:
        return Ability.FULL_PLANS if remote else Ability.SHORT_PLANS
    if parameters < SHORT_PLANS_FROM:
        return Ability.ANSWERS
    return Ability.SHORT_PLANS if parameters < FULL_PLANS_FROM else Ability.FULL_PLANS
