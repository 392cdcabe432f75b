"""Keeps what the person wants remembered in every conversation, and says what that is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Option, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="remember",
    summary="Remembers a wish or fact of the person for all conversations, or lists them.",
    ports=(),
    gives=(Kind.TEXT,),
    acts=True,
    options=(
        Option("fact", "what to remember, in the person's own words", "", reads="as-said"),
        Option("action", "what to do", "keep", choices=("keep", "list")),
    ),
    cues=(
        "^remember", "^always", "^from now on", "^from today on", "^in future",
        "^in the future", "^keep in mind", "^bear in mind", "^don't forget", "^do not forget",
        "^never forget", "^never answer", "^never speak", "^never call me", "^note that",
        "^make a note", "^take note", "^call me", "^my name is", "^i prefer",
    ),
    presets=tuple(
        Preset(phrase, (("action", "list"),))
        for phrase in (
            "what do you remember", "what did you remember", "what have you remembered",
            "what do you know about me", "what did i tell you to remember",
            "what did i ask you to remember", "list what you remember", "show what you remember",
            "list my facts", "show my facts", "list your memory", "show your memory",
            "what is in your memory", "what's in your memory", "^do you remember anything",
        )
    ),
)  # fmt: skip

_ASKING = re.compile(
    r"^(?:please\s+)?(?:remember|(?:keep|bear) in mind|(?:don't|do not|never) forget|note|"
    r"make a note|take note)\b(?:\s+(?:of\s+)?(?:this|that))?\s*[:,]?\s*",
    re.IGNORECASE,
)


async def remember(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """What is remembered now. Raises InputError for what is nothing, or too much."""
    if call.words("action") == "list":
        facts = services.facts.list()
        if not facts:
            return [text_artifact("You have not asked me to remember anything yet.")]
        return [text_artifact("\n".join(["I remember:", *(f"- {item.text}" for item in facts)]))]
    fact = services.facts.add(_ASKING.sub("", call.words("fact").strip()).rstrip(" .!"))
    return [text_artifact(f"I will remember: {fact.text}.")]


DEFINITION = Definition(
    TYPE, skill=remember, note="kept in your history's file; a language model goes by it"
)
