"""Tell whether words that are the cue of no task ask for something, and what.

What asks for something is never left out without a word: it is planned for an LLM, or named.
"""

from __future__ import annotations

import re

from jarvis_desktop.assistant.planning.inputs import (
    ASK_TABLE,
    CONVERT,
    CUT,
    EDIT_TABLE,
    FOLLOWING,
    PROMPT,
    PRONOUN,
    SAVE,
)
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.tokens import FUNCTION_WORDS

MARKED = re.compile(r"\bxfile\d+x[a-z]*\b")
_quoted = re.compile(r"\bxquote\d+x\b")
SMALL_WORDS = frozenset(
    "a all also an and as both do file files for here in is it me my of ok on one or other photo "
    "picture pictures please same second so that the then there these this those to too two well "
    "with you image images document documents recording from at but not".split()
)
"""Words that may come with a further file without asking for anything new."""

_asks = re.compile(
    r"\W*(?:(?:please|also|can you|could you)\s+)*(?:(?:tell|explain|show) (?:to )?(?:me|us)\s+)?"
    r"(?:what|how|why|who|when|where|which|whether)\b(?:\s+[\w'-]+){3,}"
    r"|\W*(?:please\s+)?(?:explain|recommend|suggest|give me (?:an?|some|the|\w+) "
    r"(?:ideas?|tips?|examples?|reasons?|versions?))\b"
    r"|\W*if (?:so|not|yes|no|it is|it isn't)\b(?:\W+[\w'-]+){3,}"
)


_first_word = re.compile(
    r"\W*(?:(?:please|also|then|and|now|finally|"
    r"und|dann|danach|anschließend|außerdem|bitte|auch)\W+)*([^\W\d_][\w']*)(.*)",
    re.DOTALL,
)
_no_orders = FUNCTION_WORDS | frozenset(
    "thanks thank cheers yes yeah ok okay hello hi hey sorry hurry like such using dear good see "
    "love got let's i'm i've i'd it's that's there's he's she's we're they're given take use look "
    "here first second next well right maybe perhaps one two three".split()
)
"""Words that do not begin an order, in any clause."""


_how_sorted = re.compile(r"\W*(?:the )?(?:\w{2,}est|(?:most|least) \w+) first\b")
"""Says how something is sorted: "highest first"."""


def is_order(words: str, *, taken: bool = False) -> bool:
    """Return whether words ask for something, by how they begin. `taken` says that a step before
    takes words as they are: then they belong to it unless they speak of its result."""
    if _phrasal.match(words) and not taken:
        return True
    found = _first_word.match(_quoted.sub(" ", words))
    if found is None or found[1] in _no_orders or _how_sorted.match(words):
        return False
    if taken:
        return PRONOUN.search(found[2]) is not None
    return re.search(r"[a-z\d]", MARKED.sub(" ", found[2])) is not None


ASKS_FOR = re.compile(
    r"\b(?:tell|show|ask) (?:me|us)$|\blet (?:me|us) know$|\b(?:sage?|zeige?|verrate) (?:mir|uns)$"
)
"""Words whose comma joins them to what is asked: "sag mir, wie lang sie ist"."""
PUTS = re.compile(
    r"\W*(?:(?:and|then|also|please|und|dann|bitte)\W+)*"
    r"(?:(?:put|write|save|store|keep|note|speichere?|schreibe?)\b"
    r"|(?:give|hand|pass|gib|gebt)\b(?=.*\b(?:as|under|called|named|als|unter)\b))"
)
"""Begins what only says where a result is to be written."""
SENDS = re.compile(
    r"\W*(?:(?:and|then|also|please|und|dann|bitte|auch|can you|could you)\W+)*"
    r"(?:upload|e-?mail|post|publish|tweet|fax|print (?=(?:it|them|this|that|these|the|my|all|both|"
    r"xfile)\b|xfile)|encrypt|lock|(?:password-)?protect|share (?=.*\bwith\b)|"
    r"(?:send|mail|forward|text|message) (?=(?:it|them|this|that|these|both|all|the|my|an?|"
    r"xfile\w*)\b.*\bto\b)|schick\w*|verschick\w*|sende\w*|maile\w*|poste|druck\w*|verschlüssel\w*|"
    r"lade?\b(?=.*\bhoch\b))\b"
)
"""Begins what is to be sent, published, printed or locked, which no task does."""
SAYS_WHY = re.compile(
    r"\W*(?:(?:and|but|und|aber)\W+)?(?:so|because|since|as|if|when|for|to|in|then i|i|i'm|it|it's|"
    r"we|we're|they|he|she|that|which|who|thanks?|damit|weil|ich|es)\b"
)
"""How words begin that only explain a wish: "so that I can print it"."""

_question = re.compile(
    r"\W*(?:(?:und|auch|and|also)\s+)*"
    r"(?:(?:what|how|why|who|when|where|which|is|are|was|were|do|does|did|has|have|wie|wer|wo|wann|"
    r"warum|welche\w?)\b[^?]*\?"
    r"|(?:what(?:'s)?|how|why|who|which)\s(?!an?\b|ever\b|i (?:said|meant)\b)\w)"
)


