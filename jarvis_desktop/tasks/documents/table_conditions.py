"""The conditions that a question puts on rows: dates, comparisons, entries, yes or no.

What a condition is made of counts as read (`table_words.py`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    TableDatabase,
    literal,
)
from jarvis_desktop.tasks.documents.table_entries import (
    GENDERS,
    denies,
    entries_by_stems,
    entries_of,
    read_flags,
    read_partial_values,
    read_values,
)
from jarvis_desktop.tasks.documents.table_german import in_english
from jarvis_desktop.tasks.documents.table_implied import read_implied, read_ratio
from jarvis_desktop.tasks.documents.table_links import read_linked
from jarvis_desktop.tasks.documents.table_meaning import COUNTED, MEASURED, NEAR, likeness, nearest
from jarvis_desktop.tasks.documents.table_relations import difference_field, sum_field
from jarvis_desktop.tasks.documents.table_times import read_times
from jarvis_desktop.tasks.documents.table_words import (
    ADJECTIVES,
    ASKING,
    CONVERSIONS,
    DOWN,
    PERSON_STEMS,
    RESERVED,
    UNIT_NAMES,
    UP,
    VERBS,
    ColumnMention,
    Filter,
    QuestionWord,
    ReadWords,
    Relation,
    TableField,
    folded,
    hinted_fields,
    mentions_of,
    name_words,
    strength,
    words_of,
)
from jarvis_desktop.text.dates import MONTHS, WEEKDAYS
from jarvis_desktop.text.numbers import with_digits
from jarvis_desktop.text.tokens import stem


def read_words(
    question: str, relation: Relation, db: TableDatabase, *, by_meaning: bool = False
) -> ReadWords:
    """Find dates, comparisons, entries and columns, in this order. `by_meaning` takes words for
    columns that only mean something like their names."""
    names = {folded(word) for it in relation.fields for word in name_words(it.name)}
    text = in_english(folded(question), names)
    for form, number in _AMOUNTS:
        text = re.sub(form, number, text)
    text = re.sub(r"\ban? (?=(?:hour|minute|second|kilomet|mile|day|kg)s?\b)", "1 ", text)
    text = _as_superlative(_spelled(with_digits(text), relation, db))
    shouted = re.findall(r"\b[A-Z]{2,}\b", question) if not question.isupper() else ()
    read = ReadWords(
        text, words_of(text), relation, shouted=frozenset(word.lower() for word in shouted)
    )
    read.mentions = list(mentions_of(read))
    entries = entries_by_stems(read, db)
    if by_meaning:
        read.mentions += _guessed(read, {word for key in entries for word in key.split()})
    read.mentions.sort(key=lambda item: item.start)
    _read_difference(read)
    _read_total(read)
    _read_change(read)
    read_ratio(read)
    if found := _can.search(read.text):
        read.use(*found.span())
        read.mentions = [it for it in read.mentions if it.start != found.start(1)]
    read_times(read, db)
    read_linked(read)
    _read_empty(read, db)
    _read_average(read)
    if (pair := compared_columns(read)) and not re.search(r"\bhow (?:much|many) $", pair.before):
        one, other = pair.fields
        sql, told = (f"{it[0]} {pair.sign} {it[1]}" for it in (
            (one.sql, other.sql), (one.name, other.name)))  # fmt: skip
        read.filters.append(Filter(sql, told, pair.places[0], one))
        for at, word in enumerate(read.words):
            if word.start in pair.places or word.text in VERBS:
                read.used.add(at)
    read_implied(read)
    _read_comparisons(read)
    _read_wording(read)
    _read_numbered(read)
    read_values(read, entries)
    read_flags(read)
    read_partial_values(read, db)
    return read


_can = re.compile(r"\b(?:can|could|should|shall) (?:i|we|you|they) (\w+)")
"""A verb that says nothing of a column: "what can I cook"."""
_AMOUNTS = (
    (r"\bhalf an hour\b", "30 minutes"), (r"\b(?:an|one|1) hour and a half\b", "90 minutes"),
    (r"\b(?:a )?quarter of an hour\b", "15 minutes"), (r"\ba fortnight\b", "14 days"),
    (r"\bwhat (?:do|does|did) (.{1,40}?) (?:add|sum|come) up to\b", r"what is the total of \1"),
    (r"\ba dozen\b", "12"), (r"\ba couple of\b", "2"), (r"\bthan once\b", "than 1 time"),
    (r"\bthan twice\b", "than 2 times"), (r"\b(?:got|became) better\b", "improved"),
    (r"\b(?:got|became) worse\b", "declined"),
)  # fmt: skip
"""Amounts that are words, and comparatives that compare nothing with anything else."""


class ComparedColumns(NamedTuple):
    """Two columns of numbers of which one is to be more or less than the other."""

    fields: tuple[TableField, TableField]
    sign: str
    places: list[int]
    """Where the words begin that say so, in order."""
    before: str
    """The text before the comparative."""


_MORE = ("more", "less", "fewer", "better", "worse")
_than = re.compile(r"\b(more|less|fewer|better|worse|\w+er)\b(?!\s+than\s+\S*\d)[^,?]*?\bthan\b")


def compared_columns(read: ReadWords) -> ComparedColumns | None:
    """Return the columns of "in which months was more spent than earned"."""
    for found in _than.finditer(read.text):
        way = comparative_of(found[1])
        if found[1] not in _MORE and way is None:
            continue
        named = [it for it in read.mentions if it.field.is_measure and not it.field.made]
        right = next((it for it in named if it.start >= found.end()), None)
        close = [it for it in named if found.start() <= it.start < found.end()]
        left = close or [it for it in named if it.end <= found.start()][-1:]
        between = read.text[found.end() : right.start].split() if right else [""] * 9
        if not left or right is None or len(between) > 3 or any(map(str.isdigit, between)):
            continue
        one = left[0]
        fields = [
            (mine, other)
            for mine in (one.field, *one.rivals)
            for other in _called(right, read)
            if mine is not other and mine.is_measure and other.is_measure
        ]
        if not fields:
            continue
        if way and (meant := set(hinted_fields(read.relation.fields, way[1]))):  # "cheaper"
            said = itertools.product(_called(one, read), _called(right, read))
            fields = [
                pair for pair in said if {*pair} <= meant and pair[0] is not pair[1]
            ] or fields
        # Of the costs and the amounts of gas and power, costs are compared with costs.
        fields.sort(key=lambda pair: -len({*pair[0].parts} & {*pair[1].parts}))
        less = found[1] in ("less", "fewer", "worse") or (way is not None and not way[0])
        places = [it.start for it in left]
        named_by = range(right.start, _end_of_name(right, read))
        places += [word.start for word in read.words if word.start in named_by]
        than = found.end() - len("than")
        places = sorted({*places, found.start(), than, right.start})
        return ComparedColumns(fields[0], "<" if less else ">", places, read.text[: found.start()])
    return None


def _called(named: ColumnMention, read: ReadWords) -> list[TableField]:
    """The columns that a word may mean, the likeliest first."""
    word = next(it for it in read.words if it.start == named.start)
    others = (
        it for it in read.relation.fields
        if not it.made and any(strength(word, part) == 1.0 for part in it.parts)
    )  # fmt: skip
    return list(dict.fromkeys((named.field, *named.rivals, *others)))


def is_uncompared(read: ReadWords) -> bool:
    """Whether something is to be more than something else, and neither is found."""
    found = _than.search(read.text)
    if found is None or not (found[1] in _MORE or comparative_of(found[1])):
        return False
    return not any(read.words[at].end == found.end() for at in read.used)


_between_columns = re.compile(r"\b(?:difference|gap) (?:between|of|in) (?:the )?")


def _read_difference(read: ReadWords) -> None:
    """The difference between two columns as one: "the difference between income and spending"."""
    found = _between_columns.search(read.text)
    named = [
        it for it in read.mentions if found and it.start >= found.end() and it.field.is_measure
    ]
    if found is None or len(named) < 2 or named[0].field is named[1].field:
        return
    if named[0].start > found.end() or read.text[named[0].end : named[1].start].split()[:1] != [
        "and"
    ]:
        return
    made = difference_field(named[0].field, named[1].field, ("difference",))
    read.relation = replace(read.relation, fields=(*read.relation.fields, made))
    read.mentions = [it for it in read.mentions if it not in named[:2]]
    read.mentions.append(ColumnMention(found.start(), named[1].end, made, 3.0))


_in_all = re.compile(r"\b(?:total|overall|whole|altogether|all together|in all|everything)\b")


def _read_total(read: ReadWords) -> None:
    """Columns of the same name as one: "the total cost", of a gas cost and a water cost."""
    measures = [it for it in read.relation.fields if it.is_measure and not it.made]
    for place, it in enumerate(read.mentions):
        fields = [it.field, *it.rivals]
        same = [other for other in measures if other.parts[-1] == it.field.parts[-1]]
        units = {(other.column.unit, other.units) for other in same}
        if len(same) > 1 and len(units) == 1 and {*fields} == {*same} and it.score >= 1.4:
            if _in_all.search(read.text) and all(other.adds_up for other in same):
                made = sum_field(same, ("total", it.field.parts[-1]))
                read.relation = replace(read.relation, fields=(*read.relation.fields, made))
                read.mentions[place] = ColumnMention(it.start, it.end, made, 3.0)
                places = [found.start() for found in _in_all.finditer(read.text)]
                read.mentions = [it for it in read.mentions if it.start not in places]
                return


_changed = re.compile(
    r"\b(?:(?P<down>declin\w*|decreas\w*|fell|fall\w*|drop\w*|lost|shr[aiu]nk\w*|"
    r"worsened)|improv\w*|gr[eo]w\w*|gain\w*|increas\w*|r[io]se\w*|chang\w*)\b"
)
_BEFORE, _AFTER = frozenset("last before start old previous prior opening".split()), frozenset(
    "this after end new now current closing".split()
)  # fmt: skip


def _read_change(read: ReadWords) -> None:
    """The change from one column to another as one: "who improved the most from test 1 to test 2",
    and of a table with columns of this and of the last year "which grew the most"."""
    found = _changed.search(read.text)
    if found is None:
        return
    named = [it for it in read.mentions if it.start > found.end() and it.field.is_measure]
    ends = re.search(r"\b(?:from|between) (?:the )?", read.text[found.end() :])
    start, end = found.end(), found.end()
    sides = [it for it in named if ends and it.start >= start + ends.end() and it.score >= 2]
    pair = list(dict.fromkeys(it.field for it in sides))
    if len(pair) == 2 and ends:
        start, end = start + ends.start(), _end_of_name(sides[-1], read)
    elif ends is None or (ends := _years.search(read.text, start)):
        measures = [it for it in read.relation.fields if it.is_measure and not it.made]
        pair = [it for times in (_BEFORE, _AFTER) for it in measures if times & {*it.parts}]
        start, end = ends.span() if ends else (start, end)
    if len(pair) != 2:
        return
    one, other = pair if found["down"] else pair[::-1]
    read.use(start, end)
    if re.search(r"\b(?:most|least)\b", read.text):
        made = difference_field(one, other, ("change",))
        read.relation = replace(read.relation, fields=(*read.relation.fields, made))
        read.mentions = [it for it in read.mentions if not found.start() <= it.start < end]
        read.mentions.append(ColumnMention(found.start(), found.end(), made, 3.0))
        read.mentions.sort(key=lambda item: item.start)
    elif re.match(r"\W*(?:who|which|what|how many)\b", read.text):
        sql, told = f"{one.sql} > {other.sql}", f"{one.name} > {other.name}"
        read.filters.append(Filter(sql, told, found.start(), one))
        read.use(*found.span())


_years = re.compile(r"\b(?:from|between) last (\w+) (?:to|and) this \1\b")


_missing = re.compile(
    r"\b(?:(?P<full>(?:not|\w+n['’]t) (?:empty|blank|missing)|filled in)|"
    r"(?P<gone>missing|empty|blank|unknown|left out|not (?:known|given|filled in|there)|"
    r"\w+(?:n['’]t| not) (?:give|say|said|report|answer|fill|enter|mention)\w*(?: in| us)?)|"
    r"(?P<no>no|without|never|lacks?|lacking|(?P<undone>\w+n['’]t|not))"
    r"(?: (?:an?|any|the|was|were|been|yet))?|(?P<still>still (?:has|have|had)|"
    r"(?:is|are|still) (?:still )?(?:out(?! of)|on loan)))\b"
)


def _read_empty(read: ReadWords, db: TableDatabase) -> None:
    """Cells without anything: "whose birthday is missing", "no mark in maths", "never absent", "not
    returned yet", "who still has it"."""
    for found in _missing.finditer(read.text):
        after = [it for it in read.mentions if 0 <= it.start - found.end() <= 1]
        near = (
            after if found["no"] else [it for it in read.mentions if it.end <= found.start()][-1:]
        )
        near += [] if found["no"] else [it for it in read.mentions if it.start >= found.end()]
        fields = [it.field for it in near if it.field.column.type is not ColumnType.FLAG]
        if found["still"] or found["undone"]:
            done = fields if found["undone"] else read.relation.dates
            done = [it for it in done if it.column.type is not ColumnType.TEXT]
            limited = {it.field for it in read.filters}
            fields = [it for it in done if it not in limited and _has_gaps(it, read, db)]
            fields = fields if found["undone"] or len(fields) == 1 else []
        text = bool(fields) and fields[0].column.type is ColumnType.TEXT
        if not fields or (found["no"] and text and not _has_gaps(fields[0], read, db)):
            continue
        which = next((it for it in fields if _has_gaps(it, read, db)), fields[0])
        sql, told = f"{which.sql} IS NULL", tr("{name} is empty", name=which.name)
        if found["no"] and not found["undone"] and which.adds_up:
            gaps = found["no"] != "never" and _has_gaps(which, read, db)
            if not gaps:
                sql, told = f"{which.sql} = 0", f"{which.name} = 0"
            elif found["no"] == "no":
                sql, told = (
                    f"{sql} OR {which.sql} = 0",
                    tr("{items} or {last}", items=told, last="0"),
                )
        if found["full"]:
            sql, told = f"{which.sql} IS NOT NULL", tr("{name} is not empty", name=which.name)
        read.filters.append(Filter(sql, told, found.start(), which))
        read.use(*found.span())
        for other in read.mentions:
            if other.field is which or which in other.rivals:
                read.use(other.start, other.end)


