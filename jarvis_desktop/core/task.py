"""Task types, the tasks of a plan, and calls of experts, which are tasks with resolved inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr

type_names = {
    bool: mark("yes or no"),
    int: mark("a whole number"),
    float: mark("a number"),
    str: mark("text"),
}

Value = str | int | float | bool

PROMPT = "prompt"
"""The port for a wish in words."""


def as_words(name: str) -> str:
    """Return an identifier as words. `tr` knows them: packaging/translations.py collects them."""
    return name.replace("-", " ").replace("_", " ")


@dataclass(frozen=True, slots=True)
class Port:
    """One input of a task: the kinds it takes, and whether it takes several at once."""

    name: str
    kinds: tuple[Kind, ...]
    required: bool = True
    many: bool = False
    through: str = ""
    """The task whose results it takes: other inputs of its kinds go through that task first."""
    known_as: tuple[str, ...] = ()
    """Words for an input that already is such a result: "this scribble"."""


@dataclass(frozen=True, slots=True)
class TaskOption:
    """One setting of a task, such as the number of sentences; it has the type of its default."""

    name: str
    summary: str
    default: Value
    choices: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    """Words that follow its number in a request, such as "sentence*" or "degrees"."""
    reads: str = ""
    """For a text: the planner's reader that finds its words in a request."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A phrase that requests the task with certain options: "upside down" is rotate by 180."""

    phrase: str
    options: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class TaskType:
    """A kind of task, under its Hub pipeline name if it has one.

    `gives` lists the kinds of its results, the main one first. `cues` are lower-case words and
    phrases with which users ask for it: `*` stands for any ending, `...` for a few words between,
    `#` for a number and `@` for an arithmetic sign; `^` is the beginning of the request or of a
    clause and `$` its end. "The picture" also matches a picture that is named by its
    file, and so with the recording, the table and the video.
    """

    name: str
    summary: str
    ports: tuple[Port, ...]
    gives: tuple[Kind, ...]
    options: tuple[TaskOption, ...] = ()
    cues: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()
    exact: str = ""
    """The option whose value the built-in method follows exactly.

    If it is empty and there is a prompt, the wish is free and needs an expert.
    """
    acts: bool = False
    """Whether it has effects outside the artifact store, so that it is not repeated without
    asking."""
    guarded: bool = False
    """Whether it has effects outside JARVIS or cannot be undone, so that its plans need a
    review."""
    label: str = ""
    """What a person calls a step of this kind, as an order: "Transcribe"."""
    server: str = ""
    """The MCP server whose tool it is; "" if it is a task of the application."""
    reads: Callable[[str], Mapping[str, Value] | None] | None = None
    """Returns the options that a part of a request, in lower case, gives if it is as a whole
    something for this task, else None: for what phrases cannot list, such as a sum."""
    hears: Callable[[str], object] | None = field(default=None, compare=False)
    """Returns what the task takes from words of a request that it gets as they were said. Words
    that change nothing in that are not part of its wish."""

    def __hash__(self) -> int:
        # A planner looks things up by all task types, which have thousands of cues.
        return hash(self.name)

    @property
    def title(self) -> str:
        """The name as English words, for planners: "image-to-text" is "image to text"."""
        return as_words(self.name)

    @property
    def called(self) -> str:
        """The label in the user's language."""
        words = tr(self.label or self.title)
        return words[:1].upper() + words[1:]

    def port(self, name: str) -> Port | None:
        """Return the port of that name, or None."""
        return next((port for port in self.ports if port.name == name), None)

    def option(self, name: str) -> TaskOption | None:
        """Return the option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for the result of another task of the same plan."""

    task_id: int


