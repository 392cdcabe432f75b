"""The catalogue of experts: the shipped list (models/experts/*.toml), what is installed, the Hub,
search, and how well an expert fits this computer.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.placement import (
    MB,
    NOTHING_MEASURED,
    Hardware,
    Measured,
    fallback_places,
    limits,
    places,
    required_memory,
)
from jarvis_desktop.experts import expert_words
from jarvis_desktop.experts.hub import experts as hub_experts
from jarvis_desktop.experts.hub.database import checked
from jarvis_desktop.experts.hub.entry import HubEntry, HubQuery
from jarvis_desktop.experts.hub.experts import HubOffers
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.tasks.definition import Definition

READING_TASKS = frozenset(
    {"image-to-text", "document-question-answering", "table-question-answering"}
)
"""Tasks that report what is printed somewhere: the built-in way may fail, but an LLM may invent."""


def for_recogniser(expert: Expert) -> bool:
    """Whether an expert has CTranslate2 weights, which the application's recogniser runs."""
    return expert.task == "automatic-speech-recognition" and "model.bin" in expert.files


class ShippedCatalogue:
    """The shipped list, the built-in methods, the installed experts and the Hub.

    `runnable` says whether the local backend can run an expert, `prompted` whether an LLM can do a
    task. `served` says whether another component loads an expert, such as the recogniser: it can be
    downloaded but is never a candidate.
    """

    def __init__(
        self,
        experts: Sequence[Expert],
        definitions: Mapping[str, Definition],
        *,
        weights: Weights,
        runnable: Callable[[Expert], bool],
        prompted: Callable[[str, LLM], bool] = lambda task, llm: False,
        by_api: Callable[[Expert], Sequence[Candidate]] = lambda expert: (),
        by_tool: Callable[[str], Sequence[Candidate]] = lambda task: (),
        by_machine: Callable[[str], Sequence[Candidate]] = lambda task: (),
        by_address: Callable[[str], Sequence[Candidate]] = lambda task: (),
        served: Callable[[Expert], bool] = for_recogniser,
        hub: HubOffers | None = None,
    ) -> None:
        self.experts = tuple(experts)
        self._hub = hub
        self._definitions = definitions
        self._weights = weights
        self._runnable = runnable
        self._prompted = prompted
        self._by_api = by_api
        self._by_tool = by_tool
        self._by_machine = by_machine
        self._by_address = by_address
        self._served = served
        self._with_experts = {name for name in definitions if hub_experts.tasks_of(name)}
        """Tasks that an expert may do; the others have a built-in way alone."""
        for expert in self.experts:
            self._with_experts |= {expert.task, *expert.also}

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Return the server that the user set for it, installed experts, largest first, then those
        of own machines and of an API, then the built-in way."""
        found = [*self._by_address(task)]
        found += self._experts_for(task) if task in self._with_experts else []
        definition = self._definitions.get(task)
        if definition and definition.skill:
            found.append(Candidate(Expert(f"skill/{task}", task, definition.note), "skill"))
        if definition and definition.method:
            found.append(Candidate(Expert(f"builtin/{task}", task, definition.note), "builtin"))
        return (*found, *self._by_tool(task))

    def _experts_for(self, task: str) -> list[Candidate]:
        installed = [
            expert
            for expert in (*self._of(task), *self._fetched(task))
            if not self._served(expert)
            and self._runnable(expert)
            and self._weights.folder(expert) is not None
        ]
        installed.sort(key=lambda expert: -expert.download_mb)
        found = [Candidate(expert, "local", heavy=True) for expert in installed]
        found += self._by_machine(task)
        return found + [item for expert in self._behind_api(task) for item in self._by_api(expert)]

    def by_llm(self, task: str, llm: LLM) -> Candidate | None:
        """Return the LLM itself as a candidate if there is a good prompt for the task.

        It is not heavy, since it is loaded for planning anyway.
        """
        definition = self._definitions.get(task)
        if definition is None or not self._prompted(task, llm):
            return None
        expert = Expert(
            llm.name, task, tr("The LLM itself: {purpose}", purpose=tr(definition.type.summary))
        )
        spare = task in READING_TASKS and definition.method is not None
        return Candidate(expert, "llm", remote=llm.remote, spare=spare)

    def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
        """Return experts that could be downloaded and would run here, smallest first.

        Besides the shipped ones, these are the Hub's best few for the request.
        """
        best = self._hub.best(task, request) if self._hub else ()
        listed = {expert.repo.casefold() for expert in self.experts}
        found = [*self._of(task), *(each for each in best if each.repo.casefold() not in listed)]
        return tuple(
            expert
            for expert in sorted(found, key=lambda expert: expert.download_mb)
            if self.can_run(expert) and self._weights.folder(expert) is None
        )

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Return experts of the task that cannot run here yet, smallest first."""
        return tuple(
            expert
            for expert in self._of(task)
            if not self.can_run(expert) and not expert.only_served
        )

    def can_run(self, expert: Expert) -> bool:
        """Whether the expert would run here once it is downloaded."""
        return not expert.only_served and (self._served(expert) or self._runnable(expert))

    def find(self, name: str) -> Expert:
        """Return the expert with that name or repository. Raises InputError with similar names."""
        for expert in self.known():
            if name.casefold() in (expert.id.casefold(), expert.repo.casefold()):
                return expert
        if self._hub and (entry := self._hub.named(name)):
            return self._of_hub(entry)
        names = [expert.id for expert in self.experts]
        near = difflib.get_close_matches(name.casefold(), names, n=3)
        raise InputError(
            tr("There is no expert {name} in the catalogue.", name=name),
            hint=tr("Did you mean {near}?", near=" or ".join(near))
            if near
            else tr("See them with: jarvis-desktop experts list."),
        )

    def warm(self) -> None:
        """Open the index of the Hub, which may take a moment; callable from any thread."""
        if self._hub:
            self._hub.warm(self._definitions)

    def known(self) -> tuple[Expert, ...]:
        """Return the shipped list with the Hub's latest facts."""
        return tuple(self._checked(expert) for expert in self.experts)

    def complaint(self, expert: Expert) -> str:
        """Describe what happened to a shipped expert on the Hub; "" if it is there."""
        check = self._hub.check(expert.repo) if self._hub else None
        return check.complaint if check else ""

    def _checked(self, expert: Expert) -> Expert:
        return checked(expert, self._hub.check(expert.repo)) if self._hub else expert

    def _fetched(self, task: str) -> Iterator[Expert]:
        """Installed experts of the Hub that are not on the shipped list."""
        if self._hub is None or not hub_experts.tasks_of(task):
            return
        shipped = {expert.id for expert in self.experts}
        for item in self._weights.installed():
            entry = None if item.id in shipped else self._hub.named(item.id)
            if entry and entry.task in hub_experts.tasks_of(task):
                expert = hub_experts.expert_of(entry, task)
                if expert:
                    yield expert

    def _of_hub(self, entry: HubEntry) -> Expert:
        """An entry of the index as an expert. Raises InputError with the reason against it."""
        tasks = [name for name in self._definitions if entry.task in hub_experts.tasks_of(name)]
        tasks.sort(key=lambda name: name != entry.task)
        expert = hub_experts.expert_of(entry, tasks[0]) if tasks else None
        if expert is None:
            raise InputError(
                tr(
                    "{repo} cannot be used: {reason}.",
                    repo=entry.repo,
                    reason=hub_experts.reason_against(entry),
                ),
                hint=tr("Look for another one: jarvis-desktop experts search."),
            )
        return expert

    def _behind_api(self, task: str) -> list[Expert]:
        """Experts that a provider runs: of the shipped list, and the Hub's best few."""
        listed = {expert.repo.casefold() for expert in self.experts}
        best = self._hub.served(task) if self._hub else ()
        others = [each for each in best if each.repo.casefold() not in listed]
        return [each for each in (*self._of(task), *others) if each.providers]

    def _of(self, task: str) -> list[Expert]:
        found = (
            replace(self._checked(expert), task=task)
            for expert in self.experts
            if task in (expert.task, *expert.also)
        )
        return sorted(found, key=lambda expert: expert.download_mb)


