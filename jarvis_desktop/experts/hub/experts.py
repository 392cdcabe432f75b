"""Experts made from the Hub's index: names, files, memory, and the best few for a task.

An entry becomes an expert only if its size is known and it loads here without foreign code.
"""

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
"""The Hub's tasks that are also ours."""
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "image-editing": ("image-to-image",),
    "visual-question-answering": ("visual-question-answering", "image-text-to-text"),
}
"""Our tasks that have another or a further name on the Hub."""

FILES: Mapping[str, tuple[str, ...]] = {
    "transformers": (
        "*.json", "*.txt", "*.model", "*.spm", "*.jinja", "model*.safetensors",
    ),
    "diffusers": ("model_index.json", "*/*.json", "tokenizer*/*", "*/*.safetensors"),
}  # fmt: skip
"""The files that experts of each library usually need."""
MAX_HANDLE_CHARS = 64
_HANDLE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_PAIR = re.compile(r"-([a-z]{2,3})-([a-z]{2,3})$")


def tasks_of(task: str) -> tuple[str, ...]:
    """Return the Hub's names for a task."""
    return OTHER_NAMES.get(task) or ((task,) if task in PIPELINES else ())


def tasks_of_all(tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the Hub's names for several tasks, each once."""
    return tuple(dict.fromkeys(name for task in tasks for name in tasks_of(task)))


def handle(repo: str) -> str:
    """Return a unique lower-case name for users and folders, such as "org--name".

    Repository ids never contain two hyphens in a row. Other characters are replaced, and part of a
    digest keeps such names apart.
    """
    plain = repo.replace("/", "--").lower()
    if len(plain) <= MAX_HANDLE_CHARS and _HANDLE.fullmatch(plain) and not plain.endswith("."):
        return plain
    digest = f"{key_of(repo):016x}"[:8]
    return re.sub(r"[^a-z0-9.-]", "-", plain)[: MAX_HANDLE_CHARS - 9].rstrip(".-") + f"-{digest}"


def find(index: HubIndex, name: str) -> HubEntry | None:
    """Find a repository's entry by its id or its handle."""
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
    """Return an expert for one of our tasks; None if it cannot be downloaded and run."""
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
    """Return patterns of the files that an entry needs."""
    files = FILES[entry.library]
    if HALVES in entry.tags:
        return tuple(each.replace("*.safetensors", "*.fp16.safetensors") for each in files)
    return files


def reason_against(entry: HubEntry) -> str:
    """Explain in a few words why an entry cannot be an expert."""
    if entry.library not in FILES:
        library = f"by the library {entry.library}" if entry.library else "by an unnamed library"
        return f"it is loaded {library}"
    if not entry.runs:
        return "it needs code of its own, another library, or has no weights in the safe format"
    if not entry.weights_mb:
        return "the Hub does not say how large it is"
    return "it is not said what it translates" if entry.sha else "it has no commit"


def described(entry: HubEntry) -> Expert:
    """Return an entry as an expert to be shown, whether or not it runs here."""
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
    """Return the entry's own summary, else its tags."""
    if entry.summary:
        return entry.summary
    tags = [tag for tag in entry.tags if ":" not in tag]
    parts = [", ".join(tags)] if tags else []
    bases = [tag.partition(":")[2] for tag in entry.tags if tag.startswith("base_model:")]
    parts += [f"built upon {bases[0]}"] if bases else []
    return one_line("; ".join(parts) or entry.repo, limit=200)


def _languages(entry: HubEntry, task: str) -> tuple[str, ...] | None:
    """An expert's languages: a single one, or from and to; None if unclear."""
    if task != "translation" or "*" in entry.languages:
        # Two would mean a translation direction. Experts for several languages name none.
        return entry.languages if len(entry.languages) == 1 else ()
    pair = _PAIR.search(entry.repo.lower())
    return pair.groups() if pair and LANGUAGES.issuperset(pair.groups()) else None


MAX_OFFERS = 5
"""How many experts of the Hub are offered for a task."""


class HubOffers:
    """The Hub's best experts for a task; `policy` returns what the user allows and what fits.

    Callable from any thread. Results without a request are cached until the index changes, since a
    planner asks for every task.
    """

    def __init__(self, index: HubIndex, policy: Callable[[], HubQuery] = HubQuery) -> None:
        self.index = index
        self._policy = policy
        self._seen = -1
        self._kept: dict[tuple[str, bool], tuple[Expert, ...]] = {}
        self._checks: Mapping[str, RepositoryCheck] = {}
        self._named: dict[str, HubEntry | None] = {}

    def best(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """Return the best few experts for a task that can be downloaded and run here."""
        return self._some(task, request, served=False)

    def served(self, task: str, request: str = "") -> tuple[Expert, ...]:
        """Return the best few experts that a provider runs, whatever their size."""
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
            wanted = replace(wanted, served=True, memory_mb=0, limit=MAX_OFFERS)
            hits = self.index.search(wanted)
            found = [replace(described(each.entry), task=task) for each in hits]
        else:
            # Some cannot be used, since their translation direction is unclear.
            hits = self.index.search(replace(wanted, runs=True, limit=3 * MAX_OFFERS))
            found = [expert_of(each.entry, task) for each in hits]
        best = tuple([each for each in found if each])[:MAX_OFFERS]
        if not request:
            self._kept[task, served] = best
        return best

    def warm(self, tasks: Iterable[str]) -> None:
        """Fill the cache for these tasks, so that no event loop has to wait for it."""
        for task in tasks:
            self.best(task)
            self.served(task)

    def named(self, name: str) -> HubEntry | None:
        """Return a repository's entry by its id or handle."""
        self._look()
        if name not in self._named:
            self._named[name] = find(self.index, name) if self._seen >= 0 else None
        return self._named[name]

    def check(self, repo: str) -> RepositoryCheck | None:
        """Return what the Hub said of a shipped expert's repository."""
        self._look()
        return self._checks.get(repo)

    def _look(self) -> None:
        """Clear the caches if the index has changed."""
        if (version := self.index.version) != self._seen:
            self._kept, self._named = {}, {}
            self._checks = self.index.checks()
            self._seen = version


def download_size(expert: Expert, files: object) -> int:
    """Return the size in MB of the files that a download fetches; 0 if not known."""
    sizes = _sizes(files)
    return _megabytes(sizes[name] for name in verification.files_of(expert, sizes))


def with_size(entry: HubEntry, files: object) -> HubEntry:
    """Return an entry with its size, and mark it unfit if its files are not its library's."""
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
