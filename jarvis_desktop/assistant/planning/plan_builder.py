"""Build a Plan from the steps that an LLM wrote.

Arguments under a wrong name, of a wrong type or in place of a file are corrected if they can mean
one thing only, and a sound, picture or document that is given where a text belongs is turned into
one first. Anything else is refused, in one sentence that goes back to the LLM.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath, PureWindowsPath

from jarvis_desktop.assistant.planning import inputs
from jarvis_desktop.assistant.planning.llm_output import (
    MAX_TASKS,
    TOO_MANY_TASKS,
    StepNumbering,
    WrittenStep,
    normalized,
    whole_number,
)
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import (
    Arg,
    Item,
    Port,
    Ref,
    Task,
    TaskOption,
    TaskType,
    Value,
    type_names,
)

_any_file = re.compile(
    r"\W*(?:the |my |your |this |that |given |attached |input )*"
    r"(?:image|picture|photo|audio|recording|video|table|document|text|file|attachment|input)"
    r"(?:\.\w{2,4}| file)?\W*",
    re.IGNORECASE,
)
"""Words that name no particular file."""


class NamedArtifacts:
    """The artifacts of a context by unique names; a plan can use no other files."""

    def __init__(self, context: Context) -> None:
        self.attached = tuple(dict.fromkeys(context.attachments))
        self._by_name: dict[str, Artifact] = {}
        for artifact in self.attached:
            self._by_name[self._unused(_title(artifact))] = artifact
        for resource in context.resources:
            if resource.artifact not in self.attached:
                self._by_name[self._unused(resource.name)] = resource.artifact
        # Names whatever their case, and earlier files by their own names: the newest of a name.
        titles = {_title(item).casefold(): item for item in self._by_name.values() if item.path}
        self._folded = titles | {name.casefold(): item for name, item in self}

    def __iter__(self) -> Iterator[tuple[str, Artifact]]:
        """Yield name and artifact: those of this request, then those of earlier turns, oldest
        first."""
        return iter(self._by_name.items())

    def find(self, name: str, kinds: Iterable[Kind]) -> Artifact | None:
        """Return what a name means for a port of these kinds, or None. A path counts by its last
        part. "The image" is the only attached image."""
        bare = name.strip().strip("\"'`<>[]“”‘’").strip()
        for version in (bare, PureWindowsPath(bare).name, PurePosixPath(bare).name):
            if artifact := self._by_name.get(version) or self._folded.get(version.casefold()):
                return artifact
        fitting = [item for item in self.attached if item.kind in set(kinds)]
        if len(fitting) == 1 and _any_file.fullmatch(bare):
            return fitting[0]
        return None

    def listed(self, kinds: Iterable[Kind]) -> list[str]:
        """Return the names of the artifacts that a port of these kinds takes."""
        return [name for name, artifact in self if artifact.kind in set(kinds)]

    def _unused(self, name: str) -> str:
        count, unused = 1, name
        while unused in self._by_name:
            count += 1
            unused = f"{name} ({count})"
        return unused


def _title(artifact: Artifact) -> str:
    """Return a file's name on one line; a text has only its kind."""
    return one_line(artifact.title) if artifact.path or artifact.name else str(artifact.kind)


MAX_NAMES = 8
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
class PlanScope:
    """What the arguments of a plan may refer to."""

    types: Mapping[int, TaskType]
    """The task types of the plan by id."""
    numbering: StepNumbering
    named: NamedArtifacts
    inventory: Sequence[TaskType]
    conversions: dict[tuple[str, Item], _DraftTask] = field(default_factory=dict)
    """Tasks that the LLM forgot, by their type and input: they turn one kind into another."""

    def convert(self, item: Item, way: Sequence[TaskType]) -> Ref:
        """Return the result of turning the item by these task types in turn."""
        for task_type in way:
            if (task_type.name, item) not in self.conversions:
                number = max(self.types, default=0) + 1 + len(self.conversions)
                args = {task_type.ports[0].name: (item,)}
                draft = _DraftTask(number, task_type, args, wanted=False)
                self.conversions[task_type.name, item] = draft
            item = Ref(self.conversions[task_type.name, item].id)
        assert isinstance(item, Ref)
        return item


