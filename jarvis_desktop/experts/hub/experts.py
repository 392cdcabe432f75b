"""Makes an expert of an entry of the index: what it is called, which files it needs, what it takes
of memory. Only what is loaded here without foreign code, and of known size, can be one.

What the catalogue takes from the index: experts to fetch for a task, and facts of its own.

How much there is to fetch of a repository, by its files as the Hub lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts import verification
from jarvis_desktop.experts.hub.database import RepositoryCheck, key_of
from jarvis_desktop.experts.hub.entry import (
    HALVES,
    LANGUAGES,
    UNFIT,
    HubEntry,
    HubQuery,
    count,
    is_repo,
    memory_half_mb,
    memory_mb,
)
from jarvis_desktop.experts.hub.index import HubIndex

PIPELINES = frozenset(
    """audio-classification audio-to-audio automatic-speech-recognition depth-estimation
    document-question-answering feature-extraction fill-mask image-classification
    image-segmentation image-text-to-text image-to-image image-to-text image-to-video
    mask-generation object-detection question-answering sentence-similarity summarization
    table-question-answering tabular-classification text-classification text-generation
    text-to-audio text-to-image text-to-speech text-to-video token-classification translation
    video-classification visual-question-answering zero-shot-classification
    zero-shot-image-classification zero-shot-object-detection""".split()
)
"""The Hub's tasks that are ours too, or stand for one of ours."""
OTHERWISE: Mapping[str, tuple[str, ...]] = {
    "image-editing": ("image-to-image",),
    "visual-question-answering": ("visual-question-answering", "image-text-to-text"),
}
"""Tasks of ours for which the Hub has another name, or a further one."""

FILES: Mapping[str, tuple[str, ...]] = {
    "transformers": (
        "*.json", "*.txt", "*.model", "*.spm", "*.jinja", "model*.safetensors",
    ),
    "diffusers": ("model_index.json", "*/*.json", "tokenizer*/*", "*/*.safetensors"),
}  # fmt: skip
"""What experts of each library need, usually."""
LONGEST = 64
_HANDLE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_PAIR = re.compile(r"-([a-z]{2,3})-([a-z]{2,3})$")


def tasks_of(task: str) -> tuple[str, ...]:
    """The Hub's names for a task; none where it has none."""
    return OTHERWISE.get(task) or ((task,) if task in PIPELINES else ())


def tasks_of_all(tasks: Iterable[str]) -> tuple[str, ...]:
    """Those of several tasks, each once."""
    return tuple(dict.fromkeys(name for task in tasks for name in tasks_of(task)))


def handle(repo: str) -> str:
    """A name for people and for a folder: "org--name" in small letters, and no other repository's.

    No id on the Hub has two hyphens in a row. What cannot be a name of ours is replaced, and part
    of a digest then keeps names apart.
    """
    plain = repo.replace("/", "--").lower()
    if len(plain) <= LONGEST and _HANDLE.fullmatch(plain) and not plain.endswith("."):
        return plain
    digest = _digits(repo)
    return re.sub(r"[^a-z0-9.-]", "-", plain)[: LONGEST - 9].rstrip(".-") + f"-{digest}"


def find(index: HubIndex, name: str) -> HubEntry | None:
    """The entry of a repository, by its id or by its handle."""
    if is_repo(name):
        return index.find(name)
    owner, two_hyphens, rest = name.lower().partition("--")
    if not two_hyphens:
        return None
    if found := index.find(f"{owner}/{rest}"):
        return found
    digest = name[-8:].lower()
    if not re.fullmatch(r"[0-9a-f]{8}", digest):
        return None
    first = int(digest, 16) << 32
    near = index.keyed(first, first + (1 << 32) - 1)
    return next((each for each in near if handle(each.repo) == name.lower()), None)


def expert_of(entry: HubEntry, task: str) -> Expert | None:
    """An expert for a task of ours; None where it could not be fetched and run."""
    languages = _languages(entry, task)
    if not (entry.runs and entry.sha and entry.weights_mb) or languages is None:
        return None
    return replace(
        _described(entry, task),
        languages=languages,
        files=files_of(entry),
        memory_mb=memory_mb(entry),
        memory_half_mb=memory_half_mb(entry),
    )


def files_of(entry: HubEntry) -> tuple[str, ...]:
    """Patterns of the files that are needed."""
    files = FILES[entry.library]
    if HALVES in entry.tags:
        return tuple(each.replace("*.safetensors", "*.fp16.safetensors") for each in files)
    return files


def reason_against(entry: HubEntry) -> str:
    """Why there is no expert of an entry, in a few words."""
    if entry.library not in FILES:
        library = f"by the library {entry.library}" if entry.library else "by an unnamed library"
        return f"it is loaded {library}"
    if not entry.runs:
        return "it needs code of its own, another library, or has no weights in the safe format"
    if not entry.weights_mb:
        return "the Hub does not say how large it is"
    return "it is not said what it translates" if entry.sha else "it has no commit"


def described(entry: HubEntry) -> Expert:
    """An entry as an expert to be shown, whether or not it runs here."""
    return expert_of(entry, entry.task) or _described(entry, entry.task)


