"""Reads the arguments that an LLM wrote for one task: under the wrong name, as the wrong type, in
the place of a file. What can mean one thing only is mended, anything else refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jarvis_desktop.assistant.planning import sources
from jarvis_desktop.assistant.planning.named import Named
from jarvis_desktop.assistant.planning.numbering import Numbering
from jarvis_desktop.assistant.planning.written import plain
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.suffixes import kind_of_name
from jarvis_desktop.core.task import Item, Option, Port, Ref, TaskType, Value, type_names
from jarvis_desktop.core.wording import tr

MOST_NAMES = 8
"""How many names a refusal lists."""

_kind_words = {
    Kind.IMAGE: "image picture photo img pic",
    Kind.AUDIO: "audio sound recording speech voice",
    Kind.VIDEO: "video clip film",
    Kind.TABLE: "table csv spreadsheet data",
    Kind.DOCUMENT: "document doc pdf file",
    Kind.TEXT: "text sentence string prompt input query description caption content words",
}
_kind_of_word = {word: kind for kind, words in _kind_words.items() for word in words.split()}
_nothing = frozenset({"", "none", "null", "n/a", "-1", "undefined"})
_a_file = re.compile(r"(?:[\w.\-]*[/\\])*[^\s/\\]{1,99}\.\w{1,5}")
_a_number = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")


@dataclass(frozen=True, slots=True)
class Known:
    """What the arguments of a plan may speak of."""

    types: Mapping[int, TaskType]
    """The tasks of the plan by id."""
    numbering: Numbering
    named: Named
    inventory: Sequence[TaskType]


class Arguments:
    """Reads the arguments of one task."""

    def __init__(self, task_id: int, known: Known) -> None:
        self._id = task_id
        self._type = known.types[task_id]
        self._label = f"Task {task_id} ({self._type.name})"
        self._known = known

    def read(self, args: object, waits_for: Sequence[int]) -> dict[str, Value | tuple[Item, ...]]:
        """Per port its items, a list even for a port that takes one; per option its value.

        A missing input is filled from the tasks it waits for. Raises PlanError, one sentence.
        """
        found: dict[str, Value | tuple[Item, ...]] = {}
        for place, value in self._placed(args):
            if isinstance(place, Option):
                if (setting := self._setting(place, value)) is not None:
                    found[place.name] = setting
            elif items := tuple(dict.fromkeys(self._items(place, value, waits_for))):
                found[place.name] = items
        for port in self._type.ports:
            if port.required and port.name not in found:
                fitting = [Ref(id) for id in waits_for if self._gives(id) & set(port.kinds)]
                if fitting:
                    found[port.name] = tuple(fitting)
        return found

    def _placed(self, args: object) -> list[tuple[Port | Option, object]]:
        """Each value with the port or option it is for."""
        places: list[Port | Option] = [*self._type.ports, *self._type.options]
        if isinstance(args, list) and args and all(map(_is_pair, args)):
            args = {str(item["name"]): item["value"] for item in args}
        if isinstance(args, Mapping):
            return self._by_name({str(key): value for key, value in args.items()}, places)
        if args in (None, "", []):
            return []
        if isinstance(args, list) and len(self._type.ports) != 1:
            return list(zip(places, args, strict=False))
        if not places:
            raise PlanError(tr("{label} takes no arguments.", label=self._label))
        return [(places[0], args)]

    def _by_name(
        self, args: Mapping[str, object], places: Sequence[Port | Option]
    ) -> list[tuple[Port | Option, object]]:
        by_name = {place.name: place for place in places}
        by_plain = {plain(place.name): place for place in places}
        found: dict[str, tuple[Port | Option, object]] = {}
        strange: dict[str, object] = {}
        for key, value in args.items():
            if place := by_name.get(key) or by_plain.get(plain(key)):
                found[place.name] = place, value
            elif str(value).strip().casefold() not in _nothing:
                strange[key] = value

        def left() -> list[Port | Option]:
            return [place for place in places if place.name not in found]

        for key in list(strange):
            if port := _by_kind(key, left()):
                found[port.name] = port, strange.pop(key)
        if len(strange) == 1 and (only := _only(left())):
            found[only.name] = only, strange.popitem()[1]
        if strange:
            takes = f"it takes {', '.join(by_name)}" if by_name else "it takes none"
            key = one_line(next(iter(strange)))
            raise PlanError(
                tr(
                    "{label} has no argument '{key}'; {takes}.",
                    label=self._label,
                    key=key,
                    takes=takes,
                )
            )
        return list(found.values())

    def _setting(self, option: Option, value: object) -> Value | None:
        """The value of an option in its type; None where it is left at its default."""
        if isinstance(value, list):
            value = ", ".join(str(item) for item in value)
        if isinstance(value, Mapping) or value is None:
            value = ""
        if isinstance(value, str) and self._known.numbering.mentions(value):
            raise PlanError(
                tr("{label} takes no result as its {name}.", label=self._label, name=option.name)
            )
        if isinstance(value, str) and value.strip().casefold() in _nothing - {"-1"}:
            return None
        setting = _typed(value, type(option.default))
        if setting is None:
            wanted = type_names[type(option.default)]
            raise PlanError(
                tr(
                    "{label} takes {wanted} as its {name}.",
                    label=self._label,
                    wanted=wanted,
                    name=option.name,
                )
            )
        if option.choices and setting not in option.choices:
            plainly = {plain(choice): choice for choice in option.choices}
            setting = plainly.get(plain(str(setting)))
            if setting is None:
                raise PlanError(
                    tr(
                        "{label} knows no {name} '{str}'; it knows {filter}.",
                        label=self._label,
                        name=option.name,
                        str=one_line(str(value)),
                        filter=", ".join(filter(None, option.choices)),
                    )
                )
        return setting

    def _items(self, port: Port, value: object, waits_for: Sequence[int]) -> Iterator[Item]:
        for part in value if isinstance(value, list) else [value]:
            for item in self._item(port, _unwrapped(part), waits_for):
                self._check(port, item)
                yield item

    def _item(self, port: Port, value: object, waits_for: Sequence[int]) -> list[Item]:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            if value is None:
                return []
            raise PlanError(
                tr(
                    "{label} takes as its {name} a text, a name or <GENERATED>-id.",
                    label=self._label,
                    name=port.name,
                )
            )
        text = encodable(str(value)).strip()
        numbering, named = self._known.numbering, self._known.named
        if (ids := numbering.references(text)) is not None:
            return [Ref(id) for id in ids or self._unsaid(port, waits_for)]
        if artifact := named.find(text, port.kinds):
            return [artifact]
        listed = [named.find(part, port.kinds) for part in text.split(",")]
        if all(listed):
            return [item for item in listed if item]
        if numbering.mentions(text):
            return self._within(port, text)
        if Kind.TEXT in port.kinds and not (_a_file.fullmatch(text) and kind_of_name(text)):
            return [encodable(str(value))] if text else []
        if isinstance(value, int) and value in self._known.types:
            return [Ref(value)]
        if text.casefold() in _nothing:
            return []
        there = ", ".join(f"'{name}'" for name in named.listed(port.kinds)[:MOST_NAMES])
        others = f"; there is {there}" if there else ", nor any other that it takes"
        raise PlanError(
            tr(
                "{label}: no file '{text}' was given for its {name}{others}.",
                label=self._label,
                text=one_line(text),
                name=port.name,
                others=others,
            )
        )

    def _unsaid(self, port: Port, waits_for: Sequence[int]) -> Sequence[int]:
        """Whose result it is where an LLM wrote <GENERATED> alone."""
        others = waits_for or [id for id in self._known.types if id != self._id]
        fitting = [id for id in others if self._gives(id) & set(port.kinds)]
        if len(fitting) != 1:
            raise PlanError(
                tr(
                    "{label} must say whose result its {name} is: <GENERATED>-id.",
                    label=self._label,
                    name=port.name,
                )
            )
        return fitting

    def _within(self, port: Port, text: str) -> list[Item]:
        """The results that a longer text speaks of, where the rest of it says nothing more."""
        ids, says_more = self._known.numbering.within(text)
        if not ids or (says_more and Kind.TEXT in port.kinds):
            raise PlanError(
                tr(
                    "{label} mixes a result with other words in its {name}; "
                    "write <GENERATED>-id alone, or the words alone.",
                    label=self._label,
                    name=port.name,
                )
            )
        return [Ref(id) for id in ids]

    def _check(self, port: Port, item: Item) -> None:
        """Raises PlanError where the kind does not fit, with the task that would make it fit."""
        maker = self._known.types.get(item.task_id) if isinstance(item, Ref) else None
        given = (item.kind,) if isinstance(item, Artifact) else maker.gives if maker else ()
        if not given or set(given) & set(port.kinds):
            return
        way = sources.route(given, port.kinds, self._known.inventory)
        names = ", then ".join(task_type.name for task_type in way or ())
        raise PlanError(
            f"{self._label} takes {' or '.join(port.kinds)} as its {port.name}, not "
            f"{' or '.join(given)}{f'; first use {names}' if names else ''}."
        )

    def _gives(self, task_id: int) -> frozenset[Kind]:
        """What another task of the plan gives."""
        return frozenset(self._known.types[task_id].gives if task_id != self._id else ())


def _by_kind(key: str, left: Sequence[Port | Option]) -> Port | None:
    """The only port left that takes the kind a name speaks of: "image_path"."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).lower())
    kinds = {_kind_of_word[word] for word in words if word in _kind_of_word}
    fitting = [item for item in left if isinstance(item, Port) and kinds & set(item.kinds)]
    return fitting[0] if len(fitting) == 1 else None