class ArgumentReader:
    """Reads the arguments of one task."""

    def __init__(self, task_id: int, known: PlanScope) -> None:
        self._id = task_id
        self._type = known.types[task_id]
        self._label = f"Task {task_id} ({self._type.name})"
        self._known = known

    def read(self, args: object, waits_for: Sequence[int]) -> dict[str, Value | tuple[Item, ...]]:
        """Return items per port, also for a port that takes one, and a value per option. A missing
        input is filled from the tasks it waits for. Raises PlanError with one sentence."""
        found: dict[str, Value | tuple[Item, ...]] = {}
        for place, value in self._match_places(args):
            if isinstance(place, TaskOption):
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

    def _refusal(self, text: str, /, **values: object) -> PlanError:
        return PlanError(tr(text, label=self._label, **values))

    def _match_places(self, args: object) -> list[tuple[Port | TaskOption, object]]:
        """Return each value with the port or option it is for."""
        places: list[Port | TaskOption] = [*self._type.ports, *self._type.options]
        if args and isinstance(args, list):
            pairs = [
                item for item in args if isinstance(item, Mapping) and {"name", "value"} <= {*item}
            ]
            if len(pairs) == len(args):
                args = {str(item["name"]): item["value"] for item in pairs}
        if isinstance(args, Mapping):
            return self._by_name({str(key): value for key, value in args.items()}, places)
        if args in (None, "", []):
            return []
        if isinstance(args, list) and len(self._type.ports) != 1:
            return list(zip(places, args, strict=False))
        if not places:
            raise self._refusal(mark("{label} takes no arguments."))
        return [(places[0], args)]

    def _by_name(
        self, args: Mapping[str, object], places: Sequence[Port | TaskOption]
    ) -> list[tuple[Port | TaskOption, object]]:
        by_name = {place.name: place for place in places}
        by_plain = {normalized(place.name): place for place in places}
        found: dict[str, tuple[Port | TaskOption, object]] = {}
        strange: dict[str, object] = {}
        for key, value in args.items():
            if place := by_name.get(key) or by_plain.get(normalized(key)):
                found[place.name] = place, value
            elif str(value).strip().casefold() not in _nothing:
                strange[key] = value

        def left() -> list[Port | TaskOption]:
            return [place for place in places if place.name not in found]

        for key in list(strange):
            if port := _by_kind(key, left()):
                found[port.name] = port, strange.pop(key)
        if len(strange) == 1 and (only := _only(left())):
            found[only.name] = only, strange.popitem()[1]
        if strange:
            takes = f"it takes {', '.join(by_name)}" if by_name else "it takes none"
            key = one_line(next(iter(strange)))
            raise self._refusal(
                mark("{label} has no argument '{key}'; {takes}."), key=key, takes=takes
            )
        return list(found.values())

    def _setting(self, option: TaskOption, value: object) -> Value | None:
        """Return the value of an option in its type; None to keep its default."""
        if isinstance(value, list):
            value = ", ".join(str(item) for item in value)
        if isinstance(value, Mapping) or value is None:
            value = ""
        if isinstance(value, str) and self._known.numbering.mentions(value):
            raise self._refusal(mark("{label} takes no result as its {name}."), name=option.name)
        if isinstance(value, str) and value.strip().casefold() in _nothing - {"-1"}:
            return None
        setting = _convert(value, type(option.default))
        if setting is None:
            wanted = type_names[type(option.default)]
            raise self._refusal(
                mark("{label} takes {wanted} as its {name}."), wanted=wanted, name=option.name
            )
        if option.choices and setting not in option.choices:
            plainly = {normalized(choice): choice for choice in option.choices}
            setting = plainly.get(normalized(str(setting)))
            if setting is None:
                raise self._refusal(
                    mark("{label} knows no {name} '{str}'; it knows {filter}."),
                    name=option.name,
                    str=one_line(str(value)),
                    filter=", ".join(filter(None, option.choices)),
                )
        return setting

    def _items(self, port: Port, value: object, waits_for: Sequence[int]) -> Iterator[Item]:
        for part in value if isinstance(value, list) else [value]:
            for item in self._item(port, _unwrap(part), waits_for):
                yield self._fitting(port, item)

    def _item(self, port: Port, value: object, waits_for: Sequence[int]) -> list[Item]:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            if value is None:
                return []
            raise self._refusal(
                mark("{label} takes as its {name} a text, a name or <GENERATED>-id."),
                name=port.name,
            )
        text = encodable(str(value)).strip()
        numbering, named = self._known.numbering, self._known.named
        if (ids := numbering.references(text)) is not None:
            meant = self._not_own(port, ids) if self._id in ids else ids
            return [Ref(id) for id in meant or self._unnamed_result(port, waits_for)]
        if artifact := named.find(text, port.kinds):
            return [artifact]
        listed = [named.find(part, port.kinds) for part in text.split(",")]
        if all(listed):
            return [item for item in listed if item]
        if numbering.mentions(text):
            return self._within(port, text)
        if port.name not in inputs.WISHES and (pointed := self._pointed_at(port, value, text)):
            return [pointed]
        if Kind.TEXT in port.kinds and not (_a_file.fullmatch(text) and kind_of_name(text)):
            return [encodable(str(value))] if text else []
        if text.casefold() in _nothing:
            return []
        there = ", ".join(f"'{name}'" for name in named.listed(port.kinds)[:MAX_NAMES])
        others = f"; there is {there}" if there else ", nor any other that it takes"
        raise self._refusal(
            mark("{label}: no file '{text}' was given for its {name}{others}."),
            text=one_line(text),
            name=port.name,
            others=others,
        )

    def _not_own(self, port: Port, ids: Sequence[int]) -> Sequence[int]:
        """Return the nearest earlier result in place of the task's own, which an LLM that counts
        from 1 means. The ids stay as they are if there is none, and are refused as a circle."""
        earlier = [
            id for id in self._known.types if id < self._id and self._gives(id) & set(port.kinds)
        ]
        return [max(earlier) if id == self._id else id for id in ids] if earlier else ids

    def _unnamed_result(self, port: Port, waits_for: Sequence[int]) -> Sequence[int]:
        """Return whose result it is if an LLM wrote <GENERATED> alone."""
        others = waits_for or [id for id in self._known.types if id != self._id]
        fitting = [id for id in others if self._gives(id) & set(port.kinds)]
        if len(fitting) != 1:
            raise self._refusal(
                mark("{label} must say whose result its {name} is: <GENERATED>-id."), name=port.name
            )
        return fitting

    def _within(self, port: Port, text: str) -> list[Item]:
        """Return the results that a longer text refers to, if the rest of it says nothing more."""
        ids, says_more = self._known.numbering.within(text)
        if not ids or (says_more and Kind.TEXT in port.kinds):
            raise self._refusal(
                mark(
                    "{label} mixes a result with other words in its {name}; "
                    "write <GENERATED>-id alone, or the words alone."
                ),
                name=port.name,
            )
        return [Ref(id) for id in ids]

    def _fitting(self, port: Port, item: Item) -> Item:
        """Return the item, or its conversion if its kind does not fit. Raises PlanError if there is
        none, or if the port takes what the user wants rather than what to work on."""
        maker = self._known.types.get(item.task_id) if isinstance(item, Ref) else None
        given = (item.kind,) if isinstance(item, Artifact) else maker.gives if maker else ()
        if not given or set(given) & set(port.kinds):
            return item
        way = inputs.find_route(given, port.kinds, self._known.inventory)
        if way and port.name not in inputs.WISHES:
            return self._known.convert(item, way)
        names = ", then ".join(task_type.name for task_type in way or ())
        raise PlanError(
            f"{self._label} takes {' or '.join(port.kinds)} as its {port.name}, not "
            f"{' or '.join(given)}{f'; first use {names}' if names else ''}."
        )

    def _pointed_at(self, port: Port, value: object, text: str) -> Item | None:
        """Return the result or file that a number, or words such as "the audio" or "text of
        clip.mp4", stand for in place of a text; None if they are a text themselves."""
        types, named = self._known.types, self._known.named
        if isinstance(value, int):
            return Ref(value) if value in types and value != self._id else None
        files = [artifact for name, artifact in named if name.casefold() in text.casefold()]
        for name, _ in named:
            text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
        if self._known.numbering.within(text)[1]:
            return None
        earlier: list[Item] = [Ref(id) for id in sorted(types, reverse=True) if id < self._id]
        only: Sequence[Item] = named.attached if len(named.attached) == 1 else ()
        for item in (*earlier, *files, *only):
            with suppress(PlanError):
                return self._fitting(port, item)
        return None

    def _gives(self, task_id: int) -> frozenset[Kind]:
        """Return the kinds that another task of the plan gives."""
        return frozenset(self._known.types[task_id].gives if task_id != self._id else ())