_than_average = re.compile(
    r"\b(?:(?P<more>above|over|"
    r"(?:more|better|higher|larger|greater|older|longer)(?: \w+){0,2}? than)|"
    r"below|under|(?:less|fewer|worse|lower|smaller|younger|shorter)(?: \w+){0,2}? than)"
    r"(?: (?:the|class|an))* (?:average|mean)\b"
)


def _read_average(read: ReadWords) -> None:
    """Rows above or below the average of a column: "which pupils are below average in maths"."""
    for found in _than_average.finditer(read.text):
        named = [it.field for it in read.mentions if it.field.is_measure]
        measures = named or [it for it in read.relation.fields if it.is_measure and not it.made]
        if not named and len(measures) != 1:
            continue
        which, sign = measures[0], ">" if found["more"] else "<"
        sql = f"{which.sql} {sign} (SELECT avg({which.sql}) FROM {read.relation.sql})"
        told = tr("{name} {sign} average", name=which.name, sign=sign)
        read.filters.append(Filter(sql, told, found.start(), which))
        read.use(*found.span())
        for other in read.mentions:
            if other.field is which:
                read.use(other.start, other.end)


def _has_gaps(which: TableField, read: ReadWords, db: TableDatabase) -> bool:
    sql = f"SELECT count(*) - count({which.sql}) FROM {read.relation.sql}"
    return bool(db.rows(sql, 1)[1][0][0])


