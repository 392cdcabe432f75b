"""The ids of the steps that an LLM wrote, and what its words for "the result of" refer to."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from jarvis_desktop.assistant.planning.written import Step
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.wording import tr

_id = re.compile(r"(?:[\w#<>. \-]*[A-Za-z_#<>. ])?(\d{1,9})", re.ASCII)
_mark = r"(?:<|&lt;)\s?(?:GENERATED|node|resource)\s?(?:(?:>|&gt;)[\s\-_:#]{0,3}|[\-_:#]{1,3})"
_label = r"(?:(?:task|step|text|image|audio|video|table|document)[\-_ ]?)?(\d{1,9})\s?(?:>|&gt;)?"
_field = r"(?:\.\w{1,20}|\[[\w'\"]{1,20}\])?"
_generated = re.compile(rf"{_mark}(?:{_label}{_field})?", re.IGNORECASE | re.ASCII)
_several = re.compile(
    rf"(?:{_mark}{_label}{_field}|GENERATED[\-_ ]?\d{{1,9}})"
    rf"(?:\s?(?:,|&|and|\+)\s?(?:{_mark})?\d{{1,9}})*+",
    re.IGNORECASE | re.ASCII,
)
_prefix = re.compile(_mark, re.IGNORECASE)
_fields = re.compile(r"\.\w+|\[[^\]]*\]")
_spoken = re.compile(
    r"[\W_]{0,3}(?:the )?(?:(?:result|output|answer|text|image)s?[\s_-]?(?:(?:of|from)[\s_-]?)?)?"
    r"(?:task|step|node|output|result|id)[\s_-]?(\d{1,9})(?:['’]s|[._])?\s?(?:output|result|text)?"
    r"[\W_]{0,3}|\$(\d{1,9})|\{\{?\s?(\d{1,9})\s?\}?\}",
    re.IGNORECASE | re.ASCII,
)
_filler = frozenset(
    "the a of from in at by for this that its it and result results output outputs task step "
    "text image picture photo audio recording sound video table document file content caption "
    "summary translation transcript answer generated above previous".split()
)


class Numbering:
    """Gives every step an id of its own: the one it was written with, where that can be.

    `finished` are the ids of tasks that are there besides.
    """

    def __init__(self, steps: Sequence[Step], finished: Iterable[int] = ()) -> None:
        written = [whole(step.id) for step in steps]
        taken = {number for number in written if number is not None}
        self._by_number = defaultdict(list, {number: [number] for number in finished})
        self._by_label: dict[str, int] = {}
        self.ids: list[int] = []
        """Of the steps, in order."""
        unused = (number for number in itertools.count() if number not in taken)
        free = (number for number in unused if number not in self._by_number)
        for step, number in zip(steps, written, strict=True):
            given = number if number is not None and number not in self._by_number else next(free)
            self._by_number[given if number is None else number].append(given)
            if isinstance(step.id, str) and step.id.strip():
                self._by_label[step.id.strip().casefold()] = given
            self.ids.append(given)

    def task(self, number: int) -> int:
        """The id of the step with this number, which may be none of the plan's.

        Raises PlanError where two steps have the number.
        """
        ids = self._by_number.get(number, [number])
        if len(ids) > 1:
            raise PlanError(tr("Two tasks of the plan have the id {number}.", number=number))
        return ids[0]

    def references(self, text: str) -> list[int] | None:
        """The tasks whose results a text stands for, and nothing else; None where it is a text.

        [] stands for a result of which it is not said whose.
        """
        words = text.strip()
        label = self._by_label.get(_prefix.sub("", words).strip("${}<> ").casefold())
        if label is not None and not words.isdecimal():
            return [label]
        if _generated.fullmatch(words) or _several.fullmatch(words):
            numbers = re.findall(r"\d+", _fields.sub("", words))
            return [self.task(int(number)) for number in numbers]
        if spoken := _spoken.fullmatch(words):
            number = int(spoken[spoken.lastindex or 0])
            return [self.task(number)] if number in self._by_number else None
        return None

    def within(self, text: str) -> tuple[list[int], bool]:
        """The tasks a longer text refers to, and whether it says anything besides."""
        found = [int(match[1]) for match in _generated.finditer(text) if match[1]]
        rest = re.findall(r"\w+", _generated.sub(" ", text.casefold()))
        return [self.task(number) for number in found], not _filler.issuperset(rest)

    @staticmethod
    def mentions(text: str) -> bool:
        """Whether a text speaks of a result at all."""
        return _generated.search(text) is not None


def whole(value: object) -> int | None:
    """A whole number from 0, however it is written; None where there is none."""
    if isinstance(value, str) and len(value) < 40 and (found := _id.fullmatch(value.strip())):
        return int(found[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 10**9 and value == int(value) else None
