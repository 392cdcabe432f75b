"""What is asked of a table in a few words, without a question: "average price by city".

Such words are a cue only if a table is given or was the last result; elsewhere they mean anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from jarvis_desktop.assistant.planning import steps
from jarvis_desktop.assistant.planning.inputs import (
    ASK_TABLE,
    CHART,
    CUT,
    EDIT_TABLE,
    EDIT_TEXT,
    FOLLOWING,
    JOIN,
    SAVE,
    SIMILARITY,
)
from jarvis_desktop.assistant.planning.intents import NUMBER, CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import GERMAN_NUMBERS

WEIGHT = 12.0
"""Of such words; a cue weighs as much as its letters."""
EDIT_WEIGHT = 24.0
"""Of a change to a table: "remove the rows" is not the cue of another task by one of its words."""

_in_changes = frozenset((ASK_TABLE, EDIT_TEXT, JOIN, CUT))
"""Tasks whose cues may be among the words of a change to a table."""

_count = rf"(?:{NUMBER}|{'|'.join(GERMAN_NUMBERS)})"
_noun = r"(?!(?:\d|me|us|you|it|this|that|these|those|the|an?|my|your|hand|mail|e-?mail|post|car|" \
    r"train|bus|phone|chance|mistake|tomorrow|today|tonight|now|\w+day|january|february|march|" \
    r"englisch|deutsch|französisch|spanisch|italienisch|hause)\b)[^\W\d]\w+"  # fmt: skip
_phrase = lazy_re(
    r"(?:(?:and|also|now|then|please|show|give|list|tell|find(?: out)?|get|me|us|the|all|of|"
    r"work out|figure out|calculate|compute|determine|what about|"
    r"how about|und|bitte|zeige?|nenne|liste|mir|uns|die|der|das|den|alle)\s+)*"
    r"(?:"
    # An aggregate of something.
    r"(?:average|mean|median|total|sum|count|number|share|percentage|highest|lowest|largest|"
    r"smallest|biggest|maximum|minimum|max|min|most|least|fewest|durchschnittlich\w*|mittler\w+|"
    r"durchschnitt|mittelwert|summe|anzahl|anteil|höchste\w?|niedrigste\w?|größte\w?|kleinste\w?|"
    r"meisten|wenigsten)\s+(?:(?:of|the|all|der|des|aller|von)\s+)*(?!\d)\w+"
    r"|(?:durchschnitts|gesamt|median|höchst|mindest)(?!\b)\w+"
    r"|(?:average|mean|median|total|sum|durchschnitt|summe)\W*$"
    # The first few.
    rf"|(?:top|bottom|best|worst|first|last|ersten|letzten|besten)\s+{_count}\s+[^\W\d]\w+"
    rf"|(?:{_count}\s+)(?:(?:most|least)\s+\w+|[^\W\d]{{3,}}(?:est|sten))(?:\s+[^\W\d]\w+|\W*$)"
    r"|(?:cheapest|dearest|oldest|youngest|longest|shortest|tallest|heaviest|lightest|"
    r"most expensive|teuerste\w?|billigste\w?|älteste\w?|jüngste\w?|längste\w?)\s+[^\W\d]\w+"
    # A value for each of something, or of some year.
    rf"|(?:[^\W\d]\w*\s+){{1,4}}(?:per|by|for each|for every|je|pro|nach)\s+{_noun}"
    r"|(?:[^\W\d]\w*\s+){1,3}(?:in|since|before|after|from|im jahr|seit|vor)\s+(?:19|20)\d\d\b"
    r")"
)
_own_question = lazy_re(
    r"(?:(?:and|also|then|und|auch|tell me|show me)\s+)*"
    r"(?:who|whose|what|what's|which|where|when|how (?:many|much)|wer|was|welche\w?|wie ?viele?)\s+"
    r"(?!(?:in|on|at|of|for|from|before|after|am|im|davon)\b)"
    r"(?!.*(?<!\ball of )\b(?:they|they're|them(?! all)|"
    r"those|these|their|its?|this|that|there|ones?|davon|deren)\b)\S+\s+\S+"
)
"""A question that leaves out nothing of one before it."""
_about_a_name = re.compile(
    r"(?i:(?:and|also|tell me)\s+)*(?i:who|what|where)(?i:'s| is| was| are| were)\s+(?i:the\s+)?"
    r"((?:[A-ZÄÖÜ][\w'-]*\s*)+)\W*$"
)
"""What asks about somebody or a place by name alone: "who was Alan Turing?"."""
_listing = lazy_re(
    r"(?:(?:and|also|then|please|und|dann|bitte)\s+)*(?:show|list|display|print|zeige?|liste)"
    r"(?:\s+(?:me|us|mir|uns))?\s+(?:all|everything|everyone|every|only|just|alles|alle|nur)\b"
)
"""What lists some rows of a table that is given."""
_elsewhere = lazy_re(
    r"\b(?:this|it|my|your|you|i|we|news|weather|pizza|table for|ticket|flight to|alarm|"
    r"timer|reminder)\b|^\W*(?:send|book|order (?:a|me)|buy|play|turn|walk|go|drive|sort|travel|"
    r"translate|übersetze?|fahre?|geh|schick\w*|sende|spiel\w*|buche|bestelle?)\b"
)
"""Words that are about something else, or ask for more than an answer."""


MADE_WITH = lazy_re(
    r"(?:(?:and|then|please|also|now|und|bitte)\s+)*"
    r"(?:make|create|write|save|produce|build|erstelle?|mache?|schreibe?)\s+(?:me\s+|mir\s+)?"
    r"(?:(?:an?|the|one|eine?|die)\s+)?(?:new\s+|neue\s+)?"
    r"(?:(?:table|csv|list|spreadsheet|tabelle|liste|datei)\s+)?(?:(?:called|named|namens)\s+)?"
    r"(?:xfile\d+x|[\w.-]+\.(?:csv|tsv|xlsx|json|parquet))?\s*"
    r"(?:with|of|containing|showing|mit|aus)\s+"
    r"(?!(?:one|an?|eine?r?) (?:row|column|line|zeile|spalte))"
)
"""Words before what a new table is to hold: "make a table sums.csv with the sum of each town"."""

_rows = r"(?:rows?|columns?|lines?|entries|records|duplicates?|spalten?|zeilen?|eintr\w+|doppel\w+)"
_edit = lazy_re(
    r"(?:(?:and|also|now|then|finally|please|can you|could you|just|only|me|und|bitte|dann|"
    r"danach|nur)\s+)*(?:"
    r"(?:sort(?! out)|arrange|rank|dedup\w*|filter|sortier\w*|ordne|filter\w*)\b"
    r"|order\s+(?:it|them|this|these|the|by|all|xfile\w+)\b"
    r"|(?:put|bring)\s+(?:\w+\s+){1,4}?in(?:to)?\s+(?:\w+\s+)?order\b"
    r"|(?:remove|delete|drop|erase|discard|get rid of|throw (?:out|away)|leave out|keep|"
    r"entfern\w*|lösch\w*|streich\w*|behalte?)\b(?!\W*$)"
    r"|(?:fill|fülle|set|replace)\b(?=.*\b(?:empty|missing|blank|leere\w*)\b)"
    rf"|(?:rename|benenne?)\s+(?:(?:the|die)\s+)?(?:{_rows}|[\w“\"„']+.*\s(?:to|in|as)\s)"
    r"|(?:add|append|ergänz\w*|füge?)\s+(?:\w+\s+){0,3}?(?:\w*zeile|rows?|lines?|totals?|sums?)\b"
    r"|(?:(?:make|create|save|give me|i (?:want|need|would like))\s+)(?:\w+\s+){1,5}?"
    r"(?:sorted by|without (?:the )?(?:\w+\s+){0,3}(?:columns?|rows?|duplicates))\b"
    r"|(?:the\s+|den?\s+|die\s+)?(?:\w+\s+){1,5}?(?:as|als|in|into)\s+(?:an?\s+|eine?\s+)?"
    r"(?:new|separate|neue\w?|eigene\w?)\s+(?:csv|table|file|sheet|spreadsheet|tabelle|datei)"
    r")"
)
"""What changes a table, at the beginning of a part of a request."""
_joins = lazy_re(
    r"(?:(?:and|please|bitte|can you|could you)\s+)*(?:join|merge|combine|append|stack|"
    r"put\b.*\btogether|verbinde|verknüpfe|füge?\b.*\bzusammen|vereine?)\b(?!.*\b(?:pdf|docx?|document|page)s?\b)"
)
"""What puts tables together, if several are given."""
_of_rows = lazy_re(rf"\b{_rows}\b|\b(?:table|csv|spreadsheet|tabelle|by|nach|where)\b")


def _edits(words: str, context: Context) -> bool:
    """Return whether a part of a request changes the tables at hand."""
    given = [item for item in context.attachments if item.kind is Kind.TABLE]
    if len(given) > 1 and len(given) == len(context.attachments) and _joins.match(words):
        return True
    return _edit.match(words) is not None and bool(given or _of_rows.search(words))


def _made_of(words: str) -> re.Match[str] | None:
    """Return the beginning of words that ask for a table under a name, with something of the given
    one in it."""
    found = MADE_WITH.match(words)
    return found if found and "xfile" in found[0] else None


def table_at_hand(context: Context) -> bool:
    """Return whether a table is given, or the last turn had one if no file is given."""
    last = context.conversation.last if context.conversation else None
    earlier = (*last.artifacts, *last.attachments) if last else ()
    return any(item.kind is Kind.TABLE for item in context.attachments or earlier)


SAVES = lazy_re(
    r"(?:(?:and|then|also|please|und|bitte|dann)\s+)*(?:save|store|export|write|speichere?)\s+"
)
"""Words before what is to be saved: "save the total per town as a.csv"."""
_under_a_name = lazy_re(r"\b(?:as|to|in|into|under|called|als|in|unter)\s+(?:\w+\s+){0,2}xfile\d+x")
_column = lazy_re(r"categor(?:y|ies)")
"""A column of many tables, and elsewhere a cue."""


def _said(cue: CueMatch, read: ParsedRequest) -> str:
    return read.text[cue.start : cue.end]


def _asks_about_another(read: ParsedRequest, start: int, end: int, context: Context) -> bool:
    """Return whether a question after a table is about a name that was not heard before."""
    found = _about_a_name.match(read.as_said(start, end).strip())
    last = context.conversation.last if context.conversation else None
    heard = f"{last.text} {last.reply}".casefold() if last else ""
    return found is not None and found[1].strip().casefold() not in heard


def table_cues(
    read: ParsedRequest, cues: Sequence[CueMatch], inventory: Sequence[TaskType], context: Context
) -> list[CueMatch]:
    """Return the cues of a request, with those that only a table gives: without one, charts are
    not meant; with one, a part that names an aggregate or a group asks it."""
    answering = next((item for item in inventory if item.name == ASK_TABLE), None)
    editing = next((item for item in inventory if item.name == EDIT_TABLE), None)
    if not table_at_hand(context):
        return [cue for cue in cues if cue.type.name not in (CHART, EDIT_TABLE)]
    tables = {item.kind for item in context.attachments} == {Kind.TABLE}
    found = [
        cue
        for cue in cues
        if cue.type.name != EDIT_TABLE
        and not (tables and (cue.type.name == SIMILARITY or _column.fullmatch(_said(cue, read))))
    ]
    added = False
    for start, end, inside in steps.stretches(read.text, found):
        words = read.text[start:end]
        bare = words.lstrip(" ,;.")
        begins = start + len(words) - len(bare)
        if editing and _edits(bare, context):
            found = [
                cue
                for cue in found
                if cue.type.name not in _in_changes or not start <= cue.start < end
            ]
            added = True
            found.append(CueMatch(editing, begins, begins + 1, EDIT_WEIGHT))
            continue
        saved = SAVES.match(bare) if inside and all(it.type.name == SAVE for it in inside) else None
        asked = (
            _phrase.match(bare, saved.end() if saved else 0)
            or _own_question.match(bare)
            or (_listing.match(bare) if context.attachments else None)
            or _made_of(bare)
        )
        if any(cue.type.name == CHART for cue in inside):  # "per category" sorts no texts
            found = [
                cue
                for cue in found
                if not start <= cue.start < end
                or cue.type.name in (*FOLLOWING, CHART)
                or Kind.TABLE in {kind for port in cue.type.ports for kind in port.kinds}
            ]
        if asked and not context.attachments and _asks_about_another(read, start, end, context):
            continue
        if start and steps.SECOND_QUESTION.match(bare):
            found = [cue for cue in found if not start <= cue.start < end]
            continue
        if added and read.text[:start].endswith(","):
            continue  # "sales per region, highest first"
        if answering and asked and not (inside and not saved) and not _elsewhere.search(words):
            added = True
            found.append(CueMatch(answering, begins, begins + asked.end(), WEIGHT))
            if saved:  # "save the total per town as a.csv": the answer is saved, and not the table
                name = _under_a_name.search(read.text, begins + asked.end(), end)
                place = name.start() if name else end
                found = [
                    replace(cue, start=place, end=name.end() if name else end)
                    if cue in inside
                    else cue
                    for cue in found
                ]
    return sorted(found, key=lambda cue: (cue.start, -cue.weight))