_correct = tuple(
    word
    for word in (*MONTHS, *WEEKDAYS, *RESERVED, "number", "different", "average", "percentage")
    if len(word) >= 6
)


def _spelled(text: str, relation: Relation, db: TableDatabase) -> str:
    """The question with slips in words that ask mended, unless the table has the word."""
    from rapidfuzz.distance import DamerauLevenshtein

    parts = {part for item in relation.fields for part in item.parts}
    slips: dict[str, str] = {}
    for word in {*re.findall(r"[a-z]{5,}", text)} - parts - ASKING - RESERVED - {*_correct}:
        if any(strength(QuestionWord(word, stem(word), 0, 0), part) for part in parts):
            continue
        if stem(word) in map(stem, _correct) or word in VERBS or word in ADJECTIVES:
            continue
        most = 1 if len(word) < 9 else 2
        found = [
            right
            for right in _correct
            if right[0] == word[0]
            and DamerauLevenshtein.distance(word, right, score_cutoff=most) <= most
        ]
        if found:
            slips[word] = found[0]
    texts = [it for it in relation.fields if it.column.type is ColumnType.TEXT and not it.made]
    for word in list(slips):
        plain, single = ReadWords(word, words_of(word), relation), {(0, 1): stem(word)}
        entries = (value for it in texts for value in entries_of(it, plain, db, single))
        if any(word in folded(value).split() for value in entries):
            del slips[word]
    return re.sub(r"[a-z]{5,}", lambda it: slips.get(it[0], it[0]), text)