def _by_kind(key: str, left: Sequence[Port | TaskOption]) -> Port | None:
    """Return the only port left that takes the kind a name mentions: "image_path"."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).lower())
    kinds = {_kind_of_word[word] for word in words if word in _kind_of_word}
    fitting = [item for item in left if isinstance(item, Port) and kinds & set(item.kinds)]
    return fitting[0] if len(fitting) == 1 else None


def _only(left: Sequence[Port | TaskOption]) -> Port | TaskOption | None:
    """Return the only input that is still missing, or the only place left at all."""
    missing = [item for item in left if isinstance(item, Port) and item.required]
    among = missing or left
    return among[0] if len(among) == 1 else None


def _unwrap(value: object) -> object:
    """Return the inner value of {"text": "..."} or {"task_id": 0}."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    (key, inner), *_ = value.items()
    if normalized(str(key)) in ("ref", "task", "taskid", "id", "generated", "from", "node"):
        return inner if StepNumbering.mentions(str(inner)) else f"<GENERATED>-{inner}"
    return inner


def _convert(value: object, wanted: type) -> Value | None:
    """Return the value as that type; None if it cannot be meant so."""
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


NAME_SIMILARITY = 0.9
"""How similar two task names must be for one to be a misspelling of the other, 0 to 1."""
STEM_LETTERS = 6
"""Letters that two single words must share for one to be a form of the other."""


