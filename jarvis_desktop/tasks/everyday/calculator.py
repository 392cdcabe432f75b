"""The calculator: sums and unit conversions in the words people use."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.tasks.everyday import number_facts, units
from jarvis_desktop.text import numbers
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import with_digits

MAX_CHARS = 300


async def calculate(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Calculate or convert, and answer in a sentence. Raises InputError with the reason if it
    cannot."""
    # Loading the table of units takes almost a second the first time.
    return [text_artifact(await asyncio.to_thread(answer, call.words("expression")))]


_joint = lazy_re(r"\s*(?:[,;]\s*(?:and|then|plus)?|\band(?: then)?)\s+", re.IGNORECASE)


_meant = lazy_re(r"\b(?:that|this|it|the (?:result|answer|sum|total))\b", re.IGNORECASE)
_figure = lazy_re(r"-?\d(?:[\d,]*\d)?(?:\.\d+)?")


def answer(words: str) -> str:
    """The result of a sum or a conversion, as a sentence; of several, a line for each. Behind a
    colon is the sum or the answer whose result "that" means: "that times 3: 250 divided by 8"."""
    try:
        return _answer(words)
    except InputError:
        said, _, earlier = words.partition(": ")
        if earlier and _meant.search(said):
            with suppress(InputError):
                earlier = answer(earlier)
            if figures := _figure.findall(earlier):
                return _answer(_meant.sub(figures[-1], said))
        for joint in _joint.finditer(words):
            with suppress(InputError):
                first, rest = _answer(words[: joint.start()]), words[joint.end() :]
                refers = _meant.search(rest)
                return f"{first}\n{answer(f'{rest}: {first}' if refers else rest)}"
        raise


def _answer(words: str) -> str:
    said = _core(words)
    if not said:
        raise InputError(tr("There is nothing to calculate."), hint=tr("Try “15 percent of 240”."))
    if len(said) > MAX_CHARS:
        raise InputError(
            tr("That sum is too long."),
            hint=tr("The limit is {longest} characters.", longest=MAX_CHARS),
        )
    digits = with_digits(said)
    if saved := _savings.search(digits):
        return _with_interest(*saved.groups())
    if fact := number_facts.fact(digits):
        return fact
    if conversion := units.read_conversion(digits):
        return units.convert(conversion)
    value = numbers.value_of(numbers.formula(digits))
    shown = said[0].upper() + said[1:]
    return f"{shown} is {numbers.readable(value)}."


_savings = re.compile(
    r"\b(?:put|invest|deposit|save|lend|borrow|have)\b\D{0,20}?(\d[\d,]*(?:\.\d+)?)[^\d%]*? at "
    r"(\d+(?:\.\d+)?)\s*(?:%|per ?cent)[^\d]*\b(?:after|in|for) (\d+) years?\b",
    re.IGNORECASE,
)


def _with_interest(amount: str, percent: str, years: str) -> str:
    """Add interest once a year, and interest on it."""
    whole = float(amount.replace(",", "")) * (1 + float(percent) / 100) ** int(years)
    return tr(
        "{amount} at {percent} percent a year is {whole} after {years} years.",
        amount=numbers.readable(float(amount.replace(",", ""))),
        percent=percent,
        whole=f"{whole:,.2f}",
        years=years,
    )


def read_sum(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    return {} if is_sum(words) else None


def is_sum(words: str) -> bool:
    """Return whether the words, in lower case, are a sum, a conversion of common units or a
    question about whole numbers. Quick: no table of units is loaded."""
    said = with_digits(_core(words))
    if not re.search(r"\d|\b(?:an?|one|roman)\b", said):
        return False
    if conversion := units.read_conversion(said):
        return units.is_plain(conversion)
    if number_facts.is_asked(said):
        return True
    if not numbers.may_be_sum(said):
        return False
    signs = numbers.formula(said)
    if not re.search(r"[+*/%(-]", signs):
        return False
    try:
        numbers.value_of(signs)
    except InputError:
        return False
    return True


_PREAMBLE = re.compile(
    r"^(?:(?:hey |ok |okay )?jarvis\b[, ]*|please\b[, ]*|(?:can|could|would) you\b|tell me\b"
    r"|work out\b|how (?:can|do|would) (?:i|you|we)\b"
    r"|what(?:'s|’s| is| are| does| do)\b|whats\b|what\b(?=.*\bis\W*$|\s+-?\d)"
    r"|how much (?:is|are|does)\b|calculate\b|compute\b"
    r"|(?:the )?(?:number|(?:correct |right )?amount|equivalent) of\b|i need(?: to know)?\b"
    r"|convert\b|reckon\b|solve\b|evaluate\b|give me\b|do you know\b|i want to know\b|find\b"
    r"|how (?:warm|hot|cold|far|long|tall|high|heavy|big|fast|deep|wide) (?:is|are)\b(?=\s+-?\d)"
    r"|(?:(?:an?|the)\b\s*)?tip (?:of|for)\b(?=.*%|.*\bper ?cent)"
    r"|the (?:result|answer|value) (?:of|to)\b"
    r"|take\b(?=.*(?:%|\bper ?cent) off\b)|the(?= (?:sum|product|square|cube|factorial))\b)\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:\s*(?:please|for me|jarvis|equals?(?: to)?|is|make|come to|in total|=))*"
    r"(?:[\s?.=]|(?<!\d)!)*$",
    re.IGNORECASE,
)


def _core(words: str) -> str:
    """The request without polite phrases."""
    said = " ".join(words.split())[: MAX_CHARS + 100]
    while (shorter := _PREAMBLE.sub("", said)) != said:
        said = shorter
    return _TAIL.sub("", said).strip(" ,;:\"'“”")


CALCULATOR = define(
    name="calculator", label="Calculate",
    summary="Does sums and converts units.",
    options=(TaskOption("expression", "the sum, as the user said it", "", reads="clause"),),
    cues=(
        "^#@#", "what is #@#", "what's #@#", "whats #@#", "how much is #@#", "#+#", "#×#", "#÷#",
        "#^#", "# plus #", "# minus #", "# times #", "# divided by #", "# percent of #", "#% of #",
        "# percent off #", "#% off #",
        "average # and #",
        *(f"{ask}{what} of #" for ask in ("", "what is the ", "what's the ")
          for what in ("average", "mean", "median", "sum")),
        "# days in hours", "# hours in minutes", "# minutes in seconds", "# minutes in hours",
    ),
    hears=lambda words: re.findall(r"[\d.]+", numbers.formula(with_digits(words))),
    skill=calculate, reads=read_sum, note="sums, percentages, roots, units (Pint)",
)  # fmt: skip