_of_two = re.compile(r"\b(?:which|who|whose|what|where|did|does|do|is|are|was|were)\b.*\bor\b")


def _as_superlative(text: str) -> str:
    """ "Which is cheaper, A or B" asks for the cheapest of them."""
    than = re.search(r"\bthan\b|\bor (?:more|less|fewer|\w+er)\b", text)
    if than or not (_of_two.search(text) or re.match(r"\W*(?:in )?(?:which|who)\b", text)):
        return text

    def most(found: re.Match[str]) -> str:
        word = found[0]
        plain = {"more": "most", "less": "least", "fewer": "fewest", "better": "best",
                 "worse": "worst"}.get(word, word.removesuffix("er") + "est")  # fmt: skip
        return plain if plain in UP or plain in DOWN or plain in ADJECTIVES else word

    return re.sub(r"\b(?:more|less|worse|\w+er)\b", most, text)


_wording = re.compile(
    r"\b(?:(?P<first>(?:start|begin)(?:s|ing|ning)? (?:with|by))|"
    r"(?P<last>end(?:s|ing)? (?:with|in|on))|(?P<inside>contain(?:s|ing)?)) "
    r"(?:the )?(?:(?:letters?|words?|text|syllable) )?[\"“„'‘]?"
    r"(?P<words>(?<=[\"“„'‘])[^\"”“'’]+|[^\s?.,!]+)"
)