def build_plan(
    steps: Sequence[WrittenStep],
    inventory: Sequence[TaskType],
    named: NamedArtifacts,
    *,
    finished: Sequence[Task] = (),
) -> Plan:
    """Build the plan over these task types, with no files but the `named` ones.

    A list for an input that takes one item makes one task per item. `finished` tasks stay as they
    are, whether or not they were written again. Raises PlanError.
    """
    new = [step for step in steps if not _is_among(finished, step)]
    numbering = StepNumbering(new, [task.id for task in finished])
    types = [_type_called(step.name, inventory) for step in new]
    by_id = dict(zip(numbering.ids, types, strict=True)) | {task.id: task.type for task in finished}
    known = PlanScope(by_id, numbering, named, inventory)
    drafts: dict[int, _DraftTask] = {}
    for number, step in zip(numbering.ids, new, strict=True):
        args = ArgumentReader(number, known).read(step.args, _waits_for(step.dep, numbering, by_id))
        drafts |= {draft.id: draft for draft in known.conversions.values()}
        drafts[number] = _DraftTask(number, by_id[number], args, step.wanted)
    first_free = max([*by_id, *drafts], default=0) + 1
    return Plan((*finished, *_expand_drafts([*drafts.values()], first_free=first_free)))


@dataclass(frozen=True, slots=True)
class _DraftTask:
    """A task whose inputs are all lists."""

    id: int
    type: TaskType
    args: Mapping[str, Value | tuple[Item, ...]]
    wanted: bool

    @property
    def waits_for(self) -> set[int]:
        given = (item for arg in self.args.values() if isinstance(arg, tuple) for item in arg)
        return {item.task_id for item in given if isinstance(item, Ref)}


def _type_called(name: str, inventory: Sequence[TaskType]) -> TaskType:
    """Return the task type of that name, however it is spelled. Raises PlanError."""
    by_name = {normalized(item.name): item for item in inventory}
    word = normalized(name[:100])
    if word in by_name:
        return by_name[word]
    close = get_close_matches(word, by_name, n=3, cutoff=NAME_SIMILARITY)
    stem = [item for item in by_name.values() if _is_form_of(name, item.name)]
    if len(close) == 1 or len(stem) == 1:
        return by_name[close[0]] if close else stem[0]
    like = [by_name[item].name for item in get_close_matches(word, by_name, n=3, cutoff=0.5)]
    hint = f"; there is {', '.join(like)}" if like else ""
    raise PlanError(
        tr("There is no task called '{name}'{hint}.", name=one_line(name, limit=40), hint=hint)
    )


