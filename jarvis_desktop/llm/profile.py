"""What an LLM can do: measured by a test and kept, or else judged by its size."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Ability, Message, MessageRole, Prompt, Usage, answer
from jarvis_desktop.paths import replace_text

log = logging.getLogger(__name__)

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


SHORT_PLANS_SHARE = 0.3
"""The least share of right plans for an LLM that plans at all, unless it is very small."""
FULL_PLANS_SHARE = 0.9
FULL_PLANS_WINDOW = 4096
"""Tokens; the list of all tasks does not fit into a smaller window."""
FULL_PLANS_SPEED = 15.0
"""Tokens of a prompt per second; the list of all tasks takes longer than three minutes below it."""
MIN_PLANS = 4
"""After fewer plans, the number of parameters says more. An LLM with none of them right is measured
no further."""


@dataclass(frozen=True, slots=True)
class LLMProfile:
    """What was measured of an LLM; 0 or None stands for what was not."""

    window: int = 0
    """In tokens."""
    read_speed: float = 0.0
    """Tokens of a prompt per second."""
    write_speed: float = 0.0
    """Tokens of an answer per second."""
    keeps_schema: bool | None = None
    """Whether its answer followed a schema."""
    enforces_schema: bool | None = None
    """Whether the server makes every answer follow its schema."""
    plans_right: int = 0
    plans_tried: int = 0

    @property
    def is_measured(self) -> bool:
        """Whether it is more than the result of probing the server."""
        return self.write_speed > 0

    def ability(self, assumed: Ability) -> Ability:
        """Return what the LLM can do; `assumed`, from its size, if too few plans were tried."""
        if self.keeps_schema is False:
            return Ability.ANSWERS
        if self.plans_tried < MIN_PLANS:
            return assumed
        share = self.plans_right / self.plans_tried
        # Very small LLMs choose single tasks right by chance, and write long plans wrong.
        needed = FULL_PLANS_SHARE if assumed is Ability.ANSWERS else SHORT_PLANS_SHARE
        if share < needed:
            return Ability.ANSWERS
        roomy = self.window >= FULL_PLANS_WINDOW and self.read_speed >= FULL_PLANS_SPEED
        return Ability.FULL_PLANS if share >= FULL_PLANS_SHARE and roomy else Ability.SHORT_PLANS

    @property
    def summary(self) -> str:
        """What users read of it, such as "plans 7 of 10, 39 tokens a second"."""
        speed = f"{self.write_speed:.0f}"
        if not self.plans_tried:
            return tr("{speed} tokens a second", speed=speed)
        return tr(
            "plans {right} of {tried}, {speed} tokens a second",
            right=self.plans_right,
            tried=self.plans_tried,
            speed=speed,
        )


def profile_key(provider: str, host: str, name: str, digest: str = "") -> str:
    """Return what tells an LLM apart: other weights under its name have another digest."""
    return json.dumps([provider, host, name, digest], ensure_ascii=False)


class LLMProfiles:
    """The profiles of all LLMs, saved across restarts. A lost or broken file is started again."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file, profiles last as long as this process."""
        self._file = file
        self._known: dict[str, LLMProfile] | None = None

    def find(self, key: str) -> LLMProfile | None:
        """Return the profile of an LLM. Reads the file the first time."""
        if self._known is None:
            self._known = _load(self._file) if self._file else {}
        return self._known.get(key)

    def keep(self, key: str, profile: LLMProfile) -> None:
        """Save a profile. It may write the file, and never raises."""
        self.find(key)
        assert self._known is not None
        self._known[key] = profile
        if self._file is None:
            return
        rows = {name: asdict(each) for name, each in self._known.items()}
        try:
            replace_text(self._file, json.dumps(rows, indent=1))
        except OSError as error:
            log.info("The profiles of LLMs could not be saved: %s", error)

    def note_schema(self, key: str, enforces: bool) -> None:
        """Save whether the server of an LLM enforces schemas."""
        self.keep(key, replace(self.find(key) or LLMProfile(), enforces_schema=enforces))


def _load(file: Path) -> dict[str, LLMProfile]:
    try:
        rows = json.loads(file.read_text("utf-8"))
        return {str(key): LLMProfile(**row) for key, row in rows.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.info("The profiles of LLMs cannot be read: %s", error)
        return {}


MEASURING_LIMIT_S = 60.0
"""For the plans; on a slow computer fewer of them are tried."""

PlanCheck = Callable[[LLM], AsyncGenerator[bool, None]]
"""Has an LLM plan some requests, and returns of each whether its plan is right. Raises JarvisError
if the LLM cannot be reached."""

_WORDS = "river lamp seven orange window paper quiet garden bridge silver morning letter".split()
SPEED_PROMPT_WORDS = 250
SPEED_ANSWER_TOKENS = 48

_SUM = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
}


async def measure(
    llm: LLM,
    check: PlanCheck,
    tell: Callable[[LLMProfile], None] = lambda profile: None,
    *,
    limit: float = MEASURING_LIMIT_S,
) -> LLMProfile:
    """Measure an LLM; `tell` gets the profile so far. Raises JarvisError."""
    usage = await _speeds(llm)
    keeps = await _keeps_schema(llm)
    profile = LLMProfile(
        llm.window,
        usage.read / usage.reading_s if usage.reading_s else 0.0,
        usage.written / usage.writing_s if usage.writing_s else 0.0,
        keeps,
        llm.enforces_schema,
    )
    tell(profile)
    if not keeps:  # and a plan is a far longer form
        return profile
    try:
        async with asyncio.timeout(limit), aclosing(check(llm)) as outcomes:
            async for right in outcomes:
                profile = replace(
                    profile,
                    plans_right=profile.plans_right + right,
                    plans_tried=profile.plans_tried + 1,
                )
                tell(profile)
                if profile.plans_tried >= MIN_PLANS and not profile.plans_right:
                    break
    except TimeoutError:  # the rest is not tried
        pass
    return profile


async def _speeds(llm: LLM) -> Usage:
    """The usage of a prompt that no cache has; zeros if the server does not report it."""
    words = " ".join(random.choices(_WORDS, k=SPEED_PROMPT_WORDS))
    asked = Message(MessageRole.USER, f"{words}\n\nCount from one to twenty, in words.")
    found = [Usage(0, 0, 0, 0.0, 0.0)]
    token = current_usage.set(found.append)
    try:
        await answer(llm, Prompt((asked,), longest=SPEED_ANSWER_TOKENS))
    except ExpertError as error:
        if error.fault is not Fault.ANSWER:  # it is long enough
            raise
    finally:
        current_usage.reset(token)
    return found[-1]


async def _keeps_schema(llm: LLM) -> bool:
    """Whether it answers by a JSON schema; some LLMs do not."""
    asked = Message(MessageRole.USER, "What is 2 plus 3?")
    try:
        found = json.loads(await answer(llm, Prompt((asked,), schema=_SUM, longest=64)))
    except ValueError:
        return False
    except ExpertError as error:
        if error.fault is Fault.ANSWER:
            return False
        raise
    return isinstance(found, dict) and isinstance(found.get("sum"), int)