def _read_wording(read: ReadWords) -> None:
    """How the entries of a column begin or end, or what is in them."""
    texts = [item for item in read.relation.fields if item.column.type is ColumnType.TEXT]
    for found in _wording.finditer(read.text):
        before = [item for item in read.mentions if item.end <= found.start()]
        near = next((it for it in reversed(before) if it.field in texts), None)
        which = read.relation.label
        if near and (
            read.text[near.start : near.end] != "name"
            or near.field.parts == ("name",)
            or near.score >= 2
        ):
            which = near.field
            read.use(near.start, near.end)
        words = found["words"].strip("\"“”'")
        if which is None or not words or not texts:
            continue
        plain = f"strip_accents(lower({which.sql}))"
        function = "starts_with" if found["first"] else "suffix" if found["last"] else "contains"
        form = mark("{name} contains “{words}”")
        if function != "contains":
            begins = function == "starts_with"
            form = (
                mark("{name} begins with “{words}”")
                if begins
                else mark("{name} ends with “{words}”")
            )
        denied = re.search(r"\b(?:not|n['’]t|never) $", read.text[: found.start()])
        sql = (
            f"{plain} IS NULL OR NOT {function}({plain}, {literal(words)})"
            if denied
            else f"{function}({plain}, {literal(words)})"
        )
        told = tr(form, name=which.name, words=words)
        if denied:
            told = tr("not: {condition}", condition=told)
            read.use(found.start() - 4, found.start())
        read.filters.append(Filter(sql, told, found.start(), which))
        read.use(*found.span())


_amount = (
    r"(?P<sign>[$€£]\s?)?(?P<{n}>-?\d[\d,]*(?:\.\d+)?)\s?(?P<{k}>k|m|bn)?\b"
    r"(?:\s?(?P<{p}>%|percent))?"
)
_other = _amount.format(n="second", k="scale2", p="percent2").replace("sign", "sign2")
_compared = re.compile(
    rf"""(?:(?P<adjective>\w+er)\ than|
    (?P<more>(?:(?:strictly\ )?(?:more|greater|higher|bigger)\ than|over|above|exceed(?:s|ing)?|
        beyond|>(?!=)))|
    (?P<less>(?:(?:less|fewer|lower|smaller)\ than|under|below|<(?!=)))|
    (?P<least>(?:at\ least|no\ less\ than|not\ less\ than|minimum\ of|>=|≥))|
    (?P<most>(?:at\ most|no\ more\ than|not\ more\ than|up\ to|maximum\ of|<=|≤))|
    (?P<between>between)|
    (?P<equal>(?:exactly|equal\ to|equals?|=|of\ exactly)))\s*
    {_amount.format(n="number", k="scale", p="percent")}
    (?:\s*(?:and|to|-)\s*{_other})?
    (?P<open>\s+or\s+(?:more|over|above|less|fewer|under|below))?""",
    re.VERBOSE,
)
_or_more = re.compile(
    r"\b(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn)?(?:\+|\s+or\s+(?P<way>more|over|above|older|"
    r"higher|longer|less|fewer|under|below|younger|lower))\b"
)