def is_question(words: str) -> bool:
    """Return whether words ask a question."""
    return (_asks.match(words) or _question.match(words)) is not None


def asks(words: str) -> bool:
    """Return whether words give an order or ask a question."""
    return is_order(words) or is_question(words)


SAYS_WHETHER = re.compile(r"say (?:if|whether|which|how|what language)\b")
"""Words that ask for an answer, not for speech."""
RESULT_TOLD = re.compile(
    r"\W*(?:tell|show|give) me\b[^.!?]*\b(?:it|they|the result)\b"
    r"(?P<more>.*\b(?:means?|stands for|comes from)\b)?"
)
"""What a step says anyway: "roll a die and tell me what it shows", unless `more` is asked."""


def is_own_wish(words: str) -> bool:
    """Return whether words without a cue ask something of their own, which only an LLM can
    answer: "and tell me how long rice has to cook"."""
    return _asks.match(words) is not None and not PRONOUN.search(words)


_leading = re.compile(
    r"\W*(?:please\s+)?(?:put|bring|rephrase|reword|simplify|explain|proofread|correct|check|"
    r"fix|improve|polish|compare|answer|reply|work out|figure out|sort out)\b(?:\s+[\w'-]+){3,}"
)


def is_leading_wish(words: str) -> bool:
    """Return whether words without a cue, before those of the first step, ask for a text of their
    own: "put the letter into plain words and read it out"."""
    return _leading.match(words) is not None and bool(re.search(r"(?:\band|\bthen|,)\s*$", words))


STATED = re.compile(
    r"(?:(?:and|but|also)\s+)*(?:i(?:'d| would| also)* (?:like|love|want|need|prefer|wish)\b"
    r"|(?:it|this|that|they) (?:(?:also|all) )?(?:should|must|needs?|has to|have to|ought)\b)"
    r"(?:\W+[\w']+){2}",
    re.IGNORECASE,
)
"""A wish in a statement: "it should be in a Word document"."""


AS_SAID = "as-said"
"""The reader of options that take the words of a request as they are."""

MIN_FOREIGN = 0.4
"""An order that is at least this likely to ask for none of our tasks is no part of another wish."""
MIN_SURELY_FOREIGN = 0.95
"""Any other words are not either, from this on: "and the weather?"; ..."""
SURELY = 1.0
"""... and nothing is remembered that asks for today's news, or in an unknown language."""


def is_foreign(words: str, chance: float, task_type: TaskType) -> bool:
    """Return whether words behind those of a task ask for what none of our tasks does. What is
    quoted asks for nothing: it is a text to work on."""
    if not re.search(r"[^\W\d_]", MARKED.sub(" ", _quoted.sub(" ", words))):
        return False
    if chance >= MIN_FOREIGN and orders(words, task_type):
        return True
    other = not _takes_more(task_type)
    other |= is_literal(task_type) and (chance >= SURELY or is_order(words))
    return chance >= MIN_SURELY_FOREIGN and other and not SAYS_WHY.match(words)


def opens(words: str, chance: float) -> bool:
    """Return whether words without a cue, before those of the first task, ask for something."""
    if asks(words):
        return True
    return chance >= MIN_SURELY_FOREIGN and not (SAYS_WHY.match(words) or _sets_out.match(words))


_phrasal = re.compile(
    r"\W*(?:(?:and|then|please)\s+)*(?:take|give|put)\b.*\b(?:out|off|away|up|back)\b"
)
_sets_out = re.compile(
    r"\W*(?:here|hello|hi|hey|good|okay?|yes|no|for|from|of|in|on|at|about|with|as|my|this|these|"
    r"there|you)\b"
)
"""How words begin that say what a wish is about, or greet."""


def orders(words: str, task_type: TaskType, *, given: bool = False) -> bool:
    """Return whether words without a cue, behind those of a task, ask for something else. `given`
    says that the task has what it works on."""
    taken = _takes_more(task_type) and not (given and takes_words(task_type))
    return is_order(words, taken=taken)


def _takes_more(task_type: TaskType) -> bool:
    """Return whether a task takes more words as they are."""
    taken = takes_words(task_type) or task_type.name in (ASK_TABLE, EDIT_TABLE)
    return taken or is_literal(task_type)


def is_literal(task_type: TaskType) -> bool:
    """Return whether an option of a task takes the words of a request as they are."""
    return any(option.reads == AS_SAID for option in task_type.options)


def takes_words(task_type: TaskType) -> bool:
    """Return whether a few words after the cue are what the task works on."""
    first = task_type.ports[:1]
    return (
        bool(first)
        and first[0].kinds[0] is Kind.TEXT
        and (task_type.name in _TAKING or first[0].name == PROMPT)
    )


_TAKING = FOLLOWING - {CONVERT, CUT, SAVE}
"""Tasks that may work on the words behind their cue: "say hello"."""
