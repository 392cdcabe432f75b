"""What can be asked for (TaskType) and one such thing asked for in a plan (Task).

One call of an expert: a task with its inputs resolved. Crosses process borders."""

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
"""The port for what is wished for in words."""


def as_words(name: str) -> str:
    """A name of the code as words; `packaging/translations.py` knows them all, so `tr` does too."""
    return name.replace("-", " ").replace("_", " ")


@dataclass(frozen=True, slots=True)
class Port:
    """One input of a task: the kinds it takes, and whether it takes several at once."""

    name: str
    kinds: tuple[Kind, ...]
    required: bool = True
    many: bool = False
    through: str = ""
    """The task whose results it takes: anything else of its kinds is brought through that first."""
    known_as: tuple[str, ...] = ()
    """Words by which people call what is already such a result: "this scribble"."""


@dataclass(frozen=True, slots=True)
class TaskOption:
    """One setting of a task, such as how many sentences; it has the type of its default."""

    name: str
    summary: str
    default: Value
    choices: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    """Words that stand behind its number in a request, such as "sentence*" or "degrees"."""
    reads: str = ""
    """For a text: which words of a request it takes, by the name of a reader of the planner."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A phrase that asks for the task with certain options: "upside down" is rotate by 180."""

    phrase: str
    options: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class TaskType:
    """A kind of task, by its Hub pipeline name where there is one.

    `gives` lists the kinds of its results, the main one first. `cues` are words and phrases by
    which people ask for it, lower case: `*` stands for any ending, `...` for a few words between,
    `#` for a number and `@` for a sign of arithmetic; `^` is the beginning of the request or of a
    clause and `$` the end of the request. "The picture" is also heard where one is named by its
    file, and so are the recording, the table and the video.
    """

    name: str
    summary: str
    ports: tuple[Port, ...]
    gives: tuple[Kind, ...]
    options: tuple[TaskOption, ...] = ()
    cues: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()
    exact: str = ""
    """The option that names a way the built-in method does exactly; where it is left open and
    there is a prompt, the wish is a free one, for an expert alone."""
    acts: bool = False
    """Whether it does something outside of the artifact store, so that one that was cut off is not
    done again without asking."""
    guarded: bool = False
    """Whether it does something outside of JARVIS, or something that cannot be taken back, so that
    no plan with it is a simple one."""

    @property
    def title(self) -> str:
        """The name as English words, for planners: "image-to-text" is "image to text"."""
        return as_words(self.name)

    @property
    def called(self) -> str:
        """The name as a person reads it."""
        return tr(self.title)

    def port(self, name: str) -> Port | None:
        """The port of that name, or None."""
        return next((port for port in self.ports if port.name == name), None)

    def option(self, name: str) -> TaskOption | None:
        """The option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for the result of another task of the same plan."""

    task_id: int


Item = Artifact | Ref | Value
Arg = Item | tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One step of a plan. What it depends on is read from the Refs in its args."""

    id: int
    type: TaskType
    args: Mapping[str, Arg] = field(default_factory=dict)
    wanted: bool = False
    """Whether its result belongs in the answer even where another task uses it."""
    expert: str = ""
    """Whom the person chose for it: the id of an expert, or its `Candidate.kept_as` where the
    provider matters too. "" leaves the choice to JARVIS."""

    def items(self) -> Iterator[tuple[str, Item]]:
        """Each (argument name, single value), lists taken apart."""
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
        """Whether the built-in way does just what is asked for, so that no expert need."""
        return bool(self.type.exact and self.args.get(self.type.exact))

    @property
    def is_free(self) -> bool:
        """Whether it wishes for something in words that the built-in way does not read."""
        return bool(self.type.exact and self.args.get(PROMPT)) and not self.is_exact

    @property
    def depends_on(self) -> tuple[int, ...]:
        """Ids of the tasks whose results this one takes, each once, in order of appearance."""
        refs = (item.task_id for _, item in self.items() if isinstance(item, Ref))
        return tuple(dict.fromkeys(refs))


Report = Callable[[float | None, str], None]
"""Tells how far a call is: a fraction from 0 to 1 (None where unknown) and a few words."""


@dataclass(frozen=True, slots=True)
class Call:
    """What an expert gets: per port the artifacts that arrived, per option its value."""

    task: str
    inputs: Mapping[str, tuple[Artifact, ...]]
    options: Mapping[str, Value]
    workdir: Path
    """An existing folder for the files the expert makes; swept when the call is over."""
    folder: Path | None = None
    """Where the person wants results with a name of their own; no plan can set it."""
    seconds: float | None = None
    """How long it may take by what is known of its expert; None where too little is known."""

    @property
    def size(self) -> int:
        """How much there is to work on: bytes of files, and characters of texts."""
        size = 0
        for items in self.inputs.values():
            for item in items:
                if item.path is not None and item.path.is_file():
                    size += item.path.stat().st_size
                size += len(item.text or "")
        return size

    def text(self, port: str) -> str:
        """The text that arrived at a port, several joined by blank lines; "" where none did."""
        return "\n\n".join(item.text or "" for item in self.inputs.get(port, ()))

    def texts(self, port: str) -> tuple[str, ...]:
        """The texts that arrived at a port."""
        return tuple(item.text or "" for item in self.inputs.get(port, ()))

    def file(self, port: str) -> Path:
        """Where the one file lies that arrived at a port. Raises InputError where there is none."""
        path = self.artifact(port).path
        assert path is not None
        return path

    def artifact(self, port: str) -> Artifact:
        """The one file that arrived at a port. Raises InputError where there is none."""
        for item in self.inputs.get(port, ()):
            if item.path is not None:
                return item
        raise InputError(tr("{task} needs a file as its {port}.", task=self.task, port=port))

    def title(self, port: str) -> str:
        """What a person calls the input of a port."""
        return next((item.title for item in self.inputs.get(port, ())), port)

    def number(self, option: str) -> float:
        """A numeric option."""
        return float(self.options[option])

    def words(self, option: str) -> str:
        """A text option."""
        return str(self.options[option])
