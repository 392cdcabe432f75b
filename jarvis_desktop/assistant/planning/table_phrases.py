"""What is asked of a table in a few words, without a question: "average price by city".

Such words are a cue only if a table is given or was the last result; elsewhere they mean anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_desktop.assistant.planning import steps
from jarvis_desktop.assistant.planning.intents import NUMBER, CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import GERMAN_NUMBERS

CHART = "chart"
ANSWERING = "table-question-answering"
WEIGHT = 12.0
"""Of such words; a cue weighs as much as its letters."""

_count = rf"(?:{NUMBER}|{'|'.join(GERMAN_NUMBERS)})"
_noun = r"(?!(?:\d|me|us|you|it|this|that|these|those|the|an?|my|your|hand|mail|e-?mail|post|car|" \
    r"train|bus|phone|chance|mistake|tomorrow|today|tonight|now|\w+day|january|february|march|" \
    r"englisch|deutsch|französisch|spanisch|italienisch|hause)\b)[^\W\d]\w+"  # fmt: skip
_phrase = lazy_re(
    r"(?:(?:and|also|now|then|please|show|give|list|tell|find|get|me|us|the|all|of|what about|"
    r"how about|und|bitte|zeige?|nenne|liste|mir|uns|die|der|das|den|alle)\s+)*"
    r"(?:"
    # An aggregate of something.
    r"(?:average|mean|median|total|sum|count|number|share|percentage|highest|lowest|largest|"
    r"smallest|biggest|maximum|minimum|max|min|most|least|fewest|durchschnittlich\w*|mittler\w+|"
    r"durchschnitt|mittelwert|summe|anzahl|anteil|höchste\w?|niedrigste\w?|größte\w?|kleinste\w?|"
    r"meisten|wenigsten)\s+(?:(?:of|the|all|der|des|aller|von)\s+)*(?!\d)\w+"
    r"|(?:durchschnitts|gesamt|median|höchst|mindest)(?!\b)\w+"
    # The first few.
    rf"|(?:top|bottom|best|worst|first|last|ersten|letzten|besten)\s+{_count}\s+[^\W\d]\w+"
    rf"|(?:{_count}\s+)(?:(?:most|least)\s+\w+|[^\W\d]{{3,}}(?:est|sten))\s+[^\W\d]\w+"
    r"|(?:cheapest|dearest|oldest|youngest|longest|shortest|tallest|heaviest|lightest|"
    r"most expensive|teuerste\w?|billigste\w?|älteste\w?|jüngste\w?|längste\w?)\s+[^\W\d]\w+"
    # A value for each of something, or of some year.
    rf"|(?:[^\W\d]\w*\s+){{1,4}}(?:per|by|for each|for every|je|pro|nach)\s+{_noun}"
    r"|(?:[^\W\d]\w*\s+){1,3}(?:in|since|before|after|from|im jahr|seit|vor)\s+(?:19|20)\d\d\b"
    r")"
)
_elsewhere = lazy_re(
    r"\b(?:this|it|my|your|you|i|we|news|weather|pizza|table for|ticket|flight to|alarm|"
    r"timer|reminder)\b|^\W*(?:send|book|order (?:a|me)|buy|play|turn|walk|go|drive|sort|travel|"
    r"translate|übersetze?|fahre?|geh|schick\w*|sende|spiel\w*|buche|bestelle?)\b"
)
"""Words that are about something else, or ask for more than an answer."""


def table_at_hand(context: Context) -> bool:
    """Return whether a table is given, or the last turn had one if no file is given."""
    last = context.conversation.last if context.conversation else None
    earlier = (*last.artifacts, *last.attachments) if last else ()
    return any(item.kind is Kind.TABLE for item in context.attachments or earlier)


def table_cues(
    read: ParsedRequest, cues: Sequence[CueMatch], inventory: Sequence[TaskType], context: Context
) -> list[CueMatch]:
    """Return the cues of a request, with those that only a table gives: without one, charts are
    not meant; with one, a part that names an aggregate or a group asks it."""
    answering = next((item for item in inventory if item.name == ANSWERING), None)
    if not table_at_hand(context):
        return [cue for cue in cues if cue.type.name != CHART]
    found = list(cues)
    for start, end, inside in steps.stretches(read.text, cues):
        words = read.text[start:end]
        bare = words.lstrip(" ,;.")
        begins = start + len(words) - len(bare)
        asked = _phrase.match(bare)
        if len(found) > len(cues) and read.text[:start].endswith(","):
            continue  # "sales per region, highest first"
        if answering and asked and not inside and not _elsewhere.search(words):
            found.append(CueMatch(answering, begins, begins + asked.end(), WEIGHT))
    return sorted(found, key=lambda cue: (cue.start, -cue.weight))
