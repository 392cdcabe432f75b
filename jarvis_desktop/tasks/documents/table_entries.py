"""The entries of a table that a question names, and its columns of yes and no.

"Keller" stands for "Keller GmbH", "unpaid invoices" for those that are not paid.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.tasks.documents.table_database import (
    MAX_VALUES,
    ColumnType,
    TableDatabase,
    literal,
)
from jarvis_desktop.tasks.documents.table_german import noun_in_english
from jarvis_desktop.tasks.documents.table_words import (
    ASKING,
    GRAINS,
    MAX_MATCHED,
    RESERVED,
    VERBS,
    Filter,
    QuestionWord,
    ReadWords,
    TableField,
    folded,
    strength,
    words_of,
)
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem


def entries_by_stems(read: ReadWords, db: TableDatabase) -> dict[str, list[tuple[TableField, str]]]:
    """The entries that the question may name, by their stems."""
    entries: dict[str, list[tuple[TableField, str]]] = defaultdict(list)
    for each in read.relation.fields:
        if each.column.type is ColumnType.TEXT and not each.made:
            for value in entries_of(each, read, db, _grams(read)):
                entries[_key(value)].append((each, value))
    return entries


def _grams(read: ReadWords) -> dict[tuple[int, int], str]:
    """The stems of up to six words in a row, by the first and the one after the last."""
    return {
        (start, end): " ".join(word.stem for word in read.words[start:end])
        for start in range(len(read.words))
        for end in range(start + 1, min(start + 7, len(read.words) + 1))
    }


def read_values(read: ReadWords, entries: Mapping[str, Sequence[tuple[TableField, str]]]) -> None:
    """Entries that the question names, the longest first."""
    taken: set[int] = set()
    places: list[tuple[int, int, Sequence[tuple[TableField, str]]]] = []
    for (start, end), key in sorted(_grams(read).items(), key=lambda item: item[0][0] - item[0][1]):
        inside = set(range(start, end))
        if not key or inside & (taken | read.used) or key not in entries:
            continue
        only = read.words[start]
        if end - start == 1 and (
            (only.text in FUNCTION_WORDS and only.text not in read.shouted)
            or only.text in ("number", "total", "average")
            or _asks_time(read, start)
            or _is_the_table(read, start)
            or _names_column(read, start)
        ):
            continue
        taken |= inside
        places.append((start, end, entries[key]))
    for start, end, listed in sorted(places, key=lambda item: item[0]):
        _filter_by(read, start, end, listed)


def entries_of(
    each: TableField, read: ReadWords, db: TableDatabase, grams: Mapping[tuple[int, int], str]
) -> list[str]:
    """The entries of a column that may be meant: all, or those written in the question if there
    are many."""
    column = each.column.sql
    table = each.sql.removesuffix(column).removesuffix(".") or read.relation.sql
    if each.column.distinct <= MAX_VALUES:
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
    else:
        written = {
            read.text[read.words[start].start : read.words[end - 1].end] for start, end in grams
        }
        listed = ", ".join(literal(words) for words in sorted(written) if len(words) > 2)
        plain = f"strip_accents(lower({column}))"
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE {plain} IN ({listed})"
    return [str(row[0]) for row in db.rows(sql, 2 * MAX_VALUES)[1]]


@cache
def _key(value: str) -> str:
    return " ".join(word.stem for word in words_of(value)[:7])


def _asks_time(read: ReadWords, at: int) -> bool:
    """Whether a word asks for a time: "how many days" of a table with the entry "day"."""
    asking = at > 0 and read.words[at - 1].text in ("many", "which", "what", "per", "each", "every")
    return asking and bool(read.relation.dates) and read.words[at].text.removesuffix("s") in GRAINS


_whole = frozenset("table file sheet spreadsheet list data".split())
_done_to = frozenset(
    "filter sort edit reduce restrict limit narrow search change in of from".split()
)


def _is_the_table(read: ReadWords, at: int) -> bool:
    """Whether a word means the table itself: "filter the table", of one with the entry "Table"."""
    before = [word.text for word in read.words[max(0, at - 2) : at]]
    return (
        read.words[at].text in _whole
        and before[-1:] in (["the"], ["this"])
        and (len(before) < 2 or before[0] in _done_to)
    )


def _names_column(read: ReadWords, at: int) -> bool:
    """Whether a word is the whole name of a column."""
    named = read.mention_at(at)
    return bool(
        named
        and len(named.field.parts) == 1
        and strength(read.words[at], named.field.parts[0]) == 1
    )


_not = frozenset(("not", "except", "excluding", "without", "other", "besides", "non", "no", "never",
                  "but", "neither", "nor", "off"))  # fmt: skip
_DUE = frozenset(("need", "needs", "yet", "must", "should"))
"""Words before what is still to be done: "who do we need to thank", "yet to be paid"."""
_undone = frozenset("forget forgets forgot forgotten miss misses missed skip skips skipped".split())


def denies(word: str, *, undone: bool = False) -> bool:
    """Return whether a word denies what follows; `undone` counts "forgot" and "missed" as well."""
    return (
        word in _not
        or word == "cannot"
        or word.endswith(("n't", "n’t"))
        or (undone and word in _undone)
    )


def _denies_at(read: ReadWords, at: int) -> bool:
    """Whether a word denies what follows: "who is off on Monday", but not "days off"."""
    off = read.words[at].text == "off"
    return denies(read.words[at].text) and not (off and read.words[at - 1].stem in GRAINS)


_from = frozenset(("from", "leav", "depart", "out"))
_to = frozenset(("to", "into", "toward", "for", "reach"))
_origins = frozenset("origin from source departure start sender home seller".split())
_ends = frozenset("destination to target arrival end receiver away buyer".split())


def _filter_by(
    read: ReadWords, start: int, end: int, listed: Sequence[tuple[TableField, str]]
) -> None:
    first, last = read.words[start], read.words[end - 1]
    columns = list(dict.fromkeys(item for item, _ in listed))
    chosen = columns[0]
    if len(columns) > 1:
        chosen = _which_column(read, start, columns)
    values = [value for item, value in listed if item is chosen]
    before = range(max(0, start - 3), start)
    negative = any(_denies_at(read, at) for at in before) and not any(
        word.text in ("and", "or") for word in read.words[max(0, start - 2) : start]
    )
    read.used |= {at for at in before if negative and _denies_at(read, at)}
    earlier = next(
        (it for it in read.filters if it.field is chosen and it.value and not negative), None
    )
    told = (
        tr("{items} or {last}", items=", ".join(values[:-1]), last=values[-1])
        if (values[1:])
        else values[0]
    )
    read.use(first.start, last.end)
    between = read.text[earlier.start : first.start] if earlier else ""
    rivals = [item for item in columns if earlier and item in earlier.others]
    if earlier and rivals and len(values) == 1 and _against.search(between):
        one, other = literal(earlier.value), literal(values[0])
        earlier.sql = " OR ".join(
            f"({chosen.sql} = {mine} AND {rivals[0].sql} = {its})"
            for mine, its in ((one, other), (other, one))
        )
        read.used |= {at for at, word in enumerate(read.words) if _against.fullmatch(word.text)}
        earlier.told = tr("{name} and {last} are {value}", name=chosen.name, last=rivals[0].name,
                          value=both(earlier.value, values[0]))  # fmt: skip
        return
    if earlier:
        listed_values = list(dict.fromkeys([*earlier.value.split("\0"), *values]))
        if len(listed_values) == earlier.value.count("\0") + 1:
            return
        earlier.value = "\0".join(listed_values)
        earlier.sql = f"{chosen.sql} IN ({', '.join(map(literal, listed_values))})"
        earlier.told = tr("{items} or {last}", items=earlier.told, last=told)
        return
    choice = ", ".join(map(literal, values))
    sql = f"{chosen.sql} IN ({choice})" if len(values) > 1 else f"{chosen.sql} = {choice}"
    denied = sql if negative else ""
    if negative:
        sql = f"({chosen.sql} IS NULL OR NOT {sql})"
    form = mark("{name} is not {value}") if negative else mark("{name} is {value}")
    told = tr(form, name=chosen.name, value=told)
    value = "" if negative else "\0".join(values)
    others = tuple(item for item in columns if item is not chosen)
    read.filters.append(Filter(sql, told, first.start, chosen, value, denied=denied, others=others))


_against = re.compile(r"\b(?:vs?|versus|against|play\w*|beat\w*|meet|met|hosted?)\b")


def _which_column(read: ReadWords, start: int, columns: Sequence[TableField]) -> TableField:
    """Which of the columns with this entry is meant."""
    before = stem(read.word_before(read.words[start].start))
    for words, names in ((_from, _origins), (_to, _ends)):
        fitting = [item for item in columns if set(item.parts) & names]
        if before in words and fitting:
            read.use(read.words[start - 1].start, read.words[start].start)
            return fitting[0]
    near = [
        (abs(word.start - read.words[start].start), at)
        for word in read.words
        for at, item in enumerate(columns)
        if any(strength(word, part) >= 0.9 for part in item.parts)
    ]
    if near or _against.search(read.text):
        return columns[min(near)[1] if near else 0]
    read.doubt(
        tr(
            "“{word}” is read as {name}; it is in {names} as well.",
            word=read.words[start].text,
            name=columns[0].name,
            names=", ".join(item.name for item in columns[1:3]),
        )
    )
    return columns[0]


_opposites = {
    "failed": "unpassed", "fail": "unpassed", "fails": "unpassed",
    "owe": "unpaid", "owes": "unpaid",
    "outstanding": "unpaid", "overdue": "unpaid",
}  # fmt: skip


def read_flags(read: ReadWords) -> None:
    """Columns of yes and no: "cancelled flights", "unpaid invoices", "who works remotely"."""
    flags = [item for item in read.relation.fields if item.column.type is ColumnType.FLAG]
    for each in flags:
        for at, word in enumerate(read.words):
            if at in read.used or read.word_before(word.start) in ("by", "per", "each"):
                continue
            if word.text in FUNCTION_WORDS:
                continue  # "on" is not "on the road"
            bare = re.sub(r"^(?:un|non|in|dis)(?=\w{4})", "", _opposites.get(word.text, word.text))
            plain = QuestionWord(bare, stem(bare), 0, 0)
            named = read.mention_at(at)
            other = named and named.field is not each and each not in named.rivals
            if other and named and len(named.field.parts) == 1 and named.score >= 1.9:
                continue  # "gift" is not "gift aid" if there is a column of gifts
            known = max(strength(word, part) for part in each.parts) >= 0.7
            reverse = not known and max(strength(plain, part) for part in each.parts) >= 0.7
            reverse &= bare != word.text
            remote = (
                len(each.parts[0]) >= 4
                and word.text.startswith(each.parts[0])
                and len(each.parts) == 1
            )
            guessed = named is not None and named.guessed and named.field is each
            if not (known or reverse or remote or guessed):
                continue
            before = range(max(0, at - 3), at)
            denying = [it for it in before if denies(read.words[it].text, undone=True)]
            due = [it for it in before if read.words[it].text in _DUE]
            denying = denying or due
            wanted = bool(denying) == reverse
            read.take(at, *denying)
            for other in read.mentions:
                if other.field is each and abs(other.start - word.start) < 20:
                    read.use(other.start, other.end)
            sql = f"coalesce({each.sql}, false)" if due else each.sql
            sql = sql if wanted else f"NOT {sql}"
            told = tr("{name} is {value}", name=each.name, value=tr("yes") if wanted else tr("no"))
            read.filters.append(Filter(sql, told, word.start, each))
            break


def _begins_compound(value: str, word: str) -> bool:
    """Whether an entry and a noun are one word, as in German: "Stromrechnungen"."""
    entry = folded(value)
    tail = word.removeprefix(entry)
    if len(entry) < 4 or tail == word or len(tail) < 4:
        return False
    return any(noun_in_english(form) != form for form in (tail, tail.removeprefix("s")))


_people_of = re.compile(r"(?:i?ans?|ns?|ish|ese|s)$")


def _is_of(word: str, country: str) -> bool:
    """Whether a word is the name of those of a country: "Germans", "Swedish", "Kenyan"."""
    plain = _people_of.sub("", word)
    return plain != word and len(plain) >= 4 and country.startswith(plain[:-1])


GENDERS = (
    frozenset("female f w woman girl lady weiblich frau".split()),
    frozenset("male m man boy mannlich mann".split()),
)


_countries = frozenset(("country", "nation", "nationality", "land"))


def _may_be_entry(read: ReadWords, at: int) -> bool:
    """Whether a word names no column: "Germans" only means something like a country."""
    named = read.mention_at(at)
    return named is None or (named.guessed and bool(_countries & {*named.field.parts}))


def read_partial_values(read: ReadWords, db: TableDatabase) -> None:
    """Words that are left and stand in entries of several words: "Keller" in "Keller GmbH"."""
    left = [
        at for at, word in enumerate(read.words)
        if at not in read.used and word.text not in ASKING and not word.text.isdigit()
        and _may_be_entry(read, at) and word.stem not in read.relation.nouns
        and word.text not in VERBS and len(word.text) > 2 and word.text not in RESERVED
    ]  # fmt: skip
    for at in left:
        word = read.words[at]
        for each in read.relation.fields:
            wide = each.made or each.column.distinct > MAX_VALUES
            if each.column.type is not ColumnType.TEXT or wide:
                continue
            entries = entries_of(each, read, db, {})
            values = [value for value in entries if word.stem in _key(value).split()]
            plain = {word.text.removesuffix(ending) for ending in ("n", "en", "e", "er", "s")}
            if word.text.endswith("y"):  # "foggy" of "fog"
                plain |= {word.text[:-1], word.text[:-2]}
            values = values or [value for value in entries if folded(value) in plain]
            if not values and _countries & {*each.parts}:
                values = [value for value in entries if _is_of(word.text, folded(value))]
            if not values and {"gender", "sex"} & {*each.parts}:
                same = next((same for same in GENDERS if word.stem in same), frozenset())
                values = [value for value in entries if folded(value) in same]
            values = values or [value for value in entries if _begins_compound(value, word.text)]
            if 0 < len(values) <= MAX_MATCHED:
                _filter_by(read, at, at + 1, [(each, value) for value in values])
                if len(values) > 1:
                    names = ", ".join(values[:4])
                    read.doubt(tr("“{word}” stands for {names}.", word=word.text, names=names))
                break