def comparative_of(word: str) -> tuple[bool, str] | None:
    """Whether a comparative means more, and of which column: "older" is of age."""
    most = f"{word.removesuffix('er')}est"
    if most in UP or most in DOWN:
        return most in UP, ADJECTIVES.get(most, (True, ""))[1]
    return ADJECTIVES.get(most)


def _read_comparisons(read: ReadWords) -> None:
    for found in [*_compared.finditer(read.text), *_or_more.finditer(read.text)]:
        if any(read.words[at].start in range(*found.span("number")) for at in read.used):
            continue
        groups = found.groupdict()
        low = _value(found["number"], groups.get("scale"))
        adjective = groups.get("adjective") or ""
        if adjective and comparative_of(adjective) is None:
            continue
        behind = read.text[found.end() :].split()[:1]
        if behind and behind[0].strip(".,?!") in ("time", "times"):
            continue  # rows are counted
        which, used = _compared_field(read, found, adjective)
        if which is None:
            continue
        factor, unit_end = _unit_factor(read, which, found)
        if factor is None:
            continue
        low *= factor
        at, number = which.sql, f"{low:.12g}"
        if groups.get("second") and groups.get("between"):
            high = _value(found["second"], groups.get("scale2")) * factor
            sql = f"{at} BETWEEN {number} AND {high:.12g}"
            told = tr("{low} to {high}", low=number, high=f"{high:.12g}")
        elif way := groups.get("way") or (groups.get("open") or "").strip().removeprefix("or "):
            sign = "<=" if way in ("less", "fewer", "under", "below", "younger", "lower") else ">="
            sql, told = f"{at} {sign} {number}", f"{sign} {number}"
        elif "way" in groups:
            sql, told = f"{at} >= {number}", f">= {number}"
        else:
            sign = _sign(groups, adjective, found.start(), read.text)
            sql, told = f"{at} {sign} {number}", f"{sign} {number}"
        end = (
            found.start("second") - 1
            if groups.get("second") and not groups.get("between")
            else found.end()
        )
        read.use(found.start(), max(end, unit_end))
        for span in used:
            read.use(*span)
        for item, place in (which, found.start()), *_also_compared(read, which, used):
            condition = sql.replace(at, item.sql)
            read.filters.append(Filter(condition, f"{item.name} {told}", place, item))


def _end_of_name(named: ColumnMention, read: ReadWords) -> int:
    """Where the words end that name a column together: "test 1"."""
    end = named.end
    for word in read.words:
        more = next((it for it in read.mentions if it.start == word.start), None)
        together = more and named.field in (more.field, *more.rivals)
        if word.start > end and together and read.text[end : word.start].isspace():
            end = word.end
    return end


def _also_compared(
    read: ReadWords, which: TableField, used: Sequence[tuple[int, int]]
) -> Iterator[tuple[TableField, int]]:
    """Further columns that a number is compared with: "over 80 in both maths and science", "over 80
    in all tests"."""
    if (all_of := _all_of.match(read.text, used[0][0] if used else 0)) and which.is_measure:
        word = next(it for it in read.words if it.start == all_of.start(1))
        same = [it for it in read.relation.fields if it.is_measure and not it.made]
        for item in same if which in same else ():
            if item is not which and any(strength(word, part) >= MIN_SAME for part in item.parts):
                read.use(*all_of.span())
                yield item, all_of.start(1)
    end = used[-1][1] if used else 0
    while end and (more := re.match(r",? and (?:in )?(?=\w)", read.text[end:])):
        place = end + more.end()
        named = next((it for it in read.mentions if it.start == place), None)
        if named is None or not named.field.is_measure or named.field is which:
            return
        start, end = end, _end_of_name(named, read)
        read.use(start, end)
        yield named.field, place


_all_of = re.compile(r"(?:(?:in|on|for|at) )?(?:all|every|each)(?: of)?(?: the| \d+)? (\w+)")
MIN_SAME = 0.9
"""How surely a word must stand for a part of several columns' names to mean all of them."""