Handle = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
Repo = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")]
Commit = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40})?$")]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ExpertBlock(BaseModel):
    """One [[expert]] block of a file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Handle
    repo: Repo
    task: Handle
    summary: Words
    download_mb: int = Field(default=0, ge=0)
    memory_mb: int = Field(default=0, ge=0)
    memory_half_mb: int = Field(default=0, ge=0)
    licence: Words
    languages: list[str] = Field(default_factory=list)
    revision: Commit = ""
    files: list[Words] = Field(default_factory=list)
    verified: bool = False
    gated: bool = False
    downloads: int = Field(default=0, ge=0)
    likes: int = Field(default=0, ge=0)
    also: list[Handle] = Field(default_factory=list)
    base: str = ""
    providers: list[Words] = Field(default_factory=list)
    pickled: bool = False
    speed: float = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> ExpertBlock:
        """Require files with sizes, or else providers."""
        sizes = self.download_mb, self.memory_mb
        if self.files and not all(sizes):
            raise ValueError("download_mb and memory_mb are wanted where there are files")
        if not self.files and (not self.providers or any(sizes) or self.base):
            raise ValueError("files are wanted, or else providers and neither sizes nor a base")
        return self


class ExpertFile(BaseModel):
    """A whole file."""

    model_config = ConfigDict(extra="forbid")

    expert: list[ExpertBlock]


def load(folder: Path) -> tuple[Expert, ...]:
    """Read the experts of all files in a folder. Raises JarvisError naming file and key."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise JarvisError(
            tr("The catalogue of experts is missing: {folder} holds none.", folder=folder)
        )
    blocks: dict[str, ExpertBlock] = {}
    for path in paths:
        for block in _blocks(path):
            if block.name in blocks:
                raise _wrong(path, f"name: {block.name} is twice")
            if block.verified and not block.revision:
                raise _wrong(path, f"revision: {block.name} is verified, but names no commit")
            blocks[block.name] = block
    for block in blocks.values():
        base = blocks.get(block.base)
        if block.base and (base is None or base.base):
            raise _wrong(folder, f"base: {block.name} is built upon {block.base}, which cannot be")
    return tuple(_expert(block, blocks) for block in blocks.values())


