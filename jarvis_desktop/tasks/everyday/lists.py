"""Lists of the user's own: shopping, to-dos, notes, and any other that is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.ports import Lists
from jarvis_desktop.core.task import Call, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.text.lazy_re import lazy_re

NOTES = "notes"
MAX_TOLD = 10
"""Entries of a list that are told after a change to it."""
_SAME = {
    "to do": "to-do", "todo": "to-do", "todos": "to-do", "to dos": "to-do", "task": "to-do",
    "tasks": "to-do", "grocery": "shopping", "groceries": "shopping", "note": NOTES,
}  # fmt: skip
"""Other names of lists."""
_USUAL = frozenset(
    "shopping to-do packing wish guest reading watch bucket christmas present gift".split()
)
"""Lists that most people have, which need no "my"."""
_ASKED = (
    r"(?:(?:hey |ok |okay )?jarvis[, ]+|please |(?:can|could|would) you (?:please )?|"
    r"i(?:'d| would) like (?:you )?to |i need to )*"
)
_LIST = (
    r"(?:(?P<whose>my|our) |the |that )?"
    r"(?:(?!(?:my|our|the|that) )(?P<name>(?:(?!\blists?\b)[\w' -]){1,30}?)[ -]lists?|"
    r"(?P<notes>notes|to-?dos))"
)
_ITEMS = r"(?P<items>(?:(?!\blist\b).)+?)"
_WHOLE = r"(?: (?:out )?(?:loud|aloud)| to me| for me| please| now)*"
_HINT = lazy_re(r"lists?\b|notes?\b|to-?dos?\b|\b(?:buy|to do|jot|write)\b", re.IGNORECASE)
"""One of these is in all that is read here, and patterns take a while to be compiled."""
_FORMS = tuple(
    (action, lazy_re(rf"{_ASKED}(?:{form})", re.IGNORECASE))
    for action, form in (
        ("show", r"(?:what(?:'s| is| are| do (?:i|we) have)(?: (?:on|in))?|"
                 r"(?:show|read|list|tell|give)(?: me)?(?: what(?: is|'s) on)?(?: all)?(?: of)?|"
                 r"open|see) "
                 rf"{_LIST}{_WHOLE}"),
        ("show", r"what (?P<buy>do (?:i|we) (?:need|have) to buy)"),
        ("show", r"what (?P<do>do i have to do)(?: today)?"),
        ("names", r"(?:what|which) lists (?:do i have|are there|have i got)|"
                  r"(?:show|list)(?: me)?(?: all)? my lists"),
        ("clear", r"(?:clear|empty|delete|erase|wipe|reset|throw away)(?: all)?(?: of)? "
                  rf"{_LIST}{_WHOLE}"),
        ("clear", r"(?:remove|delete|take|cross|clear) (?:everything|all(?: items)?|it all) "
                  rf"(?:off|from|on) {_LIST}{_WHOLE}"),
        ("remove", rf"(?:remove|delete|take|cross|strike|check|tick|scratch) (?:off )?{_ITEMS}"
                   rf"(?: off)? (?:from|off|on|of) {_LIST}{_WHOLE}"),
        ("add", rf"(?:add|put|write|note|stick|enter) {_ITEMS} "
                rf"(?:to|on|onto|on to|into|in|down on) {_LIST}{_WHOLE}"),
        ("add", rf"(?:add|put|write) (?:to|on|onto|in|into) {_LIST}[:,]? (?P<items>.+)"),
        ("add", rf"{_LIST}: (?P<items>.+)"),
        ("add", r"(?:take(?: down)? a note|note to self|(?:jot|note) down)(?:[:,]| that| saying)? "
                r"(?P<items>.+)"),
        ("add", r"(?:leave|write|make)(?: me)? a note(?::| that| saying) (?P<items>.+)"),
        ("add", r"write down(?::| that) (?P<items>.+)"),
    )
)  # fmt: skip


def read(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    return {} if _read(words) else None


def _read(words: str) -> tuple[str, str, str] | None:
    """What is to be done, with which list, and the items in the user's words."""
    said = " ".join(words.split()).strip(" ?.!")
    if not _HINT.search(said):
        return None
    for action, form in _FORMS:
        if found := form.fullmatch(said):
            groups = found.groupdict()
            name = groups.get("name") or groups.get("notes") or ""
            if groups.get("buy"):
                name = "shopping"
            elif groups.get("do"):
                name = "to-do"
            name = " ".join(name.casefold().split())
            name = _SAME.get(name, name) or NOTES
            if groups.get("whose") is None and groups.get("name") and name not in _USUAL:
                return None  # "the price list" is a file's name for all we know
            return action, name, groups.get("items") or ""
    return None