_ORDINALS = {
    form: str(number)
    for number, forms in enumerate(
        ("ground", "first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th",
         "seventh 7th", "eighth 8th", "ninth 9th")
    )
    for form in forms.split()
}  # fmt: skip


def _read_numbered(read: ReadWords) -> None:
    """Numbers that name something: "ward 42", "order 10023"."""
    ids = [it for it in read.relation.fields if it.is_number and it.is_id and it.is_unique]
    for at, word in enumerate(read.words[:-1]):
        number, named = _ORDINALS.get(word.text), read.mention_at(at + 1)
        which = named.field if named and named.score >= 1.9 else None
        counts = which and which.is_number and which.column.whole and which.column.distinct < 60
        if number and which and counts and not {at, at + 1} & read.used:
            told = tr("{name} is {value}", name=which.name, value=number)
            sql = f"{which.sql} = {number}"
            read.filters.append(Filter(sql, told, word.start, which, number))
            read.take(at, at + 1)
    for at, word in enumerate(read.words):
        if at == 0 or at in read.used or not word.text.isdigit():
            continue
        named = read.mention_at(at - 1)
        which = (
            named.field if named and named.field.is_number and not named.field.is_measure else None
        )
        if which is None and ids and read.words[at - 1].stem in read.relation.nouns:
            which = ids[0]
        if which is not None and read.words[at - 1].text not in ("top", "first", "last"):
            told = tr("{name} is {value}", name=which.name, value=word.text)
            start = read.words[at - 1].start
            read.filters.append(Filter(f"{which.sql} = {word.text}", told, start, which, word.text))
            read.use(start, word.end)


def _unit_factor(
    read: ReadWords, which: TableField, found: re.Match[str]
) -> tuple[float | None, int]:
    """The number of the column's units in the unit after the number, and where that ends; None if
    it is a unit of something else."""
    behind = next((word for word in read.words if word.start >= found.end()), None)
    if behind is None or read.text[found.end() : behind.start].strip():
        return 1.0, 0
    if behind.stem in _CURRENCIES and which.is_money:
        return 1.0, behind.end
    unit = UNIT_NAMES.get(behind.text, "")
    if not unit or (unit == "s" and behind.text == "s") or not which.units or unit in which.units:
        return 1.0, behind.end if unit and unit in which.units else 0
    ways = [CONVERSIONS[pair] for own in which.units if (pair := (unit, own)) in CONVERSIONS]
    return (ways[0], behind.end) if ways else (None, 0)


def _value(number: str, scale: str | None) -> float:
    factor = {"k": 1e3, "m": 1e6, "bn": 1e9}.get(scale or "", 1.0)
    return float(number.replace(",", "")) * factor


def _sign(groups: Mapping[str, str | None], adjective: str, start: int, text: str) -> str:
    if adjective:
        more = comparative_of(adjective)
        sign = ">" if more and more[0] else "<"
        return {">": "<=", "<": ">="}[sign] if re.search(r"\b(?:no|not) $", text[:start]) else sign
    ways = {"more": ">", "less": "<", "least": ">=", "most": "<=", "equal": "="}
    return next((sign for way, sign in ways.items() if groups.get(way)), "=")