Item = Artifact | Ref | Value
Arg = Item | tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One step of a plan. Its dependencies follow from the Refs in its args."""

    id: int
    type: TaskType
    args: Mapping[str, Arg] = field(default_factory=dict)
    wanted: bool = False
    """Whether its result belongs in the answer even if another task uses it."""
    expert: str = ""
    """The expert that the user chose: its id, or its `Candidate.kept_as` if the provider matters.

    "" leaves the choice to JARVIS.
    """

    def items(self) -> Iterator[tuple[str, Item]]:
        """Yield each (argument name, single value), with lists flattened."""
        for name, arg in self.args.items():
            for item in arg if isinstance(arg, tuple) else (arg,):
                yield name, item

    def map_items(self, change: Callable[[str, Item], Item]) -> Task:
        """Return the task with `change(name, item)` in place of each single value."""
        args: dict[str, Arg] = {}
        for name, arg in self.args.items():
            if isinstance(arg, tuple):
                args[name] = tuple(change(name, item) for item in arg)
            else:
                args[name] = change(name, arg)
        return replace(self, args=args)

    def with_refs(self, ids: Mapping[int, int]) -> Task:
        """Return the task with its Refs pointing to new ids; a Ref that `ids` lacks stays."""

        def moved(name: str, item: Item) -> Item:
            return Ref(ids.get(item.task_id, item.task_id)) if isinstance(item, Ref) else item

        return self.map_items(moved)

    @property
    def is_exact(self) -> bool:
        """Whether the built-in method does exactly what is requested, without an expert."""
        return bool(self.type.exact and self.args.get(self.type.exact))

    @property
    def is_free(self) -> bool:
        """Whether it has a wish in words that the built-in method cannot read."""
        return bool(self.type.exact and self.args.get(PROMPT)) and not self.is_exact

    @property
    def depends_on(self) -> tuple[int, ...]:
        """Ids of the tasks whose results this one uses, each once, in order of appearance."""
        refs = (item.task_id for _, item in self.items() if isinstance(item, Ref))
        return tuple(dict.fromkeys(refs))


Report = Callable[[float | None, str], None]
"""Reports the progress of a call: a fraction from 0 to 1 (None if unknown) and a few words."""


def report_part(report: Report, at: int, count: int) -> None:
    """Report that part `at` of `count`, from 0, begins."""
    report(at / count, tr("Part {number} of {count}", number=at + 1, count=count))


@dataclass(frozen=True, slots=True)
class Call:
    """The input of an expert: per port the artifacts, per option its value."""

    task: str
    inputs: Mapping[str, tuple[Artifact, ...]]
    options: Mapping[str, Value]
    workdir: Path
    """An existing folder for the expert's files; removed after the call."""
    folder: Path | None = None
    """Where the user wants named results; no plan can set it."""
    seconds: float | None = None
    """The expected maximum duration for its expert; None if too little is known."""

    @property
    def size(self) -> int:
        """The amount of input: bytes of files plus characters of texts."""
        size = 0
        for items in self.inputs.values():
            for item in items:
                if item.path is not None and item.path.is_file():
                    size += item.path.stat().st_size
                size += len(item.text or "")
        return size

    def text(self, port: str) -> str:
        """Return the text of a port, several joined by blank lines; "" if there is none."""
        return "\n\n".join(item.text or "" for item in self.inputs.get(port, ()))

    def texts(self, port: str) -> tuple[str, ...]:
        """Return the texts of a port."""
        return tuple(item.text or "" for item in self.inputs.get(port, ()))

    def file(self, port: str) -> Path:
        """Return the path of a port's file. Raises InputError if there is none."""
        path = self.artifact(port).path
        assert path is not None
        return path

    def artifact(self, port: str) -> Artifact:
        """Return the file of a port. Raises InputError if there is none."""
        for item in self.inputs.get(port, ()):
            if item.path is not None:
                return item
        raise InputError(tr("{task} needs a file as its {port}.", task=self.task, port=port))

    def title(self, port: str) -> str:
        """Return the user's name for the input of a port."""
        return next((item.title for item in self.inputs.get(port, ())), port)

    def number(self, option: str) -> float:
        """Return a numeric option."""
        return float(self.options[option])

    def words(self, option: str) -> str:
        """Return a text option."""
        return str(self.options[option])
