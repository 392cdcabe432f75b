"""Reasons why a text that an expert gave cannot be what was asked for.

Each is the end of a sentence that begins with the expert's name; "" is no reason. What may well be
right is not doubted: a false alarm costs a good result.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

from jarvis_desktop.backends.languages import CODES, NAMES
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.found import clean_label
from jarvis_desktop.tasks.naming import named_things
from jarvis_desktop.tasks.sentences import sentences

UNREADABLE = 0.02
"""The share of characters that are none, such as "�", which makes a text unreadable."""

GARBLED = 0.01
"""The share of signs that were read in a wrong encoding; one of them is a typing error."""

LOOP_FROM = 400
"""Characters; a shorter text may well say the same thing a few times."""
LOOP = 12.0
"""How many times smaller a text gets, packed by zlib, that only repeats itself. Prose gets 2 to 3
times smaller, tables and lists up to 8. Whisper's decoder tells its own loops by the same sign
(Radford et al. 2022)."""

LONG_TEXT = 60
"""Words of a text of which a summary should be shorter."""

LONGEST_LABEL = 5000
"""Characters of an answer that is made of labels."""

WIDEST = 12
"""A translation is not so many times longer, or shorter, than what was translated."""
TRANSLATED_FROM = 200
"""Characters; with fewer, a single long word may change much."""

FEWEST = 4
"""Words of a question or an order that nobody gives back as an answer by chance."""

PICTURE_LABELS = "zero-shot-image-classification"

ORDERS = {
    "text-generation": "prompt",
    "question-answering": "question",
    "visual-question-answering": "question",
    "document-question-answering": "question",
    "table-question-answering": "question",
}
"""Ports whose text is no answer to itself."""

_UNREAD = re.compile("[\ufffd\u0000-\u0008\u000b\u000e-\u001f\u007f\ue000-\uf8ff]")
# UTF-8 that was read as Latin-1 or Windows-1252: "Ã¤", "â€™".
_MISREAD = re.compile("[ÂÃÐÑ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€.|ï¿½")
_NO_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)\s*%?(?!\w)", re.IGNORECASE)
_SHARE = re.compile(r"(?<![\d.,])(-?\d+(?:\.\d+)?) ?%")  # the "-20%" of "10-20%" is none


RuledOut = Callable[[str, str], bool]
"""Whether a text is in another language than that of a code, without a doubt."""


def of_text(text: str, call: Call, ruled_out: RuledOut) -> str:
    """What is wrong with a text."""
    task = call.task
    if doubt := _unreadable(text, call):
        return doubt
    if len(text) >= LOOP_FROM and _packs(text) > LOOP and not _given_packs(call):
        return tr("says the same thing over and over")
    if port := ORDERS.get(task):
        return _echo(text, call.text(port))
    if task == "summarization":
        return _no_summary(text, call)
    if task == "translation":
        return _no_translation(text, call, ruled_out)
    if "classification" in task or "similarity" in task:
        return _no_labels(text, call)
    return ""


def _unreadable(text: str, call: Call) -> str:
    given = " ".join(item.text or "" for items in call.inputs.values() for item in items)
    if _share(_UNREAD, text) > max(UNREADABLE, 2 * _share(_UNREAD, given)):
        return tr("gave a text that cannot be read")
    misread = len(_MISREAD.findall(text))
    # What a file holds that was saved that way is not the fault of who reads it.
    if given and misread > 1 and misread / len(text) > GARBLED and not _MISREAD.search(given):
        return tr("gave a text with garbled letters")
    return ""


def _echo(text: str, given: str) -> str:
    same = _plain(text) == _plain(given) and len(given.split()) >= FEWEST
    return tr("gave back what it was asked") if same else ""


def _no_summary(text: str, call: Call) -> str:
    given = call.text("text")
    words, sizes = given.split(), (len(text), len(given))
    if len(words) < LONG_TEXT or len(sentences(given)) <= call.number("sentences") + 1:
        return ""
    return tr("made the text no shorter") if sizes[0] >= sizes[1] else ""


def _no_translation(text: str, call: Call, ruled_out: RuledOut) -> str:
    given, wanted = call.text("text"), call.words("language").strip().casefold()
    longer, shorter = max(len(text), len(given)), max(1, min(len(text), len(given)))
    if len(given) >= TRANSLATED_FROM and longer > WIDEST * shorter:
        return (
            tr("translated only a part")
            if len(text) < len(given)
            else tr("gave far too long a text")
        )
    code = wanted if wanted in NAMES else CODES.get(wanted, "")
    # Names, numbers and formulas are of no language, however much they look like one.
    letters = sum(map(str.isalpha, text))
    if code and 2 * letters > len(text) and ruled_out(text, code):
        return tr("gave a text that is not in {language}", language=tr(NAMES[code]))
    return ""


def _no_labels(text: str, call: Call) -> str:
    asked = str(call.options.get("labels", ""))
    if _NO_NUMBER.search(text) and not _NO_NUMBER.search(asked):
        return tr("gave no number where one belongs")
    if any(not 0 <= float(share) <= 100 for share in _SHARE.findall(text)):
        return tr("gave shares that are none")
    if len(text) > LONGEST_LABEL:
        return tr("gave far too long an answer")
    # Of a picture it is asked in a sentence: "is this a cat or a dog?"
    parted = named_things(asked) if call.task == PICTURE_LABELS else asked.split(",")
    # Long ones may be shown shortened.
    known = [clean_label(each).rstrip("…").casefold() for each in parted if each.strip()]
    if known and not any(each in text.replace("_", " ").casefold() for each in known):
        return tr("named none of the labels")
    return ""


def _share(signs: re.Pattern[str], text: str) -> float:
    return len(signs.findall(text)) / max(1, len(text))


def _packs(text: str) -> float:
    raw = text.encode("utf-8", "replace")
    return len(raw) / len(zlib.compress(raw, 1))


def _given_packs(call: Call) -> bool:
    """Whether what was given repeats itself as much."""
    return any(
        _packs(item.text) > LOOP
        for items in call.inputs.values()
        for item in items
        if item.text and len(item.text) >= LOOP_FROM
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