def each_item(words: str, name: str) -> list[str]:
    """The items of "milk, eggs and bread"; a note is one."""
    words = words.strip(" .!?\"“”'")
    if name == NOTES:
        return [words] if words else []
    parts = re.split(r"\s*[,;]\s*(?:(?:and|und)\s+)?|\s+(?:and|und)\s+|[、和]", words)
    return [part.strip() for part in parts if part.strip()]


async def manage_lists(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Add to a list, take from it, show or clear it. Raises InputError if nothing is named."""
    found = _read(call.words("asked"))
    if found is None:
        raise InputError(
            tr("It is not clear what to do with which list."),
            hint=tr("Say “add milk to my shopping list” or “what is on my shopping list”."),
        )
    action, name, words = found
    lists = services.lists
    match action:
        case "names":
            return [text_artifact(_names(lists))]
        case "add":
            return [text_artifact(_added(name, each_item(words, name), lists))]
        case "remove":
            return [text_artifact(_removed(name, each_item(words, name), lists))]
        case "clear":
            count = lists.clear(name)
            return [text_artifact(_cleared(name, count) if count else _empty(name))]
        case _:
            return [text_artifact(_shown(name, lists))]


def _empty(name: str) -> str:
    return tr("The list “{name}” is empty.", name=name)


def _cleared(name: str, count: int) -> str:
    return trn(
        "Removed 1 entry from the list “{name}”.",
        "Removed {count} entries from the list “{name}”.",
        count,
        name=name,
    )


def _names(lists: Lists) -> str:
    lines = [f"- {name} ({len(lists.items(name))})" for name in lists.names()]
    return "\n".join(lines) or tr("There is no list yet. Say “add milk to my shopping list”.")


def _shown(name: str, lists: Lists) -> str:
    items = lists.items(name)
    if not items:
        return _empty(name)
    return "\n".join([tr("On the list “{name}”:", name=name), *(f"- {item}" for item in items)])


def _added(name: str, items: list[str], lists: Lists) -> str:
    fresh = lists.add(name, items)
    if not fresh:
        return tr("That is on the list “{name}” already.", name=name)
    return tr("On the list “{name}” now: {items}.", name=name, items=_some(lists.items(name)))


def _some(items: Sequence[str]) -> str:
    """All entries of a short list, and the last ones of a long list."""
    more = ["…"] if len(items) > MAX_TOLD else []
    return ", ".join([*more, *items[-MAX_TOLD:]])


def _removed(name: str, items: list[str], lists: Lists) -> str:
    gone = lists.remove(name, items)
    missing = [item for item in items if item.casefold() not in {each.casefold() for each in gone}]
    told = [tr("Removed from the list “{name}”: {items}.", name=name, items=", ".join(gone))]
    if left := lists.items(name):
        told.append(tr("On the list “{name}” now: {items}.", name=name, items=_some(left)))
    else:
        told.append(_empty(name))
    if missing:
        absent = tr("Not on the list “{name}”: {items}.", name=name, items=", ".join(missing))
        told = [told[0], absent, told[1]] if gone else [absent]
    return " ".join(told)


def question(call: Call) -> str:
    """The question to ask before a whole list is emptied."""
    found = _read(call.words("asked"))
    return tr("Empty the list “{name}”?", name=found[1]) if found and found[0] == "clear" else ""


LISTS = define(
    name="lists", label="Lists",
    summary="Keeps lists of the person, such as shopping, to-dos and notes: adds to them, shows, "
    "ticks off, empties.",
    acts=True,
    options=(
        TaskOption("asked", "what to do with which list, as it was said", "", reads="own-words"),
    ),
    skill=manage_lists, reads=read, question=question,
    note="kept in your history's file, and nowhere else",
)  # fmt: skip