def _blocks(path: Path) -> list[ExpertBlock]:
    try:
        return ExpertFile.model_validate(tomllib.loads(path.read_text("utf-8"))).expert
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise JarvisError(
            tr("The catalogue {name} cannot be read: {error}.", name=path.name, error=error)
        ) from error
    except ValidationError as error:
        raise _wrong(path, _where(error)) from error


def _wrong(path: Path, where: str) -> JarvisError:
    return JarvisError(tr("The catalogue {name} is wrong at {where}.", name=path.name, where=where))


def _expert(block: ExpertBlock, blocks: Mapping[str, ExpertBlock]) -> Expert:
    fields = block.model_dump(exclude={"name", "base"})
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    base = _expert(blocks[block.base], blocks) if block.base else None
    return Expert(**{**fields, **lists, "id": block.name, "base": base})


def _where(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    keys = [
        f"expert {part + 1}" if isinstance(part, int) else part
        for part in first["loc"]
        if part != "expert"
    ]
    return f"{', '.join(keys) or 'its beginning'}: {first['msg'].lower()}"


SLOW_ABOVE_BYTES = 6_000 * MB
"""Bytes; what takes more is slow on processors."""


class FitLevel(StrEnum):
    """From the best fit to none."""

    CARD = "card"
    """Entirely on the graphics card."""
    MEMORY = "memory"
    """In main memory."""
    SLOWLY = "slowly"
    """It runs, but the user has to wait."""
    NO = "no"
    SERVED = "served"
    """A provider runs it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fit:
    """How well an expert fits the hardware: what it needs, and what is available, in bytes."""

    level: FitLevel
    need: int = 0
    room: int = 0

    @property
    def runs(self) -> bool | None:
        """Whether it has room here; None if not known."""
        if self.level in (FitLevel.SERVED, FitLevel.UNKNOWN):
            return None
        return self.level is not FitLevel.NO


def fit(
    expert: Expert,
    hardware: Hardware,
    *,
    budget: int = 0,
    measured: Measured = NOTHING_MEASURED,
    by_parts: bool = False,
) -> Fit:
    """Determine how well an expert fits; `by_parts` says whether its weights may be offloaded."""
    if expert.only_served:
        return Fit(FitLevel.SERVED)
    if required_memory(expert, fallback_places(None)[0], measured).main == 0:
        return Fit(FitLevel.UNKNOWN)
    limit = limits(hardware, budget)
    found = places(expert, hardware, limit, measured=measured, offloads=by_parts)
    if not found:
        smallest = min(
            required_memory(expert, place, measured).main for place in fallback_places(None)
        )
        return Fit(FitLevel.NO, smallest, limit.main)
    best = found[0]
    takes = required_memory(expert, best, measured)
    if best.device != "cpu" and not best.offload:
        return Fit(FitLevel.CARD, takes.graphics, limit.graphics)
    slow = best.half or best.offload or takes.main > SLOW_ABOVE_BYTES
    return Fit(FitLevel.SLOWLY if slow else FitLevel.MEMORY, takes.main, limit.main)


@dataclass(frozen=True, slots=True)
class ExpertQuery:
    """Search criteria; unset ones match everything."""

    words: str = ""
    task: str = ""
    pipelines: tuple[str, ...] = ()
    """The Hub's names for the task; with a task and none of them, only the shipped list is
    searched."""
    licence: str = ""
    """A pattern, such as "cc-by-*"."""
    max_mb: int = 0
    language: str = ""
    fits: bool = False
    """Whether it must have room here."""
    limit: int = 20


@dataclass(frozen=True, slots=True)
class ExpertHit:
    """An expert that a search found."""

    expert: Expert
    shipped: bool
    installed: bool
    runs: tuple[str, ...]
    """Where it runs: "here", "api"."""
    fit: Fit


NEARNESS = {True: 0, None: 1, False: 2}
"""Of experts that match alike, those come first that run here."""


@dataclass(eq=False)
class ExpertSearch:
    """Searches the shipped list and the index of the Hub; callable from any thread.

    `fit` says how well an expert fits this computer. Those of the Hub must need at most `memory_mb`
    to count as fitting.
    """

    catalogue: ShippedCatalogue
    hub: HubIndex
    _: KW_ONLY
    fit: Callable[[Expert], Fit]
    memory_mb: float
    here: Collection[str]

    def __call__(self, sought: ExpertQuery) -> list[ExpertHit]:
        """Return matching shipped experts, then those of the Hub, best first."""
        known = self.catalogue.known()
        listed = {each: self._hit(each, shipped=True) for each in known if _meets(each, sought)}
        near = sorted(listed, key=lambda each: NEARNESS[listed[each].fit.runs])
        hits = [listed[each] for each in expert_words.find(sought.words, near)]
        repos = {each.repo.casefold() for each in known}
        hits += [
            self._hit(expert, shipped=False)
            for expert in self._of_hub(sought)
            if expert.repo.casefold() not in repos
        ]
        if sought.fits:
            hits = [each for each in hits if each.fit.runs]
        return hits[: sought.limit]

    def _of_hub(self, sought: ExpertQuery) -> Sequence[Expert]:
        if sought.task and not sought.pipelines:
            return ()
        found = self.hub.search(
            HubQuery(
                tasks=sought.pipelines,
                words=sought.words,
                allowed_licences=(sought.licence or "*",),
                size_mb=sought.max_mb,
                language=sought.language,
                memory_mb=self.memory_mb if sought.fits else 0,
                limit=sought.limit,
            )
        )
        return [hub_experts.described(each.entry) for each in found]

    def _hit(self, expert: Expert, *, shipped: bool) -> ExpertHit:
        runs = []
        if expert.files and self.catalogue.can_run(expert):
            runs.append("here")
        if expert.providers:
            runs.append("api")
        here = expert.id in self.here
        return ExpertHit(expert, shipped, here, tuple(runs), self.fit(expert))


def _meets(expert: Expert, sought: ExpertQuery) -> bool:
    """Whether an expert meets all criteria except words and fit."""
    licence = sought.licence.casefold() or "*"
    return (
        (not sought.task or sought.task in (expert.task, *expert.also))
        and fnmatchcase(expert.licence.casefold(), licence)
        and (not sought.max_mb or expert.download_mb <= sought.max_mb)
        and (not sought.language or bool({sought.language, "*"}.intersection(expert.languages)))
    )