def _compared_field(
    read: ReadWords, found: re.Match[str], adjective: str
) -> tuple[TableField | None, list[tuple[int, int]]]:
    """The column that a number is compared with, and the words that say so."""
    numbers = [item for item in read.relation.fields if item.is_number and not item.is_id]
    end = found.end()
    following = [at for at, word in enumerate(read.words) if word.start >= end][:3]
    for at in following:
        named = read.mention_at(at)
        gap = read.text[end : read.words[at].start]
        if named and named.field in numbers and not re.search(r"\b(?:by|per|of|for)\b|[,?]", gap):
            span = [(word.start, word.end) for word in read.words[following[0] : at + 1]]
            return named.field, [*span, (named.start, _end_of_name(named, read))]
        if named and not named.field.is_number:
            break
    more = comparative_of(adjective)
    if more and (hinted := hinted_fields(numbers, more[1])):
        unit = [
            at for at in following[:1] if read.words[at].stem in ("year", "minut", "hour", "km")
        ]
        return hinted[0], [(read.words[at].start, read.words[at].end) for at in unit]
    if following:
        measured = UNIT_NAMES.get(read.words[following[0]].text, "")
        same = [item for item in numbers if measured and measured in item.units]
        if len(same) == 1:
            return same[0], []
    plain = found.groupdict()
    sign = (plain.get("sign") or "").strip()
    limited = {item.field for item in read.filters if not item.value}
    if sign or plain.get("scale"):
        money = [it for it in numbers if it not in limited and it.is_money]
        if len(money) == 1 or (money and plain.get("scale")):
            if money[1:]:
                told = tr("“{word}” is read as {name}.", word=found[0], name=money[0].name)
                read.doubt(told)
            return money[0], []
    before = [
        item for item in read.mentions
        if item.end <= found.start() and item.field in numbers and item.field not in limited
    ]  # fmt: skip
    if before:
        near = max(before, key=lambda item: (item.end, item.score))
        return near.field, [(near.start, near.end)]
    for at in range(len(read.words) - 1, -1, -1):
        word = read.words[at]
        if word.end <= found.start() and (hint := VERBS.get(word.text) or VERBS.get(word.stem)):
            if hinted := hinted_fields(numbers, hint):
                return hinted[0], [(word.start, word.end)]
    if following and (behind := read.words[following[0]]).stem in _UNIT_WORDS:
        if hinted := hinted_fields(numbers, _UNIT_WORDS[behind.stem]):
            lowest = {"min", "minimum", "low"}
            if any(plain.get(way) for way in ("less", "most")):
                hinted.sort(key=lambda item: not lowest & {*item.parts})
            return hinted[0], [(behind.start, behind.end)]
    aged = 10 <= float(found["number"].replace(",", "")) <= 120 and not (
        plain.get("sign") or plain.get("scale") or plain.get("percent")
    )
    ages = [item for item in numbers if "age" in item.parts]
    persons = PERSON_STEMS.union(read.relation.nouns, *GENDERS)
    who = stem(read.word_before(found.start())) in persons
    if aged and ages and (who or not following):
        return ages[0], []  # "members over 60"
    measures = [item for item in numbers if item.is_measure and not item.made]
    if len(measures) == 1:
        return measures[0], []
    return None, []


_CURRENCIES = {"euro": "€", "eur": "€", "dollar": "$", "pound": "£", "franc": "CHF"}
_UNIT_WORDS: Mapping[str, str] = {
    stem(word): hint
    for word, hint in {
        **dict.fromkeys(("euros", "dollars"), "price amount cost total revenue salary"),
        "pounds": "price amount cost weight",
        "years": "age", "minutes": "minutes duration runtime delay length",
        "hours": "hours duration", "km": "distance", "kilometres": "distance",
        "kilometers": "distance", "kg": "weight mass", "mm": "rain precipitation length",
        "degrees": "temperature", "people": "population", "inhabitants": "population",
        "pieces": "units quantity", "points": "score points",
    }.items()
}  # fmt: skip


def _guessed(read: ReadWords, entries: Collection[str]) -> list[ColumnMention]:
    """Words that spell no column and no entry, with the column that is nearest in meaning."""
    fields = [it for it in read.relation.fields if not it.is_id and not it.made]
    known = ASKING | RESERVED | VERBS.keys() | ADJECTIVES.keys() | UNIT_NAMES.keys() | _asked
    known |= {*_MORE} | _UNIT_WORDS.keys() | _CURRENCIES.keys() | frozenset().union(*GENDERS)
    found = []
    for at, word in enumerate(read.words):
        plain = word.text.isalpha() and len(word.text) > 2 and word.text not in known
        if not plain or read.mention_at(at) or comparative_of(word.text) or denies(word.text):
            continue
        said = known | {*entries, *read.relation.nouns, *read.relation.others}
        if {word.stem, f"{word.stem}e"} & said:
            continue
        counted = read.text[: word.start].endswith(("how many ", "number of ", "the most "))
        which = nearest(word.text, fields, COUNTED if counted else NEAR)
        rows = max((likeness(word.text, noun) for noun in read.relation.title), default=0.0)
        if rows >= NEAR and (not which or rows > likeness(word.text, " ".join(which.parts))):
            read.relation = replace(read.relation, nouns=read.relation.nouns | {word.stem})
        elif which and not any(part.startswith(word.stem) for part in which.parts):
            name = " ".join(which.parts)
            if which.is_measure and likeness(word.text, name) < MEASURED:
                continue
            found.append(ColumnMention(word.start, word.end, which, 0.9, guessed=True))
    return found


_asked = frozenset((*MONTHS, *WEEKDAYS, "median", "sum"))