def _only(left: Sequence[Port | Option]) -> Port | Option | None:
    """The only input that is still missing, or the only place left at all."""
    missing = [item for item in left if isinstance(item, Port) and item.required]
    among = missing or left
    return among[0] if len(among) == 1 else None


def _is_pair(item: object) -> bool:
    return isinstance(item, Mapping) and {"name", "value"} <= item.keys()


def _unwrapped(value: object) -> object:
    """{"text": "..."} and {"task_id": 0} for what is within."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    (key, inner), *_ = value.items()
    if plain(str(key)) in ("ref", "task", "taskid", "id", "generated", "from", "node"):
        return inner if Numbering.mentions(str(inner)) else f"<GENERATED>-{inner}"
    return inner


def _typed(value: object, wanted: type) -> Value | None:
    """The value as that type; None where it cannot be meant so."""
    if wanted is str:
        return encodable(str(value).lower() if isinstance(value, bool) else str(value))
    text = str(value).strip().lower()
    if wanted is bool:
        return {"true": True, "yes": True, "false": False, "no": False}.get(text)
    if isinstance(value, str):
        numbers = _a_number.findall(text)
        value = float(numbers[0]) if len(numbers) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
        return None
    if wanted is float:
        return float(value)
    return int(value) if value == int(value) else None
