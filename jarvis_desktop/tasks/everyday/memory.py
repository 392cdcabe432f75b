"""Memory: remembers facts about the user for every conversation, lists them, and forgets them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Fact
from jarvis_desktop.core.task import Call, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.text.tokens import FUNCTION_WORDS

_ASKING = re.compile(
    r"^(?:please\s+)?(?:remember|(?:keep|bear) in mind|(?:don't|do not|never) forget|note|"
    r"make a note|take note)\b(?:\s+(?:of\s+)?(?:this|that))?\s*[:,]?\s*",
    re.IGNORECASE,
)


async def remember(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Remember a fact, or list all. Raises InputError if it is empty or too long."""
    if call.words("action") == "list":
        facts = services.facts.list()
        if not facts:
            return [text_artifact("You have not asked me to remember anything yet.")]
        return [text_artifact("\n".join(["I remember:", *(f"- {item.text}" for item in facts)]))]
    fact = services.facts.add(_ASKING.sub("", call.words("fact").strip()).rstrip(" .!"))
    return [text_artifact(f"I will remember: {fact.text}.")]


REMEMBER = define(
    name="remember", label="Remember",
    summary="Remembers a wish or fact of the person for all conversations, or lists them.",
    acts=True,
    options=(
        TaskOption("fact", "what to remember, in the user's own words", "", reads="as-said"),
        TaskOption("action", "what to do", "keep", choices=("keep", "list")),
    ),
    cues=(
        "^remember", "^always", "^from now on", "^from today on", "^in future",
        "^in the future", "^keep in mind", "^bear in mind", "^don't forget", "^do not forget",
        "^never forget", "^never answer", "^never speak", "^never call me", "^note that",
        "^make a note", "^take note", "^call me by", "^my name is", "^i prefer",
    ),
    presets=presets(
        ({"action": "list"},
         "what do you remember|what do you know about me|what have you remembered"),
    ),
    skill=remember, note="kept in your history's file; a language model goes by it",
)  # fmt: skip


_FORGET_ASKING = re.compile(
    r"^(?:please\s+)?(?:forget|unremember|stop remembering|(?:don't|do not) remember)\b"
    r"(?:\s+about)?(?:\s+(?:that|this|it)\b)?(?:\s+(?:i (?:said|told you)(?: that)?)\b)?",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"^\W*(?:everything|all(?: of (?:it|that|them))?|(?:all )?my facts|what you know|"
    r"what i (?:told|asked) you)\b(?:\s+(?:that )?(?:about me|you (?:know|remember)(?: about me)?|"
    r"i(?:'ve| have)? (?:told|said|asked).*|facts|to remember))?\W*$|"
    r"^(?:clear|erase|wipe|delete|empty)\b.*\bmemory\W*$",
    re.IGNORECASE,
)
_SMALL = FUNCTION_WORDS | frozenset("everything i'm like said told want wants".split())
ALIKE = 0.6  # the share of the words that must occur in a fact for it to be the one that is meant


def question(call: Call) -> str:
    """The question to ask before everything is forgotten."""
    everything = _EVERYTHING.search(_fact_words(call))
    return "Forget everything you have asked me to remember?" if everything else ""


async def forget(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Forget facts. Raises InputError if it is not clear which one."""
    facts = services.facts.list()
    if not facts:
        return [text_artifact("There is nothing to forget: I remember nothing.")]
    meant = _fact_words(call)
    if _EVERYTHING.search(meant):
        count = services.facts.clear()
        return [text_artifact(f"I forgot all {count} things." if count > 1 else "I forgot it.")]
    fact = _best_match(meant, facts)
    services.facts.remove(fact.number)
    return [text_artifact(f"I forgot: {fact.text}.")]


def _fact_words(call: Call) -> str:
    return _FORGET_ASKING.sub("", call.words("fact").strip().replace("’", "'")).strip(" .!?,:")


def _best_match(meant: str, facts: Sequence[Fact]) -> Fact:
    """The fact that is meant; the newest if no words describe it. Raises InputError."""
    wanted = _words(meant)
    if not wanted:
        return facts[-1]
    shares = [_share(wanted, _words(fact.text)) for fact in facts]
    best = max(shares)
    found = [fact for fact, share in zip(facts, shares, strict=True) if share == best]
    if best < ALIKE:
        raise InputError(
            tr("I remember nothing like “{meant}”.", meant=meant),
            hint=tr("Ask “what do you remember”."),
        )
    if len(found) > 1:
        listed = " or ".join(f"“{fact.text}”" for fact in found[:3])
        raise InputError(
            tr("I am not sure which you mean: {listed}?", listed=listed),
            hint=tr("Say it in more words."),
        )
    return found[0]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[\w']+", text.casefold()) if word not in _SMALL}


def _share(wanted: set[str], words: set[str]) -> float:
    """The share of the wanted words that occur, in any form: "answers" and "answer"."""
    return sum(any(_same(one, other) for other in words) for one in wanted) / len(wanted)


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= 4 and long.startswith(short))


FORGET = define(
    name="forget", label="Forget",
    summary="Forgets something the person wanted remembered: the last thing, a named one, or all.",
    acts=True, guarded=True,
    options=(
        TaskOption(
            "fact", "what to forget, as it was said, or “everything”", "that", reads="as-said"
        ),
    ),
    cues=(
        "^forget that", "^forget what", "^forget my", "^forget about", "^forget this",
        "^forget everything", "^forget all", "^forget the", "^forget i", "^forget",
        "^unremember", "^stop remembering", "^don't remember", "^do not remember",
        "^clear your memory", "^clear ... memory", "^erase ... memory", "^wipe ... memory",
        "^delete ... memory", "^empty your memory",
    ),
    skill=forget, question=question, note="asks before all of it",
)  # fmt: skip