def _described(entry: HubEntry, task: str) -> Expert:
    return Expert(
        id=handle(entry.repo),
        task=task,
        summary=summary(entry),
        revision=entry.sha,
        download_mb=entry.weights_mb,
        licence=entry.licence,
        languages=entry.languages,
        verified=True,
        repo=entry.repo,
        providers=entry.providers,
        gated=entry.gated,
        downloads=entry.downloads,
        likes=entry.likes,
    )


def summary(entry: HubEntry) -> str:
    """What it says of itself; else what it is tagged with."""
    if entry.summary:
        return entry.summary
    tags = [tag for tag in entry.tags if ":" not in tag]
    parts = [", ".join(tags)] if tags else []
    bases = [tag.partition(":")[2] for tag in entry.tags if tag.startswith("base_model:")]
    parts += [f"built upon {bases[0]}"] if bases else []
    return one_line("; ".join(parts) or entry.repo, limit=200)


def _languages(entry: HubEntry, task: str) -> tuple[str, ...] | None:
    """As an expert has them: one that it understands, or from and into; None where unclear."""
    if task != "translation" or "*" in entry.languages:
        # Two would say that it translates. What understands some is not held to one of them.
        return entry.languages if len(entry.languages) == 1 else ()
    pair = _PAIR.search(entry.repo.lower())
    return pair.groups() if pair and LANGUAGES.issuperset(pair.groups()) else None


def _digits(repo: str) -> str:
    return f"{key_of(repo):016x}"[:8]


BEST = 5
"""How many experts of the Hub are offered for a task."""


class HubOffers:
    """The best of the index for a task. `policy` says what the person wants and what finds room.

    May be used from any thread. What was found for a task without a request is kept until the
    index changes: a planner asks that of every task.
    """

    def __init__(self, index: HubIndex, policy: Callable[[], HubQuery] = HubQuery) -> None:
        self.index = index
        self._policy = policy
        self._seen = -1
        self._kept: dict[tuple[str, bool], tuple[Expert, ...]] = {}
        self._checks: Mapping[str, RepositoryCheck] = {}
        self._named: dict[str, HubEntry | None] = {}

    def best(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """The best few for a task of ours that could be fetched and run here, best first."""
        return self._some(task, request, served=False)

    def served(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """The best few that some provider runs behind an API, best first, whatever their size."""
        return self._some(task, request, served=True)

    def _some(self, task: str, request: str, *, served: bool) -> tuple[Expert, ...]:
        names = tasks_of(task)
        self._look()
        if not names or self._seen < 0:
            return ()
        if not request and (task, served) in self._kept:
            return self._kept[task, served]
        wanted = replace(self._policy(), tasks=names, words=request)
        found: list[Expert | None]
        if served:
            wanted = replace(wanted, served=True, memory_mb=0, limit=BEST)
            hits = self.index.search(wanted)
            found = [replace(described(each.entry), task=task) for each in hits]
        else:
            # Some turn out to be no experts, for want of a direction in which they translate.
            hits = self.index.search(replace(wanted, runs=True, limit=3 * BEST))
            found = [expert_of(each.entry, task) for each in hits]
        best = tuple([each for each in found if each])[:BEST]
        if not request:
            self._kept[task, served] = best
        return best

    def warm(self, tasks: Iterable[str]) -> None:
        """Look for the best of these tasks now, so that nobody waits for it on an event loop."""
        for task in tasks:
            self.best(task)
            self.served(task)

    def named(self, name: str) -> HubEntry | None:
        """The entry of a repository, by its id or its handle."""
        self._look()
        if name not in self._named:
            self._named[name] = find(self.index, name) if self._seen >= 0 else None
        return self._named[name]

    def check(self, repo: str) -> RepositoryCheck | None:
        """What the Hub said of a repository of the shipped list."""
        self._look()
        return self._checks.get(repo)

    def _look(self) -> None:
        """Forget what was kept of an index that has changed."""
        if (version := self.index.version) != self._seen:
            self._kept, self._named = {}, {}
            self._checks = self.index.checks()
            self._seen = version


def of_expert(expert: Expert, files: object) -> int:
    """MB of the files that a fetch would bring; 0 where they cannot be told."""
    sizes = _sizes(files)
    return _megabytes(sizes[name] for name in verification.files_of(expert, sizes))


def measured(entry: HubEntry, files: object) -> HubEntry:
    """An entry with its size. One whose files are not those of its library does not run."""
    there = _sizes(files)
    halves = any(fnmatchcase(name, "*/*.fp16.safetensors") for name in there)
    tags = (*entry.tags, HALVES) if halves and HALVES not in entry.tags else entry.tags
    sized = replace(entry, tags=tags)
    wanted = files_of(sized) if entry.library in FILES else ()
    found = [name for name in there if any(fnmatchcase(name, each) for each in wanted)]
    whole = entry.library != "diffusers" or "model_index.json" in there
    if not whole or not any(name.endswith(".safetensors") for name in found):
        return replace(entry, tags=(*entry.tags, UNFIT), runs=False)
    return replace(sized, weights_mb=_megabytes(there[name] for name in found))


def _sizes(files: object) -> dict[str, int]:
    return {
        name: count(file.get("size"))
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and isinstance(name := file.get("rfilename"), str)
    }


def _megabytes(sizes: Iterable[int]) -> int:
    size = sum(sizes)
    return max(1, round(size / MB)) if size else 0
