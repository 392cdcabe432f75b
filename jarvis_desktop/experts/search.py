"""Searches the shipped list of experts and, where its list was read, the whole Hub."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.catalogue import Fit, ShippedCatalogue
from jarvis_desktop.experts.hub import experts
from jarvis_desktop.experts.hub.entry import HubQuery
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.tasks.text.classification import NAMES
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem


@dataclass(frozen=True, slots=True)
class Sought:
    """A search. What is not set is not asked for."""

    words: str = ""
    task: str = ""
    """Of ours."""
    pipelines: tuple[str, ...] = ()
    """The Hub's names for it; with a task and none of them, only the shipped list is searched."""
    licence: str = ""
    """A pattern, such as "cc-by-*"."""
    max_mb: int = 0
    language: str = ""
    fits: bool = False
    """Whether only what finds room here is wanted."""
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Hit:
    """An expert that was found."""

    expert: Expert
    shipped: bool
    installed: bool
    runs: tuple[str, ...]
    """Where it runs: "here", "api"."""
    fit: Fit


class Search:
    """May be used from any thread. `fit` says how well an expert fits this computer, in `memory_mb`
    of which one of the Hub must find room to be listed as fitting."""

    def __init__(
        self,
        catalogue: ShippedCatalogue,
        hub: HubIndex,
        *,
        fit: Callable[[Expert], Fit],
        memory_mb: float,
        here: Collection[str],
    ) -> None:
        self._catalogue = catalogue
        self._hub = hub
        self._fit = fit
        self._memory_mb = memory_mb
        self._here = here

    def __call__(self, sought: Sought) -> list[Hit]:
        """The shipped ones that match, then those of the Hub, best first."""
        known = self._catalogue.known()
        hits = [self._hit(each, shipped=True) for each in _best(known, sought)]
        repos = {each.repo.casefold() for each in known}
        hits += [
            self._hit(expert, shipped=False)
            for expert in self._of_hub(sought)
            if expert.repo.casefold() not in repos
        ]
        if sought.fits:
            hits = [each for each in hits if each.fit.runs]
        return hits[: sought.limit]

    def _of_hub(self, sought: Sought) -> Sequence[Expert]:
        if sought.task and not sought.pipelines:
            return ()
        found = self._hub.search(
            HubQuery(
                tasks=sought.pipelines,
                words=sought.words,
                allowed_licences=(sought.licence or "*",),
                size_mb=sought.max_mb,
                language=sought.language,
                memory_mb=self._memory_mb if sought.fits else 0,
                limit=sought.limit,
            )
        )
        return [experts.described(each.entry) for each in found]

    def _hit(self, expert: Expert, *, shipped: bool) -> Hit:
        runs = []
        if expert.files and self._catalogue.can_run(expert):
            runs.append("here")
        if expert.providers:
            runs.append("api")
        here = expert.id in self._here
        return Hit(expert, shipped, here, tuple(runs), self._fit(expert))


def _best(known: Sequence[Expert], sought: Sought) -> Sequence[Expert]:
    """Those of the shipped list that have all words; where none has, those with most of them."""
    words = [word for word in sought.words.casefold().split() if word not in FUNCTION_WORDS]
    having = [
        (expert, sum(_has(text, word) for word in words))
        for expert in known
        if _meets(expert, sought)
        for text in (_text(expert),)
    ]
    most = max((count for _, count in having), default=0)
    if 2 * most < len(words):
        return ()
    return [expert for expert, count in having if count == most]


def _has(text: str, word: str) -> bool:
    """Whether the word, or what others like it begin with, is in the text."""
    return word in text or (len(short := stem(word)) > 3 and short in text)


def _text(expert: Expert) -> str:
    spoken = " ".join(NAMES.get(code, "") for code in expert.languages)
    task = expert.task.replace("-", " ")
    return f"{expert.id} {expert.repo} {expert.task} {task} {spoken} {expert.summary}".casefold()


def _meets(expert: Expert, sought: Sought) -> bool:
    """Whether it has everything that is asked for but the words, and the room."""
    licence = sought.licence.casefold() or "*"
    return (
        (not sought.task or sought.task in (expert.task, *expert.also))
        and fnmatchcase(expert.licence.casefold(), licence)
        and (not sought.max_mb or expert.download_mb <= sought.max_mb)
        and (not sought.language or bool({sought.language, "*"}.intersection(expert.languages)))
    )
