"""What a spoken answer to a yes-or-no question means. Anything that is not clear is nothing."""

from __future__ import annotations

import re
from typing import Literal

Answer = Literal["yes", "no", "stop", "repeat", "slower"]

_PHRASES: dict[Answer, tuple[str, ...]] = {
    "yes": (
        "yes", "yeah", "yep", "yup", "sure", "ok", "okay", "all right", "alright", "of course",
        "certainly", "go ahead", "do it", "do that", "i agree", "agreed", "correct",
        "that is right",
        "ja", "jawohl", "gerne", "einverstanden", "mach das", "mach es", "in ordnung",
        "oui", "d accord", "bien sûr", "vas y", "si", "sí", "claro", "de acuerdo", "adelante",
        "是", "是的", "好", "好的", "可以", "对", "同意",
    ),
    "no": (
        "no", "nope", "nah", "never", "don t", "do not", "cancel", "rather not", "i refuse",
        "nein", "nicht", "lieber nicht", "auf keinen fall", "abbrechen", "niemals",
        "non", "jamais", "annule", "nunca", "cancela",
        "不", "不要", "不是", "不行", "不可以", "不用", "取消", "别",
    ),
    "stop": (
        "stop", "stop it", "stop that", "halt", "quiet", "be quiet", "enough", "stopp", "aufhören",
        "arrête", "basta", "para", "停", "停止", "停下",
    ),
    "repeat": (
        "repeat", "repeat that", "repeat it", "again", "once more", "one more time", "say again",
        "say that again", "say it again", "pardon", "what", "wiederhole", "wiederholen",
        "noch einmal", "nochmal", "wie", "répète", "encore", "otra vez", "repite",
        "再说一遍", "重复", "再来一遍",
    ),
    "slower": (
        "slower", "slowly", "more slowly", "speak slower", "speak more slowly", "too fast",
        "langsamer", "zu schnell", "plus lentement", "más despacio", "慢一点", "慢点", "慢些",
    ),
}  # fmt: skip
_BY_PHRASE = {phrase: answer for answer, phrases in _PHRASES.items() for phrase in phrases}
_FILLERS = re.compile(
    r"\b(?:please|jarvis|uh|um|er|well|oh|hey|thanks|thank you|bitte|danke|ähm|s il te plaît|merci"
    r"|por favor|gracias)\b|请|谢谢"
)
_REFUSES = re.compile(
    r"\b(?:no|not|nope|never|don t|doesn t|won t|can t|cancel|nein|nicht|kein|keine|niemals|non|pas"
    r"|jamais|nunca)\b|不|别|取消"
)
LONGEST_PHRASE = 4
"""Words."""


def answer_of(text: str) -> Answer | None:
    """What it means; None where that is open, so that nothing follows from it.

    A refusal is one wherever it stands in what was said; a Yes must be all of it.
    """
    words = " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())
    bare = " ".join(_FILLERS.sub(" ", words).split())
    found = _together(bare.split())
    if len(found) == 1:
        return found.pop()
    return "no" if _REFUSES.search(words) else None


def _together(words: list[str]) -> set[Answer]:
    """The answers that these words are made of; empty where anything else is among them."""
    found: set[Answer] = set()
    while words:
        for count in range(min(LONGEST_PHRASE, len(words)), 0, -1):
            if answer := _BY_PHRASE.get(" ".join(words[:count])):
                found.add(answer)
                words = words[count:]
                break
        else:
            return set()
    return found