def _is_form_of(word: str, name: str) -> bool:
    """Return whether two single words have one stem: "summarize", "summarization"."""
    word = word.strip().lower()
    single = word.isalpha() and name.isalpha() and len(word) >= STEM_LETTERS
    return single and word[:STEM_LETTERS] == name[:STEM_LETTERS]


def _is_among(finished: Sequence[Task], step: WrittenStep) -> bool:
    """Return whether a step is a finished task. Raises PlanError if it takes the id of one."""
    for task in finished:
        if whole_number(step.id) == task.id:
            if normalized(step.name) != normalized(task.type.name):
                raise PlanError(
                    tr(
                        "Task {id} is done already, as {name}; give new tasks new ids.",
                        id=task.id,
                        name=task.type.name,
                    )
                )
            return True
    return False


def _waits_for(dep: object, numbering: StepNumbering, there: Container[int]) -> list[int]:
    """Return the existing tasks that `dep` names; -1, and anything else, names none."""
    numbers = re.findall(r"(?<![-\d])\d{1,9}(?!\d)", str(dep)[:1000])
    ids = (numbering.task(int(number)) for number in numbers)
    return [number for number in dict.fromkeys(ids) if number in there]


def _expand_drafts(drafts: Sequence[_DraftTask], *, first_free: int) -> list[Task]:
    """Return the tasks of the drafts, in order; a list for a single input makes several tasks."""
    by_id = {draft.id: draft for draft in drafts}
    graph = {draft.id: draft.waits_for & by_id.keys() for draft in drafts}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        ring = " → ".join(str(node) for node in error.args[1])
        raise PlanError(tr("Tasks of the plan wait for each other: {ring}.", ring=ring)) from error
    tasks: dict[int, list[Task]] = {}
    fresh = itertools.count(first_free)
    for number in order:
        draft = by_id[number]
        copies = {id: [task.id for task in made] for id, made in tasks.items()}
        tasks[number] = [
            Task(next(fresh) if at else number, draft.type, args, draft.wanted)
            for at, args in enumerate(_argument_sets(draft, copies))
        ]
        if sum(map(len, tasks.values())) > MAX_TASKS:
            raise PlanError(TOO_MANY_TASKS)
    return [task for draft in drafts for task in tasks[draft.id]]


def _argument_sets(draft: _DraftTask, copies: Mapping[int, Sequence[int]]) -> list[dict[str, Arg]]:
    """Return the arguments of each task that a draft stands for. Lists of one length are paired,
    others combined. `copies` maps each draft to the tasks made of it."""
    choices: dict[str, list[Arg]] = {}
    for name, arg in draft.args.items():
        port = draft.type.port(name)
        if not isinstance(arg, tuple):
            choices[name] = [arg]
        elif port and port.many and len(items := _expand_refs(arg, copies)) > 1:
            choices[name] = [tuple(items)]
        else:
            choices[name] = list(_expand_refs(arg, copies))
    lengths = {len(choice) for choice in choices.values()} - {1}
    if len(lengths) == 1:
        (longest,) = lengths
        even = (choice * (longest // len(choice)) for choice in choices.values())
        return [dict(zip(choices, pair, strict=True)) for pair in zip(*even, strict=True)]
    if math.prod(map(len, choices.values())) > MAX_TASKS:
        raise PlanError(TOO_MANY_TASKS)
    combinations = itertools.product(*choices.values())
    return [dict(zip(choices, combination, strict=True)) for combination in combinations]


def _expand_refs(items: Sequence[Item], copies: Mapping[int, Sequence[int]]) -> list[Item]:
    spread: list[Item] = []
    for item in items:
        ids = copies.get(item.task_id, [item.task_id]) if isinstance(item, Ref) else []
        spread += [Ref(id) for id in ids] if isinstance(item, Ref) else [item]
    return spread
